"""Mutants of what lies around a release: files that are none, files too many, and the private file of links."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato import Release, audit
from sfumato.errors import SfumatoError
from tests.fuzz.bases import LINKED, links_of, tables
from tests.fuzz.noise import NUMBERS, mutate_bytes
from tests.fuzz.oracle import Wrong, check_release
from tests.fuzz.release_kinds import Work


def place_mutant(coins: random.Random, work: Work) -> str:
    """Put a link, a pipe, a directory, a device's name or nothing where a file should be, or one file more."""
    name, kind, table = work.pick(coins)
    files = work.files(name, kind)
    place = work.put(files)
    path = place / coins.choice(list(files))
    content = path.read_bytes()
    way = coins.choice(["more", "link", "pipe", "directory", "device", "nothing", "twin", "hidden"])
    if way in ("more", "hidden"):
        (place / (".note" if way == "hidden" else "note.txt")).write_bytes(content)
    else:
        path.unlink()
    if way == "link":
        (work.scratch / "elsewhere").write_bytes(content)
        path.symlink_to(work.scratch / "elsewhere")
    elif way == "pipe":
        os.mkfifo(path)
    elif way == "directory":
        path.mkdir()
    elif way == "device":
        path.symlink_to("/dev/zero")
    elif way == "twin":
        path.with_name(path.name.upper()).write_bytes(content)
    found = check_release(place, table, json.loads(files["manifest.json"]), coins)
    if found not in ("refused", "a finding"):
        raise Wrong(f"a release with a {way} for a file is loaded")
    return found


def links_mutant(coins: random.Random, work: Work) -> str:
    """Audit an honest release with a file of links that was damaged, or that names other people."""
    name = coins.choice(LINKED)
    path = work.scratch / "links.parquet"
    honest = links_of(work.bases, name)
    if coins.random() < 0.4:
        path.write_bytes(mutate_bytes(coins, honest.read_bytes()))
    else:
        _other_links(coins, honest, path)
    release = Release.load(work.bases / name / "parquet")
    try:
        found = audit(release, tables()[name], links=path)
    except SfumatoError:
        return "refused"
    if found.holds and _people(path) != _people(honest):
        raise Wrong("an audit holds with links to other people")
    return {True: "holds", False: "does not hold", None: "cannot tell"}[found.holds]


def _people(path: Path) -> list[object]:
    """Return whom each record is linked with, in any order, and whose value it carries."""
    return [(sorted(row["linked"]), row["carried"]) for row in pq.read_table(path).to_pylist()]


def _other_links(coins: random.Random, honest: Path, path: Path) -> None:
    columns = pq.read_table(honest).to_pydict()
    for _ in range(coins.choice([1, 1, 2, 5])):
        name = coins.choice(list(columns))
        at = coins.randrange(len(columns[name]))
        odd = coins.choice([number for number in NUMBERS if abs(number) < 2**31] + [None, coins.randrange(40)])
        if name == "carried":
            columns[name][at] = odd
        elif not columns[name][at]:
            columns[name][at] = [odd]
        else:
            inside = columns[name][at]
            inside[coins.randrange(len(inside))] = odd
            columns[name][at] = coins.choice([inside, inside, [*inside, 0], inside[1:], None, []])
    if coins.random() < 0.1:
        columns = {name: values[1:] for name, values in columns.items()}
    types = [("linked", pa.list_(pa.int32())), ("carried", pa.int64())]
    if coins.random() < 0.1:
        types = [("linked", pa.list_(pa.string())), ("carried", pa.string())]
        columns = {"linked": [["x"]] * 3, "carried": ["x"] * 3}
    pq.write_table(pa.table({name: pa.array(columns[name], kind) for name, kind in types}), path)
