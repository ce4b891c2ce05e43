"""What the forms *columns* and *views* have in common: tables of their own for parts of a person, tied by groups alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import FormatError
from sfumato.release.careful import whole_numbers
from sfumato.table.column import Column
from sfumato.table.frames import Native
from sfumato.table.sensitive import Domain

GROUP = "group"
COUNT = "count"
ST = "st"

MOST_PEOPLE = (1 << 31) - 1
"""More people than any release is about; counts up to that many add up exactly in 64 bits, and in floating point."""

Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

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


def from_one_on(table: pa.Table, column: str, name: str) -> Integers:
    """Return a column of whole numbers from 1 on; anything else is refused."""
    found = whole_numbers(table, column, name)
    if found.min(initial=1) < 1:
        raise FormatError(f"table {name!r}: column {column!r} holds {int(found.min())}, but groups and counts start at 1")
    return found


def require_groups(group: Integers, groups: int, name: str) -> None:
    """Raise `FormatError` unless exactly the groups 0 … groups−1 occur."""
    if not len(group) or int(group.max()) >= groups or (np.bincount(group, minlength=groups) == 0).any():
        raise FormatError(f"table {name!r} should speak of the groups 1 to {groups}, each of them, and of no other")


def require_counts(count: Integers, rows: int) -> None:
    """Raise `FormatError` unless the counts of st add up to the number of people that the manifest gives, and are no fantasy."""
    if rows > MOST_PEOPLE or len(count) > rows:
        raise FormatError(f"the manifest speaks of {rows} people, which cannot be the people of these tables")
    if count.max(initial=0) > rows or int(count.sum()) != rows:
        raise FormatError(f"the counts of table 'st' do not add up to the {rows} people that the manifest speaks of")


def sorted_distinct(key: Integers, what: str) -> Integers:
    """Return the order that sorts rows by their key; a key that occurs twice is refused."""
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    if (ranked[1:] == ranked[:-1]).any():
        raise FormatError(f"{int((ranked[1:] == ranked[:-1]).sum())} rows of {what} occur twice")
    return order


def starts(group: npt.NDArray[np.generic], groups: int) -> Integers:
    """Return where each group begins among rows sorted by group, and how many rows there are."""
    return np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)


def sensitive_columns(domain: Domain, value: Small) -> dict[str, pa.Array]:
    """Return the sensitive columns of `st`, one value per entry."""
    index = pa.array(value)
    columns = zip(domain.names, domain.table.columns, strict=True)
    return {name: values.combine_chunks().take(index) for name, values in columns}


def in_order(columns: Mapping[str, pa.Array], order: Small) -> pa.Table:
    """Return the columns as a table whose row i is the entry `order[i]`."""
    return pa.table(dict(columns)).take(pa.array(order))


def freeze(arrays: Sequence[npt.NDArray[np.generic]]) -> None:
    """Make the arrays of a release unchangeable."""
    for array in arrays:
        array.setflags(write=False)


def entries_of(column: Column) -> Small:
    """Return a column's codes as plain integers."""
    return column.codes.astype(np.int32)
