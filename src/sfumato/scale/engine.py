"""What an engine is: it reads a source, counts by columns, and hands over rows as numbers. And how much memory it may use.

What follows from that stands here once: domains and counts, codes in files, shards that are cut one after another, fingerprints.
An engine that counts and cuts where its rows are gives `people` of its own (`spark`).
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sfumato.errors import InputError, PolicyError
from sfumato.groups.counted import TopCuts
from sfumato.randomness import Randomness
from sfumato.scale.collect import StoredShard, keep
from sfumato.scale.layout import Blocks, Layout, scatter, summed
from sfumato.scale.outline import Outline, outline
from sfumato.scale.rows import Marked, code_rows, fingerprints, hashed_rows
from sfumato.scale.shard import CutPlan, make_shard, pieces, shard_of
from sfumato.scale.tally import Add, Sum
from sfumato.table.assemble import Rows
from sfumato.table.coding import Reading
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.marks import Marks
from sfumato.table.people import Choice, PersonKey
from sfumato.table.schema import Schema
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions

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


class PublishedCodes(Protocol):
    """Everybody's published codes, wherever they lie, the sensitive value last."""

    @property
    def total(self) -> Sum:
        """How sums over all blocks of rows are made."""

    def shards(self, how: CutPlan, cuts: TopCuts, tell: Callable[[float], None]) -> Iterable[StoredShard]:
        """Yield every leaf cut to the end, from left to right along the cuts."""


@dataclass(frozen=True, eq=False)
class LocalPeople:
    """Everybody's codes in one file: counted in threads, divided into shards in one pass, cut one shard at a time."""

    blocks: Blocks
    place: Path
    threads: int

    @property
    def total(self) -> Sum:
        """How sums over all blocks are made."""

        def total(empty: Callable[[], Any], add: Add) -> Any:
            return summed(self.blocks, empty, add, self.threads)

        return total

    def shards(self, how: CutPlan, cuts: TopCuts, tell: Callable[[float], None]) -> Iterator[StoredShard]:
        """Yield every leaf cut to the end; its people are read once more, from a file of their own."""
        self.place.mkdir(mode=0o700)
        files = [Blocks(self.place / f"shard{k}", self.blocks.layout) for k in range(len(cuts.leaves))]
        for columns in self.blocks:
            which = shard_of(how.frame, columns, cuts)
            scatter(columns, which, files)
        layout = Layout(self.blocks.layout.types[:-1])
        for k, (leaf, piece) in enumerate(zip(cuts.leaves, pieces(cuts.leaves), strict=True)):
            tell(k / len(files))
            made = make_shard(how, leaf, files[k].take())
            yield keep(self.place, f"boxes{k}", layout, leaf, made, piece)


class Engine(ABC):
    """A source that somebody else holds, and a private directory for work.

    `names`, `distinct` and `numbered` are an engine of one's own; `without` too, where rows with missing values may be dropped.
    """

    def __init__(
        self,
        source: Any,
        place: Path,
        limits: ResourceLimits,
        *,
        options: ReadOptions | None = None,
        random: Randomness | int | bytes | None = None,
    ) -> None:
        self.source, self.place, self.limits, self.random = source, place, limits, random
        self.options = options or ReadOptions()
        self.reading = Reading(decimal=self.options.decimal)

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the source's columns."""

    @abstractmethod
    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different combinations of these columns (c0, c1, …), and how often each occurs (n)."""

    @abstractmethod
    def numbered(
        self, known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str], *, whole: bool = False
    ) -> Iterable[pa.RecordBatch]:
        """Yield rows: the number of each combination that `distinct` gave, as it stands there, then further columns as they are.

        Of the `whole` source, also what `without` left out.
        """

    def without(self, absent: Mapping[str, pa.Array]) -> None:
        """Leave out the rows that have one of these values in one of these columns."""
        raise InputError(
            "this engine leaves out no rows, and a column's missing values are to be dropped",
            hint='missing = "value", or engine = "duckdb"',
        )

    def open(self, schema: Schema) -> None:
        """Make ready to read the columns of a schema, which must be there."""
        schema.check_columns(self.names(), "the source")

    def close(self) -> None:  # noqa: B027
        """Let go of whatever is held."""

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows; without those that are all null."""
        found = self.distinct(names)
        some = [row for row in found.to_pylist() if row["n"] > 1 and any(row[f"c{k}"] is not None for k in range(len(names)))]
        return len(some), sum(row["n"] for row in some)

    def chosen(self, schema: Schema) -> Choice | None:
        """Make one row a person the source, where a rule says which rows are one person's."""
        if schema.people_rule.key:
            raise InputError("this engine takes one row a person", hint='engine = "duckdb", which gathers rows to people')
        return None

    def suspects(self, schema: Schema) -> tuple[PersonKey, ...]:
        """Return columns that look like keys of people with several rows."""
        return ()

    def gathered(self, schema: Schema) -> Table:
        """Return the people of a table in which somebody may have several values of a secret, gathered from their rows."""
        raise InputError("this engine takes one row a person", hint='engine = "duckdb", which gathers rows to people')

    def outline(self, schema: Schema) -> Outline:
        """Return the table without its rows."""
        self.open(schema)
        choice = self.chosen(schema)
        keys = self.suspects(schema) if Rows(schema).in_doubt else ()

        def without(absent: Mapping[str, pa.Array]) -> Engine:
            self.without(absent)
            return self

        self._outline = outline(self, schema, self.reading, without=without, choice=choice, suspects=keys)
        return self._outline

    def people(self, outline: Outline) -> PublishedCodes:
        """Return everybody's codes, wherever they lie."""
        return LocalPeople(self.coded(outline), self.place / "shards", self.limits.threads)

    def coded(self, outline: Outline) -> Blocks:
        """Return everybody's codes in files of this machine; they are coded once."""
        return self._coded

    @cached_property
    def _coded(self) -> Blocks:
        return code_rows(self.numbered, self._outline, self.place)

    def hashed(self) -> Marked:
        """Return what one pass over all rows tells: the table as it came, and who is in it."""
        return self._marked

    @cached_property
    def _marked(self) -> Marked:
        def whole(known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str]) -> Iterable[pa.RecordBatch]:
            return self.numbered(known, plain, whole=True)

        return fingerprints(hashed_rows(whole, self._outline), self._outline, self.scratch("hashes"))

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
