"""Count estimates from a ranges release.

A query costs groups × columns, since all people of a group show the same. For people with a sensitive value in S who meet a
quasi condition R, with G_j what group g shows of column j:

`paper`
    Σ over groups of #{S in g} · Π_j |R_j ∩ G_j| / |G_j|: people lie evenly in ranges and sets, and columns are unrelated inside a
    group. In units, so that the range 30–30 holds one value: a whole number, a day, a category; ranges of other numbers by their
    length. ``units="continuous"`` takes whole numbers by length as well, as in 004 §1.
`likelihood`
    The same with shares learned from the release instead of equal ones, see `sfumato.query.models.spread`, also for records that
    have ranges of their own. The default, by measurement.

Any condition is first put into disjoint conjunctions, whose shares add up. The standard error is that of every person with a
value in S meeting R by a coin of her own. Both estimators take columns as unrelated inside a group, and what they miss by that is
not in it (a nominal 95 % covers 12–77 % on a census of 100,000): there is **no interval**, except where the ranges make the
answer certain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import QueryError
from sfumato.query.answer import Estimator
from sfumato.query.engine import Cell, CountEstimate, GroupColumns, fits, fitted
from sfumato.query.group_by import require_few_cells
from sfumato.query.language.compile import Pieces
from sfumato.query.language.disjoint import disjoint
from sfumato.query.language.predicate import Query, atoms_of
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.classes import ClassModel
from sfumato.query.models.protocol import Estimating, Moments
from sfumato.query.models.spread import AskedBoxes, GroupValues, Spreads
from sfumato.query.models.units import CodeUnits, RangeColumn, SetColumn, UnitKind, column_of
from sfumato.query.sums import Term, add_by_values
from sfumato.release.ranges import RangesRelease

NO_INTERVAL = "no interval: how people lie inside the ranges is not published, and the standard error does not cover it"


@dataclass(frozen=True, eq=False)
class BoxesEngine:
    """A release whose groups are shown column by column, as a range or a set of values, with histograms of sensitive values.

    `behind` is how many people each box was drawn around: those of its group, or the matches of a record with ranges of its own.
    `own` says that it is the latter. `joint` says that `likelihood` also learns how columns go together: for small boxes shown as
    sets.
    """

    columns: tuple[RangeColumn | SetColumn, ...]
    vocabulary: Vocabulary
    shown: GroupValues
    behind: Integers
    no_interval: str
    own: bool = False
    joint: bool = False

    no_likelihood = ""

    @cached_property
    def uncut(self) -> tuple[None, ...] | None:
        """The cuts of any question where no column is a continuum."""
        return None if any(column.continuous for column in self.columns) else (None,) * len(self.columns)

    @cached_property
    def values(self) -> int:
        """How many sensitive values there are."""
        return len(self.vocabulary.part_codes[0])

    @fitted
    def evenly(self) -> Spreads:
        """People spread evenly in every column."""
        return Spreads.even(self)

    as_fitted = fits(Spreads)
    classes = fits(ClassModel)

    def ask(self, asked: Query, estimator: Estimator) -> BoxesQuestion:
        """Return the question in its own words: continua are cut at the constants that its conditions name."""
        own, cuts = self.vocabulary, self.uncut
        if cuts is None:
            atoms = atoms_of(asked.condition)
            words, cuts = zip(*(column.words(atoms) for column in self.columns), strict=True)
            own = Vocabulary(words, own.parts, own.part_codes, own.declared)
        spreads = self.evenly if estimator == "paper" or self.joint else self.as_fitted
        model = self.classes if self.joint and estimator == "likelihood" else spreads
        return BoxesQuestion(own.for_terms(asked.terms), self, cuts, spreads, model)


@dataclass(frozen=True, eq=False)
class BoxesQuestion:
    """A question to groups that are shown column by column, and what its estimator assumes."""

    vocabulary: Vocabulary
    engine: BoxesEngine
    cuts: tuple[CodeUnits | None, ...]
    spreads: Spreads
    model: Estimating[AskedBoxes]

    def guess(self, pieces: Pieces) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces of the question."""
        value = variance = least = most = 0.0
        for piece in pieces:
            moments = self.model.estimate(AskedBoxes(disjoint(piece.rows), piece.values, self.cuts))
            value, variance = value + moments.value, variance + moments.variance
            least, most = least + moments.least, most + moments.most
        return CountEstimate(value, math.sqrt(max(0.0, variance)), least, most, self.engine.no_interval)

    def add(self, terms: Sequence[Term], *, value_only: bool = False) -> Moments:
        """Return the estimated sum over people."""
        return add_by_values(self.guess, terms)

    def cells(self, columns: GroupColumns, pieces: Pieces) -> Iterator[Cell]:
        """Return the combinations of values that the condition leaves open."""
        choices: list[Sequence[int]] = []
        for sensitive, column, words in columns:
            if not sensitive and self.cuts[column] is not None:
                raise QueryError(
                    f"GROUP BY {words.name}: the column is published as ranges of a continuum, which has no single values",
                    hint=f"ask for ranges of it: {words.name} BETWEEN … AND …",
                )
            everything = np.ones(words.size, bool)
            allowed = np.zeros(words.size, bool)
            for piece in pieces:
                allowed |= everything if sensitive else piece.rows.tables.get(column, everything)
            choices.append(np.flatnonzero(allowed).tolist())
        require_few_cells(math.prod(len(choice) for choice in choices))
        return itertools.product(*choices)


def ranges_engine(release: RangesRelease, *, units: UnitKind = "discrete") -> BoxesEngine:
    """Return the engine of a release; `units` says how whole numbers are taken."""
    if units not in ("discrete", "continuous"):
        raise QueryError(f"units: expected 'discrete' or 'continuous', got {units!r}")
    declared = declared_in(release.manifest.schema)
    columns = tuple(column_of(box, None if declared is None else declared.recoding(box.name), units) for box in release.boxes)
    sensitive = Vocabulary.of((), release.domain)
    vocabulary = Vocabulary(tuple(column.plain for column in columns), sensitive.parts, sensitive.part_codes, declared)
    shown = GroupValues(release.sizes, *release.shown)
    matches = release.manifest.parameters.get("matches")
    if matches is None:
        return BoxesEngine(columns, vocabulary, shown, release.sizes, NO_INTERVAL)
    return BoxesEngine(columns, vocabulary, shown, np.full_like(release.sizes, matches), NO_INTERVAL, own=True)
