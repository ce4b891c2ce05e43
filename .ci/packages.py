"""Build wheel and sdist as a publisher would, and try both where nothing else of this repository is.

The wheel is built from the unpacked sdist, and has every file of the package as it is here. It is installed alone into a fresh
environment and must publish, audit and query there; then the tests of the sdist must be readable, and some of them pass, with the
installed wheel. Run it with Python 3.11 or newer.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

POLICY = """\
[columns]
identifier = ["patient"]
quasi      = ["age", "sex", "ward"]
sensitive  = ["diagnosis"]
other      = ["postcode", "admitted", "insurance"]
[requirement]
model = "f-privacy"
theta = 8
offset = "0.02"
"""


def main():
    """Build, install and try; the first thing that fails ends the run."""
    with tempfile.TemporaryDirectory(prefix="sfumato-packages-") as directory:
        place = Path(directory)
        python = new_environment(place / "env")
        run(python, "-m", "pip", "install", "-q", *requirements())
        run(python, "-m", "hatchling", "build", "-t", "sdist", "-d", place, cwd=ROOT)
        source = unpacked(next(place.glob("*.tar.gz")), place)
        run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=source)
        wheel = next(place.glob("*.whl"))
        check_description(wheel)
        check_files(wheel)
        python = new_environment(place / "user")
        run(python, "-m", "pip", "install", "-q", wheel)
        use(python.parent / "sfumato", place / "empty")
        run(python, "-m", "pip", "install", "-q", f"{wheel}[test]")
        run("make", "installed-tests", f"RUN={python}", cwd=source)


def requirements():
    """Return what builds the package, as pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]


def new_environment(place):
    """Return the Python of a new virtual environment."""
    venv.create(place, with_pip=True)
    return place / "bin" / "python"


def unpacked(archive, place):
    """Return the directory of an unpacked sdist, which must have every file of the repository."""
    with tarfile.open(archive) as file:
        file.extractall(place, filter="data")
    source = place / archive.name.removesuffix(".tar.gz")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    missing = [name for name in listed if not (source / name).exists()]
    if missing:
        raise SystemExit(f"not in the sdist: {', '.join(missing)}")
    return source


def check_description(wheel):
    """Refuse a description with a relative link or picture, which a package index cannot follow."""
    with zipfile.ZipFile(wheel) as file:
        name = next(name for name in file.namelist() if name.endswith("/METADATA"))
        relative = re.findall(r"\]\((?!https?:|mailto:|#)[^)]*\)", file.read(name).decode())
    if relative:
        raise SystemExit(f"relative links in the description: {relative}")


def check_files(wheel):
    """Refuse a wheel whose package is not, byte by byte, the one that the suite has tested."""
    package = ROOT / "src" / "sfumato"
    kept = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    here = {path.relative_to(ROOT / "src").as_posix(): path.read_bytes() for path in kept}
    with zipfile.ZipFile(wheel) as file:
        there = {name: file.read(name) for name in file.namelist() if name.startswith("sfumato/")}
    other = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if other:
        raise SystemExit(f"other in the wheel than in src: {', '.join(other)}")


def use(command, place):
    """Publish, audit and query a small table in an empty directory, with nothing but the installed wheel."""
    place.mkdir()
    (place / "policy.toml").write_text(POLICY)
    run(command, "--version", cwd=place)
    run(command, "sample", "hospital", "--rows", "1000", "--out", "patients.csv", cwd=place)
    run(command, "publish", "patients.csv", "--policy", "policy.toml", "--out", "release", cwd=place)
    run(command, "audit", "release", "--table", "patients.csv", cwd=place)
    run(command, "query", "release", "SELECT sex, COUNT(*) WHERE age < 40 AND diagnosis = 'Flu' GROUP BY sex", cwd=place)


def run(*command, cwd=None):
    """Run a command without this repository on Python's path; its failure ends the run."""
    print("$", *command, flush=True)
    surroundings = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "MAKEFLAGS", "MFLAGS")
    }
    subprocess.run([str(part) for part in command], cwd=cwd, env=surroundings, check=True)


if __name__ == "__main__":
    sys.exit(main())
