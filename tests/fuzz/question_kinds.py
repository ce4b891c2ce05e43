"""Mutants of what people write: policies, questions, and frames of people to ask about."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato import Policy, Release, publication
from sfumato.errors import SfumatoError
from tests.fuzz.input_kinds import POLICY, odd_column, stored, tried
from tests.fuzz.noise import mutate_text
from tests.fuzz.oracle import Wrong, ask, check_beliefs, false_claims
from tests.fuzz.release_kinds import Work
from tests.fuzz.sql import question


def _asking(model: str) -> str:
    return POLICY.replace('model = "l-diversity"\nl = 2', model)


_READ = '[input]\ndelimiter = ","\nnull = ["", "NA"]\none_row_per_person = true\n[columns]'
_RECODE = '\n[recode]\nage = { width = 5, top = 60, bottom = 25 }\ntown = { prefix = 2 }\n[types]\nage = "numeric"\n'
_BLIND = '\n[method]\nname = "decoys"\nmax_size = 10\ndecoys = 1\ntime_limit = 1\n'
_DOMAINS = '\n[domains]\nsex = ["f", "m"]\nage = { min = 0, max = 120 }\n'
POLICIES = (
    POLICY,
    POLICY.replace("[columns]", _READ) + _BLIND,
    POLICY + _RECODE + '[method]\nname = "mondrian"\nk = 3\n',
    _asking('model = "f-privacy"\ntheta = 2\noffset = "0.1"\nbounds = { HIV = 0.4 }') + _DOMAINS,
    _asking('model = "presence-association"\nalpha = "2/3"\nbeta = "1/2"') + '\n[method]\nname = "ambiguity"\nfloor = 2\n',
    _asking('model = "rho-privacy"\nrho1 = "1/4"\nrho2 = "4/5"') + '\n[method]\nname = "small-domain"\ndelta = "0.05"\n',
    _asking('model = "beta-likeness"\nbeta = 3\nenhanced = true') + '\n[method]\nname = "burel"\nform = "buckets"\n',
)
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
    '"boxes"',
    '"decoys"',
    '"buckets"',
    '"ranges"',
    '"1/2"',
)


def policy_mutant(coins: random.Random, work: Work) -> str:
    """Change a policy, and publish by it if it still is one; what is published must be true."""
    text = odd_policy(coins)
    policy = tried(Policy.parse, text)
    if policy is None:
        return "refused"
    path = work.scratch / "people.csv"
    path.write_bytes(stored(".csv"))
    table = tried(policy.read_table, path)
    if table is None:
        return "not this table"
    made = tried(lambda: publication(table, policy.requirement, method=policy.method, random=1))
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


NOBODY = (None, 5, "people", [], {}, [1], [{}], [None])


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
    kinds = [_as_it_is, _as_it_is, pa.Table.to_pylist, pa.Table.to_pydict, pa.Table.to_pandas, _polars]
    try:
        people = coins.choice(NOBODY) if coins.random() < 0.1 else coins.choice(kinds)(frame)
    except Exception:  # the frame's own library cannot hold such people
        return "no mutant"
    try:
        check_beliefs(release, people)
    except SfumatoError:
        return "refused"
    return "answered"


def _as_it_is(frame: pa.Table) -> pa.Table:
    return frame


def _polars(frame: pa.Table) -> Any:
    import polars

    return polars.from_arrow(frame)
