"""The sensitive attribute: one column, or several as one compound attribute of observed combinations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Codes, Integers, counted
from sfumato.table.column import Kind, code_type, labels

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

    def apart(self) -> tuple[Sensitive, ...]:
        """Return the attribute of each sensitive column by itself, in the order of the columns."""
        if len(self.domain.names) == 1:
            return (self,)
        return tuple(
            Sensitive(domain, codes[self.codes]) for domain, codes in (self.domain.part(name) for name in self.domain.names)
        )

    def histogram(self) -> dict[str, int]:
        """Return label → number of people."""
        return dict(zip(self.labels, map(int, self.counts), strict=True))
