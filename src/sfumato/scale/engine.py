"""What every engine gives: an outline of the table, everybody's codes, and fingerprints. And how much memory they may use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sfumato.errors import PolicyError
from sfumato.scale.boxes import PublishedCodes
from sfumato.scale.layout import Blocks
from sfumato.scale.outline import Outline
from sfumato.scale.rows import Marked
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.marks import Marks
from sfumato.table.schema import Schema
from sfumato.table.table import Table

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
BYTES_A_PERSON = 400
"""What a person of a shard takes at most while her shard is cut, with a dozen columns."""


@dataclass(frozen=True)
class ResourceLimits:
    """How much memory may be used, how many threads, and how many people a shard has."""

    memory: int = 1 << 30
    threads: int = 1
    shard: int = 1 << 20

    @classmethod
    def of(cls, memory: str | int | None = None, threads: int | None = None) -> ResourceLimits:
        """Return the limits of so much memory ("4GB"), 1 GiB where none is given."""
        whole = bytes_of(memory) if isinstance(memory, str) else memory or 1 << 30
        if whole < 1 << 28:
            raise PolicyError(f"memory: {memory!r} is too little", hint="give at least 256MB")
        shard = max(1 << 16, min(1 << 22, whole // 2 // BYTES_A_PERSON))
        return cls(whole, threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else threads or 1, shard)


def bytes_of(text: str) -> int:
    """Return a number of bytes, written as 4GB, 512MB or 1500000000."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    if match is None:
        raise PolicyError(f"memory: {text!r} is no amount of memory", hint="write it as 4GB or 512MB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


class Engine(Protocol):
    """A source that somebody else holds, and a private directory for work."""

    place: Path

    def names(self) -> list[str]:
        """Return the names of the source's columns."""

    def close(self) -> None:
        """Let go of whatever is held."""

    def outline(self, schema: Schema) -> Outline:
        """Return the table without its rows."""

    def gathered(self, schema: Schema) -> Table:
        """Return the people of a table in which somebody may have several values of a secret, gathered from their rows."""

    def people(self, outline: Outline) -> PublishedCodes:
        """Return everybody's codes, wherever they lie."""

    def coded(self, outline: Outline) -> Blocks:
        """Return everybody's codes in files of this machine, for the audit."""

    def hashed(self) -> Marked:
        """Return what one pass over all rows tells: the table as it came, and who is in it."""

    def fingerprints(self) -> tuple[Fingerprint, Fingerprint]:
        """Return the fingerprint of the table as it came, and of who is in it."""
        found = self.hashed()
        return found.table, found.marks.fingerprint

    def marks(self) -> Marks:
        """Return what tells these people in a later table."""
        return self.hashed().marks

    def scratch(self, name: str) -> Path:
        """Return a new private directory for work."""
        place = self.place / name
        place.mkdir(mode=0o700)
        return place
