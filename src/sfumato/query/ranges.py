"""Count estimates from a ranges release.

A query costs groups × columns, since all people of a group show the same. For people with a sensitive value in S who meet a
quasi condition R, with G_j what group g shows of column j:

`paper`
    Σ over groups of #{S in g} · Π_j |R_j ∩ G_j| / |G_j|: people lie evenly in ranges and sets, and columns are unrelated inside a
    group. In cells, so that the range 30–30 holds one value: a whole number, a day, a category; ranges of other numbers by their
    length. ``cells="continuous"`` takes whole numbers by length as well, as in 004 §1.
`likelihood`
    The same with shares learned from the release instead of equal ones, see `sfumato.query.range_spread`.

Any condition is first put into disjoint conjunctions. The standard error is that of every person with a value in S meeting R by a
coin of her own. Both estimators take columns as unrelated inside a group, and what they miss by that is not in it (a nominal 95 %
covers 12–77 % on a census of 100,000): there is **no interval**, except where the ranges make the answer certain.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query import _range_kernels as kernels
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer
from sfumato.query.buckets import Guess
from sfumato.query.compile import Compiled, Piece, Pieces, compile_condition, restrict
from sfumato.query.disjoint import Conjunction, disjoint
from sfumato.query.fragments import Mask
from sfumato.query.predicate import Query, atoms_of
from sfumato.query.range_cells import Bag, Cells, Cut, Floats, Integers, Line, Small, cells_of
from sfumato.query.range_spread import RangeSpread, SetSpread, Spread, even, learned
from sfumato.query.vocabulary import Vocabulary, declared_in
from sfumato.release.ranges import RangesRelease

DEFAULT: Estimator = "likelihood"

MAX_CELLS = 10_000
"""Cells of a GROUP BY that are answered at once."""

NO_INTERVAL = "no interval: how people lie inside the ranges is not published, and the standard error does not cover it"


@dataclass(frozen=True, eq=False)
class RangeIndex:
    """What the estimators need of a release: the cells of every column, and the groups' histograms."""

    columns: tuple[Line | Bag, ...]
    vocabulary: Vocabulary
    sizes: Integers
    start: Integers
    value: Small
    count: Integers
    spreads: dict[Estimator, tuple[Spread, ...]] = field(default_factory=dict)

    def spread(self, estimator: Estimator) -> tuple[Spread, ...]:
        """Return how people lie in every column, made on first use."""
        with _lock:
            if estimator not in self.spreads:
                self.spreads[estimator] = tuple(even(c) if estimator == "paper" else learned(c, self.sizes) for c in self.columns)
            return self.spreads[estimator]


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question made ready: the index, the words it uses, how they make up cells, and the spread of the estimator."""

    index: RangeIndex
    vocabulary: Vocabulary
    cuts: tuple[Cut | None, ...]
    spread: tuple[Spread, ...]


_known: weakref.WeakKeyDictionary[RangesRelease, dict[Cells, RangeIndex]] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def count_ranges(
    release: RangesRelease,
    asked: Query,
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    cells: Cells = "discrete",
) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    `estimator=None` means `likelihood`, by measurement: see `sfumato.query.range_spread`.
    """
    chosen = estimator or DEFAULT
    if chosen not in ("paper", "likelihood"):
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for ranges, got {estimator!r}")
    if cells not in ("discrete", "continuous"):
        raise QueryError(f"cells: expected 'discrete' or 'continuous', got {cells!r}")
    ready = _prepare(_index_of(release, cells), asked, chosen)
    compiled = compile_condition(asked.condition, ready.vocabulary)
    total = _guess(ready, compiled)
    notes = [*compiled.notes, *([compiled.partly.note] if compiled.partly else [])]
    if not asked.group_by:
        return _dress(total, chosen, confidence, notes)
    found = _grouped(ready, asked.group_by, compiled)
    places = [ready.vocabulary.find(name)[2] for name in asked.group_by]
    dressed = tuple((key, _dress(part, chosen, confidence)) for key, part in found)
    types = tuple(words.type for words in places)
    return GroupedAnswer(asked.group_by, dressed, types, _dress(total, chosen, confidence, notes), release.native)


def _index_of(release: RangesRelease, cells: Cells) -> RangeIndex:
    with _lock:
        made = _known.setdefault(release, {})
        if cells not in made:
            declared = declared_in(release.manifest.schema)
            columns = tuple(
                cells_of(box, None if declared is None else declared.recoding(box.name), cells) for box in release.boxes
            )
            words = tuple(column.words_ if isinstance(column, Bag) else column.words([])[0] for column in columns)
            sensitive = Vocabulary.of((), release.domain)
            vocabulary = Vocabulary(words, sensitive.parts, sensitive.part_codes, declared)
            made[cells] = RangeIndex(columns, vocabulary, release.sizes, *release.shown)
        return made[cells]


def _prepare(index: RangeIndex, asked: Query, estimator: Estimator) -> _Asked:
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
    return _Asked(index, vocabulary, tuple(cuts), index.spread(estimator))


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
        share, possible, sure = _shares(ready, disjoint(piece.rows))
        found = kernels.weigh_groups(share, possible, sure, piece.values.view(np.uint8), index.start, index.value, index.count)
        value, variance = value + found[0], variance + found[1]
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


def _narrow(ready: _Asked, number: int, accepted: Mask, share: Floats, may: Any, must: Any) -> None:
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
    if len(set(group_by)) < len(group_by):
        raise QueryError("GROUP BY names a column twice")
    places = [ready.vocabulary.find(name) for name in group_by]
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


def _cut(ready: _Asked, places: Sequence[tuple[bool, int, Any]], cell: tuple[int, ...], compiled: Compiled) -> Compiled:
    """Return the condition cut down to one cell."""

    def each(pieces: Pieces) -> Pieces:
        result = []
        for piece in pieces:
            values, rows = piece.values, piece.rows
            for (sensitive, column, words), code in zip(places, cell, strict=True):
                if sensitive:
                    values = values & (ready.vocabulary.part_codes[column] == code)
                else:
                    rows = restrict(rows, column, np.arange(words.size) == code)
            if values.any():
                result.append(Piece(values, rows))
        return tuple(result)

    partly = None if compiled.partly is None else compiled.partly.cut(each)
    return Compiled(each(compiled.pieces), compiled.notes, partly)


def _dress(found: Guess, estimator: Estimator, confidence: float, notes: Sequence[str] = ()) -> Estimate:
    value = found.inside
    if found.least == found.most:
        return Estimate(value, 0.0, value, value, confidence, estimator, "; ".join(notes))
    return Estimate(value, found.std_error, None, None, confidence, estimator, "; ".join([NO_INTERVAL, *notes]))
