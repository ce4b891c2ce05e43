import numpy as np
import pytest

from sfumato import FPrivacy, RhoPrivacy
from sfumato.randomize.apply import randomize
from sfumato.randomize.forecast import expected_relative_error, retention_per_part
from sfumato.randomize.partition import one_part, partitioned, per_value_retentions, uniform_retentions
from sfumato.randomize.problem import SortedValues
from sfumato.randomness import SeededRandomness

COUNTS = [900, 700, 500, 400, 300, 200, 150, 100]
NAMES = {f"v{k}": count for k, count in enumerate(COUNTS)}
CODES = np.repeat(np.arange(len(COUNTS)), COUNTS)
RHO = SortedValues.of(RhoPrivacy("0.3", "0.6").bounds(NAMES))
OWN = SortedValues.of(FPrivacy(theta=2, offset="0.1").bounds(NAMES))

PLANS = {
    "uniform": one_part(RHO, uniform_retentions(), people=3250),
    "parts": partitioned(RHO, uniform_retentions(), people=3250),
    "per value": one_part(OWN, per_value_retentions(), people=3250),
}


def estimates(plan, seed):
    """Return the reconstructed count of every value, by the inverse of each part's matrix."""
    made = randomize(CODES, plan, len(COUNTS), SeededRandomness(seed))
    total = np.zeros(len(COUNTS))
    for number, part in enumerate(plan.parts):
        values = list(part.values)
        size = len(values)
        matrix = np.array([[float(part.transition(x, y)) for x in range(size)] for y in range(size)])
        total[values] += np.linalg.solve(matrix, np.bincount(made.value[made.part == number], minlength=len(COUNTS))[values])
    return total


@pytest.mark.parametrize("name", PLANS)
def test_the_expected_error_is_what_reconstruction_shows(name):
    # Every value is asked for among all people, so the size of its answer is its count.
    plan = PLANS[name]
    found = np.array([estimates(plan, seed) for seed in range(300)])
    truth = np.array(COUNTS)
    assert np.abs(found.mean(axis=0) - truth).max() < 4.5 * (found.std(axis=0) / np.sqrt(300)).max()
    measured = np.abs(found - truth).mean(axis=0) / truth
    shares = truth / truth.sum()
    # The error of a value falls as 1/√size: bring all answers to the same size.
    same = measured * np.sqrt(truth / 100)
    assert expected_relative_error(plan, 100) == pytest.approx(float(shares @ same), rel=0.06)


def test_the_expected_error_falls_with_the_root_of_the_size():
    plan = PLANS["parts"]
    assert expected_relative_error(plan, 400) == pytest.approx(expected_relative_error(plan, 100) / 2)
    with pytest.raises(ValueError, match="size above 0"):
        expected_relative_error(plan, 0)


def test_retention_is_told_part_by_part():
    plan = PLANS["parts"]
    told = retention_per_part(plan)
    assert sum(part["weight"] for part in told) == pytest.approx(1)
    assert [part["values"] for part in told] == [len(part.values) for part in plan.parts]
    assert sum(part["weight"] * part["mean"] for part in told) == pytest.approx(float(plan.retention))
    own = retention_per_part(PLANS["per value"])[0]
    assert own["least"] < own["mean"] < own["largest"]
