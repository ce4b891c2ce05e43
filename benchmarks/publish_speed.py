"""How long does a whole publication take, beside reading, shuffling and writing the same file?"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks._show import Show
from sfumato import FPrivacy, LDiversity, Release, Schema, Table, audit, publication
from sfumato.groups.settings.plan import plan
from sfumato.receipt import save_with_receipt
from sfumato.studies.timing import best_of
from sfumato.table.generators import census

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
SCHEMA = Schema(quasi=QUASI, sensitive=["occupation"])
REQUIREMENT = FPrivacy(theta=8, offset="0.02")

MEMORY = """
import json, sys
from pathlib import Path
import sfumato, sfumato.receipt
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
schema = sfumato.Schema(quasi={quasi!r}, sensitive=["occupation"])
sfumato.publication(sfumato.Table.read(sys.argv[3], schema), sfumato.LDiversity(3))
before = peak()
table = sfumato.Table.read(sys.argv[1], schema)
result = sfumato.publication(table, sfumato.FPrivacy(theta=8, offset="0.02"))
result.release.save(Path(sys.argv[2]))
coded = sum(column.codes.nbytes for column in table.quasi) + table.sensitive.codes.nbytes
print(json.dumps({{"before": before, "after": peak(), "coded": coded / 2**20}}))
"""


def run(show: Show, quick: bool) -> None:
    sizes = [100_000] if quick else [100_000, 500_000]
    with tempfile.TemporaryDirectory() as folder:
        _warm()
        rows = [_whole_job(Path(folder), size, repeats=3 if quick else 9) for size in sizes]
        show.table(
            "From CSV to a saved release with its receipt, 8 columns, 8f+0.02 (seconds, best of several)",
            ["people", "read+shuffle+write", "read", "make and audit", "save", "setting", "publish", "ratio"],
            rows,
        )
        show.note("publish = read + make and audit + save; the search for the setting is shown apart.")
        show.target(f"publish / (read + shuffle + write) at {sizes[-1]:,}", rows[-1][-1], 4)
        _audit(show, sizes[-1])
        _memory(show, Path(folder), sizes[-1])
    _start(show)


def _warm() -> None:
    """Compile every kernel once: compilation is not what is measured here."""
    publication(Table.from_frame(census(2_000, 1).drop(["salary"]), SCHEMA), LDiversity(3))


def _whole_job(folder: Path, people: int, repeats: int) -> list[float]:
    """Time the plain job and the publication in turns, so that the noise of the machine falls on both."""
    csv = folder / f"census-{people}.csv"
    pyarrow.csv.write_csv(census(people, 0).drop(["salary"]), csv)
    plain, laps = [], []
    for number in range(repeats):
        plain.append(best_of(1, lambda: _read_shuffle_write(csv, folder / f"plain-{people}.parquet"))[0])
        laps.append(_publish(csv, folder / f"release-{people}-{number}"))
    best = min(laps, key=sum)
    setting = best_of(3, lambda: plan(REQUIREMENT.bounds(Table.read(csv, SCHEMA).sensitive.histogram())))[0] - best[0]
    whole = sum(best) - max(setting, 0.0)
    return [people, min(plain), best[0], best[1] - setting, best[2], setting, whole, whole / min(plain)]


def _read_shuffle_write(csv: Path, out: Path) -> None:
    table = pyarrow.csv.read_csv(csv)
    order = np.random.default_rng().permutation(table.num_rows)
    pyarrow.parquet.write_table(table.take(pa.array(order)), out)


def _publish(csv: Path, out: Path) -> tuple[float, float, float]:
    """Return the seconds for reading, for making and auditing the release, and for saving it with its receipt."""
    start = time.perf_counter()
    table = Table.read(csv, SCHEMA)
    read = time.perf_counter()
    result = publication(table, REQUIREMENT)
    made = time.perf_counter()
    save_with_receipt(
        result.release,
        out,
        format="parquet",
        fingerprint=table.fingerprint,
        policy="",
        figures=result.private,
        audit=result.audit.to_dict(),
    )
    return read - start, made - read, time.perf_counter() - made


def _audit(show: Show, people: int) -> None:
    table = Table.from_frame(census(people, 0).drop(["salary"]), SCHEMA)
    release = publication(table, REQUIREMENT).release
    alone, _ = best_of(5, lambda: audit(release))
    with_table, _ = best_of(5, lambda: audit(release, table))
    show.target(f"audit of {people:,} people from the tables alone, seconds", alone, 0.5)
    show.target(f"audit of {people:,} people against the table, seconds", with_table, 0.5)


def _memory(show: Show, folder: Path, people: int) -> None:
    csv = folder / f"census-{people}.csv"
    small = folder / "small.csv"
    pyarrow.csv.write_csv(census(2_000, 1).drop(["salary"]), small)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY.format(quasi=QUASI), str(csv), str(folder / "memory"), str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    limit = 8 * found["coded"] + 300
    show.note(f"Resident before the table is read (libraries, compiled code): {found['before']:.0f} MB.")
    show.target(f"peak memory of publish at {people:,} beyond that, MB", found["after"] - found["before"], limit)
    show.target(f"peak memory of the whole process at {people:,}, MB", found["after"], limit)
    assert Release.load(folder / "memory").rows == people


def _start(show: Show) -> None:
    help_, _ = best_of(7, lambda: subprocess.run([sys.executable, "-m", "sfumato", "--help"], capture_output=True, check=True))
    numpy, _ = best_of(7, lambda: subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True, check=True))
    show.target("sfumato --help / python -c 'import numpy'", help_ / numpy, 3)
