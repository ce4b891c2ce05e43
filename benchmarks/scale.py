"""What do engines beyond memory take, in processor seconds and peak memory, each in a process of its own?

    python -m benchmarks.scale --rows 2000000            # in memory, DuckDB, its audit, 100 count queries
    python -m benchmarks.scale --rows 20000000 --only duckdb,audit

People are drawn from the bundled census model and written as Parquet in parts, once; free disk is checked first. Memory is the
largest resident size of the process, processor time that of all its threads.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks._show import Cell, Show

POLICY: dict[str, Any] = {"quasi": ["age", "gender", "education", "marital", "country"], "sensitive": ["salary"]}
OTHER = ["race", "workclass", "occupation"]
STEPS = ("memory", "duckdb", "audit", "query")
PART = 1_000_000
BYTES_A_PERSON = 80
"""What a run needs on disk for a person: the table, codes, shards and two releases."""


def schema() -> Any:
    import sfumato as sf

    return sf.Schema(**POLICY, other=OTHER, people={"rows": "people"})


def requirement() -> Any:
    import sfumato as sf

    return sf.FPrivacy(theta=8, offset="0.02")


def draw(place: Path, rows: int) -> None:
    """Write the people, a file for each million."""
    import pyarrow.parquet as pq

    from sfumato.table.generators import sample

    place.mkdir(parents=True)
    for part in range(-(-rows // PART)):
        pq.write_table(sample("census", rows=min(PART, rows - part * PART), seed=part), place / f"{part:04d}.parquet")


def take(step: str, data: Path, out: Path, memory: str) -> dict[str, Any]:
    """Take one step in this process."""
    import pyarrow.parquet as pq

    import sfumato as sf
    from sfumato.scale.engine import Limits
    from sfumato.scale.verb import audit_directory, publish_source

    began = time.process_time()
    if step == "memory":
        table = sf.Table.from_frame(pq.read_table(data, columns=[*POLICY["quasi"], *POLICY["sensitive"], *OTHER]), schema())
        sf.publish(table, requirement(), random=1).save(out / "memory")
    elif step == "duckdb":
        publish_source(data, schema(), requirement(), out / "duckdb", random=1, limits=Limits.of(memory))
    elif step == "audit":
        assert audit_directory(out / "duckdb", data, schema(), limits=Limits.of(memory))[0].holds
    else:
        release = sf.Release.load(out / "duckdb")
        for k in range(100):
            release.count(f"salary >= {k % 50} AND age BETWEEN {20 + k % 40} AND {35 + k % 40}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"step": step, "seconds": round(time.process_time() - began, 1), "peak_mb": round(peak)}


def same(one: Path, other: Path) -> bool:
    """Return whether two releases have the same bytes."""
    names = [sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()) for place in (one, other)]
    return names[0] == names[1] and all((one / name).read_bytes() == (other / name).read_bytes() for name in names[0])


def measure(place: Path, rows: int, steps: Sequence[str], memory: str) -> Iterator[dict[str, Any]]:
    """Take each step in a process of its own, and give what it took."""
    data, out = place / f"people-{rows}", place / f"out-{rows}"
    free = shutil.disk_usage(place).free
    if free < rows * BYTES_A_PERSON:
        sys.exit(f"{free >> 30} GB of disk are free, {rows * BYTES_A_PERSON >> 30} GB are needed")
    if not data.exists():
        draw(data, rows)
    out.mkdir(exist_ok=True)
    for step in steps:
        command = [sys.executable, "-m", "benchmarks.scale", "--step", step, "--rows", str(rows), "--place", str(place)]
        done = subprocess.run([*command, "--memory", memory], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        yield json.loads(done.stdout)
    if (out / "memory").exists() and (out / "duckdb").exists():
        yield {"step": "the same bytes", "seconds": str(same(out / "memory", out / "duckdb")), "peak_mb": None}
    shutil.rmtree(out)


def run(show: Show, quick: bool) -> None:
    """Show what each step takes for two million people, or for 200,000."""
    rows = 200_000 if quick else 2_000_000
    with tempfile.TemporaryDirectory() as place:
        found = list(measure(Path(place), rows, STEPS, "1GB"))
    cells: list[list[Cell]] = [[one["step"], one["seconds"], one["peak_mb"]] for one in found]
    show.table(f"{rows:,} people, processor seconds and peak memory (MB)", ["step", "seconds", "memory"], cells)


def main() -> None:
    """Measure as many people as one likes, in a directory that is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--place", type=Path, default=Path("scale-bench"), help="a directory for data and releases")
    parser.add_argument("--only", default=",".join(STEPS))
    parser.add_argument("--memory", default="1GB", help="what DuckDB and shards may use")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        data, out = given.place / f"people-{given.rows}", given.place / f"out-{given.rows}"
        print(json.dumps(take(given.step, data, out, given.memory)))
        return
    given.place.mkdir(parents=True, exist_ok=True)
    for one in measure(given.place, given.rows, given.only.split(","), given.memory):
        print(json.dumps(one), flush=True)


if __name__ == "__main__":
    main()
