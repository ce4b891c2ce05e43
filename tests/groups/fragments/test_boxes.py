"""Boxes that hide presence: what every box keeps, and what cannot be kept."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import FPrivacy, LDiversity
from sfumato.errors import Infeasible, PolicyError
from sfumato.groups._cover_kernels import covers, reaches
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.fragments.boxes import presence_boxes
from sfumato.groups.fragments.cover import NEVER, PresenceRule, combinations, combined, covering_table
from tests.groups.fragments._crowds import ALPHAS, attempt, covered, crowd, crowds, groups_of, keeps_bounds, places
from tests.makers import people

pytestmark = pytest.mark.usefixtures("one_thread")


def boxes(table, alpha, requirement=None, *, tight=False, floor=1, weights=None):
    bounds = (requirement or LDiversity(1)).bounds(table.sensitive.histogram())
    return presence_boxes(
        table.quasi,
        table.sensitive.codes,
        bounds,
        PresenceRule(Fraction(alpha), tight, floor, weights),
    )


@given(table=crowds(), alpha=st.sampled_from(ALPHAS), tight=st.booleans(), ell=st.integers(1, 3), floor=st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_everybody_is_in_one_box_that_keeps_alpha_and_bounds_and_no_two_boxes_cover_the_same_combination(
    table, alpha, tight, ell, floor
):
    requirement = LDiversity(ell)
    bounds, _ = attempt(lambda: requirement.bounds(table.sensitive.histogram()))
    assume(bounds is not None)
    found, refused = attempt(lambda: boxes(table, alpha, requirement, tight=tight, floor=floor))
    if refused is not None:
        whole = Fraction(table.rows, covered(table, np.arange(table.rows)))
        assert min(whole, 1) > alpha
        assert refused.nearest.get("alpha", 1) >= min(whole, 1)
        assert refused.nearest or not bounds.protects
        return
    everywhere = groups_of(found)
    assert sorted(np.concatenate(everywhere).tolist()) == list(range(table.rows))
    for rows in everywhere:
        assert alpha == 1 or Fraction(len(rows), covered(table, rows)) <= alpha
        assert keeps_bounds(table, bounds, rows)
        assert len(rows) >= min(floor, table.rows)
    shown = [places(table, rows) for rows in everywhere]
    for k, one in enumerate(shown):
        for other in shown[:k]:
            assert any(mine.isdisjoint(theirs) for mine, theirs in zip(one, other, strict=True))


@pytest.mark.parametrize("tight", [False, True])
def test_an_alpha_of_one_leaves_the_engines_own_boxes(tight):
    table = crowd(400, 3, seed=4)
    bounds = LDiversity(2).bounds(table.sensitive.histogram())
    space, weights = Space.of(table.quasi), column_weights(table.quasi, None)
    own = cut_boxes(space, table.sensitive.codes, bounds, tight=tight, floor=10, weights=weights)
    assert (boxes(table, 1, LDiversity(2), tight=tight, floor=10).group == own.group).all()
    assert own.groups > 1


def test_where_a_cut_would_leave_too_few_combinations_another_column_is_cut():
    wide = {"a": [0, 0, 9, 9, 9, 0, 9, 0], "b": [1, 2, 3, 4, 1, 2, 3, 4], "c": [1, 2, 1, 2, 2, 1, 2, 1]}
    table = people(list("xyxyxyxy"), **wide)
    first = boxes(table, 1)
    assert first.groups > 2
    found = boxes(table, Fraction(1, 2))
    assert found.groups == 2
    assert all(Fraction(len(rows), covered(table, rows)) <= Fraction(1, 2) for rows in groups_of(found))


def test_weights_say_which_column_is_cut_first():
    table = people(list("xy" * 8), a=[k // 8 for k in range(16)], b=[k % 8 for k in range(16)])
    one, two = boxes(table, Fraction(1), weights={"a": 9}, floor=8), boxes(table, Fraction(1), weights={"b": 9}, floor=8)
    assert {len(places(table, rows)[0]) for rows in groups_of(one)} == {1}
    assert {len(places(table, rows)[1]) for rows in groups_of(two)} == {4}
    with pytest.raises(PolicyError, match="not a quasi column"):
        boxes(table, Fraction(1), weights={"c": 1})


def test_an_alpha_below_people_by_combinations_is_refused_with_the_smallest_that_is_not():
    table = people(list("abcdef"), x=[1, 1, 2, 2, 3, 3], y=[1, 2, 1, 2, 1, 2])
    with pytest.raises(Infeasible, match=r"6 people.*only 6\s+combinations") as caught:
        boxes(table, Fraction(99, 100), LDiversity(2))
    assert caught.value.nearest == {"alpha": 1}
    with pytest.raises(Infeasible, match="no alpha below 1") as caught:
        boxes(table, Fraction(99, 100), LDiversity(1))
    assert caught.value.nearest == {}
    wide = people(list("abcdef"), x=range(6), y=range(6))
    with pytest.raises(Infeasible, match="36 combinations") as caught:
        boxes(wide, Fraction(1, 7))
    assert caught.value.nearest == {"alpha": Fraction(1667, 10000)}
    assert boxes(wide, caught.value.nearest["alpha"]).groups == 1


def test_the_order_of_people_changes_nothing():
    table = crowd(300, 3, seed=8, widths=(40, 7, 9))
    turn = np.random.default_rng(1).permutation(table.rows)
    one, two = boxes(table, Fraction(2, 3), floor=5), boxes(table.take(turn), Fraction(2, 3), floor=5)
    assert one.groups > 1
    assert (one.group[turn] == two.group).all()
    assert (boxes(table, Fraction(2, 3), floor=5).group == one.group).all()


def test_bounds_that_differ_are_kept():
    table = crowd(500, 4, seed=3, values=5, widths=(30, 8))
    requirement = FPrivacy(theta=2, offset="0.05")
    bounds = requirement.bounds(table.sensitive.histogram())
    for tight in (False, True):
        found = boxes(table, Fraction(1, 20), requirement, tight=tight, floor=2)
        assert found.groups > 1
        assert all(keeps_bounds(table, bounds, rows) for rows in groups_of(found))


@given(st.lists(st.integers(1, 1 << 40), max_size=6), st.integers(0, (1 << 62) - 1))
def test_products_are_compared_exactly_however_large(distinct, needed):
    numbers = np.array(distinct, dtype=np.int64)
    assert reaches(numbers, needed) == (prod(distinct) >= needed)


def test_no_group_reaches_what_lies_beyond_64_bits():
    assert not reaches(np.array([1 << 40, 1 << 40]), NEVER)


@given(st.integers(0, 50), st.fractions(Fraction(1, 10**20), 1).filter(lambda alpha: alpha > 0))
def test_the_number_of_combinations_needed_is_exact(people_, alpha):
    for size, cells in enumerate(covering_table(people_, alpha).tolist()):
        exact = 0 if alpha == 1 else -(-size * alpha.denominator // alpha.numerator)
        assert cells == (exact if exact < 1 << 62 else NEVER)


def test_many_columns_cover_more_combinations_than_64_bits_hold():
    table = people(["x", "y"] * 30, **{f"q{j}": range(60) for j in range(14)})
    assert combinations(table.quasi) == 60**14 > 1 << 64
    found = boxes(table, "1/1000000000000")
    assert all(Fraction(len(rows), covered(table, rows)) <= Fraction(1, 10**12) for rows in groups_of(found))
    assert found.groups > 1


def test_rows_are_numbered_in_their_order_however_many_columns_there_are():
    coins = np.random.default_rng(3)
    codes = [coins.integers(0, 1 << 20, 200).astype(np.uint32) for _ in range(7)]
    codes[5][:50] = codes[5][50:100]
    numbers = combined(codes, [1 << 20] * 7)
    rows = list(zip(*(column.tolist() for column in codes), strict=True))
    assert np.argsort(numbers, kind="stable").tolist() == sorted(range(200), key=rows.__getitem__)


def test_what_rows_cover_is_found_column_by_column():
    codes = np.array([[0, 1, 2, 3], [5, 5, 5, 7]], dtype=np.int32)
    rows = np.arange(4, dtype=np.int32)
    assert covers(rows, codes, np.array([0, 0, 0, 0, 8]))
    assert not covers(rows, codes, np.array([0, 0, 0, 0, 9]))
    assert not covers(rows, codes, np.array([0, 0, 0, 0, NEVER]))
