"""Count questions that somebody might ask, and some that nobody would."""

from __future__ import annotations

import random
from collections.abc import Sequence

_LITERALS = (
    "0", "1", "2", "3", "4.5", "25", "30.5", "-1", "1e3", "1e", "1e999", "-0", "9" * 30, "0x10", "NULL", "TRUE", "''", "'f'",
    "'m'", "'flu'", "'HIV'", "'it''s'", "'10'", "'1010'", "'1960-01-01'", "DATE '1960-01-01'", "'1960'", "'(missing)'", "'%'",
    "1/0", "age", "'\u00e9'", "CAST('1' AS INT)", "(SELECT 1)", "1 + 1", "?", ":x", "'nan'", "'inf'",
)  # fmt: skip
_USUAL = {
    "sex": ("'f'", "'m'", "'x'"),
    "town": ("'1010'", "'1020'", "'10'", "'8'", "'8020'"),
    "born": ("'1960-01-01'", "'1971-06-30'", "DATE '1950-12-31'", "'1985-01-01'"),
    "value": ("'flu'", "'HIV'", "'none'", "'gout'", "'v0'", "'v3'"),
    "smokes": ("'yes'", "'no'"),
}
_ODD = (
    "SELECT *", "SELECT COUNT(*) FROM a JOIN b", "DROP TABLE x", "WITH x AS (SELECT 1) SELECT COUNT(*)", "SELECT SUM(age)", ";",
    "SELECT COUNT(*) GROUP BY 1", "SELECT COUNT(DISTINCT age)", "SELECT COUNT(*) LIMIT 1", "SELECT COUNT(*) WHERE", "()", "'",
    "/*", "--", "SELECT COUNT(*) UNION SELECT COUNT(*)", "GROUP BY", "age", "NOT", "1",
    "SELECT age, age, COUNT(*) GROUP BY age, age", "AVG(age)", "SHARE(", "SHARE(age)", "QUANTILE(age, 1e999)",
    "SELECT SHARE(age > 3 OR value = 'flu') WHERE NOT age = 3", "MEDIAN(value) WHERE age IS NULL",
    "SELECT age, SUM(age) GROUP BY age HAVING SUM(age) > 'x' ORDER BY 2 LIMIT 3",
)  # fmt: skip


def question(coins: random.Random, columns: Sequence[str]) -> str:
    """Return SQL text about these columns; mostly a question that has an answer."""
    if coins.random() < 0.03:
        return coins.choice(_ODD)
    grouped = coins.sample(list(columns), coins.choice([1, 1, 2])) if coins.random() < 0.2 and len(columns) > 1 else []
    head = ", ".join([*map(_name, grouped), "COUNT(*)"])
    where = f" WHERE {_condition(coins, columns, coins.choice([0, 1, 1, 2, 3]))}" if coins.random() < 0.95 else ""
    return f"SELECT {head} FROM people{where}" + (f" GROUP BY {', '.join(map(_name, grouped))}" if grouped else "")


def _name(column: str) -> str:
    return column if column.isidentifier() else '"' + column.replace('"', '""') + '"'


def _condition(coins: random.Random, columns: Sequence[str], depth: int) -> str:
    if depth:
        many = coins.choice([2, 2, 2, 3, 12])
        parts = [_condition(coins, columns, depth - 1) for _ in range(many)]
        joined = f" {coins.choice(['AND', 'OR'])} ".join(parts)
        return f"NOT ({joined})" if coins.random() < 0.2 else f"({joined})"
    plain = coins.choice(list(columns)) if coins.random() < 0.99 else "nobody"
    column = _name(plain)
    one, two = _literal(coins, plain), _literal(coins, plain)
    return coins.choice(
        [
            f"{column} {coins.choice(['=', '<>'] if plain in _USUAL else ['=', '<>', '<', '<=', '>', '>='])} {one}",
            f"{column} BETWEEN {one} AND {two}",
            f"{column} IN ({', '.join(_literal(coins, plain) for _ in range(coins.choice([1, 3, 8])))})",
            f"{column} NOT IN ({one})",
            f"{column} LIKE {coins.choice(['%', 'f%', '%o%', '__10', '', '%%%%%%%%a'])!r}",
            f"{column} IS {coins.choice(['', 'NOT '])}NULL",
            f"{one} = {column}",
        ]
    )


def _literal(coins: random.Random, column: str) -> str:
    """Return a constant; mostly one that the column might be compared with."""
    if coins.random() < 0.12:
        return coins.choice(_LITERALS)
    return coins.choice(_USUAL[column]) if column in _USUAL else str(coins.randrange(15, 75))
