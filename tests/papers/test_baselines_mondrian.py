"""Worked examples on Mondrian and its constraints: LeFevre et al. (ICDE 2006), Machanavajjhala et al. (ℓ-diversity), Li et al.
(t-closeness, ICDE 2007), each worked by hand.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import Infeasible
from sfumato.groups._mondrian_kernels import Classical, entropy_suffices, satisfies
from sfumato.groups.grouping import need_table
from sfumato.groups.mondrian import Constraint, mondrian
from sfumato.privacy import FPrivacy
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import SeededRandomness
from tests.makers import people

AGE = [20, 20, 25, 30, 30, 35, 40, 60]
ZIP = [1, 3, 2, 4, 9, 8, 7, 10]
VALUE = ["f", "h", "f", "h", "f", "c", "h", "c"]
OPEN = FPrivacy(offset=1)


def groups(table, *, k, relaxed=False, constraint=None, seed=1):
    bounds = OPEN.bounds(table.sensitive.histogram())
    turned, rows = table.shuffled(SeededRandomness(seed))
    found = mondrian(turned.quasi, turned.sensitive.codes, bounds, constraint=constraint or Constraint(), k=k, relaxed=relaxed)
    return frozenset(frozenset(rows[found.group == group].tolist()) for group in range(found.groups))


def fits(constraint: Constraint, counts: list[int], table: list[int]) -> bool:
    """Whether a group with these counts satisfies the constraint in a table with those."""
    bounds = Bounds.of(tuple(f"v{k:02d}" for k in range(len(table))), tuple(table), (Fraction(1),) * len(table))
    need, start = need_table(bounds)
    most, whole = constraint.most(bounds), np.array(table)
    classical = Classical(1, True, need, start, constraint.rule, constraint.l, most, whole)
    return bool(satisfies(np.array(counts), sum(counts), classical))


def test_strict_groups_of_the_eight_people():
    found = groups(people(VALUE, age=AGE, zip=ZIP), k=2)
    assert found == {frozenset({0, 1, 2}), frozenset({3, 4}), frozenset({5, 6, 7})}


def test_relaxed_groups_of_the_eight_people_depend_only_on_who_of_the_two_thirty_year_olds_goes_left():
    table = people(VALUE, age=AGE, zip=ZIP)
    seen = {groups(table, k=2, relaxed=True, seed=seed) for seed in range(30)}
    third_left = {frozenset({0, 2}), frozenset({1, 3}), frozenset({4, 5}), frozenset({6, 7})}
    fourth_left = {frozenset({0, 2}), frozenset({1, 4}), frozenset({3, 5}), frozenset({6, 7})}
    assert seen == {frozenset(third_left), frozenset(fourth_left)}  # 30 coins all alike: chance 2^-29


def test_a_median_that_leaves_one_side_empty_does_not_stop_the_allowable_cut_beside_it():
    found = groups(people(list("abababa"), x=[1, 1, 5, 5, 5, 5, 5]), k=2)
    assert found == {frozenset({0, 1}), frozenset({2, 3, 4, 5, 6})}


def test_the_entropy_of_4_2_1_1_is_that_of_3_364_equal_values():
    counts = np.array([4, 2, 1, 1])
    shares = counts / 8
    assert math.exp(-(shares * np.log(shares)).sum()) == pytest.approx(3.364, abs=5e-4)
    assert entropy_suffices(counts, 8, 3)
    assert not entropy_suffices(counts, 8, 4)


def test_recursive_diversity_of_4_2_1_1_with_l_3_needs_c_above_2():
    table = [4, 2, 1, 1]
    assert not fits(Constraint("recursive", l=3, c=Fraction(2)), table, table)
    assert fits(Constraint("recursive", l=3, c=Fraction("2.000000000000000000001")), table, table)
    with pytest.raises(Infeasible, match=r"c = 2\.0001 or more"):
        groups(people(list("aaaabbcd")), k=1, constraint=Constraint("recursive", l=3, c=Fraction(2)))


@pytest.mark.parametrize(
    ("salaries", "distance", "emd"),
    [
        ((3, 4, 5), "ordered", Fraction(3, 8)),  # 0.375
        ((6, 8, 11), "ordered", Fraction(1, 6)),  # 0.167
        ((3, 4, 5), "equal", Fraction(2, 3)),
        ((6, 8, 11), "equal", Fraction(2, 3)),
    ],
)
def test_the_distances_of_the_salary_example_are_exact(salaries, distance, emd):
    group = [int(salary in salaries) for salary in range(3, 12)]
    for t, kept in ((emd, True), (emd - Fraction(1, 10**9), False)):
        assert fits(Constraint("t-closeness", t=t, distance=distance), group, [1] * 9) is kept
