"""95 % intervals hold the truth in about 95 % of fresh tables, releases and queries, whatever the size of the answer.

Queries on one table share its luck, so tables are the unit of sampling: the promise is 93–97 %, and a test fails when the
coverage is outside by more than three standard errors between tables (false alarm below 0.3 %). The larger study is
benchmarks/query_error.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.query import And, In, Query, anatomy_workload, count_many, range_workload, true_answers
from sfumato.table.generators import census, hospital
from tests.query._releases import blind_buckets, people, release_of

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
CLASSES = {"1–99": (1, 100), "100–999": (100, 1000), "≥ 1000": (1000, 10**9)}


@pytest.fixture(scope="module")
def outcomes() -> np.ndarray:
    """One row per query and release: truth, inside the interval, both estimates, the papers' standard error, and the table."""
    rows = []
    for seed in range(16):
        table = people(census(10_000, seed).select([*QUASI, "occupation"]), ["occupation"])
        random = np.random.default_rng(500 + seed)
        releases = [release_of(table, blind_buckets(table.sensitive.codes, sizes, random)) for sizes in ([5], [4, 16])]
        for workload in (anatomy_workload(table, queries=50, seed=seed), range_workload(table, queries=50, seed=seed)):
            truth = true_answers(table, workload)
            for release in releases:
                papers = count_many(release, workload, estimator="paper")
                for answer, paper, actual in zip(count_many(release, workload), papers, truth, strict=True):
                    inside = answer.low <= actual <= answer.high
                    rows.append((actual, inside, answer.value, paper.value, paper.std_error, seed))
    found = np.array(rows)
    return found[found[:, 0] > 0]


def coverage(inside: np.ndarray, table: np.ndarray) -> tuple[float, float]:
    """Return the share inside, and its standard error when tables are drawn anew (a ratio of sums over tables)."""
    _, which = np.unique(table, return_inverse=True)
    hits, queries = np.bincount(which, weights=inside), np.bincount(which)
    mean = hits.sum() / queries.sum()
    spread = ((hits - mean * queries) ** 2).sum() * len(hits) / (len(hits) - 1)
    return float(mean), float(np.sqrt(spread) / queries.sum())


def test_there_are_more_than_2000_outcomes(outcomes: np.ndarray) -> None:
    assert len(outcomes) > 2000


@pytest.mark.parametrize("size", CLASSES)
def test_intervals_cover_what_they_say(outcomes: np.ndarray, size: str) -> None:
    low, high = CLASSES[size]
    chosen = outcomes[(outcomes[:, 0] >= low) & (outcomes[:, 0] < high)]
    assert len(chosen) > 300
    mean, error = coverage(chosen[:, 1], chosen[:, 5])
    assert error < 0.02
    assert 0.93 - 3 * error <= mean <= 0.97 + 3 * error


def test_an_interval_from_the_papers_standard_error_would_be_wrong(outcomes: np.ndarray) -> None:
    large = outcomes[outcomes[:, 0] >= 1000]
    mean, error = coverage(np.abs(large[:, 3] - large[:, 0]) <= 1.96 * large[:, 4], large[:, 5])
    assert mean + 3 * error < 0.5


def test_the_default_errs_less_than_the_papers_estimator(outcomes: np.ndarray) -> None:
    actual = outcomes[:, 0]
    mine, papers = (np.abs(outcomes[:, column] - actual) / actual for column in (2, 3))
    assert np.mean(mine) < 0.8 * np.mean(papers)
    assert np.median(mine) < 0.8 * np.median(papers)


def test_intervals_of_blind_buckets_hold_for_the_strongest_link_of_each_value() -> None:
    """Each diagnosis is asked about with the value of a column that it is really most linked with: such questions are asked."""
    held = []
    for seed in (1, 2, 3):
        table = people(hospital(20_000, seed).drop_columns(["patient"]), ["diagnosis"])
        release = release_of(table, blind_buckets(table.sensitive.codes, [4, 16], np.random.default_rng(700 + seed)))
        labels = table.sensitive.domain.table["diagnosis"].to_pylist()
        times = np.bincount(table.sensitive.codes, minlength=len(labels))
        for value in np.flatnonzero(times >= 100):
            cells = []
            for column in table.quasi:
                among = np.bincount(column.codes[table.sensitive.codes == value], minlength=column.size)
                alone = np.bincount(column.codes, minlength=column.size) * (times[value] / times.sum())
                code = int(np.where(alone >= 10, (among - alone) / np.sqrt(np.maximum(alone, 1)), -np.inf).argmax())
                cells.append(((among[code] - alone[code]) / np.sqrt(max(alone[code], 1)), column, code, among[code]))
            _, column, code, truth = max(cells, key=lambda cell: cell[0])
            named = In(column.name, (column.dictionary()[code].as_py(),))
            answer = release.count(Query(And((named, In("diagnosis", (labels[value],)))), terms="published"))
            held.append(answer.low <= truth <= answer.high)
    assert len(held) > 100
    assert np.mean(held) > 0.88
