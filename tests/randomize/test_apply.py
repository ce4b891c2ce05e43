from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato import FPrivacy, RhoPrivacy
from sfumato.randomize.apply import randomize
from sfumato.randomize.declared import as_declared
from sfumato.randomize.partition import one_part, partitioned, per_value_retentions, uniform_retentions
from sfumato.randomize.problem import SortedValues
from sfumato.randomness import SeededRandomness

COUNTS = [9000, 7000, 6000, 5000, 4000, 3000, 2500, 2000, 1500, 1000, 600, 400]
BOUNDS = RhoPrivacy("1/4", "1/2").bounds({f"v{k:02}": count for k, count in enumerate(COUNTS)})
CODES = np.random.default_rng(1).permutation(np.repeat(np.arange(len(COUNTS)), COUNTS))
UNEVEN = FPrivacy(theta=4, offset="0.1").bounds({f"v{k:02}": count for k, count in enumerate(COUNTS)})

PLANS = {
    "one part": one_part(SortedValues.of(BOUNDS), uniform_retentions(), people=42_000),
    "parts": partitioned(SortedValues.of(BOUNDS), uniform_retentions(), people=42_000),
    "declared parts": as_declared(partitioned(SortedValues.of(BOUNDS), uniform_retentions(), people=42_000)),
    "per value": one_part(SortedValues.of(UNEVEN), per_value_retentions(), people=42_000),
}


def statistic(plan, made):
    """Return Pearson's statistic of all transitions under the plan's matrices, and its degrees of freedom."""
    total, freedom = 0.0, 0
    for number, part in enumerate(plan.parts):
        for x, code in enumerate(part.values):
            mine = made.value[(made.part == number) & (code == CODES)]
            seen = np.bincount(mine, minlength=len(COUNTS))[list(part.values)]
            expected = np.array([float(part.transition(x, y)) for y in range(len(part.values))]) * len(mine)
            if expected.min() >= 5:
                total += float(((seen - expected) ** 2 / expected).sum())
                freedom += len(part.values) - 1
    return total, freedom


def score_of_unchanged(plan, made, factor):
    """Return how many standard errors more records are unchanged than retentions times `factor` would leave."""
    mean = variance = 0.0
    for number, part in enumerate(plan.parts):
        for code, kept in zip(part.values, part.retention, strict=True):
            records = int(((made.part == number) & (code == CODES)).sum())
            p = float(kept) * factor
            same = p + (1 - p) / len(part.values)
            mean += records * same
            variance += records * same * (1 - same)
    return (int((made.value == CODES).sum()) - mean) / variance**0.5


@pytest.mark.parametrize("name", PLANS)
def test_transitions_follow_the_matrix_and_no_other_retention(name):
    # A fresh seed would fail with probability 3·10⁻⁴; a retention 10 % off on either side is refused by five standard errors.
    plan = PLANS[name]
    made = randomize(CODES, plan, len(COUNTS), SeededRandomness(11))
    found, freedom = statistic(plan, made)
    assert freedom > 50
    assert 1e-4 < chi2.sf(found, freedom) < 1 - 1e-4
    assert abs(score_of_unchanged(plan, made, 1.0)) < 3.9
    assert score_of_unchanged(plan, made, 0.9) > 5
    assert score_of_unchanged(plan, made, 1.1) < -5


def test_parts_have_exactly_the_planned_records_of_each_value():
    plan = PLANS["parts"]
    assert len(plan.parts) > 1
    made = randomize(CODES, plan, len(COUNTS), SeededRandomness(2))
    for number, part in enumerate(plan.parts):
        true = np.bincount(CODES[made.part == number], minlength=len(COUNTS))
        assert {code: int(true[code]) for code in part.values} == dict(zip(part.values, part.counts, strict=True))
        assert true.sum() == sum(part.counts)
        assert set(made.value[made.part == number].tolist()) <= set(part.values)


def test_which_records_of_a_value_go_where_is_random():
    plan = PLANS["parts"]
    value = next(code for code in range(len(COUNTS)) if sum(code in part.values for part in plan.parts) > 1)
    record = int(np.flatnonzero(value == CODES)[0])
    homes = {int(randomize(CODES, plan, len(COUNTS), SeededRandomness(seed)).part[record]) for seed in range(30)}
    assert len(homes) > 1


def test_declared_parts_are_drawn_with_the_chances_of_the_value():
    plan = PLANS["declared parts"]
    assert all(part.counts == () for part in plan.parts)
    made = randomize(CODES, plan, len(COUNTS), SeededRandomness(7))
    total, freedom = 0.0, 0
    for code, count in enumerate(COUNTS):
        chance = {
            number: float(part.weight * part.shares[part.values.index(code)] / Fraction(count, sum(COUNTS)))
            for number, part in enumerate(plan.parts)
            if code in part.values
        }
        assert sum(chance.values()) == pytest.approx(1)
        seen = np.bincount(made.part[code == CODES], minlength=len(plan.parts))
        assert seen.sum() == sum(seen[number] for number in chance)
        if len(chance) > 1:
            total += sum((seen[number] - count * p) ** 2 / (count * p) for number, p in chance.items())
            freedom += len(chance) - 1
    assert freedom > 0
    assert chi2.sf(total, freedom) > 1e-4
    exact = [sum(part.counts) for part in PLANS["parts"].parts]
    assert np.bincount(made.part).tolist() != exact  # a coin per record, not a quota
