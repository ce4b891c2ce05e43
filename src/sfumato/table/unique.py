"""Values that nearly name people: what stops a publication, and what it looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers, counted
from sfumato.errors import InputError
from sfumato.exact import percent
from sfumato.table.column import Column
from sfumato.table.table import Table

SHARE, PEOPLE = 0.2, 20
"""Texts nearly name people where so large a share of them, and at least so many, are the only one with their text."""
NUMBERED, MANY = 0.9, 1_000
"""Whole numbers and dates do where so large a share of them, and at least so many, are: they number people."""


@dataclass(frozen=True)
class NearlyUnique:
    """A quasi column as published, and how many people are the only one with their value."""

    column: str
    alone: int
    rows: int

    def __str__(self) -> str:
        share = percent(self.alone / self.rows, 1)
        return f"{self.column!r}: {self.alone:,} of {self.rows:,} people ({share}) are the only one with their value"

    @property
    def sentence(self) -> str:
        """What stands beside the column."""
        return f"{percent(self.alone / self.rows, 1)} of people are the only one with their value: this is not published."


def nearly_unique(table: Table, counts: Sequence[Integers] | None = None) -> list[NearlyUnique]:
    """Return the quasi columns whose values nearly name people, except those that the schema allows. No secret is looked at.

    `counts` say how often each code of each column occurs, where the table has no rows at hand.
    """
    found = []
    for j, column in enumerate(table.quasi):
        if column.name in table.schema.allow_unique or _measured(column):
            continue
        share, least = (SHARE, PEOPLE) if column.kind == "categorical" else (NUMBERED, MANY)
        times = counted(column.codes, column.size) if counts is None else counts[j]
        alone = int((times[: len(column.values)] == 1).sum())
        if alone >= max(least, share * table.rows):
            found.append(NearlyUnique(column.name, alone, table.rows))
    return found


def _measured(column: Column) -> bool:
    """Return whether a column has numbers that are not whole: measurements, which name nobody by themselves."""
    return pa.types.is_floating(column.values.type) and bool((np.asarray(column.values) % 1 != 0).any())


def require_shared_texts(table: Table, counts: Sequence[Integers] | None = None) -> None:
    """Raise an `InputError` for quasi columns whose values nearly name people; `counts` as for `nearly_unique`."""
    found = nearly_unique(table, counts)
    if found:
        names = ", ".join(f'"{one.column}"' for one in found)
        raise InputError(
            f"values that nearly name people would be published; {'; '.join(map(str, found))}",
            hint=f"make them identifier or other, or coarser with recode; allow_unique=[{names}] says that it is meant",
        )
