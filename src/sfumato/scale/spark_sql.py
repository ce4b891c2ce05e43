"""SQL of a Spark session, under names of its own that nobody else has."""

from __future__ import annotations

import secrets
from typing import Any

import pyarrow as pa

from sfumato.scale.people import Sql


class SparkSql(Sql):
    """A Spark DataFrame and what follows from it, by views of the session; `close` drops them."""

    def __init__(self, frame: Any) -> None:
        self.session, self.mark = frame.sparkSession, f"sfumato_{secrets.token_hex(8)}"
        self.views: list[str] = []
        self.kept: list[Any] = []
        self.source = self._named("source", frame)

    def _named(self, name: str, frame: Any) -> str:
        view = f"{self.mark}_{name}"
        frame.createOrReplaceTempView(view)
        self.views.append(view)
        return view

    @property
    def frame(self) -> Any:
        """The source as a DataFrame."""
        return self.session.table(self.source)

    def quoted(self, name: str) -> str:
        """Return a name as SQL has it."""
        return "`" + name.replace("`", "``") + "`"

    def table(self, sql: str) -> pa.Table:
        """Return the result of a query, which must be small."""
        return self.session.sql(sql).toArrow()

    def lend(self, name: str, table: pa.Table) -> str:
        """Give a small table a name, and return that as SQL has it."""
        return self.quoted(self._named(name, self.session.createDataFrame(table)))

    def keep(self, name: str, sql: str, *, made: bool = True) -> str:
        """Give the result of a query a name, computed once where it is `made`; return the name as SQL has it."""
        frame = self.session.sql(sql)
        if made:
            frame = frame.persist()
            self.kept.append(frame)
        return self.quoted(self._named(name, frame))

    def use(self, name: str, frame: Any = None) -> None:
        """Make what was kept under a name the source, or a frame, which then has it."""
        self.source = f"{self.mark}_{name}" if frame is None else self._named(name, frame)

    def close(self) -> None:
        """Forget all names, and what was kept."""
        for frame in self.kept:
            frame.unpersist()
        for view in self.views:
            self.session.catalog.dropTempView(view)
