"""An explanation in words, for the person who answers for the table's privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from sfumato.basis import BASES
from sfumato.exact import percent
from sfumato.explanation.cost import HIDES_NOTHING, PROTECTS_NOBODY, Obstacle, StrategyLoss, people_text, range_text
from sfumato.explanation.explanation import Explanation
from sfumato.explanation.presence import NOT_PROMISED, PROGRAM
from sfumato.explanation.sections import ValueBound
from sfumato.policy.words import series
from sfumato.release.accounts import noisy_claim
from sfumato.release.manifest import KNOWS, Adversary, Claim
from sfumato.release.randomized import randomized_claim

_TIGHTEST = 3
"""How many values are listed one by one; the figures of the others are in the table beside the words."""

_NAMED = 5
"""How many values are named in a list."""

_LISTED = 6
"""How many columns are named in a sentence."""

_NOBODY = (PROTECTS_NOBODY, HIDES_NOTHING)
FORM_ADVICE = (
    "The form buckets is for counting, the form ranges for readers who need records without exact quasi values. A range does not "
    "say where in it people lie, so answers from ranges can be worse than assuming independence. On a census-like table of "
    "100,000 people near groups for ℓ = 10 answered questions about ranges with a median error of 1.2 % as buckets and 19 % as "
    "ranges against a reader, and of 3.6 % and 29 % against an engineer; assuming independence, 8.2 %."
)
"""Which form is for what, with figures of the bundled census."""

_STRATEGY: Mapping[str, str] = {
    "one-size": "buckets of one size",
    "two-size": "the best two sizes",
    "top-down": "many sizes, found by splitting downwards",
    "optimal": "many sizes, the provable optimum",
    "anatomy": "Anatomy, the same ℓ for everybody",
}


_SAID_OF_MANY = (
    "Not promised: a bound on what other people of a group teach about people like somebody, nor anything about several people "
    "at once: where k relatives share a value, odds may grow to the power of k. A second draw multiplies the odds of the first.",
)


def verdict(about: Explanation) -> list[str]:
    """Return whether the policy can be kept, who is unprotected, who is unique, and what nearly gives the secret away."""
    from sfumato.explanation.highlights import determining

    room = about.cost.groups.room
    tight = [] if about.rule.tightness is None else [about.rule.tightness.sentence(() if room is None else room.helps)]
    return [*_feasible(about), *tight, *_unprotected(about), _unique(about), *determining(about.table.risk)]


def details(about: Explanation) -> list[str]:
    """Return the paragraphs: the table, the promise, the tightest bounds, the cost, and what is not promised."""
    return [
        "This explanation tells figures of the original table. It is private: do not publish it with the release.",
        *_table(about),
        *_promise(about),
        *_values(about),
        *([] if about.cost.randomization is None else about.cost.randomization.sentences()),
        *([] if about.cost.odds is None else about.cost.odds.sentences()),
        *_patience(about),
        *_losses(about),
        *_form_advice(about),
        *not_promised(about),
    ]


def value_sentence(value: ValueBound, *, inside: str | None = "bucket", unclaimed: str | None = None) -> str:
    """Return what the policy means for one value: "'HIV': 0.3 % of people now; a reader may become at most 5 % sure".

    `inside` is what the groups are called, None where there are none. `unclaimed` says of whom at most the bound have the value,
    where that is all there is and no bound on what a reader believes.
    """
    named = f"Any of '{value.value}' ({len(value.members)} values)" if value.members else f"'{value.value}'"
    now = f"{named}: {percent(value.share)} of people now"
    if not value.feasible:
        return f"{now}; a bound of {percent(value.bound)} is less than everybody knows already"
    if value.bound == 1:
        return f"{now}; no bound, a reader may become certain"
    if unclaimed is not None:
        return f"{now}; at most {percent(value.bound)} {unclaimed} have it"
    sentence = f"{now}; a reader may become at most {percent(value.bound)} sure (odds {value.growth:.3g} times those before)"
    alone = inside is None or value.members
    return sentence if alone else f"{sentence}, so nobody with it is in a {inside} of fewer than {value.needs}"


def obstacle_sentences(obstacle: Obstacle) -> list[str]:
    """Return why the bounds cannot be kept, value by value, and what would be feasible."""
    reason = obstacle.message.rstrip(".")
    lines = [f"T{reason[1:]}." if obstacle in _NOBODY else f"The bounds cannot be kept: {reason}."]
    for value in obstacle.values[:_TIGHTEST]:
        if value in obstacle.has and value in obstacle.needs and obstacle.has[value] != obstacle.needs[value]:
            lines.append(f"'{value}': has {percent(obstacle.has[value])}, needs {percent(obstacle.needs[value])}.")
    if obstacle.hint:
        lines.append(f"What would work: {obstacle.hint.removeprefix('feasible would be ').rstrip('.')}.")
    return lines


def _said_twice(about: Explanation) -> tuple[str, ...]:
    other = (
        "sets of values that the policy does not name" if about.rule.sets else "sets of values, which [requirement.sets] can name"
    )
    return (
        "Not promised: anything against somebody who holds a list of the whole population, or a second release of this table.",
        f"Not promised: a bound on {other}, on several people at once, or on the statement that somebody with such quasi values "
        "has a value.",
    )


def not_promised(about: Explanation) -> list[str]:
    """Return what no release of this method promises, whatever the policy says."""
    unbounded = "Not promised: a bound on what a reader believes who sees the values of the records."
    lines = [
        *([] if about.method.paper_claim is None else [unbounded]),
        *_presence(about),
        "Not promised: anything against a statistician who learns links between quasi and sensitive values from the release "
        "itself or elsewhere.",
        *(_SAID_OF_MANY if about.cost.odds is not None else _said_twice(about)),
    ]
    if about.rule.against != "insider":
        form = about.method.shown_as
        mates = f" in the same {form.group}" if form.has_groups else ""
        lines.append(f"Not promised: anything against somebody who knows the sensitive values of other people{mates}.")
    whole = about.table.household
    if about.table.alike == "band":
        whose = f"{whole} a household" if whole else "rows a person"
        lines.append(f"Not promised: anything against somebody who knows exactly how many {whose} has, inside its band.")
    if about.table.facts is not None:
        who = "several households" if whole else "relatives, or others,"
        lines.append(f"Not promised: anything against somebody who knows that {who} share what they have.")
    if about.method.shown_as.by_coin:
        lines.append("Not promised: that a person's value may be any value. The values of each part are published.")
    if about.method.decoys:
        lines.append("Decoys make guessing harder for such an insider; how much is measured in the receipt, never promised.")
    return lines


def _presence(about: Explanation) -> list[str]:
    form = about.method.shown_as
    if form.hides_presence:
        known = about.cost.presence is not None and about.cost.presence.program
        return [*([] if known else [PROGRAM]), *NOT_PROMISED]
    if not form.of_people:
        return [
            "Presence is part of a record: that a person is in the table in another's place shifts odds as little as her values."
        ]
    exact = "The quasi values are published as recoded"
    shown = exact if form.exact_quasi else f"The {about.method.form} that hold the person are published"
    return [f"Not promised: that a person's presence in the table stays hidden. {shown}."]


def _feasible(about: Explanation) -> list[str]:
    if about.obstacle is not None:
        return obstacle_sentences(about.obstacle)
    method, groups = about.method, about.cost.groups
    first, *others = [""] if about.cost.presence is None else about.cost.presence.made()
    if method.paper_claim is not None:
        can = f"No belief is bounded: the method {method.name} can make a release, with a weaker claim in place of the policy's."
        made = [f"It would have {first}", *others] if first else []
        return [can, *made, f"What is claimed instead: {method.paper_claim}"]
    but = "" if about.rule.tightness is None else ", but leave little room"
    can = f"The bounds can be kept{but}: the method {method.name} can make a release"
    if first:
        return [f"{can}, {first}", *others]
    if groups.room is not None:
        soft = groups.boxes is not None and BASES[groups.boxes.basis].keeps_accounts
        trial = " in a trial; coins may cut a few more" if soft else ""
        reasons = groups.room.sentences(tight=about.rule.tightness is not None, soft=soft)
        return [f"{can}, with everybody in one box{trial}.", *reasons]
    if groups.boxes is not None:
        boxes, inside = groups.boxes, method.shown_as.group
        cut = f"near people together by {boxes.basis} cuts: {boxes.number:,} {inside}s of {range_text(boxes.sizes)}"
        return [f"{can}, {cut}."]
    if groups.near:
        return [f"{can}, near people together in small groups."]
    largest = "" if method.max_size is None else f" with {method.shown_as.groups} of at most {method.max_size} people"
    return [f"{can}{largest}."]


OWN_BOUND = "[requirement.bounds] gives a value its own bound"


def _unprotected(about: Explanation) -> list[str]:
    if about.obstacle in _NOBODY:
        return []
    if about.cost.odds is not None:
        free = "" if not about.rule.unbounded else f" Without a bound of their own: {_quoted(about.rule.unbounded)}."
        return [f"Unprotected: nobody. The odds of every value are bounded.{free}"]
    if not about.rule.unbounded:
        kept = about.feasible and about.method.paper_claim is None
        return ["Unprotected: nobody."] if kept else []
    if about.table.protects_each or about.table.facts is not None:
        own = "[requirement.columns] gives a column its own bounds" if about.table.protects_each else OWN_BOUND
        where = ", in some band at least" if about.table.by_band else ""
        return [
            f"Unprotected: values without a bound{where}, {_quoted(about.rule.unbounded)}. A release may show openly who has "
            f"them; {own}."
        ]
    unbounded = about.rule.unbounded
    share = sum((value.share for value in unbounded), start=Fraction(0))
    form = about.method.shown_as
    large = not (form.exact_quasi and form.has_groups) or about.cost.groups.boxes is not None
    alone = "" if large else ", in buckets of one person"
    return [
        f"Unprotected: {percent(share)} of people have values without a bound, {_quoted(unbounded)}. A release may show "
        f"openly who has them{alone}; {OWN_BOUND}."
    ]


def _unique(about: Explanation) -> str:
    form, name = about.method.shown_as, about.method.form
    names, unique = about.table.roles["quasi"], about.table.unique_share
    quasi = series(names) if len(names) <= _LISTED else f"{len(names)} quasi values"
    if not unique:
        return f"Unique: nobody is the only one with the same {quasi} as published."
    alone = f"Unique: {percent(unique)} of people are the only one with their {quasi}"
    if not form.exact_quasi:
        shown = {
            "columns": "every column apart",
            "views": "some of them apart, and the others together as they are",
            "synthetic": "synthetic records",
        }
        return f"{alone} as recoded. The form {name} shows {shown.get(name, 'groups of people instead')}."
    beside = form.group or "randomized value"
    return f"{alone} as published. Whoever knows these of a person finds her row, and its {beside}."


def _table(about: Explanation) -> list[str]:
    table = about.table
    quasi, sensitive = table.roles["quasi"], table.roles["sensitive"]
    lines = [
        f"The table has {people_text(table.rows)} to publish. A reader is assumed to know a person's {series(quasi)}; "
        f"what is protected is {series(sensitive)}."
    ]
    hidden = [*table.roles["identifier"], *table.roles["other"]]
    if hidden:
        lines.append(f"Not published at all: {series(hidden)}.")
    if table.dropped:
        are, them, they = ("is", "that person", "that person is") if table.dropped == 1 else ("are", "them", "they are")
        lines.append(
            f"{people_text(table.dropped)} {are} left out because a value is missing and the policy says drop. No claim covers "
            f"{them}, and that {they} absent may itself tell something; so the claim against an engineer is lost."
        )
    if not table.one_row_per_person:
        lines.append("The policy allows several rows per person: then each bound holds for a row, not for a person.")
    if table.protects_each:
        lines.append(
            f"Each of {series(sensitive)} is protected by itself, with its own bounds. How they go together is not shown, and "
            "nothing is promised about it: whoever knows one secret of a person, and a link to another, learns more of that."
        )
    if table.compound:
        lines.append(
            f"{series(sensitive)} together form one attribute, and each combination has its own bound. That does not bound the "
            "parts: two combinations that share a part, each believed at 10 %, leave that part believed at 20 %."
        )
    return lines


def _promise(about: Explanation) -> list[str]:
    if about.cost.presence is not None and about.method.paper_claim is not None:
        return about.cost.presence.promise()
    if not about.method.shown_as.of_people:
        return ["As many records as there are people are published, drawn from noisy counts; none of them is anybody's."]
    if about.method.paper_claim is not None:
        return ["Every record is published with ranges of its own and the value of somebody behind it, drawn at random."]
    rule, each = about.rule, about.table.one_row_per_person
    promise = f"The promise ({rule.requirement['model']}, against = {rule.against!r})"
    if about.cost.odds is not None:
        model = str(rule.requirement["model"])
        claim = noisy_claim(
            "insider", model=model, one_row_per_person=each, sets=bool(rule.sets), several=about.table.protects_each
        )
        return [f"{promise}: {claim.statement}"]
    if about.method.shown_as.by_coin:
        adversary, declared = cast(Adversary, rule.against), rule.declared is not None
        claim = randomized_claim(adversary, declared=declared, one_row_per_person=each)
        above = "" if not rule.declared else f" More people than its bound allows have {series(rule.declared)}, by this table."
        return [f"{promise}: {claim.statement}{above}", *_beside(about)]
    if about.table.facts is not None:
        adversary, several = cast(Adversary, rule.against), about.table.protects_each
        claim = Claim.association(
            adversary,
            one_row_per_person=each,
            sets=bool(rule.sets),
            several=several,
            bundled=True,
            alike=about.table.alike,
            household=about.table.household,
            by_band=about.table.by_band,
        )
        own = " Bounds follow from the shares in each band; told here is the largest of a value." if about.table.by_band else ""
        return [f"{promise}: {claim.statement}{own}", *_beside(about)]
    return [
        *([] if about.cost.presence is None else about.cost.presence.promise()),
        f"{promise} is made against somebody {KNOWS[rule.against]}, and who sees no link between quasi and sensitive values"
        + (", nor between one sensitive column and another." if about.table.protects_each else "."),
        *_beside(about),
    ]


def _beside(about: Explanation) -> list[str]:
    """Return what the claim says of the weight."""
    return [about.table.uncovered] if about.table.uncovered else []


def _values(about: Explanation) -> list[str]:
    if not about.method.shown_as.of_people:
        return []
    listed = (*about.rule.tightest(_TIGHTEST), *sorted(about.rule.sets, key=lambda one: (one.bound, one.value))[:_NAMED])
    if about.cost.odds is not None:
        return [f"{about.cost.odds.value(one)}." for one in listed]
    unclaimed = None
    if about.method.paper_claim is not None:
        unclaimed = "of the people behind a published record" if about.cost.presence is None else "of a group"
    return [value_sentence(value, inside=about.method.shown_as.group or None, unclaimed=unclaimed) + "." for value in listed]


def _patience(about: Explanation) -> list[str]:
    """Return what the patience of soft cuts is and does, where boxes are made by them."""
    patience = None if about.cost.groups.boxes is None else about.cost.groups.boxes.patience
    if patience is None:
        return []
    return [
        f"Soft cuts have a patience, here {patience:,}. A cut that keeps the bounds only if values fell well is tested, with "
        "coins. A refusal may tell an engineer something: in a box of n people it takes patience/n, at most 3/10, off the box's "
        "account, and the counts of the box have to stay lower by as much. With more patience a good cut is refused by chance "
        "less often, and every refusal costs more. patience = 0 makes safe cuts only; the default follows from the bounds. "
        "Another draw makes a few boxes more or fewer. Publish the first: to draw again for more tells what no account counts."
    ]


def _losses(about: Explanation) -> list[str]:
    if not about.cost.groups.strategies:
        return []
    return [
        "Loss says how much buckets drawn at random blur: (size − 1)² added up over them, 0 when everything is open. It is not "
        "query error: large buckets of near people lose more and may answer better.",
        *(_loss(strategy) for strategy in about.cost.groups.strategies),
    ]


def _form_advice(about: Explanation) -> list[str]:
    """Return which form is for what, where groups may be shown in either, or records are shown as ranges."""
    lines = []
    if about.cost.groups.near:
        lines.append(
            "Small buckets of near people sit at the bound: a reader's belief in somebody's value is what the bound allows. "
            "Boxes stay far below it."
        )
    if about.method.either_form:
        other = "buckets" if about.method.shown_as.as_ranges else "ranges"
        lines.append(f'This policy publishes the form {about.method.form}; form = "{other}" shows the same groups as {other}.')
    if about.cost.groups.near or about.method.either_form or about.method.shown_as.as_ranges:
        lines.append(FORM_ADVICE)
    return lines


def _loss(strategy: StrategyLoss) -> str:
    name = _STRATEGY.get(strategy.name, strategy.name) + (" (this policy)" if strategy.chosen else "")
    if strategy.loss is None or strategy.sizes is None:
        return f"Loss with {name}: not possible, because {strategy.note.rstrip('.')}."
    proof = ""
    if strategy.gap is not None:
        proof = f", proven to be within {percent(strategy.gap)} of the best" if strategy.gap else ", proven to be the best"
    note = f" with {strategy.note}" if strategy.note else ""
    return f"Loss with {name}{note}: {strategy.loss:,}{proof} (buckets of {range_text(strategy.sizes)})."


def _quoted(values: Sequence[ValueBound]) -> str:
    more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
    return ", ".join(f"'{value.value}'" for value in values[:_NAMED]) + more
