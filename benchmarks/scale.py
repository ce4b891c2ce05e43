"""What do engines beyond memory take, in processor seconds and peak memory, each in a process of its own?

    python -m benchmarks.scale --rows 2000000            # in memory, DuckDB, its audit, 100 count queries
    python -m benchmarks.scale --rows 20000000 --only duckdb,audit
    python -m benchmarks.scale --rows 2000000 --only spark          # two worker processes; needs Java and sfumato[spark]
    python -m benchmarks.scale --table                              # all that was measured in this place, beside what is asked

People are drawn from the bundled census model and written as Parquet in parts, once; free disk is checked first. Processor time
is that of all processes of a step, and memory the largest sum of their resident sizes, looked at ten times a second: pages that
processes share count for each of them.
"""

from __future__ import annotations

import argparse
import json
import os
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
EVERY = (*STEPS, "spark")
PART = 1_000_000
ASKED: dict[tuple[str, int], tuple[float | None, float | None]] = {
    ("memory", 20_000_000): (25, 1_545),
    ("duckdb", 20_000_000): (135, 1_536),
    ("spark", 20_000_000): (324, None),
    ("query", 20_000_000): (60, 1_536),
    ("duckdb", 100_000_000): (None, 3_072),
    ("spark", 100_000_000): (None, 8_192),
    ("audit", 100_000_000): (None, 3_072),
    ("query", 100_000_000): (None, 2_048),
}
"""Processor seconds and MB that a step may take. Memory: 60 bytes a person beside 400 MB for the program."""
MEASURED = "measured.json"
BYTES_A_PERSON = 100
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
    whole = place.with_suffix(".parquet")  # memory reads one file
    with pq.ParquetWriter(whole, pq.read_schema(place / "0000.parquet")) as writer:
        for file in sorted(place.iterdir()):
            writer.write_table(pq.read_table(file))


def take(step: str, data: Path, out: Path, memory: str) -> None:
    """Take one step in this process."""
    import sfumato as sf
    from sfumato.scale.engine import ResourceLimits
    from sfumato.scale.verb import audit_directory, publish_source

    if step == "memory":
        table = sf.Table.read(data.with_suffix(".parquet"), schema())
        sf.publish(table, requirement(), random=1).save(out / "memory")
    elif step == "spark":
        session = cluster()
        source = session.read.parquet(str(data.absolute()))
        publish_source(source, schema(), requirement(), out / "spark", random=1, limits=ResourceLimits.of(memory))
        session.stop()
    elif step == "duckdb":
        publish_source(data, schema(), requirement(), out / "duckdb", random=1, limits=ResourceLimits.of(memory))
    elif step == "audit":
        assert audit_directory(out / "duckdb", data, schema(), limits=ResourceLimits.of(memory))[0].holds
    else:
        release = sf.Release.load(out / "duckdb")
        for k in range(100):
            release.count(f"salary >= {k % 50} AND age BETWEEN {20 + k % 40} AND {35 + k % 40}")


def cluster() -> Any:
    """Return a Spark session with two worker processes on this machine."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").appName("scale")
    for key, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.files.maxPartitionBytes": "32m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def watched(command: list[str]) -> dict[str, Any]:
    """Run a command in a session of its own; return the processor time of all its processes, and their largest memory."""
    seconds: dict[int, float] = {}
    peak, tick, page = 0.0, os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        while process.poll() is None:
            resident = 0
            for entry in os.scandir("/proc"):
                if not entry.name.isdigit():
                    continue
                try:
                    facts = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if int(facts[3]) == process.pid:  # the session
                    seconds[int(entry.name)] = (int(facts[11]) + int(facts[12])) / tick
                    resident += int(facts[21]) * page
            peak = max(peak, resident / 2**20)
            time.sleep(0.1)
        said.seek(0)
        if process.returncode:
            sys.exit(said.read()[-3000:].decode(errors="replace"))
    clock = round(time.perf_counter() - started)
    return {"seconds": round(sum(seconds.values()), 1), "peak_mb": round(peak), "clock": clock}


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
        if step in ("memory", "duckdb", "spark"):
            shutil.rmtree(out / step, ignore_errors=True)
        command = [sys.executable, "-m", "benchmarks.scale", "--step", step, "--rows", str(rows), "--place", str(place)]
        found = {"step": step, "people": rows, **watched([*command, "--memory", memory])}
        remember(place, found)
        yield found
    made = [out / step for step in ("memory", "duckdb", "spark") if (out / step).exists()]
    for other in made[1:]:
        yield {"step": f"{made[0].name} and {other.name}: the same bytes", "seconds": str(same(made[0], other)), "peak_mb": None}


def remember(place: Path, found: dict[str, Any]) -> None:
    """Keep what a step took beside what others took: the last run of each counts."""
    known = recall(place)
    known[f"{found['step']} {found['people']}"] = found
    (place / MEASURED).write_text(json.dumps(known, indent=1))


def recall(place: Path) -> dict[str, dict[str, Any]]:
    """Return what was measured in a place."""
    file = place / MEASURED
    return json.loads(file.read_text()) if file.exists() else {}


def table(place: Path) -> Iterator[str]:
    """Yield the lines of a table of all that was measured: steps beside sizes, and what is asked in brackets."""
    known = {(one["step"], one["people"]): one for one in recall(place).values()}
    sizes = sorted({people for _, people in known})
    yield "| | " + " | ".join(f"{people:,}" for people in sizes) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    for step in EVERY:
        cells = [_cell(known.get((step, people)), ASKED.get((step, people), (None, None))) for people in sizes]
        yield f"| {step} | " + " | ".join(cells) + " |"


def _cell(found: dict[str, Any] | None, asked: tuple[float | None, float | None]) -> str:
    limits = ", ".join(f"≤ {limit:,.0f} {unit}" for limit, unit in zip(asked, ("s", "MB"), strict=True) if limit is not None)
    taken = "–" if found is None else f"{found['seconds']:,.1f} s, {found['peak_mb']:,} MB"
    return f"{taken} ({limits})" if limits else taken


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
    parser.add_argument("--only", default=",".join(STEPS), help=f"some of {','.join(EVERY)}")
    parser.add_argument("--memory", default="1GB", help="what DuckDB and shards may use")
    parser.add_argument("--table", action="store_true", help="show what was measured so far, and measure nothing")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        data, out = given.place / f"people-{given.rows}", given.place / f"out-{given.rows}"
        take(given.step, data, out, given.memory)
        return
    given.place.mkdir(parents=True, exist_ok=True)
    for one in () if given.table else measure(given.place, given.rows, given.only.split(","), given.memory):
        print(json.dumps(one), flush=True)
    print("\n".join(table(given.place)))


if __name__ == "__main__":
    main()
