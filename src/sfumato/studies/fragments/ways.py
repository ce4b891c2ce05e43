"""Ambiguity and PriView as benchmarks and studies ask about them: tables, methods side by side, and errors ([004])."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

import sfumato
from sfumato.errors import Infeasible
from sfumato.methods.base import Method
from sfumato.privacy.requirement import Against
from sfumato.query import Query, Workload, anatomy_workload, count_many, true_answers
from sfumato.query.answer import Estimate, Estimator
from sfumato.studies.census import ATTRIBUTES, Census
from sfumato.studies.fragments.questions import Question, draw_questions
from sfumato.utility import marginals

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
SENSITIVE = ("occupation", "salary")
ALPHA, BETA = "0.1", "0.2"
PAPER = sfumato.Ambiguity(grouping="paper", accept_weaker_claim=True)
PRIVIEW = sfumato.PriView(grouping="paper", accept_weaker_claim=True)
BOXES = sfumato.Ambiguity()
FRAGMENTS: Mapping[str, Method] = {
    "Ambiguity, boxes": BOXES,
    "Ambiguity, boxes of ≥ 100": sfumato.Ambiguity(floor=100),
    "Ambiguity, paper": PAPER,
    "Ambiguity, paper, greedy pick": replace(PAPER, pick="greedy"),
    "PriView, paper": PRIVIEW,
    "PriView, paper, pairs": replace(PRIVIEW, pick="pairs"),
}
Floats = npt.NDArray[np.float64]
Releases = Mapping[str, tuple[sfumato.Release, Estimator | None]]
"""By name a release, and the estimator that it is asked with."""


IMPOSSIBLE = "β = 0.05 and 0.025 cannot be kept: one occupation has 7.8 % of the people"
CENSUS = Census(secrets=("OCC",), numbers=("age", "education"))


def census_table(people: int, sensitive: str, *, seed: int = 1, density: int = 1) -> sfumato.Table:
    """Return the census; with a density d, every one of N/d people's quasi values d times, and N sensitive values as they are."""
    secret = {column: short for short, column in ATTRIBUTES.items()}[sensitive]
    return replace(CENSUS, seed=seed, density=density).table(secret, people)


def needs(alpha: str = ALPHA, beta: str = BETA, against: Against = "reader") -> sfumato.PresenceAssociation:
    """Return α-presence and β-association."""
    return sfumato.PresenceAssociation(alpha, beta, against=against)


def made(method: Method, table: sfumato.Table, needed: sfumato.PresenceAssociation, *, seed: int = 1) -> sfumato.Release | None:
    """Return a release, None where the bounds cannot be kept."""
    try:
        return method.run(table, needed, random=seed).release
    except Infeasible:
        return None


def lineup(
    table: sfumato.Table, beta: str, methods: Mapping[str, Method] = FRAGMENTS, *, seed: int = 1
) -> dict[str, tuple[sfumato.Release, Estimator | None]]:
    """Return releases and the estimators they are asked with: the papers', and the default where it differs."""
    found: dict[str, tuple[sfumato.Release, Estimator | None]] = {}
    for name, method in methods.items():
        release = made(method, table, needs(ALPHA, beta), seed=seed)
        if release is not None:
            found[f"{name}; estimator paper"] = (release, "paper")
            if name.startswith("Ambiguity"):
                found[name] = (release, None)
    bound = sfumato.FPrivacy(theta=0, offset=beta, against="reader")
    generalized = sfumato.Mondrian().run(table, bound, random=seed).release
    found["Mondrian, ranges; estimator paper"] = (generalized, "paper")
    found["Mondrian, ranges"] = (generalized, None)
    return found


@dataclass(frozen=True)
class Errors:
    """Relative errors of conditions, and of GROUP BY answers (Σ|estimate − truth| / Σ truth of an answer's cells)."""

    mean: float
    median: float
    grouped_mean: float
    grouped_median: float


@dataclass(frozen=True, eq=False)
class Asked:
    """Conditions and GROUP BY questions of one kind, with their true answers."""

    workload: Workload
    truth: Floats
    alone: Floats
    grouped: list[Question]

    @classmethod
    def draw(cls, table: sfumato.Table, *, queries: int, grouped: int, columns: int, selectivity: float, seed: int = 1) -> Asked:
        """Return random questions about a table that somebody meets."""
        drawn = anatomy_workload(table, queries=queries, qd=columns, selectivity=selectivity, seed=2 + seed)
        truth = true_answers(table, drawn).astype(np.float64)
        kept: list[Query] = [query for query, answer in zip(drawn, truth, strict=True) if answer > 0]
        workload = Workload(drawn.name, tuple(kept))
        cells = draw_questions(table, count=grouped, columns=columns, selectivity=selectivity, seed=3 + seed)
        return cls(workload, truth[truth > 0], marginals(table, workload), cells)

    def errors(self, release: sfumato.Release, estimator: Estimator | None) -> Errors:
        """Return how far a release's answers are from the truth."""
        answers = count_many(release, self.workload, estimator=estimator)
        values = np.array([answer.value for answer in answers if isinstance(answer, Estimate)])
        return self._errors(values, [question.error(release, estimator) for question in self.grouped])

    def of_marginals(self) -> Errors:
        """Return the same for one-way marginals."""
        return self._errors(self.alone, [question.marginal_error for question in self.grouped])

    def _errors(self, values: Floats, grouped: list[float]) -> Errors:
        off = np.abs(values - self.truth) / self.truth
        return Errors(float(off.mean()), float(np.median(off)), float(np.mean(grouped)), float(np.median(grouped)))
