"""Count estimates from groups that are shown column by column: a range or a set of values, and a histogram of sensitive values.

A query costs groups × columns. For people with a sensitive value in S who meet a quasi condition R, with G_j what group g shows
of column j, the estimate is Σ over groups of #{S in g} · Π_j share_j(R_j in G_j): columns are unrelated inside a group, and how
people lie in what is shown of a column is a `Spread`. Any condition is first put into disjoint conjunctions. The standard error
is that of every person with a value in S meeting R by a coin of her own.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats, Integers, Small
from sfumato.errors import QueryError
from sfumato.query import _range_kernels as kernels
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer
from sfumato.query.buckets import Guess
from sfumato.query.cells import MAX_CELLS, Places, cut_to_cell, find_places
from sfumato.query.classes import ClassModel, Histograms, learn_classes
from sfumato.query.compile import Compiled, Piece, Pieces, compile_condition
from sfumato.query.disjoint import Conjunction, disjoint
from sfumato.query.predicate import Query, atoms_of
from sfumato.query.range_cells import Bag, Cut, Line
from sfumato.query.range_spread import RangeSpread, SetSpread, Spread, even, learned
from sfumato.query.vocabulary import Vocabulary
from sfumato.table.frames import Native


@dataclass(frozen=True, eq=False)
class GroupIndex:
    """What the estimators need of a release: the cells of every column, and the groups' histograms.

    `classes` says that `likelihood` also learns how columns go together: for small boxes shown as sets, see
    `sfumato.query.classes`.
    """

    columns: tuple[Line | Bag, ...]
    vocabulary: Vocabulary
    sizes: Integers
    start: Integers
    value: Small
    count: Integers
    classes: bool = False
    spreads: dict[Estimator, tuple[Spread, ...]] = field(default_factory=dict)
    models: list[ClassModel] = field(default_factory=list)

    def spread(self, estimator: Estimator) -> tuple[Spread, ...]:
        """Return how people lie in every column, made on first use."""
        with _lock:
            if estimator not in self.spreads:
                self.spreads[estimator] = tuple(even(c) if estimator == "paper" else learned(c, self.sizes) for c in self.columns)
            return self.spreads[estimator]

    def model(self, estimator: Estimator) -> ClassModel | None:
        """Return the classes of people, made on first use; None where the estimator does not use any."""
        if not self.classes or estimator == "paper":
            return None
        with _lock:
            if not self.models:
                sets = [column for column in self.columns if isinstance(column, Bag)]
                values = len(self.vocabulary.part_codes[0])
                shown = Histograms(self.sizes, self.start, self.value, self.count, values)
                self.models.append(learn_classes(sets, shown))
            return self.models[0]


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question made ready: the index, the words it uses, how they make up cells, and what the estimator assumes."""

    index: GroupIndex
    vocabulary: Vocabulary
    cuts: tuple[Cut | None, ...]
    spread: tuple[Spread, ...]
    model: ClassModel | None


_lock = threading.RLock()


def count_by_group(
    index: GroupIndex, asked: Query, *, estimator: Estimator, confidence: float, native: Native, no_interval: str
) -> Answer:
    """Return the estimated count: an `Estimate`, or a `GroupedAnswer` for a GROUP BY. `no_interval` says why there is none."""

    def dress(found: Guess, notes: Sequence[str] = ()) -> Estimate:
        value = found.inside
        if found.least == found.most:
            return Estimate(value, 0.0, value, value, confidence, estimator, "; ".join(notes))
        return Estimate(value, found.std_error, None, None, confidence, estimator, "; ".join([no_interval, *notes]))

    ready = _prepare(index, asked, estimator)
    compiled = compile_condition(asked.condition, ready.vocabulary)
    total = _guess(ready, compiled)
    notes = [*compiled.notes, *([compiled.partly.note] if compiled.partly else [])]
    if not asked.group_by:
        return dress(total, notes)
    found = _grouped(ready, asked.group_by, compiled)
    types = tuple(ready.vocabulary.find(name)[2].type for name in asked.group_by)
    return GroupedAnswer(asked.group_by, tuple((key, dress(part)) for key, part in found), types, dress(total, notes), native)


def _prepare(index: GroupIndex, asked: Query, estimator: Estimator) -> _Asked:
    """Return the question's own words: continua are cut at the constants that its conditions name."""
    cuts: list[Cut | None] = [None] * len(index.columns)
    vocabulary = index.vocabulary
    if any(isinstance(column, Line) and column.continuous for column in index.columns):
        atoms = atoms_of(asked.condition)
        words = list(vocabulary.quasi)
        for j, column in enumerate(index.columns):
            if isinstance(column, Line) and column.continuous:
                words[j], cuts[j] = column.words([atom for atom in atoms if atom.column == column.name])
        vocabulary = Vocabulary(tuple(words), vocabulary.parts, vocabulary.part_codes, vocabulary.declared)
    if asked.terms == "published":
        vocabulary = vocabulary.published
    model = index.model(estimator)
    return _Asked(index, vocabulary, tuple(cuts), index.spread("paper" if model else estimator), model)


def _guess(ready: _Asked, compiled: Compiled) -> Guess:
    """Return the estimate for a condition; where published values meet it only partly, the mean over the mixtures."""
    if compiled.partly is None:
        return _sum(ready, compiled.pieces)
    sure, possible = _sum(ready, compiled.partly.sure), _sum(ready, compiled.partly.possible)
    value = error = 0.0
    for weight, pieces in compiled.partly.worlds:
        found = _sum(ready, pieces)
        value += weight * found.value
        error += weight * found.std_error
    spread = max(0.0, possible.value - sure.value)
    return Guess(value, math.hypot(error, spread / math.sqrt(12)), sure.least, possible.most)


def _sum(ready: _Asked, pieces: Sequence[Piece]) -> Guess:
    value = variance = 0.0
    least = most = 0
    index = ready.index
    for piece in pieces:
        conjunctions = disjoint(piece.rows)
        share, possible, sure = _shares(ready, conjunctions)
        found = kernels.weigh_groups(share, possible, sure, piece.values.view(np.uint8), index.start, index.value, index.count)
        mean, spread = found[:2] if ready.model is None else ready.model.weigh(conjunctions, piece.values)
        value, variance = value + mean, variance + spread
        least, most = least + found[2], most + found[3]
    return Guess(value, math.sqrt(max(0.0, variance)), float(least), float(most))


def _shares(ready: _Asked, conjunctions: Sequence[Conjunction]) -> tuple[Floats, Any, Any]:
    """Return per group the share of people who meet one of the conjunctions, and whether any may and all must."""
    groups = len(ready.index.sizes)
    total = np.zeros(groups)
    possible, sure = np.zeros(groups, np.uint8), np.zeros(groups, np.uint8)
    for conjunction in conjunctions:
        share = np.ones(groups)
        may, must = np.ones(groups, np.uint8), np.ones(groups, np.uint8)
        for column, accepted in conjunction.items():
            _narrow(ready, column, accepted, share, may, must)
        total += share
        possible |= may
        sure |= must
    return np.minimum(total, 1.0), possible, sure


def _narrow(ready: _Asked, number: int, accepted: Flags, share: Floats, may: Any, must: Any) -> None:
    column, spread = ready.index.columns[number], ready.spread[number]
    if isinstance(column, Bag):
        assert isinstance(spread, SetSpread)
        kernels.set_share(column.start, column.codes, spread.part, accepted.view(np.uint8), share, may, must)
        return
    assert isinstance(spread, RangeSpread)
    inside = column.inside(accepted, ready.cuts[number])
    kernels.range_share(
        column.low,
        column.high,
        column.missing,
        np.concatenate(([0.0], np.cumsum(spread.weight * inside.share[:-1]))),
        inside.share,
        spread.inner,
        spread.at_low,
        spread.at_high,
        spread.at_missing,
        np.concatenate(([0], np.cumsum(inside.some[:-1], dtype=np.int64))),
        np.concatenate(([0], np.cumsum(inside.whole[:-1], dtype=np.int64))),
        share,
        may,
        must,
    )


def _grouped(ready: _Asked, group_by: tuple[str, ...], compiled: Compiled) -> list[tuple[dict[str, Any], Guess]]:
    """Return one estimate per combination of values that may occur. They add up to the whole, since all shares are sums."""
    places = find_places(ready.vocabulary, group_by)
    choices = []
    for (sensitive, column, words), name in zip(places, group_by, strict=True):
        if not sensitive and ready.cuts[column] is not None:
            raise QueryError(
                f"GROUP BY {name}: the column is published as ranges of a continuum, which has no single values",
                hint=f"ask for ranges of it: {name} BETWEEN … AND …",
            )
        choices.append(range(words.size) if sensitive else _occurring(column, words.size, compiled.pieces))
    if math.prod(len(choice) for choice in choices) > MAX_CELLS:
        raise QueryError(f"GROUP BY makes more than {MAX_CELLS} cells", hint="group by fewer columns, or add a WHERE condition")
    found = []
    for cell in itertools.product(*choices):
        part = _guess(ready, _cut(ready, places, cell, compiled))
        if part.most > 0:
            key = {name: words.decode(code) for name, (_, _, words), code in zip(group_by, places, cell, strict=True)}
            found.append((key, part))
    return found


def _occurring(column: int, size: int, pieces: Pieces) -> list[int]:
    """Return the codes of a column that the condition leaves open."""
    allowed = np.zeros(size, bool)
    for piece in pieces:
        allowed |= piece.rows.tables.get(column, np.ones(size, bool))
    return [int(code) for code in np.flatnonzero(allowed)]


def _cut(ready: _Asked, places: Places, cell: tuple[int, ...], compiled: Compiled) -> Compiled:
    """Return the condition cut down to one cell."""

    def each(pieces: Pieces) -> Pieces:
        return cut_to_cell(ready.vocabulary, places, cell, pieces)

    partly = None if compiled.partly is None else compiled.partly.cut(each)
    return Compiled(each(compiled.pieces), compiled.notes, partly)
