"""Publications of every method, killed at random moments: `python -m tests.faults.kills 100 --seed 1`, or `make kills KILLS=100`.

After ctrl-C, SIGTERM and SIGHUP nothing may be left but whole releases and whole receipts; after SIGKILL the same must be true
once somebody has published in the same place again.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from sfumato import Release
from sfumato.release.links import Links

_VALUES = ["Flu"] * 5 + ["Asthma"] * 4 + ["Gout"] * 4 + ["Lupus"] * 4 + ["HIV"] * 3
_COLUMNS = '[columns]\nquasi = ["age", "sex", "ward"]\nsensitive = ["illness"]\n'
_DIVERSE = '[requirement]\nmodel = "l-diversity"\nl = 2\nagainst = "reader"\n'
_LIKE = '[requirement]\nmodel = "beta-likeness"\nbeta = 4\nagainst = "reader"\n'
_RHO = '[requirement]\nmodel = "rho-privacy"\nrho1 = "0.3"\nrho2 = "0.6"\nagainst = "reader"\n'
_DOMAINS = '[domains]\nage = { min = 20, max = 79 }\nsex = ["f", "m"]\nward = ["a", "b", "c", "d", "e"]\n'
_PRESENCE = '[requirement]\nmodel = "presence-association"\nalpha = 1\nbeta = "0.6"\nagainst = "reader"\n'

POLICIES = {
    "boxes": _DIVERSE,
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
_LINKED = ("heterogeneous", "ring")
SOFT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def prepare(home: Path, people: int = 2000) -> None:
    """Write the table and a policy for every method."""
    draw = random.Random(1)
    lines = [f"{draw.randrange(20, 80)},{draw.choice('fm')},{draw.choice('abcde')},{draw.choice(_VALUES)}" for _ in range(people)]
    (home / "people.csv").write_text("age,sex,ward,illness\n" + "\n".join(lines) + "\n")
    for method, requirement in POLICIES.items():
        text = f'{_COLUMNS}{requirement}[method]\nname = "{method}"\n{_MORE.get(method, "")}'
        (home / f"{method}.toml").write_text(text)


def start(home: Path, place: Path, method: str, name: str) -> subprocess.Popen[str]:
    """Begin to publish by a method to a new directory of the place."""
    command = [sys.executable, "-m", "sfumato", "publish", home / "people.csv", "-p", home / f"{method}.toml"]
    command += ["--out", place / "releases" / name, "--receipts", place / "receipts"]
    command += ["--links", place / f"{name}.parquet"] if method in _LINKED else []
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def leftovers(place: Path) -> Iterator[str]:
    """Give everything in a place of publications that is no whole release, receipt or file of links."""
    for path in sorted([*place.iterdir(), *place.glob("releases/*"), *place.glob("receipts/*")]):
        try:
            if path in (place / "releases", place / "receipts"):
                continue
            if path.parent.name == "receipts":
                assert json.loads(path.read_text())["format"] in ("sfumato-receipt", "sfumato-booking")
            elif path.parent.name == "releases":
                Release.load(path)
            else:
                Links.load(path)
        except Exception as error:
            yield f"{path.relative_to(place)} ({type(error).__name__})"


def kill(home: Path, place: Path, method: str, name: str, number: int, moment: float) -> str:
    """Publish, send the signal at this moment, and return what came of it: "in time", "too late", or what is wrong."""
    process = start(home, place, method, name)
    time.sleep(moment)
    process.send_signal(number)
    said = process.communicate(timeout=300)[1]
    if process.returncode in (0, -number, 128 + number):  # by the signal itself before the first line of ours has run
        return "too late" if process.returncode == 0 else "in time"
    return f"exit code {process.returncode}: {said}"


INSTALLED = tuple(method for method in POLICIES if method != "noisy-tables" or find_spec("mbi") is not None)
"""The methods whose libraries are here."""


def kills(home: Path, count: int, seed: int, methods: tuple[str, ...] = INSTALLED) -> Iterator[tuple[str, str]]:
    """Give for each of so many kills what it was, and what came of it; for the end, what was left behind."""
    draw = random.Random(seed)
    prepare(home)
    soft, hard = home / "soft", home / "hard"
    for place in (soft, hard):
        place.mkdir()
    took = {}
    for method in methods:
        for place in (soft, hard):  # the first run compiles kernels
            begun = time.perf_counter()
            process = start(home, place, method, f"{method}-whole")
            said = process.communicate(timeout=600)[1]
            took[method] = time.perf_counter() - begun
            assert process.returncode == 0, (method, said)
    for i in range(count):
        method = methods[i % len(methods)]
        number = draw.choice([*SOFT, signal.SIGKILL, signal.SIGKILL])
        moment = took[method] * (draw.uniform(0.0, 1.1) if i % 2 else draw.uniform(0.7, 1.1))
        place = soft if number in SOFT else hard
        came = kill(home, place, method, f"{method}-{i}", number, moment)
        yield f"{method} {signal.Signals(number).name}", came
        if place is soft:
            for left in leftovers(soft):
                yield f"{method} {signal.Signals(number).name} after {moment:.2f} s", f"left {left}"
    last = start(home, hard, methods[0], "last")
    yield "one more", "in time" if last.wait(timeout=300) == 0 else f"exit code {last.returncode}"
    for left in leftovers(hard):
        yield "after one more", f"left {left}"


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
