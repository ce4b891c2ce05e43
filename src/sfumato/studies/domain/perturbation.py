"""Small-domain randomization as benchmarks and studies ask about it: bounds, methods, the paper's queries ([002])."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

import sfumato
from sfumato.methods.base import Method
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.privacy.requirement import Requirement
from sfumato.query import And, Estimate, Estimator, In, Query, count_many
from sfumato.query.language.predicate import Condition, Missing
from sfumato.randomness import SeededRandomness
from sfumato.release.randomized import RandomizedRelease
from sfumato.table.column import Column

SEED = 1
CONDITIONS = 200
LEVELS = {"OCC": (6, 5, 4, 3), "EDU": (10, 8, 6, 4)}
"""L = 1/ρ2 of the paper."""

Answers = npt.NDArray[np.float64]


def rho(attribute: str, level: int) -> sfumato.RhoPrivacy:
    """Return the paper's (ρ1, ρ2) for a table and L = 1/ρ2; of a table of one's own that of OCC."""
    return sfumato.RhoPrivacy("1/30" if attribute == "EDU" else "1/13", f"1/{level}")


def published(method: Method, table: sfumato.Table, requirement: Requirement, *, seed: int = SEED) -> RandomizedRelease:
    """Return a randomized release."""
    release = method.run(table, requirement, random=seed).release
    return cast("RandomizedRelease", release)


def mean_retention(release: RandomizedRelease, table: sfumato.Table) -> float:
    """Return the mean retention over records: with one retention a part, how large the parts are says it all."""
    people = np.bincount(release.part, minlength=len(release.parts))
    kept = [
        float(part.kept.mean()) if len(set(part.retention)) == 1 else float(prior @ part.kept)
        for part, prior in zip(release.parts, _true_or_likely(release, table), strict=True)
    ]
    return float(people @ np.array(kept) / people.sum())


def _true_or_likely(release: RandomizedRelease, table: sfumato.Table) -> Sequence[Answers]:
    """Return shares per part: the table's where there is one part, else likely ones."""
    if len(release.parts) == 1:
        return [table.sensitive.counts[release.parts[0].values] / table.rows]
    return release.priors


def value_is(table: sfumato.Table, code: int) -> Condition:
    """Return the condition that the secret has this value."""
    domain = table.sensitive.domain
    return In(domain.names[0], (domain.table[0][code].as_py(),))


def _code(column: Column, code: int) -> Condition:
    return Missing(column.name) if code == len(column.values) else In(column.name, (column.values[code].as_py(),))


def pool(table: sfumato.Table, *, seed: int = SEED) -> list[Query]:
    """Return the paper's queries ([SDR §10.9]): 200 conditions of 1 to 3 columns, each with every sensitive value."""
    random = SeededRandomness(seed)
    asked = []
    for _ in range(CONDITIONS):
        many = 1 + int(random.below(3, 1)[0])
        chosen = [table.quasi[j] for j in random.permutation(len(table.quasi))[:many]]
        parts = [_code(column, int(random.below(column.size, 1)[0])) for column in chosen]
        asked += [Query(And((*parts, value_is(table, code))), terms="published") for code in range(len(table.sensitive.domain))]
    return asked


def answers_of(release: sfumato.Release, asked: Sequence[Query], estimator: Estimator | None) -> Answers:
    """Return the estimates; for the paper's estimator the raw ones, negative or not."""
    answers = [one for one in count_many(release, asked, estimator=estimator) if isinstance(one, Estimate)]
    return np.array([one.raw if estimator == "paper" and one.raw is not None else one.value for one in answers])


def lineup(attribute: str, level: int) -> list[tuple[str, Method, Requirement, Estimator | None]]:
    """Return PP, UP and Anatomy by name, with what they keep and the estimator they are asked with."""
    needed = rho(attribute, level)
    skewed = attribute == "EDU"
    anatomy = sfumato.Anatomy(l=level, suppress=skewed)
    # ℓ-diversity itself is infeasible for frequent values; as in the paper, Anatomy then suppresses people until it is not.
    reader = sfumato.RhoPrivacy("1/30", f"1/{level}", against="reader") if skewed else sfumato.LDiversity(level, against="reader")
    return [
        ("PP", SmallDomain(), needed, "paper"),
        ("PP, likelihood", SmallDomain(), needed, "likelihood"),
        ("UP", UniformPerturbation(), needed, "paper"),
        ("UP, likelihood", UniformPerturbation(), needed, "likelihood"),
        ("Anatomy", anatomy, reader, "paper"),
        ("Anatomy, likelihood", anatomy, reader, "likelihood"),
    ]
