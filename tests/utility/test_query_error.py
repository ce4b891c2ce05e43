"""The error of a workload, computed by hand on a table small enough for it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.query import sql_workload
from sfumato.utility import independence, marginals, query_error
from tests.query._releases import people, release_of

TABLE = people(pa.table({"sex": ["f", "f", "m", "m"], "ill": ["Flu", "HIV", "HIV", "HIV"]}), ["ill"])
WORKLOAD = sql_workload("sex = 'f' AND ill = 'Flu'\nsex = 'm' AND ill = 'HIV'\nsex = 'm' AND ill = 'Flu'\nsex = 'f'")


def test_relative_errors_are_those_of_a_hand_computation() -> None:
    # One bucket of four: estimates ½, 3/2 and 2 for true answers 1, 2 and 2; the third query has the answer 0.
    found = query_error(release_of(TABLE, np.zeros(4, int)), TABLE, WORKLOAD, estimator="paper")
    assert found.dropped == 1
    assert found.queries == 3
    assert found.mean == pytest.approx((0.5 + 0.25 + 0) / 3)
    assert found.median == pytest.approx(0.25)
    assert found.coverage is None
    assert (found.intervals, found.held) == (pytest.approx(1 / 3), 1)  # how many are women is exact
    # One bucket tells no more than independence does.
    assert found.independence_mean == pytest.approx(found.mean)
    assert found.independence_median == pytest.approx(found.median)


def test_a_release_that_separates_people_has_no_error_and_covers_everything() -> None:
    found = query_error(release_of(TABLE, np.arange(4)), TABLE, WORKLOAD)
    assert (found.mean, found.median, found.coverage, found.intervals, found.held) == (0, 0, 1, 1, 1)
    assert found.estimator == "likelihood"
    assert [(c.name, c.queries) for c in found.classes] == [("1–9", 3)]


def test_independence_multiplies_the_shares() -> None:
    assert independence(TABLE, WORKLOAD).tolist() == [0.5, 1.5, 0.5, 2.0]


def test_marginals_multiply_the_shares_of_every_column() -> None:
    data = {"sex": ["f", "f", "m", "m"], "age": [1, 1, 1, 2], "ill": ["Flu", "HIV", "HIV", "HIV"]}
    table = people(pa.table(data), ["ill"])
    asked = sql_workload("sex = 'f' AND age = 1 AND ill = 'HIV'\nsex = 'f' OR age = 2\nill = 'Flu' OR age = 2")
    # 4 · 1/2 · 3/4 · 3/4; 4 · (1 − 1/2 · 3/4); 1 + 3 · 1/4.
    assert marginals(table, asked).tolist() == pytest.approx([9 / 8, 5 / 2, 7 / 4])
    # Who knows the quasi table as well knows that both women are of age 1.
    assert independence(table, asked).tolist() == pytest.approx([3 / 2, 3, 7 / 4])


def test_a_workload_of_zero_answers_has_no_relative_error() -> None:
    with pytest.raises(InputError, match="above 0"):
        query_error(release_of(TABLE, np.arange(4)), TABLE, sql_workload("sex = 'm' AND ill = 'Flu'"))
