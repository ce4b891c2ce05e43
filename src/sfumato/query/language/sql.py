"""The SQL front: `SELECT sex, COUNT(*) WHERE age BETWEEN 30 AND 40 GROUP BY sex`, `AVG(age) WHERE …`, or only the condition.

The text may come from anybody: it is parsed by sqlglot, limited in length and depth, and translated node by node; whatever is not
listed here is refused by name. Nothing is ever executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sqlglot
from sqlglot import expressions as sql

from sfumato.errors import QueryError, did_you_mean
from sfumato.query.language.predicate import (
    ANYBODY,
    COUNT,
    MAX_DEPTH,
    Aggregate,
    And,
    Between,
    Condition,
    In,
    Like,
    Missing,
    Not,
    Or,
    Order,
    Query,
    Value,
    atoms_of,
)

MAX_LENGTH = 100_000
"""Characters of SQL that are accepted."""

_CLAUSES = {
    "offset": "OFFSET", "distinct": "DISTINCT", "joins": "JOIN",
    "laterals": "LATERAL", "windows": "WINDOW", "qualify": "QUALIFY", "with": "WITH", "with_": "WITH", "into": "INTO",
    "sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY", "pivots": "PIVOT", "sample": "SAMPLE",
    "locks": "FOR UPDATE", "match": "MATCH_RECOGNIZE", "prewhere": "PREWHERE", "connect": "CONNECT BY", "settings": "SETTINGS",
    "format": "FORMAT", "options": "OPTION", "hint": "a hint", "top": "TOP", "kind": "SELECT AS",
    "operation_modifiers": "a modifier",
}  # fmt: skip


AGGREGATES = (
    "COUNT", "SHARE", "AVG", "SUM", "MEDIAN", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE_CONT", "PERCENTILE_DISC",
)  # fmt: skip
"""Functions that a question may ask for. A quantile is always one of the column's numbers."""

_TABLE_PARTS = {"this", "alias", "db", "catalog"}
_FIGURE = re.compile(rf"({'|'.join(AGGREGATES)})\s*\(", re.I)
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
        raise QueryError(f"only SELECT is answered, not {first}", hint=SUPPORTED)
    elif _FIGURE.match(body):
        body, first = "SELECT " + body, "SELECT"
    elif first not in ("SELECT", "WITH"):
        body = "SELECT COUNT(*) WHERE " + body
    try:
        return _select(_parse(body), bare=first != "SELECT")
    except RecursionError:
        raise QueryError("the query is nested too deeply") from None


class UnreadableError(QueryError):
    """A text that is no SQL at all. Its message shows where; `brief` says it without a word of the text."""

    brief = "not valid SQL"


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
        raise QueryError(f"only SELECT is answered, not {type(statements[0]).__name__.upper()}", hint=SUPPORTED)
    return statements[0]


def _select(select: sql.Select, *, bare: bool) -> Query:
    for key, name in _CLAUSES.items():
        if select.args.get(key):
            raise unsupported(name)
    source = select.args.get("from") or select.args.get("from_")
    if source is not None and not isinstance(source.this, sql.Table):
        raise unsupported("a subquery")
    if source is not None and any(value for key, value in source.this.args.items() if key not in _TABLE_PARTS):
        raise unsupported("FROM with anything but a name")
    where = select.args.get("where")
    condition = ANYBODY if where is None else condition_of(where.this, 0)
    group = select.args.get("group")
    if group is not None and any(value for key, value in group.args.items() if key != "expressions"):
        raise unsupported("GROUP BY with ROLLUP, CUBE, GROUPING SETS or ALL")
    group_by = tuple(column_of(node, "GROUP BY") for node in group.expressions) if group is not None else ()
    if len(set(group_by)) < len(group_by):
        raise QueryError("GROUP BY names a column twice")
    selected = (COUNT,) if bare else read_selected(select.expressions, group_by)
    return Query(condition, group_by, "original", selected, *read_arrangement(select, group_by, selected))


_PLAIN = {sql.Avg: "avg", sql.Sum: "sum"}
_MEDIAN: Any = getattr(sql, "Median", ())  # a function like any other to older versions of sqlglot
_PERCENTILE = (sql.PercentileCont, sql.PercentileDisc)
MOST = 20
"""Figures that one question may ask for."""

LARGEST_LIMIT = 10_000


def aggregate_of(node: Any) -> Aggregate | None:
    """Return the figure that a node asks for, None where it is none."""
    if isinstance(node, sql.Count):
        if not isinstance(node.this, sql.Star) or node.args.get("expressions"):
            raise unsupported("COUNT of a column or of DISTINCT values")
        return Aggregate()
    if type(node) in _PLAIN:
        return _of_column(_PLAIN[type(node)], node.this)
    if _MEDIAN and isinstance(node, _MEDIAN):
        return _quantile(node.this, 0.5)
    if isinstance(node, sql.Quantile):
        return _quantile(node.this, node.args.get("quantile"))
    if isinstance(node, sql.WithinGroup) and isinstance(node.this, _PERCENTILE):
        order = node.expression.expressions if isinstance(node.expression, sql.Order) else []
        if len(order) != 1 or order[0].args.get("desc"):
            raise unsupported("WITHIN GROUP with anything but one ascending column")
        return _quantile(order[0].this, node.this.this)
    if isinstance(node, sql.Anonymous):
        name, given = str(node.this).upper(), node.expressions
        if name == "SHARE":
            return _share(given)
        if name == "MEDIAN" and len(given) == 1:
            return _quantile(given[0], 0.5)
        if name in ("QUANTILE_CONT", "QUANTILE_DISC") and len(given) == 2:
            return _quantile(*given)
    return None


def _of_column(kind: Any, node: Any) -> Aggregate:
    column = column_of(node, kind.upper())
    return Aggregate(kind, f"{kind}_{column}", column)


def _quantile(node: Any, part: Any) -> Aggregate:
    column = column_of(node, "a quantile")
    number = part if isinstance(part, float) else None if part is None else constant_of(part, "the part of a quantile")
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number < 1:
        raise QueryError(f"a quantile needs a part between 0 and 1, got {number!r}", hint=f"QUANTILE({column}, 0.25)")
    name = f"median_{column}" if number == 0.5 else f"quantile_{number:g}_{column}"
    return Aggregate("quantile", name, column, part=float(number))


def _share(given: list[Any]) -> Aggregate:
    if len(given) > 1:
        raise QueryError("SHARE takes one condition", hint="join conditions by AND: SHARE(diagnosis = 'Flu' AND age > 60)")
    if not given or isinstance(given[0], sql.Star):
        return Aggregate("share", "share")
    return Aggregate("share", "share", condition=condition_of(given[0]))


def read_selected(selected: list[Any], group_by: tuple[str, ...]) -> tuple[Aggregate, ...]:
    """Return the figures that a question asks for; the other columns it selects have to be grouped by."""
    names: list[str] = []
    figures: list[Aggregate] = []
    for node in selected:
        inner = node.this if isinstance(node, sql.Alias) else node
        figure = aggregate_of(inner)
        if figure is not None:
            figures.append(replace(figure, name=node.alias) if isinstance(node, sql.Alias) else figure)
        elif isinstance(inner, sql.Column) and not isinstance(inner.this, sql.Star):
            names.append(inner.name)
        else:
            raise unsupported(name_of(inner))
    counts = sum(figure.kind == "count" for figure in figures)
    if not figures or counts > 1:
        raise QueryError(f"a query selects COUNT(*) once or another figure, this one {counts} times", hint=SUPPORTED)
    if len(figures) > MOST:
        raise QueryError(f"a question asks for at most {MOST} figures, this one for {len(figures)}")
    alone = [name for name in names if name not in group_by]
    if alone:
        raise QueryError(
            f"{', '.join(alone)} is selected beside a figure but not grouped by", hint=f"add GROUP BY {', '.join(names)}"
        )
    return _named(figures, group_by)


def _named(figures: list[Aggregate], group_by: tuple[str, ...]) -> tuple[Aggregate, ...]:
    """Return the figures with names that all differ."""
    taken, named = set(group_by), []
    for figure in figures:
        name, number = figure.name, 1
        while name in taken:
            number += 1
            name = f"{figure.name}_{number}"
        taken.add(name)
        named.append(replace(figure, name=name))
    return tuple(named)


Arrangement = tuple[Condition | None, tuple[Order, ...], int | None]


def read_arrangement(select: sql.Select, group_by: tuple[str, ...], selected: tuple[Aggregate, ...]) -> Arrangement:
    """Return HAVING, ORDER BY and LIMIT of a question; they speak of what it selects or groups by."""
    having, order, limit = (select.args.get(key) for key in ("having", "order", "limit"))
    for clause, word in ((having, "HAVING"), (order, "ORDER BY"), (limit, "LIMIT")):
        if clause is not None and not group_by:
            raise QueryError(f"{word} needs a GROUP BY: there is one answer only", hint="add GROUP BY, or leave it out")
    known = (*group_by, *(figure.name for figure in selected))

    def name(node: Any, clause: str) -> str:
        figure = aggregate_of(node)
        if figure is not None:
            called = next((other.name for other in selected if replace(other, name=figure.name) == figure), None)
            if called is None:
                raise QueryError(f"{clause} speaks of a figure that is not selected", hint=f"add {node.sql()} to SELECT")
            return called
        if clause == "ORDER BY" and isinstance(node, sql.Literal) and not node.is_string:
            place = int(node.this) if str(node.this).isdigit() else 0
            if not 1 <= place <= len(select.expressions):
                raise QueryError(f"ORDER BY {node.this}: there are {len(select.expressions)} selected columns")
            expression = select.expressions[place - 1]
            return expression.alias if isinstance(expression, sql.Alias) else name(expression, clause)
        own = column_of(node, clause)
        if own not in known:
            raise QueryError(f"{clause}: {own!r} is neither grouped by nor selected", hint=did_you_mean(own, known))
        return own

    condition = None
    if having is not None:
        column = lambda node: sql.column(name(node, "HAVING"), quoted=True) if aggregate_of(node) else node  # noqa: E731
        condition = condition_of(having.this.transform(column))
        for atom in atoms_of(condition):
            name(sql.column(atom.column, quoted=True), "HAVING")
    orders = tuple(
        Order(name(bare(term.this), "ORDER BY"), bool(term.args.get("desc"))) for term in (order.expressions if order else [])
    )
    return condition, orders, None if limit is None else _limit(limit)


def _limit(node: sql.Expression) -> int:
    number = node.expression
    if not isinstance(number, sql.Literal) or number.is_string or not str(number.this).isdigit() or not int(number.this) >= 1:
        raise QueryError("LIMIT needs a whole number from 1 on", hint="LIMIT 10")
    return min(int(number.this), LARGEST_LIMIT)


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
        return Not(In(column, (value,)), unlike=True)
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
        raise QueryError(f"{text[:50]!r} is not a valid number", hint="write 30, 1.5 or 1e6") from None
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
    **dict.fromkeys((sql.EQ, sql.NEQ, sql.LT, sql.LTE, sql.GT, sql.GTE), _comparison),
    sql.Between: _between,
    sql.In: _in,
    sql.Like: _like,
    sql.Is: _is,
}
