"""The table: schema and roles, reading and writing, coded columns, bundled data generators."""

from __future__ import annotations

from sfumato.table.bins import Bins
from sfumato.table.closed import Closed
from sfumato.table.column import MISSING, Column, Kind, as_text
from sfumato.table.declared import DeclaredDomain
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.frames import Native, to_native
from sfumato.table.read import read_arrow
from sfumato.table.recode import Bands, DateTo, Prefix, Recode, Regroup, Rounded
from sfumato.table.schema import MissingRule, Role, Schema
from sfumato.table.sensitive import Domain, Sensitive
from sfumato.table.table import Table
from sfumato.table.textfile import ReadOptions
from sfumato.table.write import write_table

__all__ = [
    "MISSING",
    "Bands",
    "Bins",
    "Closed",
    "Column",
    "DateTo",
    "DeclaredDomain",
    "Domain",
    "Fingerprint",
    "Kind",
    "MissingRule",
    "Native",
    "Prefix",
    "ReadOptions",
    "Recode",
    "Regroup",
    "Role",
    "Rounded",
    "Schema",
    "Sensitive",
    "Table",
    "as_text",
    "read_arrow",
    "to_native",
    "write_table",
]
