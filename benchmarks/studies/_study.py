"""A study: what it measures with which settings, how it is drawn, and how its verdict follows from what was measured."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._show import Cell
from sfumato.charts import Chart

HERE = Path(__file__).parent
RESULTS = HERE.parent.parent / "build" / "studies"

Paper = Literal["buckets", "domain", "matching", "fragments"]
"""The paper of a study: [000] and [001], [002], [003], [004]."""

Size = Literal["quick", "full"]
Word = Literal["holds", "holds in part", "does not hold"]
Rows = Sequence[Mapping[str, Any]]
"""What was measured: cells by the name of their column."""

Claims = dict[str, bool | Sequence[bool]]
"""What a paper claims, each in a sentence, and whether it is found again: as a whole, or case by case."""

_EARLIER: list[float] = []
"""Processor seconds of the cases that the study under way found done already: a study's time counts them."""

_KEY = b"sfumato.study"


@dataclass(frozen=True)
class Verdict:
    """What a paper claims with a figure, each in a sentence and whether it is found again here, and the figures that say so.

    One rule for all studies: what is claimed of every case is one claim, given case by case, and one that differs refutes it.
    """

    claims: Mapping[str, bool | Sequence[bool]]
    why: str

    @property
    def held(self) -> dict[str, bool]:
        """Whether each claim holds, with the number of cases in which it does where it is about several."""
        return {
            f"{claim}: {sum(found)} of {len(found)}" if isinstance(found, Sequence) else claim: _holds(found)
            for claim, found in self.claims.items()
        }

    @property
    def word(self) -> Word:
        """All claims hold, some of them, or none."""
        found = self.held.values()
        return "holds" if all(found) else "holds in part" if any(found) else "does not hold"


def _holds(found: bool | Sequence[bool]) -> bool:
    return all(found) if isinstance(found, Sequence) else found


@dataclass(frozen=True)
class Study:
    """A figure or table of a paper, asked again. All that is told of it is computed from the rows that `measure` returns."""

    paper: Paper
    figure: str
    says: str
    """What the paper says, in a sentence."""
    quick: Mapping[str, Any]
    full: Mapping[str, Any]
    """What `measure` is called with; full settings are the paper's sizes. JSON has to be able to hold them."""
    measure: Callable[..., Rows]
    draw: Callable[[Rows], Chart]
    judge: Callable[[Rows], Verdict]
    table: Callable[[Rows], Sequence[Mapping[str, Cell]]] | None = None
    """Lines of a table under the picture: the paper's figures beside ours where it prints any."""

    def settings(self, size: Size) -> Mapping[str, Any]:
        """Return what `measure` is called with."""
        return self.quick if size == "quick" else self.full


@dataclass(frozen=True)
class Result:
    """What one run of a study found, and in how many processor seconds."""

    name: str
    size: Size
    settings: Mapping[str, Any]
    seconds: float
    rows: Rows


def names() -> list[str]:
    """Return the studies there are, Figure 3 before Figure 11: every module here whose name does not begin with an underscore."""
    found = (file.stem for file in HERE.glob("*.py") if not file.stem.startswith("_"))
    return sorted(found, key=lambda name: [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)])


def study_of(name: str) -> tuple[Study, str]:
    """Return a study and its question."""
    module = import_module(f"benchmarks.studies.{name}")
    study = module.STUDY
    assert isinstance(study, Study)
    return study, (module.__doc__ or name).strip().splitlines()[0]


def run(name: str, study: Study, size: Size, *, again: bool = False, results: Path = RESULTS) -> tuple[Result, bool]:
    """Return what a study finds, and whether it had to be measured: a result with the same settings is taken as it is."""
    known = None if again else load(name, size, results=results)
    settings = json.loads(json.dumps(dict(study.settings(size))))
    if known is not None and known.settings == settings:
        return known, False
    if again:
        rmtree(results / "cases" / name, ignore_errors=True)
    _EARLIER.clear()
    start = time.process_time()
    rows = study.measure(**study.settings(size))
    result = Result(name, size, settings, time.process_time() - start + sum(_EARLIER), rows)
    _save(result, results)
    return result, True


def kept(name: str, case: Mapping[str, Any], work: Callable[[], Rows], *, results: Path = RESULTS) -> Rows:
    """Return the rows of one case of a long study, worked out once: a study that is killed goes on where it was."""
    told = json.dumps(dict(case), sort_keys=True)
    path = results / "cases" / name / f"{sha256(told.encode()).hexdigest()[:16]}.json"
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        _EARLIER.append(found["seconds"])
        known: Rows = found["rows"]
        return known
    start = time.process_time()
    rows = work()
    content = {"seconds": time.process_time() - start, "rows": [dict(row) for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(json.dumps(content), encoding="utf-8")
    half.replace(path)
    return rows


def load(name: str, size: Size, *, results: Path = RESULTS) -> Result | None:
    """Return the saved result of a study, None where there is none."""
    path = _path(name, size, results)
    if not path.exists():
        return None
    table = pq.read_table(path)
    told = json.loads(table.schema.metadata[_KEY])
    return Result(name, size, told["settings"], told["seconds"], table.to_pylist())


def _save(result: Result, results: Path) -> None:
    """Write the rows as Parquet, whole or not at all: a killed run leaves no half result."""
    path = _path(result.name, result.size, results)
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in result.rows for key in row))
    table = pa.table({name: pa.array([row.get(name) for row in result.rows]) for name in columns})
    told = json.dumps({"settings": result.settings, "seconds": result.seconds})
    half = path.with_suffix(".half")
    pq.write_table(table.replace_schema_metadata({_KEY: told}), half)
    half.replace(path)


def _path(name: str, size: Size, results: Path) -> Path:
    return results / size / f"{name}.parquet"
