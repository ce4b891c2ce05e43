"""Whoever stands first in the file changes nothing: what may tie is decided in whole numbers, or by name."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.groups.category_order import category_places, principal_axis
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.fragments.boxes import presence_boxes
from sfumato.groups.fragments.cover import PresenceRule
from sfumato.groups.fragments.halves import half_boxes
from sfumato.groups.fragments.views import view_boxes
from sfumato.groups.near.matched import variety
from sfumato.groups.near.order import BoxCost, seen_width
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.partition import _spread
from sfumato.privacy import LDiversity
from sfumato.testing import balanced_designs
from tests.makers import people

pytestmark = pytest.mark.usefixtures("one_thread")

DESIGNS = balanced_designs()
designs = pytest.mark.parametrize("table", DESIGNS.values(), ids=DESIGNS)


def orders(table, many=60):
    coins = np.random.default_rng(5)
    codes = table.sensitive.codes
    yield from (np.argsort(codes, kind="stable"), np.argsort(codes, kind="stable")[::-1])
    yield from (np.argsort(column.codes, kind="stable") for column in table.quasi)
    yield from (coins.permutation(table.rows) for _ in range(many))


def sets(group, order):
    """The groups as sets of people, by their rows in the table that was turned into this order."""
    return frozenset(frozenset(order[group == g].tolist()) for g in range(group.max() + 1))


@designs
def test_categories_lie_at_the_same_places_in_any_order_of_the_rows(table):
    first = Space.of(table.quasi)
    for order in orders(table):
        again = Space.of(table.take(order).quasi)
        assert (again.codes == first.codes[:, order]).all()
        assert (again.position == first.position).all()


@designs
def test_columns_vary_equally_in_any_order_of_the_rows(table):
    def scale(columns):
        return BoxCost.of(columns, [seen_width(column) for column in columns])

    numeric = [column.kind != "categorical" for column in table.quasi]
    first, spread = variety(scale(table.quasi)), _spread(numeric, Costs.of(table.quasi))
    for order in orders(table):
        turned = table.take(order).quasi
        assert variety(scale(turned)).tolist() == first.tolist()
        assert _spread(numeric, Costs.of(turned)).tolist() == spread.tolist()


def test_columns_that_permute_each_other_vary_exactly_alike():
    columns = DESIGNS["permuted columns"].quasi
    one, two = variety(BoxCost.of(columns, [seen_width(column) for column in columns]))
    assert one == two


@designs
@pytest.mark.parametrize("tight", [False, True])
def test_boxes_hold_the_same_people_in_any_order_of_the_rows(table, tight):
    bounds = LDiversity(2).bounds(table.sensitive.histogram())

    def cut(one):
        codes, weights = one.sensitive.codes, column_weights(one.quasi, None)
        found = cut_boxes(Space.of(one.quasi), codes, bounds, tight=tight, floor=2, weights=weights)
        rule = PresenceRule(1, tight=tight, floor=2)
        hidden = presence_boxes(one.quasi, codes, bounds, rule)
        halves = half_boxes(one.quasi, codes, bounds, rule)
        return found.group, hidden.group, halves.group

    first = [sets(group, np.arange(table.rows)) for group in cut(table)]
    for order in orders(table, 20):
        assert [sets(group, order) for group in cut(table.take(order))] == first


def test_boxes_of_views_hold_the_same_people_in_any_order_of_the_rows():
    table = people([f"v{k % 6}" for k in range(36)], x=[k // 6 for k in range(36)], z=[f"z{k % 6}" for k in range(36)])
    bounds = LDiversity(1).bounds(table.sensitive.histogram())

    def cut(one):
        return view_boxes(one.quasi, ["z"], one.sensitive.codes, bounds, 1, others=False).group

    first = sets(cut(table), np.arange(table.rows))
    assert len(first) > 1
    for order in orders(table, 20):
        assert sets(cut(table.take(order)), order) == first


def test_categories_that_tie_stand_in_the_order_of_their_names():
    zips, ages = DESIGNS["equal means"].quasi
    place = dict(zip(zips.values.to_pylist(), category_places(0, [zips, ages]).tolist(), strict=True))
    assert place == {"C": 0, "A": 1, "B": 2, "D": 3}


def test_where_two_axes_tie_the_first_column_decides():
    """A square of categories, as wide as it is high."""
    table = people(list("pqrs"), town=list("dcba"), x=[0, 0, 1, 1], y=[0, 1, 0, 1])
    assert category_places(0, table.quasi).tolist() == [2, 3, 0, 1]  # a and b have x = 1, c and d x = 0
    assert principal_axis(np.array([[5, 0], [0, 5]]))[1] == 0


@given(st.lists(st.integers(-1000, 1000), min_size=6, max_size=6))
def test_the_principal_axis_is_the_first_eigenvector_where_that_is_clear(entries):
    root = np.array(entries, dtype=np.int64).reshape(2, 3)
    matrix = root.T @ root
    values, vectors = np.linalg.eigh(matrix)
    if values[-1] < 1.05 * values[-2] or values[-1] == 0:
        return
    axis = principal_axis(matrix).astype(float)
    assert abs(axis @ vectors[:, -1]) / np.linalg.norm(axis) == pytest.approx(1, abs=1e-3)


def test_the_axis_of_nothing_is_nothing_and_large_numbers_do_not_overflow():
    assert not principal_axis(np.zeros((3, 3), np.int64)).any()
    axis = principal_axis(np.full((9, 9), 1 << 61))
    assert axis.min() == axis.max() > 0


def test_every_order_of_six_people_gives_the_same_boxes():
    table = DESIGNS["permuted columns"]
    bounds = LDiversity(3).bounds(table.sensitive.histogram())
    found = set()
    for order in permutations(range(6)):
        turned = table.take(np.array(order))
        weights = column_weights(turned.quasi, None)
        boxes = cut_boxes(Space.of(turned.quasi), turned.sensitive.codes, bounds, tight=False, floor=1, weights=weights)
        found.add(sets(boxes.group, np.array(order)))
    assert len(found) == 1
    assert len(found.pop()) == 2
