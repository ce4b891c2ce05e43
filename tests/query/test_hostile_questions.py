"""Questions from anybody: each is answered, or refused in one short sentence; no number, list or nesting is too much."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import QueryError
from sfumato.query import Between, In, Query, sql_workload
from sfumato.query.language.compile import Accept, Join, Place, RowCondition, compile_condition
from sfumato.query.language.disjoint import disjoint
from sfumato.query.language.sql import MAX_LENGTH, parse_sql
from sfumato.query.language.vocabulary import MOST_NOTES, Vocabulary
from sfumato.query.workload import true_answers
from sfumato.table import Schema, Table

PEOPLE = 200


def table() -> Table:
    data = pa.table(
        {
            "age": [20 + 7 * i % 60 for i in range(PEOPLE)],
            "height": [1.5 + i % 50 / 100 for i in range(PEOPLE)],
            "size": [i % 80 for i in range(PEOPLE)],
            "sex": ["fm"[i % 2] for i in range(PEOPLE)],
            "ill": [f"ill {i % 9}" for i in range(PEOPLE)],
        }
    )
    recode = {"age": {"width": 5, "top": 70}}
    return Table.from_frame(data, Schema(quasi=["age", "height", "size", "sex"], sensitive=["ill"], recode=recode))


TABLE = table()
VOCABULARY = Vocabulary.of(TABLE.quasi, TABLE.sensitive.domain, TABLE.schema)


def compiled(question: str | Query) -> object:
    query = parse_sql(question) if isinstance(question, str) else question
    return compile_condition(query.condition, VOCABULARY)


ENDLESS = "9" * 500

REFUSED = {
    "an exponent without a number": "age=1e",
    "a point alone": "age=.",
    "a hexadecimal number": "age=0x1F",
    "many parentheses": "(" * 1000 + "age=1" + ")" * 1000,
    "many negations": "NOT " * 5000 + "age=1",
    "many signs": "age=" + "- " * 3000 + "5",
    "many signs and parentheses": "age=" + "-(" * 150 + "5" + ")" * 150,
    "a long text": "x" * (MAX_LENGTH + 1),
    "a NUL": "age=1\0",
    "an open quote": "sex='",
    "an open comment": "age=1 /*",
    "a long wrong token": "age = 1 " + "x" * 90_000,
    "many parts on two columns": " OR ".join(f"(age BETWEEN {i} AND {i + 3} AND sex='f')" for i in range(1500)),
    "many parts on three columns": " OR ".join(f"(age={i % 90} AND sex='f' AND height>1.{i})" for i in range(1500)),
    "a number for a text": "sex = " + ENDLESS,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_question_is_refused_in_one_short_sentence(name: str) -> None:
    with pytest.raises(QueryError) as found:
        compiled(REFUSED[name])
    assert len(found.value.message) < 400
    assert len(str(found.value.hint or "")) < 500


EVERYBODY, NOBODY = PEOPLE, 0
ANSWERED = {
    "500 digits": (f"height = {ENDLESS}", NOBODY),
    "less than 500 digits": (f"height < {ENDLESS}", EVERYBODY),
    "500 digits of a recoded column": (f"age < {ENDLESS}", EVERYBODY),
    "more than minus 500 digits": (f"age > -{ENDLESS}", EVERYBODY),
    "5,000 digits": (f"height < {'9' * 5000}", EVERYBODY),
    "a range of 500 digits": (f"age BETWEEN -{ENDLESS} AND {ENDLESS}", EVERYBODY),
    "a float beyond all": ("height < 1e400 AND age < 1e999", EVERYBODY),
    "3,000 ranges of one column": (" OR ".join(f"size BETWEEN {i % 80} AND {i % 80 + 9}" for i in range(3000)), EVERYBODY),
    "a long chain": (" AND ".join(["height > 1"] * 5000), EVERYBODY),
    "a long list": (f"size IN ({', '.join(map(str, range(14_000)))})", EVERYBODY),
    "an empty list": ("age IN ()", NOBODY),
    "a long pattern": (f"sex LIKE '{'%a' * 20_000}'", NOBODY),
    "a NUL in a text": ("sex = 'f\0'", NOBODY),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_large_question_with_a_plain_meaning_is_answered(name: str) -> None:
    question, expected = ANSWERED[name]
    assert true_answers(TABLE, [parse_sql(question)]).tolist() == [expected]


@pytest.mark.parametrize(
    ("number", "below"),
    [
        (Decimal("1e999999999"), EVERYBODY),
        (Decimal("-1e999999999"), NOBODY),
        (10**5000, EVERYBODY),
        (-(10**5000), NOBODY),
        (float("inf"), EVERYBODY),
        (float("-inf"), NOBODY),
    ],
    ids=["large", "small", "10^5000", "-10^5000", "inf", "-inf"],
)
@pytest.mark.parametrize("column", ["age", "height"])
def test_python_numbers_of_any_size_can_be_compared(number: object, below: int, column: str) -> None:
    asked = [Query(Between(column, high=number)), Query(In(column, (number,)))]  # type: ignore[arg-type]
    assert true_answers(TABLE, asked).tolist() == [below, NOBODY]


@pytest.mark.parametrize("nan", [float("nan"), Decimal("nan"), Decimal("sNaN")], ids=["float", "decimal", "signalling"])
@pytest.mark.parametrize("column", ["age", "height"])
def test_nan_is_compared_with_nothing(nan: object, column: str) -> None:
    for condition in (Between(column, nan), Between(column, high=nan), In(column, (nan,))):  # type: ignore[arg-type]
        with pytest.raises(QueryError, match="NaN"):
            compiled(Query(condition))


def test_a_list_of_unknown_values_is_answered_with_few_remarks() -> None:
    unknown = ", ".join(f"'ill{i}'" for i in range(5000))
    found = compile_condition(parse_sql(f"ill IN ({unknown})").condition, VOCABULARY)
    assert len(found.notes) == MOST_NOTES + 1
    assert len("".join(found.notes)) < 1000


def test_a_condition_that_cuts_many_bands_is_explained_in_few_words() -> None:
    question = " OR ".join(f"(age <= {i % 60} AND height > 1.{i})" for i in range(400))
    found = compile_condition(parse_sql(question).condition, VOCABULARY)
    assert found.partly is not None
    assert len(found.partly.note) < 3000


def test_many_conditions_on_a_column_of_many_values_do_not_fill_the_memory() -> None:
    many = 100_000
    data = pa.table({"id": range(many), "ill": ["a", "b"] * (many // 2)})
    wide = Table.from_frame(data, Schema(quasi=["id"], sensitive=["ill"]))
    vocabulary = Vocabulary.of(wide.quasi, wide.sensitive.domain, wide.schema)
    tracemalloc.start()
    with pytest.raises(QueryError, match="very many values"):
        compile_condition(parse_sql(" OR ".join(f"id = {i}" for i in range(6000))).condition, vocabulary)
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert len(compile_condition(parse_sql(f"id IN ({', '.join(map(str, range(9000)))})").condition, vocabulary).pieces) == 1


def test_values_treated_in_too_many_ways_are_refused() -> None:
    many = 2000
    data = pa.table({"age": [i % 90 for i in range(many)], "ill": [f"i{i}" for i in range(many)]})
    wide = Table.from_frame(data, Schema(quasi=["age"], sensitive=["ill"]))
    vocabulary = Vocabulary.of(wide.quasi, wide.sensitive.domain, wide.schema)
    with pytest.raises(QueryError, match="too many sensitive values"):
        compile_condition(parse_sql(" OR ".join(f"(ill='i{i}' AND age={i % 90})" for i in range(many))).condition, vocabulary)


def test_a_condition_that_repeats_itself_without_end_is_refused_although_its_parts_are_few() -> None:
    cells = [np.eye(150, dtype=bool)[i] for i in range(150)]
    places = Place(False, 0), Place(False, 1)
    both = [Join("and", tuple(Accept(place, cells[i]) for place in places)) for i in range(150)]
    either = Join("or", tuple(both))
    assert len(disjoint(RowCondition({}, (either,)))) == 150
    with pytest.raises(QueryError, match="conjunctions"):
        disjoint(RowCondition({}, (Join("or", either.parts * 50),)))


def test_a_workload_that_is_another_file_is_not_quoted() -> None:
    with pytest.raises(QueryError) as found:
        sql_workload("# questions\nP00001634,4,female,46134,Concussion\n")
    assert "line 2" in found.value.message
    assert "P0000" not in str(found.value)
    assert "Concussion" not in str(found.value)


def test_an_example_of_a_constant_is_none_of_the_column() -> None:
    with pytest.raises(QueryError) as found:
        compile_condition(parse_sql("height = 'tall'").condition, VOCABULARY)
    assert found.value.hint == "for instance height = 30"
