"""Chaytor and Wang, Small domain randomization (VLDB 2010): the worked examples, as corrected."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from sfumato import RhoPrivacy
from sfumato.randomize.balance import balance
from sfumato.randomize.partition import DELTA, banded_orders, merger, one_part, partitioned, uniform_retentions
from sfumato.randomize.problem import SortedValues
from sfumato.randomize.uniform import confidence_factor, largest_gamma, retention
from sfumato.table.generators import census

# Example 1 prints {12, 8, 6, 5, 4, 3, 0, 0, 0, 0}; |T| = 42 and the rest of the text need four values that occur once.
COUNTS = {f"x{k:02}": count for k, count in enumerate((12, 8, 6, 5, 4, 3, 1, 1, 1, 1), 1)}
PROBLEM = SortedValues.of(RhoPrivacy("1/3", "2/3").bounds(COUNTS))


def counts_of(census_column, rows=100_000, seed=0):
    return {str(value): count for value, count in Counter(census(rows, seed)[census_column].to_pylist()).items()}


@pytest.mark.parametrize(
    ("m", "p", "q"),
    [(77, 5, 1), (70, 5, 1), (50, 7, 2), (14, 22, 6), (9, 31, 8), (7, 36, 9), (6, 40, 10), (2, 67, 17)],
)
def test_table_1_retention_and_replacement_for_gamma_5(m, p, q):
    kept = retention(Fraction(5), m)
    assert round(100 * kept) == p
    assert round(100 * (1 - kept) / m) == q


def test_section_1_icd_codes_are_hardly_ever_retained():
    kept = retention(Fraction(5), 15_000)
    assert float((1 - kept) / 15_000) == pytest.approx(6.7e-5, rel=0.01)
    assert float(kept + (1 - kept) / 15_000) == pytest.approx(3.3e-4, rel=0.02)


def test_example_1_gammas_and_the_two_matrices():
    plan = partitioned(PROBLEM, uniform_retentions(), people=42)
    large, small = sorted(plan.parts, key=lambda part: -sum(part.counts))
    assert (large.values, large.counts) == ((0, 1, 2, 3, 4, 5), (12, 8, 6, 4, 4, 2))
    assert (small.values, small.counts) == ((3, 5, 6, 7, 8, 9), (1, 1, 1, 1, 1, 1))
    assert (large.gamma, small.gamma) == (4, 10)
    for part, same, other in ((large, Fraction(4, 9), Fraction(1, 9)), (small, Fraction(2, 3), Fraction(1, 15))):
        for x in range(6):
            assert [part.transition(x, y) for y in range(6)] == [same if x == y else other for y in range(6)]


def test_example_1_without_parts_uses_the_share_that_is_there():
    # The paper's 4/13 takes the typed ρ1 = 1/3; the largest share is 12/42, so γ = 5 and p + q = 5/14.
    (part,) = one_part(PROBLEM, uniform_retentions(), people=42).parts
    assert part.gamma == 5
    assert part.transition(0, 0) == Fraction(5, 14)


def test_example_2_the_five_initial_groups():
    groups = balance(PROBLEM)
    found = [dict(zip(*(column.tolist() for column in groups.entries(g)), strict=True)) for g in range(len(groups))]
    assert found == [
        {0: 6, 1: 6, 2: 6},
        {0: 4, 3: 4, 4: 4},
        {0: 2, 1: 2, 5: 2},
        {3: 1, 5: 1, 6: 1},
        {7: 1, 8: 1, 9: 1},
    ]


def test_example_3_the_papers_order_is_among_the_banded_ones():
    orders = [[1 + int(g) for g in order] for order in banded_orders(balance(PROBLEM), 10)]
    assert [1, 3, 2, 4, 5] in [*orders, *(order[::-1] for order in orders)]


def test_example_4_the_final_partition_and_its_bound():
    plan = partitioned(PROBLEM, uniform_retentions(), people=42)
    a = confidence_factor(DELTA)
    assert plan.paper_bound / a == pytest.approx(0.52577, abs=5e-6)
    assert plan.error_bound / a == pytest.approx(0.52577, abs=5e-6)


def test_example_4_needs_no_improved_order():
    printed = partitioned(PROBLEM, uniform_retentions(), people=42, improve=False)
    assert printed.parts == partitioned(PROBLEM, uniform_retentions(), people=42).parts


def test_g5_shares_no_value_so_a_careless_order_of_components_costs_more():
    merge = merger(PROBLEM, balance(PROBLEM), None)
    assert merge(np.array([4, 0, 2, 1, 3])).cost / 42**0.5 == pytest.approx(0.52855, abs=5e-6)
    assert merge(np.array([0, 2, 1, 3, 4])).cost / 42**0.5 == pytest.approx(0.52577, abs=5e-6)


def test_example_4_is_the_best_of_all_set_partitions():
    groups = balance(PROBLEM)
    rows = [dict(zip(*(column.tolist() for column in groups.entries(g)), strict=True)) for g in range(5)]
    best = min(bound(rows, partition) for partition in set_partitions(list(range(5))))
    assert best == pytest.approx(0.5257734, abs=1e-6)


def bound(rows, partition):
    """Return the error bound of a set partition of the initial groups, in units of a, from equation 12."""
    total = 0.0
    for block in partition:
        merged = Counter()
        for g in block:
            merged.update(rows[g])
        size = sum(merged.values())
        rho1 = Fraction(max(merged.values()), size)
        if rho1 >= Fraction(2, 3):
            return float("inf")
        gamma = Fraction(2, 3) / rho1 * (1 - rho1) * 3
        total += size / 42 / size**0.5 * float(len(merged) / (gamma - 1) + 1)
    return total


def set_partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        yield [[first], *partition]
        for k, block in enumerate(partition):
            yield [*partition[:k], [first, *block], *partition[k + 1 :]]


@pytest.mark.parametrize(
    ("ell", "uniform", "partition"), [(6, 0.029, 0.088), (5, 0.040, 0.12), (4, 0.059, 0.17), (3, 0.094, 0.25)]
)
def test_table_2_retention_on_the_bundled_census(ell, uniform, partition):
    problem = SortedValues.of(RhoPrivacy("1/13", Fraction(1, ell)).bounds(counts_of("occupation")))
    whole = one_part(problem, uniform_retentions(), people=100_000)
    parts = partitioned(problem, uniform_retentions(), people=100_000)
    assert float(whole.retention) == pytest.approx(uniform, abs=0.003)
    assert parts.retention >= partition
    assert parts.error_bound <= parts.paper_bound <= parts.whole_bound
    assert parts.groups == 17  # Table 3, 100K
    printed = partitioned(problem, uniform_retentions(), people=100_000, improve=False)
    assert printed.error_bound == pytest.approx(printed.paper_bound) == parts.paper_bound
    assert printed.error_bound > parts.error_bound
    assert printed.retention >= partition


@pytest.mark.parametrize("ell", [10, 8, 6, 4])
def test_section_6_3_only_the_rare_educations_are_protected_and_one_part_is_best(ell):
    counts = counts_of("education")
    bounds = RhoPrivacy("1/30", Fraction(1, ell)).bounds(counts)
    problem = SortedValues.of(bounds)
    assert int(problem.protected.sum()) == 9
    plan = partitioned(problem, uniform_retentions(), people=100_000)
    assert len(plan.parts) == 1
    assert plan.groups > 1
    largest = max(share for share, limit in zip(bounds.shares, bounds.limits, strict=True) if limit < 1)
    rho2 = Fraction(1, ell)
    assert plan.parts[0].gamma == rho2 / largest * (1 - largest) / (1 - rho2) == largest_gamma(bounds.counts, bounds.limits)
