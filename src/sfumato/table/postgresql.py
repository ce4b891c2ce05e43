"""Reading a query of PostgreSQL, by ADBC: as a subquery, which can only be a SELECT, in a transaction that cannot write."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sfumato.table.extras import extra
from sfumato.table.schema import check_unique

_CASTS = {"money": "numeric", "oid": "int8"} | dict.fromkeys(
    ("uuid", "inet", "cidr", "macaddr", "macaddr8", "xml", "bit", "varbit"), "text"
)
"""What the driver gives as another number (money in cents, whatever a cent is there), or as bytes, is turned by the server."""


def ask(url: str, sql: str, where: str) -> pa.Table:
    """Return what one SELECT gives."""
    query = f"(\n{sql.rstrip().rstrip(';')}\n)"
    with extra("adbc_driver_postgresql.dbapi").connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        names = _fetched(cursor, f"SELECT * FROM {query} AS asked LIMIT 0").column_names
        check_unique(names, where)
        if not names:
            return pa.table({})
        own = [f"c{place}" for place in range(len(names))]
        given = f"{query} AS asked({', '.join(own)})"
        casts = [_CASTS.get(kind) for kind in _types(cursor, own, given)]
        wanted = [f"{column}::{cast}" if cast else column for column, cast in zip(own, casts, strict=True)]
        return _fetched(cursor, f"SELECT {', '.join(wanted)} FROM {given}").rename_columns(names)


def _types(cursor: Any, own: list[str], given: str) -> list[str]:
    """Return the name of each column's type, for a domain that of the type below it; no row of the query is asked for."""
    listed = ", ".join(f"pg_typeof({column})::oid" for column in own)
    types = _fetched(
        cursor,
        "WITH RECURSIVE types(place, type) AS ("
        f"SELECT place, type FROM (SELECT ARRAY[{listed}] AS every FROM (VALUES (1)) AS one LEFT JOIN {given} ON false) AS row, "
        "unnest(every) WITH ORDINALITY AS listed(type, place) "
        "UNION ALL SELECT place, typbasetype FROM types JOIN pg_catalog.pg_type ON oid = type WHERE typbasetype <> 0) "
        "SELECT typname::text FROM types JOIN pg_catalog.pg_type ON oid = type WHERE typbasetype = 0 ORDER BY place",
    )
    return list(types.column(0).to_pylist())


def _fetched(cursor: Any, sql: str) -> pa.Table:
    cursor.execute(sql)
    return cursor.fetch_arrow_table()
