"""Results of studies on disk: measured once for the same settings, case by case, so that a killed study goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.studies.source import Source
from sfumato.studies.study import Result, Rows, Settings, Size, Study

SHARED = ("003-fig8", "003-fig9", "003-fig10", "003-fig11")
"""These ask different questions of the same releases."""

SHARED_CASES = "003-figures-8-to-11"
_KEY = b"sfumato.study"
Say = Callable[[str], None]


@dataclass
class _Run:
    """A study under way: where its cases lie, what is the same for all of them, and seconds of cases that were done before."""

    cases: Path
    same: dict[str, Any]
    say: Say
    earlier: float = 0.0


_UNDER_WAY: ContextVar[_Run | None] = ContextVar("study", default=None)


@contextmanager
def _under_way(run: _Run) -> Iterator[_Run]:
    token = _UNDER_WAY.set(run)
    try:
        yield run
    finally:
        _UNDER_WAY.reset(token)


def silent(words: str) -> None:
    """Say nothing."""


def run(
    name: str, study: Study, size: Size, results: Path, *, source: Source | None = None, say: Say = silent
) -> tuple[Result, bool]:
    """Return what a study finds, and whether it had to be measured: a result with the same settings is taken as it is."""
    given = source or study.source()
    known = found(name, study, size, results, source=given)
    if known is not None:
        return known, False
    made = [measured(name, study, size, seed, results, source=given, say=say) for seed in seeds_of(study, size)]
    settings = _stored(study, size)
    spent = sum(seconds for seconds, _ in made)
    result = Result(name, size, given.name, settings, spent, [rows for _, rows in made], study.pooled)
    _save(result, results)
    return result, True


def forget(names: Sequence[str], size: Size, results: Path) -> None:
    """Remove what was measured for these studies, so that it is measured again."""
    for name in names:
        _path(name, size, results).unlink(missing_ok=True)
        rmtree(results / "cases" / name, ignore_errors=True)
    if any(name in SHARED for name in names):
        rmtree(results / "cases" / SHARED_CASES, ignore_errors=True)


def found(name: str, study: Study, size: Size, results: Path, *, source: Source | None = None) -> Result | None:
    """Return the saved result of a study with these settings on this table, None where there is none."""
    known = load(name, size, results)
    same = known is not None and known.settings == _stored(study, size) and known.source == (source or study.source()).name
    return known if same else None


def _stored(study: Study, size: Size) -> Settings:
    """Return settings as they come back from disk."""
    stored: Settings = json.loads(json.dumps(dict(study.settings(size))))
    return stored


def seeds_of(study: Study, size: Size) -> range:
    """Return the seeds of a study; one where nothing is drawn."""
    return range(1, study.settings(size).get("seeds", 1) + 1)


def measured(
    name: str, study: Study, size: Size, seed: int, results: Path, *, source: Source, say: Say = silent
) -> tuple[float, Rows]:
    """Return processor seconds and rows of one seed, measured once for the same settings."""
    settings = study.settings(size)
    asked = {key: value for key, value in settings.items() if key != "seeds"} | ({"seed": seed} if "seeds" in settings else {})
    path = results / "cases" / name / f"seed-{_digest({'source': source.name, **asked})}.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        return stored["seconds"], stored["rows"]
    under_way = _Run(results / "cases" / name, {"source": source.name, "seed": seed}, say)
    start = time.process_time()
    with _under_way(under_way):
        rows = [dict(row) for row in study.measure(source, **asked)]
    seconds = time.process_time() - start + under_way.earlier
    _write_whole(path, json.dumps({"seconds": seconds, "rows": rows}).encode())
    return seconds, rows


def kept(case: Mapping[str, Any], work: Callable[[], Rows], *, shared: bool = False) -> Rows:
    """Return the rows of one case of the study under way, worked out once; `shared` ones are those of several studies."""
    under_way = _UNDER_WAY.get()
    if under_way is None:
        return work()
    under_way.say(", ".join(f"{name} {value}" for name, value in case.items() if isinstance(value, str | int | float)))
    directory = under_way.cases.parent / SHARED_CASES if shared else under_way.cases
    path = directory / f"{_digest({**under_way.same, **case})}.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        under_way.earlier += stored["seconds"]
        known: Rows = stored["rows"]
        return known
    start = time.process_time()
    rows = work()
    content = {"seconds": time.process_time() - start, "rows": [dict(row) for row in rows]}
    _write_whole(path, json.dumps(content).encode())
    return rows


def _digest(asked: Mapping[str, Any]) -> str:
    return sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:16]


def load(name: str, size: Size, results: Path) -> Result | None:
    """Return the saved result of a study, None where there is none."""
    path = _path(name, size, results)
    if not path.exists():
        return None
    stored = pq.read_table(path)
    about = json.loads(stored.schema.metadata[_KEY])
    rows, starts = stored.to_pylist(), about["starts"]
    by_seed = [rows[begin:end] for begin, end in zip(starts, [*starts[1:], len(rows)], strict=True)]
    return Result(name, size, about["source"], about["settings"], about["seconds"], by_seed, about.get("pooled", False))


def _save(result: Result, results: Path) -> None:
    """Write the rows of all seeds as Parquet."""
    rows = [row for seed in result.by_seed for row in seed]
    starts = [sum(len(seed) for seed in result.by_seed[:k]) for k in range(len(result.by_seed))]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in columns})
    about = {"settings": result.settings, "seconds": result.seconds, "source": result.source, "starts": starts}
    about |= {"pooled": True} if result.pooled else {}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({_KEY: json.dumps(about)}), sink)
    _write_whole(_path(result.name, result.size, results), sink.getvalue().to_pybytes())


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: a killed run leaves no half result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}.half")
    half.write_bytes(content)
    half.replace(path)


def _path(name: str, size: Size, results: Path) -> Path:
    return results / size / f"{name}.parquet"
