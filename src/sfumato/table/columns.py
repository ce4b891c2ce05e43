"""What may be said of a frame's columns, as keywords of a verb: the parameters of `Schema`, each with its type."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from sfumato.exact import Number
from sfumato.table.bins import Bins, EqualPeople
from sfumato.table.closed import Closed, ClosedColumns
from sfumato.table.column import Kind
from sfumato.table.declared import DeclaredDomain
from sfumato.table.people_rule import People
from sfumato.table.recode import Recode
from sfumato.table.schema import MissingRule, Protect, Schema
from sfumato.table.weight import Weight


class Roles(TypedDict, total=False):
    """Which columns have which role; a single name stands for a list of it."""

    identifier: str | Sequence[str]
    quasi: str | Sequence[str]
    sensitive: str | Sequence[str]
    other: str | Sequence[str]


class Columns(Roles, total=False):
    """The roles, and the rest of what a `Schema` takes; or a `schema` that says all of it."""

    types: Mapping[str, Kind]
    recode: Mapping[str, Recode | Mapping[str, Any]]
    bins: Mapping[str, Bins | EqualPeople | Mapping[str, Any] | Sequence[Number]]
    domains: Mapping[str, DeclaredDomain | Sequence[Any] | Mapping[str, Any]]
    missing: Mapping[str, MissingRule]
    one_row_per_person: bool
    allow_unique: Sequence[str]
    closed: Closed | ClosedColumns | Mapping[str, Any] | None
    people: People | Mapping[str, Any] | None
    unit: Mapping[str, Any] | None
    weight: Weight | Mapping[str, Any] | str | None
    protect: Protect | None
    by_cell: bool
    budget_key: Sequence[str]
    secrets: Mapping[str, Sequence[str] | str]
    population: int | None
    schema: Schema
