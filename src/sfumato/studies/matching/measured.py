"""What is measured for 003's Figures 8 to 11: errors of counts and what naive Bayes names, of every way and β on two tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sfumato.attacks import attack
from sfumato.attacks.learned import learn
from sfumato.attacks.naive_bayes import near_values
from sfumato.attacks.sight import quasi_only
from sfumato.errors import SfumatoError
from sfumato.query import prefix_workload, range_workload
from sfumato.release.base import Release
from sfumato.studies.matching.likeness import Asked, Questions, Way
from sfumato.studies.source import Source

AT = 3
"""The β at which questions and distances vary."""

THETAS = (0.05, 0.1, 0.15, 0.2, 0.25)
DISTANCES = (0.0, 0.02, 0.0495, 0.1, 0.2, 0.5, 1.0)
USUAL, PREFIX = "ranges", "prefixes"
NEAR = "near numbers counted too"
SINGLE = ("age", "gender", "marital", "race")


@dataclass(frozen=True)
class Studied:
    """A table, its questions of every β, and those of β = 3 alone."""

    name: str
    asked: Asked
    always: Mapping[str, Questions]
    sweeps: Mapping[str, Mapping[str, Questions]]


@dataclass(frozen=True)
class Found:
    """How often naive Bayes is right in each way of hers, on outsiders too, and the error of questions by their name."""

    right: Mapping[str, float]
    control: float
    errors: Mapping[str, float]
    """By the paper's estimator: evenly within a range."""
    ours: Mapping[str, float]
    """By the default one of what is here."""
    exact: Mapping[str, float]
    near: Mapping[str, float]


Row = Sequence[Found | None]


@lru_cache(maxsize=2)
def studied(source: Source, people: int, queries: int, lambdas: int, prefix: str = "") -> Studied:
    """Return a table with its questions: ranges over up to so many columns, and prefixes of a column beside single values."""
    asked = Asked.of(source, people)

    def ranges(many: int, theta: float) -> Questions:
        return Questions.of(asked.table, range_workload(asked.table, queries=queries, lambda_=many, theta=theta, seed=1))

    columns = {f"{many}": ranges(many, 0.1) for many in range(1, min(lambdas, len(asked.table.quasi)) + 1)}
    shares = {f"{theta:g}": ranges(min(3, len(columns)), theta) for theta in THETAS}
    always = {USUAL: columns[str(min(3, len(columns)))]}
    names = [column.name for column in asked.table.quasi]
    if prefix in names and set(SINGLE) <= set(names):
        always[PREFIX] = Questions.of(asked.table, prefix_workload(asked.table, prefix, SINGLE, queries=queries, seed=1))
    return Studied(source.name, asked, always, {"λ": columns, "Θ": shares})


def measure(note: Callable[[str], None], study: Studied, name: str, way: Way, betas: Sequence[int], seed: int) -> Row:
    """Return what is found of one way for every β; None where it refuses."""
    row, table = list[Found | None](), study.asked.read_for(way)
    for beta in betas:
        same = next((k for k, before in enumerate(betas[: len(row)]) if way.asked(before, table) == way.asked(beta, table)), None)
        if same is not None and beta != AT:
            row.append(row[same])  # β changes nothing
            continue
        try:
            row.append(_one(study, way, beta, beta + 1000 * seed))
        except SfumatoError as error:
            note(f"- {study.name}, {name}, β = {beta}: {error.message}")
            row.append(None)
    return row


def _one(study: Studied, way: Way, beta: int, seed: int) -> Found:
    asked, table = study.asked, study.asked.read_for(way)
    release = asked.released(way, beta, seed)
    seen = {one.variant: one for one in attack(release, table, "nb", outsiders=asked.outsiders, random=1)}
    questions = dict(study.always)
    if beta == AT:
        questions |= {f"{kind}{step}": one for kind, steps in study.sweeps.items() for step, one in steps.items()}
    return Found(
        {variant: one.success or 0.0 for variant, one in seen.items()},
        seen[""].control or 0.0,
        {name: one.error(release, None if way.synthetic else "paper") for name, one in questions.items()},
        {name: one.error(release) for name, one in questions.items()},
        {name: one.error(release, exact_quasi=True) for name, one in questions.items()} if way.synthetic else {},
        _near(release, table) if way.synthetic and beta == AT else {},
    )


def _near(release: Release, table: object) -> dict[str, float]:
    """Return how often naive Bayes is right by each distance, without and with correction."""
    people = quasi_only(table)  # type: ignore[arg-type]
    model, labels = learn(release, people), list(release.labels)
    number = {label: k for k, label in enumerate(labels)}
    sensitive = table.sensitive  # type: ignore[attr-defined]
    truth = np.array([number.get(label, -1) for label in sensitive.labels])[sensitive.codes]
    return {
        f"{correction:g} {distance:g}": float(
            (near_values(release, model, people, distance).posterior(people, correction).argmax(axis=1) == truth).mean()
        )
        for correction in (0.0, 1.0)
        for distance in DISTANCES
    }
