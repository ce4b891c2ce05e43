"""Columns that stand twice in a table: under one name with a number after it, as programs write a name that they have already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from sfumato.policy.roles import Decision

_NUMBERED = re.compile(r"(.+?)([._ -]?)([1-9][0-9]*)", re.DOTALL)


def doubles(columns: pa.Table) -> dict[str, str]:
    """Return the columns that have another one's name with a number after it, and its value in every row; each with that one.

    >>> doubles(pa.table({"score": [1, 2], "score.1": [1, 2], "score_2": [2, 2]}))
    {'score.1': 'score'}
    """
    return {name: first for name, first in _numbered(columns.column_names).items() if columns[name].equals(columns[first])}


def _numbered(names: Sequence[str]) -> dict[str, str]:
    """Return the names that are another one with a number after it; 2 of `wave 2` may also be the second of what is no column."""
    matches = ((name, _NUMBERED.fullmatch(name)) for name in names)
    return {name: match[1] for name, match in matches if match is not None and match[1] in names}


def with_doubles(decisions: Sequence[Decision], same: Mapping[str, str], given: set[str]) -> list[Decision]:
    """Return the decisions with the reason of columns that stand twice, and a question about those that a program numbered."""
    numbered = _numbered([decision.column for decision in decisions])
    return [
        decision if decision.column in given else _doubled(decision, same.get(decision.column), numbered.get(decision.column))
        for decision in decisions
    ]


def _doubled(decision: Decision, same: str | None, like: str | None) -> Decision:
    if same is not None:
        return replace(decision, role="other", why=f"it is {same!r} again, equal in every row", sure=True, strength=None)
    if like is not None and decision.column.removeprefix(like).startswith("."):
        return replace(
            decision, why=f"{decision.why}; it is called like {like!r} and differs from it: another column?", sure=False
        )
    return decision
