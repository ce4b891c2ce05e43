"""The DuckDB engine: any source that DuckDB reads, on one machine, in as much memory as it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from sfumato.groups.counted import TopCuts
from sfumato.randomness import Randomness
from sfumato.scale.boxes import pieces, shard_of
from sfumato.scale.collect import StoredShard, keep
from sfumato.scale.duck import Duck, quoted
from sfumato.scale.engine import BYTES_A_PERSON, Engine, ResourceLimits
from sfumato.scale.gather import gathered_table
from sfumato.scale.layout import Blocks, Layout, scatter, summed
from sfumato.scale.outline import Outline, outline
from sfumato.scale.people import choose, suspects
from sfumato.scale.rows import Marked, code_rows, fingerprints, hashed_rows
from sfumato.scale.shard import CutPlan, make_shard
from sfumato.scale.source import distinct_names, listed_files, names_of, parquet_files
from sfumato.scale.tally import Add, Sum
from sfumato.table.assemble import Rows
from sfumato.table.coding import Reading
from sfumato.table.frames import as_arrow, column_names
from sfumato.table.people import PersonKey
from sfumato.table.schema import Schema
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions


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


class DuckEngine(Engine):
    """A source under DuckDB: `Engine` says what it gives."""

    def __init__(
        self,
        source: Any,
        place: Path,
        limits: ResourceLimits,
        *,
        options: ReadOptions | None = None,
        random: Randomness | int | bytes | None = None,
    ) -> None:
        self.source, self.place, self.limits = source, place, limits
        self.options, self.random = options or ReadOptions(), random
        self.duck = Duck(place / "spill", memory=limits.memory // 2, threads=limits.threads)
        self.reading = Reading(decimal=self.options.decimal)
        self._coded: Blocks | None = None
        self._marked: Marked | None = None

    def close(self) -> None:
        """Let go of the connection."""
        self.duck.close()

    def names(self) -> list[str]:
        """Return the names of the source's columns."""
        files = listed_files(self.source)
        if files is not None:
            return distinct_names(names_of(files, self.options), files[0].name)
        # Not from DuckDB, which gives the second of two another name.
        return distinct_names(column_names(self.source), "the source")

    def outline(self, schema: Schema) -> Outline:
        """Return the table without its rows."""
        self._open(schema)
        rows = Rows(schema)
        choice, keys = None, cast("tuple[PersonKey, ...]", ())
        if schema.people_rule.key:
            every = list(dict.fromkeys([*rows.used, *rows.beside]))
            choice = choose(self.duck, schema.people_rule, every, [*schema.quasi, *schema.sensitive], self.random)
        if rows.in_doubt:
            looked = [name for name in self.duck.schema().names if name not in schema.sensitive]
            keys = suspects(self.duck, looked, tuple(schema.people_rule.key))
        self._whole = self.duck.source
        self._outline = outline(self.duck, schema, self.reading, without=self._without, choice=choice, suspects=keys)
        return self._outline

    def gathered(self, schema: Schema) -> Table:
        """Return the people of a table in which somebody may have several values of a secret, gathered from their rows."""
        self._open(schema)
        memory = self.limits.memory
        return gathered_table(self.duck, schema, self.reading, self.random, memory=memory, person=BYTES_A_PERSON)

    def people(self, outline: Outline) -> LocalPeople:
        """Return everybody's codes, in files."""
        return LocalPeople(self.coded(outline), self.place / "shards", self.limits.threads)

    def coded(self, outline: Outline) -> Blocks:
        """Return everybody's codes in a file of this machine; they are coded once."""
        if self._coded is None:
            self._coded = code_rows(self.duck, outline, self.place)
        return self._coded

    def hashed(self) -> Marked:
        """Return what one pass over all rows tells: the table as it came, and who is in it."""
        if self._marked is None:
            now, self.duck.source = self.duck.source, self._whole
            try:
                self._marked = fingerprints(hashed_rows(self.duck, self._outline), self._outline, self.scratch("hashes"))
            finally:
                self.duck.source = now
        return self._marked

    def _without(self, absent: Mapping[str, pa.Array]) -> Duck:
        """Return the source without the rows that have one of these values."""
        tests = []
        for k, (name, values) in enumerate(absent.items()):
            self.duck.connection.register(f"absent{k}", pa.table({"v": values}))
            equal = f"s.{quoted(name)} IS NOT DISTINCT FROM a.v"
            tests.append(f"NOT EXISTS (SELECT 1 FROM absent{k} AS a WHERE {equal})")
        self.duck.view(f"SELECT * FROM {quoted(self.duck.source)} AS s WHERE {' AND '.join(tests)}", "kept")
        return self.duck

    def _open(self, schema: Schema) -> None:
        """Give the source its name in DuckDB, after checking its columns."""
        rows = Rows(schema)
        used = [*rows.used, *rows.beside]
        files = listed_files(self.source)
        if files is not None:
            schema.check_columns(self.names(), files[0].name)
            parquet, text = parquet_files(files, used, self.options, self.place / "text")
            self.reading = Reading(decimal=self.options.decimal, guessed=text)
            self.duck.view(f"SELECT {_selected(used)} FROM {self.duck.scan(parquet)}")
            return
        schema.check_columns(self.names(), "the source")
        self.duck.source = _register(self.duck, self.source, self.place, schema.read_by_cell)
        self.duck.view(f"SELECT {_selected(used)} FROM {quoted(self.duck.source)}")


def _selected(names: list[str]) -> str:
    return ", ".join(quoted(name) for name in names)


def _register(duck: Duck, source: Any, place: Path, alone: Sequence[str]) -> str:
    """Give a frame a name in DuckDB: an Arrow table, a polars LazyFrame, a DuckDB relation, or any other frame."""
    copy = place / "frame.parquet"
    if copy.exists():
        return "frame"
    if hasattr(source, "sink_parquet"):
        source.sink_parquet(copy)
    elif type(source).__module__.split(".")[0] in ("duckdb", "_duckdb") and hasattr(source, "write_parquet"):
        source.write_parquet(str(copy))
    else:
        duck.connection.register("frame", as_arrow(source, alone))
        return "frame"
    duck.view(f"SELECT * FROM {duck.scan([copy])}", "frame")
    return "frame"
