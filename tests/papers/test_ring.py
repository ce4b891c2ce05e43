"""Ring generalization, NH (Wong, Mamoulis and Cheung, SIGMOD 2010): the worked facts, by enumeration."""

from collections import Counter
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import LDiversity, Ring, audit, publication
from sfumato.errors import PolicyError
from sfumato.groups.grouping import Grouping
from sfumato.papers.heterogeneous.ring import Rings, diverse_places, draw_carried
from sfumato.randomness import SeededRandomness
from tests.makers import people


def ring(size):
    return Rings(np.arange(size), np.array([0, size]))


def perfect_matchings(windows):
    return [found for found in permutations(range(len(windows))) if all(j in windows[i] for i, j in enumerate(found))]


def test_a_ring_of_5_with_windows_of_3_has_13_perfect_matchings():
    windows = ring(5).windows(3).tolist()
    assert windows == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]]
    assert len(perfect_matchings(windows)) == 13


def test_the_three_shifts_are_a_decomposition():
    windows = ring(5).windows(3)
    shifts = [tuple(windows[:, s].tolist()) for s in range(3)]
    assert set(shifts) <= set(perfect_matchings(windows.tolist()))
    assert sorted((i, j) for shift in shifts for i, j in enumerate(shift)) == sorted(
        (i, j) for i, row in enumerate(windows.tolist()) for j in row
    )


def test_all_matchings_alike_would_not_give_a_third_to_every_edge():
    found = perfect_matchings(ring(5).windows(3).tolist())
    times = Counter((j - i) % 5 for matching in found for i, j in enumerate(matching))
    assert [times[offset] / 5 for offset in range(3)] == [4, 5, 4]


def test_an_edge_that_no_perfect_matching_has_does_not_count():
    windows = [[0, 1], [1], [0, 2]]
    assert perfect_matchings(windows) == [(0, 1, 2)]  # record 0 looks hidden among two, and is not


def test_every_edge_of_a_ring_is_in_a_perfect_matching():
    for size in range(3, 8):
        for length in range(2, size):
            windows = ring(size).windows(length).tolist()
            used = {(i, j) for matching in perfect_matchings(windows) for i, j in enumerate(matching)}
            assert len(used) == size * length


def test_each_person_behind_a_record_gave_its_value_equally_often():
    """False alarm below 1e-6 for 15 edges of 6,000 draws: six standard deviations are 219; all matchings alike miss by 461/2."""
    for assignment in ("walks", "shift"):
        times = np.zeros((5, 5), np.int64)
        for seed in range(6000):
            carried = draw_carried(ring(5), 3, assignment, SeededRandomness(seed))
            times[np.arange(5), carried] += 1
        expected = np.zeros((5, 5))
        np.put_along_axis(expected, ring(5).windows(3), 2000, axis=1)
        assert np.abs(times - expected).max() < 220


def cyclic_orders_exist(counts, length):
    values = [v for v, count in enumerate(counts) for _ in range(count)]
    size = len(values)
    for order in set(permutations(values[1:])):
        placed = [values[0], *order]
        if all(placed[i] != placed[(i + k) % size] for i in range(size) for k in range(1, length)):
            return True
    return False


def test_no_ring_exists_where_a_value_has_more_than_its_part():
    for size in range(4, 8):
        for counts in combinations_with_replacement(range(1, size), 3):
            if sum(counts) == size:
                for length in (2, 3):
                    assert cyclic_orders_exist(counts, length) is (max(counts) <= size // length and len(counts) >= length)


groups = st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=8), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(groups, st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_ring_exists_wherever_no_value_has_more_than_its_part(histograms, length, coins):
    fitting = [counts for counts in histograms if max(counts) * length <= sum(counts)]
    people = [(g, v) for g, counts in enumerate(fitting) for v, count in enumerate(counts) for _ in range(count)]
    coins.shuffle(people)
    if not people:
        return
    group, value = (np.array(column) for column in zip(*people, strict=True))
    rank = np.array(coins.sample(range(len(people)), len(people)))
    order, start = diverse_places(Grouping(group.astype(np.int32), len(fitting), "paper"), value, rank, length)
    assert sorted(order.tolist()) == list(range(len(people)))
    windows = order[Rings(order, start).windows(length)]
    assert (group[windows] == group[order][:, None]).all()
    assert all(len(set(value[window].tolist())) == length for window in windows)


def test_links_travel_beside_the_release_and_the_audit_reads_them(tmp_path):
    table = people(["a", "b", "c"] * 20, age=list(range(60)))
    made = publication(table, LDiversity(3, against="reader"), method=Ring(accept_weaker_claim=True), random=1)
    assert made.links is not None
    made.release.save(tmp_path / "release")
    made.links.save(tmp_path / "links")
    found = audit(tmp_path / "release", table, links=tmp_path / "links")
    assert found.stronger.keys() == made.audit.stronger.keys()
    assert any("linked" in name for name in found.stronger)
    with pytest.raises(PolicyError, match="original table"):
        audit(made.release, links=made.links)
