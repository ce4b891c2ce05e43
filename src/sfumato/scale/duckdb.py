"""The DuckDB engine: any source that DuckDB reads, on one machine, in as much memory as it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.scale.duck import Duck, quoted
from sfumato.scale.engine import BYTES_A_PERSON, Engine
from sfumato.scale.gather import gathered_table
from sfumato.scale.people import choose, suspects
from sfumato.scale.source import distinct_names, listed_files, names_of, parquet_files
from sfumato.table.assemble import Rows
from sfumato.table.coding import Reading
from sfumato.table.frames import as_arrow, column_names
from sfumato.table.people import Choice, PersonKey
from sfumato.table.schema import Schema
from sfumato.table.table import Table


class DuckEngine(Engine):
    """A source under DuckDB: `Engine` says what it gives."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.duck = Duck(self.place / "spill", memory=self.limits.memory // 2, threads=self.limits.threads)

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

    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different combinations of these columns."""
        return self.duck.distinct(names)

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows those are."""
        return self.duck.repeated(names)

    def numbered(
        self, known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str], *, whole: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows with the number of each known combination."""
        yield from self.duck.batches(known, plain, self._whole if whole else self.duck.source)

    def chosen(self, schema: Schema) -> Choice | None:
        """Make one row a person the source, by the same coins as in memory."""
        rows = Rows(schema)
        every = list(dict.fromkeys([*rows.used, *rows.beside]))
        compared = [*schema.quasi, *schema.sensitive]
        choice = choose(self.duck, schema.people_rule, every, compared, self.random) if schema.people_rule.key else None
        self._whole = self.duck.source
        return choice

    def suspects(self, schema: Schema) -> tuple[PersonKey, ...]:
        """Return columns that look like keys of people with several rows."""
        looked = [name for name in self.duck.schema().names if name not in schema.sensitive]
        return suspects(self.duck, looked, tuple(schema.people_rule.key))

    def gathered(self, schema: Schema) -> Table:
        """Return the people of a table in which somebody may have several values of a secret, gathered from their rows."""
        self.open(schema)
        memory = self.limits.memory
        return gathered_table(self.duck, schema, self.reading, self.random, memory=memory, person=BYTES_A_PERSON)

    def without(self, absent: Mapping[str, pa.Array]) -> None:
        """Leave out the rows that have one of these values."""
        tests = []
        for k, (name, values) in enumerate(absent.items()):
            self.duck.connection.register(f"absent{k}", pa.table({"v": values}))
            equal = f"s.{quoted(name)} IS NOT DISTINCT FROM a.v"
            tests.append(f"NOT EXISTS (SELECT 1 FROM absent{k} AS a WHERE {equal})")
        self.duck.view(f"SELECT * FROM {quoted(self.duck.source)} AS s WHERE {' AND '.join(tests)}", "kept")

    def open(self, schema: Schema) -> None:
        """Give the source its name in DuckDB."""
        super().open(schema)
        rows = Rows(schema)
        used = [*rows.used, *rows.beside]
        files = listed_files(self.source)
        if files is not None:
            parquet, text = parquet_files(files, used, self.options, self.place / "text")
            self.reading = Reading(decimal=self.options.decimal, guessed=text)
            self.duck.view(f"SELECT {_selected(used)} FROM {self.duck.scan(parquet)}")
            return
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
