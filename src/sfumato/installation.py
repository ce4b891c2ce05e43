"""What is installed, where sfumato keeps what it writes by itself, and whether anybody but this user could touch that."""

from __future__ import annotations

import os
import platform
import re
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal

from sfumato import __version__
from sfumato.places import is_own
from sfumato.plugins import installed, is_guest, package_of_entry, parts_left_out

State = Literal["safe", "made when needed", "none", "unsafe"]

NOT_FOR_USERS = frozenset({"test", "docs", "dev"})
"""Extras that only whoever develops sfumato needs."""

_EXTRA = r"""(?:;.*extra\s*==\s*['"](?P<extra>[\w-]+))?"""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[.*?\])?\s*(?:>=\s*(?P<oldest>[\d.]+))?[^;]*" + _EXTRA)


@dataclass(frozen=True)
class NeededPackage:
    """A library that sfumato needs, or that an extra brings: the oldest version that will do, and the one that is there."""

    name: str
    oldest: str
    found: str | None
    extra: str | None

    @property
    def fits(self) -> bool:
        """Whether it is there, in a version that will do."""
        return self.found is not None and _numbers(self.found) >= _numbers(self.oldest)


@dataclass(frozen=True)
class KeptPlace:
    """Where something is kept, whether others could touch it, and why it is so; no path where there is none."""

    what: str
    path: Path | None
    state: State
    why: str = ""


@dataclass(frozen=True)
class Installation:
    """What `sfumato doctor` tells; `problems` are sentences that say what to do."""

    packages: tuple[NeededPackage, ...]
    plugins: dict[str, str]
    left_out: tuple[str, ...]
    places: tuple[KeptPlace, ...]
    problems: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            **versions(),
            "packages": [{**asdict(package), "fits": package.fits} for package in self.packages],
            "plugins": self.plugins,
            "left_out": list(self.left_out),
            "places": [{**asdict(place), "path": None if place.path is None else str(place.path)} for place in self.places],
            "problems": list(self.problems),
            "healthy": not self.problems,
        }


def versions() -> dict[str, str]:
    """Return the versions of sfumato and Python, and the system."""
    return {"sfumato": __version__, "python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}


def examine(receipts: Path | None = None) -> Installation:
    """Return what is installed and where things are kept; `receipts` is a register beside the user's own."""
    packages = tuple(_packages())
    plugins = {
        f"{group.rpartition('.')[2]}: {name}": package_of_entry(entry)
        for group in ("sfumato.methods", "sfumato.models", "sfumato.estimators", "sfumato.engines", "sfumato.verbs")
        for name, entry in installed(group).items()
        if not is_guest(entry)
    }
    problems = [f"{one.name} {one.found or 'is missing'}: {_needed(one)}" for one in packages if _is_wrong(one)]
    places: tuple[KeptPlace, ...] = ()
    try:
        places = (_compiled_code(), _models(), *_registers(receipts))
    except ImportError as error:
        problems.append(f"{error.name} cannot be loaded, so that places were not looked at: install sfumato anew")
    problems += [f"{one.what} in {one.path}: {one.why}" for one in places if one.state == "unsafe"]
    return Installation(packages, plugins, parts_left_out(), places, tuple(problems))


def _packages() -> Iterator[NeededPackage]:
    """Give what pyproject.toml asks for, needed packages first; nothing where sfumato runs from its source."""
    try:
        asked = [_REQUIREMENT.match(line) for line in requires("sfumato") or ()]
    except PackageNotFoundError:
        return
    for one in sorted((match for match in asked if match), key=lambda match: match["extra"] or ""):
        if one["name"] == "sfumato" or one["extra"] in NOT_FOR_USERS:
            continue
        try:
            found = version(one["name"])
        except PackageNotFoundError:
            found = None
        yield NeededPackage(one["name"], one["oldest"] or "0", found, one["extra"])


def _is_wrong(package: NeededPackage) -> bool:
    """Return whether something needed does not fit; of an extra only what is there can be too old."""
    return not package.fits and (package.extra is None or package.found is not None)


def _needed(package: NeededPackage) -> str:
    extra = "" if package.extra is None else f"[{package.extra}]"
    return f"{package.oldest} or newer is needed: pip install --upgrade 'sfumato{extra}'"


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, without zeros at the end."""
    found = [int(one) for one in re.match(r"[\d.]*", text)[0].strip(".").split(".") if one]  # type: ignore[index]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def _compiled_code() -> KeptPlace:
    """Ask a kernel where its code is kept: the same decision that all of them make."""
    from sfumato import _jit
    from sfumato.release._covering_kernels import lowest_bit

    what = "compiled code"
    kept = _jit.kept_in(lowest_bit)
    stated = os.environ.get("SFUMATO_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if kept is not None:
        place = Path(os.path.realpath(stated)) if stated else kept
        return KeptPlace(what, place, "safe") if is_own(kept) else KeptPlace(what, place, "unsafe", OTHERS_WRITE)
    if stated and os.path.lexists(stated) and not is_own(Path(os.path.realpath(stated))):
        return KeptPlace(what, Path(stated), "unsafe", f"{OTHERS_WRITE}; it is not used, and code is compiled anew in every run")
    return KeptPlace(what, None, "none", "no directory can be written: code is compiled anew in every run")


OTHERS_WRITE = "others can write there, or it is a link: chmod 700, if it is yours"


def _models() -> KeptPlace:
    from sfumato.query.model_cache import user_models

    return _directory("what releases taught", user_models(), "learned anew in every run")


def _registers(receipts: Path | None) -> Iterator[KeptPlace]:
    """Give the registers that a publication looks into, and whether what lies in them is this user's alone."""
    from sfumato.budget import SUFFIX as BOOKING
    from sfumato.budget import places_looked_in
    from sfumato.ledger import KEY_FILE
    from sfumato.ledger import SUFFIX as HASHES
    from sfumato.register import SUFFIX, documents

    for path in places_looked_in(receipts):
        place = _directory("register of receipts", path.resolve(), "receipts lie beside releases")
        if place.state != "safe":
            yield place
            continue
        files = [file for ending in (SUFFIX, BOOKING, HASHES, KEY_FILE) for file in path.glob(f"*{ending}")]
        shown = [file for file in files if not _is_private(file)]
        broken = [file for file, document in documents([path]) if document is None]
        if shown:
            yield KeptPlace(place.what, path, "unsafe", f"others can read or write {_counted(shown)}: chmod 600")
        elif broken:
            yield KeptPlace(
                place.what, path, "unsafe", f"{_counted(broken)} cannot be read, so that earlier publications are missed"
            )
        else:
            yield KeptPlace(place.what, path, "safe", _counted(files) if files else "empty")
    if not places_looked_in(receipts):
        yield KeptPlace("register of receipts", None, "none", "receipts lie beside releases: there is no home directory")


def _directory(what: str, path: Path | None, otherwise: str) -> KeptPlace:
    """Return whether a directory is this user's, or can be made where it is missing."""
    if path is None:
        return KeptPlace(what, None, "none", f"{otherwise}: there is no home directory")
    if os.path.lexists(path):
        if not is_own(path):
            return KeptPlace(what, path, "unsafe", OTHERS_WRITE)
        return KeptPlace(what, path, "safe") if os.access(path, os.W_OK | os.X_OK) else KeptPlace(what, path, "none", otherwise)
    nearest = next(folder for folder in path.parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return KeptPlace(what, path, "made when needed")
    return KeptPlace(what, path, "none", f"{otherwise}: {nearest} cannot be written")


def _is_private(file: Path) -> bool:
    """Return whether a file is this user's, and nobody else's to read."""
    return is_own(file) and (os.name == "nt" or not stat.S_IMODE(file.stat().st_mode) & 0o077)


def _counted(files: list[Path]) -> str:
    return f"{len(files)} {'file' if len(files) == 1 else 'files'}"
