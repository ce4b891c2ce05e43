"""The Spark engine: the cluster reads, groups, joins, counts and cuts; the driver decides, and writes what shards come back with.

Coins of a box follow from the driver's one key and the box's own place along the cuts. A task that is tried again, here or
elsewhere, draws the same coins and gives the same shard, so that it does not matter whose result is taken.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array
from sfumato.errors import InputError
from sfumato.groups.counted import Leaf, TopCuts
from sfumato.scale import shard
from sfumato.scale.choice import is_spark
from sfumato.scale.collect import StoredShard, keep
from sfumato.scale.engine import BYTES_A_PERSON, Engine
from sfumato.scale.gather import gathered_table
from sfumato.scale.layout import Blocks, Layout, hashed
from sfumato.scale.outline import Known, Outline
from sfumato.scale.people import choose, suspects
from sfumato.scale.rows import Hashes, Marked, Plain, fingerprints, row_hashes
from sfumato.scale.shard import CutPlan, make_shard
from sfumato.scale.source import distinct_names, listed_files, names_of, require_same_columns
from sfumato.scale.spark_sql import SparkSql
from sfumato.scale.tally import Add, Sum
from sfumato.table.assemble import Rows
from sfumato.table.coding import Reading, dealt
from sfumato.table.extras import extra
from sfumato.table.people import Choice, PersonKey
from sfumato.table.schema import Schema
from sfumato.table.source import ending_of
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions

_BLOCK = 1 << 17
"""So many people at least are in one block of codes, but for the last of a partition."""
_SMALL = 1 << 22
"""Sums of so many bytes come from all partitions at once; larger ones one after another."""
_PARTITIONS = 10_000
"""At most so many partitions hold the shards."""
_PIECE = 1 << 22
"""What is as long as the table comes to the driver in about so many bytes at a time."""
_MOST_PIECES = 1000
"""… but in at most so many pieces, into which every block is divided."""
_PATTERN = "{}[]*?\\"
"""Signs in a path that Spark takes for a pattern, unless a backslash stands before them."""
_HASH = np.dtype(np.uint64)


def numbered(frame: Any, known: Sequence[Known], plain: Sequence[str]) -> Any:
    """Return the rows with the number of each known combination (i0, i1, …), and further columns (p0, p1, …)."""
    f, session = extra("pyspark.sql.functions"), frame.sparkSession
    place = {name: f"column{k}" for k, name in enumerate(frame.columns)}
    frame = frame.toDF(*place.values())
    for k, column in enumerate(known):
        keys = [f"k{k}_{j}" for j in range(len(column.names))]
        listed = column.combinations.drop_columns(["n"]).rename_columns(keys)
        small = session.createDataFrame(listed.append_column(f"i{k}", pa.array(range(listed.num_rows), pa.int32())))
        on = [f.col(place[name]).eqNullSafe(f.col(key)) for name, key in zip(column.names, keys, strict=True)]
        frame = frame.join(f.broadcast(small), on, "left").drop(*keys)
    kept = [f.col(place[name]).alias(f"p{j}") for j, name in enumerate(plain)]
    return frame.select(*(f"i{k}" for k in range(len(known))), *kept)


def frame_of_files(source: Any) -> Any:
    """Return the Parquet files of a source as a DataFrame of the session that there is, or of a new one."""
    files = listed_files(source)
    if files is None or any(ending_of(file) != ".parquet" for file in files):
        raise InputError("the Spark engine reads Parquet files", hint="write the table as Parquet, or --engine duckdb")
    require_same_columns(files)
    distinct_names(names_of(files, ReadOptions()), files[0].name)  # Spark's own words name both
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = extra("pyspark.sql").SparkSession.builder.appName("sfumato").getOrCreate()
    paths = [str(file.absolute()) for file in files]
    try:
        frame = session.read.parquet(*("".join("\\" * (sign in _PATTERN) + sign for sign in path) for path in paths))
        read = [unquote(urlsplit(address).path) for address in frame.inputFiles()]
    except Exception:
        raise InputError(
            "Spark cannot read the files", hint="check their names: it leaves out _x and .x, and refuses a:b"
        ) from None
    if sorted(read) != sorted(paths):
        raise InputError(
            "Spark reads other files than those named", hint="names that begin with _ or . are left out: rename them"
        )
    return frame


class SparkEngine(Engine):
    """A source under Spark: `Engine` says what it gives. `source` is a DataFrame, or paths that the session's cluster reads."""

    def __init__(self, source: Any, *given: Any, **named: Any) -> None:
        super().__init__(source if is_spark(source) else frame_of_files(source), *given, **named)
        self._sql: SparkSql | None = None
        self._frame: Any = None

    def close(self) -> None:
        """Let go of what is kept in the cluster."""
        if self._frame is not None:
            self._frame.unpersist()
        if self._sql is not None:
            self._sql.close()

    def names(self) -> list[str]:
        """Return the names of the source's columns."""
        return distinct_names(self.source.columns, "the source")

    def open(self, schema: Schema) -> None:
        """Give the columns that are used a name in the session."""
        super().open(schema)
        rows = Rows(schema)
        self._sql = SparkSql(self.source.select(*(f"`{name}`" for name in dict.fromkeys([*rows.used, *rows.beside]))))

    @property
    def sql(self) -> SparkSql:
        """The source as the session knows it."""
        assert self._sql is not None
        return self._sql

    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different combinations of these columns."""
        return self.sql.distinct(names)

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows those are."""
        return self.sql.repeated(names)

    def chosen(self, schema: Schema) -> Choice | None:
        """Make one row a person the source, by the same coins as in memory."""
        rows, rule, choice = Rows(schema), schema.people_rule, None
        if rule.key:
            every = list(dict.fromkeys([*rows.used, *rows.beside]))
            choice = choose(self.sql, rule, every, [*schema.quasi, *schema.sensitive], self.random)
        self._looked = [name for name in self.sql.frame.columns if name not in schema.sensitive]
        self._suspects = suspects(self.sql, self._looked, tuple(rule.key)) if rows.in_doubt else ()
        self.sql.use("used", self.sql.frame.select(*(f"`{name}`" for name in rows.used)))
        self._whole = self._kept = self.sql.frame
        return choice

    def suspects(self, schema: Schema) -> tuple[PersonKey, ...]:
        """Return columns that look like keys of people with several rows."""
        return self._suspects

    def gathered(self, schema: Schema) -> Table:
        """Return the people of a table in which somebody may have several values of a secret, gathered by the cluster."""
        self.open(schema)
        memory = self.limits.memory
        return gathered_table(self.sql, schema, Reading(), self.random, memory=memory, person=BYTES_A_PERSON)

    def without(self, absent: Mapping[str, pa.Array]) -> None:
        """Leave out the rows that have one of these values."""
        f = extra("pyspark.sql.functions")
        for name, values in absent.items():
            column = f.col(f"`{name}`")
            for value in values.to_pylist():
                same = f.isnan(column) if isinstance(value, float) and np.isnan(value) else column.eqNullSafe(f.lit(value))
                self._kept = self._kept.where(~same)
        self.sql.use("kept", self._kept)

    def numbered(
        self, known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str], *, whole: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Not asked for: codes and hashes are made in the cluster."""
        raise NotImplementedError

    def people(self, outline: Outline) -> SparkPeople:
        """Return everybody's codes, in the cluster."""
        frame = numbered(self._kept, outline.known, ())
        layout = Layout(outline.types)
        codes = [column.codes for column in outline.known]
        shared = frame.sparkSession.sparkContext.broadcast((codes, layout))
        coded = frame.mapInArrow(partial(_coded, shared=shared), "rows int, block binary")
        # On the disks of executors: their memory does not grow with people, and nothing has to make room for a result.
        self._frame = coded.persist(extra("pyspark").StorageLevel.DISK_ONLY)
        return SparkPeople(self._frame, layout, self.place / "shards")

    @cached_property
    def _coded(self) -> Blocks:
        """Everybody's codes in a file of the driver, for its audit."""
        blocks = Blocks(self.place / "coded", Layout(self._outline.types))
        for columns in pieces(self._frame, self._outline.rows, blocks.layout):
            blocks.append(columns)
        return blocks

    @cached_property
    def _marked(self) -> Marked:
        known, plain = self._outline.every, Plain.of(self._outline.table.schema)
        rows = numbered(self._whole, known, plain.names)
        shared = rows.sparkSession.sparkContext.broadcast([column.hashes for column in known])
        frame = rows.mapInArrow(partial(_hashes, shared=shared, plain=plain), "rows int, block binary")
        parts = pieces(frame, self._outline.rows, _hash_layout(plain))
        return fingerprints(parts, self._outline, self.scratch("hashes"))


def _coded(batches: Iterator[pa.RecordBatch], shared: Any) -> Iterator[pa.RecordBatch]:
    """Turn numbers of combinations into blocks of codes."""
    codes, layout = shared.value
    rows = ([mine[np.asarray(batch.column(k))] for k, mine in enumerate(codes)] for batch in batches if batch.num_rows)
    for columns in _together(rows):
        yield _block(layout, columns)


def _together(rows: Iterable[Sequence[Array]]) -> Iterator[list[Array]]:
    """Yield rows in long blocks, since each is divided among all shards or pieces."""
    waiting: list[Sequence[Array]] = []
    held = 0
    for columns in rows:
        waiting.append(columns)
        held += len(columns[0])
        if held >= _BLOCK:
            yield _joined(waiting)
            waiting, held = [], 0
    if waiting:
        yield _joined(waiting)


def _dealt(batches: Iterator[pa.RecordBatch], layout: Layout, many: int) -> Iterator[pa.RecordBatch]:
    """Divide blocks into pieces by what their rows hold."""
    for columns in _blocks(batches, layout):
        yield _parts(columns, (hashed(columns) % np.uint64(many)).astype(np.int64), many, layout, "piece")


def pieces(frame: Any, rows: int, layout: Layout) -> Iterator[list[Array]]:
    """Yield the columns of the blocks of a frame on the driver, by a shuffle into partitions of bounded size.

    A partition is one result of one task, which the driver fetches as one array of bytes: where its heap has no room for that,
    Spark says that the result was lost. Which partition a row comes in follows from what it holds, so that one that is made
    again has the same rows.
    """
    many = min(-(-rows * layout.width // _PIECE), _MOST_PIECES)
    if many > 1:
        divided = frame.mapInArrow(partial(_dealt, layout=layout, many=many), "piece int, rows int, block binary")
        frame = divided.repartition(many, "piece").select("rows", "block")
    yield from _together(layout.unpack(bytes(row["block"]), row["rows"]) for row in fetched(frame))


def fetched(frame: Any) -> Iterator[Any]:
    """Yield the rows of a frame on the driver, a partition at a time.

    Not by `toLocalIterator`: the driver's Java process then holds every partition until it ends (seen with Spark 4.3).
    """
    rdd = frame.rdd
    for partition in range(rdd.getNumPartitions()):
        yield from rdd.context.runJob(rdd, _as_they_are, [partition])


def _as_they_are(rows: Iterable[Any]) -> Iterable[Any]:
    return rows


def _joined(blocks: Sequence[Sequence[Array]]) -> list[Array]:
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _hashes(batches: Iterator[pa.RecordBatch], shared: Any, plain: Plain) -> Iterator[pa.RecordBatch]:
    """Turn numbers of combinations, and further columns, into hashes of who a person is and of her row."""
    known = shared.value

    def hashes(batch: pa.RecordBatch) -> Hashes:
        numbers = [np.asarray(batch.column(k)) for k in range(len(known))]
        columns = {name: pa.chunked_array([batch.column(len(known) + j)]) for j, name in enumerate(plain.names)}
        return row_hashes(numbers, columns, known, plain)

    for columns in _together(hashes(batch) for batch in batches if batch.num_rows):
        yield _block(_hash_layout(plain), columns)


def _hash_layout(plain: Plain) -> Layout:
    """Return how hashes of rows with these further columns are laid out."""
    return Layout((_HASH,) * plain.hashes)


def _block(layout: Layout, columns: Sequence[Array]) -> pa.RecordBatch:
    rows, block = pa.array([len(columns[0])], pa.int32()), pa.array([layout.pack(columns)], pa.binary())
    return pa.record_batch({"rows": rows, "block": block})


class SparkPeople:
    """Everybody's codes as blocks in a cluster: `People` says what they give."""

    def __init__(self, frame: Any, layout: Layout, place: Path) -> None:
        self.frame, self.layout, self.place = frame, layout, place

    @property
    def total(self) -> Sum:
        """How sums over all blocks are made: in every partition by itself, then on the driver."""

        def total(empty: Callable[[], Any], add: Add) -> Any:
            work = partial(_summed, layout=self.layout, empty=empty, add=add)
            whole = empty()
            sums = self.frame.mapInArrow(work, "sums binary")
            small = sum(array.nbytes for array in whole) <= _SMALL
            for row in sums.collect() if small else fetched(sums):
                for mine, theirs in zip(whole, pickle.loads(bytes(row["sums"])), strict=True):  # our own arrays, not a stranger's
                    mine += theirs
            return whole

        return total

    def shards(self, how: CutPlan, cuts: TopCuts, tell: Callable[[float], None]) -> Iterator[StoredShard]:
        """Yield every leaf cut to the end, by one shuffle; each comes to the driver as its rows in canonical order."""
        self.place.mkdir(mode=0o700)
        context = self.frame.sparkSession.sparkContext
        shared = context.broadcast((how, cuts, self.layout))
        divided = self.frame.mapInArrow(partial(_divided, shared=shared), "shard int, rows int, block binary")
        # A partition comes to the driver in one piece: about one shard each, however many partitions the session would make.
        apart = divided.repartition(min(len(cuts.leaves), _PARTITIONS), "shard")
        # Without hints on types: Spark reads them, and not as they are written here.
        made = apart.groupBy("shard").applyInArrow(lambda table: _cut(table, shared), "shard int, made binary")
        made = made.persist(extra("pyspark").StorageLevel.DISK_ONLY)
        made.count()  # all shards at once, on as many cores as there are; then they come one at a time
        shards: dict[int, StoredShard] = {}
        order = shard.pieces(cuts.leaves)
        layout = Layout(self.layout.types[:-1])
        for row in fetched(made):
            tell(len(shards) / len(cuts.leaves))
            k: int = row["shard"]
            shards[k] = keep(self.place, f"boxes{k}", layout, cuts.leaves[k], pickle.loads(bytes(row["made"])), order[k])
        made.unpersist()
        yield from (shards[k] for k in range(len(cuts.leaves)))


def _summed(batches: Iterator[pa.RecordBatch], layout: Layout, empty: Callable[[], Any], add: Add) -> Iterator[pa.RecordBatch]:
    """Add up the blocks of a partition."""
    whole = empty()
    for columns in _blocks(batches, layout):
        add(columns, whole)
    yield pa.record_batch({"sums": pa.array([pickle.dumps(list(whole))], pa.binary())})


def _blocks(batches: Iterator[pa.RecordBatch], layout: Layout) -> Iterator[list[Array]]:
    for batch in batches:
        for rows, data in zip(batch.column("rows").to_pylist(), batch.column("block").to_pylist(), strict=True):
            yield layout.unpack(data, rows)


def _divided(batches: Iterator[pa.RecordBatch], shared: Any) -> Iterator[pa.RecordBatch]:
    """Divide blocks by the leaf that each row lies in."""
    how, cuts, layout = shared.value
    for columns in _blocks(batches, layout):
        which = shard.shard_of(how.frame, columns, cuts)
        yield _parts(columns, which, len(cuts.leaves), layout, "shard")


def _parts(columns: Sequence[Array], which: Array, many: int, layout: Layout, name: str) -> pa.RecordBatch:
    """Return the rows of a block by the part that each belongs to, as blocks of their own."""
    order, start = dealt(which, many)
    ordered = [column[order] for column in columns]
    rows = np.diff(start)
    some = np.flatnonzero(rows)
    parts = [layout.pack([column[start[k] : start[k + 1]] for column in ordered]) for k in some.tolist()]
    listed = {name: pa.array(some, pa.int32()), "rows": pa.array(rows[some], pa.int32())}
    return pa.record_batch({**listed, "block": pa.array(parts, pa.binary())})


def _cut(table: pa.Table, shared: Any) -> pa.Table:
    """Cut one shard to the end."""
    how, cuts, layout = shared.value
    k = table.column("shard")[0].as_py()
    blocks = list(_blocks(iter(table.select(["rows", "block"]).to_batches()), layout))
    columns = _joined(blocks)
    leaf: Leaf = cuts.leaves[k]
    made = make_shard(how, leaf, columns)
    return pa.table({"shard": pa.array([k], pa.int32()), "made": pa.array([pickle.dumps(made)], pa.binary())})
