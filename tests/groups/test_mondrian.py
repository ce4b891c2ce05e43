"""Mondrian's cuts against a pure-Python twin, and what every group satisfies."""

import math
from dataclasses import replace
from fractions import Fraction

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.errors import Infeasible, InputError
from sfumato.groups._mondrian_kernels import boundaries, entropy_suffices, powers_balance
from sfumato.groups.cuts import Space
from sfumato.groups.mondrian import Constraint, mondrian, require_room
from sfumato.privacy import FPrivacy
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import SeededRandomness
from sfumato.table import Schema, Table

OPEN = FPrivacy(offset=1)
CONSTRAINTS = [
    Constraint(),
    Constraint("distinct", l=3),
    Constraint("entropy", l=2),
    Constraint("recursive", l=2, c=Fraction(3, 2)),
    Constraint("t-closeness", t=Fraction(1, 3)),
    Constraint("t-closeness", t=Fraction(1, 5), distance="ordered"),
]


def make(values, **quasi):
    return Table.from_frame(pa.table({**quasi, "value": values}), Schema(quasi=list(quasi), sensitive=["value"]))


def random_table(seed, rows=60, values=4):
    coins = np.random.default_rng(seed)
    age = coins.integers(0, 12, rows)
    return make(
        [f"v{k}" for k in np.minimum(coins.integers(0, values, rows) + (age > 8), values - 1)],
        age=pa.array(age, mask=coins.random(rows) < 0.1),
        town=pa.array([f"t{k}" for k in coins.integers(0, 5, rows)], mask=coins.random(rows) < 0.05),
        score=coins.normal(size=rows).round(1),
    )


def run(table, requirement=OPEN, *, constraint=CONSTRAINTS[0], k=1, relaxed=False, seed=1):
    """Return the groups of people who were brought into an order of coins first, as a method does it."""
    bounds = requirement.bounds(table.sensitive.histogram())
    turned, rows = table.shuffled(SeededRandomness(seed))
    found = mondrian(turned.quasi, turned.sensitive.codes, bounds, constraint=constraint, k=k, relaxed=relaxed)
    return replace(found, group=found.group[np.argsort(rows)])


def sets(grouping):
    return frozenset(frozenset(np.flatnonzero(grouping.group == group).tolist()) for group in range(grouping.groups))


def feasible(table, constraint, requirement=OPEN):
    bounds = requirement.bounds(table.sensitive.histogram())
    try:
        require_room(constraint, bounds, 1)
    except Infeasible:
        return False
    return True


def entropy_at_least(counts, l):
    """Whether Π (count/size)^count ≤ l^(−size): the definition of entropy ℓ-diversity with the logarithms undone."""
    size = sum(counts)
    return math.prod(Fraction(count, size) ** count for count in counts if count) <= Fraction(1, l**size)


def satisfied(constraint, rows, codes, limits, totals):
    """Whether a group satisfies bounds and constraint, by their definitions in rationals."""
    counts = [sum(1 for row in rows if codes[row] == value) for value in range(len(totals))]
    size, people = len(rows), sum(totals)
    shares = [Fraction(count, size) for count in counts]
    table = [Fraction(total, people) for total in totals]
    if any(share > limit for share, limit in zip(shares, limits, strict=True)):
        return False
    if constraint.kind == "distinct":
        return sum(count > 0 for count in counts) >= constraint.l
    if constraint.kind == "entropy":
        return entropy_at_least(counts, constraint.l)
    if constraint.kind == "recursive":
        falling = sorted(counts, reverse=True)
        return falling[0] < constraint.c * sum(falling[constraint.l - 1 :])
    if constraint.kind == "t-closeness" and constraint.distance == "equal":
        return sum(abs(q - p) for q, p in zip(shares, table, strict=True)) / 2 <= constraint.t
    if constraint.kind == "t-closeness":
        runs = [abs(sum(shares[: i + 1]) - sum(table[: i + 1])) for i in range(len(table))]
        return sum(runs) / (len(table) - 1) <= constraint.t
    return True


def sides(space, j, rows, absent):
    """Every way to cut rows across column j: (smaller side, boundary, missing goes left, left, right)."""
    codes = space.codes[j]
    for boundary in sorted({int(codes[row]) for row in rows if codes[row] != absent}):
        for joins in (False, True):
            left = [row for row in rows if (codes[row] <= boundary and codes[row] != absent) or (joins and codes[row] == absent)]
            right = [row for row in rows if row not in set(left)]
            yield min(len(left), len(right)), boundary, joins, left, right


def strict_twin(space, rows, k, allowed):
    """The groups of strict Mondrian, from its definition."""
    order = []
    for j in range(len(space.codes)):
        absent = space.first[j + 1] - space.first[j] - 1 if space.missing[j] else -1
        place = [space.position[space.first[j] + space.codes[j, row]] for row in rows if space.codes[j, row] != absent]
        wide = max(place) - min(place) if place else 0.0
        if place and len(place) < len(rows):
            wide = max(wide, 1e-9)
        order.append((-wide, j, absent))
    for wide, j, absent in sorted(order):
        if wide == 0:
            break
        cuts = sorted(sides(space, j, rows, absent), key=lambda cut: (-cut[0], cut[1], cut[2]))
        for smaller, _, _, left, right in cuts:
            if smaller >= k and allowed(left) and allowed(right):
                return strict_twin(space, left, k, allowed) | strict_twin(space, right, k, allowed)
    return frozenset({frozenset(rows)})


@pytest.mark.usefixtures("one_thread")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(CONSTRAINTS), st.sampled_from([1, 2, 5]), st.booleans())
def test_strict_groups_are_those_of_the_definition(seed, constraint, k, bounded):
    table = random_table(seed)
    requirement = FPrivacy(offset="3/5" if bounded else 1)
    assume(feasible(table, constraint))
    totals = table.sensitive.counts.tolist()
    limits = requirement.bounds(table.sensitive.histogram()).limits
    codes = table.sensitive.codes

    def allowed(rows):
        return satisfied(constraint, rows, codes, limits, totals)

    expected = strict_twin(Space.of(table.quasi), list(range(table.rows)), k, allowed)
    assert sets(run(table, requirement, constraint=constraint, k=k)) == expected


@pytest.mark.usefixtures("one_thread")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(CONSTRAINTS), st.sampled_from([1, 2, 5]))
def test_every_relaxed_group_satisfies_its_constraint_and_nobody_is_lost(seed, constraint, k):
    table = random_table(seed)
    requirement = FPrivacy(offset="3/5")
    assume(feasible(table, constraint))
    found = run(table, requirement, constraint=constraint, k=k, relaxed=True, seed=seed)
    totals = table.sensitive.counts.tolist()
    limits = requirement.bounds(table.sensitive.histogram()).limits
    assert sorted(row for rows in sets(found) for row in rows) == list(range(table.rows))
    assert found.sizes.min() >= k
    assert all(satisfied(constraint, rows, table.sensitive.codes, limits, totals) for rows in sets(found))


@pytest.mark.usefixtures("one_thread")
@settings(max_examples=30, deadline=None)
@given(st.integers(2, 120), st.integers(1, 9), st.integers(0, 1000))
def test_relaxed_groups_of_different_people_hold_k_to_2k_minus_1(rows, k, seed):
    assume(k <= rows)
    coins = np.random.default_rng(seed)
    table = make(["a", "b"] * (rows // 2) + ["a"] * (rows % 2), x=coins.permutation(rows), y=coins.integers(0, 3, rows))
    sizes = run(table, k=k, relaxed=True, seed=seed).sizes
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1


def test_relaxed_halves_differ_by_at_most_one_although_most_people_are_alike():
    table = make(["a", "b", "c"] * 7, x=[1, *[5] * 19, 9])
    assert sorted(run(table, k=10, relaxed=True).sizes.tolist()) == [10, 11]
    assert run(table, k=10).groups == 1


def test_who_goes_left_at_the_median_is_drawn_and_does_not_follow_the_order_of_the_input():
    table = make(["a"] * 10, x=[1, *[5] * 8, 9])
    lefts = []
    for seed in range(300):
        found = run(table, k=5, relaxed=True, seed=seed)
        lefts += [row for row in range(1, 9) if found.group[row] == found.group[0]]
    times = np.bincount(lefts, minlength=9)[1:9]
    # Each of the eight goes left in half of the runs; below 100 or above 200 of 300 has a chance of 1e-8 each.
    assert times.sum() == 4 * 300
    assert times.min() > 100
    assert times.max() < 200


def test_a_seed_gives_the_same_relaxed_groups_for_any_order_of_the_input():
    table = random_table(4, rows=200)
    turned = table.take(np.arange(table.rows)[::-1])
    key = table.quasi_ids().astype(np.int64) * 10 + table.sensitive.codes

    def described(grouping, keys):
        return sorted(sorted(keys[list(rows)].tolist()) for rows in sets(grouping))

    one = described(run(table, FPrivacy(offset="3/5"), k=3, relaxed=True), key)
    two = described(run(turned, FPrivacy(offset="3/5"), k=3, relaxed=True), key[::-1])
    assert len(one) > 10
    assert one == two


def test_groups_are_the_same_for_any_number_of_threads():
    table = random_table(5, rows=400)
    threads = numba.get_num_threads()
    for relaxed in (False, True):
        whole = sets(run(table, k=3, relaxed=relaxed))
        numba.set_num_threads(1)
        try:
            assert sets(run(table, k=3, relaxed=relaxed)) == whole
        finally:
            numba.set_num_threads(threads)


def test_strict_groups_keep_people_with_equal_values_together():
    table = random_table(6, rows=300)
    found = run(table, k=4)
    keys = table.quasi_ids()
    assert all(len(set(found.group[keys == key])) == 1 for key in np.unique(keys))


def test_a_refused_median_leads_to_the_nearest_allowable_cut_and_not_to_the_next_column():
    # The even cut 3|3 leaves only a's on the left; 4|2 is the nearest that has two values on both sides.
    table = make(list("aaabab"), x=[1, 2, 3, 4, 5, 6], y=[1, 2, 1, 2, 1, 2])
    found = run(table, constraint=Constraint("distinct", l=2))
    assert sets(found) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}
    assert sets(run(table, constraint=Constraint("distinct", l=2), relaxed=True)) == sets(found)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 6))
def test_entropy_is_decided_as_by_the_definition_in_integers(counts, l):
    assume(sum(counts) > 0)
    assert entropy_suffices(np.array(counts), sum(counts), l) == entropy_at_least(counts, l)


@pytest.mark.parametrize(
    ("counts", "l", "equal"),
    [
        ([7, 7, 7], 3, True),  # three equal values
        ([4, 1, 1, 1, 1], 4, True),  # ½ + 4·⅛: two bits
        ([4_000_000, 10**6, 10**6, 10**6, 10**6], 4, True),
        ([4_000_001, 10**6, 10**6, 10**6, 10**6], 4, False),
        ([100_003, 100_003], 2, True),
        ([100_003, 100_002], 2, False),  # nearer to ln 2 than logarithms are trusted
    ],
)
def test_entropy_exactly_at_its_bound_is_allowed_and_a_hair_below_is_not(counts, l, equal):
    assert powers_balance(np.array(counts), sum(counts), l) is equal
    assert entropy_suffices(np.array(counts), sum(counts), l) is equal


def test_boundaries_come_the_most_even_first_and_the_lower_value_first():
    assert boundaries(np.array([2, 5, 7]), 0, 7, 1).tolist() == [0, 2]
    # Missing: 2 people. Left sides 3, 3+2, 6, 6+2 of 8.
    assert boundaries(np.array([3, 6]), 2, 8, 1).tolist() == [0, 1, 2]
    assert boundaries(np.array([2, 5, 7]), 0, 7, 3).tolist() == []


def test_people_all_alike_are_one_group_and_a_table_of_one_column_is_cut():
    assert run(make(["a", "b"] * 5, sex=["f"] * 10), k=2).groups == 1
    assert run(make(["a", "b"] * 5, sex=["f"] * 10), k=2, relaxed=True).groups == 1
    assert run(make(["a", "b"] * 5, sex=["f", "m"] * 5), k=2).groups == 2
    assert run(make(["a", "b"] * 5, age=[None] * 5 + [1] * 5), k=2).groups == 2


@pytest.mark.parametrize(
    ("constraint", "k", "told", "nearest"),
    [
        (Constraint(), 9, "the table has 8", {"k": 8}),
        (Constraint("distinct", l=5), 1, "only 4 sensitive values", {"l": 4}),
        (Constraint("entropy", l=4), 1, r"reaches only 3\.364", {"l": 3}),
        (Constraint("recursive", l=3, c=Fraction(2)), 1, "fewer than c times 2", {"c": Fraction("2.0001")}),
    ],
)
def test_what_the_whole_table_breaks_is_refused_with_what_would_work(constraint, k, told, nearest):
    bounds = Bounds.of(("a", "b", "c", "d"), (4, 2, 1, 1), (Fraction(1),) * 4)
    with pytest.raises(Infeasible, match=told) as caught:
        require_room(constraint, bounds, k)
    assert caught.value.nearest == nearest
    assert caught.value.hint


def test_distances_beyond_64_bits_are_refused():
    bounds = Bounds.of(("a", "b"), (1 << 30, 1 << 30), (Fraction(1),) * 2)
    with pytest.raises(InputError, match="64 bits"):
        Constraint("t-closeness", t=Fraction(1, 2)).most(bounds)
