from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from sfumato.exact import floor_times
from sfumato.papers.heterogeneous.packing import diversity_pools, fewest_pools, likeness_pools, pack, pack_remainders
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity
from sfumato.privacy.bounds import Bounds

COUNTS = st.lists(st.integers(1, 40), min_size=2, max_size=9)


def named(counts):
    return {f"v{k}": count for k, count in enumerate(counts)}


def likeness(counts, beta):
    return BetaLikeness(beta).bounds(named(counts))


@given(COUNTS, st.sampled_from(["0", "1/3", "1", "3", "20"]), st.sampled_from(["paper", "tight"]))
def test_packings_hold_everybody_once_and_keep_the_bounds(counts, beta, how):
    bounds = likeness(counts, beta)
    packing = pack(bounds, how)
    assert packing.held.sum(axis=0).tolist() == list(bounds.counts)
    assert (packing.dummies >= 0).all()
    assert packing.dummies.sum() < max(packing.pools, packing.size)
    caps = [floor_times(limit, packing.pools) for limit in bounds.limits]
    if packing.once:
        assert min(caps) >= 1
    else:
        assert (packing.spread <= np.array(caps)).all()


@given(COUNTS, st.sampled_from(["1/3", "1", "3"]))
def test_tight_packings_need_no_more_pools_than_the_paper_and_no_fewer_than_possible(counts, beta):
    bounds = likeness(counts, beta)
    tight = pack(bounds, "tight")
    assert fewest_pools(bounds) <= tight.pools
    if pack(bounds, "paper").algorithm == "diversity":
        assert tight.pools <= pack(bounds, "paper").pools


def test_tight_packing_halves_the_pools_where_algorithm_3_wastes_them():
    counts = [500, 300, 120, 90, 77, 53, 41, 29, 17, 13, 11, 7]
    bounds = likeness(counts, 1)
    assert pack(bounds, "tight").pools == fewest_pools(bounds)
    assert pack(bounds, "paper").pools > pack(bounds, "tight").pools


@given(COUNTS)
def test_the_largest_size_that_keeps_the_bounds_is_taken(counts):
    bounds = likeness(counts, "1/2")
    packing = likeness_pools(bounds)
    assert packing.gain(bounds.counts) <= Fraction(1, 2)


def test_without_any_gain_pools_are_pure_and_as_large_as_the_greatest_common_divisor():
    packing = pack(likeness([6, 9, 12], 0), "paper")
    assert packing.size == 3
    assert (packing.spread == np.array([2, 3, 4])).all()
    assert ((packing.held > 0).sum(axis=1) == 1).all()


def test_theorem_4_turns_likeness_into_diversity_where_it_can():
    # φ_M / φ_m − 1 = 1 ≤ β, and ℓ = 1 / (2 · 4/24) = 3.
    bounds = likeness([8, 8, 4, 4], 1)
    assert pack(bounds, "paper").algorithm == "diversity"
    assert pack(bounds, "paper").pools == 3
    assert pack(likeness([16, 8, 8, 4], 1), "paper").algorithm == "likeness"


def test_dummies_fill_up_only_where_the_number_of_pools_does_not_divide_the_people():
    assert diversity_pools(LDiversity(3).bounds(named([3, 3, 3])), 3).dummies.sum() == 0
    assert diversity_pools(LDiversity(3).bounds(named([3, 3, 3, 1])), 3).dummies.sum() == 2


def test_more_than_eligible_is_refused_with_the_largest_possible_l():
    bounds = Bounds.of(("a", "b", "c"), (5, 2, 2), (Fraction(1),) * 3)
    with pytest.raises(Infeasible, match="ℓ = 2") as error:
        diversity_pools(bounds, 2)
    assert error.value.nearest == {"l": 1}


def test_any_per_value_bounds_can_be_packed():
    bounds = FPrivacy(theta=4, offset="0.02").bounds(named([900, 60, 30, 10]))
    for how in ("paper", "tight"):
        packing = pack(bounds, how)
        assert all(int(s) <= floor_times(limit, packing.pools) for s, limit in zip(packing.spread, bounds.limits, strict=True))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=8), st.integers(9, 12), st.integers(1, 6))
def test_remainders_are_packed_whole_or_in_allowed_pieces(items, size, bins):
    pieces = pack_remainders(items, size, bins)
    if pieces is None:
        return
    room = [size] * bins
    for place, (amount, most) in enumerate(items):
        mine = [(home, part) for item, home, part in pieces if item == place]
        assert sum(part for _, part in mine) == amount
        assert len({home for home, _ in mine}) == len(mine) <= most
        for home, part in mine:
            assert part > 0
            room[home] -= part
    assert min(room) >= 0


def test_a_perfect_packing_of_whole_remainders_is_found_where_best_fit_fails():
    # Best fit puts 6 and 4 … differently: {6, 4}, {5, 5}, {4, 3, 3} fill three bins of 10 exactly.
    items = [(6, 1), (5, 1), (5, 1), (4, 1), (4, 1), (3, 1), (3, 1)]
    assert pack_remainders(items, 10, 3) is not None
    assert pack_remainders([(7, 1), (7, 1), (6, 1)], 10, 2) is None
    assert pack_remainders([(7, 1), (7, 2), (6, 2)], 10, 2) is not None
