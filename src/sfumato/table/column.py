"""A coded column: the values that occur, once each and sorted, and one small integer per row.

The sensitive attribute is one such column, or several as one compound attribute of observed combinations.

Numbers go from Arrow to numpy without pandas: pyarrow's own way loads it where it is there, which takes longer than to answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Codes, Integers, combine_codes, counted, taken

Kind = Literal["numeric", "categorical", "date"]

MISSING = "(missing)"
"""How a missing value is written where text is needed."""


def code_type(size: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that can hold the codes 0 … size−1."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if size <= np.iinfo(kind).max + 1:
            return np.dtype(kind)
    raise ValueError(f"{size} distinct values are more than a column can hold")


@dataclass(frozen=True, eq=False)
class Column:
    """One column of small integer codes.

    `values` holds the distinct values in ascending order and never a null; a missing entry has the code `len(values)`, which is
    used only when `has_missing`. So every code is below `size`, and the order of codes is the order of values.
    """

    name: str
    kind: Kind
    values: pa.Array
    codes: Codes
    has_missing: bool = False

    @property
    def size(self) -> int:
        """Number of codes: the distinct values, plus one if some are missing."""
        return len(self.values) + int(self.has_missing)

    def __len__(self) -> int:
        return len(self.codes)

    def dictionary(self) -> pa.Array:
        """Return the value of each code, a null for the missing one."""
        if not self.has_missing:
            return self.values
        return pa.concat_arrays([self.values, pa.nulls(1, self.values.type)])

    def arrow(self) -> pa.Array:
        """Return the column decoded, one value (or null) per row."""
        return self.dictionary().take(pa.array(self.codes))

    def take(self, rows: Array) -> Column:
        """Return the column at these rows, with the same dictionary."""
        return Column(self.name, self.kind, self.values, taken(self.codes, rows), self.has_missing)

    def labels(self) -> tuple[str, ...]:
        """Return each code's value as text; a missing value is `(missing)`."""
        return labels(self.dictionary())


def labels(values: pa.Array | pa.ChunkedArray) -> tuple[str, ...]:
    """Return values as text, `(missing)` for a null."""
    return tuple(MISSING if value is None else as_text(value) for value in values.to_pylist())


def as_text(value: Any) -> str:
    """Return a value as a user writes it in a policy or a query: 3.0 is "3", a date is ISO."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def numbers(values: pa.Array) -> Array:
    """Return an array of numbers without nulls as numpy sees the same memory; anything else is converted by pyarrow."""
    kind = values.type
    if values.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or not isinstance(values, pa.Array):
        return np.asarray(values)
    known = np.dtype(kind.to_pandas_dtype())
    if not len(values):
        return np.empty(0, known)
    return np.frombuffer(values.buffers()[1], known, count=len(values), offset=values.offset * known.itemsize)


def combined(columns: Sequence[Column]) -> Integers:
    """Return one integer per row that is equal for equal combinations and ascends with them, first column first."""
    return combine_codes([(column.codes, column.size) for column in columns])


SEPARATOR = " / "
"""Between the parts of a compound value's label: "HIV / smoker"."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The sensitive values that occur, sorted: one row per value, one column per sensitive column of the table."""

    table: pa.Table
    kinds: tuple[Kind, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each value as text, the parts of a compound value joined by " / "."""
        return tuple(SEPARATOR.join(parts) for parts in zip(*map(labels, self.table.columns), strict=True))

    @property
    def secrets(self) -> tuple[Domain, ...]:
        """The values of each secret by itself: these, of one secret, which may be a combination of columns."""
        return (self,)

    @property
    def first(self) -> Integers:
        """Where the values of each secret begin, and how many values there are: those of one begin at 0."""
        return np.array([0, len(self)])

    def part(self, name: str) -> tuple[Domain, Codes]:
        """Return the values of one of the columns, sorted, and which of them each value here has."""
        encoded = self.table.column(name).combine_chunks().dictionary_encode("encode")
        order = pc.sort_indices(encoded.dictionary)  # a missing value comes last
        rank = np.argsort(order.to_numpy())
        codes = rank[encoded.indices.to_numpy()]
        domain = Domain(pa.table({name: encoded.dictionary.take(order)}), (self.kinds[self.names.index(name)],))
        return domain, codes.astype(code_type(len(rank)))

    def parts(self) -> dict[str, dict[str, str]]:
        """Return for each of several columns its part of every value, as text; nothing for a single column."""
        if len(self.names) == 1:
            return {}
        return {
            name: dict(zip(self.labels, labels(column), strict=True))
            for name, column in zip(self.names, self.table.columns, strict=True)
        }


@dataclass(frozen=True, eq=False)
class Events:
    """The values of several secrets in one list: those of the first, then those of the second."""

    secrets: tuple[Domain, ...]

    def __len__(self) -> int:
        return int(self.first[-1])

    @property
    def names(self) -> tuple[str, ...]:
        """The sensitive columns, one a secret."""
        return tuple(name for secret in self.secrets for name in secret.names)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each."""
        return tuple(kind for secret in self.secrets for kind in secret.kinds)

    def parts(self) -> dict[str, dict[str, str]]:
        """Return nothing: these are values side by side, and no combinations."""
        return {}

    @cached_property
    def first(self) -> Integers:
        """Where the values of each secret begin, and how many values there are."""
        return np.concatenate(([0], np.cumsum([len(secret) for secret in self.secrets]))).astype(np.int64)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each value as text, after the name of its secret."""
        return tuple(f"{name}: {label}" for name, secret in zip(self.names, self.secrets, strict=True) for label in secret.labels)


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The sensitive attribute of a table: its domain and one code per row."""

    domain: Domain
    codes: Codes

    @property
    def labels(self) -> tuple[str, ...]:
        """Each value as text, in code order."""
        return self.domain.labels

    @cached_property
    def counts(self) -> Integers:
        """Number of people with each value."""
        return counted(self.codes, len(self.domain))

    def at(self, rows: Array) -> Sensitive:
        """Return the attribute of these rows, among the same values."""
        return Sensitive(self.domain, taken(self.codes, rows))

    def only_used(self) -> Sensitive:
        """Return the same without the values that nobody has."""
        used, codes = np.unique(self.codes, return_inverse=True)
        domain = Domain(self.domain.table.take(pa.array(used)), self.domain.kinds)
        return Sensitive(domain, codes.astype(code_type(len(used))))

    def each(self) -> tuple[Sensitive, ...]:
        """Return the attribute of each sensitive column by itself, in the order of the columns."""
        if len(self.domain.names) == 1:
            return (self,)
        return tuple(
            Sensitive(domain, codes[self.codes]) for domain, codes in (self.domain.part(name) for name in self.domain.names)
        )

    def histogram(self) -> dict[str, int]:
        """Return label → number of people."""
        return dict(zip(self.labels, map(int, self.counts), strict=True))
