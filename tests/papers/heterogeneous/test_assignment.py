from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.papers.heterogeneous.assignment import disjoint_assignments, draw_by_pools, draw_by_walks
from sfumato.randomness import SeededRandomness


class Picking(SeededRandomness):
    """Seeded words, but the number drawn below a limit, or the permutation, is a given one."""

    def __init__(self, seed, picked):
        super().__init__(seed)
        self.picked = picked

    def below(self, limit, count):
        return np.full(count, self.picked)

    def permutation(self, count):
        return np.array(self.picked)


def block(pools, size, seed):
    """Return random links of a block: a permutation from every pool to every other."""
    coins = np.random.default_rng(seed)
    links = np.empty((pools, size, pools), np.int32)
    for b in range(pools):
        for other in range(pools):
            links[b, :, other] = np.arange(size) if b == other else coins.permutation(size)
    return links


def edges_of(links):
    pools, size, _ = links.shape
    return {(b * size + i, o * size + int(links[b, i, o])) for b in range(pools) for i in range(size) for o in range(pools)}


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_walks_decompose_a_regular_graph_into_disjoint_assignments(pools, size, seed):
    links = block(pools, size, seed)
    edges = (links + np.arange(pools, dtype=np.int32) * size).reshape(-1, pools)
    found = disjoint_assignments(edges, SeededRandomness(seed))
    assert all(sorted(found[:, t]) == list(range(pools * size)) for t in range(pools))
    assert {(s, int(r)) for t in range(pools) for s, r in enumerate(found[:, t])} == edges_of(links)


@pytest.mark.parametrize("seed", range(5))
def test_every_edge_is_drawn_with_probability_exactly_one_over_mu_by_walks(seed):
    pools, size = 5, 4
    links = block(pools, size, seed)
    times = Counter()
    for picked in range(pools):
        drawn = draw_by_walks(links, Picking(seed, picked)).reshape(-1)
        times.update((s, int(r)) for s, r in enumerate(drawn))
    # Whichever coins the walks use, each of the μ equally likely picks has an edge of its own.
    assert times == Counter(edges_of(links))


def test_every_edge_is_drawn_with_probability_exactly_one_over_mu_by_pools():
    pools, size = 4, 3
    links = block(pools, size, 1)
    times = Counter()
    for order in permutations(range(pools)):
        drawn = draw_by_pools(links, Picking(1, order)).reshape(-1)
        assert sorted(drawn) == list(range(pools * size))
        times.update((s, int(r)) for s, r in enumerate(drawn))
    assert set(times) == edges_of(links)
    assert set(times.values()) == {6}  # 3! of 4! permutations


def test_drawn_frequencies_fit_one_third_and_not_the_law_of_all_perfect_matchings():
    # Ring of 5 with 3 edges each: uniform over its 13 perfect matchings, the middle edges would have 5/13. The deviation allowed
    # is 4.5 standard errors of 3,000 · 5 draws that are at worst all alike per release: a false alarm in 1 of 100,000.
    edges = np.array([[(s + k) % 5 for k in range(3)] for s in range(5)], dtype=np.int32)
    coins, runs = SeededRandomness(4), 3_000
    middle = 0
    for _ in range(runs):
        picked = int(coins.below(3, 1)[0])
        drawn = disjoint_assignments(edges, coins, picked + 1)[:, picked]
        middle += int((drawn == edges[:, 1]).sum())
    allowed = 4.5 * (2 / 9 / runs) ** 0.5
    assert abs(middle / (5 * runs) - 1 / 3) < allowed
    assert abs(middle / (5 * runs) - 5 / 13) > allowed
