"""Conditions of SQL, from sqlglot's nodes to ours; whatever is not listed here is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import expressions as sql

from sfumato.errors import QueryError
from sfumato.query.language.predicate import ANYBODY, MAX_DEPTH, And, Between, Condition, In, Like, Missing, Not, Or, Value

SUPPORTED = (
    "supported: SELECT [columns,] COUNT(*), SHARE(condition), AVG, SUM, MEDIAN(column) or QUANTILE(column, part) [FROM name] "
    "[WHERE …] [GROUP BY columns [HAVING …] [ORDER BY …] [LIMIT n]], with =, <>, <, <=, >, >=, BETWEEN, IN, "
    "LIKE, IS NULL, NOT, AND, OR and parentheses, each comparing a column with constants"
)

_ATOM_PARTS = {"this", "expression", "expressions", "low", "high"}


def condition_of(node: sql.Expression, depth: int = 0) -> Condition:
    """Return the condition that a node states."""
    if depth > MAX_DEPTH:
        raise QueryError(f"the condition is nested more than {MAX_DEPTH} deep")
    if isinstance(node, sql.Paren):
        return condition_of(node.this, depth + 1)
    if isinstance(node, (sql.And, sql.Or)):
        parts = tuple(condition_of(part, depth + 1) for part in _flat(node))
        return And(parts) if isinstance(node, sql.And) else Or(parts)
    if isinstance(node, sql.Not):
        return Not(condition_of(node.this, depth + 1))
    if isinstance(node, sql.Boolean):
        return ANYBODY if node.this else Or(())
    translate = _ATOMS.get(type(node))
    if isinstance(node, sql.In) and node.args.get("query"):
        raise unsupported("IN with a subquery")
    extra = {key for key, value in node.args.items() if value and key not in _ATOM_PARTS}
    if translate is None or extra - {"negate"}:
        raise unsupported(name_of(node) + (f" with {', '.join(sorted(extra)).upper()}" if translate else ""))
    return Not(translate(node)) if extra else translate(node)


def _flat(node: sql.And | sql.Or) -> list[sql.Expression]:
    """Return the parts of a chain such as a OR b OR c, which the parser nests to the left, without recursion."""
    parts: list[sql.Expression] = []
    current: sql.Expression = node
    while type(current) is type(node):
        parts.append(current.expression)
        current = current.this
    return [current, *reversed(parts)]


def _comparison(node: sql.Binary) -> Condition:
    left, right, kind = node.this, node.expression, type(node)
    if not isinstance(bare(left), sql.Column) and isinstance(bare(right), sql.Column):
        left, right, kind = right, left, _MIRROR.get(kind, kind)
    column = column_of(left, "a comparison")
    value = constant_of(right, column)
    if kind is sql.EQ:
        return In(column, (value,))
    if kind is sql.NEQ:
        return Not(In(column, (value,)))
    if kind in (sql.LT, sql.LTE):
        return Between(column, high=value, strict_high=kind is sql.LT)
    return Between(column, low=value, strict_low=kind is sql.GT)


def _between(node: sql.Between) -> Condition:
    column = column_of(node.this, "BETWEEN")
    return Between(column, constant_of(node.args["low"], column), constant_of(node.args["high"], column))


def _in(node: sql.In) -> Condition:
    column = column_of(node.this, "IN")
    return In(column, tuple(constant_of(value, column) for value in node.expressions))


def _like(node: sql.Like) -> Condition:
    column = column_of(node.this, "LIKE")
    pattern = constant_of(node.expression, column)
    if not isinstance(pattern, str):
        raise QueryError(f"{column} LIKE expects a text pattern, got {pattern!r}", hint=f"{column} LIKE 'A%'")
    return Like(column, pattern)


def _is(node: sql.Is) -> Condition:
    if not isinstance(node.expression, sql.Null):
        raise unsupported("IS with anything but NULL")
    return Missing(column_of(node.this, "IS NULL"))


def bare(node: sql.Expression) -> sql.Expression:
    """Return what stands inside parentheses."""
    while isinstance(node, sql.Paren):
        node = node.this
    return node


def column_of(node: sql.Expression, where: str) -> str:
    """Return the name of the column that a node is."""
    node = bare(node)
    if isinstance(node, sql.Column) and isinstance(node.this, sql.Identifier):
        return str(node.name)
    if isinstance(node, (sql.Literal, sql.Boolean)):
        raise QueryError(f"{where} needs a column name, found the constant {node.sql()}", hint=SUPPORTED)
    raise unsupported(f"{name_of(node)} in {where}")


def constant_of(node: sql.Expression, column: str) -> Value:
    """Return the constant that a node is; `column` is what it is compared with."""
    node = bare(node)
    if isinstance(node, sql.Neg):
        inner = constant_of(node.this, column)
        if isinstance(inner, (int, float)) and not isinstance(inner, bool):
            return -inner
    elif isinstance(node, sql.Literal):
        return str(node.this) if node.is_string else _number(str(node.this))
    elif isinstance(node, sql.Boolean):
        return bool(node.this)
    elif isinstance(node, sql.Null):
        raise QueryError(f"comparing {column!r} with NULL is never true", hint=f"write {column} IS NULL or {column} IS NOT NULL")
    elif isinstance(node, sql.Cast) and node.to.is_type("date", "timestamp") and isinstance(node.this, sql.Literal):
        return str(node.this.this)
    elif isinstance(node, sql.Column):
        name = node.sql()
        raise QueryError(
            f"{column!r} is compared with the column {name}; only constants can be compared",
            hint=f"text goes in single quotes: '{node.name}'",
        )
    raise unsupported(f"{name_of(node)} as a value")


def _number(text: str) -> Value:
    """Return a number as columns hold them: whole in 64 bits, else a float, infinite where it is beyond any column."""
    try:
        number = float(text)
    except ValueError:
        raise QueryError(f"{text[:50]!r} is no number that can be read", hint="write 30, 1.5 or 1e6") from None
    return int(text) if text.isdigit() and number < 2.0**63 else number


def name_of(node: sql.Expression) -> str:
    """Return what a node is called in messages."""
    if isinstance(node, (sql.Subquery, sql.Select)):
        return "a subquery"
    if isinstance(node, (sql.Add, sql.Sub, sql.Mul, sql.Div, sql.Mod, sql.Neg)):
        return "arithmetic"
    if isinstance(node, sql.Star):
        return "SELECT *"
    if isinstance(node, sql.Anonymous):
        return f"the function {str(node.this).upper()}"
    return type(node).__name__.upper()


def unsupported(what: str) -> QueryError:
    """Return the error about something that is not answered."""
    return QueryError(f"{what} is not supported in count questions", hint=SUPPORTED)


_MIRROR: dict[type, type] = {sql.LT: sql.GT, sql.LTE: sql.GTE, sql.GT: sql.LT, sql.GTE: sql.LTE}
_ATOMS: dict[type, Callable[[Any], Condition]] = {
    sql.EQ: _comparison,
    sql.NEQ: _comparison,
    sql.LT: _comparison,
    sql.LTE: _comparison,
    sql.GT: _comparison,
    sql.GTE: _comparison,
    sql.Between: _between,
    sql.In: _in,
    sql.Like: _like,
    sql.Is: _is,
}
