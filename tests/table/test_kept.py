"""A file that is read once: tables made of it are those that are read from the file itself, whatever was made before."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError, PolicyError
from sfumato.policy.draft import draft_policy
from sfumato.table import Schema, Table
from sfumato.table.classes import Classes, alone, counted
from sfumato.table.generators import hospital
from sfumato.table.read import read_arrow
from sfumato.table.source import SharedFile
from sfumato.table.write import write_table

ROLES: dict[str, Any] = {"identifier": ["patient"], "sensitive": ["diagnosis"]}
QUASI = ["age", "sex", "postcode", "admitted", "ward", "insurance"]
SCHEMAS = [
    Schema(**ROLES, quasi=QUASI, types={"postcode": "categorical"}),
    Schema(**ROLES, quasi=QUASI, recode={"age": {"width": 10}, "postcode": {"prefix": 2}}, types={"postcode": "categorical"}),
    Schema(**ROLES, quasi=["postcode", "age"], other=["sex", "admitted", "ward", "insurance"]),
    Schema(quasi=["sex", "ward"], sensitive=["age"], other=["patient", "postcode", "admitted", "insurance", "diagnosis"],
           bins={"age": {"people": 4}}),
    Schema(quasi=QUASI[1:], sensitive=["diagnosis", "age"], protect="each", bins={"age": [0, 30, 60, 200]}, other=["patient"],
           types={"postcode": "categorical"}, recode={"admitted": {"to": "month"}}),
]  # fmt: skip


@pytest.fixture(params=["csv", "parquet"])
def patients(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    place = tmp_path / f"patients.{request.param}"
    write_table(hospital(300, seed=2), place)
    return place


def same(one: Table, other: Table) -> None:
    assert one.to_arrow().equals(other.to_arrow())
    assert (one.schema, one.dropped, one.suspects, one.choice) == (other.schema, other.dropped, other.suspects, other.choice)
    assert one.fingerprint == other.fingerprint
    assert [column.codes.dtype for column in one.quasi] == [column.codes.dtype for column in other.quasi]


@pytest.mark.parametrize("order", [*permutations(range(3)), (3, 4, 0), (4, 3, 1, 4)])
def test_a_table_of_a_kept_file_is_the_one_of_the_file_whatever_was_made_before(patients: Path, order: tuple[int, ...]) -> None:
    kept = SharedFile(patients)
    for place in order:
        same(Table.read(kept, SCHEMAS[place]), Table.read(patients, SCHEMAS[place]))
    assert read_arrow(kept).to_pydict() == read_arrow(patients).to_pydict()
    assert draft_policy(kept) == draft_policy(patients)


def test_a_file_is_read_once_and_again_when_it_was_written_to(patients: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SharedFile(patients)
    first = Table.read(kept, SCHEMAS[0])
    monkeypatch.setattr("sfumato.table.textfile.TextFile.read", _never)
    monkeypatch.setattr("sfumato.table.read._read_columns", _never)
    again = Table.read(kept, SCHEMAS[1])
    assert again.rows == first.rows
    monkeypatch.undo()
    patients.unlink()
    write_table(hospital(200, seed=3), patients)
    assert Table.read(kept, SCHEMAS[1]).rows == 200


def _never(*_: object, **__: object) -> None:
    raise AssertionError("the file was read again")


def test_what_is_wrong_is_the_same_error_and_is_not_remembered(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    rows = [f"{'p1' if row < 2 else f'p{row}'},{row % 7},{'x' if row % 9 else ''}" for row in range(40)]
    place.write_text("\n".join(["person,age,illness", *rows]), encoding="utf-8")
    kept = SharedFile(place)
    wrong = [
        Schema(identifier=["person"], quasi=["age"], sensitive=["illness"], missing={"illness": "value"}),
        Schema(quasi=["age"], sensitive=["illness"], other=["person"]),
        Schema(quasi=["age", "person"], sensitive=["illness"], recode={"person": {"width": 5}}, missing={"illness": "value"}),
    ]
    for schema in [*wrong, *wrong]:
        said = []
        for source in (kept, place):
            with pytest.raises((InputError, PolicyError)) as error:
                Table.read(source, schema)
            said.append(str(error.value))
        assert said[0] == said[1]
    dropped = Schema(quasi=["age"], sensitive=["illness"], other=["person"], missing={"illness": "drop"})
    same(Table.read(kept, dropped), Table.read(place, dropped))


def test_one_row_of_each_person_is_kept_with_the_same_coins(tmp_path: Path) -> None:
    place = tmp_path / "visits.parquet"
    coins = np.random.default_rng(4)
    visits = {
        "patient_id": coins.integers(0, 80, 300),
        "visit": coins.integers(0, 3, 300),
        "age": coins.integers(20, 60, 300),
        "illness": coins.choice(["Flu", "Gout", "Asthma"], 300),
    }
    pq.write_table(pa.table(visits), place)
    kept = SharedFile(place)
    for width in (5, 10, 5):
        schema = Schema(
            identifier=["patient_id"], quasi=["age"], sensitive=["illness"], other=["visit"], recode={"age": {"width": width}},
            people={"key": "patient_id", "keep": "last by visit"},
        )  # fmt: skip
        same(Table.read(kept, schema, random=7), Table.read(place, schema, random=7))


@pytest.mark.parametrize("sizes", [(3, 2), (40, 5, 9), (2**20, 2**20, 2**20, 2**20)])
def test_classes_and_who_is_alone_are_what_comparing_everybody_gives(sizes: tuple[int, ...]) -> None:
    coins = np.random.default_rng(len(sizes))
    for _ in range(20):
        few = [coins.integers(0, min(size, 5), 30) * (size // min(size, 5)) for size in sizes]
        people = list(zip(*(codes.tolist() for codes in few), strict=True))
        expected = sum(people.count(one) == 1 for one in people)
        assert alone(list(zip(few, sizes, strict=True))) == expected
        once = sorted(set(people))
        columns = [np.array(codes) for codes in zip(*once, strict=True)]
        many = np.array([people.count(one) for one in once])
        assert alone(list(zip(columns, sizes, strict=True)), many) == expected
        without = [one[1:] for one in people]
        assert alone(list(zip(columns[1:], sizes[1:], strict=True)), many) == sum(without.count(one) == 1 for one in without)
        table = Table.from_frame(
            pa.table({**{str(k): codes for k, codes in enumerate(few)}, "secret": ["a", "b"] * 15}),
            Schema(quasi=[str(k) for k in range(len(sizes))], sensitive=["secret"]),
        )
        classes = Classes.of(table.quasi)
        shown = [tuple(column.values[int(code)].as_py() for column, code in zip(table.quasi, codes, strict=True))
                 for codes in zip(*classes.codes, strict=True)]  # fmt: skip
        assert (shown, classes.sizes.tolist()) == (once, many.tolist())
        assert classes.alone == expected


def test_numbers_are_counted_in_a_table_or_by_sorting_alike() -> None:
    numbers = np.array([5, 1, 5, 0, 5])
    for size in (6, 10**9):
        assert [one.tolist() for one in counted(numbers, size)] == [[0, 1, 5], [1, 1, 3]]


def test_identifiers_in_many_pieces_are_coded_alike(tmp_path: Path) -> None:
    from sfumato.table.coding import split

    pieces = pa.chunked_array([["a", "b"], ["b", None], ["c", "a"]])
    values, codes = split(pieces)
    assert [None if code == len(values) else values[int(code)].as_py() for code in codes] == pieces.to_pylist()
    assert os.fspath(SharedFile(tmp_path / "x.csv")) == str(tmp_path / "x.csv")
