"""Polars, lazily, as an engine: Parquet files or a LazyFrame of which no more than a batch is in memory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from sfumato.scale.engine import Engine


class Lazily(Engine):
    """What Polars scans: it counts by columns, and numbers rows by a join."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.whole = self.source if isinstance(self.source, pl.LazyFrame) else pl.scan_parquet(self.source)
        self.kept = self.whole

    def names(self) -> list[str]:
        return self.whole.collect_schema().names()

    def distinct(self, names: Sequence[str]) -> pa.Table:
        columns = [pl.col(name).alias(f"c{k}") for k, name in enumerate(names)]
        return self.kept.select(columns).group_by(pl.all()).agg(pl.len().alias("n")).collect(engine="streaming").to_arrow()

    def numbered(
        self, known: Mapping[tuple[str, ...], pa.Table], plain: Sequence[str], *, whole: bool = False
    ) -> Iterator[pa.RecordBatch]:
        frame = self.whole if whole else self.kept
        for k, (names, table) in enumerate(known.items()):
            own = pl.from_arrow(table.drop_columns("n")).lazy().with_row_index(f" i{k}")
            right = [f"c{j}" for j in range(len(names))]
            frame = frame.join(own, left_on=list(names), right_on=right, how="left", nulls_equal=True)
        frame = frame.select([pl.col(f" i{k}").cast(pl.Int32) for k in range(len(known))] + [pl.col(name) for name in plain])
        for batch in frame.collect_batches(chunk_size=1 << 20):
            yield from batch.to_arrow().to_batches()

    def without(self, absent: Mapping[str, pa.Array]) -> None:
        for name, values in absent.items():
            for value in values.to_pylist():
                column = pl.col(name)
                same = column.is_null() if value is None else column.is_nan() if value != value else column.eq_missing(value)
                self.kept = self.kept.filter(~same)
