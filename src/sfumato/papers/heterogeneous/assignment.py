"""Which original gives its value to which published record: a matching drawn so that each of μ matches has probability 1/μ.

Whatever decomposition of a μ-regular graph into μ disjoint perfect matchings is found, every edge is in exactly one of them; so
drawing one of them uniformly gives every edge probability exactly 1/μ, seen from both sides ([003], Theorem 1).
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Small
from sfumato.papers.heterogeneous._walk_kernels import set_aside, walk
from sfumato.randomness import Randomness


def disjoint_assignments(edges: Array, random: Randomness, many: int | None = None) -> Small:
    """Return [vertices × many] disjoint perfect matchings of a regular graph, found by random walks; all of them by default.

    `edges[s]` lists the right vertices of left vertex s. Column t is the t-th matching found.
    """
    left = np.array(edges, dtype=np.int32, copy=True)
    degree = left.shape[1]
    wanted = degree if many is None else many
    for found in range(min(wanted, degree - 1)):
        _extract(left, degree - found, random)
    return np.ascontiguousarray(left[:, ::-1][:, :wanted])


def draw_by_walks(links: Array, random: Randomness) -> Small:
    """Return the drawn matching of a block: of a random set of μ disjoint assignments one, picked uniformly.

    `links[b, i, o]` is the slot of pool o that slot i of pool b is matched with. The result numbers originals by pool and
    slot, pool · size + slot. Assignments after the picked one need not be found.
    """
    pools, size, _ = links.shape
    edges = (links + np.arange(pools, dtype=np.int32) * size).reshape(pools * size, pools)
    picked = int(random.below(pools, 1)[0])
    return disjoint_assignments(edges, random, picked + 1)[:, picked].reshape(pools, size)


def draw_by_pools(links: Array, random: Randomness) -> Small:
    """Return the drawn matching of a block: slot i of pool b gets its match in pool π(b), π uniformly random."""
    pools, size, _ = links.shape
    turned = random.permutation(pools)
    slots = links[np.arange(pools)[:, None], np.arange(size)[None, :], turned[:, None]]
    given: Small = (slots + (turned * size)[:, None]).astype(np.int32)
    return given


def _extract(edges: Small, degree: int, random: Randomness) -> None:
    """Find one perfect matching among the first `degree` edges of every vertex, and move it behind them."""
    vertices = len(edges)
    chosen = np.full(vertices, -1, np.int64)
    holder = np.full(vertices, -1, np.int64)
    free = np.arange(vertices)
    left = vertices
    while left:
        left = walk(edges, degree, chosen, holder, free, left, random.words(8 * vertices + 64))
    set_aside(edges, degree, chosen)
