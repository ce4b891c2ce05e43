"""Workloads: many count questions about one table, drawn the way the literature does, or written by the owner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import QueryError, did_you_mean
from sfumato.query import _kernels
from sfumato.query.facts import having
from sfumato.query.language.compile import Pieces, compile_condition
from sfumato.query.language.predicate import COUNT, And, Between, Condition, In, Missing, Or, Query
from sfumato.query.language.sql import UnreadableError, parse_sql
from sfumato.query.language.vocabulary import Vocabulary
from sfumato.query.rows import RowIndex
from sfumato.randomness import Randomness, randomness
from sfumato.table.column import Column, Domain, Sensitive


class TableLike(Protocol):
    """What a workload needs of the publisher's table."""

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi columns."""

    @property
    def sensitive(self) -> Sensitive:
        """The sensitive attribute."""


@dataclass(frozen=True)
class Workload:
    """Count questions to compare releases by. `dropped` is how many were left out because nobody meets them.

    Drawn questions speak of the table's values as they are published; the owner's, as everywhere, of the original ones.
    """

    name: str
    queries: tuple[Query, ...]
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[Query]:
        return iter(self.queries)


def values_per_predicate(size: int, selectivity: float, attributes: int) -> int:
    """Return b = ⌈|A|·s^(1/(qd+1))⌉: values per predicate that make the whole query expect the selectivity s."""
    wanted: float = size * selectivity ** (1 / (attributes + 1))
    return min(size, max(1, math.ceil(wanted - 1e-9)))


def anatomy_workload(
    table: TableLike, *, queries: int = 5000, qd: int | None = None, selectivity: float = 0.01, seed: int = 0
) -> Workload:
    """Return queries with random sets of values on qd random quasi columns and on the sensitive attribute ([F' §7]).

    `qd=None` draws it uniformly from 1 … the number of quasi columns. Questions that nobody meets stay in.
    """
    _check(queries=queries, share=selectivity, columns=qd, most=len(table.quasi))
    random, secrets = randomness(seed), _secrets(table)
    made = []
    for number in range(queries):
        many = qd or 1 + int(random.below(len(table.quasi), 1)[0])
        parts: list[Condition] = []
        for j in random.permutation(len(table.quasi))[:many]:
            column = table.quasi[j]
            parts.append(_code_set(column, _draw(random, column.size, values_per_predicate(column.size, selectivity, many))))
        domain = secrets[number % len(secrets)]
        chosen = _draw(random, len(domain), values_per_predicate(len(domain), selectivity, many))
        made.append(Query(And((*parts, _value_set(domain, chosen))), terms="published"))
    return Workload(f"Anatomy-style, selectivity {selectivity:g}, qd {qd or f'1…{len(table.quasi)}'}", tuple(made))


def range_workload(table: TableLike, *, queries: int = 5000, lambda_: int = 3, theta: float = 0.1, seed: int = 0) -> Workload:
    """Return queries with contiguous ranges of |A|·Θ^(1/(λ+1)) values on λ random quasi columns and on the sensitive attribute.

    Questions that nobody meets are dropped, so that fewer than `queries` may come back.
    """
    _check(queries=queries, share=theta, columns=lambda_, most=len(table.quasi))
    random, secrets = randomness(seed), _secrets(table)
    share = theta ** (1 / (lambda_ + 1))
    made = []
    for number in range(queries):
        parts: list[Condition] = []
        for j in random.permutation(len(table.quasi))[:lambda_]:
            column = table.quasi[j]
            parts.append(_code_range(column, *_draw_range(random, column.size, share)))
        domain = secrets[number % len(secrets)]
        first, last = _draw_range(random, len(domain), share)
        made.append(Query(And((*parts, _value_set(domain, np.arange(first, last)))), terms="published"))
    return _met(f"ranges, Θ {theta:g}, λ {lambda_}", table, made)


def prefix_workload(
    table: TableLike, prefix: str, single: Sequence[str], *, queries: int = 5000, share: float = 0.5, seed: int = 0
) -> Workload:
    """Return the queries that census staff suggest ([003] §5): a prefix of one column, single values of others.

    Each has everybody up to a random value of the numeric or date column `prefix` (a prefix [0, i]), the `single` values of a
    random person, so that people in large cells are asked about more often, and a contiguous range of that `share` of the
    sensitive values. The paper leaves open how they are drawn. Questions that nobody meets are dropped.
    """
    _check(queries=queries, share=share, columns=None, most=len(table.quasi))
    ordered, others = _quasi(table, prefix), [_quasi(table, name) for name in single]
    if ordered.kind == "categorical" or not len(ordered.values):
        raise QueryError(f"{prefix!r} has no values in an order, so it has no prefixes", hint="name a numeric or date column")
    if len({prefix, *single}) <= len(single):
        raise QueryError("a column is named twice", hint="name each column once, the prefix not among the single ones")
    random = randomness(seed)
    secrets = _secrets(table)
    made = []
    for number, person in enumerate(random.below(len(table.sensitive.codes), queries).tolist()):
        domain = secrets[number % len(secrets)]
        last = int(random.below(len(ordered.values), 1)[0])
        parts = [_code_range(ordered, 0, last + 1)]
        parts += [_code_range(column, int(column.codes[person]), int(column.codes[person]) + 1) for column in others]
        made.append(
            Query(And((*parts, _value_set(domain, np.arange(*_draw_range(random, len(domain), share))))), terms="published")
        )
    return _met(f"prefixes of {prefix}, single {', '.join(single)}", table, made)


def crosstab_workload(table: TableLike, *, bands: int = 10, queries: int = 1000, seed: int = 0) -> Workload:
    """Return the cells of every quasi column against every sensitive value: what two-way tables of the release would hold.

    A column with more than `bands` values is taken in so many bands of about equally many people, categories in the order of
    their codes. Of more than `queries` cells so many are drawn. Questions that nobody meets are dropped.
    """
    _check(queries=queries, share=1.0, columns=None, most=len(table.quasi))
    cells = []
    for column in table.quasi:
        edges = _band_edges(column, bands)
        parts = [_code_set(column, np.arange(first, last)) for first, last in pairwise(edges)]
        cells += [(part, domain, value) for domain in _secrets(table) for part in parts for value in range(len(domain))]
    chosen = [cells[i] for i in np.sort(randomness(seed).permutation(len(cells))[:queries]).tolist()]
    made = [Query(And((part, _value_set(domain, np.array([value])))), terms="published") for part, domain, value in chosen]
    return _met("cells of crosstabs", table, made)


def _band_edges(column: Column, bands: int) -> list[int]:
    """Return where bands of codes begin, and the end of the last: a band a value, or about equally many people a band."""
    if column.size <= bands:
        return list(range(column.size + 1))
    below = np.concatenate(([0], np.cumsum(np.bincount(column.codes, minlength=column.size))))
    wanted = np.searchsorted(below, np.arange(1, bands) * below[-1] / bands)
    return sorted({0, *(int(edge) for edge in wanted if 0 < edge < column.size), column.size})


def _secrets(table: TableLike) -> list[Domain]:
    """Return the values that questions ask about in turn: of each sensitive column where each is protected by itself."""
    schema = getattr(table, "schema", None)
    return (
        [secret.domain for secret in table.sensitive.each()]
        if schema is not None and schema.protects_each
        else [table.sensitive.domain]
    )


def _met(name: str, table: TableLike, made: Sequence[Query]) -> Workload:
    """Return the questions that somebody meets."""
    kept = tuple(query for query, answer in zip(made, true_answers(table, made), strict=True) if answer)
    return Workload(name, kept, len(made) - len(kept))


def _quasi(table: TableLike, name: str) -> Column:
    named = next((column for column in table.quasi if column.name == name), None)
    if named is None:
        names = [column.name for column in table.quasi]
        raise QueryError(f"no quasi column {name!r}", hint=did_you_mean(name, names))
    return named


def sql_workload(text: str, *, name: str = "owner's queries") -> Workload:
    """Return the queries of a text, one a line; what follows # or -- at the start of a line is a comment."""
    made = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(("#", "--")):
            continue
        try:
            asked = parse_sql(line)
            if asked.select != (COUNT,) or asked.having is not None or asked.order_by or asked.limit is not None:
                raise QueryError("a workload holds questions for counts", hint="SELECT COUNT(*) WHERE …, or a condition alone")
            made.append(asked)
        except UnreadableError as error:
            # The file may be another one by mistake, the table itself: what stands in it is not shown.
            raise QueryError(f"line {number}: {error.brief}", hint=error.hint) from None
        except QueryError as error:
            raise QueryError(f"line {number}: {error.message}", hint=error.hint) from None
    if not made:
        raise QueryError("the workload holds no query", hint="write one query a line, for instance: age BETWEEN 30 AND 40")
    return Workload(name, tuple(made))


def true_answers(table: TableLike, queries: Workload | Sequence[Query]) -> Integers:
    """Return the exact counts on the publisher's own table, which holds the columns as they are published."""
    index = RowIndex.of(table.quasi, len(table.sensitive.codes))
    several = getattr(table, "bundles", None) is not None
    known = None if several else vocabulary_of(table)
    answers = []
    for query in queries:
        people, asked = having(table, query) if several else (table, query)
        vocabulary, codes = known or vocabulary_of(people), people.sensitive.codes
        if query.group_by:
            raise QueryError("a workload query has a GROUP BY", hint="write one query per cell")
        if query.select != (COUNT,):
            raise QueryError("a workload query asks for another figure than COUNT(*)", hint="write count questions")
        total = 0
        for piece in exact_pieces(asked, vocabulary):
            rows, many = index.find(piece.rows)
            total += _kernels.count_wanted(codes, piece.values.view(np.uint8), rows, many)
        answers.append(total)
    return np.array(answers, dtype=np.int64)


def vocabulary_of(table: TableLike) -> Vocabulary:
    """Return the words of a table; a table that knows its schema also knows what recoded values stand for."""
    return Vocabulary.of(table.quasi, table.sensitive.domain, getattr(table, "schema", None))


def exact_pieces(query: Query, vocabulary: Vocabulary) -> Pieces:
    """Return a question's pieces; one that cuts through recoded values has no exact answer, also for the publisher."""
    compiled = compile_condition(query.condition, vocabulary.for_terms(query.terms))
    if compiled.partly is not None:
        raise QueryError(f"the recoded table has no exact answer: {compiled.partly.note}", hint="ask about whole values")
    return compiled.pieces


def _check(*, queries: int, share: float, columns: int | None, most: int) -> None:
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
        raise QueryError(f"queries: expected a whole number from 1 on, got {queries!r}")
    if not 0 < share <= 1:
        raise QueryError(f"the selectivity lies above 0 and is at most 1, got {share!r}", hint="0.01 and 0.1 are usual")
    if columns is not None and not 1 <= columns <= most:
        raise QueryError(f"a query can use 1 to {most} quasi columns here, not {columns!r}")


def _draw(random: Randomness, size: int, count: int) -> Integers:
    return np.sort(random.permutation(size)[:count])


def _draw_range(random: Randomness, size: int, share: float) -> tuple[int, int]:
    length = min(size, max(1, round(size * share)))
    first = int(random.below(size - length + 1, 1)[0])
    return first, first + length


def _code_set(column: Column, codes: Integers) -> Condition:
    known = [int(code) for code in codes if code < len(column.values)]
    values = tuple(column.values[code].as_py() for code in known)
    return _maybe_missing(column, In(column.name, values), missing=len(known) < len(codes))


def _code_range(column: Column, first: int, last: int) -> Condition:
    end = min(last, len(column.values))
    if first >= end:
        return Missing(column.name)
    inside = Between(column.name, column.values[first].as_py(), column.values[end - 1].as_py())
    return _maybe_missing(column, inside, missing=last > end)


def _maybe_missing(column: Column, condition: Condition, *, missing: bool) -> Condition:
    return Or((condition, Missing(column.name))) if missing else condition


def _value_set(domain: Domain, codes: Integers) -> Condition:
    rows = domain.table.take(codes).to_pylist()
    if len(domain.names) == 1:
        name = domain.names[0]
        known = tuple(row[name] for row in rows if row[name] is not None)
        return In(name, known) if len(known) == len(rows) else Or((In(name, known), Missing(name)))
    each = [And(tuple(Missing(name) if value is None else In(name, (value,)) for name, value in row.items())) for row in rows]
    return Or(tuple(each))
