"""The table: schema and roles, reading and writing, coded columns, bundled data generators."""

from __future__ import annotations

from sfumato.table.database import Database
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.frames import to_native
from sfumato.table.hierarchy import Hierarchy
from sfumato.table.people_rule import People
from sfumato.table.read import read_arrow
from sfumato.table.schema import Schema
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions
from sfumato.table.write import write_table

__all__ = [
    "Database",
    "Fingerprint",
    "Hierarchy",
    "People",
    "ReadOptions",
    "Schema",
    "Table",
    "read_arrow",
    "to_native",
    "write_table",
]
