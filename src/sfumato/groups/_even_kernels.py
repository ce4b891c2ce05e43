"""Cuts by sizes alone, as an acceptance of the engine: no sensitive value decides anything."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from sfumato.groups._cut_kernels import divide, even_cut, least_side, only_for, split_rows


class Even(NamedTuple):
    """The most even cut, if both sides hold at least `floor` people."""

    floor: int


def _least(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.floor


def _divide(acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int) -> int:
    histogram = np.zeros(width, np.int64)
    for row in mine:
        histogram[column[row]] += 1
    boundary, joins, smaller = even_cut(histogram, int(absent >= 0), len(mine))
    return split_rows(mine, column, boundary, joins, absent) if smaller >= least else 0


@overload(least_side)
def _even_least(acceptance: Any, counts: Any, size: int) -> Any:
    return only_for(Even, acceptance, _least)


@overload(divide)
def _even_divide(
    acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int
) -> Any:
    return only_for(Even, acceptance, _divide)
