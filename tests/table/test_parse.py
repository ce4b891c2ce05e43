"""Text becomes numbers and dates only when all of it does."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.parse import guess, parse_dates, parse_numbers


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["3", "-4", "+5", " 6 "], "numeric", [3, -4, 5, 6]),
        (["3", "4.5", "1e3", ".5"], "numeric", [3.0, 4.5, 1000.0, 0.5]),
        (["0", "10", "0.5"], "numeric", [0.0, 10.0, 0.5]),
        (["01234", "12345"], "categorical", ["01234", "12345"]),
        (["1" * 19, "2"], "categorical", ["1" * 19, "2"]),
        (["1e999", "2"], "categorical", ["1e999", "2"]),
        (["2024-02-29", "2023-01-01"], "date", [date(2024, 2, 29), date(2023, 1, 1)]),
        (["2024-02-29T10:30", "2023-01-01"], "date", [datetime(2024, 2, 29, 10, 30), datetime(2023, 1, 1)]),
        (["31.12.2024", "1.1.2024"], "date", [date(2024, 12, 31), date(2024, 1, 1)]),
        (["31.12.2024", "31.13.2024"], "categorical", ["31.12.2024", "31.13.2024"]),
        (["31.12.2024", "2024-12-31", "x"], "categorical", ["31.12.2024", "2024-12-31", "x"]),
        (["31/12/2024", "01/02/2024"], "categorical", ["31/12/2024", "01/02/2024"]),
        (["true", "false"], "categorical", ["true", "false"]),
        ([], "categorical", []),
    ],
)
def test_the_kind_of_text_is_guessed_from_all_of_it(texts: list[str], kind: str, values: list[Any]) -> None:
    found = guess(pa.array(texts, pa.string()))
    assert (found.kind, found.values.to_pylist(), found.mixed) == (kind, values, None)


@pytest.mark.parametrize(
    ("texts", "mixed", "bad"),
    [
        (["1", "2", "90+"], "numeric", [False, False, True]),
        (["2024-01-01", "2024-02-30", "soon"], "date", [False, True, True]),
        (["1", "a", "b"], None, None),
        (["01", "2", "x"], None, None),
    ],
)
def test_a_column_that_is_mostly_of_one_kind_is_reported_as_mixed(
    texts: list[str], mixed: str | None, bad: list[bool] | None
) -> None:
    found = guess(pa.array(texts))
    assert found.kind == "categorical"
    assert found.mixed == mixed
    assert (None if found.bad is None else found.bad.tolist()) == bad


def test_a_decimal_comma_is_read_and_a_point_is_then_no_number() -> None:
    parsed = parse_numbers(pa.array(["1,5", "2", "1.234"]), ",")
    assert parsed.values.to_pylist() == [1.5, 2.0, None]
    assert parsed.bad.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["31.12.2024", "1.2.2024"], [date(2024, 12, 31), date(2024, 2, 1)]),
        (["31-12-2024"], [date(2024, 12, 31)]),
        (["2024/12/31", "20240201", "2024.03.04"], [date(2024, 12, 31), date(2024, 2, 1), date(2024, 3, 4)]),
        (["31/12/2024", "01/02/2024"], [date(2024, 12, 31), date(2024, 2, 1)]),
        (["12/31/2024", "01/02/2024"], [date(2024, 12, 31), date(2024, 1, 2)]),
        (["05/05/2024"], [date(2024, 5, 5)]),
    ],
)
def test_declared_dates_are_read_in_the_usual_forms(texts: list[str], days: list[date]) -> None:
    parsed = parse_dates(pa.array(texts))
    assert parsed.values.to_pylist() == days
    assert not parsed.bad.any()
    assert not parsed.ambiguous


def test_dates_with_two_readings_are_called_ambiguous() -> None:
    assert parse_dates(pa.array(["03/04/2024", "05/05/2024"])).ambiguous


@pytest.mark.filterwarnings("error")  # numpy from 2.5 on warns of a time without a unit
def test_days_that_the_calendar_lacks_are_bad() -> None:
    parsed = parse_dates(pa.array(["2023-02-29", "31.04.2024", "00.01.2024", "2024-13-01", "soon", "2024-02-29"]))
    assert parsed.bad.tolist() == [True, True, True, True, True, False]


def test_times_of_day_that_do_not_exist_are_bad_and_a_zone_is_cut_off() -> None:
    parsed = parse_dates(pa.array(["2024-01-01 25:00", "2024-01-01T10:00:00.5Z", "2024-01-01 09:00+02:00"]))
    assert parsed.bad.tolist() == [True, False, False]
    assert parsed.values.to_pylist() == [None, datetime(2024, 1, 1, 10, 0, 0, 500000), datetime(2024, 1, 1, 9)]


@given(st.lists(st.dates(date(1800, 1, 1), date(2200, 1, 1)), min_size=1))
def test_every_iso_date_is_read_as_itself(days: list[date]) -> None:
    found = guess(pa.array([day.isoformat() for day in days]))
    assert found.kind == "date"
    assert found.values.to_pylist() == days


@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1))
def test_every_whole_number_is_read_as_itself(numbers: list[int]) -> None:
    assert guess(pa.array([str(number) for number in numbers])).values.to_pylist() == numbers


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_float_is_read_as_itself(numbers: list[float]) -> None:
    assert parse_numbers(pa.array([repr(number) for number in numbers])).values.cast(pa.float64()).to_pylist() == numbers
