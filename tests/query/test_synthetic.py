"""Counts of synthetic records are counted, and have no interval."""

import pytest

from sfumato.errors import QueryError
from tests.makers import skewed
from tests.release._synthetic import release_of

RELEASE = release_of(skewed())
ROWS = RELEASE.tables()["records"].to_pylist()


def test_records_are_counted():
    answer = RELEASE.count("age BETWEEN 30 AND 44 AND (value = 'v1' OR sex = 'f')")
    wanted = sum(30 <= row["age"] <= 44 and (row["value"] == "v1" or row["sex"] == "f") for row in ROWS)
    assert answer.value == wanted > 0
    assert (answer.low, answer.high) == (None, None)
    assert "records are synthetic" in answer.note


def test_the_standard_error_is_that_of_drawing_records():
    answer = RELEASE.count("sex = 'f'")
    share = answer.value / 600
    assert answer.std_error == pytest.approx((600 * share * (1 - share)) ** 0.5)


def test_the_number_of_people_is_certain():
    answer = RELEASE.count("")
    assert (answer.value, answer.low, answer.high) == (600, 600, 600)


def test_cells_add_up_to_the_whole():
    answer = RELEASE.count("SELECT sex, value, COUNT(*) GROUP BY sex, value")
    assert sum(cell.value for _, cell in answer) == 600
    key, cell = next(iter(answer))
    assert cell.value == sum(row["sex"] == key["sex"] and row["value"] == key["value"] for row in ROWS)


def test_there_is_no_other_estimator():
    with pytest.raises(QueryError, match="synthetic records"):
        RELEASE.count("sex = 'f'", estimator="likelihood")


def test_beliefs_are_shares_among_records_like_a_person():
    person = ROWS[0]
    like = [row["value"] for row in ROWS if (row["age"], row["sex"]) == (person["age"], person["sex"])]
    found = dict(zip(RELEASE.labels, RELEASE.beliefs([person])[0], strict=True))
    assert found[person["value"]] == pytest.approx(like.count(person["value"]) / len(like))
