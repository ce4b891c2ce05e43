"""Workloads as the literature defines them."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import QueryError
from sfumato.query import (
    And,
    Between,
    In,
    Missing,
    Or,
    Query,
    anatomy_workload,
    parse_sql,
    prefix_workload,
    range_workload,
    sql_workload,
    true_answers,
)
from sfumato.query.workload import values_per_predicate
from tests.query._releases import People, people


@pytest.fixture(scope="module")
def table() -> People:
    random = np.random.default_rng(0)
    data = {
        "age": random.integers(0, 50, 4000),
        "sex": np.array(["f", "m"])[random.integers(0, 2, 4000)],
        "ward": pa.array([None if w == 0 else f"w{w}" for w in random.integers(0, 20, 4000)]),
        "ill": random.integers(0, 30, 4000),
    }
    return people(pa.table(data), ["ill"])


@pytest.mark.parametrize(("size", "expected"), [(100, 48), (78, 37), (50, 24)])
def test_b_has_the_values_of_the_anatomy_paper(size: int, expected: int) -> None:
    assert values_per_predicate(size, 0.05, 3) == expected


def test_b_is_exact_where_the_power_is_and_stays_inside_the_domain() -> None:
    assert values_per_predicate(100, 0.01, 1) == 10
    assert values_per_predicate(10, 0.001, 2) == 1
    assert values_per_predicate(2, 1.0, 5) == 2
    assert values_per_predicate(3, 0.01, 1) == 1


def test_anatomy_queries_name_b_values_on_qd_columns_and_the_sensitive_one(table: People) -> None:
    workload = anatomy_workload(table, queries=200, qd=2, selectivity=0.05, seed=1)
    assert len(workload) == 200
    sizes = {"age": 50, "sex": 2, "ward": 20, "ill": 30}
    for query in workload:
        assert isinstance(query.condition, And)
        assert len(query.condition.parts) == 3
        for part in query.condition.parts:
            if isinstance(part, Or):  # the missing ward is one of the values
                values = len(part.parts[0].values) + 1  # type: ignore[union-attr]
                assert part.parts[1] == Missing("ward")
                name = "ward"
            else:
                assert isinstance(part, In)
                values, name = len(set(part.values)), part.column
            assert values == values_per_predicate(sizes[name], 0.05, 2)


def test_the_number_of_columns_is_uniform_when_not_given(table: People) -> None:
    workload = anatomy_workload(table, queries=900, seed=3)
    many = np.bincount([len(query.condition.parts) - 1 for query in workload])[1:]  # type: ignore[union-attr]
    assert many.sum() == 900
    assert (np.abs(many - 300) < 5 * math.sqrt(200)).all()  # false alarm below 1e-5


def test_the_mean_selectivity_is_that_of_the_rounded_b(table: People) -> None:
    workload = anatomy_workload(table, queries=800, qd=1, selectivity=0.05, seed=4)
    # b = 12 of 50 ages, 1 of 2 sexes, 5 of 20 wards, each with 7 of 30 illnesses, all independent and uniform
    expected = (12 / 50 + 1 / 2 + 5 / 20) / 3 * 7 / 30
    assert true_answers(table, workload).mean() / 4000 == pytest.approx(expected, rel=0.08)


def test_range_queries_are_contiguous_and_have_an_answer(table: People) -> None:
    workload = range_workload(table, queries=300, lambda_=2, theta=0.1, seed=5)
    assert len(workload) + workload.dropped == 300
    assert (true_answers(table, workload) > 0).all()
    lengths = set()
    for query in workload:
        for part in query.condition.parts:  # type: ignore[union-attr]
            if isinstance(part, Between) and part.column == "age":
                lengths.add(part.high - part.low + 1)  # type: ignore[operator]
            if isinstance(part, In) and part.column == "ill":
                assert sorted(part.values) == list(range(min(part.values), max(part.values) + 1))  # type: ignore[type-var, arg-type]
                assert len(part.values) == round(30 * 0.1 ** (1 / 3))
    assert lengths == {round(50 * 0.1 ** (1 / 3))}


def test_prefix_queries_reach_from_the_first_value_and_name_single_values_of_somebody(table: People) -> None:
    workload = prefix_workload(table, "age", ["sex", "ward"], queries=200, share=0.2, seed=6)
    assert len(workload) + workload.dropped == 200
    assert (true_answers(table, workload) > 0).all()
    ends = set()
    for query in workload:
        age, sex, ward, ill = query.condition.parts  # type: ignore[union-attr]
        assert (age.column, age.low) == ("age", 0)
        ends.add(age.high)
        assert sex.low == sex.high
        assert ward == Missing("ward") or ward.low == ward.high
        assert sorted(ill.values) == list(range(min(ill.values), min(ill.values) + 6))
    assert len(ends) > 40
    assert any(query.condition.parts[2] == Missing("ward") for query in workload)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("prefix", "single", "word"),
    [("sex", [], "no values in an order"), ("age", ["seks"], "no quasi column 'seks'"), ("age", ["age"], "named twice")],
)
def test_impossible_prefix_queries_are_refused(table: People, prefix: str, single: list[str], word: str) -> None:
    with pytest.raises(QueryError, match=word):
        prefix_workload(table, prefix, single)


def test_the_same_seed_gives_the_same_workload(table: People) -> None:
    assert anatomy_workload(table, queries=20, seed=7) == anatomy_workload(table, queries=20, seed=7)
    assert anatomy_workload(table, queries=20, seed=7) != anatomy_workload(table, queries=20, seed=8)


def test_true_answers_are_those_of_a_plain_loop(table: People) -> None:
    workload = anatomy_workload(table, queries=60, selectivity=0.1, seed=9)
    rows = list(zip(*(column.arrow().to_pylist() for column in table.quasi), table.sensitive.codes.tolist(), strict=True))

    def holds(query: Query, row: tuple[object, ...]) -> bool:
        values = dict(zip(("age", "sex", "ward", "ill"), row, strict=True))
        for part in query.condition.parts:  # type: ignore[union-attr]
            options = part.parts if isinstance(part, Or) else (part,)
            if not any(
                values[option.column] in option.values if isinstance(option, In) else values[option.column] is None  # type: ignore[union-attr]
                for option in options
            ):
                return False
        return True

    expected = [sum(holds(query, row) for row in rows[:4000]) for query in list(workload)[:12]]
    assert true_answers(table, list(workload)[:12]).tolist() == expected


def test_a_compound_attribute_gets_queries_on_its_combinations() -> None:
    data = pa.table({"q": [1, 2, 3, 4], "ill": ["a", "a", "b", None], "smoker": ["y", "n", "n", "y"]})
    table = people(data, ["ill", "smoker"])
    workload = anatomy_workload(table, queries=40, qd=1, selectivity=0.25, seed=0)
    # b = ⌈4·0.5⌉ = 2 on each side, so at most two people
    answers = true_answers(table, workload)
    assert answers.max() == 2
    assert answers.min() == 0


def test_an_owners_queries_are_one_a_line_with_comments() -> None:
    workload = sql_workload("# ours\n-- also ours\n\nage > 3\nSELECT COUNT(*) WHERE sex = 'f'\n")
    assert workload.queries == (parse_sql("age > 3"), parse_sql("sex = 'f'"))
    with pytest.raises(QueryError, match="line 2: a workload"):
        sql_workload("age > 3\nSELECT SUM(age)")
    with pytest.raises(QueryError, match="no query"):
        sql_workload("# nothing\n")


@pytest.mark.parametrize(
    "options", [{"queries": 0}, {"selectivity": 0}, {"selectivity": 1.5}, {"qd": 4}, {"qd": 0}, {"queries": True}]
)
def test_impossible_workloads_are_refused(table: People, options: dict[str, float]) -> None:
    with pytest.raises(QueryError, match=r"expected|lies above|can use"):
        anatomy_workload(table, **options)  # type: ignore[arg-type]


def test_a_group_by_is_no_workload_query(table: People) -> None:
    with pytest.raises(QueryError, match="GROUP BY"):
        true_answers(table, [Query(group_by=("sex",))])
