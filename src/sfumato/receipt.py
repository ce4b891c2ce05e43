"""The private receipt: what only the publisher may see about a release, kept apart from it and never in it.

A receipt also remembers *which table* was published, as a fingerprint, so that a second release of the same people is noticed
(`sfumato.register`). Whoever has the receipt and guesses a whole row, or an identifier, can check the guess against the
fingerprint: one more reason to keep it private.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NotRequired, TypedDict, Unpack

from sfumato import __version__
from sfumato.errors import OutputError
from sfumato.register import FORMAT, SUFFIX
from sfumato.release import Release
from sfumato.release.atomic import flush, let_in, move_new, refuse_existing, workshop, write_draft
from sfumato.release.files import MANIFEST, TableFormat, sha256
from sfumato.release.manifest import FORMAT as RELEASE
from sfumato.table.fingerprint import Fingerprint

VERSION = 1
PRIVATE = "PRIVATE: figures about the original table. Never publish this file and never put it into the release directory."


class Facts(TypedDict):
    """What a receipt says of a publication: fingerprints of table and people, the policy's text, private figures, the audit."""

    fingerprint: Fingerprint
    policy: str
    figures: Mapping[str, Any]
    audit: Mapping[str, Any]
    people: NotRequired[Fingerprint | None]


def save_with_receipt(
    release: Release, directory: Path, *, format: TableFormat, receipts: Path | None = None, **facts: Unpack[Facts]
) -> Path:
    """Write a release and its receipt, both or neither, and return the receipt's path: in `receipts`, else beside the release."""
    directory = Path(os.path.abspath(directory))
    refuse_existing(directory)
    refuse_in_release(directory, receipts)
    gamma = release.manifest.parameters.get("gamma")
    with whole_or_nothing(directory, receipts), workshop(directory) as hidden:
        release.save(hidden / directory.name, format=format)
        return deliver(hidden / directory.name, directory, receipts, gamma=gamma, **facts)


def deliver(draft: Path, directory: Path, receipts: Path | None, *, gamma: str | None, **facts: Unpack[Facts]) -> Path:
    """Put a release that lies ready in a workshop in its place, with its receipt, both or neither; return the receipt's path.

    The receipt is put in place first, and the release appears last. A process killed in between may leave a receipt without a
    release, which causes a needless warning; never a release without a receipt.
    """
    home = directory.parent if receipts is None else Path(receipts)
    with whole_or_nothing(directory, receipts), workshop(home / directory.name) as desk:
        text = receipt_text(directory, draft, gamma=gamma, **facts)
        paper = write_draft(desk / SUFFIX, lambda stream: stream.write(text.encode()))
        let_in()
        written = _move_to_free_name(paper, home, directory.name)
        try:
            move_new(draft, directory)
        except BaseException:
            written.unlink()
            raise
        flush(home)
        flush(directory.parent)
    return written


@contextlib.contextmanager
def whole_or_nothing(directory: Path, receipts: Path | None) -> Iterator[None]:
    """Say of a release or receipt that cannot be written in the block that nothing was."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError):
            refuse_existing(directory)  # another publisher was faster
        home = directory.parent if receipts is None else receipts
        raise OutputError(
            f"cannot write {directory} with its receipt in {home}: {error.strerror or error}; nothing was left behind",
            hint="check both paths and their permissions; --receipts DIR puts the receipt elsewhere",
        ) from None


def receipt_text(directory: Path, draft: Path, *, gamma: str | None, **facts: Unpack[Facts]) -> str:
    """Return the receipt of a release that is to lie in `directory` and now lies in a workshop."""
    people = facts.get("people")
    document = {
        "private": PRIVATE,
        "format": FORMAT,
        "version": VERSION,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "software": f"sfumato {__version__}",
        "release": {"directory": str(directory), "manifest_sha256": sha256(draft / MANIFEST)},
        "table": facts["fingerprint"].to_dict(),
        "people": None if people is None else people.to_dict(),
        "gamma": gamma,
        "policy": facts["policy"],
        "figures": facts["figures"],
        "audit": facts["audit"],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, default=_plain) + "\n"


def check_outputs(directory: Path, receipts: Path | None = None) -> None:
    """Refuse, before any long work, an output that exists or cannot be written.

    One missing directory is made around a release, but none at the root of the file system: `/release/x` is a slip of the pen.
    """
    directory = Path(os.path.abspath(directory))
    refuse_existing(directory)
    refuse_in_release(directory, receipts)
    around = directory.parent.parent
    if not directory.parent.exists() and (not around.exists() or around == Path(around.anchor)):
        raise OutputError(f"cannot write {directory}: there is no directory {directory.parent}", hint="make it first")
    for place in (directory.parent, *(() if receipts is None else (Path(receipts),))):
        nearest = next(parent for parent in (place.absolute(), *place.absolute().parents) if parent.exists())
        if not nearest.is_dir():
            raise OutputError(f"cannot write to {place}: {nearest} is not a directory", hint="choose another --out")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise OutputError(
                f"cannot write to {place}: no permission in {nearest}", hint="choose another --out, or ask for access"
            )


def refuse_in_release(
    directory: Path, receipts: Path | None = None, *, why: str = "whoever gets that release would get what is private too"
) -> None:
    """Refuse a place for something private that lies in a release: in one that exists, or in the new one of this directory."""
    places = [("--out", directory)] + ([] if receipts is None else [("--receipts", Path(receipts))])
    for option, place in places:
        whole = place.resolve()
        around = next((place for place in (whole, *whole.parents) if _holds_release(place)), None)
        if around is not None:
            raise OutputError(
                f"{option} {place} lies in a release, {around}; {why}",
                hint=f"choose a place outside of {around}",
            )
    if receipts is not None and Path(receipts).resolve().is_relative_to(directory.resolve()):
        raise OutputError(
            f"--receipts {receipts} lies in the release {directory}, and the private receipt must never lie in it",
            hint="leave --receipts out: the receipt then goes to your own register",
        )


def _holds_release(directory: Path) -> bool:
    """Return whether a directory has the manifest of a release in it, also a damaged one."""
    try:
        return (directory / MANIFEST).is_file() and f'"{RELEASE}"'.encode() in (directory / MANIFEST).read_bytes()
    except OSError:
        return False


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
