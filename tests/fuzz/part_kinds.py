"""Mutants of releases that an engine wrote, whose rows lie in several files: parts exchanged, lost, damaged or forged."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato import Schema, Table
from sfumato.api import audit
from sfumato.auditor import Audit
from sfumato.errors import NotProvable, SfumatoError
from sfumato.release import files as release_files
from sfumato.scale.engine import ResourceLimits
from sfumato.scale.verb import audit_directory, publish_source
from tests.fuzz.bases import BASES, Base, frames, tables
from tests.fuzz.claim_lies import claim_more
from tests.fuzz.drafts import Draft
from tests.fuzz.lies import tell_lies
from tests.fuzz.noise import mutate_bytes, mutate_json
from tests.fuzz.oracle import Wrong, check_release
from tests.fuzz.release_kinds import Work, drafted, spelled

LIMITS = ResourceLimits(1 << 28, 1, 16)
ROWS = 11
"""So many rows has a part here."""


@contextlib.contextmanager
def short_parts() -> Iterator[None]:
    """Let tables of a few rows lie in parts, as only very large ones do."""
    usual = release_files.PART_ROWS
    release_files.PART_ROWS = ROWS
    try:
        yield
    finally:
        release_files.PART_ROWS = usual


def prepare_parts(directory: Path, names: Sequence[str] = tuple(base.name for base in BASES)) -> None:
    """Write what an engine makes of these bases, as far as it can make them, to `directory/name/parts`."""
    with short_parts():
        for base in (one for one in BASES if one.name in names and not (directory / one.name / "parts").exists()):
            with contextlib.suppress(NotProvable):  # made in memory only
                _published(base, directory)


def _published(base: Base, directory: Path) -> None:
    frame, schema = frames()[base.table]
    if base.requirement.against == "insider":  # whose declared values close the schema: memory has those
        return
    out = directory / base.name / "parts"
    publish_source(frame, schema, base.requirement, out, method=base.method, random=1, limits=LIMITS)


def part_mutant(coins: random.Random, work: Work, names: Sequence[str] = ()) -> str:
    """Change a release in parts; two audits, of which one reads a part at a time, must not contradict each other.

    `names`: the bases to choose from; all that lie in parts where it is empty.
    """
    name = coins.choice(names or [base.name for base in BASES if (work.bases / base.name / "parts").is_dir()])
    table, original = tables()[name], next(frames()[base.table] for base in BASES if base.name == name)
    with short_parts():
        way = coins.random()
        if way < 0.5:
            draft = Draft.of(work.release(name, "parts"))
            place = drafted(coins, work, draft, coins.choice([tell_lies, claim_more]), "parquet")
            if isinstance(place, str):
                return place
        else:
            place = work.put(_otherwise(coins, work.files(name, "parts")))
        honest = json.loads(work.files(name, "parts")["manifest.json"])
        found = check_release(place, table, honest, coins)
        _agree(place, table, original, coins)
    return found


def _otherwise(coins: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with parts changed, and mostly with the manifest in agreement."""
    document = json.loads(files["manifest.json"])
    parts = [name for name in files if "/" in name] or [name for name in files if name != "manifest.json"]
    one, two = coins.choice(parts), coins.choice(parts)
    way = coins.choice(["bytes", "bytes", "exchanged", "twice", "lost", "one more", "renamed", "manifest", "whole"])
    if way == "bytes":
        files[one] = mutate_bytes(coins, files[one])
    elif way == "exchanged":
        files[one], files[two] = files[two], files[one]
    elif way == "twice":
        files[one] = files[two]
    elif way == "lost":
        del files[one]
    elif way in ("one more", "renamed"):
        other = coins.choice([one.replace("part-0", "part-9"), one.replace("part-", "Part-"), f"{one}.bak", "part-00000.parquet"])
        files[other] = files[one]
        if way == "renamed":
            del files[one]
    elif way == "whole":
        files[f"{one.partition('/')[0]}.parquet"] = files[one]
    else:
        mutate_json(coins, document["tables"])
    if coins.random() < 0.9:
        _tell_files(document, files)
    try:
        files["manifest.json"] = spelled(document)
    except TypeError:  # keys of several types
        return files
    return files


def _tell_files(document: dict[str, Any], files: dict[str, bytes]) -> None:
    with contextlib.suppress(KeyError, TypeError, AttributeError):
        for facts in document["tables"].values():
            facts["files"] = [one for one in facts["files"] if one["file"] in files]
            for one in facts["files"]:
                one["sha256"] = hashlib.sha256(files[one["file"]]).hexdigest()


def _agree(place: Path, table: Table, original: tuple[pa.Table, Schema], coins: random.Random) -> None:
    """Raise where one of the two audits finds something wrong, and the other one says that everything holds."""
    beside = coins.random() < 0.3  # DuckDB reads the table, which takes a while
    together = _verdict(lambda: audit(place, table if beside else None, engine="memory"))
    apart = _verdict(lambda: audit_directory(place, *(original if beside else ()), limits=LIMITS)[0])
    if {together, apart} >= {True} and (False in (together, apart) or "refused" in (together, apart)):
        raise Wrong(f"in memory the audit says {together}, a part at a time {apart}")


def _verdict(run: Any) -> Any:
    try:
        found: Audit = run()
    except SfumatoError:
        return "refused"
    return found.holds
