"""What the forms *columns* and *views* have in common: tables of their own for parts of a person, tied by groups alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.arrays import Array, Integers, Small
from sfumato.release.canonical import Shown
from sfumato.table.column import Column
from sfumato.table.frames import Native
from sfumato.table.sensitive import Domain

GROUP = "group"
COUNT = "count"
ST = "st"


_PLAIN_NAME = re.compile(r"[\w.-]{1,60}")


class Fragments:
    """What releases of both forms tell of their groups, from the entries of `st`: sorted by group, with their counts."""

    st_group: Small
    st_count: Integers
    made_from: Native

    @property
    def native(self) -> Native:
        """The kind of frame that results come back in."""
        return self.made_from

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        return np.bincount(self.st_group, weights=self.st_count).astype(np.int64)

    @cached_property
    def st_start(self) -> Integers:
        """First entry of each group in `st`; one more than there are groups."""
        return starts(self.st_group, len(self.sizes))


def auxiliary_names(quasi: Sequence[str]) -> list[str]:
    """Return the name of each column's auxiliary table: at_<column>.

    A table becomes a file, so a name that cannot be one, or that differs from another by its case alone, gives way to the
    column's place: at_column_3.
    """
    folded = [name.casefold() for name in quasi]
    plain = [bool(_PLAIN_NAME.fullmatch(name)) and folded.count(name.casefold()) == 1 for name in quasi]
    return [
        f"at_{name}" if free and not name.casefold().startswith("column_") else f"at_column_{place + 1}"
        for place, (name, free) in enumerate(zip(quasi, plain, strict=True))
    ]


def counted_entries(group: Array, value: Array, count: Integers) -> Shown:
    """Return the entries of `st` by group, and by value and count."""
    return Shown(ST, group, value * np.int64(int(count.max(initial=0)) + 1) + count)


def starts(group: npt.NDArray[np.generic], groups: int) -> Integers:
    """Return where each group begins among rows sorted by group, and how many rows there are."""
    return np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)


def sensitive_columns(domain: Domain, value: Small) -> dict[str, pa.Array]:
    """Return the sensitive columns of `st`, one value per entry."""
    index = pa.array(value)
    columns = zip(domain.names, domain.table.columns, strict=True)
    return {name: values.combine_chunks().take(index) for name, values in columns}


def freeze(arrays: Sequence[npt.NDArray[np.generic]]) -> None:
    """Make the arrays of a release unchangeable."""
    for array in arrays:
        array.setflags(write=False)


def entries_of(column: Column) -> Small:
    """Return a column's codes as plain integers."""
    return column.codes.astype(np.int32)
