"""How many combinations of quasi values a group covers, and how many it must for a bound on presence: exact integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import Infeasible
from sfumato.exact import decimal_text
from sfumato.privacy.requirement import round_up
from sfumato.table.column import Column

NEVER = -1
"""Stands for a number of combinations beyond 2^62, which no group is believed to cover."""

_MOST = 1 << 62

_WIDER = "quasi columns with more values: less recoding, or one column more"


class PresenceRule(NamedTuple):
    """How boxes that hide presence are cut: α, whether cuts may be tight, the fewest people of a box, columns to cut first."""

    alpha: Fraction
    tight: bool
    floor: int
    weights: Mapping[str, float] | None = None


def combinations(columns: Sequence[Column]) -> int:
    """Return how many combinations the values of these columns cover: the product of the numbers of distinct values."""
    return prod(int(np.count_nonzero(np.bincount(column.codes, minlength=column.size))) for column in columns)


def combined(codes: Sequence[Array], sizes: Sequence[int]) -> Integers:
    """Return one number per row for its codes in several columns, each below its size: equal rows equal, in the codes' order."""
    key = np.zeros(len(codes[0]), np.int64)
    room = 1
    for column, size in zip(codes, sizes, strict=True):
        if room * size >= _MOST:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = int(key.max()) + 1
        key *= size
        key += column
        room *= size
    return key


def covering_table(people: int, alpha: Fraction) -> Integers:
    """Return for every size of a group how many combinations it must cover: ⌈size / α⌉, and 0 for all where α is 1."""
    if alpha == 1:
        return np.zeros(people + 1, np.int64)
    over, under = alpha.denominator, alpha.numerator
    if over * (people + 1) < _MOST:
        return -(-(np.arange(people + 1, dtype=np.int64) * over) // under)
    needed = (-(-(size * over) // under) for size in range(people + 1))
    return np.array([many if many < _MOST else NEVER for many in needed], dtype=np.int64)


def from_alpha(least: Fraction) -> str:
    """Return that this α or a larger one can be kept, as it is typed in a policy."""
    return f'alpha = "{decimal_text(least)}"' + (" or more" if least < 1 else ", which leaves presence open")


def require_presence(
    columns: Sequence[Column], people: int, alpha: Fraction, *, bounded: bool, covered: int | None = None
) -> None:
    """Raise `Infeasible`, with the smallest α there is, unless all people in one group keep α.

    An α of 1 is advised only where values are `bounded`: otherwise nothing would be protected. `covered` is how many
    combinations their values make up, where the columns have no rows to tell.

    Disjoint boxes cover no more combinations together than the whole table does, so in some of them people / combinations is
    at least what it is in the table.
    """
    covered = combinations(columns) if covered is None else covered
    if alpha == 1 or people <= alpha * covered:
        return
    least = min(round_up(Fraction(people, covered)), Fraction(1))
    useful = least < 1 or bounded
    raise Infeasible(
        f"alpha = {decimal_text(alpha)}: the table has {people:,} people, and their quasi values make up only {covered:,} "
        "combinations, so that a stranger's belief in presence must exceed alpha in some group",
        hint=f"{from_alpha(least)}, or {_WIDER}" if useful else f"no alpha below 1 can be kept; {_WIDER}",
        nearest={"alpha": least} if useful else {},
    )
