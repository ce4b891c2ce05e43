"""The fingerprint recognises a table, whatever its order and its policy."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table import Fingerprint, Schema, Table
from sfumato.table.fingerprint import SKETCH, hash_texts
from sfumato.table.generators import hospital

SCHEMA = Schema(
    identifier=["patient"], quasi=["age", "sex", "postcode", "admitted", "ward", "insurance"], sensitive=["diagnosis"]
)
DATA = hospital(5000, seed=3)


def print_of(data: pa.Table, schema: Schema = SCHEMA) -> Fingerprint:
    return Table.from_frame(data, schema).fingerprint


def test_row_and_column_order_do_not_matter() -> None:
    order = np.random.default_rng(0).permutation(len(DATA))
    shuffled = DATA.take(pa.array(order)).select(DATA.column_names[::-1])
    assert print_of(shuffled) == print_of(DATA)


def test_the_same_table_under_another_policy_has_the_same_fingerprint() -> None:
    other = Schema(
        identifier=["patient"],
        quasi=["insurance", "age", "sex", "postcode", "admitted", "ward"],
        sensitive=["diagnosis"],
        recode={"age": {"width": 10}, "postcode": {"prefix": 2}, "admitted": {"to": "month"}},
    )
    assert print_of(DATA, other) == print_of(DATA)


def test_one_changed_value_changes_the_digest_and_hardly_the_similarity() -> None:
    ages = DATA["age"].to_pylist()
    ages[17] += 1
    changed = print_of(DATA.set_column(1, "age", pa.array(ages)))
    assert changed.digest != print_of(DATA).digest
    assert changed.similarity(print_of(DATA)) >= 1 - 2 / SKETCH


def test_similarity_estimates_the_share_of_common_rows() -> None:
    fresh = hospital(5000, seed=4)
    assert print_of(fresh).similarity(print_of(DATA)) < 0.01
    part = print_of(DATA.slice(0, 2500))
    # Half of the rows in common: a binomial share of 256 draws, so ±0.16 is five standard deviations (one in a million).
    assert abs(part.similarity(print_of(DATA)) - 0.5) < 0.16


def test_small_tables_are_compared_exactly() -> None:
    a, b = print_of(DATA.slice(0, 30)), print_of(DATA.slice(10, 30))
    assert a.similarity(b) == 20 / 40
    assert a.similarity(a) == 1


def test_repeated_rows_count_in_the_digest_and_once_in_the_sketch() -> None:
    schema = Schema(quasi=["q"], sensitive=["s"])
    once = print_of(pa.table({"q": [1, 2], "s": ["x", "y"]}), schema)
    twice = print_of(pa.table({"q": [1, 2, 2], "s": ["x", "y", "y"]}), schema)
    assert once.digest != twice.digest
    assert once.sketch == twice.sketch
    many = print_of(pa.table({"q": [1, 2] * 20_000, "s": ["x", "y"] * 20_000}), schema)
    assert many.sketch == once.sketch


def test_values_moved_between_columns_change_the_fingerprint() -> None:
    schema = Schema(quasi=["a", "b"], sensitive=["s"])
    one = print_of(pa.table({"a": ["x"], "b": ["y"], "s": ["z"]}), schema)
    other = print_of(pa.table({"a": ["y"], "b": ["x"], "s": ["z"]}), schema)
    assert one.similarity(other) == 0


def test_it_survives_json() -> None:
    mark = print_of(DATA)
    assert Fingerprint.from_dict(json.loads(json.dumps(mark.to_dict()))) == mark


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=30), st.integers(0, 5))
def test_texts_have_equal_hashes_exactly_when_they_are_equal(texts: list[str | None], skip: int) -> None:
    hashes = hash_texts(pa.array(texts, pa.string())).tolist()
    assert len(set(hashes)) == len(set(texts))
    assert hash_texts(pa.array(texts, pa.string()).slice(skip)).tolist() == hashes[skip:]


def test_columns_are_recognised_whatever_their_roles_are() -> None:
    names = [name for name in DATA.column_names if name not in ("patient", "diagnosis")]
    fewer = Schema(identifier=["patient"], quasi=names[1:], sensitive=["diagnosis"], other=names[:1])
    one, other = print_of(DATA), print_of(DATA, fewer)
    assert one.similarity(other) == 0
    assert set(one.common_columns(other)) == {*names[1:], "diagnosis"}
    assert Fingerprint.from_dict(one.to_dict()) == one
