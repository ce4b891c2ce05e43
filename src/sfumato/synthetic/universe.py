"""All values that the columns of a table may have, as declared: what a draw may show, whoever happens to be in the table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Integers
from sfumato.errors import InputError, PolicyError
from sfumato.table.bins import Bins
from sfumato.table.column import SEPARATOR, Column, Domain, Kind, code_type, labels
from sfumato.table.declared import DeclaredDomain
from sfumato.table.schema import Schema
from sfumato.table.table import Table

MOST_VALUES = 100_000
"""A column, or the sensitive attribute, has at most so many declared values."""


@dataclass(frozen=True, eq=False)
class Universe:
    """Every quasi column with all of its declared values, all declared sensitive values, and everybody's codes in both."""

    quasi: tuple[Column, ...]
    domain: Domain
    codes: Integers

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each quasi column may have, and last the sensitive attribute."""
        return (*(column.size for column in self.quasi), len(self.domain))

    @property
    def columns(self) -> tuple[Array, ...]:
        """The codes of each quasi column, and last those of the sensitive attribute."""
        return (*(column.codes for column in self.quasi), self.codes)


def universe_of(table: Table) -> Universe:
    """Return the declared values of a table's columns; a column without them, or somebody with another value, is refused."""
    _require_rules(table.schema)
    quasi = tuple(_declared_column(column, table.schema) for column in table.quasi)
    domain = declared_values(table.schema, dict(zip(table.sensitive.domain.names, _types(table), strict=True)))
    place = {label: code for code, label in enumerate(domain.labels)}
    lost = [label for label in table.sensitive.labels if label not in place]
    if lost:
        raise InputError(
            f"{len(lost)} sensitive values of the table are not among the declared ones",
            hint='declare them; or let values and otherwise = "other" of the method take whoever has another one',
        )
    return Universe(quasi, domain, np.array([place[label] for label in table.sensitive.labels], np.int64)[table.sensitive.codes])


def declared_values(schema: Schema, types: dict[str, tuple[Kind, pa.DataType]]) -> Domain:
    """Return all declared sensitive values: the closed ones, or those of the columns' domains and bins in every combination."""
    attribute = schema.closed_attribute()
    if attribute is not None:
        return attribute.domain
    parts = []
    for name in schema.sensitive:
        kind, type_ = types[name]
        bins = schema.bins.get(name)
        if isinstance(bins, Bins):
            listed = pa.array(sorted(bins.labels), pa.string())
        else:
            listed = _enumerated(schema.domain(name), kind, type_, name, schema)
        parts.append(pa.concat_arrays([listed, pa.nulls(1, listed.type)]) if schema.missing.get(name) == "value" else listed)
    _require_few(math.prod(map(len, parts)), SEPARATOR.join(schema.sensitive))
    rows = pa.array(list(itertools.product(*(range(len(part)) for part in parts))), pa.list_(pa.int64(), len(parts)))
    places = np.asarray(rows.flatten()).reshape(-1, len(parts))
    table = pa.table({name: part.take(pa.array(places[:, j])) for j, (name, part) in enumerate(zip(types, parts, strict=True))})
    return Domain(table, tuple(kind for kind, _ in types.values()))


def _types(table: Table) -> list[tuple[Kind, pa.DataType]]:
    domain = table.sensitive.domain
    return [(kind, column.type) for kind, column in zip(domain.kinds, domain.table.columns, strict=True)]


def _require_rules(schema: Schema) -> None:
    """Refuse rules under which the number of records, or a column's values, would follow from somebody's."""
    dropping = [name for name in (*schema.quasi, *schema.sensitive) if schema.missing_rule(name) == "drop"]
    if dropping:
        raise PolicyError(
            f"missing: {dropping[0]!r} is 'drop', so that how many records there are would tell of whoever was left out",
            hint=f'missing = {{ {dropping[0]} = "value" }} makes a missing value one of the declared ones',
        )


def _declared_column(column: Column, schema: Schema) -> Column:
    values = _enumerated(schema.domain(column.name), column.kind, column.values.type, column.name, schema)
    missing = schema.missing.get(column.name) == "value"
    if column.has_missing and not missing:
        raise InputError(
            f"column {column.name!r} has missing values, and its declared domain has none",
            hint=f'missing={{"{column.name}": "value"}} declares them too',
        )
    size = len(values) + int(missing)
    place = pc.index_in(column.values, value_set=values).fill_null(-1)
    codes = np.append(np.asarray(place, np.int64), len(values))
    if (codes[:-1] < 0).any():  # only where recoding and domain disagree: the table was read with the domain
        raise InputError(
            f"column {column.name!r} has values outside of its declared domain", hint="list the values as they are published"
        )
    return Column(column.name, column.kind, values, codes.astype(code_type(size))[column.codes], missing)


def _enumerated(domain: DeclaredDomain | None, kind: Kind, type_: pa.DataType, name: str, schema: Schema) -> pa.Array:
    """Return the values of a declared domain, ascending, in the type that the column is published with."""
    if domain is None:
        raise PolicyError(
            f"domains: no domain is declared for {name!r}, and a draw may show nothing that only the table tells",
            hint=f'domains={{"{name}": ["a", "b"]}}, or {{"min": 0, "max": 120}} for whole numbers and days',
        )
    if domain.values is not None:
        found = _listed(domain.values, type_, name)
    elif kind == "numeric" and type_ == pa.int64():
        low, high = math.ceil(Fraction(domain.minimum)), math.floor(Fraction(domain.maximum))  # type: ignore[arg-type]
        _require_few(high - low + 1, name)
        found = pa.array(range(low, high + 1), pa.int64())
    elif kind == "date" and type_ == pa.date32():
        first, last = domain.minimum, domain.maximum
        assert isinstance(first, date)
        assert isinstance(last, date)
        _require_few((last - first).days + 1, name)
        found = pa.array([first + timedelta(days=k) for k in range((last - first).days + 1)], pa.date32())
    else:
        raise PolicyError(
            f"domain of {name!r}: a continuum has no list of values, and noise is added to every value",
            hint="recode the column to whole numbers or days, or list its values",
        )
    recode = schema.recoding(name)
    if recode is not None and domain.values is None:  # a recoded value is its own recoding
        found = recode.apply(found, kind, name)[0].cast(type_)
    _require_few(len(found), name)
    return pc.take(found.unique(), pc.sort_indices(found.unique()))


def _listed(texts: Sequence[str], type_: pa.DataType, name: str) -> pa.Array:
    try:
        found = pa.array(list(texts), pa.string()).cast(type_)
    except pa.ArrowException:
        raise PolicyError(
            f"domain of {name!r}: not all listed values are {type_} values, as the column's are",
            hint=f'types={{"{name}": "categorical"}} reads them as texts',
        ) from None
    if sorted(labels(found)) != sorted(texts):
        raise PolicyError(
            f"domain of {name!r}: a value is not listed as it is published", hint="3 is written 3, a day 2024-05-31"
        )
    return found


def _require_few(number: int, name: str) -> None:
    if number > MOST_VALUES:
        raise PolicyError(
            f"domain of {name!r}: {number:,} values, and a draw has at most {MOST_VALUES:,} of a column",
            hint="recode the column: { width = 5 }",
        )
