"""β-likeness and differential privacy with equal odds: the ways, and questions that may know quasi counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import sfumato
from sfumato import Heterogeneous, NoisyTables, PrivBayes, Ring
from sfumato.methods import METHODS, Method
from sfumato.privacy.requirement import Requirement
from sfumato.query import And, Estimate, Estimator, Query, Workload, count_many, true_answers
from sfumato.release.base import Release
from sfumato.studies.matching.tables import declared
from sfumato.studies.source import Source
from sfumato.utility.query_error import independence

Matcher = Literal["hungarian", "sortgreedy", "greedy"]
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


def _scheme(matcher: Matcher, partition: int | None) -> Way:
    return Way(
        PAPERS,
        lambda values: Heterogeneous(matcher=matcher, partition=partition, accept_weaker_claim=True),
        _reader,
    )


def ways(partition: int | None = None) -> Mapping[str, Way]:
    """Return the ways by name; HG, SG and GR match the whole table, as the paper does, or so many people at a time."""
    return {
        "BuReL": Way(PAPERS, lambda values: sfumato.BuReL(packing="fewest", fill="hilbert"), _reader),
        "BuReL, tuned": Way(PAPERS, lambda values: sfumato.BuReL(), _reader),
        "ring": Way(PAPERS, lambda values: Ring(partition="merged", accept_weaker_claim=True), _diverse),
        "HG": _scheme("hungarian", partition),
        "SG": _scheme("sortgreedy", partition),
        "GR": _scheme("greedy", partition),
        "near groups": Way(OURS, lambda values: sfumato.NearGroups(), _engineer),
        "soft boxes": Way(OURS, lambda values: sfumato.Boxes(), _engineer),
        "noisy boxes": Way(NOISE, lambda values: sfumato.NoisyBoxes(values=values, otherwise=values[0]), _odds),
        "PrivBayes": Way(NOISE, lambda values: PrivBayes(), _odds, synthetic=True),
        "noisy tables": Way(NOISE, lambda values: NoisyTables(), _odds, synthetic=True),
    }


def also(name: str) -> Way:
    """Return a method of an installed package by its name, as a way of the paper's kind: against a reader."""
    return Way(PAPERS, lambda values: METHODS[name](), _reader)


@dataclass(frozen=True)
class Questions:
    """Questions that somebody meets, the truth, and how many people meet the quasi condition."""

    workload: Workload
    sensitive: tuple[str, ...]
    truth: np.ndarray
    quasi: np.ndarray
    alone: float
    """The error of assuming independence."""

    @classmethod
    def of(cls, table: sfumato.Table, workload: Workload) -> Questions:
        """Return questions with what the table answers."""
        names = tuple(table.schema.sensitive)
        truth = true_answers(table, workload).astype(float)
        quasi = true_answers(table, [quasi_part(query, names) for query in workload]).astype(float)
        alone = float(np.median(np.abs(independence(table, workload) - truth) / truth))
        return cls(workload, names, truth, quasi, alone)

    def error(self, release: Release, estimator: Estimator | None = None, *, exact_quasi: bool = False) -> float:
        """Return the median relative error; with exact quasi counts that of share · people who meet the quasi condition."""
        found = _values(release, self.workload.queries, estimator)
        if exact_quasi:
            alone = _values(release, [quasi_part(query, self.sensitive) for query in self.workload], estimator)
            shares = [sensitive_part(query, self.sensitive) for query in self.workload]
            overall = _values(release, shares, estimator) / release.rows
            found = self.quasi * np.where(alone > 0, found / np.maximum(alone, 1), overall)
        return float(np.median(np.abs(found - self.truth) / self.truth))


@dataclass(frozen=True)
class Asked:
    """A table with its domains declared, the same read with its values closed, and people who are not in it."""

    table: sfumato.Table
    closed: sfumato.Table
    outsiders: sfumato.Table

    @classmethod
    def of(cls, source: Source, people: int) -> Asked:
        """Return people of a source, all domains declared, and as many others."""
        both = declared(source.table(source.secrets[0], 2 * people))
        both = sfumato.Table.from_frame(both.to_arrow(), _with_values(both))
        half = both.rows // 2
        table, outsiders = both.take(np.arange(half)), both.take(np.arange(half, 2 * half))
        schema, values = table.schema, table.sensitive.labels
        told = sfumato.Schema(
            quasi=schema.quasi,
            sensitive=schema.sensitive,
            types=schema.types,
            domains={name: domain for name, domain in schema.domains.items() if name in schema.quasi},
            closed={"values": list(values), "otherwise": values[0]},
        )
        return cls(table, sfumato.Table.from_frame(table.to_arrow(), told), outsiders)

    def read_for(self, way: Way) -> sfumato.Table:
        """Return the table as a method needs it."""
        return self.closed if way.family == NOISE and not way.synthetic else self.table

    def released(self, way: Way, beta: int, seed: int) -> Release:
        """Return a release that keeps β, or spends ln(1 + β)."""
        table = self.read_for(way)
        return way.make(self.table.sensitive.labels).run(table, way.asked(beta, table), random=seed).release


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


def _values(release: Release, queries: Sequence[Query], estimator: Estimator | None) -> np.ndarray:
    answers = count_many(release, queries, estimator=estimator)
    return np.array([answer.value for answer in answers if isinstance(answer, Estimate)])


def _with_values(table: sfumato.Table) -> sfumato.Schema:
    """Return the schema of a table with its sensitive values declared too."""
    schema = table.schema
    domains = {**schema.domains, schema.sensitive[0]: list(table.sensitive.labels)}
    given = sfumato.Schema(quasi=schema.quasi, sensitive=schema.sensitive, types=schema.types, domains=domains)
    return PrivBayes().close(given)
