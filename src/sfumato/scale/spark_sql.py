"""SQL of a Spark session, under names of its own that nobody else has: who a row is, where a cluster holds the rows."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.table.extras import extra


class SparkSql:
    """What choosing one row a person needs (`people.Sql`), by views of the session; `close` drops them."""

    def __init__(self, frame: Any) -> None:
        self.session, self.mark = frame.sparkSession, f"sfumato_{secrets.token_hex(8)}"
        self.views: list[str] = []
        self.kept: list[Any] = []
        self.functions = extra("pyspark.sql.functions")
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

    def schema(self) -> pa.Schema:
        """Return names and Arrow types of the source's columns."""
        return self.frame.limit(0).toArrow().schema

    def table(self, sql: str) -> pa.Table:
        """Return the result of a query, which must be small."""
        return self.session.sql(sql).toArrow()

    def number(self, sql: str) -> int:
        """Return the one number that a query gives."""
        return int(self.session.sql(sql).first()[0])

    def rows(self) -> int:
        """Return how many rows the source has."""
        return int(self.frame.count())

    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different values of columns (c0, c1, …), and how often each occurs (n)."""
        listed = ", ".join(f"{self.quoted(name)} AS c{k}" for k, name in enumerate(names))
        keys = ", ".join(f"c{k}" for k in range(len(names)))
        return self.table(f"SELECT {keys}, count(*) AS n FROM (SELECT {listed} FROM {self.quoted(self.source)}) GROUP BY {keys}")

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows those are."""
        keys = ", ".join(map(self.quoted, names))
        some = " OR ".join(f"{self.quoted(name)} IS NOT NULL" for name in names)
        found = self.session.sql(
            f"SELECT count(*), coalesce(sum(n), 0) FROM "
            f"(SELECT count(*) AS n FROM {self.quoted(self.source)} WHERE {some} GROUP BY {keys} HAVING count(*) > 1)"
        ).first()
        return int(found[0]), int(found[1])

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

    def use(self, name: str) -> None:
        """Make what was kept under a name the source."""
        self.source = f"{self.mark}_{name}"

    def close(self) -> None:
        """Forget all names, and what was kept."""
        for frame in self.kept:
            frame.unpersist()
        for view in self.views:
            self.session.catalog.dropTempView(view)
