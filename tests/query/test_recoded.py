"""Conditions on recoded columns: understood in original terms, exact where they fit, honest where they cut through a value."""

from __future__ import annotations

import datetime as dt
import random as stdlib
import sqlite3
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import LDiversity, Schema, Table
from sfumato.errors import FormatError, QueryError
from sfumato.methods import Anatomy
from sfumato.query import Estimate, Query, count, parse_sql, range_workload, true_answers
from sfumato.query.buckets import BucketsEngine
from sfumato.query.language.compile import compile_condition
from sfumato.query.language.portions import MAX_WORLDS
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Manifest
from sfumato.utility import query_error
from tests.query._releases import People, release_of

RECODE: dict[str, dict[str, Any]] = {
    "age": {"width": 5, "top": 90, "bottom": 18},
    "weight": {"width": 10},
    "income": {"round": 100},
    "postcode": {"prefix": 2},
    "admitted": {"to": "month"},
    "born": {"to": "week"},
    "ward": {"map": {"ICU": "intensive", "HDU": "intensive", "A": "general", "B": "general"}, "other": "rest"},
}
BINS = [0, 1000, 3000, "inf"]


def originals(rows: int = 300, seed: int = 1) -> list[dict[str, Any]]:
    random = stdlib.Random(seed)
    first = dt.date(2024, 1, 1)
    return [
        {
            "age": random.choice([None, *range(100)]),
            "weight": random.choice([40, 49.5, 50, 59.99, 60.0, 77.25, 90]),
            "income": random.randrange(0, 1000),
            "postcode": random.choice(["46134", "46135", "4613", "46", "4", "11222", "11000", "99999"]),
            "admitted": first + dt.timedelta(days=random.randrange(366)),
            "born": first + dt.timedelta(days=random.randrange(40)),
            "ward": random.choice(["ICU", "HDU", "A", "B", "C", "D"]),
            "salary": random.choice([0, 999, 1000, 2000, 2999.5, 3000, 9000]),
        }
        for _ in range(rows)
    ]


ROWS = originals()


def released(rows: list[dict[str, Any]], recode: dict[str, Any] | None = None, sensitive: str = "salary") -> BucketsRelease:
    """Publish with recodings, everybody in buckets of two or three."""
    recode = RECODE if recode is None else recode
    schema = Schema(
        quasi=[name for name in rows[0] if name != sensitive],
        sensitive=[sensitive],
        recode=recode,
        bins={"salary": BINS} if sensitive == "salary" else {},
        types={"postcode": "categorical"} if "postcode" in rows[0] else {},
    )
    table = Table.from_frame(pa.Table.from_pylist(rows), schema)
    made = release_of(People(table.quasi, table.sensitive), np.arange(len(rows)) // 3)
    document = {**made.manifest.__dict__, "schema": {**made.manifest.schema, "declared": schema.to_dict()}}
    return BucketsRelease(Manifest(**document), made.quasi, made.group, made.domain, made.st_group, made.st_value, made.st_count)


RELEASE = released(ROWS)


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE t (age INTEGER, weight REAL, income, postcode TEXT, admitted TEXT, born TEXT, ward TEXT, salary REAL)"
    )
    texts = [{**row, "admitted": str(row["admitted"]), "born": str(row["born"])} for row in ROWS]
    connection.executemany("INSERT INTO t VALUES (:age,:weight,:income,:postcode,:admitted,:born,:ward,:salary)", texts)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return connection


def asked(condition: str, **options: Any) -> Estimate:
    answer = count(RELEASE, condition, **options)
    assert isinstance(answer, Estimate)
    return answer


EXACT = [
    "age BETWEEN 30 AND 39",
    "age >= 30",
    "age > 29",
    "age < 30 AND age >= 25",
    "age >= 90",
    "age < 20",
    "age <= 19.5",
    "age NOT BETWEEN 30 AND 44",
    "age IN (30, 31, 32, 33, 34)",
    "age > 31 OR age <= 31",
    "age = 37 AND age = 41",
    "age IS NULL",
    "NOT (age >= 30)",
    "weight >= 50 AND weight < 70",
    "income >= 150 AND income < 450",
    "income BETWEEN 150 AND 249",
    "postcode LIKE '46%'",
    "postcode LIKE '4%'",
    "postcode = '4'",
    "postcode LIKE '11%' OR postcode LIKE '9%'",
    "admitted >= '2024-03-01'",
    "admitted BETWEEN '2024-02-01' AND '2024-02-29'",
    "admitted < '2025-01-01' AND admitted > '2024-06-30'",
    "born >= '2024-01-08' AND born <= '2024-01-21'",
    "ward IN ('ICU', 'HDU')",
    "ward NOT IN ('ICU', 'HDU', 'A', 'B')",
    "salary < 1000",
    "salary >= 1000",
    "salary >= 3000 OR salary < 1000",
]


@pytest.mark.parametrize("condition", EXACT)
def test_a_condition_on_whole_published_values_counts_the_original_rows_exactly(
    database: sqlite3.Connection, condition: str
) -> None:
    truth = database.execute(f"SELECT COUNT(*) FROM t WHERE {condition}").fetchone()[0]
    answer = asked(condition)
    assert (answer.value, answer.std_error, answer.low, answer.high) == (truth, 0, truth, truth)
    assert "counted" not in answer.note


def both_bands(age: int | None, low: int, high: int) -> bool:
    return age is not None and low <= age <= high


# condition, people surely inside, people possibly inside, the share of the others that is counted
PARTLY: list[tuple[str, Any, Any, float]] = [
    ("age BETWEEN 30 AND 40", lambda r: both_bands(r["age"], 30, 39), lambda r: both_bands(r["age"], 30, 44), 1 / 5),
    ("age = 37", lambda r: False, lambda r: both_bands(r["age"], 35, 39), 1 / 5),
    ("age = 35", lambda r: False, lambda r: both_bands(r["age"], 35, 39), 1 / 5),
    ("age > 52", lambda r: both_bands(r["age"], 55, 99), lambda r: both_bands(r["age"], 50, 99), 2 / 5),
    ("age > 31 AND age < 33", lambda r: False, lambda r: both_bands(r["age"], 30, 34), 1 / 5),
    ("age = 31 OR age = 33", lambda r: False, lambda r: both_bands(r["age"], 30, 34), 2 / 5),
    ("age <> 37", lambda r: r["age"] is not None and not both_bands(r["age"], 35, 39), lambda r: r["age"] is not None, 4 / 5),
    (
        "NOT (age = 37)",
        lambda r: r["age"] is not None and not both_bands(r["age"], 35, 39),
        lambda r: r["age"] is not None,
        4 / 5,
    ),
    ("age >= 95", lambda r: False, lambda r: both_bands(r["age"], 90, 99), 1 / 2),
    ("age = 95", lambda r: False, lambda r: both_bands(r["age"], 90, 99), 0),
    ("age < 10", lambda r: False, lambda r: both_bands(r["age"], 0, 19), 1 / 2),
    ("weight <= 54", lambda r: r["weight"] < 50, lambda r: r["weight"] < 60, 2 / 5),
    ("weight <= 50", lambda r: r["weight"] < 50, lambda r: r["weight"] < 60, 0),
    ("weight > 50", lambda r: r["weight"] >= 60, lambda r: r["weight"] >= 50, 1),
    ("income < 175", lambda r: r["income"] < 150, lambda r: r["income"] < 250, 1 / 4),
    ("postcode = '46134'", lambda r: False, lambda r: r["postcode"].startswith("46"), 0),
    ("postcode LIKE '461%'", lambda r: False, lambda r: r["postcode"].startswith("46"), 1 / 2),
    ("postcode LIKE '%134'", lambda r: False, lambda r: r["postcode"] != "4", 1 / 2),
    ("postcode >= '46135'", lambda r: r["postcode"] == "99999", lambda r: r["postcode"][:2] in ("46", "99"), 1 / 2),
    ("admitted >= '2024-03-10'", lambda r: r["admitted"].month > 3, lambda r: r["admitted"].month >= 3, 22 / 31),
    ("admitted = '2024-03-02'", lambda r: False, lambda r: r["admitted"].month == 3, 1 / 31),
    (
        "born <= '2024-01-10'",
        lambda r: r["born"] < dt.date(2024, 1, 8),
        lambda r: r["born"] < dt.date(2024, 1, 15),
        3 / 7,
    ),
    ("ward = 'ICU'", lambda r: False, lambda r: r["ward"] in ("ICU", "HDU"), 1 / 2),
    ("ward = 'C'", lambda r: False, lambda r: r["ward"] in ("C", "D"), 0),
    ("ward LIKE 'I%'", lambda r: False, lambda r: r["ward"] not in ("A", "B"), 1 / 2),
    ("salary > 1500", lambda r: r["salary"] >= 3000, lambda r: r["salary"] >= 1000, 3 / 4),
    ("salary >= 5000", lambda r: False, lambda r: r["salary"] >= 3000, 1 / 2),
]


@pytest.mark.parametrize(("condition", "sure", "possible", "share"), PARTLY)
def test_a_value_that_is_cut_through_is_counted_by_its_share_between_none_and_all(
    condition: str, sure: Any, possible: Any, share: float
) -> None:
    least, most = sum(map(sure, ROWS)), sum(map(possible, ROWS))
    assert least < most
    answer = asked(condition)
    assert (answer.low, answer.high) == (least, most)
    assert answer.value == pytest.approx(least + share * (most - least))
    assert answer.std_error == pytest.approx((most - least) / np.sqrt(12))
    assert "counted" in answer.note


@pytest.mark.parametrize(
    ("condition", "exact", "taken_as"),
    [
        ("postcode = '46'", lambda r: r["postcode"].startswith("46"), "begins so"),
        ("postcode <= '11'", lambda r: r["postcode"].startswith("11"), "begins so"),
        ("admitted = '2024-03-01'", lambda r: r["admitted"].month == 3, "the whole of 2024-03"),
        ("admitted IN ('2024-03-01', '2024-05-01')", lambda r: r["admitted"].month in (3, 5), "the whole of 2024-05"),
        ("ward = 'intensive'", lambda r: r["ward"] in ("ICU", "HDU"), "the whole group"),
        ("ward = 'rest'", lambda r: r["ward"] in ("C", "D"), "the whole group"),
        ("salary = '[1000, 3000)'", lambda r: 1000 <= r["salary"] < 3000, ""),
        ("salary LIKE '[3000%'", lambda r: r["salary"] >= 3000, ""),
    ],
)
def test_a_published_form_means_everybody_behind_it_and_is_noted(condition: str, exact: Any, taken_as: str) -> None:
    truth = sum(map(exact, ROWS))
    answer = asked(condition)
    assert (answer.value, answer.low, answer.high) == (truth, truth, truth)
    assert taken_as in answer.note
    assert bool(taken_as) == bool(answer.note)


def test_the_note_names_the_share_and_conditions_that_would_be_exact() -> None:
    assert asked("age BETWEEN 30 AND 40").note == (
        "age is published in bands of 5 from 18 on up to 90: 40–44 is counted by the share 1/5 that is inside; ask for "
        "age BETWEEN 30 AND 39 or for age BETWEEN 30 AND 44 for an exact condition"
    )
    assert "admitted >= '2024-04-01' or for admitted >= '2024-03-01'" in asked("admitted >= '2024-03-10'").note
    assert "90 and more are inside" in asked("age >= 95").note
    assert "ask for postcode LIKE '46%'" in asked("postcode = '46134'").note
    assert "weight < 50 or for weight < 60" in asked("weight <= 54").note
    assert "ask for ward = 'intensive'" in asked("ward = 'ICU'").note
    assert asked("age > 52 AND weight < 60").note.count("ask for") == 1


ATOMS = st.sampled_from(
    [
        "age = 37", "age > 52", "age BETWEEN 33 AND 47", "age IN (1, 36, 95)", "age < 30", "age IS NULL", "weight <= 54",
        "income >= 230", "postcode = '46134'", "postcode LIKE '4613_'", "postcode LIKE '%5'", "postcode < '46135'",
        "ward = 'ICU'",
        "ward IN ('C', 'A')", "ward LIKE '%D%'", "admitted >= '2024-03-10'", "admitted < '2024-11-20'", "born = '2024-01-09'",
        "salary > 1500", "salary <= 3000", "salary = 999", "salary < 1000",
    ]
)  # fmt: skip
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda c: f"NOT ({c})"),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(CONDITIONS)
def test_whatever_the_condition_the_truth_lies_between_the_extremes(database: sqlite3.Connection, condition: str) -> None:
    truth = database.execute(f"SELECT COUNT(*) FROM t WHERE {condition}").fetchone()[0]
    query = parse_sql(condition)
    question = BucketsEngine.of(RELEASE).ask(query, "paper")
    compiled = compile_condition(query.condition, question.vocabulary)
    least, most = (compiled.pieces,) * 2 if compiled.partly is None else (compiled.partly.sure, compiled.partly.possible)
    assert question.guess(least).least <= truth <= question.guess(most).most
    if compiled.partly is not None:
        assert sum(weight for weight, _ in compiled.partly.worlds) == pytest.approx(1)
        assert len(compiled.partly.worlds) <= MAX_WORLDS or len(compiled.partly.worlds) <= 2**7


def test_intervals_cover_the_truth_of_questions_that_cut_through_bands() -> None:
    inside = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        age = random.integers(0, 100, 3000)
        ill = (age // 12 + random.integers(0, 6, 3000)) % 10
        rows = [{"age": int(a), "ill": f"v{v}"} for a, v in zip(age, ill, strict=True)]
        schema = Schema(quasi=["age"], sensitive=["ill"], recode={"age": {"width": 5, "top": 90}})
        table = Table.from_frame(pa.Table.from_pylist(rows), schema)
        release = Anatomy(l=4).run(table, LDiversity(4), random=seed).release
        for low in (3, 22, 41, 63):
            answer = count(release, f"age BETWEEN {low} AND {low + 20} AND ill IN ('v1', 'v4')")
            assert isinstance(answer, Estimate)
            assert answer.low is not None
            assert answer.high is not None
            truth = int(((age >= low) & (age <= low + 20) & np.isin(ill, [1, 4])).sum())
            inside.append(answer.low <= truth <= answer.high)
            assert answer.low < answer.value < answer.high
    # At least 95 % are promised: 41 or fewer of 48 then have a probability below 1 %.
    assert sum(inside) >= 42


def test_the_cells_of_a_group_by_add_up_and_carry_the_note() -> None:
    answer = count(RELEASE, "SELECT age, COUNT(*) WHERE age BETWEEN 33 AND 47 GROUP BY age")
    cells = {key["age"]: cell for key, cell in answer}  # type: ignore[union-attr]
    assert list(cells) == [30, 35, 40, 45]
    people = {low: sum(both_bands(row["age"], low, low + 4) for row in ROWS) for low in cells}
    assert [cells[low].value for low in cells] == pytest.approx([people[30] * 0.4, people[35], people[40], people[45] * 0.6])
    assert (cells[30].low, cells[30].high, cells[35].low) == (0, people[30], people[35])
    assert "2/5" in cells[30].note
    assert cells[35].note == ""
    assert answer.total.value == pytest.approx(sum(cell.value for cell in cells.values()))  # type: ignore[union-attr]


def test_without_an_interval_a_partial_answer_has_none_either() -> None:
    answer = asked("age BETWEEN 33 AND 47 AND salary < 1000", estimator="paper")
    assert (answer.low, answer.high) == (None, None)
    assert "no interval" in answer.note
    assert "share 2/5" in answer.note


def test_a_condition_in_published_terms_speaks_of_the_published_values() -> None:
    people = sum(both_bands(row["age"], 35, 39) for row in ROWS)
    answer = count(RELEASE, Query.where(age=35, terms="published"))
    assert (answer.value, answer.low, answer.high) == (people, people, people)  # type: ignore[union-attr]
    with pytest.raises(QueryError, match="'original' or 'published'"):
        Query.where(age=35, terms="raw")  # type: ignore[arg-type]


def test_workloads_and_their_truth_speak_of_published_values() -> None:
    rows = [{"age": row["age"] or 0, "sex": "fm"[i % 2], "ill": f"v{i % 7}"} for i, row in enumerate(originals(900, 3))]
    schema = Schema(quasi=["age", "sex"], sensitive=["ill"], recode={"age": {"width": 5}})
    table = Table.from_frame(pa.Table.from_pylist(rows), schema)
    workload = range_workload(table, queries=20, lambda_=2, theta=0.3, seed=0)
    release = Anatomy(l=3).run(table, LDiversity(3), random=0).release
    assert query_error(release, table, workload).queries == 20
    assert true_answers(table, [parse_sql("age BETWEEN 30 AND 39")]) == sum(30 <= row["age"] <= 39 for row in rows)
    with pytest.raises(QueryError, match="no exact answer"):
        true_answers(table, [parse_sql("age BETWEEN 30 AND 40")])


def test_whole_numbers_end_before_the_next_band_and_fractions_do_not() -> None:
    whole = released([{"q": value, "x": "ab"[value % 2]} for value in range(10)], {"q": {"width": 5}}, "x")
    parts = released([{"q": value / 2, "x": "ab"[value % 2]} for value in range(20)], {"q": {"width": 5}}, "x")
    assert count(whole, "q <= 4").std_error == 0  # type: ignore[union-attr]
    answer = count(parts, "q <= 4")  # 4.5 is published as 0 too
    assert (answer.value, answer.low, answer.high) == (pytest.approx(8), 0, 10)  # type: ignore[union-attr]


def test_numbers_published_as_floats_are_whole_when_they_all_are() -> None:
    rows = [{"q": float(value), "x": "ab"[value % 2]} for value in range(10)]
    assert count(released(rows, {"q": {"width": 5}}, "x"), "q <= 4").std_error == 0  # type: ignore[union-attr]


def test_groups_without_other_keep_unnamed_categories_as_they_are() -> None:
    rows = [{"q": value, "x": "ab"[i % 2]} for i, value in enumerate(["n1", "n2", "s", "s"])]
    release = released(rows, {"q": {"map": {"n1": "north", "n2": "north"}}}, "x")
    assert count(release, "q = 's'").value == 2  # type: ignore[union-attr]
    assert count(release, "q = 'n1'").value == 1  # type: ignore[union-attr]
    assert count(release, "q IN ('n1', 'n2')").high == 2  # type: ignore[union-attr]
    assert count(release, "q = 'n3'").note.startswith("q has no value 'n3'")  # type: ignore[union-attr]
    assert count(release, "q = 'sout'").note.startswith("q has no value 'sout'")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("age > '30'", "age > 30"),
        ("age IN ('30', 40)", "age IN (30, 40)"),
        ("age BETWEEN '30' AND '40'", "age BETWEEN 30 AND 40"),
        ("postcode = 46", "postcode = '46'"),
        ("admitted > 3", "admitted > '2024-01-01'"),
        ("admitted >= '2024-03-10 12:00'", "admitted >= '2024-03-10'"),
        ("salary > '3000'", "its bins are [0, 1000), [1000, 3000), [3000, inf)"),
    ],
)
def test_a_constant_of_another_type_is_refused_with_the_condition_rewritten(condition: str, hint: str) -> None:
    with pytest.raises(QueryError) as problem:
        asked(condition)
    assert hint in str(problem.value.hint)


def test_values_that_cannot_occur_are_noted() -> None:
    assert "LIKE '9%'" in asked("postcode = '9'").note
    assert "has no value '77123'" in asked("postcode = '77123'").note
    assert "its bins are" in asked("salary = '[0, 5)'").note


def test_a_manifest_that_does_not_fit_its_columns_is_refused() -> None:
    rows = [{"q": value, "x": "ab"[value % 2]} for value in range(10)]
    release = released(rows, {}, "x")
    schema = {**release.manifest.schema, "declared": Schema(quasi=["q"], sensitive=["x"], recode={"q": {"width": 5}}).to_dict()}
    wrong = BucketsRelease(
        Manifest(**{**release.manifest.__dict__, "schema": schema}),
        release.quasi, release.group, release.domain, release.st_group, release.st_value, release.st_count,
    )  # fmt: skip
    assert count(wrong, "x = 'a'").value == 5  # type: ignore[union-attr]
    with pytest.raises(FormatError, match="recoding"):
        count(wrong, "q = 3")
