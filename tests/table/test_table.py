"""A coded table holds what the frame holds, whatever the frame."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError, PolicyError
from sfumato.table import Schema, Table, to_native

QS = Schema(quasi=["q"], sensitive=["s"])


def table_of(q: Any, s: Any = None, **options: Any) -> Table:
    data = pa.table({"q": q, "s": s if s is not None else ["x"] * len(q)})
    return Table.from_frame(data, Schema(quasi=["q"], sensitive=["s"], **options))


def test_values_are_sorted_and_distinct_and_the_missing_code_is_last() -> None:
    column = table_of(["b", None, "a", "b"]).column("q")
    assert column.values.to_pylist() == ["a", "b"]
    assert column.codes.tolist() == [1, 2, 0, 1]
    assert column.has_missing
    assert column.labels() == ("a", "b", "(missing)")


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1), st.data())
def test_decoding_gives_back_every_row(numbers: list[int | None], data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.sampled_from(["a", "b", "ß"]), min_size=len(numbers), max_size=len(numbers)))
    table = table_of(pa.array(numbers, pa.int64()), texts)
    assert table.to_arrow().to_pydict() == {"q": numbers, "s": texts}
    assert table.sensitive.histogram() == dict(Counter(texts))
    values = table.column("q").values.to_pylist()
    assert values == sorted({number for number in numbers if number is not None})


@pytest.mark.parametrize(
    ("data", "kind", "values"),
    [
        (pa.array([1.5, math.nan, -0.0, 0.0]), "numeric", [0.0, 1.5]),
        (pa.array([3, None, 1], pa.int8()), "numeric", [1, 3]),
        (pa.array([0.1, 0.2], pa.float32()), "numeric", [0.1, 0.2]),
        (pa.array([Decimal("2.00"), Decimal("1.00")]), "numeric", [1, 2]),
        (pa.array([Decimal("2.50"), Decimal("1.00")]), "numeric", [1.0, 2.5]),
        (pa.array([True, False, None]), "categorical", ["false", "true"]),
        (pa.array(["b", "a"], pa.large_string()), "categorical", ["a", "b"]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), "categorical", ["a", "b"]),
        (pa.array([date(2024, 1, 2), date(2024, 1, 1)]), "date", [date(2024, 1, 1), date(2024, 1, 2)]),
        (pa.array([datetime(2024, 1, 2)], pa.timestamp("ns")), "date", [date(2024, 1, 2)]),
        (pa.array([datetime(2024, 1, 2, 3)], pa.timestamp("s")), "date", [datetime(2024, 1, 2, 3)]),
        (
            pa.array([datetime(2024, 1, 1, 23)], pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Europe/Berlin")),
            "date",
            [date(2024, 1, 2)],
        ),
        (pa.nulls(2), "categorical", []),
    ],
)
def test_every_arrow_type_becomes_one_of_three_kinds(data: pa.Array, kind: str, values: list[Any]) -> None:
    column = table_of(data).column("q")
    assert (column.kind, column.values.to_pylist()) == (kind, values)
    assert column.has_missing == (data.null_count > 0 or any(v != v for v in data.to_pylist()))


def test_dictionary_entries_that_no_row_has_are_left_out() -> None:
    data = pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.int8()), pa.array(["c", "unused", "a"]))
    column = table_of(data).column("q")
    assert column.values.to_pylist() == ["a", "c"]
    assert column.codes.tolist() == [0, 1, 2]


def test_a_narrow_dictionary_has_room_for_the_missing_code() -> None:
    values = pa.array([f"{i:03}" for i in range(128)])
    data = pa.DictionaryArray.from_arrays(pa.array([*range(128), None], pa.int8()), values)
    assert table_of(data).column("q").codes.tolist() == list(range(129))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pa.array([[1], [2]]), "cannot be published"),
        (pa.array([b"x"]), "cannot be published"),
        (pa.array([math.inf]), "infinite"),
        (pa.array([2**63], pa.uint64()), "2^63"),
    ],
)
def test_values_that_no_column_can_hold_are_refused(data: pa.Array, message: str) -> None:
    with pytest.raises(InputError) as problem:
        table_of(data)
    assert message in problem.value.message


def test_declared_kinds_convert_numbers_and_texts() -> None:
    assert table_of([10, 9], types={"q": "categorical"}).column("q").values.to_pylist() == ["10", "9"]
    assert table_of(["10", "9"], types={"q": "numeric"}).column("q").values.to_pylist() == [9, 10]
    assert table_of([20241231], types={"q": "date"}).column("q").values.to_pylist() == [date(2024, 12, 31)]
    with pytest.raises(InputError, match=r"numeric.*date"):
        table_of([date(2024, 1, 1)], types={"q": "numeric"})


def test_missing_rules_keep_drop_or_refuse() -> None:
    q, s = ["a", None, "b", "a"], ["x", "x", None, "y"]
    kept = table_of(q, s, missing={"s": "value"})
    assert kept.sensitive.histogram() == {"x": 2, "y": 1, "(missing)": 1}
    dropped = table_of(q, s, missing={"q": "drop", "s": "drop"})
    assert dropped.to_arrow().to_pydict() == {"q": ["a", "a"], "s": ["x", "y"]}
    assert (dropped.rows, dropped.dropped) == (2, 2)
    assert dropped.column("q").values.to_pylist() == ["a"]
    with pytest.raises(InputError, match="'s': 1 of 4 values are missing"):
        table_of(q, s)
    with pytest.raises(InputError, match="'q': 1 of 4 values are missing"):
        table_of(q, ["x"] * 4, missing={"q": "error"})
    with pytest.raises(InputError, match="missing value"):
        table_of(["a"], pa.array([None], pa.string()), missing={"s": "drop"})


def test_recoded_columns_are_published_recoded_and_missing_stays_missing() -> None:
    table = table_of([1, 4, None, 7, 99], recode={"q": {"width": 5, "top": 90}})
    assert table.column("q").values.to_pylist() == [0, 5, 90]
    assert table.to_arrow()["q"].to_pylist() == [0, 0, None, 5, 90]


def test_binned_sensitive_numbers_become_texts_in_the_order_of_the_bins() -> None:
    table = table_of([1, 2, 3, 4], [5, 100, 20, None], bins={"s": [0, 10, 50, 70, 100]}, missing={"s": "value"})
    assert table.sensitive.labels == ("[0, 10)", "[10, 50)", "[70, 100]", "(missing)")
    assert table.sensitive.codes.tolist() == [0, 2, 1, 3]
    with pytest.raises(InputError, match=r"2 of 3 values.*\[0, 10\) … \[10, 50\]"):
        table_of([1, 2, 3], [5, -1, 51], bins={"s": [0, 10, 50]})
    with pytest.raises(PolicyError, match="only numbers have bins"):
        table_of([1], ["x"], bins={"s": [0, 10]})


def test_many_sensitive_numbers_need_bins_or_a_declaration() -> None:
    numbers = list(range(51))
    with pytest.raises(InputError) as problem:
        table_of(numbers, numbers)
    assert 'bins={"s": [' in (problem.value.hint or "")
    assert table_of(numbers, numbers, types={"s": "categorical"}).sensitive.labels[:3] == ("0", "1", "10")
    assert table_of(numbers[:50], numbers[:50]).sensitive.labels[:3] == ("0", "1", "2")


def test_several_sensitive_columns_form_the_combinations_that_occur() -> None:
    data = pa.table({"q": [1, 2, 3, 4], "a": ["HIV", "Flu", "HIV", "Flu"], "b": [2, 1, None, 1]})
    schema = Schema(quasi=["q"], sensitive=["a", "b"], protect="combination", missing={"b": "value"})
    sensitive = Table.from_frame(data, schema).sensitive
    assert sensitive.histogram() == {"Flu / 1": 2, "HIV / 2": 1, "HIV / (missing)": 1}
    assert sensitive.codes.tolist() == [1, 0, 2, 0]
    assert sensitive.domain.table.to_pydict() == {"a": ["Flu", "HIV", "HIV"], "b": [1, 2, None]}


def test_combinations_that_would_be_written_the_same_way_are_refused() -> None:
    data = pa.table({"q": [1, 2], "a": ["x / y", "x"], "b": ["z", "y / z"]})
    with pytest.raises(InputError, match="written the same way"):
        Table.from_frame(data, Schema(quasi=["q"], sensitive=["a", "b"], protect="combination"))


def test_values_outside_a_declared_domain_are_counted() -> None:
    with pytest.raises(InputError, match=r"'q': 3 of 4 values.*\(2 different"):
        table_of([1, 7, 7, -1], domains={"q": {"min": 0, "max": 6}})
    with pytest.raises(InputError, match="'s': 1 of 2 values"):
        table_of([1, 2], ["x", "z"], domains={"s": ["x", "y"]})
    with pytest.raises(PolicyError, match=r"categorical.*list of values"):
        table_of(["a"], domains={"q": {"min": 0, "max": 6}})
    day = {"min": "2024-01-01", "max": "2024-12-31"}
    assert table_of([datetime(2024, 12, 31, 23, 59)], domains={"q": day}).rows == 1
    assert table_of([3, 4], domains={"q": [3.0, 4]}, recode={"q": {"width": 1}}).rows == 2


def test_people_with_several_rows_are_counted_without_being_named() -> None:
    data = pa.table({"id": ["ann", "bob", "ann", "cat", "bob", "ann"], "q": [1] * 6, "s": ["x"] * 6})
    schema = Schema(identifier=["id"], quasi=["q"], sensitive=["s"])
    with pytest.raises(InputError) as problem:
        Table.from_frame(data, schema)
    assert "2 people have several rows (5" in problem.value.message
    assert 'people={"key"' in (problem.value.hint or "")
    assert "one_row_per_person=False" in (problem.value.hint or "")
    assert not any(name in str(problem.value) for name in ("ann", "bob"))
    allowed = Schema(identifier=["id"], quasi=["q"], sensitive=["s"], one_row_per_person=False)
    assert Table.from_frame(data, allowed).to_arrow().column_names == ["q", "s"]


def test_identifiers_are_compared_together_and_absent_ones_are_not() -> None:
    schema = Schema(identifier=["first", "last"], quasi=["q"], sensitive=["s"])
    names = {"first": ["a", "a", None, None], "last": ["x", "y", None, None]}
    data = pa.table(names | {"q": [1] * 4, "s": ["x"] * 4})
    assert Table.from_frame(data, schema).rows == 4
    with pytest.raises(InputError, match="1 person has several rows"):
        Table.from_frame(pa.concat_tables([data, data.slice(0, 1)]), schema)


def test_quasi_ids_number_the_combinations_in_ascending_order() -> None:
    data = pa.table({"a": [2, 1, 2, 1, None], "b": ["x", "y", "x", "x", "x"], "s": ["v"] * 5})
    table = Table.from_frame(data, Schema(quasi=["a", "b"], sensitive=["s"]))
    assert table.quasi_ids().tolist() == [2, 1, 2, 0, 3]
    assert table.unique_share() == Fraction(3, 5)


def test_quasi_ids_are_right_when_the_combinations_do_not_fit_in_64_bits() -> None:
    random = np.random.default_rng(0)
    columns = {f"q{i}": random.integers(0, 3000, 3000) for i in range(8)}
    rows = np.concatenate([np.arange(3000), np.arange(1000)])
    data = pa.table({name: column[rows] for name, column in columns.items()} | {"s": ["x"] * 4000})
    table = Table.from_frame(data, Schema(quasi=list(columns), sensitive=["s"]))
    ids = table.quasi_ids()
    seen = list(zip(*(data[name].to_pylist() for name in columns), strict=True))
    number = {combination: place for place, combination in enumerate(sorted(set(seen)))}
    assert ids.tolist() == [number[combination] for combination in seen]
    assert table.unique_share() == Fraction(2000, 4000)


def test_taking_rows_leaves_out_what_they_do_not_have() -> None:
    table = table_of(["a", "b", None, "c"], ["x", "y", "y", "z"])
    part = table.take(np.array([3, 1]))
    assert part.to_arrow().to_pydict() == {"q": ["c", "b"], "s": ["z", "y"]}
    assert part.column("q").values.to_pylist() == ["b", "c"]
    assert part.sensitive.counts.tolist() == [1, 1]
    assert table.take(np.array([True, False, False, False])).sensitive.labels == ("x",)
    with pytest.raises(InputError, match="no row was chosen"):
        table.take(np.array([], dtype=np.int64))


def test_the_fingerprint_of_taken_rows_is_that_of_a_table_of_those_rows() -> None:
    data = pa.table({"id": [1, 2, 3, 4], "q": ["a", None, "b", "c"], "s": ["x", "y", "y", "z"]})
    schema = Schema(identifier=["id"], quasi=["q"], sensitive=["s"], missing={"q": "drop"})
    part = Table.from_frame(data, schema).take(np.array([1, 2]))
    assert part.fingerprint == Table.from_frame(data.slice(2, 2), schema).fingerprint


def test_every_kind_of_frame_gives_the_same_table_and_is_remembered() -> None:
    columns = {"q": ["b", "a", None], "n": [1, 2, 3], "s": ["x", "y", "x"]}
    schema = Schema(quasi=["q", "n"], sensitive=["s"])
    frames = {
        "pandas": pd.DataFrame(columns, index=[7, 8, 9]),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
    }
    for kind, frame in frames.items():
        table = Table.from_frame(frame, schema)
        assert table.native == kind
        assert table.to_arrow().to_pydict() == columns
        again = to_native(table.to_arrow(), table.native)
        assert type(again) is type(frame)
        assert Table.from_frame(again, schema).fingerprint == table.fingerprint


def test_categories_of_pandas_and_polars_are_read_as_their_values() -> None:
    for frame in (
        pd.DataFrame({"q": pd.Categorical(["b", "a"], categories=["b", "a", "never"]), "s": ["x", "y"]}),
        pl.DataFrame({"q": pl.Series(["b", "a"], dtype=pl.Categorical), "s": ["x", "y"]}),
    ):
        column = Table.from_frame(frame, QS).column("q")
        assert (column.values.to_pylist(), column.codes.tolist()) == (["a", "b"], [1, 0])


def test_frames_that_cannot_be_tables_are_refused() -> None:
    with pytest.raises(InputError, match=r"'q'.*different types") as problem:
        Table.from_frame(pd.DataFrame({"q": ["ann", 2], "s": ["x", "y"]}), QS)
    assert "ann" not in str(problem.value)
    twice = pd.DataFrame([[1, 2, 3]], columns=["q", "q", "s"])
    with pytest.raises(InputError, match="is called 'q'"):
        Table.from_frame(twice, QS)
    with pytest.raises(InputError, match="texts"):
        Table.from_frame(pd.DataFrame({0: [1], "s": ["x"]}), QS)
    with pytest.raises(InputError, match="got LazyFrame") as lazy:
        Table.from_frame(pl.LazyFrame({"q": [1], "s": ["x"]}), QS)
    assert lazy.value.hint == "call .collect() first"
    with pytest.raises(InputError, match="got dict"):
        Table.from_frame({"q": [1]}, QS)
    with pytest.raises(InputError, match="no rows"):
        Table.from_frame(pa.table({"q": [], "s": []}), QS)
    with pytest.raises(InputError, match="'s', which"):
        Table.from_frame(pa.table({"q": [1]}), QS)
    with pytest.raises(PolicyError, match="'panda'"):
        to_native(pa.table({"q": [1]}), "panda")  # type: ignore[arg-type]


def test_a_printed_table_shows_no_values() -> None:
    assert repr(table_of(["ann", "bob"], ["HIV", "Flu"])) == "Table(2 rows; quasi: q; sensitive: s with 2 values)"
