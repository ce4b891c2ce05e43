"""The figures of a SELECT, and how HAVING, ORDER BY and LIMIT arrange its cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import expressions as sql

from sfumato.errors import QueryError, did_you_mean
from sfumato.query.language.conditions import SUPPORTED, bare, column_of, condition_of, constant_of, name_of, unsupported
from sfumato.query.language.predicate import Aggregate, Condition, Order, atoms_of

AGGREGATES = (
    "COUNT", "SHARE", "AVG", "SUM", "MEDIAN", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "PERCENTILE_CONT", "PERCENTILE_DISC",
)  # fmt: skip
"""Functions that a question may ask for. A quantile is always one of the column's numbers."""

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
        raise QueryError("SHARE has one condition", hint="join conditions by AND: SHARE(diagnosis = 'Flu' AND age > 60)")
    if not given or isinstance(given[0], sql.Star):
        return Aggregate("share", "share")
    return Aggregate("share", "share", condition=condition_of(given[0]))


def read_selected(selected: list[Any], grouped: tuple[str, ...]) -> tuple[Aggregate, ...]:
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
    alone = [name for name in names if name not in grouped]
    if alone:
        raise QueryError(
            f"{', '.join(alone)} is selected beside a figure but not grouped by", hint=f"add GROUP BY {', '.join(names)}"
        )
    return _named(figures, grouped)


def _named(figures: list[Aggregate], grouped: tuple[str, ...]) -> tuple[Aggregate, ...]:
    """Return the figures with names that all differ."""
    taken, named = set(grouped), []
    for figure in figures:
        name, number = figure.name, 1
        while name in taken:
            number += 1
            name = f"{figure.name}_{number}"
        taken.add(name)
        named.append(replace(figure, name=name))
    return tuple(named)


Arrangement = tuple[Condition | None, tuple[Order, ...], int | None]


def read_arrangement(select: sql.Select, grouped: tuple[str, ...], selected: tuple[Aggregate, ...]) -> Arrangement:
    """Return HAVING, ORDER BY and LIMIT of a question; they speak of what it selects or groups by."""
    having, order, limit = (select.args.get(key) for key in ("having", "order", "limit"))
    for clause, word in ((having, "HAVING"), (order, "ORDER BY"), (limit, "LIMIT")):
        if clause is not None and not grouped:
            raise QueryError(f"{word} needs a GROUP BY: there is one answer only", hint="add GROUP BY, or leave it out")
    known = (*grouped, *(figure.name for figure in selected))

    def name(node: Any, clause: str) -> str:
        figure = aggregate_of(node)
        if figure is not None:
            found = next((one.name for one in selected if replace(one, name=figure.name) == figure), None)
            if found is None:
                raise QueryError(f"{clause} speaks of a figure that is not selected", hint=f"add {node.sql()} to SELECT")
            return found
        if clause == "ORDER BY" and isinstance(node, sql.Literal) and not node.is_string:
            place = int(node.this) if str(node.this).isdigit() else 0
            if not 1 <= place <= len(select.expressions):
                raise QueryError(f"ORDER BY {node.this}: there are {len(select.expressions)} selected columns")
            one = select.expressions[place - 1]
            return one.alias if isinstance(one, sql.Alias) else name(one, clause)
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
        Order(name(bare(one.this), "ORDER BY"), bool(one.args.get("desc"))) for one in (order.expressions if order else [])
    )
    return condition, orders, None if limit is None else _limit(limit)


def _limit(node: sql.Expression) -> int:
    number = node.expression
    if not isinstance(number, sql.Literal) or number.is_string or not str(number.this).isdigit() or not int(number.this) >= 1:
        raise QueryError("LIMIT needs a whole number from 1 on", hint="LIMIT 10")
    return min(int(number.this), LARGEST_LIMIT)
