"""Form *synthetic*: records that are no person's, drawn from noisy counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Small
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.buckets import published_names
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order
from sfumato.release.coding import (
    code_column,
    code_domain,
    dictionary_array,
    match_rows,
    require_tables,
    sensitive_columns,
    take_table,
)
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column, Domain, combined
from sfumato.table.frames import Native

RECORDS = "records"


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticRelease(Release):
    """`records`: as many rows as there are people, each with a value for every column, none of them anybody's.

    The manifest's parameters have ε and γ, and which columns were `measured` together: what other columns have in common is what
    these imply. The release claims no bound on belief.
    """

    form = "synthetic"

    quasi: tuple[Column, ...]
    domain: Domain
    value: Small
    made_from: Native = "pyarrow"

    def __repr__(self) -> str:
        names = [", ".join(str(column["name"]) for column in self.manifest.schema[role]) for role in ("quasi", "sensitive")]
        return f"SyntheticRelease({self.rows:,} synthetic records; {' → '.join(names)})"

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """The quasi columns."""
        return self.quasi

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`: the quasi columns, then the sensitive ones."""
        columns: dict[str, pa.Array] = {column.name: dictionary_array(column) for column in self.quasi}
        return {RECORDS: pa.table(columns | sensitive_columns(self.domain, self.value))}

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the share of each value among the records with a person's quasi values.

        That is what somebody believes who takes the records for a sample of people like her. Nobody with quasi values that no
        record has is told anything by this: NaN. Records are in no groups: there is nothing to take the largest over.
        """
        return self.mean_beliefs(people)

    def mean_beliefs(self, people: Any) -> Floats:
        """Return the same."""
        owner, row, owners = match_rows(self.quasi, people)
        beliefs = np.zeros((owners, len(self.domain)))
        np.add.at(beliefs, (owner, self.value[row]), 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = beliefs / np.bincount(owner, minlength=owners)[:, None]
        return result

    def presence(self, people: Any) -> Floats:
        """Refuse: no record is a person's."""
        raise FormatError(
            "synthetic records show no person: ε bounds the effect of a person's record, including her presence",
            hint="belief in presence is bounded by the forms columns (method ambiguity) and views (method priview)",
        )

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return the records by what they show; they are in no groups."""
        people = np.unique(combined(self.quasi), return_inverse=True)[1].astype(np.int64)
        return (TableRows(RECORDS, np.zeros(len(self.value), np.int32), people * len(self.domain) + self.value),), 1

    def canonical(self) -> SyntheticRelease:
        """Return the same release with its records in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with its records in this order."""
        rows = order.rows[0]
        return replace(self, quasi=tuple(column.take(rows) for column in self.quasi), value=self.value[rows])

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `records` these are, as they are read."""
        quasi_names, sensitive_names, kinds = published_names(manifest)
        require_tables(tables, cls.form, (RECORDS,))
        records = take_table(tables, RECORDS, {name: kinds[name] for name in (*quasi_names, *sensitive_names)}, manifest.rows)
        quasi = tuple(code_column(name, kinds[name], records[name]) for name in quasi_names)
        domain, codes = code_domain(records.select(sensitive_names), tuple(kinds[name] for name in sensitive_names))
        return cls(manifest, quasi, domain, codes.astype(np.int32))
