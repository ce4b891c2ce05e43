"""Mutants of what comes in: files with tables, policies, questions, and frames of people."""

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

from sfumato import Policy, Release, publication
from sfumato.errors import SfumatoError
from sfumato.explain import explain
from sfumato.policy import draft_policy
from tests.fuzz.bases import frames
from tests.fuzz.noise import FLOATS, NUMBERS, TEXTS, mutate_bytes, mutate_text
from tests.fuzz.oracle import Wrong, ask, check_beliefs, false_claims
from tests.fuzz.release_kinds import Work
from tests.fuzz.sql import question

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
POLICIES = (
    POLICY,
    POLICY.replace("[columns]", '[input]\ndelimiter = ","\nnull = ["", "NA"]\none_row_per_person = true\n[columns]')
    + '\n[method]\nname = "buckets"\nlocality = "none"\nmax_size = 10\ndecoys = 1\ntime_limit = 1\n',
    POLICY + '\n[recode]\nage = { width = 5, top = 60, bottom = 25 }\ntown = { prefix = 2 }\n[types]\nage = "numeric"\n[method]\nname = "mondrian"\nk = 3\n',
    POLICY.replace('model = "l-diversity"\nl = 2', 'model = "f-privacy"\ntheta = 2\noffset = "0.1"\nbounds = { HIV = 0.4 }')
    + '\n[domains]\nsex = ["f", "m"]\nage = { min = 0, max = 120 }\n',
    POLICY.replace('model = "l-diversity"\nl = 2', 'model = "presence-association"\nalpha = "2/3"\nbeta = "1/2"') + '\n[method]\nname = "ambiguity"\nfloor = 2\n',
    POLICY.replace('model = "l-diversity"\nl = 2', 'model = "rho-privacy"\nrho1 = "1/4"\nrho2 = "4/5"') + '\n[method]\nname = "small-domain"\ndelta = "0.05"\n',
    POLICY.replace('model = "l-diversity"\nl = 2', 'model = "beta-likeness"\nbeta = 3\nenhanced = true') + '\n[method]\nname = "burel"\nform = "buckets"\n',
)  # fmt: skip
_WORDS = (
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1e999",
    "nan",
    "inf",
    '"x"',
    "[]",
    "{}",
    '""',
    "9" * 50,
    "0.1",
    '"1/3"',
    "[1, 2]",
    '["age"]',
    "1979-05-27",
    "2",
    "3",
    "5",
    '"reader"',
    '"engineer"',
    '"none"',
    '"near"',
    '"buckets"',
    '"ranges"',
    '"1/2"',
)


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
    outcomes = [_tried(draft_policy, path)]
    policy = Policy.parse(POLICY)
    table = _tried(policy.read_table, path)
    outcomes.append(table)
    if table is not None:
        outcomes.append(_tried(lambda: explain(table, policy.requirement, method=policy.method, quick=True)))
        if coins.random() < 0.3:
            outcomes.append(_tried(lambda: publication(table, policy.requirement, method=policy.method)))
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


def policy_mutant(coins: random.Random, work: Work) -> str:
    """Change a policy, and publish by it if it still is one; what is published must be true."""
    text = odd_policy(coins)
    policy = _tried(Policy.parse, text)
    if policy is None:
        return "refused"
    path = work.scratch / "people.csv"
    path.write_bytes(stored(".csv"))
    table = _tried(policy.read_table, path)
    if table is None:
        return "not this table"
    made = _tried(lambda: publication(table, policy.requirement, method=policy.method, random=1))
    if made is None:
        return "not published"
    place = work.fresh()
    made.release.save(place, format=coins.choice(["parquet", "csv"]))
    faults = false_claims(place, table)
    if faults:
        raise Wrong(f"a release was published, but: {'; '.join(faults[:3])}")
    return "published"


def odd_policy(coins: random.Random) -> str:
    """Return a policy with a line, a value or a byte changed."""
    text = coins.choice(POLICIES)
    for _ in range(coins.choice([1, 1, 2])):
        lines = text.split("\n")
        at = coins.randrange(len(lines))
        way = coins.randrange(7)
        if way <= 2 and "=" in lines[at]:
            lines[at] = lines[at].partition("=")[0] + "= " + coins.choice([*_WORDS, *(f'"{word}"' for word in _WORDS[:6])])
        elif way == 3:
            del lines[at]
        elif way == 4:
            lines.insert(at, coins.choice([*lines, "extra = 1", "[extra]", "[method]", "l = 1000", "k = -1", 'suppress = "yes"']))
        elif way == 5:
            other = coins.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines = mutate_text(coins, text).split("\n")
        text = "\n".join(lines)
    return text


def question_mutant(coins: random.Random, work: Work) -> str:
    """Ask an honest release something odd."""
    name, _, _ = work.pick(coins)
    release = loaded(work, name)
    columns = [column["name"] for column in (*release.manifest.schema["quasi"], *release.manifest.schema["sensitive"])]
    text = question(coins, columns)
    if coins.random() < 0.25:
        text = mutate_text(coins, text)
    return ask(release, coins, text)


_LOADED: dict[tuple[Path, str], Release] = {}


def loaded(work: Work, name: str) -> Release:
    """Return a base as a release, read once."""
    if (work.bases, name) not in _LOADED:
        _LOADED[work.bases, name] = Release.load(work.bases / name / "parquet")
    return _LOADED[work.bases, name]


def people_mutant(coins: random.Random, work: Work) -> str:
    """Ask what is believed of odd people, in odd frames."""
    name, _, table = work.pick(coins)
    release = loaded(work, name)
    frame = table.to_arrow().select([column.name for column in table.quasi])
    rows = coins.choice([0, 1, 3, frame.num_rows])
    frame = frame.slice(0, rows)
    for _ in range(coins.choice([0, 1, 1, 2])):
        place = coins.randrange(frame.num_columns)
        frame = frame.set_column(place, frame.column_names[place], odd_column(coins, rows))
    if coins.random() < 0.1:
        frame = frame.drop_columns([frame.column_names[coins.randrange(frame.num_columns)]])
    if coins.random() < 0.1:
        frame = frame.append_column(coins.choice([*frame.column_names, "extra"]), odd_column(coins, rows))
    try:
        people = coins.choice(
            [
                lambda: frame,
                lambda: frame,
                lambda: frame.to_pylist(),
                lambda: frame.to_pydict(),
                lambda: frame.to_pandas(),
                lambda: _polars(frame),
                lambda: coins.choice([None, 5, "people", [], {}, [1], [{}], [None]]),
            ]
        )()
    except Exception:  # the frame's own library cannot hold such people
        return "no mutant"
    try:
        check_beliefs(release, people)
    except SfumatoError:
        return "refused"
    return "answered"


def _polars(frame: pa.Table) -> Any:
    import polars

    return polars.from_arrow(frame)


def _tried(function: Any, *arguments: Any) -> Any:
    """Return what a function returns, None where it refuses."""
    try:
        return function(*arguments)
    except SfumatoError:
        return None
