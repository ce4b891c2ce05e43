"""Mutants of files with tables: damaged ones, and tables that nobody expects."""

from __future__ import annotations

import gzip
import io
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from pyarrow import feather, ipc

from sfumato import Policy, publication
from sfumato.errors import SfumatoError
from sfumato.explanation import explain
from sfumato.policy import draft_policy
from tests.fuzz.bases import frames
from tests.fuzz.noise import FLOATS, NUMBERS, TEXTS, mutate_bytes
from tests.fuzz.release_kinds import Work

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".arrow", ".feather")
POLICY = """
[columns]
identifier = ["name"]
quasi = ["age", "sex", "town"]
sensitive = ["value"]

[requirement]
model = "l-diversity"
l = 2
against = "reader"
"""


@cache
def stored(ending: str) -> bytes:
    """Return the table of people as a file of this kind."""
    table = frames()["plain"][0]
    out = io.BytesIO()
    if ending == ".parquet":
        pq.write_table(table, out)
    elif ending == ".feather":
        feather.write_feather(table, out, compression="uncompressed")
    elif ending == ".arrow":
        with ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    else:
        delimiter = "\t" if ending == ".tsv" else ","
        pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(delimiter=delimiter))
    return gzip.compress(out.getvalue()) if ending.endswith(".gz") else out.getvalue()


def input_mutant(coins: random.Random, work: Work) -> str:
    """Give a damaged or odd file to all that reads tables."""
    path = odd_file(coins, work)
    outcomes = [tried(draft_policy, path)]
    policy = Policy.parse(POLICY)
    table = tried(policy.read_table, path)
    outcomes.append(table)
    if table is not None:
        outcomes.append(tried(lambda: explain(table, policy.requirement, method=policy.method, quick=True)))
        if coins.random() < 0.3:
            outcomes.append(tried(lambda: publication(table, policy.requirement, method=policy.method)))
    if outcomes[0] is not None:
        Policy.parse(outcomes[0])  # a draft is a policy
    return "refused" if not any(one is not None for one in outcomes) else "read"


def odd_file(coins: random.Random, work: Work) -> Path:
    """Write a file with a table that was damaged, or that nobody expects, and return its path."""
    ending = coins.choice(ENDINGS)
    if coins.random() < 0.7:
        data = stored(ending)
        if ending.endswith(".gz") and coins.random() < 0.7:
            data = gzip.compress(mutate_bytes(coins, gzip.decompress(data)))
        else:
            data = mutate_bytes(coins, data)
    else:
        ending = coins.choice([".parquet", ".arrow", ".feather"])
        data = _odd_table(coins, ending)
    work.scratch.mkdir(exist_ok=True)
    path = work.scratch / f"people{ending}"
    path.write_bytes(data)
    return path


def _odd_table(coins: random.Random, ending: str) -> bytes:
    table = frames()["plain"][0]
    for _ in range(coins.choice([1, 1, 2])):
        column = odd_column(coins, table.num_rows)
        name = coins.choice([*table.column_names, *TEXTS[:12]])
        place = coins.randrange(table.num_columns)
        table = table.set_column(place, table.column_names[place] if coins.random() < 0.8 else name, column)
    if coins.random() < 0.1:
        table = table.slice(0, coins.choice([0, 1, 2]))
    out = io.BytesIO()
    try:
        if ending == ".parquet":
            pq.write_table(table, out)
        elif ending == ".feather":
            feather.write_feather(table, out, compression="uncompressed")
        else:
            with ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)
    except (pa.ArrowException, ValueError):
        return b"not a table"
    return out.getvalue()


def odd_column(coins: random.Random, rows: int) -> pa.Array:
    """Return a column of a type or with values that nobody expects."""

    def some(choices: Any) -> list[Any]:
        return [coins.choice(choices) for _ in range(rows)]

    texts = some(TEXTS)
    return coins.choice(
        [
            lambda: pa.array(some([*FLOATS, float("inf"), float("nan"), None])),
            lambda: pa.array(some([n for n in NUMBERS if abs(n) < 2**63])),
            lambda: pa.array([n % 2**64 for n in some(NUMBERS)], pa.uint64()),
            lambda: pa.array(texts),
            lambda: pa.array(texts).dictionary_encode(),
            lambda: pa.array(texts, pa.large_string()),
            lambda: pa.array([[text] for text in texts]),
            lambda: pa.array([{"a": 1}] * rows),
            lambda: pa.array([[("k", 1)]] * rows, pa.map_(pa.string(), pa.int64())),
            lambda: pa.nulls(rows),
            lambda: pa.nulls(rows, pa.string()),
            lambda: pa.array(some([True, False, None])),
            lambda: pa.array([text.encode() for text in texts]),
            lambda: pa.array([Decimal(k) for k in range(rows)], pa.decimal128(20, 5)),
            lambda: pa.array(some([date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), None])),
            lambda: pa.array([datetime(2020, 1, 1, tzinfo=UTC)] * rows),
            lambda: pa.array([k * 10**18 for k in some([0, 1, -1, 9])], pa.timestamp("ns")),
            lambda: pa.array(some([0, -1, 2**62]), pa.timestamp("s")),
            lambda: pa.array(some([0, 2**31 - 1, -(2**31)]), pa.date32()),
            lambda: pa.array(some([0, 10**15]), pa.duration("us")),
            lambda: pa.array(some([0, 1, 86_399]), pa.time32("s")),
            lambda: pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array([None], pa.string())),
            lambda: pa.RunEndEncodedArray.from_arrays(
                pa.array([rows] if rows else [], pa.int32()), pa.array(["x"] if rows else [], pa.string())
            ),
        ]
    )()


def tried(function: Any, *arguments: Any) -> Any:
    """Return what a function returns, None where it refuses."""
    try:
        return function(*arguments)
    except SfumatoError:
        return None
