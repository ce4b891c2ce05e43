"""The sentences of an explanation that everybody reads: who is found, by what, what would help, bounds, the promise.

Each says what it is about before a colon, and then one idea.
"""

from __future__ import annotations

from sfumato.exact import percent
from sfumato.explanation.explanation import Explanation
from sfumato.explanation.population import PopulationShare
from sfumato.explanation.risk import ColumnRisk, Risk
from sfumato.explanation.sentences import value_sentence
from sfumato.policy.words import an, bounds_in_words, uncapital

_MEANT = {
    "reader": "who has the release and knows everybody's quasi values",
    "engineer": "who has the release and all quasi values, and knows the program and its parameters, but not its coins",
    "insider": "who also knows the sensitive values of other people",
    "stranger": "who has the release and the person's own quasi values",
}
"""Adversaries in short; claims say in full whom they hold against."""


def highlights(about: Explanation) -> list[str]:
    """Return these sentences, fewer where there is nothing to say, more for sets with bounds and what no claim covers."""
    lines = finding(about.table.risk, shown=about.method.shown_as.exact_quasi)
    if not about.feasible:
        return [*lines, "Promised: nothing can be with this policy, and nothing would be published."]
    tightest = about.rule.tightest(1)
    if about.cost.odds is not None:
        lines.append(f"Rule: {uncapital(about.cost.odds.in_words())}")
        lines += [f"Tightest bound: {about.cost.odds.value(bound)}." for bound in tightest if about.cost.odds.bounded]
    elif tightest and about.method.paper_claim is None:
        shares, bounds = ({value.value: getattr(value, field) for value in about.rule.values} for field in ("share", "bound"))
        words = bounds_in_words(
            about.rule.requirement,
            shares,
            bounds,
            against=about.rule.against,
            secrets=about.table.roles["sensitive"] if about.table.protects_each else (),
            compound=about.table.compound,
            people=about.table.one_row_per_person,
        )
        lines += [f"Rule: {' '.join(words)}"] if about.rule.declared is None else []
        lines.append(f"Tightest bound: {value_sentence(tightest[0], inside=None)}.")
        if about.rule.sets:
            lowest = min(about.rule.sets, key=lambda bound: (bound.bound, bound.value))
            lines.append(f"Tightest of a set: {value_sentence(lowest, inside=None)}.")
    return [*lines, *_promise(about), *([about.table.uncovered] if about.table.uncovered else [])]


def finding(risk: Risk | None, *, shown: bool = True) -> list[str]:
    """Return how easily people are found where their rows are `shown`, what makes them unique and which step would help most."""
    return [] if risk is None else [*([identifiable(risk), *in_population(risk)] if shown else []), *_why(risk), *_step(risk)]


def in_terms(risk: Risk) -> str:
    """Return the three risks that a person's row is found, by the names that the field has for them."""
    largest, mean = risk.prosecutor
    return (
        f"Prosecutor risk: {percent(mean, 1)} on average, {percent(largest, 1)} at most. Journalist risk is the same, taking the "
        f"table for the whole population. Marketer risk: {percent(risk.marketer, 1)}."
    )


def determining(risk: Risk | None) -> list[str]:
    """Return which quasi columns nearly determine the sensitive value, in one sentence; nothing if none does."""
    named = [] if risk is None else [column for column in risk.columns if column.determines]
    if not named:
        return []
    guessed = ", ".join(f"{column.name} ({percent(column.guessed, 0)} of people guessed right)" for column in named)
    return [
        f"Nearly the secret itself: {guessed}. Whoever knows that of a person knows the sensitive value without any release, and "
        "no bound covers such a link: make the column coarser, or give it the role sensitive or other."
    ]


def identifiable(risk: Risk) -> str:
    """Return with which chance a person's row is found."""
    largest, mean = risk.prosecutor
    return f"Found: with chance {percent(mean, 1)} on average, {percent(largest, 1)} at most, by quasi values."


def in_population(risk: Risk) -> list[str]:
    """Return who is found among all people of the population, estimated, beside the worst case; nothing without its size."""
    found = risk.population
    if found is None:
        return []
    said = "as the policy states" if found.source == "stated" else "the sum of weights"
    if not found.fitted:
        return [
            f"In the population ({found.people:,} people, {said}): no two people of the table are alike, so that nothing can be "
            "estimated, and the worst case stands: everybody is the only one of her kind, and is found."
        ]
    return [
        f"In the population ({found.people:,} people, {said}; estimated by Pitman's model, which takes the table for a random "
        f"sample): {_estimated(found.unique)} of the people of the table are the only one of their kind in it (worst case "
        f"{percent(risk.unique, 1)}), and whoever links rows to a list of everybody is right about {_estimated(found.found)} of "
        f"them (journalist and marketer risk on average; worst case {percent(risk.marketer, 1)}). Whoever knows that a person is "
        "in the table finds her as above."
    ]


def _estimated(share: PopulationShare) -> str:
    return f"{percent(share.estimate, 1)} (at most {percent(share.upper, 1)}, 95 %)"


def _promise(about: Explanation) -> list[str]:
    if about.method.paper_claim is not None:
        return ["Promised: no bound on what a reader believes, only what the method's paper claims."]
    if about.cost.odds is not None:
        return [
            "Promised: against an insider, who may know everybody else's value. Several noisy releases multiply their odds, "
            "which [budget] limits.",
            "Not promised: a bound on what other people of a group teach about people like somebody, or on who is in the table.",
        ]
    if about.rule.declared is not None:
        return [
            f"Promised: against {an(about.rule.against)} who believed the declared shares before, and takes records as "
            "independent of each other.",
            "Not promised: anything against whoever believes other shares, or learns them from the release.",
        ]
    return [
        f"Promised: against {an(about.rule.against)}, {_MEANT[about.rule.against]}.",
        "Not promised: anything against somebody who learns links between quasi and sensitive values, has a list of the whole "
        "population, or holds a second release of this table.",
    ]


def _why(risk: Risk) -> list[str]:
    if not risk.unique or len(risk.columns) == 1:
        return []
    worst = min(risk.columns, key=lambda column: (column.unique_without, column.name))
    return [f"Why unique: most of all by {worst.name}; without it {percent(worst.unique_without, 1)} of people would be."]


def _step(risk: Risk) -> list[str]:
    steps = [column for column in risk.columns if column.step is not None]
    if not risk.unique or not steps:
        return []
    best = max(steps, key=lambda column: _worth(risk, column))
    step = best.step
    assert step is not None
    return [
        f"Would help most: {best.name} with {step.text}, {step.levels} levels instead of {best.levels}: "
        f"{percent(step.unique, 1)} of people unique instead of {percent(risk.unique, 1)}. It costs "
        f"{percent(step.link_lost, 0)} of its link with the sensitive value."
    ]


def _worth(risk: Risk, column: ColumnRisk) -> float:
    """Return how much a step lessens the share of unique people, less what it costs."""
    step = column.step
    assert step is not None
    gained = 1.0 - float(step.unique / risk.unique)
    return gained * (1.0 - step.misplaced) * (1.0 - step.link_lost)
