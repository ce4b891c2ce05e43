"""The register: where a user's receipts lie, and what they remember of earlier publications.

One register a user, so that a second release of the same people is noticed wherever the first one went: two releases of one
table can be combined, and no claim covers that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sfumato.errors import FormatError
from sfumato.exact import percent
from sfumato.places import private_directory, user_data
from sfumato.release.files import LARGEST_MANIFEST, MANIFEST, read_file, sha256
from sfumato.table.fingerprint import Fingerprint

FORMAT = "sfumato-receipt"
SUFFIX = ".receipt.json"

ALIKE = 0.2
"""From this estimated share of common rows, or of common identifiers, on, two tables are taken to be of the same people."""

COLUMNS_ALIKE = 2
"""From this many identical columns on, with equally many people, a table is reported as the same one with other roles."""

COMBINE = "Two releases of one table can be combined, and no claim covers that."

_BROKEN = (FormatError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading a receipt that is none may raise."""


def user_register() -> Path | None:
    """Return where the user's register lies, whether or not it is there; None for a user without a home."""
    data = user_data()
    return None if data is None else data / "receipts"


def open_register() -> Path | None:
    """Return the user's register, made for its owner alone where it is missing; None where it cannot be written."""
    return private_directory(user_register())


@dataclass(frozen=True)
class Earlier:
    """A receipt in a register: of the same table, of a similar one, of the same identifiers, or one that cannot be read.

    `similarity` is the share of this table's rows, or identifiers, that the other one has.
    """

    receipt: Path
    kind: Literal["same", "columns", "similar", "people", "unreadable"]
    similarity: float = 0.0
    columns: tuple[str, ...] = ()
    release: str = ""
    date: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**vars(self), "receipt": str(self.receipt), "columns": list(self.columns)}


def earlier_publications(fingerprint: Fingerprint, directories: Iterable[Path]) -> list[Earlier]:
    """Return the earlier publications of this table, or of one much like it, whose receipts lie in these directories.

    The likeness of two tables, and of their identifiers, is estimated from their sketches; what is below 0.2 is not reported. The
    most alike come first, of equal ones the latest.
    """
    earlier = []
    for path, document in documents(directories):
        try:
            if document is not None and document["format"] != FORMAT:
                continue
            other = Fingerprint.from_dict(document["table"])
            release, date = str(document["release"]["directory"]), str(document["date"])
        except _BROKEN:
            earlier.append(Earlier(path, "unreadable"))
            continue
        if other.digest == fingerprint.digest:
            earlier.append(Earlier(path, "same", 1.0, release=release, date=date))
        elif other.rows == fingerprint.rows and len(common := fingerprint.common_columns(other)) >= COLUMNS_ALIKE:
            earlier.append(Earlier(path, "columns", 1.0, common, release=release, date=date))
        elif (shared := fingerprint.similarity(other)) >= ALIKE:
            earlier.append(Earlier(path, "similar", fingerprint.own_share(shared, other), release=release, date=date))
        elif (shared := fingerprint.same_people(other)) >= ALIKE:
            earlier.append(Earlier(path, "people", fingerprint.own_share(shared, other), release=release, date=date))
    latest = sorted(sorted(earlier, key=lambda entry: str(entry.receipt)), key=lambda entry: entry.date, reverse=True)
    return sorted(latest, key=lambda entry: (_KINDS.index(entry.kind), -entry.similarity))


_KINDS = ("same", "columns", "similar", "people", "unreadable")


def warnings_of(earlier: Sequence[Earlier]) -> list[str]:
    """Return what the publisher should know about earlier publications: one sentence for all, and one for unreadable receipts."""
    known = [entry for entry in earlier if entry.kind != "unreadable"]
    broken = [entry for entry in earlier if entry.kind == "unreadable"]
    lines = [_published_before(known)] if known else []
    if broken:
        others = f" and {len(broken) - 1} more cannot" if len(broken) > 1 else " cannot"
        lines.append(f"{broken[0].receipt}{others} be read, so it is not known whether this table was published before.")
    return lines


def _published_before(earlier: Sequence[Earlier]) -> str:
    first = earlier[0]
    alike = sum(entry.kind == first.kind for entry in earlier)
    times = f"{alike} times, last on" if alike > 1 else "on"
    when = f"{times} {first.date[:10]} as {first.release} (receipt {first.receipt})"
    others = len(earlier) - alike
    more = f" {others} other {'release shares' if others == 1 else 'releases share'} much of it." if others else ""
    if first.kind == "same":
        return f"This very table was already published {when}.{more} {COMBINE}"
    if first.kind == "columns":
        names = ", ".join(first.columns)
        return f"A table with as many people and the same columns {names} was already published {when}.{more} {COMBINE}"
    thing = "rows" if first.kind == "similar" else "identifiers"
    further = f", and much with {alike - 1} more" if alike > 1 else ""
    share = f"This table shares about {percent(first.similarity, 0)} of its {thing} with one that was published"
    return f"{share} on {first.date[:10]} as {first.release} (receipt {first.receipt}){further}.{more} {COMBINE}"


@dataclass(frozen=True)
class NamedReceipt:
    """A receipt that names a release; `same` when the release still has the manifest that was published."""

    path: Path
    policy: str
    same: bool


def receipt_of(release: Path, directories: Iterable[Path] = ()) -> NamedReceipt | None:
    """Return the receipt written for a release: one that knows its manifest, else one that names its place.

    It is looked for beside the release, in these directories and in the user's register.
    """
    home = Path(os.path.abspath(release))
    if not (home / MANIFEST).is_file():
        return None
    own, named = sha256(home / MANIFEST), None
    for path, document in documents(places_of(home, directories)):
        try:
            place, known = str(document["release"]["directory"]), document["release"]["manifest_sha256"]
            policy = str(document["policy"])
        except _BROKEN:
            continue
        if known == own:
            return NamedReceipt(path, policy, same=True)
        if Path(place) == home:
            named = NamedReceipt(path, policy, same=False)
    return named


def places_of(release: Path, directories: Iterable[Path] = ()) -> list[Path]:
    """Return where receipts that concern a release may lie: beside it, in these directories, in the user's register."""
    own = user_register()
    return [Path(os.path.abspath(release)).parent, *directories, *([] if own is None else [own])]


def documents(directories: Iterable[Path], suffix: str = SUFFIX) -> Iterator[tuple[Path, Any]]:
    """Give every receipt, or file of this suffix, in these directories with what it holds, None for one that cannot be read.

    What is no file, or larger than receipts are, is not waited for; what another process takes away meanwhile is not there.
    """
    seen = set()
    for directory in directories:
        place = Path(directory).resolve()
        if place in seen or not place.is_dir():
            continue
        seen.add(place)
        for path in sorted(place.glob(f"*{suffix}")):
            try:
                document = json.loads(read_file(path, LARGEST_MANIFEST).decode("utf-8"))
            except _BROKEN:
                if not os.path.lexists(path):
                    continue
                document = None
            yield path, document
