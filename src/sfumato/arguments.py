"""The arguments of the Python verbs, checked: a table or a frame, the roles of its columns, and the requirement."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from sfumato.errors import PolicyError, did_you_mean
from sfumato.methods import Method
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import Randomness
from sfumato.table.columns import Columns, Roles
from sfumato.table.frames import column_names
from sfumato.table.schema import Role, Schema
from sfumato.table.table import Table

if TYPE_CHECKING:
    from sfumato.policy import Policy

ROLES: tuple[str, ...] = get_args(Role)
KINDS = 'such as LDiversity(5) or FPrivacy(theta=8, offset="0.02"), or a Policy'
_Verb = TypeVar("_Verb", bound=Callable[..., Any])
_Said = TypeVar("_Said", Columns, Roles)


def by_name(verb: _Verb) -> _Verb:
    """Give the verb a signature that lists every keyword by name, for `help`, notebooks, and `said`."""
    stated = inspect.signature(verb)
    *own, rest = stated.parameters.values()
    kind: Any = Roles if "Roles" in str(rest.annotation) else Columns
    named = [
        inspect.Parameter(name, rest.KEYWORD_ONLY, default=None, annotation=kind.__annotations__[name])
        for name in kind.__annotations__
    ]
    verb.__signature__ = stated.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    return verb


def said(verb: Callable[..., Any], given: _Said) -> _Said:
    """Return the keywords about columns that were given (None counts as not given); an unknown keyword is refused."""
    known = inspect.signature(verb).parameters
    for name in given:
        if name not in known:
            raise PolicyError(f"{verb.__name__}({name}=…): unknown parameter", hint=did_you_mean(name, known))
    return cast(_Said, {name: value for name, value in given.items() if value is not None})


def understood(
    table: Any,
    requirement: Requirement | Policy,
    columns: Columns,
    method: Method | None,
    *,
    publishing: bool,
    coins: Randomness | int | None = None,
) -> tuple[Table, Requirement, Method | None]:
    """Return the table, a frame read as the method needs it, the requirement, and the method that a policy names."""
    from sfumato.policy import Policy

    if not isinstance(requirement, Policy):
        require_kind(requirement, Requirement, "requirement", KINDS)
        return _table(table, columns, method, coins), requirement, None
    require_publishable(requirement, columns, publishing=publishing)
    if isinstance(table, Table):
        return table, requirement.requirement, requirement.method
    chosen = requirement.coins if coins is None else coins
    people = Table.from_frame(table, closed(requirement.schema, method), random=chosen)
    return people, requirement.requirement, requirement.method


def require_publishable(policy: Policy, columns: Columns, *, publishing: bool = True) -> None:
    """Raise unless the policy alone says what the columns are, and somebody has reviewed it."""
    if columns:
        raise PolicyError(f"{next(iter(columns))}: the policy says what the columns are", hint="leave it out, or edit the policy")
    if publishing and not policy.reviewed:
        raise PolicyError(
            "an unreviewed draft is not published",
            hint="look at every role in policy.text, then draft(…, reviewed=True), or reviewed = true in the policy",
        )


def closed(schema: Schema, method: object) -> Schema:
    """Return the schema with which a table is read for a method, where one is given."""
    return method.close(schema) if isinstance(method, Method) else schema


def _table(table: Any, columns: Columns, method: Method | None, coins: Randomness | int | None) -> Table:
    """Return the table, or that of a frame whose columns are named; coins choose among equally early rows of one person."""
    if isinstance(table, Table):
        if columns:
            raise PolicyError(f"{next(iter(columns))}: the table has its own schema", hint="leave it out, or give a data frame")
        return table
    if not columns:
        expected = "Table.read(path, schema), Table.from_frame(frame, schema), or a frame with quasi=[…] and sensitive=…"
        require_kind(table, Table, "table", expected)
    return Table.from_frame(table, closed(schema_of(columns, table), method), random=coins)


def schema_of(columns: Columns, frame: Any = None) -> Schema:
    """Return the schema given, or that of these columns; those of a frame that are not named are neither published nor read."""
    given: dict[str, Any] = {name: listed(value) if name in ROLES else value for name, value in columns.items()}
    if "schema" in given:
        require_kind(given["schema"], Schema, "schema", "a Schema")
        if len(given) > 1:
            raise PolicyError(f"{next(name for name in given if name != 'schema')}: already in the schema", hint="leave it out")
        schema: Schema = given["schema"]
        return schema
    if frame is not None and "other" not in given:
        named = {name for role in ROLES for name in given.get(role, ())} | _weight_column(given.get("weight"))
        given["other"] = [name for name in column_names(frame) if name not in named]
    return Schema(**given)


def _weight_column(given: Any) -> set[str]:
    """Return the column that a weight names, in whichever way it is given."""
    column = given.get("column") if isinstance(given, Mapping) else getattr(given, "column", given)
    return {column} if isinstance(column, str) else set()


def listed(names: Any) -> Any:
    """Return names as a list; a single one stands for a list of it."""
    return [names] if isinstance(names, str) else names


def require_kind(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raise unless the value is of the kind, saying what is expected."""
    if not isinstance(value, kind):
        raise PolicyError(f"{name}: got a {type(value).__name__}", hint=f"expected {expected}")
