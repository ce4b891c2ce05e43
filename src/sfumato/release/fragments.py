"""What the forms *columns* and *views* have in common: tables of their own for parts of a person, tied by groups alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.release.canonical import TableRows

GROUP = "group"
COUNT = "count"
ST = "st"


_PLAIN_NAME = re.compile(r"[\w.-]{1,60}")


class Fragments:
    """What releases of both forms tell of their groups, from the entries of `st`: sorted by group, with their counts."""

    st_group: Small
    st_count: Integers

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        return np.bincount(self.st_group, weights=self.st_count).astype(np.int64)

    @cached_property
    def st_start(self) -> Integers:
        """First entry of each group in `st`; one more than there are groups."""
        return starts(self.st_group, len(self.sizes))


def auxiliary_names(columns: Sequence[str]) -> list[str]:
    """Return the name of each column's auxiliary table: at_<column>.

    A table becomes a file, so a name that cannot be one, or that differs from another by its case alone, gives way to the
    column's place: at_column_3.
    """
    folded = [name.casefold() for name in columns]
    plain = [bool(_PLAIN_NAME.fullmatch(name)) and folded.count(name.casefold()) == 1 for name in columns]
    return [
        f"at_{name}" if free and not name.casefold().startswith("column_") else f"at_column_{place + 1}"
        for place, (name, free) in enumerate(zip(columns, plain, strict=True))
    ]


def counted_entries(group: Array, value: Array, count: Integers) -> TableRows:
    """Return the entries of `st` by group, and by value and count."""
    return TableRows(ST, group, value * np.int64(int(count.max(initial=0)) + 1) + count)


def starts(group: Array, groups: int) -> Integers:
    """Return where each group begins among rows sorted by group, and how many rows there are."""
    return np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
