"""The tables of 003: the census with its domains declared, an insurance table, fewer columns of one, and values drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.table import Schema, Table
from sfumato.table.column import Kind
from sfumato.table.generators import census, insurance

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
ALSO = {"sex": "gender", "birthplace": "country"}
SIZES = {"gender": 2, "marital": 6, "race": 9, "workclass": 10, "country": 83}


def census_table(people: int) -> Table:
    """Return the census with its domains declared; categories that a sample lacks are in the domain all the same."""
    frame = census(people, 1).drop(["salary"])
    domains: dict[str, Any] = {"age": _from(frame["age"].to_numpy().min(), 79), "education": _from(1, 17)}
    for name, size in SIZES.items():
        seen = sorted({str(value) for value in frame[name].to_pylist()})
        domains[name] = seen + [f"other {k}" for k in range(size - len(seen))]
    types: dict[str, Kind] = {**dict.fromkeys([*SIZES, "occupation"], "categorical"), "age": "numeric", "education": "numeric"}
    return Table.from_frame(frame, Schema(quasi=QUASI, sensitive=["occupation"], types=types, domains=domains))


def sample_of(path: Path, people: int) -> Table:
    """Return so many people of a Parquet file with 003's columns under their usual names, its domains those of the whole file."""
    frame = pq.read_table(path)
    frame = frame.rename_columns([ALSO.get(name, name) for name in frame.column_names]).select([*QUASI, "occupation"])
    domains: dict[str, Any] = {}
    for name in QUASI:
        seen = sorted(set(frame[name].to_pylist()))
        domains[name] = {"min": seen[0], "max": seen[-1]} if name not in SIZES else [str(value) for value in seen]
    types: dict[str, Kind] = dict.fromkeys((*SIZES, "occupation"), "categorical")
    types |= {"age": "numeric", "education": "numeric"}
    rows = np.random.default_rng(1).permutation(frame.num_rows)[:people]
    schema = Schema(quasi=QUASI, sensitive=["occupation"], types=types, domains=domains)
    return Table.from_frame(frame.take(pa.array(np.sort(rows))).replace_schema_metadata(None), schema)


def _from(low: int, size: int) -> Mapping[str, int]:
    return {"min": int(low), "max": int(low) + size - 1}


def first_columns(table: Table, many: int) -> Table:
    """Return the table with only its first quasi columns."""
    kept = [column.name for column in table.quasi[:many]]
    return Table.from_frame(table.to_arrow().select([*kept, *table.schema.sensitive]), _schema_for(table, kept))


def _schema_for(table: Table, kept: Sequence[str]) -> Schema:
    schema = table.schema
    domains = {name: domain for name, domain in schema.domains.items() if name in kept}
    types = {name: kind for name, kind in schema.types.items() if name in (*kept, *schema.sensitive)}
    return replace(schema, quasi=tuple(kept), domains=domains, types=types)


def redrawn(table: Table, skew: float, *, seed: int = 1) -> Table:
    """Return the same people with values drawn anew, the k-th with weight k^−skew: uniform for 0, else Zipf."""
    frame, secret = table.to_arrow(), table.schema.sensitive[0]
    names = sorted(set(frame[secret].to_pylist()))
    weight = np.arange(1, len(names) + 1) ** -float(skew)
    values = np.random.default_rng(seed).choice(names, table.rows, p=weight / weight.sum())
    place = frame.column_names.index(secret)
    return Table.from_frame(frame.set_column(place, secret, pa.array(values)), table.schema)


def declared(table: Table) -> Table:
    """Return a table whose domains are all declared: those that are not, as the table has them."""
    schema = table.schema
    domains: dict[str, Any] = dict(schema.domains)
    for column in table.quasi:
        if column.name not in domains:
            values = [value.as_py() for value in column.values]
            whole = all(isinstance(value, int) for value in values)
            domains[column.name] = (
                {"min": min(values), "max": max(values)} if whole and column.kind == "numeric" else list(column.labels())
            )
    domains.setdefault(schema.sensitive[0], list(table.sensitive.labels))
    return Table.from_frame(table.to_arrow(), replace(schema, domains=domains))


@dataclass(frozen=True)
class DeclaredCensus:
    """The bundled census with the domains of 003's Table 10, Occupation as the secret."""

    secrets: Sequence[str] = ("occupation",)
    name: str = "the bundled census"

    def table(self, secret: str, people: int) -> Table:
        """Return so many people."""
        return census_table(people)


@dataclass(frozen=True)
class Insurance:
    """A generated table with the columns and sizes of COIL 2000, and not its links."""

    secrets: Sequence[str] = ("sub_type",)
    name: str = "a generated insurance table"

    def table(self, secret: str, people: int) -> Table:
        """Return so many people."""
        frame = insurance(people, 1)
        quasi = frame.column_names[:-1]
        domains = {column: {"min": 1, "max": int(np.max(frame[column].to_numpy()))} for column in quasi}
        return Table.from_frame(frame, Schema(quasi=quasi, sensitive=[secret], types={secret: "categorical"}, domains=domains))


CENSUS, INSURANCE = DeclaredCensus(), Insurance()
