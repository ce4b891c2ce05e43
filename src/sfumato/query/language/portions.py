"""Published values in portions, so that a condition in original terms is true or false on each of them.

A recoded value stands for several original ones: the band 30 for the ages 30 to 34. The conditions of a query cut it into
portions (30 to 32, and 33 to 34), each with a share of the value. Conditions are joined portion by portion, so that
`age > 32 AND age < 34` means one year out of five. Only then is each published value asked: is it inside, outside, or partly so?
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.query.language.predicate import Atom

MAX_WORLDS = 36
"""So many mixtures of portions are estimated at most to find the middle of a partly known answer."""


@dataclass(frozen=True, eq=False)
class Portions:
    """The portions of every code of a column, in the order of codes: `first[c]` to before `first[c + 1]` belong to code c.

    `share` is a portion's part of its code: by length in a range with two ends, else in equal parts, for want of anything
    better. `accepted` tells for each condition which portions meet it.
    """

    first: Integers
    share: Floats
    accepted: Mapping[Atom, Flags]

    def sure(self, accepted: Flags) -> Flags:
        """Return the codes all of whose portions are accepted."""
        return np.logical_and.reduceat(accepted, self.first[:-1]) if len(accepted) else accepted

    def possible(self, accepted: Flags) -> Flags:
        """Return the codes some of whose portions are accepted."""
        return np.logical_or.reduceat(accepted, self.first[:-1]) if len(accepted) else accepted

    def partly(self, accepted: Flags) -> Integers:
        """Return the codes of which some portions are accepted and others are not."""
        return np.flatnonzero(self.possible(accepted) & ~self.sure(accepted)).astype(np.int64)

    def inside(self, accepted: Flags, code: int) -> float:
        """Return the share of a code that is accepted."""
        own = slice(self.first[code], self.first[code + 1])
        return float(self.share[own][accepted[own]].sum())

    def breaks(self, tables: Sequence[Flags]) -> set[float]:
        """Return the relative positions inside a code at which one of these tables changes."""
        positions: set[float] = set()
        for code in {int(c) for table in tables for c in self.partly(table)}:
            first, last = int(self.first[code]), int(self.first[code + 1])
            ends = np.cumsum(self.share[first:last])
            for f in range(first, last - 1):
                if any(table[f] != table[f + 1] for table in tables):
                    positions.add(round(float(ends[f - first]), 12))
        return {position for position in positions if 0 < position < 1}

    def at(self, position: float) -> Integers:
        """Return the portion of each code that lies at this relative position."""
        chosen = self.first[:-1].copy()
        for code in np.flatnonzero(np.diff(self.first) > 1):
            first, last = self.first[code], self.first[code + 1]
            place = int(np.searchsorted(np.cumsum(self.share[first:last]), position, side="right"))
            chosen[code] = first + min(place, last - first - 1)
        return chosen


def portions_of(codes: Iterable[Sequence[tuple[float, tuple[bool, ...]]]], atoms: Sequence[Atom]) -> Portions:
    """Return portions from a list, per code, of shares and of the truth of each condition."""
    first, shares, truths = [0], [], []
    for portions in codes:
        for share, truth in portions:
            shares.append(share)
            truths.append(truth)
        first.append(len(shares))
    table = np.array(truths, dtype=bool).reshape(len(shares), len(atoms))
    accepted = {atom: np.ascontiguousarray(table[:, j]) for j, atom in enumerate(atoms)}
    return Portions(np.array(first, np.int64), np.array(shares), accepted)


class Meaning(Protocol):
    """What the published values of a column stand for."""

    def split(self, atoms: Sequence[Atom], notes: list[str]) -> Portions:
        """Return the portions that these conditions cut the column's values into."""

    def explain(self, portions: Portions, accepted: Flags) -> str:
        """Return, for a condition that some values meet only partly, how they are counted and what would be exact."""


def worlds(columns: Sequence[tuple[Portions, Sequence[Flags]]]) -> list[tuple[float, tuple[Integers, ...]]]:
    """Return weights that add up to 1, each with one portion per code for every column.

    In one world everybody sits at the same relative position of their value's range; averaged over the worlds, every portion has
    its share, and columns are independent of each other. With very many cuts the positions are a grid, and shares are nearly so.
    """
    sections = []
    for portions, tables in columns:
        ends = [0.0, *sorted(portions.breaks(tables)), 1.0]
        sections.append([(high - low, (low + high) / 2) for low, high in itertools.pairwise(ends)])
    if np.prod([float(len(section)) for section in sections]) > MAX_WORLDS:
        many = max(2, int(MAX_WORLDS ** (1 / len(sections))))
        sections = [[(1 / many, (i + 0.5) / many) for i in range(many)] if len(s) > many else s for s in sections]
    result = []
    for chosen in itertools.product(*sections):
        picks = tuple(portions.at(position) for (portions, _), (_, position) in zip(columns, chosen, strict=True))
        result.append((float(np.prod([weight for weight, _ in chosen])), picks))
    return result


def share_text(share: float) -> str:
    """Return a share as a fraction where it is a simple one: 2/5."""
    near = Fraction(share).limit_denominator(400)
    return str(near) if abs(float(near) - share) < 1e-9 else f"{share:.3g}"
