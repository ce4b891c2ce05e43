"""Verbs, methods and engines, killed at random moments: `python -m tests.faults.kills 100 --seed 1`, or `make kills KILLS=100`.

After ctrl-C, SIGTERM and SIGHUP nothing may be left but whole releases, receipts, bookings and what else verbs write; after
SIGKILL the same must be true once every verb has been run in the same place again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq

from sfumato import Policy, Release
from sfumato.methods import METHODS, Method
from sfumato.release.links import Links
from sfumato.signature import keygen

_VALUES = ["Flu"] * 5 + ["Asthma"] * 4 + ["Gout"] * 4 + ["Lupus"] * 4 + ["HIV"] * 3
_COLUMNS = '[columns]\nquasi = ["age", "sex", "ward"]\nsensitive = ["illness"]\n'
_DIVERSE = '[requirement]\nmodel = "l-diversity"\nl = 2\nagainst = "reader"\n'
_LIKE = '[requirement]\nmodel = "beta-likeness"\nbeta = 4\nagainst = "reader"\n'
_RHO = '[requirement]\nmodel = "rho-privacy"\nrho1 = "0.3"\nrho2 = "0.6"\nagainst = "reader"\n'
_DOMAINS = '[domains]\nage = { min = 20, max = 79 }\nsex = ["f", "m"]\nward = ["a", "b", "c", "d", "e"]\n'
_PRESENCE = '[requirement]\nmodel = "presence-association"\nalpha = 1\nbeta = "0.6"\nagainst = "reader"\n'

POLICIES = {
    "boxes": '[requirement]\nmodel = "f-privacy"\ntheta = 3\noffset = "0.1"\n',
    "multi-size": _DIVERSE,
    "decoys": _DIVERSE,
    "near-groups": _DIVERSE,
    "anatomy": _DIVERSE,
    "mondrian": _DIVERSE,
    "burel": _LIKE,
    "heterogeneous": _DIVERSE,
    "ring": _DIVERSE,
    "small-domain": _RHO,
    "uniform": _RHO,
    "noisy-boxes": '[requirement]\nmodel = "differential"\nepsilon = "1"\n',
    "burel-perturbation": _LIKE,
    "privbayes": _LIKE + _DOMAINS,
    "noisy-tables": _LIKE + _DOMAINS,
    "ambiguity": _PRESENCE,
    "priview": _PRESENCE.replace("0.6", "0.95"),
}
_MORE = {
    "heterogeneous": "accept_weaker_claim = true\n",
    "ring": "accept_weaker_claim = true\n",
    "privbayes": 'accept_weaker_claim = true\nvalues = ["Flu", "other"]\notherwise = "other"\n',
    "noisy-tables": 'accept_weaker_claim = true\nvalues = ["Flu", "other"]\notherwise = "other"\n',
    "noisy-boxes": 'values = ["a", "b"]\notherwise = "b"\nfloor = 100\n',
}
_VISITS = """[columns]
identifier = ["patient"]
quasi = ["age", "sex"]
[secrets]
illness = ["ill_1", "ill_2"]
[people]
key = "patient"
keep = "all"
[requirement]
model = "f-privacy"
theta = 3
offset = "0.1"
"""
_LINKED = ("heterogeneous", "ring")
SOFT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PEOPLE = 2000
COMPLETED = 3
Words = Sequence[str | Path]


def prepare(home: Path) -> None:
    """Write the table, a policy for every method, and a release to ask."""
    draw = random.Random(1)
    lines = [f"{draw.randrange(20, 80)},{draw.choice('fm')},{draw.choice('abcde')},{draw.choice(_VALUES)}" for _ in range(PEOPLE)]
    (home / "people.csv").write_text("age,sex,ward,illness\n" + "\n".join(lines) + "\n")
    pq.write_table(pyarrow.csv.read_csv(home / "people.csv"), home / "people.parquet")
    for method, requirement in POLICIES.items():
        text = f'{_COLUMNS}{requirement}[method]\nname = "{method}"\n{_MORE.get(method, "")}[people]\nrows = "people"\n'
        (home / f"{method}.toml").write_text(text)
    patients = [(place, draw.randrange(20, 80), draw.choice("fm")) for place in range(PEOPLE)]
    ills = [f"i{k}" for k in range(20)]
    rows = [(*one, *draw.sample(ills, 2)) for one in patients for _ in range(draw.choice([1, 1, 2, 3]))]
    (home / "visits.csv").write_text("patient,age,sex,ill_1,ill_2\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    pq.write_table(pyarrow.csv.read_csv(home / "visits.csv"), home / "visits.parquet")
    (home / "visits.toml").write_text(_VISITS)


def publishing(method: str, engine: str, home: Path, place: Path, name: str) -> Words:
    """Return how to publish by a method and an engine."""
    data = home / f"{'visits' if method == 'visits' else 'people'}.{'csv' if engine == 'memory' else 'parquet'}"
    words = ["publish", data, "-p", home / f"{method}.toml", "--out", place / "releases" / name, "--engine", engine]
    words += ["--receipts", place / "receipts"]
    return [*words, "--links", place / "links" / f"{name}.parquet"] if method in _LINKED else words


def completing(home: Path, place: Path, name: str) -> Words:
    """Return how to complete the release that every place has."""
    return ["complete", home / "asked", "--out", place / "completed" / name, "--tables", str(COMPLETED)]


def reporting(home: Path, place: Path, name: str) -> Words:
    """Return how to report on it."""
    return ["report", home / "asked", "--quick", "--table", home / "people.csv", "--out", place / "reports" / f"{name}.html"]


def paging(home: Path, place: Path, name: str) -> Words:
    """Return how to make a page of its tables."""
    return ["page", home / "asked", "--out", place / "reports" / f"{name}.html"]


def exporting(home: Path, place: Path, name: str) -> Words:
    """Return how to write its model for other languages."""
    return ["query", home / "asked", "--export-model", place / "models" / f"{name}.json"]


def comparing(home: Path, place: Path, name: str) -> Words:
    """Return how to compare methods; a study goes on where it was killed."""
    methods = ["--methods", "boxes,anatomy,multi-size", "--workers", "2", "--people", "500"]
    return ["compare", home / "people.csv", "-p", home / "boxes.toml", *methods, "--out", place / "studies" / "one"]


def storing(home: Path, place: Path, name: str) -> Words:
    """Return how to write a database of the release."""
    return ["query", home / "asked", "--duckdb", place / "databases" / f"{name}.duckdb"]


def auditing(engine: str, home: Path, place: Path, name: str) -> Words:
    """Return how to audit the release with its table."""
    return ["audit", home / "asked", "--table", home / "people.parquet", "-p", home / "boxes.toml", "--engine", engine]


def drafting(home: Path, place: Path, name: str) -> Words:
    """Return how to draft a policy."""
    return ["policy", "init", home / "people.csv", "--out", place / "policies" / f"{name}.toml"]


def sampling(home: Path, place: Path, name: str) -> Words:
    """Return how to make a table up."""
    return ["sample", "hospital", "--rows", str(PEOPLE), "--out", place / "samples" / f"{name}.csv"]


def keying(home: Path, place: Path, name: str) -> Words:
    """Return how to make a pair of keys."""
    return ["keygen", place / "keys" / f"{name}.key"]


def signing(home: Path, place: Path, name: str) -> Words:
    """Return how to sign the release, with a key that is made once."""
    key = home / "publisher.key"
    if not key.exists():
        keygen(key)
    return ["sign", home / "asked", "--key", key, "--out", place / "models" / f"{name}.signature.json"]


def studying(home: Path, place: Path, name: str) -> Words:
    """Return how to ask a paper's question again; a study goes on where it was killed."""
    return ["study", "001-fig3", "--quick", "--workers", "1", "--out", place / "papers" / "one"]


INSTALLED = tuple(method for method in POLICIES if method != "noisy-tables" or find_spec("mbi") is not None)
"""The methods whose libraries are here."""
ENGINES = ("memory", "duckdb", *(("spark",) if find_spec("pyspark") and shutil.which("java") else ()))
"""The engines that are here."""
_BEYOND = tuple(
    name for name in INSTALLED if name != "near-groups" and METHODS[name].engines_refused is not Method.engines_refused
)
"""Those that engines make of these policies; near groups only against an engineer."""
JOBS: dict[str, Callable[[Path, Path, str], Words]] = {
    **{f"publish {method}": partial(publishing, method, "memory") for method in INSTALLED},
    **{f"publish {method} by duckdb": partial(publishing, method, "duckdb") for method in _BEYOND},
    **({"publish boxes by spark": partial(publishing, "boxes", "spark")} if "spark" in ENGINES else {}),
    **{f"publish visits by {engine}": partial(publishing, "visits", engine) for engine in ENGINES if engine != "spark"},
    "complete": completing,
    "report": reporting,
    "page": paging,
    "query --export-model": exporting,
    "compare": comparing,
    "query --duckdb": storing,
    **{f"audit by {engine}": partial(auditing, engine) for engine in ENGINES if engine != "spark"},
    "policy init": drafting,
    "sample": sampling,
    "keygen": keying,
    "sign": signing,
    "study": studying,
}
"""What is killed."""


def start(home: Path, place: Path, job: str, name: str) -> subprocess.Popen[str]:
    """Begin a job in a place."""
    command = [sys.executable, "-m", "sfumato", *(str(word) for word in JOBS[job](home, place, name))]
    where = {"TMPDIR": str(place / "tmp"), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=os.environ | where)


def _completed(path: Path) -> None:
    assert [pq.read_table(one).num_rows for one in sorted(path.iterdir())] == [PEOPLE] * COMPLETED


def _database(path: Path) -> None:
    import duckdb

    with duckdb.connect(str(path), read_only=True) as database:
        assert database.execute("SELECT count(*) FROM completed_1").fetchone() == (PEOPLE,)


def _report(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>")


def _study(path: Path) -> None:
    for one in path.rglob("*"):
        if one.suffix == ".json":
            json.loads(one.read_text())
        elif one.is_file():
            assert one.suffix in (".parquet", ".svg"), one.name
        else:
            assert one.name == "runs"


def _paper(path: Path) -> None:
    for file in path.rglob("*"):
        if file.suffix == ".json":
            json.loads(file.read_text())
        elif file.suffix == ".parquet":
            pq.read_table(file)


def _key(path: Path) -> None:
    assert path.read_bytes().rstrip().endswith(b"-----")


def _receipt(path: Path) -> None:
    if path.suffix in (".people", ".key"):  # whole numbers of eight bytes
        assert path.stat().st_size % 8 == 0
        return
    assert json.loads(path.read_text())["format"] in ("sfumato-receipt", "sfumato-booking")


def _sample(path: Path) -> None:
    assert pyarrow.csv.read_csv(path).num_rows == PEOPLE


def _nothing(path: Path) -> None:
    assert path.name.startswith(("hsperfdata", "spark-", "blockmgr-", "liblz4", "libsnappy")), "a private file"


WHOLE: dict[str, Callable[[Path], Any]] = {
    "releases": Release.load,
    "receipts": _receipt,
    "links": Links.load,
    "completed": _completed,
    "reports": _report,
    "models": lambda path: json.loads(path.read_text()),
    "studies": _study,
    "papers": _paper,
    "keys": _key,
    "databases": _database,
    "policies": Policy.load,
    "samples": _sample,
    "tmp": _nothing,
}
"""The directories of a place, and what raises unless something in one is whole."""


def furnish(place: Path) -> None:
    """Make the directories of a place."""
    for name in WHOLE:
        (place / name).mkdir(parents=True, exist_ok=True)


def leftovers(place: Path) -> Iterator[str]:
    """Give everything in a place that is not whole, or that should not be there."""
    for path in sorted(place.glob("*/*")):
        try:
            WHOLE[path.parent.name](path)
        except Exception as error:
            yield f"{path.relative_to(place)} ({type(error).__name__})"


def kill(home: Path, place: Path, job: str, name: str, number: int, moment: float) -> str:
    """Begin a job, send the signal at this moment, and return what came of it: "in time", "too late", or what is wrong."""
    process = start(home, place, job, name)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=moment)
    process.send_signal(number)
    said = process.communicate(timeout=900)[1]
    if process.returncode in (0, -number, 128 + number):  # by the signal itself before the first line of ours has run
        return "too late" if process.returncode == 0 else "in time"
    return f"exit code {process.returncode}: {said}"


def done(home: Path, place: Path, job: str, name: str) -> float:
    """Do a job to its end, and return how long it took."""
    begun = time.perf_counter()
    process = start(home, place, job, name)
    said = process.communicate(timeout=900)[1]
    assert process.returncode == 0, (job, said)
    return time.perf_counter() - begun


def kills(home: Path, count: int, seed: int, jobs: Sequence[str] = tuple(JOBS)) -> Iterator[tuple[str, str]]:
    """Give for each of so many kills what it was, and what came of it; for the end, what was left behind."""
    draw = random.Random(seed)
    prepare(home)
    soft, hard = home / "soft", home / "hard"
    for place in (soft, hard):
        furnish(place)
    done(home, soft, "publish boxes", "asked")
    shutil.copytree(soft / "releases" / "asked", home / "asked")
    took = {job: done(home, hard, job, f"{job}-whole") for job in jobs}
    for i in range(count):
        job = jobs[i % len(jobs)]
        number = draw.choice([*SOFT, signal.SIGKILL, signal.SIGKILL])
        moment = took[job] * (draw.uniform(0.0, 1.1) if i % 2 else draw.uniform(0.6, 1.1))
        place = soft if number in SOFT else hard
        begun = time.perf_counter()
        came = kill(home, place, job, f"{job}-{i}", number, moment)
        if came == "too late":  # the machine has less to do than before
            took[job] = min(took[job], time.perf_counter() - begun)
        what = f"{job}, {signal.Signals(number).name} after {moment:.2f} s"
        yield what, came
        if place is soft:
            yield from ((what, f"left {left}") for left in leftovers(soft))
    for job in jobs:  # whoever writes to a place again clears it up
        done(home, hard, job, f"{job}-last")
    yield from (("after one more of everything", f"left {left}") for left in leftovers(hard))


def main() -> int:
    """Run so many kills, and return 1 if anything was wrong or left."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp())
    found: Counter[str] = Counter()
    for what, came in kills(home, options.count, options.seed):
        found[came] += 1
        print(f"{what}: {came}", flush=True)
    wrong = {came for came in found if came not in ("in time", "too late")}
    print(f"{options.count} kills: {found['in time']} in time, {found['too late']} too late; wrong: {sorted(wrong) or 'nothing'}")
    if not wrong:
        shutil.rmtree(home)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
