"""Count questions on views, against all matchings of a group's two tables, one by one."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table
from sfumato.errors import QueryError
from sfumato.query import Query
from sfumato.release.base import Release
from tests.makers import people, skewed
from tests.query._conditions import CONDITIONS, meets
from tests.query._fragments import views_of

SIX = people(list("abaabb"), age=[0, 1, 2, 3, 3, 5], town=["x", "y", None, "x", "z", "x"])


def matchings(table, moved, condition):
    """Return how many people meet the condition in each way of matching all auxiliary rows with all entries."""
    rows = [
        dict(zip(("age", "town"), pair, strict=True)) for pair in zip(*(c.arrow().to_pylist() for c in table.quasi), strict=True)
    ]
    values = [table.sensitive.labels[code] for code in table.sensitive.codes]
    counts = []
    for order in itertools.permutations(range(len(rows))):
        people_ = [
            {**row, **{name: rows[k][name] for name in moved}, "value": values[k]} for row, k in zip(rows, order, strict=True)
        ]
        counts.append(sum(meets(condition, one["age"], one["town"], one["value"]) is True for one in people_))
    return np.array(counts, float)


@settings(max_examples=40, deadline=None)
@given(CONDITIONS, st.sampled_from(["age", "town"]))
def test_value_and_standard_error_are_those_of_all_matchings(condition, moved):
    worlds = matchings(SIX, [moved], condition)
    found = views_of(SIX, [0] * 6, [moved]).count(Query(condition))
    assert found.value == pytest.approx(worlds.mean())
    assert found.std_error == pytest.approx(worlds.std(), abs=1e-9)
    if found.low is not None:
        assert (found.low, found.high) == (worlds.min(), worlds.max())
    else:
        assert "no interval" in found.note


def test_groups_add_up():
    table = people(list("abab") * 2, age=[1, 2, 3, 4] * 2, town=list("xxyy") + list("xyxy"))
    release = views_of(table, [0] * 4 + [1] * 4, ["town"])
    # Group 1: 2 of 4 rows, 1 of 4 entries; group 2: 2 of 4 rows, 2 of 4 entries.
    found = release.count("age <= 2 AND town = 'x' AND value = 'a'")
    assert found.value == pytest.approx(2 * 1 / 4 + 2 * 2 / 4)
    assert found.std_error**2 == pytest.approx(2 * 1 * 2 * 3 / (16 * 3) + 2 * 2 * 2 * 2 / (16 * 3))


def test_questions_about_one_table_alone_are_exact():
    release = views_of(SIX, [0] * 6, ["town"])
    for query, answer in (("age <= 2", 3.0), ("town = 'x' AND value = 'a'", 2.0), ("", 6.0), ("age > 9", 0.0)):
        found = release.count(query)
        assert (found.value, found.low, found.high, found.std_error) == (answer, answer, answer, 0.0)


@pytest.mark.parametrize("moved", [["sex"], ["age"]])
def test_the_cells_of_a_group_by_add_up(moved):
    table = skewed(300)
    release = views_of(table, np.arange(300) // 10, moved)
    grouped = release.count("SELECT sex, value, COUNT(*) WHERE age < 40 GROUP BY sex, value")
    assert {key["sex"] for key, _ in grouped} == {"f", "m"}
    assert sum(estimate.value for _, estimate in grouped) == pytest.approx(grouped.total.value)
    assert grouped.total.value == pytest.approx(release.count("age < 40").value)


def test_a_recoded_column_that_moved_is_understood_in_original_terms():
    data = pa.table({"age": [21, 24, 33, 34], "sex": list("fmfm"), "value": list("abab")})
    declared = Schema(quasi=["age", "sex"], sensitive=["value"], recode={"age": {"width": 5}})
    release = views_of(Table.from_frame(data, declared), [0] * 4, ["age"], declared=declared.to_dict())
    assert release.count("age BETWEEN 20 AND 24").value == 2.0
    partly = release.count("age BETWEEN 20 AND 21 AND sex = 'f'")
    assert partly.value == pytest.approx(2 * 2 / 4 * 2 / 5)
    assert "in bands of 5" in partly.note


@pytest.mark.parametrize("estimator", ["likelihood", "best"])
def test_other_estimators_are_refused(estimator):
    with pytest.raises(QueryError, match="'paper'"):
        views_of(SIX, [0] * 6, ["age"]).count("age = 1", estimator=estimator)


def test_answers_survive_the_disk(tmp_path):
    release = views_of(SIX, [0, 0, 0, 1, 1, 1], ["town"])
    release.save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    for query in ("age <= 2 AND town = 'x'", "age > 1 OR value = 'a'"):
        assert loaded.count(query) == release.count(query)
