"""DuckDB as an engine: it reads the source, groups and joins; memory is limited, and what does not fit is spilled to disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.scale.people import Sql
from sfumato.table.extras import extra

BATCH = 1 << 20
"""Rows that are coded at once."""
PATTERN = "*?["
"""Signs in a path that DuckDB takes for a pattern."""


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


class Duck(Sql):
    """A connection of its own, and the source under a name."""

    def __init__(self, spill: Path, *, memory: int, threads: int) -> None:
        duckdb = extra("duckdb")
        self.error = duckdb.Error
        self.connection = duckdb.connect(":memory:")
        spill.mkdir(mode=0o700, exist_ok=True)
        for name, value in (
            ("memory_limit", f"{memory // (1 << 20)}MiB"),
            ("threads", str(threads)),
            ("temp_directory", str(spill)),
            ("preserve_insertion_order", "false"),
            ("enable_progress_bar", "false"),
        ):
            self.connection.execute(f"SET {name} = {literal(value)}")
        self.source = "source"

    def quoted(self, name: str) -> str:
        """Return a name as SQL has it."""
        return quoted(name)

    def lend(self, name: str, table: pa.Table) -> str:
        """Give a small table a name, and return that as SQL has it."""
        self.connection.register(name, table)
        return quoted(name)

    def keep(self, name: str, sql: str, *, made: bool = True) -> str:
        """Give the result of a query a name, computed once where it is `made`; return the name as SQL has it."""
        self.connection.execute(f"CREATE TEMP {'TABLE' if made else 'VIEW'} {quoted(name)} AS {sql}")
        return quoted(name)

    def use(self, name: str) -> None:
        """Make what was kept under a name the source."""
        self.source = name

    def close(self) -> None:
        """Let go of the connection and of what it spilled."""
        self.connection.close()

    def view(self, sql: str, name: str = "source") -> None:
        """Give a query a name; from then on it is the source."""
        self.connection.execute(f"CREATE VIEW {quoted(name)} AS {sql}")
        self.source = name

    def scan(self, files: Sequence[Path]) -> str:
        """Return these Parquet files, and no others, as SQL reads them: DuckDB takes every name for a pattern."""
        listed = ", ".join(literal(self._exactly(file.absolute())) for file in files)
        return f"read_parquet([{listed}], hive_partitioning = false)"

    def _exactly(self, file: Path) -> str:
        """Return the pattern that only this file matches; DuckDB is asked what it finds there."""
        plain = str(file)
        if not any(sign in plain for sign in PATTERN):
            return plain
        pattern = "".join(f"[{sign}]" if sign in PATTERN else sign for sign in plain)
        names = [name for (name,) in self.connection.execute(f"SELECT file FROM glob({literal(pattern)})").fetchall()]
        if [Path(name) for name in names] != [file]:
            raise InputError(
                f"{file.name}: DuckDB cannot be given this path, whose signs it takes for a pattern",
                hint=f"rename the file or its directory; {' '.join(PATTERN)} beside a backslash cannot be read",
            )
        return pattern

    def table(self, sql: str) -> pa.Table:
        """Return the result of a query, which must be small."""
        return self._reader(sql, BATCH).read_all()

    def batches(self, known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str], source: str) -> Iterator[pa.RecordBatch]:
        """Yield rows of a source: the number of each known combination (in `distinct`, from 0 on), then columns as they are."""
        joins, wanted = [], []
        for k, (names, values) in enumerate(known.items()):
            numbered = values.append_column("i", pa.array(range(values.num_rows), pa.int32()))
            self.connection.register(f"known{k}", numbered.drop_columns(["n"]))
            on = " AND ".join(f"s.{quoted(name)} IS NOT DISTINCT FROM k{k}.c{j}" for j, name in enumerate(names))
            joins.append(f"LEFT JOIN known{k} AS k{k} ON {on}")
            wanted.append(f"k{k}.i AS i{k}")
        wanted += [f"s.{quoted(name)} AS p{j}" for j, name in enumerate(plain)]
        yield from self._reader(f"SELECT {', '.join(wanted)} FROM {quoted(source)} AS s {' '.join(joins)}", BATCH)

    def _reader(self, sql: str, rows: int) -> Any:
        try:
            relation = self.connection.sql(sql)
            for name in ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch"):
                if hasattr(relation, name):
                    return getattr(relation, name)(rows)
        except self.error as problem:
            raise InputError(f"DuckDB: {type(problem).__name__}", hint="check the source and its types") from None
        raise InputError("this DuckDB gives no Arrow data", hint="pip install --upgrade duckdb")
