"""What falls away with a guest: `python -m tests.guests papers` runs the suite in a copy without that part of sfumato.

With the folder of a guest go its tests, in the folder of tests of the same name. Elsewhere a test falls away if it fails because
the guest is not there, and its file, or a module of tests that this takes from, names the guest. Any other failure is one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUESTS = {
    "papers": r"papers\b|[Dd]ecoys|[Hh]eterogeneous|\bRing\b|\"ring\"|grouping\W+paper|studies",
    "synthetic": r"[Ss]ynthetic|[Pp]riv[Bb]ayes|[Nn]oisy-?[Tt]ables|studies",
    "studio": r"studio",
}
"""The guests, and how tests name them; the studies ask the papers' schemes and synthetic records."""
LEFT_OUT = re.compile(r"which this installation\s+leaves out|No module named 'sfumato\.(papers|synthetic|studio)")
ALL_METHODS = re.compile(r"\bMETHODS\b|tests\.corpus")
"""These go through every method that there is, or was when the corpus was recorded."""


def missing() -> list[str]:
    """Return the guests that are not there."""
    import sfumato

    return [name for name in GUESTS if not (Path(sfumato.__file__).parent / name).is_dir()]


@cache
def names_one(file: Path) -> bool:
    """Return whether a file of tests, or one that it takes from, names a guest that is not there."""
    words = re.compile("|".join([*(GUESTS[name] for name in missing()), ALL_METHODS.pattern]))
    return any(words.search(path.read_text()) for path in _with_helpers(file))


def _with_helpers(file: Path) -> set[Path]:
    found, waiting = set[Path](), [file]
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        for module in re.findall(r"^\s*(?:from|import) (tests[\w.]*)", path.read_text(), re.M):
            inside = ROOT.joinpath(*module.split("."))
            waiting += [inside.with_suffix(".py"), inside / "__init__.py"]
    return found


def copy_without(guests: list[str], place: Path, *, tests: bool) -> Path:
    """Return a copy of the repository, or of its package alone, without the folders of guests and of their tests."""
    ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    shutil.copytree(ROOT / "src", place / "src", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", place)
    for guest in guests:
        shutil.rmtree(place / "src" / "sfumato" / guest)
    if tests:
        for name in os.listdir(ROOT):
            if name in ("src", "pyproject.toml", "build") or (name.startswith(".") and name not in (".ci", ".github")):
                continue
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, place / name, ignore=ignored)
            else:
                shutil.copy(source, place / name)
        for guest in guests:
            shutil.rmtree(place / "tests" / guest)
    return place


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        left = [name for name in sys.argv[1:] if name in GUESTS]
        whole = copy_without(left, Path(home), tests=True)
        given = [word for word in sys.argv[1:] if word not in GUESTS]
        run = [sys.executable, "-m", "pytest", *(given or ["-n", "auto", "--dist", "loadfile"])]
        sys.exit(subprocess.run(run, cwd=whole, env={**os.environ, "PYTHONPATH": str(whole / "src")}, check=False).returncode)
