"""All values that the columns of a table may have, as declared: what a draw may show, whoever happens to be in the table."""

from __future__ import annotations

import contextlib
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
from sfumato.table.by_cell import declared_type, listed_once
from sfumato.table.column import SEPARATOR, Column, Domain, code_type, labels
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
    """Return the declared values of a table's columns; a column without them, or somebody with another value, is refused.

    So is a table that was read as a whole: its kinds and types would follow from whoever is in it.
    """
    schema = table.schema
    declared_quasi(schema)
    domain = declared_values(schema)
    if not schema.by_cell:
        raise PolicyError(
            "the table was not read with the declared domains: what is drawn, and whether, must not depend on who is in it",
            hint="Table.read(path, method.close(schema)), or Table.from_frame(frame, method.close(schema))",
        )
    quasi = tuple(_declared_column(column, schema) for column in table.quasi)
    place = {label: code for code, label in enumerate(domain.labels)}
    lost = [label for label in table.sensitive.labels if label not in place]
    if lost:
        raise InputError(
            f"{len(lost)} sensitive values of the table are not among the declared ones",
            hint='declare them; or let values and otherwise = "other" of the method take whoever has another one',
        )
    return Universe(quasi, domain, np.array([place[label] for label in table.sensitive.labels], np.int64)[table.sensitive.codes])


def declared_quasi(schema: Schema) -> tuple[pa.Array, ...]:
    """Return all declared values of each quasi column, ascending, in the type that it is published with."""
    return tuple(_enumerated(schema, name) for name in schema.quasi)


def declared_values(schema: Schema) -> Domain:
    """Return all declared sensitive values: the closed ones, or those of the columns' domains and bins in every combination."""
    attribute = schema.closed_attribute()
    if attribute is not None:
        return attribute.domain
    parts = []
    for name in schema.sensitive:
        bins = schema.bins_of(name)
        listed = _enumerated(schema, name) if bins is None else pa.array(sorted(bins.labels), pa.string())
        parts.append(pa.concat_arrays([listed, pa.nulls(1, listed.type)]) if schema.missing.get(name) == "value" else listed)
    _require_few(math.prod(map(len, parts)), SEPARATOR.join(schema.sensitive))
    rows = pa.array(list(itertools.product(*(range(len(part)) for part in parts))), pa.list_(pa.int64(), len(parts)))
    places = np.asarray(rows.flatten()).reshape(-1, len(parts))
    table = pa.table(
        {name: part.take(pa.array(places[:, j])) for j, (name, part) in enumerate(zip(schema.sensitive, parts, strict=True))}
    )
    found = Domain(table, tuple(declared_type(schema, name)[0] for name in schema.sensitive))
    if len(set(found.labels)) < len(found):
        raise PolicyError(
            f"domains of {', '.join(map(repr, schema.sensitive))}: two different values are written the same way",
            hint='rename values that contain " / " or are called "(missing)"',
        )
    return found


def _declared_column(column: Column, schema: Schema) -> Column:
    values = _enumerated(schema, column.name)
    missing = schema.missing.get(column.name) == "value"
    if column.has_missing and not missing:
        raise InputError(
            f"column {column.name!r} has missing values, and its declared domain has none",
            hint=f'missing={{"{column.name}": "value"}} declares them too',
        )
    size = len(values) + int(missing)
    place = {label: code for code, label in enumerate(labels(values))}
    codes = np.array([*(place.get(label, -1) for label in labels(column.values)), len(values)], np.int64)
    if (codes[:-1] < 0).any():  # only where recoding and domain disagree: the table was read with the domain
        raise InputError(
            f"column {column.name!r} has values outside of its declared domain", hint="list the values as they are published"
        )
    kind = declared_type(schema, column.name)[0]
    return Column(column.name, kind, values, codes.astype(code_type(size))[column.codes], missing)


def _enumerated(schema: Schema, name: str) -> pa.Array:
    """Return the values of a declared domain, ascending, in the type that the column is published with."""
    (kind, type_), domain = declared_type(schema, name), schema.domain(name)
    assert domain is not None  # a column without one has no declared type
    if domain.values is not None:
        found = _listed(listed_once(domain, name), type_, name)
    elif kind == "numeric":
        low, high = math.ceil(Fraction(domain.minimum)), math.floor(Fraction(domain.maximum))  # type: ignore[arg-type]
        _require_few(high - low + 1, name)
        found = pa.array(range(low, high + 1), pa.int64())
    else:
        first, last = domain.minimum, domain.maximum
        assert isinstance(first, date)
        assert isinstance(last, date)
        _require_few((last - first).days + 1, name)
        found = pa.array([first + timedelta(days=k) for k in range((last - first).days + 1)], pa.date32())
    recode = schema.recoding(name)
    if recode is not None and domain.values is None:  # a recoded value is its own recoding
        found = recode.apply(found, kind, name)[0].cast(type_)
    _require_few(len(found), name)
    return pc.take(found.unique(), pc.sort_indices(found.unique()))


def _listed(texts: Sequence[str], type_: pa.DataType, name: str) -> pa.Array:
    with contextlib.suppress(pa.ArrowException):
        found = pa.array(list(texts), pa.string()).cast(type_)
        if sorted(labels(found)) == sorted(texts):
            return found
    raise PolicyError(f"domain of {name!r}: a value is not listed as it is published", hint="3 is written 3, a day 2024-05-31")


def _require_few(number: int, name: str) -> None:
    if number > MOST_VALUES:
        raise PolicyError(
            f"domain of {name!r}: {number:,} values, and a draw has at most {MOST_VALUES:,} of a column",
            hint="recode the column: { width = 5 }",
        )
