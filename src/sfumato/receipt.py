"""The private receipt: what only the publisher may see about a release, kept beside it and never in it.

A receipt also remembers *which table* was published, as a fingerprint, so that a second release of the same people is noticed:
two releases of one table can be combined, and no claim covers that. Whoever has the receipt and guesses a whole row can check the
guess against the fingerprint: one more reason to keep it private.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sfumato import __version__
from sfumato.errors import FormatError, OutputError
from sfumato.exact import percent
from sfumato.release import Release
from sfumato.release.atomic import flush, move_new, refuse_existing, workshop, write_draft
from sfumato.release.files import LARGEST_MANIFEST, MANIFEST, TableFormat, read_file, sha256
from sfumato.release.manifest import FORMAT as RELEASE
from sfumato.release.undisturbed import let_in
from sfumato.table.fingerprint import Fingerprint

FORMAT = "sfumato-receipt"
VERSION = 1
SUFFIX = ".receipt.json"
PRIVATE = "PRIVATE: figures about the original table. Never publish this file and never put it into the release directory."

ALIKE = 0.2
"""From this estimated share of common rows on, two tables are reported as nearly the same."""


COLUMNS_ALIKE = 2
"""From this many identical columns on, with equally many people, a table is reported as the same one with other roles."""


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

    The receipt is put in place first, and the release appears last. A process killed in between may leave a receipt without a
    release, which causes a needless warning; never a release without a receipt.
    """
    directory = Path(os.path.abspath(directory))
    home = directory.parent if receipts is None else Path(receipts)
    refuse_existing(directory)
    refuse_in_release(directory, receipts)
    try:
        with workshop(directory) as hidden, workshop(home / directory.name) as desk:
            release.save(hidden / directory.name, format=format)
            document = {
                "private": PRIVATE,
                "format": FORMAT,
                "version": VERSION,
                "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "software": f"sfumato {__version__}",
                "release": {"directory": str(directory), "manifest_sha256": sha256(hidden / directory.name / MANIFEST)},
                "table": fingerprint.to_dict(),
                "policy": policy,
                "figures": figures,
                "audit": audit,
            }
            text = json.dumps(document, indent=2, ensure_ascii=False, default=_plain) + "\n"
            draft = write_draft(desk / SUFFIX, lambda stream: stream.write(text.encode()))
            let_in()
            written = _move_to_free_name(draft, home, directory.name)
            try:
                move_new(hidden / directory.name, directory)
            except BaseException:
                written.unlink()
                raise
            flush(home)
            flush(directory.parent)
    except OSError as error:
        if isinstance(error, FileExistsError):
            refuse_existing(directory)  # another publisher was faster
        raise OutputError(
            f"cannot write {directory} with its receipt in {home}: {error.strerror or error}; nothing was left behind",
            hint="check both paths and their permissions; --receipts DIR puts the receipt elsewhere",
        ) from None
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
    earlier = []
    for path in _receipts(directories):
        try:
            document = _document(path)
            if document["format"] != FORMAT:
                continue
            other = Fingerprint.from_dict(document["table"])
            release, date = str(document["release"]["directory"]), str(document["date"])
        except (FormatError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            earlier.append(Earlier(path, "unreadable"))
            continue
        if other.digest == fingerprint.digest:
            earlier.append(Earlier(path, "same", 1.0, release=release, date=date))
        elif other.rows == fingerprint.rows and len(common := fingerprint.common_columns(other)) >= COLUMNS_ALIKE:
            earlier.append(Earlier(path, "columns", 1.0, common, release=release, date=date))
        elif (similarity := fingerprint.similarity(other)) >= ALIKE:
            earlier.append(Earlier(path, "similar", similarity, release=release, date=date))
    return sorted(earlier, key=lambda one: (-one.similarity, str(one.receipt)))


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
    own, named = sha256(home / MANIFEST), None
    for path in sorted(home.parent.glob(f"*{SUFFIX}")):
        try:
            document = _document(path)
            place, known = str(document["release"]["directory"]), document["release"]["manifest_sha256"]
            policy = str(document["policy"])
        except (FormatError, ValueError, KeyError, TypeError, RecursionError):
            continue
        if known == own:
            return Kept(path, policy, same=True)
        if Path(place) == home:
            named = Kept(path, policy, same=False)
    return named


def _document(path: Path) -> Any:
    """Return what a receipt holds; what is no file, or larger than receipts are, is not waited for."""
    return json.loads(read_file(path, LARGEST_MANIFEST).decode("utf-8"))


def _receipts(directories: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for directory in directories:
        place = Path(directory).resolve()
        if place in seen or not place.is_dir():
            continue
        seen.add(place)
        yield from sorted(place.glob(f"*{SUFFIX}"))


def _move_to_free_name(draft: Path, home: Path, name: str) -> Path:
    """Return the receipt's place, under a name that is free: an older receipt is never replaced, it remembers another release."""
    for number in itertools.count(1):
        path = home / (f"{name}{SUFFIX}" if number == 1 else f"{name}.{number}{SUFFIX}")
        with contextlib.suppress(FileExistsError):
            move_new(draft, path)
            break
    return path


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
