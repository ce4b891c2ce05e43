"""004, presence and the program: what a stranger believes who knows how boxes are cut, by enumeration of all tables."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest

from sfumato.groups.fragments.boxes import presence_boxes
from sfumato.groups.fragments.cover import PresenceRule
from sfumato.groups.fragments.halves import HalvingRule, half_boxes
from sfumato.privacy.bounds import Bounds
from tests.groups.fragments._worlds import belief, columns_of, makers

pytestmark = pytest.mark.usefixtures("one_thread")

ONE, HALF = Fraction(1), Fraction(1, 2)


def bounds_of(values, limit):
    known = sorted(set(values))
    return Bounds.of(tuple(f"v{v}" for v in known), tuple(values.count(v) for v in known), (limit,) * len(known))


def grid(*widths):
    return list(product(*map(range, widths)))


def boxes(widths, alpha):
    """Return how `Ambiguity` makes its usual boxes."""

    def make(cells, values):
        rule = PresenceRule(alpha, tight=True, floor=2)
        return presence_boxes(columns_of(cells, widths), np.array(values), bounds_of(values, ONE), rule)

    return make


def halves(widths, alpha, *, limit=ONE, tight=True, floor=1):
    """Return how `Ambiguity` makes boxes by halves."""

    def make(cells, values):
        rule = PresenceRule(alpha, tight, floor)
        return half_boxes(columns_of(cells, widths), np.array(values), bounds_of(values, limit), rule)

    return make


def worst_presence(found, cells):
    """Return the largest belief in presence of any cell that any release gives."""
    return max(worst_in(worlds, cells) for worlds in found.values())


def worst_in(worlds, cells):
    return max(belief(worlds, lambda world, cell=cell: cell in world[0]) for cell in cells)


def plain(tables):
    """Return worlds in which everybody has the same value."""
    return [(table, (0,) * len(table)) for table in tables]


def is_cut(found):
    return any(len(release) > 1 for release in found)


def all_alike(found):
    """Return whether every combination that a box covers is believed present with people / combinations, in every release."""
    for release, worlds in found.items():
        for *sides, values in release:
            room = list(product(*sides))
            beliefs = {belief(worlds, lambda world, cell=cell: cell in world[0]) for cell in room}
            if beliefs != {Fraction(len(values), len(room))}:
                return False
    return True


def test_a_stranger_who_knows_how_boxes_are_cut_becomes_certain_in_spite_of_alpha():
    cells = grid(4, 4)
    found = makers(plain(combinations(cells, 5)), boxes((4, 4), HALF))
    beliefs = [worst_in(worlds, cells) for worlds in found.values()]
    assert (len(beliefs), sum(one > HALF for one in beliefs), max(beliefs)) == (105, 48, 1)


@pytest.mark.parametrize(
    ("widths", "people", "alpha"),
    [
        ((4, 4), 5, "1/2"),
        ((4, 4), 4, "1/2"),
        ((6, 2), 4, "2/3"),
        ((5, 4), 4, "1/2"),
        ((2, 3, 2), 4, "1/2"),
        ((2, 2, 2, 2), 5, "2/3"),
    ],
)
def test_halves_keep_alpha_against_a_stranger_who_knows_the_program(widths, people, alpha):
    cells = grid(*widths)
    found = makers(plain(combinations(cells, people)), halves(widths, Fraction(alpha)))
    assert is_cut(found)
    assert worst_presence(found, cells) <= Fraction(alpha)
    assert all_alike(found)


def test_halves_keep_alpha_where_people_may_be_alike():
    cells = grid(4, 3)
    for worlds in (combinations_with_replacement(cells, 4), product(grid(4, 2), repeat=4)):
        found = makers(plain(worlds), halves((4, 3), HALF))
        assert is_cut(found)
        assert worst_presence(found, cells) <= HALF


@pytest.mark.parametrize("tight", [False, True])
def test_halves_keep_alpha_beside_bounds_on_values(tight):
    cells, limit = grid(4, 3), Fraction(3, 4)
    given = sorted(set(permutations((0, 1, 1, 2))))
    worlds = [(table, values) for table in combinations(cells, 4) for values in given]
    found = makers(worlds, halves((4, 3), HALF, limit=limit if tight else ONE, tight=tight))
    assert is_cut(found)
    assert worst_presence(found, cells) <= HALF


def test_safe_halves_keep_the_bounds_on_values_against_an_engineer_who_knows_everybodys_quasi_values():
    limit = Fraction(2, 3)
    given = sorted(set(permutations((0, 0, 1, 1, 2, 2))))
    cut = 0
    for table in [
        ((0, 0), (0, 1), (1, 2), (2, 0), (3, 1), (3, 2)),
        ((0, 0), (1, 0), (0, 2), (2, 1), (3, 0), (2, 2)),
        ((0, 1), (1, 1), (0, 0), (1, 2), (3, 0), (2, 1)),
    ]:
        found = makers([(table, values) for values in given], halves((4, 3), limit, limit=limit, tight=False))
        cut += is_cut(found)
        for release, worlds in found.items():
            for k, (x, y) in enumerate(table):
                (values,) = [box[-1] for box in release if x in box[0] and y in box[1]]
                for v in set(values):
                    share = belief(worlds, lambda world, k=k, v=v: world[1][k] == v)
                    assert share == Fraction(values.count(v), len(values)) <= limit
    assert cut


def test_cuts_of_unequal_parts_are_caught(monkeypatch):
    def middle(rule, box):
        many = [len(codes) for codes in box.shown]
        column = many.index(max(many))
        return (column, int(box.shown[column][(many[column] - 1) // 2])) if many[column] > 1 else None

    found = makers(plain(combinations(grid(3, 2, 2), 4)), halves((3, 2, 2), Fraction(2, 3)))
    assert all_alike(found)
    monkeypatch.setattr(HalvingRule, "place", middle)
    found = makers(plain(combinations(grid(3, 2, 2), 4)), halves((3, 2, 2), Fraction(2, 3)))
    assert not all_alike(found)


def test_a_second_column_tried_after_the_first_is_caught(monkeypatch):
    once = HalvingRule.sides

    def again(rule, box, place):
        many = [len(codes) for codes in box.shown]
        even = sorted((j for j in range(len(many)) if many[j] % 2 == 0), key=lambda j: -many[j])
        tried = (once(rule, box, (j, int(box.shown[j][many[j] // 2 - 1]))) for j in even)
        return next((pair for pair in tried if pair is not None), None)

    cells = grid(3, 2, 2)
    monkeypatch.setattr(HalvingRule, "sides", again)
    assert worst_presence(makers(plain(combinations(cells, 5)), halves((3, 2, 2), Fraction(3, 4))), cells) == 1
