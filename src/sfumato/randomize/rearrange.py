"""Rearranging: an order of the initial groups in which neighbours share values ([SDR §5.2])."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize.balance import Groups

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FEW = 4


def banded_orders(groups: Groups, values: int) -> Iterator[Integers]:
    """Yield orders of the groups by reverse Cuthill–McKee on A·Aᵀ, one for each arrangement of its connected components.

    Groups that share no value lie in different components, which the algorithm leaves in any order. With few components every
    order and both directions of each are yielded; with many, only the order in which their first groups were made.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    matrix = csr_array((np.ones(len(groups.value)), groups.value, groups.start), shape=(len(groups), values))
    shared = csr_array(matrix @ matrix.T)
    number, component = connected_components(shared, directed=False)
    pieces = [_banded(shared, np.flatnonzero(component == k)) for k in range(number)]
    pieces.sort(key=lambda piece: int(piece.min()))
    if number > _FEW:
        yield np.concatenate(pieces)
        return
    seen: set[tuple[int, ...]] = set()
    for arranged in permutations(pieces):
        for turns in product((1, -1), repeat=number):
            order = np.concatenate([piece[::turn] for piece, turn in zip(arranged, turns, strict=True)])
            if tuple(order) not in seen:
                seen |= {tuple(order), tuple(order[::-1])}  # turning everything round changes no merging
                yield order


def _banded(shared: csr_array, members: Integers) -> Integers:
    """Return one component in reverse Cuthill–McKee order."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    inside = csr_array(shared[members][:, members])
    ordered: Integers = members[reverse_cuthill_mckee(inside, symmetric_mode=True)].astype(np.int64)
    return ordered
