"""An explanation in words, for the person who answers for the table's privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sfumato.exact import percent
from sfumato.explain.cost import HIDES_NOTHING, PROTECTS_NOBODY, Obstacle, StrategyLoss, people_text
from sfumato.explain.explanation import Cut, Explanation, ValueBound
from sfumato.explain.presence import HIDING, NOT_PROMISED, PROGRAM
from sfumato.release.manifest import KNOWS

_TIGHTEST = 3
"""How many values are told one by one; the figures of the others are in the table beside the words."""

_NAMED = 5
"""How many values are named in a list."""

_NOBODY = (PROTECTS_NOBODY, HIDES_NOTHING)
_EXACT: Mapping[str, str] = {"buckets": "bucket", "randomized": "randomized value"}
"""The forms that publish quasi values as they are, and what they show beside them."""

_INSIDE: Mapping[str, str] = {"buckets": "bucket", "ranges": "group", "columns": "group", "views": "group"}
"""What the forms call people who are published together."""

FORMS = (
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


def verdict(told: Explanation) -> list[str]:
    """Return whether the policy can be kept, who is unprotected and who is unique."""
    return [*_feasible(told), *_unprotected(told), _unique(told)]


def details(told: Explanation) -> list[str]:
    """Return the paragraphs: the table, the promise, the tightest bounds, the cost, and what is not promised."""
    return [
        "This explanation tells figures of the original table. It is private: do not publish it with the release.",
        *_table(told),
        *_promise(told),
        *_values(told),
        *([] if told.randomization is None else told.randomization.sentences()),
        *_losses(told),
        *_forms(told),
        *not_promised(told),
    ]


def value_sentence(value: ValueBound, *, inside: str | None = "bucket", unclaimed: str | None = None) -> str:
    """Return what the policy means for one value: "'HIV': 0.3 % of people now; a reader may become at most 5 % sure".

    `inside` is what the groups are called, None where there are none. `unclaimed` says of whom at most the bound have the value,
    where that is all there is and no bound on what a reader believes.
    """
    now = f"'{value.value}': {percent(value.share)} of people now"
    if not value.feasible:
        return f"{now}; a bound of {percent(value.bound)} is less than everybody knows already"
    if value.bound == 1:
        return f"{now}; no bound, a reader may become certain"
    if unclaimed is not None:
        return f"{now}; at most {percent(value.bound)} {unclaimed} have it"
    told = f"{now}; a reader may become at most {percent(value.bound)} sure ({value.factor:.3g} times as sure as before)"
    return told if inside is None else f"{told}, so nobody with it is in a {inside} of fewer than {value.needs}"


def obstacle_sentences(obstacle: Obstacle) -> list[str]:
    """Return why the bounds cannot be kept, value by value, and what would be feasible."""
    reason = obstacle.message.rstrip(".")
    lines = [f"T{reason[1:]}." if obstacle in _NOBODY else f"The bounds cannot be kept. {reason}."]
    for value in obstacle.values[:_TIGHTEST]:
        if value in obstacle.has and value in obstacle.needs and obstacle.has[value] != obstacle.needs[value]:
            lines.append(f"'{value}': has {percent(obstacle.has[value])}, needs {percent(obstacle.needs[value])}.")
    if obstacle.hint:
        lines.append(f"What would work: {obstacle.hint.rstrip('.')}.")
    return lines


def not_promised(told: Explanation) -> list[str]:
    """Return what no release of this method promises, whatever the policy says."""
    lines = [] if told.weaker is None else ["Not promised: a bound on what a reader believes who sees the values of the records."]
    lines += [
        *_presence(told),
        "Not promised: anything against a statistician who learns links between quasi and sensitive values from the release "
        "itself or elsewhere.",
        "Not promised: anything against somebody who holds a list of the whole population, or a second release of this table.",
        "Not promised: a bound on sets of values, on several people at once, or on the statement that somebody with such quasi "
        "values has a value.",
    ]
    if told.against != "insider":
        mates = f" in the same {_INSIDE[told.form]}" if told.form in _INSIDE else ""
        lines.append(f"Not promised: anything against somebody who knows the sensitive values of other people{mates}.")
    if told.form == "randomized":
        lines.append("Not promised: that a person's value may be any value. The values of each part are published.")
    if told.decoys:
        lines.append("Decoys make guessing harder for such an insider; how much is measured in the receipt, never promised.")
    return lines


def _presence(told: Explanation) -> list[str]:
    if told.form in HIDING:
        known = told.presence is not None and told.presence.program
        return [*([] if known else [PROGRAM]), *NOT_PROMISED]
    exact = told.form in _EXACT
    shown = "The quasi values are published as recoded" if exact else f"The {told.form} that hold the person are published"
    return [f"Not promised: that a person's presence in the table stays hidden. {shown}."]


def _feasible(told: Explanation) -> list[str]:
    if told.obstacle is not None:
        return obstacle_sentences(told.obstacle)
    if told.weaker is not None:
        can = f"No belief is bounded: the method {told.method} can make a release, with a weaker claim in place of the policy's."
        made = [] if told.presence is None else [f"It would have {told.presence.made()[0]}", *told.presence.made()[1:]]
        return [can, *made, f"What is claimed instead: {told.weaker}"]
    can = f"The bounds can be kept: the method {told.method} can make a release"
    if told.presence is not None:
        first, *others = told.presence.made()
        return [f"{can}, {first}", *others]
    if told.room is not None:
        other = 'What would tell more: the method "near-groups", or "multi-size".'
        return [f"{can}, with everybody in one box.", *told.room.sentences, other]
    if told.boxes is not None:
        return [f"{can}, {boxes_text(told.boxes, _INSIDE[told.form])}."]
    if told.near:
        return [f"{can}, near people together in small groups."]
    largest = "" if told.max_size is None else f" with {_INSIDE[told.form]}s of at most {told.max_size} people"
    return [f"{can}{largest}."]


def boxes_text(boxes: Cut, inside: str) -> str:
    """Return "near people together by safe cuts: 321 buckets of 100 to 1,900 people"."""
    return f"near people together by {boxes.basis} cuts: {boxes.number:,} {inside}s of {range_text(boxes.sizes)}"


def _unprotected(told: Explanation) -> list[str]:
    if told.obstacle in _NOBODY:
        return []
    if not told.unbounded:
        kept = told.feasible and told.weaker is None
        return ["Unprotected: nobody. Every value has a bound below 1."] if kept else []
    share = sum((value.share for value in told.unbounded), start=Fraction(0))
    large = told.form != "buckets" or told.boxes is not None
    alone = "" if large else ", in buckets of one person"
    return [
        f"Unprotected: {percent(share)} of people have values without a bound, {_quoted(told.unbounded)}. A release may show "
        f"openly who has them{alone}; [requirement.bounds] gives a value its own bound."
    ]


def _unique(told: Explanation) -> str:
    if told.form not in _EXACT:
        shown = {"columns": "every column apart", "views": "some of them apart, and the others together as they are"}
        return (
            f"Unique: {percent(told.unique_share)} of people are the only one with their {_and(told.roles['quasi'])} as recoded. "
            f"The form {told.form} shows {shown.get(told.form, 'groups of people instead')}."
        )
    return (
        f"Unique: {percent(told.unique_share)} of people are the only one with their {_and(told.roles['quasi'])} as published, "
        f"so whoever knows these of a person finds that person's row, and its {_EXACT[told.form]}. [recode] makes them coarser."
    )


def _table(told: Explanation) -> list[str]:
    quasi, sensitive = told.roles["quasi"], told.roles["sensitive"]
    lines = [
        f"The table has {people_text(told.rows)} to publish. A reader is assumed to know a person's {_and(quasi)}; "
        f"what is protected is {_and(sensitive)}."
    ]
    hidden = [*told.roles["identifier"], *told.roles["other"]]
    if hidden:
        lines.append(f"Not published at all: {_and(hidden)}.")
    if told.dropped:
        are, them, they = ("is", "that person", "that person is") if told.dropped == 1 else ("are", "them", "they are")
        lines.append(
            f"{people_text(told.dropped)} {are} left out because a value is missing and the policy says drop. No claim covers "
            f"{them}, and that {they} absent may itself tell something; so the claim against an engineer is lost."
        )
    if not told.one_row_per_person:
        lines.append("The policy allows several rows per person: then each bound holds for a row, not for a person.")
    if told.compound:
        lines.append(
            f"{_and(sensitive)} together form one attribute, and each combination has its own bound. That does not bound the "
            "parts: two combinations that share a part, each believed at 10 %, leave that part believed at 20 %."
        )
    return lines


def _promise(told: Explanation) -> list[str]:
    if told.presence is not None and told.weaker is not None:
        return told.presence.promise()
    if told.weaker is not None:
        return ["Every record is published with ranges of its own and the value of somebody behind it, drawn at random."]
    return [
        *([] if told.presence is None else told.presence.promise()),
        f"The promise ({told.requirement['model']}, against = {told.against!r}) is made against somebody {KNOWS[told.against]}, "
        "and who sees no link between quasi and sensitive values.",
    ]


def _values(told: Explanation) -> list[str]:
    unclaimed = None
    if told.weaker is not None:
        unclaimed = "of the people behind a published record" if told.presence is None else "of a group"
    return [value_sentence(value, inside=_INSIDE.get(told.form), unclaimed=unclaimed) + "." for value in told.tightest(_TIGHTEST)]


def _losses(told: Explanation) -> list[str]:
    if not told.strategies:
        return []
    return [
        "Loss says how much buckets drawn at random blur: (size − 1)² added up over them, 0 when everything is open. It is not "
        "query error: large buckets of near people lose more and may answer better.",
        *(_loss(strategy) for strategy in told.strategies),
    ]


def _forms(told: Explanation) -> list[str]:
    """Return which form is for what, where groups may be shown in either, or records are shown as ranges."""
    lines = []
    if told.near:
        lines.append(
            "Small buckets of near people sit at the bound: a reader's belief in somebody's value is what the bound allows. "
            "Boxes stay far below it."
        )
    if told.either_form:
        other = "buckets" if told.form == "ranges" else "ranges"
        lines.append(f'This policy publishes the form {told.form}; form = "{other}" shows the same groups as {other}.')
    if told.near or told.either_form or told.form == "ranges":
        lines.append(FORMS)
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


def range_text(sizes: tuple[int, int]) -> str:
    """Return "2 to 50 people", "1 person"."""
    small, large = sizes
    return people_text(small) if small == large else f"{small:,} to {large:,} people"


def _quoted(values: Sequence[ValueBound]) -> str:
    more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
    return ", ".join(f"'{value.value}'" for value in values[:_NAMED]) + more


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
