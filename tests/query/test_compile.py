"""Conditions against values: SQL's logic of missing values, types, and mixtures of quasi and sensitive conditions."""

from __future__ import annotations

import datetime as dt
import sqlite3
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import QueryError
from sfumato.query import And, Between, In, Like, Missing, Not, Or, Query, true_answers
from sfumato.query.language.compile import compile_condition, row_mask
from sfumato.query.language.sql import parse_sql
from sfumato.query.language.vocabulary import Vocabulary
from tests.makers import tells
from tests.query._releases import People, people

ROWS: list[dict[str, Any]] = [
    {"age": age, "sex": sex, "ward": ward, "ill": ill, "smoker": smoker}
    for age in (None, 20, 30, 40)
    for sex in ("f", "m")
    for ward in (None, "North", "South")
    for ill, smoker in (("Flu", "yes"), ("Flu", "no"), ("HIV", None), (None, "yes"))
]


@pytest.fixture(scope="module")
def table() -> People:
    return people(pa.Table.from_pylist(ROWS), ["ill", "smoker"])


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (age INTEGER, sex TEXT, ward TEXT, ill TEXT, smoker TEXT)")
    connection.executemany("INSERT INTO t VALUES (:age, :sex, :ward, :ill, :smoker)", ROWS)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return connection


ATOMS = st.sampled_from(
    [
        "age = 20",
        "age <> 20",
        "age < 30",
        "age >= 30",
        "age BETWEEN 20 AND 30",
        "age NOT BETWEEN 20 AND 30",
        "age IN (20, 40, 99)",
        "age NOT IN (20)",
        "age IS NULL",
        "sex = 'f'",
        "sex > 'f'",
        "ward LIKE '%th'",
        "ward NOT LIKE 'N_rth'",
        "ward IS NOT NULL",
        "ward <> 'North'",
        "ill = 'Flu'",
        "ill <> 'Flu'",
        "ill IS NULL",
        "smoker NOT IN ('yes')",
        "smoker < 'yes'",
        "smoker IS NULL",
    ]
)
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda c: f"NOT ({c})"),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    ),
    max_leaves=7,
)


@settings(max_examples=400, deadline=None)
@given(CONDITIONS)
def test_every_condition_counts_what_a_database_counts(table: People, database: sqlite3.Connection, condition: str) -> None:
    expected = database.execute(f"SELECT COUNT(*) FROM t WHERE {condition}").fetchone()[0]
    assert true_answers(table, [parse_sql(condition)]).tolist() == [expected]


@settings(max_examples=150, deadline=None)
@given(CONDITIONS)
def test_pieces_have_disjoint_values_and_say_the_same_row_by_row(
    table: People, database: sqlite3.Connection, condition: str
) -> None:
    vocabulary = Vocabulary.of(table.quasi, table.sensitive.domain)
    pieces = compile_condition(parse_sql(condition).condition, vocabulary).pieces
    assert sum(piece.values.astype(int) for piece in pieces).max() <= 1 if pieces else True  # type: ignore[union-attr]
    codes = [column.codes for column in table.quasi]
    mine = np.zeros(len(ROWS), bool)
    for piece in pieces:
        mine |= piece.values[table.sensitive.codes] & row_mask(piece.rows, codes, len(ROWS))
    found = database.execute(f"SELECT COALESCE(({condition}), 0) FROM t ORDER BY rowid").fetchall()
    assert mine.tolist() == [bool(row[0]) for row in found]


def _count(table: People, condition: Any) -> int:
    return int(true_answers(table, [Query(condition)])[0])


def test_an_unknown_column_names_the_nearest(table: People) -> None:
    with pytest.raises(QueryError, match=r"'wrad'(.|\n)*'ward'\?$"):
        _count(table, In("wrad", ("North",)))


def test_a_value_that_does_not_occur_matches_nobody_and_is_noted(table: People) -> None:
    vocabulary = Vocabulary.of(table.quasi, table.sensitive.domain)
    compiled = compile_condition(In("ward", ("Noth", "South")), vocabulary)
    assert tells(compiled.notes, "ward", "'Noth'", "'North'")
    assert _count(table, In("ward", ("Noth", "South"))) == 32


@pytest.mark.parametrize(
    ("condition", "complaint"),
    [
        (In("age", ("20",)), "holds numbers"),
        (In("sex", (1,)), "holds text"),
        (Between("age", low="young"), "holds numbers"),
        (Like("age", "2%"), "LIKE needs"),
        (In("age", (True,)), "holds numbers"),
    ],
)
def test_a_constant_of_another_type_is_refused(table: People, condition: Any, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        _count(table, condition)


def test_very_deep_conditions_are_refused(table: People) -> None:
    condition: Any = In("age", (20,))
    for _ in range(500):
        condition = Not(condition)
    with pytest.raises(QueryError, match="nested"):
        _count(table, condition)


def test_dates_compare_as_dates_also_when_written_as_text() -> None:
    days = [dt.date(2024, 1, 31), dt.date(2024, 2, 1), dt.date(2024, 2, 29), None]
    table = people(pa.table({"day": pa.array(days, pa.date32()), "x": ["a", "b", "a", "b"]}), ["x"])
    assert _count(table, Between("day", "2024-02-01", "2024-02-29")) == 2
    assert _count(table, Between("day", low=dt.date(2024, 1, 31), strict_low=True)) == 2
    assert _count(table, In("day", ("2024-01-31",))) == 1
    assert _count(table, Missing("day")) == 1
    with pytest.raises(QueryError, match="holds dates"):
        _count(table, In("day", ("31.1.2024",)))


def test_percent_signs_in_a_row_do_not_slow_a_pattern_down() -> None:
    table = people(pa.table({"q": ["a" * 40, "b"], "x": ["a", "b"]}), ["x"])
    assert _count(table, Like("q", "%" * 60 + "c")) == 0
    assert _count(table, And((Like("q", "a%"), Or((In("x", ("a",)), In("x", ("b",))))))) == 1
