"""Categories in an order in which neighbours are similar people: along the axis on which the other columns tell them apart.

That is the first principal axis of the categories' mean ranks in the other columns. It is found in integers, from counts: the
same for any order of the rows and on any machine. Categories that tie stand in the order of their names.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Integers, Small
from sfumato.groups._cut_kernels import add_by_code
from sfumato.table.column import Column

_COARSE = 1 << 15  # sums over fewer than 2^31 people of the product of two such numbers stay below 2^62
_FINE = 1 << 30
_AXIS = 1 << 20  # a place is a sum of fine numbers times such ones, over at most 2^12 columns
_SQUARINGS = 12  # an axis whose spread is a thousandth below the first one's then weighs 2 % of it


def category_places(j: int, columns: Sequence[Column]) -> Small:
    """Return the place of each category of column j along the axis on which the other columns' means differ most."""
    column = columns[j]
    others = [other for k, other in enumerate(columns) if k != j]
    if is_unordered(column.size, len(columns)):
        return np.arange(column.size, dtype=np.int32)
    codes = column.codes.astype(np.int32)
    sums = [
        add_by_code(
            codes, other.codes.astype(np.int32), doubled_ranks(np.bincount(other.codes, minlength=other.size)), column.size
        )
        for other in others
    ]
    return places_by_sums(np.bincount(column.codes, minlength=column.size), sums)


def is_unordered(categories: int, columns: int) -> bool:
    """Return whether categories stand by name: there are too few of them, or no other column."""
    return categories < 3 or columns < 2


def doubled_ranks(times: Integers) -> Integers:
    """Return the rank of each code that occurs so often: mid-ranks, doubled to be whole, n on average for n people."""
    doubled: Integers = 2 * np.cumsum(times) - times
    return doubled


def places_by_sums(times: Integers, sums: Sequence[Integers]) -> Small:
    """Return the same from how often each category occurs, and the sum of its people's doubled ranks in every other column."""
    people = int(times.sum())
    away = np.stack([total - people * times for total in sums], axis=1)
    # One quotient of two integers for each category and column: it can be rounded in one way only.
    mean = away / np.maximum(people * times, 1)[:, None]
    rough = np.rint(mean * _COARSE).astype(np.int64)
    axis = principal_axis(rough.T @ (rough * times[:, None]))
    along = np.rint(mean * _FINE).astype(np.int64) @ axis
    place = np.empty(len(times), np.int32)
    place[np.argsort(along, kind="stable")] = np.arange(len(times))
    return place


def principal_axis(squares: Integers) -> Integers:
    """Return about the first eigenvector of a positive semidefinite matrix, its largest entry about 2^20, in integers.

    A high power of the matrix is nearly a multiple of the projection to the eigenspace of the largest eigenvalue. Its column with
    the largest diagonal entry is taken, the first of equal ones: where eigenvalues tie, the order of the columns decides.
    """
    room = (62 - len(squares).bit_length()) // 2  # so many bits an entry may have that the matrix is multiplied by itself
    power = _scaled(squares, room)
    for _ in range(_SQUARINGS):
        power = _scaled(power @ power, room)
    axis: Integers = power[:, int(np.argmax(np.diagonal(power)))]
    return _scaled(axis, _AXIS.bit_length() - 1)


def _scaled(numbers: Integers, bits: int) -> Integers:
    """Return the numbers with the largest one brought to so many bits, the others in proportion, rounded down."""
    more = int(np.abs(numbers).max()).bit_length() - bits
    return numbers >> more if more > 0 else numbers << -more
