"""Lies: what the rows of a release could say instead, in files that are as well-formed as any."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz.drafts import Draft
from tests.fuzz.files import Row
from tests.fuzz.noise import FLOATS, NUMBERS, TEXTS


def tell_lies(coins: random.Random, draft: Draft) -> None:
    """Change rows of the tables; mostly the manifest is brought into agreement with them."""
    for _ in range(coins.choice([1, 1, 1, 2, 5])):
        coins.choice(ROW_LIES)(coins, draft)
    if coins.random() < 0.9:
        draft.keep_books()


def _rows(coins: random.Random, draft: Draft) -> list[Row]:
    return draft.tables[coins.choice(list(draft.tables))]


def _another_value(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    column = coins.choice(list(rows[0]))
    coins.choice(rows)[column] = coins.choice(rows)[column]


def _odd_value(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    row = coins.choice(rows)
    column = coins.choice(list(row))
    old = row[column]
    choices: dict[type, Any] = {int: NUMBERS, float: FLOATS, str: TEXTS, bool: (True, False)}
    row[column] = coins.choice([None, *choices.get(type(old), (old,))])


def _exchanged(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    column = coins.choice(list(rows[0]))
    one, two = coins.choice(rows), coins.choice(rows)
    one[column], two[column] = two[column], one[column]


def _shuffled(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    column = coins.choice(list(rows[0]))
    values = [row[column] for row in rows]
    coins.shuffle(values)
    for row, value in zip(rows, values, strict=True):
        row[column] = value


def _lost(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    if len(rows) > 1:
        rows.pop(coins.randrange(len(rows)))


def _invented(coins: random.Random, draft: Draft) -> None:
    rows = _rows(coins, draft)
    rows.append(dict(coins.choice(rows)))


def _counted_otherwise(coins: random.Random, draft: Draft) -> None:
    """Move people from one entry to another, of the same group or of any, or invent some."""
    if not draft.counted:
        return _exchanged(coins, draft)
    rows = draft.tables[coins.choice(draft.counted)]
    one = coins.choice(rows)
    same = [row for row in rows if row[draft.number] == one[draft.number]]
    two = coins.choice(same if coins.random() < 0.7 else rows)
    if coins.random() < 0.1:
        one["count"] = coins.choice(NUMBERS)
        return None
    many = coins.randint(1, one["count"]) if one["count"] > 0 else 0
    one["count"] -= many
    two["count"] += many
    return None


def _said_of_all(coins: random.Random, draft: Draft) -> None:
    """Give one group a single value of some column."""
    rows = _rows(coins, draft)
    group = coins.choice(rows)[draft.number]
    column = coins.choice(list(rows[0]))
    mine = [row for row in rows if row[draft.number] == group]
    value = coins.choice(mine)[column]
    if column not in (draft.number, "count"):
        for row in mine:
            row[column] = value


def _merged(coins: random.Random, draft: Draft) -> None:
    one, two = _two_groups(coins, draft)
    for rows in draft.tables.values():
        for row in rows:
            if row[draft.number] == one:
                row[draft.number] = two


def _split(coins: random.Random, draft: Draft) -> None:
    """Take some people out of a group into a new one, with as many of its values."""
    one, _ = _two_groups(coins, draft)
    fresh = max(row[draft.number] for rows in draft.tables.values() for row in rows) + 1
    for rows in draft.tables.values():
        mine = [row for row in rows if row[draft.number] == one]
        for row in coins.sample(mine, max(1, len(mine) // 2)) if len(mine) > 1 else []:
            row[draft.number] = fresh


def _met(coins: random.Random, draft: Draft) -> None:
    """Exchange two people, or two values, of different groups."""
    rows = _rows(coins, draft)
    one, two = coins.choice(rows), coins.choice(rows)
    one[draft.number], two[draft.number] = two[draft.number], one[draft.number]


def _renamed(coins: random.Random, draft: Draft) -> None:
    """Call one value by the name of another, everywhere."""
    column = coins.choice([one["name"] for one in draft.manifest["schema"]["sensitive"]])
    rows = [row for rows in draft.tables.values() for row in rows if column in row]
    old, new = coins.choice(rows)[column], coins.choice(rows)[column]
    for row in rows:
        row[column] = new if row[column] == old else row[column]


def _two_groups(coins: random.Random, draft: Draft) -> tuple[Any, Any]:
    rows = _rows(coins, draft)
    return coins.choice(rows)[draft.number], coins.choice(rows)[draft.number]


ROW_LIES = [
    _another_value,
    _odd_value,
    _exchanged,
    _shuffled,
    _lost,
    _invented,
    _counted_otherwise,
    _counted_otherwise,
    _said_of_all,
    _merged,
    _split,
    _met,
    _renamed,
]
