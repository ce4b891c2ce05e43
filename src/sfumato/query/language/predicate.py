"""Conditions on columns, and the count question made of them. They name columns and values; nothing is looked up here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Literal, get_args

from sfumato.errors import QueryError

Value = str | int | float | bool | date | Decimal
"""A value a condition may name. A date may also be written as ISO text."""

MAX_DEPTH = 200
"""Conditions nested more deeply than this are refused: nobody writes them by hand."""


@dataclass(frozen=True)
class In:
    """The column has one of these values."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Between:
    """The column lies between `low` and `high`; None leaves that side open, `strict_…` leaves the end itself out."""

    column: str
    low: Value | None = None
    high: Value | None = None
    strict_low: bool = False
    strict_high: bool = False


@dataclass(frozen=True)
class Like:
    """The column's text fits an SQL pattern: % for any text, _ for one character, case as written."""

    column: str
    pattern: str


@dataclass(frozen=True)
class Missing:
    """The column has no value (IS NULL)."""

    column: str


@dataclass(frozen=True)
class And:
    """All parts hold; of no parts: always true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """Some part holds; of no parts: never true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The part is false. As in SQL, a comparison with a missing value is neither true nor false, and so is its negation.

    `unlike` says that it was written as `column <> value`, which of a person with several values may mean two things.
    """

    part: Condition
    unlike: bool = field(default=False, compare=False, repr=False)


Atom = In | Between | Like | Missing
Condition = In | Between | Like | Missing | And | Or | Not

TermsOf = Literal["original", "published"]
"""What the values in a condition speak of, where a column was recoded."""

ANYBODY = And(())
"""The condition that everybody meets."""


FigureKind = Literal["count", "share", "sum", "avg", "quantile"]
"""What is asked of the people who meet a condition."""


@dataclass(frozen=True)
class Aggregate:
    """One figure of the people who meet a condition, under the name that it has in answers.

    `count`: how many they are. `share`: what part of them meets `condition` too; without one, what part of all who meet the
    question's condition a cell of its GROUP BY is. `sum`, `avg`, `quantile`: of the numbers in `column`; `part` is .5 for the
    median.
    """

    kind: FigureKind = "count"
    name: str = "count"
    column: str = ""
    condition: Condition | None = None
    part: float = 0.5


COUNT = Aggregate()


@dataclass(frozen=True)
class Order:
    """How cells are sorted: by a grouped column or a figure, by name."""

    name: str
    descending: bool = False


@dataclass(frozen=True)
class Query:
    """How many people meet a condition, in all or for each combination of the `group_by` columns; or other figures of them.

    `having` keeps the cells whose grouped columns and figures, by name, meet a condition; figures are compared by their
    estimates. Cells are then sorted by `order_by`, and the first `limit` kept.

    `terms="original"`: in a recoded column a value means what it meant before, `age = 37` people of 37 (see
    `sfumato.query.language.meaning`). `terms="published"`: the published value itself, `age = 35` the band that is published as
    35. `weighted`: everybody counts by the weight that the release declares, and figures are those of the population.
    """

    condition: Condition = ANYBODY
    group_by: tuple[str, ...] = ()
    terms: TermsOf = "original"
    select: tuple[Aggregate, ...] = (COUNT,)
    having: Condition | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    weighted: bool = False

    def __post_init__(self) -> None:
        if self.terms not in get_args(TermsOf):
            raise QueryError(f"terms: expected 'original' or 'published', got {self.terms!r}")

    @classmethod
    def where(
        cls,
        conditions: Mapping[str, Any] | None = None,
        /,
        *,
        group_by: Iterable[str] = (),
        terms: TermsOf = "original",
        **columns: Any,
    ) -> Query:
        """Return the question for people who meet all of the given conditions, one per column.

        A tuple of two is an inclusive range (None leaves a side open), a set or list names values, a single value means
        equality, None means missing: ``Query.where(age=(30, 40), diagnosis={"Flu", "Asthma"}, group_by=["sex"])``. Columns
        whose names are not Python words, or are one of the options here, go into the mapping.
        """
        if isinstance(group_by, str):
            group_by = [group_by]
        parts = [_condition(column, wanted) for column, wanted in {**(conditions or {}), **columns}.items()]
        return cls(parts[0] if len(parts) == 1 else And(tuple(parts)), tuple(group_by), terms)


def _condition(column: str, wanted: Any) -> Condition:
    if wanted is None:
        return Missing(column)
    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise QueryError(
                f"{column}: a tuple is a range and has two ends, got {len(wanted)} entries",
                hint="write a list or a set to name single values",
            )
        low, high = (None if end is None else _value(column, end) for end in wanted)
        return Between(column, low, high)
    if isinstance(wanted, Collection) and not isinstance(wanted, (str, bytes, Mapping)):
        named = tuple(_value(column, value) for value in wanted if value is not None)
        condition: Condition = In(column, named)
        return condition if all(value is not None for value in wanted) else Or((condition, Missing(column)))
    return In(column, (_value(column, wanted),))


def _value(column: str, value: Any) -> Value:
    if hasattr(value, "item") and not isinstance(value, (str, date)):
        value = value.item()  # a NumPy scalar
    if isinstance(value, (str, int, float, bool, date, Decimal)):
        return value
    raise QueryError(
        f"{column}: cannot compare with {type(value).__name__}", hint="use text, numbers, dates, None, or a list or range of them"
    )


def constants_of(atom: Atom) -> list[Value]:
    """Return the values that a condition on one column compares with."""
    if isinstance(atom, In):
        return list(atom.values)
    return [end for end in (atom.low, atom.high) if end is not None] if isinstance(atom, Between) else []


def atoms_of(condition: Condition) -> list[Atom]:
    """Return the conditions on single columns that a condition is made of, in order of appearance."""
    atoms: list[Atom] = []
    stack: list[Condition] = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, (And, Or)):
            stack.extend(reversed(node.parts))
        elif isinstance(node, Not):
            stack.append(node.part)
        else:
            atoms.append(node)
    return atoms
