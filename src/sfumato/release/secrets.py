"""Values of one or several secrets in a table of groups.

Of one secret the table has its columns, in their own types. Of several it has a column `secret` and a column `value`: values of
different types stand in one column, so they are written as text, each type in one way, from which the type follows.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Integers, Small
from sfumato.errors import FormatError
from sfumato.release.coding import all_plain, code_column, code_domain, decoded, sensitive_columns
from sfumato.release.manifest import Manifest
from sfumato.table.column import Domain, Events, Kind

SECRET, VALUE = "secret", "value"


class Shows:
    """What releases of one or several secrets have: the values of all of them, in one list."""

    events: Domain | Events

    @property
    def domain(self) -> Domain:
        """The values of the only secret."""
        (only,) = self.events.secrets
        return only

    @property
    def labels(self) -> tuple[str, ...]:
        """The sensitive values of the release as text, in the order of the tables."""
        return self.events.labels


_WHOLE = re.compile(r"-?[0-9]+")
_DAY = len("2000-01-01")


def value_columns(manifest: Manifest) -> dict[str, str]:
    """Return the columns in which a table of groups shows sensitive values, and the kind of each."""
    if len(manifest.secrets) > 1:
        return {SECRET: "categorical", VALUE: "categorical"}
    return {str(column["name"]): str(column["kind"]) for column in manifest.schema["sensitive"]}


def shown_values(domain: Domain | Events, value: Small) -> dict[str, pa.Array]:
    """Return these columns for rows that show these values."""
    if isinstance(domain, Domain):
        return sensitive_columns(domain, value)
    names = np.repeat(np.arange(len(domain.secrets)), [len(secret) for secret in domain.secrets])
    texts = pa.concat_arrays([as_texts(secret.table.column(0).combine_chunks()) for secret in domain.secrets])
    index = pa.array(value)
    return {SECRET: pa.array(domain.names).take(pa.array(names)).take(index), VALUE: texts.take(index)}


def code_values(manifest: Manifest, table: pa.Table) -> tuple[Domain | Events, Integers]:
    """Return the sensitive values that a table of groups shows, sorted, and the number of each row's among them."""
    kinds: dict[str, Any] = {column["name"]: column["kind"] for column in manifest.schema["sensitive"]}
    if len(manifest.secrets) == 1:
        return code_domain(table.select(list(kinds)), tuple(kinds.values()))
    domains, codes, first = [], np.empty(table.num_rows, np.int64), 0
    secret, texts = secret_numbers(manifest, table), decoded(table[VALUE])
    for k, (name, kind) in enumerate(kinds.items()):
        rows = np.flatnonzero(secret == k)
        if not len(rows):
            raise FormatError(f"table 'st' shows nothing of the secret {name!r}")
        mine = texts.take(pa.array(rows)).dictionary_encode()
        column = code_column(name, kind, pa.chunked_array([from_texts(mine.dictionary, kind).take(mine.indices)]))
        domains.append(Domain(pa.table({name: column.dictionary()}), (kind,)))
        codes[rows] = column.codes.astype(np.int64) + first
        first += column.size
    return Events(tuple(domains)), codes


def secret_numbers(manifest: Manifest, table: pa.Table) -> Integers:
    """Return the number of each row's secret; another name is refused."""
    place = pc.index_in(decoded(table[SECRET]), value_set=pa.array(manifest.secrets))
    if place.null_count:
        raise FormatError(f"table 'st': column {SECRET!r} should name {', '.join(manifest.secrets)} and nothing else")
    return np.asarray(place, dtype=np.int64)


def as_texts(values: pa.Array) -> pa.Array:
    """Return values as text, in the one way that each type is written; a missing value stays one."""
    if pa.types.is_string(values.type):
        return values
    return pa.array([None if value is None else _text(value) for value in values.to_pylist()], pa.string())


def _text(value: Any) -> str:
    """Return a value as text: a number with a fraction always has one (3.0), a moment always a time of day."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else repr(value)


def from_texts(texts: pa.Array, kind: Kind) -> pa.Array:
    """Return the values of a column of this kind that are written so, none of them missing; another spelling is refused."""
    if kind == "categorical":
        return texts
    listed = texts.to_pylist()
    try:
        values = pa.array(*_numbers(listed) if kind == "numeric" else _moments(listed))
    except (ValueError, OverflowError, pa.ArrowException):
        values = None
    if values is None or as_texts(values).to_pylist() != listed or (kind == "numeric" and not all_plain(values)):
        raise FormatError(f"table 'st': column {VALUE!r} has texts that are not canonical {kind} values")
    return values


def _numbers(texts: list[str]) -> tuple[list[Any], pa.DataType]:
    whole = all(_WHOLE.fullmatch(text) for text in texts)
    return ([int(text) for text in texts], pa.int64()) if whole else ([float(text) for text in texts], pa.float64())


def _moments(texts: list[str]) -> tuple[list[Any], pa.DataType]:
    days = all(len(text) == _DAY for text in texts)
    if days:
        return [date.fromisoformat(text) for text in texts], pa.date32()
    return [datetime.fromisoformat(text) for text in texts], pa.timestamp("us")
