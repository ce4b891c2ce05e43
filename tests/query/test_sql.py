"""The SQL front: what is understood, and what is refused with which words."""

from __future__ import annotations

import pytest

from sfumato.errors import QueryError
from sfumato.query import And, Between, In, Like, Missing, Not, Or, Query, parse_sql


@pytest.mark.parametrize("text", ["", "   ", "SELECT COUNT(*)", "select count(*) from release", ";", "TRUE"])
def test_an_empty_question_counts_everybody(text: str) -> None:
    assert parse_sql(text) == Query()


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("age = 30", In("age", (30,))),
        ("30 = age", In("age", (30,))),
        ("age <> -2.5", Not(In("age", (-2.5,)))),
        ("age != 3", Not(In("age", (3,)))),
        ("age < 3", Between("age", high=3, strict_high=True)),
        ("3 < age", Between("age", low=3, strict_low=True)),
        ("age <= 3", Between("age", high=3)),
        ("3 >= age", Between("age", high=3)),
        ("age > 3", Between("age", low=3, strict_low=True)),
        ("age >= 3", Between("age", low=3)),
        ("age BETWEEN 30 AND 40", Between("age", 30, 40)),
        ("age NOT BETWEEN 30 AND 40", Not(Between("age", 30, 40))),
        ("d IN ('Flu', 'It''s')", In("d", ("Flu", "It's"))),
        ("d NOT IN ('Flu')", Not(In("d", ("Flu",)))),
        ("d LIKE 'A%'", Like("d", "A%")),
        ("d NOT LIKE 'A%'", Not(Like("d", "A%"))),
        ("d IS NULL", Missing("d")),
        ("d IS NOT NULL", Not(Missing("d"))),
        ('"odd name" = 1', In("odd name", (1,))),
        ("admitted >= DATE '2024-01-31'", Between("admitted", low="2024-01-31")),
        ("a = 1 AND (b = 2 OR NOT c = 3)", And((In("a", (1,)), Or((In("b", (2,)), Not(In("c", (3,)))))))),
    ],
)
def test_a_condition_is_read_as_sql_means_it(text: str, condition: object) -> None:
    assert parse_sql(text) == Query(condition)  # type: ignore[arg-type]
    assert parse_sql(f"WHERE {text}") == Query(condition)  # type: ignore[arg-type]
    assert parse_sql(f"SELECT COUNT(*) FROM x WHERE {text};") == Query(condition)  # type: ignore[arg-type]


def test_group_by_columns_are_kept_in_their_order() -> None:
    assert parse_sql("SELECT sex, COUNT(*), ward FROM x GROUP BY ward, sex").group_by == ("ward", "sex")
    assert parse_sql("age > 3 GROUP BY sex") == Query(Between("age", low=3, strict_low=True), ("sex",))
    assert parse_sql("GROUP BY sex") == Query(group_by=("sex",))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT MIN(age)", "MIN"),
        ("SELECT COUNT(DISTINCT age)", "DISTINCT"),
        ("SELECT COUNT(age)", "COUNT of a column"),
        ("SELECT COUNT(*), COUNT(*)", "2 times"),
        ("SELECT *", r"SELECT \*"),
        ("SELECT COUNT(*) FROM a JOIN b", "JOIN"),
        ("SELECT COUNT(*) FROM a, b", "JOIN"),
        ("SELECT COUNT(*) FROM (SELECT 1)", "subquery"),
        ("SELECT COUNT(*) FROM a TABLESAMPLE (10)", "anything but a"),
        ("a IN (SELECT b FROM c)", "subquery"),
        ("a + 1 = 2", "arithmetic"),
        ("a = 1 + 1", "arithmetic"),
        ("a = 1 HAVING b > 2", "HAVING"),
        ("a = 1 LIMIT 3", "LIMIT"),
        ("a = 1 ORDER BY a", "ORDER BY"),
        ("WITH x AS (SELECT 1) SELECT COUNT(*)", "WITH"),
        ("LOWER(a) = 'x'", "LOWER"),
        ("a = b", "column b"),
        ("a = NULL", "never true"),
        ("a IN (1, NULL)", "never true"),
        ("1 = 1", "needs a column"),
        ("SELECT sex, COUNT(*)", "not grouped by"),
        ("GROUP BY sex, sex", "twice"),
        ("((a = 1", "not valid SQL"),
        ("a = 1; b = 2", "one query"),
        ("DROP TABLE people", "DROP"),
        ("CASE WHEN a = 1 THEN 2 END", "CASE"),
        ("(" * 300 + "a = 1" + ")" * 300, "nested"),
        ("NOT " * 300 + "a = 1", "nested"),
        ("a = '" + "x" * 200_000 + "'", "characters"),
    ],
)
def test_what_is_not_a_count_question_is_refused_by_name(text: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        parse_sql(text)


def test_a_long_chain_of_or_is_no_deep_nesting() -> None:
    query = parse_sql(" OR ".join(f"a = {i}" for i in range(400)))
    assert isinstance(query.condition, Or)
    assert len(query.condition.parts) == 400


def test_the_python_form_says_the_same_as_sql() -> None:
    python = Query.where(age=(30, 40), diagnosis=["Flu", "Asthma"], group_by=["sex"])
    assert python == parse_sql("age BETWEEN 30 AND 40 AND diagnosis IN ('Flu', 'Asthma') GROUP BY sex")
    assert Query.where(age=None) == parse_sql("age IS NULL")
    assert Query.where({"odd name": 3}, group_by="sex") == parse_sql('"odd name" = 3 GROUP BY sex')
    assert Query.where(age=["x", None]) == parse_sql("age IN ('x') OR age IS NULL")
    assert Query.where() == parse_sql("")


def test_a_tuple_of_three_is_no_range() -> None:
    with pytest.raises(QueryError, match="two ends"):
        Query.where(age=(1, 2, 3))


def test_a_value_that_no_column_can_hold_is_refused() -> None:
    with pytest.raises(QueryError, match="cannot compare"):
        Query.where(age=object())
