"""Boxes by quasi values alone, and how boxes with a noisy share over its bound are joined."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.groups.noisy import Tree, cut_evenly, join_boxes, usual_floor
from tests.makers import people, skewed

HALF = [Fraction(1, 2), Fraction(1, 2), Fraction(1)]


def tree_of(sizes):
    """Return a tree of cuts that halves a row of boxes of these sizes."""
    sides, box = [], []

    def cut(low, high):
        number = len(sides)
        sides.append([-1, -1])
        box.append(low if high - low == 1 else -1)
        return number

    queue = [(cut(0, len(sizes)), 0, len(sizes))]
    while queue:
        node, low, high = queue.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            sides[node] = [cut(low, middle), cut(middle, high)]
            queue += [(sides[node][0], low, middle), (sides[node][1], middle, high)]
    return Tree(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), np.array(sides), np.array(box))


def test_cuts_are_even_and_keep_the_floor():
    table = people("a" * 64, x=list(range(64)))
    tree = cut_evenly(table.quasi, 10, None)
    assert np.bincount(tree.group).tolist() == [16] * 4
    assert cut_evenly(table.quasi, 33, None).boxes == 1
    assert tree.counts(np.zeros(64, np.int64), 2).tolist() == [[16, 0]] * 4
    ties = skewed()
    groups = cut_evenly(ties.quasi, 20, None).group
    for ids in np.unique(ties.quasi_ids()):
        assert len(np.unique(groups[ties.quasi_ids() == ids])) == 1


def test_a_box_over_its_bound_joins_the_smallest_with_which_it_keeps_it():
    tree = tree_of([10, 10, 10, 20])
    counts = np.array([[8, 1, 1], [5, 5, 0], [2, 2, 6], [1, 9, 10]])
    # Box 0 has 8 of 10 where 5 are allowed; with box 1 it has 13 of 20, with box 2 10 of 20.
    assert join_boxes(tree, counts, HALF).of.tolist() == [1, 0, 1, 2]


def test_two_boxes_over_different_bounds_may_keep_them_together():
    tree = tree_of([10, 10])
    assert join_boxes(tree, np.array([[9, 1, 0], [1, 9, 0]]), HALF).of.tolist() == [0, 0]
    hopeless = join_boxes(tree, np.array([[9, 1, 0], [9, 1, 0]]), HALF)
    assert (hopeless.of.tolist(), hopeless.kept) == ([0, 0], False)
    assert join_boxes(tree, np.array([[-3, 2, 14], [5, 5, 9]]), HALF).of.tolist() == [0, 1]


@given(st.lists(st.tuples(st.integers(1, 12), st.lists(st.integers(-3, 9), min_size=3, max_size=3)), min_size=1, max_size=12))
def test_what_is_shown_keeps_the_bounds_or_is_one_box(boxes):
    sizes = [size for size, _ in boxes]
    counts = np.array([noisy for _, noisy in boxes])
    joined = join_boxes(tree_of(sizes), counts, HALF)
    groups = int(joined.of.max()) + 1
    together = np.zeros((groups, 3), np.int64)
    np.add.at(together, joined.of, counts)
    people_in = np.bincount(joined.of, weights=sizes)
    kept = (2 * together[:, :2] <= people_in[:, None]).all()
    assert kept == joined.kept
    assert kept or groups == 1


def test_the_floor_falls_with_odds_and_with_very_many_people():
    assert usual_floor(Fraction(11), 100, 100_000) == round(33 * 10 / np.log(11))
    assert usual_floor(Fraction(11), 100, 400_000) == round(33 * 10 / np.log(11) / 2)
    assert usual_floor(Fraction(10**9), 2, 1000) >= 2
