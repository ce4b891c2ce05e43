"""Figures of people, as ratios of sums: shares, averages, sums; and their linear form, from which the error follows.

A figure is R = N/D: a share N people of D, an average the sum N of numbers of D people. Around the estimate it is linear,
R + (Σ_N − R·Σ_D)/D, and Σ_N − R·Σ_D is one sum over people: its variance has in it what numerator and denominator have in common.
So has the variance of the difference of two figures. Where D itself is known to less than a third, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.engine import Question
from sfumato.query.language.compile import Compiled, Piece, Pieces, compile_condition
from sfumato.query.language.numbers import Scale, scale_of
from sfumato.query.language.predicate import Aggregate, And, Condition
from sfumato.query.language.vocabulary import Vocabulary
from sfumato.query.models.protocol import Moments
from sfumato.query.sums import CodeNumbers, Term, merged
from sfumato.query.weighted import Design

FEW = "no interval: how many people this is about is hardly known"
CUT = "no interval: the condition cuts through published values"
BEYOND = "no interval: this is the figure of the bins' middles, and nothing says how far beyond their ends numbers of {} lie"
MIDDLES = "the figure of the bins' middles"
WITHIN = "its interval holds wherever numbers lie in their bins"
_SURE = 3.0  # a denominator counts as known from so many standard errors on

Narrow = Callable[[Pieces], Pieces]
Worlds = Sequence[tuple[float, Pieces]]


@dataclass(frozen=True, eq=False)
class Figure:
    """An estimated figure, the terms of its linear form, what it cannot be below or above, and why it has no interval, if so.

    Where numbers were recoded or binned the figure is that of middles, and `ends` are the least and the largest it may be.
    `sure` has the terms of its numerator where the denominator, beside them, is certain.
    """

    value: float
    linear: list[Term]
    least: float = -math.inf
    most: float = math.inf
    no_interval: str = ""
    note: str = ""
    ends: tuple[Figure, Figure] | None = None
    sure: tuple[list[Term], float] | None = None


@dataclass(frozen=True, eq=False)
class Ratio:
    """What an aggregate asks of the people in some pieces: terms for its numerator and its denominator, and its bounds."""

    top: list[Term]
    bottom: list[Term] | None
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True, eq=False)
class Asking:
    """An aggregate put to a question: how it becomes sums for any part of the question's people."""

    question: Question
    aggregate: Aggregate
    whole: Compiled
    inside: Compiled | None  # for a share of a condition
    scale: Scale | None
    place: tuple[bool, int] | None
    design: Design | None = None  # where figures are those of the population

    @classmethod
    def of(
        cls, question: Question, published: Vocabulary, aggregate: Aggregate, condition: Condition, design: Design | None = None
    ) -> Asking:
        """Return an aggregate of the people who meet a condition; `published` knows what recoded values stand for."""
        own = question.vocabulary
        whole = compile_condition(condition, own)
        if aggregate.kind in ("count", "share"):
            both = None if aggregate.condition is None else compile_condition(And((condition, aggregate.condition)), own)
            return cls(question, aggregate, whole, both, None, None, design)
        sensitive, column, words = own.find(aggregate.column)
        what = "a quantile" if aggregate.kind == "quantile" else aggregate.kind.upper()
        if not sensitive and words.size == 0:
            raise QueryError(f"{what}: {aggregate.column!r} is published as ranges, which have no single numbers")
        return cls(question, aggregate, whole, None, scale_of(published, words, what), (sensitive, column), design)

    def figure(self, narrow: Narrow | None = None) -> Figure | None:
        """Return the figure of a part of the people (all without `narrow`); None where nobody is in it."""
        figure = self._at(narrow, "middle")
        if figure is None or figure.no_interval or self.scale is None:
            return figure
        used = self._used((self.whole if narrow is None else self.whole.narrowed(narrow)).pieces)
        if (used & self.scale.beyond).any():
            return replace(figure, no_interval=BEYOND.format(self.scale.name))
        low, high = self._at(narrow, "low"), self._at(narrow, "high")
        if not (self.scale.low < self.scale.high)[used].any() or low is None or high is None:
            return figure
        return replace(figure, note="; ".join(filter(None, [figure.note, MIDDLES])), ends=(low, high))

    def _used(self, pieces: Pieces) -> Flags:
        """Return which codes of the numbers' column some pieces may have."""
        assert self.scale is not None
        assert self.place is not None
        sensitive, column = self.place
        used = np.zeros(len(self.scale.low), bool)
        for piece in pieces:
            if sensitive:
                used[self.question.vocabulary.part_codes[column][piece.values]] = True
            else:
                used |= piece.rows.tables.get(column, np.ones(len(used), bool))
        return used & self.scale.known

    def _at(self, narrow: Narrow | None, end: str) -> Figure | None:
        """Return the figure for the bins' middles or one of their ends."""
        cell = self.whole if narrow is None else self.whole.narrowed(narrow)
        inside = self.inside
        if inside is not None and narrow is not None:
            inside = inside.narrowed(narrow)
        if self.aggregate.kind == "share" and inside is None:
            if narrow is None:
                raise QueryError("SHARE needs a condition, or a GROUP BY", hint="SHARE(diagnosis = 'Flu')")
            return self._found(cell, self.whole, end)
        return self._found(cell if inside is None else inside, cell, end)

    def _found(self, top: Compiled, bottom: Compiled, end: str = "middle") -> Figure | None:
        tops, bottoms = _worlds(top), _worlds(bottom)
        ratio = self.ratio(top.pieces, bottom.pieces, end)
        partly = top.partly or bottom.partly
        reason = CUT if partly else ""
        value = self._mean(tops, lambda pieces: self.ratio(pieces, bottom.pieces, end).top)
        if ratio.bottom is None:
            sure = None if partly else (ratio.top, 1.0)
            least = -math.inf if self.design is None else ratio.least
            return Figure(value, ratio.top, least, no_interval=reason, note=partly.note if partly else "", sure=sure)
        people = self._people(bottoms, lambda pieces: self.ratio(top.pieces, pieces, end).bottom or [])
        if people.value <= 1e-9:
            return None
        if people.variance > (people.value / _SURE) ** 2:
            reason = reason or FEW
        quotient = min(max(value / people.value, ratio.least), ratio.most)
        linear, note = _linear(ratio, quotient, people.value), partly.note if partly else ""
        sure = None if partly or people.variance else (ratio.top, people.value)
        return Figure(quotient, linear, ratio.least, ratio.most, reason, note, sure=sure)

    def _mean(self, worlds: Worlds, terms: Callable[[Pieces], list[Term]]) -> float:
        return sum(weight * self.question.add(terms(pieces), value_only=True).value for weight, pieces in worlds)

    def _people(self, worlds: Worlds, terms: Callable[[Pieces], list[Term]]) -> Moments:
        if len(worlds) == 1:
            return self.question.add(terms(worlds[0][1]))
        return Moments(self._mean(worlds, terms), 0.0)

    def ratio(self, top: Pieces, bottom: Pieces, end: str = "middle") -> Ratio:
        """Return the aggregate of people in pieces: `top` those of the numerator."""
        plain = self._plain_ratio(top, bottom, end)
        if self.design is None:
            return plain
        return replace(plain, top=self.design.weigh(plain.top), bottom=plain.bottom and self.design.weigh(plain.bottom))

    def _plain_ratio(self, top: Pieces, bottom: Pieces, end: str) -> Ratio:
        """Return the same of people who all count once."""
        if self.scale is None or self.place is None:
            people = None if self.aggregate.kind == "count" else _count(bottom)
            return Ratio(_count(top), people, 0.0, 1.0 if people is not None else math.inf)
        sensitive, column = self.place
        scale = self.scale
        each = {"middle": scale.middle, "low": scale.low, "high": scale.high}[end]
        terms, people, used = [], [], self._used(top)
        for piece in top:
            if sensitive:
                codes = self.question.vocabulary.part_codes[column]
                values = piece.values & scale.known[codes]
                numbers = np.where(values, np.nan_to_num(each[codes], posinf=0.0, neginf=0.0), 0.0)
                terms.append(Term(piece.rows, numbers))
                people.append(Term(piece.rows, values.astype(np.float64), unit=1.0))
            else:
                rows = piece.rows.narrowed(column, scale.known)
                finite = CodeNumbers(column, np.nan_to_num(each, posinf=0.0, neginf=0.0))
                terms.append(Term(rows, piece.values.astype(np.float64), numbers=finite))
                people.append(Term(rows, piece.values.astype(np.float64), unit=1.0))
        scale.require_ends(used, self.aggregate.kind.upper())
        if self.aggregate.kind == "sum":
            return Ratio(terms, None)
        within = each[used] if used.any() else np.zeros(1)
        return Ratio(terms, people, float(within.min()), float(within.max()))

    def below(self, number: float, narrow: Narrow | None = None) -> Figure | None:
        """Return the share of people whose number is at most this one."""
        assert self.scale is not None
        assert self.place is not None
        sensitive, column = self.place
        cell = self.whole if narrow is None else self.whole.narrowed(narrow)
        with np.errstate(invalid="ignore"):
            under, known = self.scale.low <= number, self.scale.known

        def cut(accepted: np.ndarray) -> Narrow:
            def to(pieces: Pieces) -> Pieces:
                if sensitive:
                    codes = self.question.vocabulary.part_codes[column]
                    return tuple(Piece(piece.values & accepted[codes], piece.rows) for piece in pieces)
                return tuple(Piece(piece.values, piece.rows.narrowed(column, accepted)) for piece in pieces)

            return to

        share = replace(self, aggregate=Aggregate("share"), scale=None, place=None)
        return share._found(cell.narrowed(cut(under & known)), cell.narrowed(cut(known)))


def _worlds(compiled: Compiled) -> Worlds:
    return [(1.0, compiled.pieces)] if compiled.partly is None else compiled.partly.worlds


def _count(pieces: Pieces) -> list[Term]:
    return [Term(piece.rows, piece.values.astype(np.float64), unit=1.0) for piece in pieces]


def _linear(ratio: Ratio, value: float, people: float) -> list[Term]:
    """Return the terms of (Σ_N − R·Σ_D)/D."""
    assert ratio.bottom is not None
    if any(term.numbers is not None for term in ratio.top):
        return [
            replace(term, times=1.0 / people, numbers=CodeNumbers(term.numbers.column, term.numbers.each - value))
            for term in ratio.top
            if term.numbers is not None
        ]
    top = [replace(term, times=term.times / people) for term in ratio.top]
    bottom = [replace(term, times=-value * term.times / people) for term in ratio.bottom]
    if any(term.unit is None for term in ratio.top):  # a numerator of numbers: the denominator has its unit
        bottom = [replace(term, unit=None) for term in bottom]
    return merged([*top, *bottom])
