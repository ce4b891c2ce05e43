"""The schema refuses what it cannot mean, and its public part survives JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sfumato.errors import InputError, PolicyError
from sfumato.table import Schema

GOOD: dict[str, Any] = {"identifier": ["name"], "quasi": ["age", "sex"], "sensitive": ["diagnosis"], "other": ["note"]}


def test_roles_are_kept_as_tuples_and_found_by_name() -> None:
    schema = Schema(**GOOD)
    assert schema.quasi == ("age", "sex")
    assert [schema.role(name) for name in ("name", "age", "diagnosis", "note", "x")] == [
        "identifier",
        "quasi",
        "sensitive",
        "other",
        None,
    ]


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"other": ["age"]}, "quasi and as other", "exactly one role"),
        ({"quasi": ["age", "age"]}, "twice as quasi", "exactly one role"),
        ({"quasi": []}, "names no quasi column", "quasi="),
        ({"sensitive": []}, "names no sensitive column", "sensitive="),
        ({"quasi": "age"}, "list of column", '["age", "sex"]'),
        ({"types": {"age": "number"}}, "'age' is 'number'", "numeric"),
        ({"types": {"agee": "numeric"}}, "no column 'agee'", "one of 'agee' and 'age' is misspelt"),
        ({"types": {"name": "categorical"}}, "role identifier", "remove 'name'"),
        ({"recode": {"diagnosis": {"width": 5}}}, "is sensitive, and width", "coarser with bins"),
        ({"recode": {"diagnosis": {"prefix": 1}}, "bins": {"diagnosis": [0, 1]}}, "has bins already", "remove one"),
        ({"bins": {"age": [0, 10]}}, "role quasi", "coarser with recode"),
        ({"missing": {"age": "ignore"}}, "'ignore'", "known: drop, error, value"),
        ({"missing": {"note": "drop"}}, "role other", "remove 'note'"),
        ({"bins": {"diagnosis": [0, 10, 10, 10]}}, "10 is followed by 10", "sort the edges"),
        ({"bins": {"diagnosis": [0]}}, "at least two ascending edges", "inf"),
        ({"bins": {"diagnosis": [0, 1]}, "types": {"diagnosis": "categorical"}}, "only numbers have bins", "remove one"),
        ({"bins": {"diagnosis": [0, 1]}, "domains": {"diagnosis": ["a"]}}, "are its domain already", "remove one"),
        ({"domains": {"age": {"min": 0, "top": 9}}}, "unknown key 'top'", "known: max, min"),
        ({"domains": {"age": {"min": 9, "max": 0}}}, "min is above max", "swap"),
        ({"domains": {"age": {"min": 0}}}, "needs both", "max = 120"),
        ({"domains": {"sex": ["f", "f"]}}, "listed twice", "once"),
        ({"one_row_per_person": 1}, "expected true or false", ""),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(change: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(PolicyError) as problem:
        Schema(**(GOOD | change))
    assert message in problem.value.message
    assert hint in (problem.value.hint or "")


def test_missing_values_are_values_in_quasi_columns_and_errors_in_sensitive_ones_by_default() -> None:
    schema = Schema(**GOOD, missing={"sex": "drop"})
    assert [schema.missing_rule(name) for name in ("age", "sex", "diagnosis")] == ["value", "drop", "error"]


def test_only_the_public_part_is_written_and_it_survives_json() -> None:
    schema = Schema(
        identifier=["name"],
        quasi=["age", "admitted", "ward", "postcode", "weight"],
        sensitive=["income"],
        other=["note"],
        types={"postcode": "categorical"},
        recode={
            "age": {"width": 5, "top": 90, "bottom": 20, "origin": 2},
            "admitted": {"to": "month"},
            "ward": {"map": {"ICU": "intensive"}, "other": "rest"},
            "postcode": {"prefix": 2},
            "weight": {"round": "0.5"},
        },
        bins={"income": ["-inf", 0, "1/3", 2.5, float("inf")]},
        domains={"age": {"min": 0, "max": 120}, "admitted": {"min": "2024-01-01", "max": "2024-12-31"}, "ward": ["rest"]},
        missing={"age": "drop"},
    )
    text = json.dumps(schema.to_dict(), allow_nan=False)
    assert "name" not in text
    assert "note" not in text
    again = Schema.from_dict(json.loads(text))
    assert again == Schema(
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        types=schema.types,
        recode=schema.recode,
        bins=schema.bins,
        domains=schema.domains,
    )
    assert json.loads(text)["bins"]["income"] == ["-inf", 0, "1/3", 2.5, "inf"]


def test_a_written_schema_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(PolicyError, match="unknown key 'quasy'"):
        Schema.from_dict({"quasy": ["age"], "sensitive": ["x"]})


def test_unlabelled_columns_are_listed_with_the_line_to_add() -> None:
    with pytest.raises(InputError) as problem:
        Schema(**GOOD).check_columns(["name", "age", "sex", "diagnosis", "note", "phone", "mail"], "t.csv")
    assert "'phone', 'mail' have" in problem.value.message
    assert 'other=["phone", "mail"]' in (problem.value.hint or "")


def test_role_columns_that_the_table_lacks_are_named_with_the_nearest_unlabelled_one() -> None:
    with pytest.raises(InputError) as problem:
        Schema(**GOOD).check_columns(["name", "age", "sex", "diagnoses", "note"], "t.csv")
    assert "'diagnosis', which" in problem.value.message
    assert problem.value.hint == "did you mean 'diagnoses'?"
