"""The SQL front: `SELECT sex, COUNT(*) WHERE age BETWEEN 30 AND 40 GROUP BY sex`, or only the condition.

The text may come from anybody: it is parsed by sqlglot, limited in length and depth, and translated node by node; whatever is not
listed here is refused by name. Nothing is ever executed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import expressions as sql

from sfumato.errors import QueryError
from sfumato.query.language.predicate import ANYBODY, MAX_DEPTH, And, Between, Condition, In, Like, Missing, Not, Or, Query, Value

MAX_LENGTH = 100_000
"""Characters of SQL that are accepted."""

SUPPORTED = (
    "supported: SELECT [columns,] COUNT(*) [FROM name] [WHERE …] [GROUP BY columns], with =, <>, <, <=, >, >=, BETWEEN, IN, "
    "LIKE, IS NULL, NOT, AND, OR and parentheses, each comparing a column with constants"
)

_CLAUSES = {
    "having": "HAVING", "limit": "LIMIT", "offset": "OFFSET", "order": "ORDER BY", "distinct": "DISTINCT", "joins": "JOIN",
    "laterals": "LATERAL", "windows": "WINDOW", "qualify": "QUALIFY", "with": "WITH", "with_": "WITH", "into": "INTO",
    "sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY", "pivots": "PIVOT", "sample": "SAMPLE",
    "locks": "FOR UPDATE", "match": "MATCH_RECOGNIZE", "prewhere": "PREWHERE", "connect": "CONNECT BY", "settings": "SETTINGS",
    "format": "FORMAT", "options": "OPTION", "hint": "a hint", "top": "TOP", "kind": "SELECT AS",
    "operation_modifiers": "a modifier",
}  # fmt: skip


_ATOM_PARTS = {"this", "expression", "expressions", "low", "high"}
_TABLE_PARTS = {"this", "alias", "db", "catalog"}
_REFUSED = {"INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER", "MERGE", "TRUNCATE"}


def parse_sql(text: str) -> Query:
    """Return the count question that `text` asks; it says what is wrong with any other text."""
    if not isinstance(text, str):
        raise QueryError(f"expected SQL text or a Query, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise QueryError(f"the query has {len(text)} characters; at most {MAX_LENGTH} are read")
    if _depth(text) > MAX_DEPTH:
        raise QueryError(f"the query has more than {MAX_DEPTH} nested parentheses")
    body = text.strip().rstrip(";").strip()
    if not body:
        return Query()
    first = body.split(None, 1)[0].upper()
    if first in ("WHERE", "GROUP"):
        body = "SELECT COUNT(*) " + body
    elif first in _REFUSED:
        raise QueryError(f"only SELECT COUNT(*) is answered, not {first}", hint=SUPPORTED)
    elif first not in ("SELECT", "WITH"):
        body = "SELECT COUNT(*) WHERE " + body
    try:
        return _select(_parse(body), bare=first != "SELECT")
    except RecursionError:
        raise QueryError("the query is nested too deeply to be read") from None


class UnreadableError(QueryError):
    """A text that is no SQL at all. Its message shows where; `brief` says it without a word of the text."""

    brief = "this is not SQL that can be read"


def _depth(text: str) -> int:
    depth = most = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        most = max(most, depth)
    return most


def _parse(text: str) -> sql.Select:
    try:
        statements = sqlglot.parse(text)
    except sqlglot.errors.SqlglotError as error:
        details = getattr(error, "errors", None) or [{}]
        near = str(details[0].get("highlight") or "")[:50]
        place = f" near {near!r}" if near else ""
        raise UnreadableError(f"{UnreadableError.brief}{place}: {text[:200]}", hint=SUPPORTED) from None
    if len(statements) != 1 or statements[0] is None:
        raise QueryError("expected one query, found several separated by ';'", hint="ask one question at a time")
    if not isinstance(statements[0], sql.Select):
        raise QueryError(f"only SELECT COUNT(*) is answered, not {type(statements[0]).__name__.upper()}", hint=SUPPORTED)
    return statements[0]


def _select(select: sql.Select, *, bare: bool) -> Query:
    for key, name in _CLAUSES.items():
        if select.args.get(key):
            raise _unsupported(name)
    source = select.args.get("from") or select.args.get("from_")
    if source is not None and not isinstance(source.this, sql.Table):
        raise _unsupported("a subquery")
    if source is not None and any(value for key, value in source.this.args.items() if key not in _TABLE_PARTS):
        raise _unsupported("FROM with anything but a name")
    where = select.args.get("where")
    condition = ANYBODY if where is None else _condition(where.this, 0)
    group = select.args.get("group")
    if group is not None and any(value for key, value in group.args.items() if key != "expressions"):
        raise _unsupported("GROUP BY with ROLLUP, CUBE, GROUPING SETS or ALL")
    grouped = tuple(_column(node, "GROUP BY") for node in group.expressions) if group is not None else ()
    if len(set(grouped)) < len(grouped):
        raise QueryError("GROUP BY names a column twice")
    if not bare:
        _check_selected(select.expressions, grouped)
    return Query(condition, grouped)


def _check_selected(selected: list[Any], grouped: tuple[str, ...]) -> None:
    names, counts = [], 0
    for node in selected:
        node = node.this if isinstance(node, sql.Alias) else node
        if isinstance(node, sql.Count):
            if not isinstance(node.this, sql.Star) or node.args.get("expressions"):
                raise _unsupported("COUNT of a column or of DISTINCT values")
            counts += 1
        elif isinstance(node, sql.Column) and not isinstance(node.this, sql.Star):
            names.append(node.name)
        else:
            raise _unsupported(_name(node))
    if counts != 1:
        raise QueryError(f"a query selects COUNT(*) once, this one {counts} times", hint=SUPPORTED)
    alone = [name for name in names if name not in grouped]
    if alone:
        raise QueryError(
            f"{', '.join(alone)} is selected beside COUNT(*) but not grouped by", hint=f"add GROUP BY {', '.join(names)}"
        )


def _condition(node: sql.Expression, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise QueryError(f"the condition is nested more than {MAX_DEPTH} deep")
    if isinstance(node, sql.Paren):
        return _condition(node.this, depth + 1)
    if isinstance(node, (sql.And, sql.Or)):
        parts = tuple(_condition(part, depth + 1) for part in _flat(node))
        return And(parts) if isinstance(node, sql.And) else Or(parts)
    if isinstance(node, sql.Not):
        return Not(_condition(node.this, depth + 1))
    if isinstance(node, sql.Boolean):
        return ANYBODY if node.this else Or(())
    translate = _ATOMS.get(type(node))
    if isinstance(node, sql.In) and node.args.get("query"):
        raise _unsupported("IN with a subquery")
    extra = {key for key, value in node.args.items() if value and key not in _ATOM_PARTS}
    if translate is None or extra - {"negate"}:
        raise _unsupported(_name(node) + (f" with {', '.join(sorted(extra)).upper()}" if translate else ""))
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
    if not isinstance(_bare(left), sql.Column) and isinstance(_bare(right), sql.Column):
        left, right, kind = right, left, _MIRROR.get(kind, kind)
    column = _column(left, "a comparison")
    value = _constant(right, column)
    if kind is sql.EQ:
        return In(column, (value,))
    if kind is sql.NEQ:
        return Not(In(column, (value,)))
    if kind in (sql.LT, sql.LTE):
        return Between(column, high=value, strict_high=kind is sql.LT)
    return Between(column, low=value, strict_low=kind is sql.GT)


def _between(node: sql.Between) -> Condition:
    column = _column(node.this, "BETWEEN")
    return Between(column, _constant(node.args["low"], column), _constant(node.args["high"], column))


def _in(node: sql.In) -> Condition:
    column = _column(node.this, "IN")
    return In(column, tuple(_constant(value, column) for value in node.expressions))


def _like(node: sql.Like) -> Condition:
    column = _column(node.this, "LIKE")
    pattern = _constant(node.expression, column)
    if not isinstance(pattern, str):
        raise QueryError(f"{column} LIKE expects a text pattern, got {pattern!r}", hint=f"{column} LIKE 'A%'")
    return Like(column, pattern)


def _is(node: sql.Is) -> Condition:
    if not isinstance(node.expression, sql.Null):
        raise _unsupported("IS with anything but NULL")
    return Missing(_column(node.this, "IS NULL"))


def _bare(node: sql.Expression) -> sql.Expression:
    while isinstance(node, sql.Paren):
        node = node.this
    return node


def _column(node: sql.Expression, where: str) -> str:
    node = _bare(node)
    if isinstance(node, sql.Column) and isinstance(node.this, sql.Identifier):
        return str(node.name)
    if isinstance(node, (sql.Literal, sql.Boolean)):
        raise QueryError(f"{where} needs a column name, found the constant {node.sql()}", hint=SUPPORTED)
    raise _unsupported(f"{_name(node)} in {where}")


def _constant(node: sql.Expression, column: str) -> Value:
    node = _bare(node)
    if isinstance(node, sql.Neg):
        inner = _constant(node.this, column)
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
    raise _unsupported(f"{_name(node)} as a value")


def _number(text: str) -> Value:
    """Return a number as columns hold them: whole in 64 bits, else a float, infinite where it is beyond any column."""
    try:
        number = float(text)
    except ValueError:
        raise QueryError(f"{text[:50]!r} is no number that can be read", hint="write 30, 1.5 or 1e6") from None
    return int(text) if text.isdigit() and number < 2.0**63 else number


def _name(node: sql.Expression) -> str:
    if isinstance(node, (sql.Subquery, sql.Select)):
        return "a subquery"
    if isinstance(node, (sql.Add, sql.Sub, sql.Mul, sql.Div, sql.Mod, sql.Neg)):
        return "arithmetic"
    if isinstance(node, sql.Star):
        return "SELECT *"
    if isinstance(node, sql.Anonymous):
        return f"the function {str(node.this).upper()}"
    return type(node).__name__.upper()


def _unsupported(what: str) -> QueryError:
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
