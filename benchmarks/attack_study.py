"""Who is told more by a learner of links, and what do counts cost: β-likeness beside differential privacy (003, Figures 8 to 11)?

Bundled census (4,000 people, seven quasi columns, Occupation) and a table like COIL 2000 (9,822 people, four quasi columns, 40
values). ε = ln(1 + β). The ring knows ℓ-diversity only, here the
largest ℓ up to 10. Naive Bayes names everybody's likeliest value from what a release teaches, without and with Laplace's
correction; the control is as many people who are not in the table. Errors are the median relative ones of range counts over three
quasi columns and the secret, selectivity 10 %, by each release's own estimator; "exact quasi" takes only shares from synthetic
records, and the number of people who meet the quasi condition from the table, which the other releases publish.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import sfumato
from benchmarks._charts import Lines, small_multiples
from benchmarks._show import Cell, Show
from benchmarks.heterogeneous import census_table
from sfumato.attacks import attack
from sfumato.errors import SfumatoError
from sfumato.methods import Method
from sfumato.privacy.requirement import Requirement
from sfumato.query import And, Estimate, Query, Workload, count_many, range_workload, true_answers
from sfumato.release.base import Release
from sfumato.table.generators import insurance
from sfumato.utility.query_error import independence

Matcher = Literal["hungarian", "sortgreedy", "greedy"]
BETAS = (1, 3, 10, 20)
PARTITION = 2_000
"""People matched among themselves by HG, SG and GR, as in the paper's runs on larger tables."""

PAPERS, NOISE, OURS = 0, 1, 2
"""Families, by their colours."""


@dataclass(frozen=True)
class Way:
    """A method for a β, under which requirement, and its family."""

    family: int
    make: Callable[[Sequence[str]], Method]
    asked: Callable[[int, sfumato.Table], Requirement]
    synthetic: bool = False


def _reader(beta: int, table: sfumato.Table) -> Requirement:
    return sfumato.BetaLikeness(beta, against="reader")


def _odds(beta: int, table: sfumato.Table) -> Requirement:
    return sfumato.Differential(odds=1 + beta)


def _engineer(beta: int, table: sfumato.Table) -> Requirement:
    return sfumato.BetaLikeness(beta)


def _diverse(beta: int, table: sfumato.Table) -> Requirement:
    """Return the largest ℓ up to 10 that the table allows: rings know no β."""
    return sfumato.LDiversity(min(10, table.rows // int(table.sensitive.counts.max())), against="reader")


def _scheme(matcher: Matcher) -> Way:
    return Way(
        PAPERS,
        lambda values: sfumato.Heterogeneous(matcher=matcher, partition=PARTITION, accept_weaker_claim=True),
        _reader,
    )


WAYS: Mapping[str, Way] = {
    "BuReL": Way(PAPERS, lambda values: sfumato.BuReL(packing="fewest", fill="hilbert"), _reader),
    "ring": Way(PAPERS, lambda values: sfumato.Ring(partition="merged", accept_weaker_claim=True), _diverse),
    "HG": _scheme("hungarian"),
    "SG": _scheme("sortgreedy"),
    "GR": _scheme("greedy"),
    "near groups": Way(OURS, lambda values: sfumato.NearGroups(), _engineer),
    "soft boxes": Way(OURS, lambda values: sfumato.Boxes(), _engineer),
    "noisy boxes": Way(NOISE, lambda values: sfumato.NoisyBoxes(values=values, otherwise=values[0]), _odds),
    "PrivBayes": Way(NOISE, lambda values: sfumato.PrivBayes(), _odds, synthetic=True),
    "noisy tables": Way(NOISE, lambda values: sfumato.NoisyTables(), _odds, synthetic=True),
}


@dataclass(frozen=True)
class Asked:
    """A table with its domains declared, the same read with its values closed, people who are not in it, and questions."""

    table: sfumato.Table
    closed: sfumato.Table
    outsiders: sfumato.Table
    questions: Workload
    truth: np.ndarray
    quasi: np.ndarray

    @classmethod
    def of(cls, table: sfumato.Table, outsiders: sfumato.Table, queries: int) -> Asked:
        """Return a table with questions about it that somebody meets."""
        schema, values = table.schema, table.sensitive.labels
        told = sfumato.Schema(
            quasi=schema.quasi,
            sensitive=schema.sensitive,
            types=schema.types,
            domains={name: domain for name, domain in schema.domains.items() if name in schema.quasi},
            closed={"values": list(values), "otherwise": values[0]},
        )
        questions = range_workload(table, queries=queries, lambda_=3, theta=0.1, seed=1)
        alone = [quasi_part(query, schema.sensitive) for query in questions]
        return cls(
            table,
            sfumato.Table.from_frame(table.to_arrow(), told),
            outsiders,
            questions,
            true_answers(table, questions).astype(float),
            true_answers(table, alone).astype(float),
        )

    def read_for(self, way: Way) -> sfumato.Table:
        """Return the table as a method needs it."""
        return self.closed if way.family == NOISE else self.table

    def error(self, release: Release, *, exact_quasi: bool = False) -> float:
        """Return the median relative error; with exact quasi counts that of share · people who meet the quasi condition."""
        found = _values(release, self.questions.queries)
        if exact_quasi:
            names = self.table.schema.sensitive
            alone = _values(release, [quasi_part(query, names) for query in self.questions])
            overall = _values(release, [sensitive_part(query, names) for query in self.questions]) / release.rows
            found = self.quasi * np.where(alone > 0, found / np.maximum(alone, 1), overall)
        return float(np.median(np.abs(found - self.truth) / self.truth))


def quasi_part(query: Query, sensitive: Sequence[str]) -> Query:
    """Return the question without its condition on sensitive columns."""
    assert isinstance(query.condition, And)
    kept = tuple(part for part in query.condition.parts if part.column not in sensitive)  # type: ignore[union-attr]
    return Query(And(kept), terms=query.terms)


def sensitive_part(query: Query, sensitive: Sequence[str]) -> Query:
    """Return the question with its condition on sensitive columns alone."""
    assert isinstance(query.condition, And)
    kept = tuple(part for part in query.condition.parts if part.column in sensitive)  # type: ignore[union-attr]
    return Query(And(kept), terms=query.terms)


def _values(release: Release, queries: Sequence[Query]) -> np.ndarray:
    return np.array([one.value for one in count_many(release, queries) if isinstance(one, Estimate)])


def run(show: Show, quick: bool) -> None:
    """Show both tables, and write the pictures."""
    people, betas, queries = (1_000, (3, 10), 30) if quick else (4_000, BETAS, 60)
    studies = {
        "census": Asked.of(*_census(people), queries),
        "like COIL 2000": Asked.of(*_insurance(1_000 if quick else 9_822), queries),
    }
    attacks, errors = [], []
    steps = [f"{beta}\n{math.log(1 + beta):.2f}" for beta in betas]
    for name, asked in studies.items():
        found = _study(show, name, asked, betas)
        baseline = float(asked.table.sensitive.counts.max() / asked.table.rows)
        for figure, title in ((0, "no correction"), (1, "Laplace's correction")):
            series = {way: (WAYS[way].family, [one and one[figure] for one in row]) for way, row in found.items()}
            attacks.append(Lines(f"{name}, {title}", series, ("always the largest", baseline)))
        drawn = {way: (WAYS[way].family, [one and one[3] for one in row]) for way, row in found.items()}
        for way, row in found.items():
            if WAYS[way].synthetic:
                drawn[f"{way}, exact quasi"] = (3, [one and one[4] for one in row])
        alone = independence(asked.table, asked.questions)
        level = float(np.median(np.abs(alone - asked.truth) / asked.truth))
        errors.append(Lines(name, drawn, ("independence", level), cap=1.0))
    small_multiples(
        show.directory / "naive-bayes.svg",
        attacks,
        steps,
        title="How often naive Bayes names the value of a person of the table",
        note="Across: β, and ε = ln(1 + β) below it. Grey: as published in papers; green: ours; orange: noise.",
        y="people named rightly",
    )
    small_multiples(
        show.directory / "dp-errors.svg",
        errors,
        steps,
        title="Median relative error of range counts",
        note="Across: β, ε = ln(1 + β). Grey: papers; green: ours; orange: noise; blue: exact quasi counts. Cut off at 100 %.",
        y="median relative error",
    )


def _census(people: int) -> tuple[sfumato.Table, sfumato.Table]:
    whole = census_table(2 * people)
    schema = _with_values(whole)
    frame = sfumato.Table.from_frame(whole.to_arrow(), schema)
    return frame.take(np.arange(people)), frame.take(np.arange(people, 2 * people))


def _insurance(people: int) -> tuple[sfumato.Table, sfumato.Table]:
    types = {"sub_type": "categorical"}
    frame = insurance(2 * people, 1)
    quasi = frame.column_names[:-1]
    domains = {name: {"min": 1, "max": int(np.max(frame[name].to_numpy()))} for name in quasi}
    plain = sfumato.Table.from_frame(
        frame,
        sfumato.Schema(quasi=quasi, sensitive=["sub_type"], types=types, domains=domains),  # type: ignore[arg-type]
    )
    both = sfumato.Table.from_frame(frame, _with_values(plain))
    return both.take(np.arange(people)), both.take(np.arange(people, 2 * people))


def _with_values(table: sfumato.Table) -> sfumato.Schema:
    """Return the schema of a table with its sensitive values declared too."""
    schema = table.schema
    domains = {**schema.domains, schema.sensitive[0]: list(table.sensitive.labels)}
    return sfumato.Schema(quasi=schema.quasi, sensitive=schema.sensitive, types=schema.types, domains=domains)


Figures = tuple[float, float, float, float, float]


def _study(show: Show, name: str, asked: Asked, betas: Sequence[int]) -> dict[str, list[Figures | None]]:
    """Return per way and β: naive Bayes without and with correction, its control, the error, and that with exact quasi counts."""
    rows: list[list[Cell]] = []
    found: dict[str, list[Figures | None]] = {}
    for way, how in WAYS.items():
        found[way] = []
        table = asked.table if how.synthetic else asked.read_for(how)
        for beta in betas:
            if found[way] and how.asked(beta, table) == how.asked(betas[0], table):
                found[way].append(found[way][0])  # β changes nothing
                continue
            try:
                release = (
                    how.make(asked.closed.schema.to_dict()["closed"]["values"])
                    .run(table, how.asked(beta, table), random=beta)
                    .release
                )
            except SfumatoError as error:
                show.note(f"- {name}, {way}, β = {beta}: {error.message}")
                found[way].append(None)
                continue
            seen = attack(release, table, "nb", outsiders=asked.outsiders, random=1)
            plain, corrected = (next(one for one in seen if one.variant == variant) for variant in ("without correction", ""))
            off = asked.error(release)
            exact = asked.error(release, exact_quasi=True) if how.synthetic else math.nan
            figures = (plain.success or 0.0, corrected.success or 0.0, corrected.control or 0.0, off, exact)
            found[way].append(figures)
            rows.append([f"{way}, β = {beta}", math.log(1 + beta), *figures[:4], None if math.isnan(exact) else exact])
    heading = ["release", "ε", "no correction", "Laplace", "control (Laplace)", "error", "error, exact quasi"]
    show.table(f"{name}: naive Bayes and range counts, {asked.table.rows:,} people", heading, rows)
    return found
