"""What a draft says of people with several rows: by which column they are known, and whose quasi values are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from sfumato.policy.guess import Looked
from sfumato.policy.profile import Profile
from sfumato.policy.proposal import kind_of
from sfumato.policy.roles import Decision, is_name
from sfumato.policy.vocabulary import BIRTH
from sfumato.table.coding import split
from sfumato.table.people import PersonKey, person_keys, persons
from sfumato.table.people_rule import BAND
from sfumato.table.source import comparable

FEW = 0.9
"""A key that is different in more than this share of rows may repeat by chance: no column is dropped for it."""


def keys_of(looked: Looked, decisions: Sequence[Decision]) -> list[PersonKey]:
    """Return the columns that look like keys of people with several rows: numbers and codes, and no names, which people share.

    A secret by its look alone may be one too: a pseudonym can look like the code of an illness.
    """
    columns = looked.columns
    free = [
        decision.column
        for decision in decisions
        if (decision.role != "sensitive" or decision.looks) and comparable(columns.schema.field(decision.column).type)
    ]
    keys = {
        decision.column
        for decision in decisions
        if (decision.role in ("identifier", "other") or decision.looks) and not is_name(looked.by_name[decision.column])
    }
    return [key for key in person_keys({name: columns[name] for name in free}) if key.column in keys]


def keyed(decision: Decision, keys: Sequence[PersonKey]) -> Decision:
    """Return the decision of a column, an identifier if it is one of these keys."""
    key = next((key for key in keys if key.column == decision.column), None)
    if key is None:
        return decision
    return replace(decision, role="identifier", why=f"{key.rows:,} rows, {key.people:,} different values: {key.why}", sure=False)


def people_of(
    looked: Looked, decisions: Sequence[Decision], keys: Sequence[PersonKey], given: set[str], *, whole: bool
) -> tuple[dict[str, Any], list[Decision]]:
    """Return what `[people]` should say, and the decisions: the likeliest key, and `whole`, everybody with all her rows.

    A quasi column that differs between the rows of somebody is shown by the first of them, by a date or a number of visits;
    without one, numbers by their least, and other columns are not published. Where hardly any row repeats a key, or somebody
    gave such a column its role, nothing is said instead. Rows without a key are left out.
    """
    likeliest = sorted(keys, key=lambda key: looked.by_name[key.column].missing > 0)  # those that every row has come first
    if not likeliest or (not whole and looked.by_name[likeliest[0].column].missing):
        return {}, list(decisions)
    person_key = likeliest[0]
    key = person_key.column
    order = _order(looked, decisions, key)
    if not whole or BAND in looked.by_name:
        return ({"key": key, "keep": f"first by {order}"} if order else {}), list(decisions)
    made = {"key": key, "keep": "all", "alike": "rows"} | ({"without_key": "drop"} if looked.by_name[key].missing else {})
    differ = _differing(looked, decisions, key)
    if order or not differ:
        return made | ({"quasi": f"first by {order}"} if differ else {}), list(decisions)
    if person_key.people > FEW * person_key.rows:
        return {}, list(decisions)
    least = {name: "least" for name in differ if kind_of(looked.by_name[name]) != "categorical"}
    unclear = {name for name in differ if name not in least}
    left = [decision for decision in decisions if decision.role == "quasi" and decision.column not in unclear]
    if unclear & given or not left:
        return {}, list(decisions)
    return made | ({"quasi": least} if least else {}), [
        _unclear(decision) if decision.column in unclear else decision for decision in decisions
    ]


def _order(looked: Looked, decisions: Sequence[Decision], key: str) -> str | None:
    """Return the column by which rows of a person come first: a date, else a number that every row has for itself."""
    free = [looked.by_name[decision.column] for decision in decisions if decision.role != "sensitive" and decision.column != key]
    dates = [column.name for column in free if _is_day(column)]
    numbers = [column.name for column in free if column.kind == "numeric" and column.whole and column.distinct == column.rows]
    return next(iter([*dates, *numbers]), None)


def _is_day(column: Profile) -> bool:
    return column.kind == "date" and not column.missing and not BIRTH.meets(column.words)


def _differing(looked: Looked, decisions: Sequence[Decision], key: str) -> list[str]:
    """Return the quasi columns of which somebody's rows have different values."""
    data = looked.columns.filter(pc.is_valid(looked.columns[key]))
    person = persons(data, (key,))
    some = np.zeros(int(person.max()) + 1, np.int64)
    some[person] = np.arange(len(person))
    columns = []
    for decision in decisions:
        codes = split(data[decision.column])[1] if decision.role == "quasi" else None
        if codes is not None and (codes != codes[some][person]).any():
            columns.append(decision.column)
    return columns


def _unclear(decision: Decision) -> Decision:
    why = f"{decision.why}; but it differs between rows of one person, and nothing says which of them is shown"
    return replace(decision, role="other", why=why, sure=False)
