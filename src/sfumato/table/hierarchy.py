"""Hierarchies of categories in the files of ARX: one line a value, `value;level 1;level 2`, from fine to coarse."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError, PolicyError
from sfumato.exact import typed
from sfumato.table.column import Kind
from sfumato.table.recode import Regroup
from sfumato.table.source import read_text
from sfumato.table.textfile import ReadOptions, guess_delimiter

LONGEST = 10_000_000
"""A file of a hierarchy has at most so many bytes."""


def hierarchy_text(path: str | os.PathLike[str], named: str) -> str:
    """Return what is in the file of a hierarchy; errors call it by this name."""
    check, expected = "the path is relative to the policy file", "save it as UTF-8"
    return read_text(path, named, most=LONGEST, error=PolicyError, check=check, expected=expected)


@dataclass(frozen=True, kw_only=True)
class Hierarchy(Regroup):
    """Categories grouped as one level of a hierarchy has them; it is published, and asked about, like a `Regroup`.

    A value that the hierarchy does not have becomes `other`; without `other` it is refused, and never published as it is.
    """

    called = "hierarchy"

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, level: int, other: str | None = None) -> Hierarchy:
        """Return the level of the hierarchy in a file; level 1 is the first above the values themselves."""
        where = Path(path).name
        return cls.parse(hierarchy_text(path, f"hierarchy: {where}"), level=level, other=other, where=where)

    @classmethod
    def parse(cls, text: str, *, level: int, other: str | None = None, where: str = "the text") -> Hierarchy:
        """Return the level of the hierarchy in a text of lines `value;level 1;level 2`."""
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise PolicyError(f"level: expected a whole number from 1 on, got {typed(level)}", hint="level = 2")
        delimiter = ";" if ";" in text else guess_delimiter(text, ReadOptions())
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
        except csv.Error:
            rows = []
        if not rows or len(rows[0]) < 2:
            raise PolicyError(f"hierarchy: {where}: no lines of values and their levels", hint="expected value;level 1;level 2")
        width = len(rows[0])
        ragged = next((place for place, row in enumerate(rows, 1) if len(row) != width), None)
        if ragged is not None:
            raise PolicyError(
                f"hierarchy: {where}: line 1 has {width - 1} levels, and line {ragged} another number",
                hint="every value has every level",
            )
        if level >= width:
            raise PolicyError(f"level: {where} has {width - 1} levels, got {level}", hint=f"level = {width - 1}")
        mapped: dict[str, str] = {}
        for place, row in enumerate(rows, 1):
            if mapped.setdefault(row[0], row[level]) != row[level]:
                raise PolicyError(
                    f"hierarchy: {where}: the value of line {place} stands twice, at different places of level {level}",
                    hint="every value has one line",
                )
        return cls(map=mapped, other=other)

    def apply(self, values: pa.Array, kind: Kind, column: str) -> tuple[pa.Array, Kind]:
        """Return the name of each value's group; numbers and dates are refused, since a hierarchy has names."""
        published, kind = super().apply(values, kind, column)
        if self.other is None:
            known = pc.is_in(values, value_set=pa.array(list(self.map), pa.string()))
            strange = len(values) - int(pc.sum(known).as_py() or 0)
            if strange:
                raise InputError(
                    f"column {column!r}: {strange:,} of its {len(values):,} different values are not in its hierarchy",
                    hint='add lines for them, or other = "rest" beside level',
                )
        return published, kind
