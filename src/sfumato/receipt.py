"""The private receipt: what only the publisher may see about a release, kept beside it and never in it.

A receipt also remembers *which table* was published, as a fingerprint, so that a second release of the same people is noticed:
two releases of one table can be combined, and no claim covers that. Whoever has the receipt and guesses a whole row can check the
guess against the fingerprint: one more reason to keep it private.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from sfumato.errors import OutputError
from sfumato.exact import percent
from sfumato.release import Release
from sfumato.release.files import MANIFEST, TableFormat, sha256
from sfumato.release.manifest import FORMAT as RELEASE
from sfumato.table.fingerprint import Fingerprint

FORMAT = "sfumato-receipt"
VERSION = 1
SUFFIX = ".receipt.json"
PRIVATE = "PRIVATE: figures about the original table. Never publish this file and never put it into the release directory."

ALIKE = 0.2
"""From this estimated share of common rows on, two tables are reported as nearly the same."""


COLUMNS_ALIKE = 2
"""So many identical columns, with equally many people, are reported too: the same table with other roles."""


@dataclass(frozen=True)
class Earlier:
    """A receipt found beside this publication: of the same table, of a similar one, or one that cannot be read."""

    receipt: Path
    kind: Literal["same", "columns", "similar", "unreadable"]
    similarity: float = 0.0
    columns: tuple[str, ...] = ()
    release: str = ""
    date: str = ""

    @property
    def warning(self) -> str:
        """What the publisher should know about it, as a sentence."""
        if self.kind == "unreadable":
            return f"{self.receipt} cannot be read, so it is not known whether this table was published before."
        combine = "Two releases of one table can be combined, and no claim covers that."
        when = f"on {self.date[:10]} as {self.release} (receipt {self.receipt})"
        if self.kind == "same":
            return f"This very table was already published {when}. {combine}"
        if self.kind == "columns":
            names = ", ".join(self.columns)
            return f"A table with as many people and the same columns {names} was already published {when}. {combine}"
        return f"This table shares about {percent(self.similarity, 1)} of its rows with one that was published {when}. {combine}"


def save_with_receipt(
    release: Release,
    directory: Path,
    *,
    format: TableFormat,
    receipts: Path | None = None,
    fingerprint: Fingerprint,
    policy: str,
    figures: Mapping[str, Any],
    audit: Mapping[str, Any],
) -> Path:
    """Write the release and its receipt, both or neither, and return the receipt's path.

    The release is prepared in a hidden sibling, then the receipt is put in place, and the release appears last. A process killed
    in between may leave a receipt without a release, which warns once too often; never a release that nobody remembers.
    """
    directory = Path(os.path.abspath(directory))
    home = directory.parent if receipts is None else Path(receipts)
    refuse_existing(directory)
    refuse_in_release(directory, receipts)
    staged = directory.with_name(f".{directory.name}.{secrets.token_hex(6)}.partial")
    made = [*_missing_parents(directory.parent), *_missing_parents(home)]
    written: Path | None = None
    try:
        release.save(staged, format=format)
        document = {
            "private": PRIVATE,
            "format": FORMAT,
            "version": VERSION,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "software": f"sfumato {version('sfumato')}",
            "release": {"directory": str(directory), "manifest_sha256": sha256(staged / MANIFEST)},
            "table": fingerprint.to_dict(),
            "policy": policy,
            "figures": figures,
            "audit": audit,
        }
        written = _write_receipt(home, directory.name, json.dumps(document, indent=2, ensure_ascii=False, default=_plain))
        refuse_existing(directory)
        os.rename(staged, directory)
    except OSError as error:
        raise OutputError(
            f"cannot write {directory} with its receipt in {home}: {error.strerror or error}; nothing was left behind",
            hint="check both paths and their permissions; --receipts DIR puts the receipt elsewhere",
        ) from None
    finally:
        # Looked up and not remembered: ctrl-C may strike right after the renaming, when both are in place.
        if written is None or staged.exists() or not directory.exists():
            shutil.rmtree(staged, ignore_errors=True)
            if written is not None:
                with contextlib.suppress(OSError):
                    written.unlink()
            _remove_empty(made)
    return written


def check_outputs(directory: Path, receipts: Path | None = None) -> None:
    """Refuse, before any long work, an output that exists or cannot be written."""
    directory = Path(os.path.abspath(directory))
    refuse_existing(directory)
    refuse_in_release(directory, receipts)
    for place in (directory.parent, *(() if receipts is None else (Path(receipts),))):
        nearest = next(parent for parent in (place.absolute(), *place.absolute().parents) if parent.exists())
        if not nearest.is_dir():
            raise OutputError(f"cannot write to {place}: {nearest} is not a directory", hint="choose another --out")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise OutputError(
                f"cannot write to {place}: no permission in {nearest}", hint="choose another --out, or ask for access"
            )


def refuse_existing(directory: Path) -> None:
    """Refuse an output directory that exists already."""
    if directory.exists() or directory.is_symlink():
        raise OutputError(
            f"{directory} exists already; a release is only written to a new directory",
            hint="choose another --out, or remove the old release if nobody has received it",
        )


def refuse_in_release(directory: Path, receipts: Path | None = None) -> None:
    """Refuse a place for something private that lies in a release: in one that exists, or in the new one of this directory."""
    places = [("--out", directory)] + ([] if receipts is None else [("--receipts", Path(receipts))])
    for option, place in places:
        whole = place.resolve()
        around = next((one for one in (whole, *whole.parents) if _holds_release(one)), None)
        if around is not None:
            raise OutputError(
                f"{option} {place} lies in a release, {around}; whoever gets that release would get what is private too",
                hint=f"choose a place outside of {around}",
            )
    if receipts is not None and Path(receipts).resolve().is_relative_to(directory.resolve()):
        raise OutputError(
            f"--receipts {receipts} lies in the release {directory}, and the private receipt must never lie in it",
            hint="leave --receipts out: the receipt then goes beside the release",
        )


def _holds_release(directory: Path) -> bool:
    """Return whether a directory has the manifest of a release in it, also a damaged one."""
    try:
        return (directory / MANIFEST).is_file() and f'"{RELEASE}"'.encode() in (directory / MANIFEST).read_bytes()
    except OSError:
        return False


def earlier_publications(fingerprint: Fingerprint, directories: Iterable[Path]) -> list[Earlier]:
    """Return the earlier publications of this table, or of one much like it, whose receipts lie in these directories.

    The likeness of two tables is estimated from their sketches; what is below 0.2 is not reported.
    """
    found = []
    for path in _receipts(directories):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] != FORMAT:
                continue
            other = Fingerprint.from_dict(document["table"])
            release, date = str(document["release"]["directory"]), str(document["date"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            found.append(Earlier(path, "unreadable"))
            continue
        if other.digest == fingerprint.digest:
            found.append(Earlier(path, "same", 1.0, release=release, date=date))
        elif other.rows == fingerprint.rows and len(common := fingerprint.common_columns(other)) >= COLUMNS_ALIKE:
            found.append(Earlier(path, "columns", 1.0, common, release=release, date=date))
        elif (similarity := fingerprint.similarity(other)) >= ALIKE:
            found.append(Earlier(path, "similar", similarity, release=release, date=date))
    return sorted(found, key=lambda earlier: (-earlier.similarity, str(earlier.receipt)))


@dataclass(frozen=True)
class Kept:
    """A receipt beside a release that names it; `same` when the release still has the manifest that was published."""

    path: Path
    policy: str
    same: bool


def receipt_of(release: Path) -> Kept | None:
    """Return the receipt beside a release that was written for it: one that knows its manifest, else one that names its place."""
    home = Path(os.path.abspath(release))
    if not (home / MANIFEST).is_file():
        return None
    found, named = sha256(home / MANIFEST), None
    for path in sorted(home.parent.glob(f"*{SUFFIX}")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            place, known = str(document["release"]["directory"]), document["release"]["manifest_sha256"]
            policy = str(document["policy"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if known == found:
            return Kept(path, policy, same=True)
        if Path(place) == home:
            named = Kept(path, policy, same=False)
    return named


def _receipts(directories: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for directory in directories:
        place = Path(directory).resolve()
        if place in seen or not place.is_dir():
            continue
        seen.add(place)
        yield from sorted(place.glob(f"*{SUFFIX}"))


def _write_receipt(home: Path, name: str, text: str) -> Path:
    """Write the receipt under a name that is free: an older receipt is never overwritten, it remembers another release."""
    home.mkdir(parents=True, exist_ok=True)
    partial = home / f".{name}.{secrets.token_hex(6)}{SUFFIX}.partial"
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        number = 1
        while True:
            path = home / (f"{name}{SUFFIX}" if number == 1 else f"{name}.{number}{SUFFIX}")
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # fails when the name is taken
            except FileExistsError:
                number += 1
                continue
            try:
                os.replace(partial, path)
            except BaseException:
                path.unlink()
                raise
            return path
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _missing_parents(directory: Path) -> list[Path]:
    return [parent for parent in (directory, *directory.parents) if not parent.exists()]


def _remove_empty(directories: Iterable[Path]) -> None:
    for directory in directories:
        with contextlib.suppress(OSError):
            directory.rmdir()


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)
