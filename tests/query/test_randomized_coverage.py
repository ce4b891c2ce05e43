"""95 % intervals of randomized releases hold the truth in 95 % or a little more of fresh tables, releases and queries.

As in test_coverage.py tables are the unit of sampling: the promise is 93–97 %, and a test fails when the coverage is outside by
more than three standard errors between tables (false alarm below 0.3 %). The larger study is benchmarks/small_domain.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import sfumato
from sfumato.privacy import RhoPrivacy
from sfumato.query import anatomy_workload, count_many, range_workload, true_answers
from sfumato.table.generators import census
from tests.query.test_coverage import CLASSES, QUASI, coverage
from tests.release._randomized import balanced_parts, release_of

ESTIMATORS = ("paper", "likelihood")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, np.ndarray]:
    """Per estimator one row per query and release: truth, inside the interval, estimate, and the table."""
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in ESTIMATORS}
    schema = sfumato.Schema(quasi=QUASI, sensitive=("occupation",), types={"occupation": "categorical"})
    for seed in range(14):
        table = sfumato.Table.from_frame(census(15_000, 300 + seed).select([*QUASI, "occupation"]), schema)
        release = release_of(table, balanced_parts(table, 1), requirement=RhoPrivacy("1/13", "1/3"), seed=seed)
        for workload in (anatomy_workload(table, queries=90, seed=seed), range_workload(table, queries=90, seed=seed)):
            truth = true_answers(table, workload)
            for name in ESTIMATORS:
                for answer, actual in zip(count_many(release, workload, estimator=name), truth.tolist(), strict=True):
                    if actual:
                        rows[name].append((actual, answer.low <= actual <= answer.high, answer.value, seed))
    return {name: np.array(found) for name, found in rows.items()}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("size", CLASSES)
def test_intervals_cover_what_they_say(outcomes: dict[str, np.ndarray], estimator: str, size: str) -> None:
    found = outcomes[estimator]
    assert len(found) > 2000
    low, high = CLASSES[size]
    chosen = found[(found[:, 0] >= low) & (found[:, 0] < high)]
    assert len(chosen) > 300
    mean, error = coverage(chosen[:, 1], chosen[:, 3])
    assert error < 0.02
    assert 0.93 - 3 * error <= mean <= 0.97 + 3 * error


def test_the_default_errs_less_than_reconstruction(outcomes: dict[str, np.ndarray]) -> None:
    actual = outcomes["paper"][:, 0]
    papers, mine = (np.abs(outcomes[name][:, 2] - actual) / actual for name in ESTIMATORS)
    assert mine.mean() < 0.7 * papers.mean()
    assert np.median(mine) < 0.8 * np.median(papers)
