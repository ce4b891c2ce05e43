"""Recodings give exactly the published values that the policy describes."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.exact import exact
from sfumato.table.bins import bins
from sfumato.table.column import Kind
from sfumato.table.icd import chapter
from sfumato.table.recode import Bands, recoding


def published(spec: dict[str, Any], values: list[Any], kind: Kind = "numeric") -> list[Any]:
    array, _ = recoding(spec, "x").apply(pa.array(values), kind, "x")
    return list(array.to_pylist())


def test_a_band_is_published_as_its_lower_edge_and_top_and_bottom_hold_the_ends() -> None:
    spec = {"width": 5, "top": 90, "bottom": 18}
    assert published(spec, [0, 17, 18, 19, 20, 34, 35, 89, 90, 104]) == [18, 18, 18, 18, 20, 30, 35, 85, 90, 90]


@pytest.mark.parametrize(
    ("before", "width", "after"),
    [
        ({"width": 5, "top": 90, "bottom": 20}, 10, {"width": 10, "top": 90, "bottom": 20}),
        ({"width": 5, "top": 85, "bottom": 15}, 10, {"width": 10, "top": 80, "bottom": 10}),
        ({"width": 5, "top": 90, "bottom": 20}, 100, {"width": 100, "top": 90, "bottom": 20}),
        ({"top": -3}, "2.5", {"width": 2.5, "top": -5}),
        ({"width": 10, "top": 85, "bottom": 25, "origin": 5}, 20, {"width": 20, "top": 85, "bottom": 25, "origin": 5}),
        ({"width": 10, "top": 75, "origin": 5}, 20, {"width": 20, "top": 65, "origin": 5}),
    ],
)
def test_the_ends_of_bands_are_edges_of_another_width_too(before: dict[str, Any], width: Any, after: dict[str, Any]) -> None:
    assert Bands(**before).with_width(width).to_dict() == after


@given(st.integers(1, 30), st.integers(1, 60), st.integers(-100, 100), st.integers(1, 100), st.integers(-9, 9))
def test_whoever_was_beyond_an_end_stays_together_in_bands_of_another_width(
    width: int, other: int, bottom: int, more: int, origin: int
) -> None:
    top = bottom + more
    made = Bands(width=width, top=top, bottom=bottom, origin=origin).with_width(other)
    values = list(range(-150, 250))
    shown = dict(zip(values, published(made.to_dict(), values), strict=True))
    assert len({shown[value] for value in values if value <= bottom}) == 1
    assert len({shown[value] for value in values if value >= top}) == 1
    assert shown[-150] != shown[249]


def test_bands_start_at_the_origin_and_go_below_zero() -> None:
    assert published({"width": 10, "origin": 5}, [-6, -5, 4, 5, 14, 15]) == [-15, -5, -5, 5, 5, 15]


def test_top_coding_works_without_bands() -> None:
    assert published({"top": 90}, [3, 90, 95]) == [3, 90, 90]


def test_decimal_bands_are_exact_where_dividing_floats_is_not() -> None:
    assert math.floor(0.3 / 0.1) == 2
    assert published({"width": 0.1}, [0.3, 0.7, 0.29]) == [0.3, 0.7, 0.2]


@given(
    st.lists(st.decimals(-1000, 1000, places=2).map(float), min_size=1, max_size=20),
    st.sampled_from(["0.1", "0.25", "0.3", "1", "7", "2.5", "1/3"]),
    st.sampled_from(["0", "0.05", "3"]),
)
def test_every_number_lies_in_its_band(numbers: list[float], width: str, origin: str) -> None:
    low = published({"width": width, "origin": origin}, numbers)
    for number, edge in zip(numbers, low, strict=True):
        band = math.floor((exact(number) - exact(origin)) / exact(width))
        assert edge == float(exact(origin) + band * exact(width))


def test_rounding_takes_the_nearest_multiple_and_halves_upwards() -> None:
    assert published({"round": 100}, [49, 50, 149, 150, -50]) == [0, 100, 100, 200, 0]
    assert published({"round": 5}, [2, 3, 7, 8]) == [0, 5, 5, 10]
    assert published({"round": "0.5"}, [1.2, 1.25, 1.74]) == [1.0, 1.5, 1.5]


def test_a_prefix_cuts_characters_not_bytes() -> None:
    assert published({"prefix": 2}, ["01234", "ÄÖÜ", "7", ""], "categorical") == ["01", "ÄÖ", "7", ""]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("day", date(2024, 8, 15)),
        ("week", date(2024, 8, 12)),
        ("month", date(2024, 8, 1)),
        ("quarter", date(2024, 7, 1)),
        ("year", date(2024, 1, 1)),
    ],
)
def test_a_date_is_published_as_the_first_day(unit: str, expected: date) -> None:
    assert published({"to": unit}, [date(2024, 8, 15)], "date") == [expected]
    assert published({"to": unit}, [datetime(2024, 8, 15, 23, 59)], "date") == [expected]


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_weeks_and_quarters_start_where_the_calendar_says(day: date) -> None:
    assert published({"to": "week"}, [day], "date") == [day - timedelta(days=day.weekday())]
    assert published({"to": "quarter"}, [day], "date") == [date(day.year, (day.month - 1) // 3 * 3 + 1, 1)]


def test_regrouping_renames_and_puts_the_rest_together() -> None:
    wards = ["ICU", "ER", "Eye", "Ear"]
    assert published({"map": {"ICU": "acute", "ER": "acute"}, "other": "rest"}, wards, "categorical") == [
        "acute",
        "acute",
        "rest",
        "rest",
    ]
    assert published({"map": {"ICU": "acute"}}, wards, "categorical") == ["acute", "ER", "Eye", "Ear"]


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ({"widht": 5}, "unknown key 'widht'", "did you mean 'width'"),
        ({}, "expected keys", "known keys"),
        ({"width": 5, "prefix": 2}, "different recodings", "choose one"),
        ({"width": 0}, "wider than 0", "width = 5"),
        ({"width": "five"}, "expected a number", "decimal"),
        ({"origin": 3}, "needs a width", "add width"),
        ({"top": 5, "bottom": 9}, "bottom = 9 must be below top = 5", "swap"),
        ({"prefix": 0}, "characters from 1 on", "prefix = 2"),
        ({"to": "decade"}, "unknown unit 'decade'", "month"),
        ({"map": {}}, "at least once", "map ="),
        ({"other": "rest"}, "at least once", "map ="),
        ({"map": {"a": 1}}, "are texts", "north"),
        ({"round": -1}, "step above 0", "round = 100"),
    ],
)
def test_a_recoding_that_is_not_understood_is_refused(spec: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(PolicyError) as problem:
        recoding(spec, "age")
    assert problem.value.message.startswith("recode of 'age'")
    assert message in problem.value.message
    assert hint in (problem.value.hint or "")


@pytest.mark.parametrize(
    ("spec", "values", "kind"),
    [
        ({"width": 5}, ["a"], "categorical"),
        ({"round": 5}, [date(2024, 1, 1)], "date"),
        ({"prefix": 2}, [1], "numeric"),
        ({"to": "month"}, [1], "numeric"),
        ({"map": {"a": "b"}}, [1], "numeric"),
    ],
)
def test_a_recoding_that_does_not_fit_the_kind_is_refused(spec: dict[str, Any], values: list[Any], kind: Kind) -> None:
    with pytest.raises(PolicyError, match=f"and this one is {kind}"):
        recoding(spec, "x").apply(pa.array(values), kind, "x")


def test_bins_are_half_open_and_the_last_one_is_closed() -> None:
    edges = bins([0, 10, "22.5"], "x")
    assert edges.labels == ("[0, 10)", "[10, 22.5]")
    assert edges.place(pa.array([-1, 0, 9, 10, 22, 23]).to_numpy()).tolist() == [-1, 0, 0, 1, 1, -1]
    assert edges.place(pa.array([22.5, 22.6]).to_numpy()).tolist() == [1, -1]


def test_bins_may_be_open_at_both_ends() -> None:
    edges = bins([float("-inf"), 0, "inf"], "x")
    assert edges.labels == ("(-inf, 0)", "[0, inf)")
    assert edges.edges[1] == Fraction(0)
    assert edges.place(pa.array([-1e300, 0.0, 1e300]).to_numpy()).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("code", "edition", "chapter_of"),
    [
        ("I10", 10, "circulatory system"), ("E11.9", 10, "endocrine, nutritional and metabolic diseases"),
        ("c509", 10, "neoplasms"),
        ("D48", 10, "neoplasms"), ("D50.1", 10, "blood and immune system"), ("H59", 10, "eye"), ("H60.0", 10, "ear"),
        ("T98", 10, "injury and poisoning"), ("Y98", 10, "external causes"), ("Z00.0", 10, "contact with health services"),
        ("250.83", 9, "endocrine, nutritional and metabolic diseases"),
        ("8", 9, "infectious diseases"), ("428", 9, "circulatory system"),
        ("V27", 9, "contact with health services"), ("E849.7", 9, "external causes"),
        ("?", 9, "no ICD code"), ("flu", 10, "no ICD code"),
        ("000", 9, "no ICD code"),
    ],
)  # fmt: skip
def test_codes_of_illnesses_have_chapters(code, edition, chapter_of):
    assert chapter(code, edition) == chapter_of


def test_an_edition_of_icd_must_be_named():
    with pytest.raises(PolicyError, match="9 or 10"):
        recoding({"icd": 11}, "dx")
