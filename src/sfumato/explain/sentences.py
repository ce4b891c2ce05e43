"""An explanation in words, for the person who answers for the table's privacy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sfumato.exact import percent
from sfumato.explain.cost import Obstacle, StrategyLoss
from sfumato.explain.explanation import Explanation, ValueBound
from sfumato.release.manifest import KNOWS

_SHOWN = 8
"""How many values are told one by one; the figures of all of them are in the table beside the words."""

_STRATEGY: Mapping[str, str] = {
    "one-size": "buckets of one size",
    "two-size": "the best two sizes",
    "top-down": "many sizes, found by splitting downwards",
    "optimal": "many sizes, the provable optimum",
    "anatomy": "Anatomy, the same ℓ for everybody",
}


def sentences(explanation: Explanation) -> list[str]:
    """Return the paragraphs: the table, the promise, each value, whether it can be kept, the cost, and what is not promised."""
    return [
        "This explanation tells figures of the original table. It is private: do not publish it with the release.",
        *_table(explanation),
        *_promise(explanation),
        *_values(explanation),
        *_feasible(explanation),
        *_losses(explanation),
        *not_promised(explanation),
    ]


def value_sentence(value: ValueBound) -> str:
    """Return what the policy means for one value: "HIV: 0.3 % of people now; a reader may become at most 5 % sure"."""
    now = f"{value.value}: {percent(value.share)} of people now"
    if not value.feasible:
        return f"{now}; a bound of {percent(value.bound)} is less than everybody knows already"
    if value.bound == 1:
        return f"{now}; no bound, a reader may become certain"
    return (
        f"{now}; a reader may become at most {percent(value.bound)} sure ({value.factor:.3g} times as sure as before), "
        f"so nobody with it is in a bucket of fewer than {value.needs}"
    )


def _table(told: Explanation) -> list[str]:
    quasi, sensitive = told.roles["quasi"], told.roles["sensitive"]
    lines = [
        f"The table has {told.rows:,} people to publish. A reader is assumed to know a person's {_and(quasi)}; "
        f"what is protected is {_and(sensitive)}."
    ]
    hidden = [*told.roles["identifier"], *told.roles["other"]]
    if hidden:
        lines.append(f"Not published at all: {_and(hidden)}.")
    if told.dropped:
        lines.append(
            f"{told.dropped:,} people are left out because a value is missing and the policy says drop. No claim covers them, "
            "and that they are absent may itself tell something; so the claim against an engineer is lost."
        )
    if not told.one_row_per_person:
        lines.append("The policy allows several rows per person: then each bound holds for a row, not for a person.")
    lines.append(
        f"{percent(told.unique_share)} of these people are the only one with their {_and(quasi)}, which the bucket form "
        "publishes as it is: whoever knows these values of a person finds that person's row, "
        "and its bucket. [recode] makes them coarser."
    )
    if told.compound:
        lines.append(
            f"{_and(sensitive)} together form one attribute, and each combination has its own bound. That does not bound the "
            "parts: two combinations that share a part, each believed at 10 %, leave that part believed at 20 %."
        )
    return lines


def _promise(told: Explanation) -> list[str]:
    return [
        f"The promise ({told.requirement['model']}, against = {told.against!r}) is made against somebody {KNOWS[told.against]}, "
        "and who sees no link between quasi and sensitive values."
    ]


def _values(told: Explanation) -> list[str]:
    lines = [value_sentence(value) + "." for value in told.values[:_SHOWN]]
    rest = len(told.values) - len(lines)
    if rest:
        lines.append(f"… and {rest} values that more people have, the most frequent: {value_sentence(told.values[-1])}.")
    unbound = [value for value in told.values if value.bound == 1]
    if len(unbound) == len(told.values):
        lines.append("No value has a bound below 1: this policy protects nobody.")
    elif unbound:
        share = sum((value.share for value in unbound), start=Fraction(0))
        lines.append(
            f"{percent(share)} of people have one of the {len(unbound)} values without a bound. A release may show these "
            "people's values openly, in buckets of one person; give a value its own bound under "
            "[requirement.bounds] to protect it."
        )
    return lines


def _feasible(told: Explanation) -> list[str]:
    if told.obstacle is not None:
        return obstacle_sentences(told.obstacle)
    largest = "" if told.max_size is None else f" with buckets of at most {told.max_size} people"
    return [f"The bounds can be kept: the method {told.method} can make a release{largest}."]


def obstacle_sentences(obstacle: Obstacle) -> list[str]:
    """Return why the bounds cannot be kept, value by value, and what would be feasible."""
    lines = [f"The bounds cannot be kept. {obstacle.message.rstrip('.')}."]
    for value in obstacle.values[:_SHOWN]:
        if value in obstacle.has and value in obstacle.needs and obstacle.has[value] != obstacle.needs[value]:
            lines.append(f"{value}: has {percent(obstacle.has[value])}, needs {percent(obstacle.needs[value])}.")
    if obstacle.hint:
        lines.append(f"What would work: {obstacle.hint.rstrip('.')}.")
    return lines


def _losses(told: Explanation) -> list[str]:
    if not told.strategies:
        return []
    return [
        "Loss says how much the release blurs: (size − 1)² added up over the buckets, 0 when everything is open.",
        *(_loss(strategy) for strategy in told.strategies),
    ]


def _loss(strategy: StrategyLoss) -> str:
    name = _STRATEGY.get(strategy.name, strategy.name) + (" (this policy)" if strategy.chosen else "")
    if strategy.loss is None:
        return f"Loss with {name}: not possible. {strategy.note.rstrip('.')}."
    proof = ""
    if strategy.gap is not None:
        proof = f", proven to be within {percent(strategy.gap)} of the best" if strategy.gap else ", proven to be the best"
    note = f" with {strategy.note}" if strategy.note else ""
    return f"Loss with {name}{note}: {strategy.loss:,}{proof} (buckets: {strategy.setting})."


def not_promised(told: Explanation) -> list[str]:
    """Return what no release of this method promises, whatever the policy says."""
    lines = [
        "Not promised: that a person's presence in the table stays hidden. The exact quasi values are published.",
        "Not promised: anything against a statistician who learns links between quasi and sensitive values from the release "
        "itself or elsewhere.",
        "Not promised: anything against somebody who holds a list of the whole population, or a second release of this table.",
        "Not promised: a bound on sets of values, on several people at once, or on the statement that somebody with such quasi "
        "values has a value.",
    ]
    if told.against != "insider":
        lines.append("Not promised: anything against somebody who knows the sensitive values of other people in the same bucket.")
    if told.decoys:
        lines.append("Decoys make guessing harder for such an insider; how much is measured in the receipt, never promised.")
    return lines


def _and(names: tuple[str, ...] | list[str]) -> str:
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
