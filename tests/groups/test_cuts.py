"""Cuts of quasi space: what they may look at, and what they leave."""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.groups._counted_kernels import CountsAcross
from sfumato.groups._cut_kernels import RowsAcross, Secret, split_rows
from sfumato.groups._rule_kernels import LEVELS, LOSSY, ORDERED, cut_of, smallest_group, spread, tight_cut, widest
from sfumato.groups.cuts import Space, _on_a_line, column_weights, cut_boxes
from sfumato.groups.grouping import histograms, need_table, require_bounds
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.table import Schema, Table
from tests.makers import people


def boxes(table, requirement, *, tight=False, floor=1, weights=None):
    bounds = requirement.bounds(table.sensitive.histogram())
    space = Space.of(table.quasi)
    return cut_boxes(
        space,
        table.sensitive.codes,
        bounds,
        tight=tight,
        floor=floor,
        weights=column_weights(table.quasi, weights),
    )


def sets(grouping):
    """The boxes as sets of rows, whatever their numbers."""
    return frozenset(frozenset(np.flatnonzero(grouping.group == box).tolist()) for box in range(grouping.groups))


def make(values, **quasi):
    return Table.from_frame(pa.table({**quasi, "value": values}), Schema(quasi=list(quasi), sensitive=["value"]))


def random_table(seed, rows=200, values=5):
    coins = np.random.default_rng(seed)
    age = coins.integers(0, 30, rows)
    return make(
        [f"v{k}" for k in np.minimum(coins.integers(0, values, rows) + (age > 20), values - 1)],
        age=pa.array(age, mask=coins.random(rows) < 0.1),
        town=pa.array([f"t{k}" for k in coins.integers(0, 6, rows)], mask=coins.random(rows) < 0.05),
        score=coins.normal(size=rows).round(1),
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([1, 7, 30]), st.sampled_from([2, 3]))
def test_every_box_keeps_the_bounds_and_the_floor_and_boxes_do_not_overlap(seed, tight, floor, l):
    table = random_table(seed)
    requirement = FPrivacy(offset=f"3/{2 * l}")
    bounds = requirement.bounds(table.sensitive.histogram())
    found = boxes(table, requirement, tight=tight, floor=floor)
    assert found.sizes.sum() == table.rows
    assert found.sizes.min() >= min(floor, table.rows)
    require_bounds(histograms(found.group, table.sensitive.codes, len(bounds.values)), found.sizes, bounds)
    keys = table.quasi_ids()
    assert all(len(set(found.group[keys == key])) == 1 for key in np.unique(keys))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_safe_boxes_do_not_depend_on_who_has_which_value_inside_a_box(seed, again):
    table = random_table(seed)
    requirement = FPrivacy(offset="2/3")
    first = boxes(table, requirement)
    coins = np.random.default_rng(again)
    codes = table.sensitive.codes.copy()
    for box in range(first.groups):
        rows = np.flatnonzero(first.group == box)
        codes[rows] = codes[coins.permutation(rows)]
    labels = np.array(table.sensitive.labels)
    columns = {column.name: column.arrow() for column in table.quasi}
    other = Table.from_frame(pa.table({**columns, "value": labels[codes]}), table.schema)
    assert (boxes(other, requirement).group == first.group).all()


def posterior_of_boxes(ages, values, requirement, *, tight):
    """For every possible release of these people: which placements of the values can produce it."""
    worlds = sorted(set(permutations(values)))
    by_release = defaultdict(list)
    for world in worlds:
        table = make(list(world), age=ages)
        found = boxes(table, requirement, tight=tight)
        shown = frozenset((tuple(rows), tuple(sorted(world[k] for k in rows))) for rows in map(sorted, sets(found)))
        by_release[shown].append(world)
    return by_release


def worst_belief(by_release):
    worst = Fraction(0)
    for possible in by_release.values():
        for person in range(len(possible[0])):
            for value in set(possible[0]):
                worst = max(worst, Fraction(sum(world[person] == value for world in possible), len(possible)))
    return worst


def equally_likely_inside_boxes(by_release):
    """Whether each release can come from every placement of its boxes' values on their people."""
    for shown, possible in by_release.items():
        expected = 1
        for rows, values in shown:
            expected *= len(set(permutations(values)))
            assert len(rows) == len(values)
        if len(possible) != expected:
            return False
    return True


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("ages", "values", "bound"),
    [([1, 2, 3, 4, 5, 6, 7, 8], "aabbccdd", "1/2"), ([1, 1, 1, 2, 2, 2], "aabbcd", "2/3"), ([1, 2, 3, 4, 5, 6], "abcdef", "1/3")],
)
def test_rerunning_safe_cuts_tells_the_engineer_nothing(ages, values, bound):
    by_release = posterior_of_boxes(ages, values, FPrivacy(offset=bound), tight=False)
    assert any(len(shown) > 1 for shown in by_release)
    assert equally_likely_inside_boxes(by_release)
    assert worst_belief(by_release) <= Fraction(bound)


@pytest.mark.usefixtures("one_thread")
def test_rerunning_tight_cuts_can_tell_the_engineer_more():
    """A refused cut speaks: the cut between the two young and the four old is refused only if both young people have x."""
    by_release = posterior_of_boxes([1, 1, 2, 2, 2, 2], "xxyzuv", FPrivacy(offset="1/2"), tight=True)
    assert not equally_likely_inside_boxes(by_release)
    assert worst_belief(by_release) == 1
    safe = posterior_of_boxes([1, 1, 2, 2, 2, 2], "xxyzuv", FPrivacy(offset="1/2"), tight=False)
    assert equally_likely_inside_boxes(safe)
    assert worst_belief(safe) == Fraction(1, 3)


def test_boxes_are_the_same_for_any_order_of_the_input_and_any_number_of_threads():
    import numba

    table = random_table(5)
    turned = table.take(np.arange(table.rows)[::-1])
    requirement = FPrivacy(offset="2/3")
    whole = sets(boxes(table, requirement))
    assert len(whole) > 3
    assert {frozenset(table.rows - 1 - row for row in box) for box in whole} == sets(boxes(turned, requirement))
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert sets(boxes(table, requirement)) == whole
    finally:
        numba.set_num_threads(threads)


def test_missing_values_take_the_side_that_is_more_even():
    ages = [1] * 6 + [9] * 2 + [None] * 4
    table = make(["a", "b"] * 6, age=ages)
    found = sets(boxes(table, FPrivacy(offset=1), floor=6))
    assert frozenset(range(6)) in found


def test_the_widest_column_is_cut_first_and_weights_change_that():
    values = ["a", "b"] * 8
    table = make(values, x=[0] * 8 + [10] * 8, y=([0] * 4 + [1] * 4) * 2)
    by_x = sets(boxes(table, FPrivacy(offset=1), floor=8))
    assert by_x == {frozenset(range(8)), frozenset(range(8, 16))}
    by_y = sets(boxes(table, FPrivacy(offset=1), floor=8, weights={"y": 5}))
    assert by_y == {frozenset([*range(4), *range(8, 12)]), frozenset([*range(4, 8), *range(12, 16)])}
    with pytest.raises(PolicyError, match=r"'z'"):
        column_weights(table.quasi, {"z": 1})
    with pytest.raises(PolicyError, match="needs a positive number"):
        column_weights(table.quasi, {"y": 0})


def test_categories_are_ordered_by_where_their_people_lie():
    # Codes follow the alphabet; the ages say b < c < a.
    town = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    table = make(["x", "y"] * 6, town=town, age=[90] * 4 + [10] * 4 + [50] * 4)
    place = Space.of(table.quasi).codes[0]
    assert (place[0] - place[8]) * (place[8] - place[4]) > 0


def test_constant_columns_and_people_all_alike_make_one_box():
    assert boxes(make(["a", "b"] * 5, sex=["f"] * 10), FPrivacy(offset=1)).groups == 1
    assert boxes(make(["a", "b"] * 5, sex=["f"] * 10, age=list(range(10))), FPrivacy(offset=1)).groups > 1


def test_a_floor_larger_than_the_table_makes_one_box():
    assert boxes(random_table(1), LDiversity(2), floor=1000).groups == 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.fractions(Fraction(1, 9), 1))
def test_the_need_of_a_count_is_exact(counts, limit):
    from sfumato.privacy.bounds import Bounds

    bounds = Bounds.of(tuple(f"v{k}" for k in range(len(counts))), tuple(counts), (limit,) * len(counts))
    need, start = need_table(bounds)
    for k, count in enumerate(counts):
        expected = [-(-(c * limit.denominator) // limit.numerator) if limit < 1 else 0 for c in range(count + 1)]
        assert need[start[k] : start[k + 1]].tolist() == expected


def test_needs_of_huge_denominators_do_not_overflow():
    from sfumato.privacy.bounds import Bounds

    limit = Fraction(10**30 + 1, 2 * 10**30)
    need, _ = need_table(Bounds.of(("a", "b"), (3, 4), (limit, limit)))
    assert need.tolist() == [0, 2, 4, 6, 0, 2, 4, 6, 8]


def test_a_value_with_a_bound_of_one_needs_no_room_however_frequent_it_is():
    table = make(["flu"] * 90 + ["hiv"] * 5 + ["tb"] * 5, age=list(range(100)))
    requirement = FPrivacy(offset="1/2", bounds={"flu": 1})
    found = boxes(table, requirement, floor=10)
    assert found.groups > 4
    bounds = requirement.bounds(table.sensitive.histogram())
    require_bounds(histograms(found.group, table.sensitive.codes, 3), found.sizes, bounds)


@pytest.mark.usefixtures("one_thread")
def test_rerunning_safe_cuts_around_an_open_value_tells_the_engineer_nothing():
    requirement = FPrivacy(offset="1/2", bounds={"o": 1})
    by_release = posterior_of_boxes([1, 2, 3, 4, 5, 6, 7, 8], "ooooooab", requirement, tight=False)
    assert all(len(shown) > 1 for shown in by_release)
    assert equally_likely_inside_boxes(by_release)
    for possible in by_release.values():
        for person, value in product(range(8), "ab"):
            assert Fraction(sum(world[person] == value for world in possible), len(possible)) <= Fraction(1, 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 7]))
def test_boxes_around_an_open_value_keep_the_bounds_of_the_others(seed, floor):
    table = random_table(seed)
    most = max(table.sensitive.histogram(), key=table.sensitive.histogram().get)
    requirement = FPrivacy(offset="2/3", bounds={most: 1})
    bounds = requirement.bounds(table.sensitive.histogram())
    for tight in (False, True):
        found = boxes(table, requirement, tight=tight, floor=floor)
        require_bounds(histograms(found.group, table.sensitive.codes, len(bounds.values)), found.sizes, bounds)
        assert found.sizes.sum() == table.rows


def twin_cut(histogram, kind, least, keeps=lambda codes: True):
    """The rule of a column's cut in words: whoever is on the left, by codes, among sides that are large enough and kept."""
    values = range(len(histogram) - (kind == LOSSY))
    lost = len(histogram) - 1

    def first_best(sides):
        best, found = 0, None
        for codes in sides:
            people = sum(histogram[code] for code in codes)
            smaller = min(people, sum(histogram) - people)
            if smaller >= max(least, 1) and smaller > best and keeps(codes):
                best, found = smaller, codes
        return best, found

    ends = [list(range(code + 1)) for code in values]
    boundary = first_best([side for end in ends for side in ([end, [*end, lost]] if kind == LOSSY else [end])])
    level = first_best([[code] for code in values]) if kind == LEVELS else (0, None)
    return level[1] if level[0] and boundary[0] <= 2 * level[0] else boundary[1]


def left_codes(cut, histogram):
    last, also, people = cut
    codes = [code for code in range(len(histogram)) if code <= last or code == also]
    assert people in (0, sum(histogram[code] for code in codes))
    return codes if people else None


@settings(max_examples=120, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=7), st.sampled_from([ORDERED, LOSSY, LEVELS]), st.integers(1, 4))
def test_a_column_is_cut_at_a_level_or_at_the_most_even_boundary(histogram, kind, least):
    found = cut_of(np.array(histogram), kind, sum(histogram), least)
    assert left_codes(found, histogram) == twin_cut(histogram, kind, least)


def test_one_level_is_cut_from_all_others_unless_the_line_is_more_than_twice_as_even():
    # 30 of 100 lie in the middle of the line; its most even boundary leaves 50.
    assert cut_of(np.array([20, 30, 30, 20]), LEVELS, 100, 10) == (-1, 1, 30)
    assert cut_of(np.array([20, 30, 30, 20]), ORDERED, 100, 10) == (1, -1, 50)
    assert cut_of(np.array([25, 25, 25, 25]), LEVELS, 100, 10) == (-1, 0, 25)
    assert cut_of(np.array([24, 24, 24, 24, 4]), LEVELS, 100, 10) == (-1, 0, 24)
    assert cut_of(np.array([20, 20, 20, 20, 20]), LEVELS, 100, 10) == (-1, 0, 20)
    assert cut_of(np.array([19, 19, 12, 19, 19, 12]), LEVELS, 100, 10) == (2, -1, 50)
    assert cut_of(np.array([25, 25, 25, 25]), LEVELS, 100, 26) == (1, -1, 50)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([ORDERED, LOSSY, LEVELS]))
def test_the_tight_cut_is_that_of_all_whose_sides_keep_the_bounds(seed, kind):
    coins = np.random.default_rng(seed)
    pairs = coins.integers(0, 4, (5, 3))
    whole = pairs.sum(axis=0)
    size = int(whole.sum())
    limit = Fraction(3, 5)
    from sfumato.privacy.bounds import Bounds

    need, start = need_table(Bounds.of(("a", "b", "c"), tuple(map(int, whole)), (limit,) * 3))

    def keeps(codes):
        left = pairs[codes].sum(axis=0)
        here = int(left.sum())
        return all(l <= limit * here and w - l <= limit * (size - here) for l, w in zip(left, whole, strict=True))

    people = pairs.sum(axis=1)
    found = tight_cut(pairs, people, kind, size, 2, whole, need, start)
    assert left_codes(found, people.tolist()) == twin_cut(people.tolist(), kind, 2, keeps)


def test_small_kernels_do_what_they_say():
    assert widest(np.array([0.5, 1.0, 0.5, 2.0, 2.0])) == 3
    assert widest(np.array([0.5])) == 0
    for codes, kind, position, wide in (
        ([1, 3, 1], ORDERED, [0.0, 0.1, 0.5, 1.0], 0.9),
        ([1, 2, 1], LOSSY, [0.0, 0.1, 0.0], 1e-9),
        ([2, 2, 2], LOSSY, [0.0, 0.1, 0.0], 0),
    ):
        nobody = Secret(np.zeros((1, 3), np.int32), 1, np.zeros(1, np.int64), np.zeros(1, np.int64))
        rows = RowsAcross(np.arange(3), np.array(codes), len(position), kind, nobody)
        counts = CountsAcross(np.bincount(codes, minlength=len(position)), np.zeros((0, 1), np.int64), len(position), kind)
        assert [spread(filled, np.array(position)) for filled in (rows, counts)] == [pytest.approx(wide)] * 2
    need, start = np.array([0, 2, 4, 0, 3]), np.array([0, 3, 5])
    assert smallest_group(np.array([2, 1]), need, start) == 4
    rows = np.array([4, 0, 3, 1, 2], dtype=np.int32)
    assert split_rows(rows, np.array([0, 1, 2, 0, 9]), 0, 9) == 3
    assert rows.tolist() == [4, 0, 3, 1, 2]


def test_columns_with_more_codes_than_fit_in_sixteen_bits_are_cut_alike():
    rows = np.arange(40_000)
    values = (rows % 3).tolist()
    for column, kind in ((rows, np.int32), (rows // 2, np.int16)):
        table = make(values, number=column)
        assert Space.of(table.quasi).narrow.dtype == kind
        assert boxes(table, FPrivacy(theta=1, offset="0.1"), tight=True, floor=10_000).sizes.tolist() == [10_000] * 4


def test_the_widest_numbers_there_are_lie_on_a_line():
    table = people(["x"] * 3, age=[-1.7e308, 0.0, 1.7e308])
    assert np.array_equal(_on_a_line(table.quasi[0]), [0.0, 0.5, 1.0])
