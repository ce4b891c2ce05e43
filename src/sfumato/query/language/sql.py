"""The SQL front: `SELECT sex, COUNT(*) WHERE age BETWEEN 30 AND 40 GROUP BY sex`, `AVG(age) WHERE …`, or only the condition.

The text may come from anybody: it is parsed by sqlglot, limited in length and depth, and translated node by node; whatever is not
listed here is refused by name. Nothing is ever executed.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import expressions as sql

from sfumato.errors import QueryError
from sfumato.query.language.aggregates import AGGREGATES, read_arrangement, read_selected
from sfumato.query.language.conditions import SUPPORTED, column_of, condition_of, unsupported
from sfumato.query.language.predicate import ANYBODY, COUNT, MAX_DEPTH, Query

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
    grouped = tuple(column_of(node, "GROUP BY") for node in group.expressions) if group is not None else ()
    if len(set(grouped)) < len(grouped):
        raise QueryError("GROUP BY names a column twice")
    selected = (COUNT,) if bare else read_selected(select.expressions, grouped)
    return Query(condition, grouped, "original", selected, *read_arrangement(select, grouped, selected))
