"""Lies: what the rows and the manifest of a release could say instead, in files that are as well-formed as any."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from tests.fuzz.drafts import Draft, half
from tests.fuzz.noise import FLOATS, NUMBERS, TEXTS, mutate_json
from tests.fuzz.truth import Row

AGAINST = ("reader", "engineer", "insider")
LOCALITIES = ("none", "safe", "tight", "near", "annealed")


def tell_lies(coins: random.Random, draft: Draft) -> None:
    """Change rows of the tables; mostly the manifest is brought into agreement with them."""
    for _ in range(coins.choice([1, 1, 1, 2, 5])):
        coins.choice(ROW_LIES)(coins, draft)
    if coins.random() < 0.9:
        draft.keep_books()


def claim_more(coins: random.Random, draft: Draft) -> None:
    """Change what is claimed, required or said about the method; mostly in agreement with the rest."""
    lies = [*CLAIM_LIES, *(PART_LIES * 3 if draft.manifest["form"] == "randomized" else [])]
    for _ in range(coins.choice([1, 1, 2])):
        coins.choice(lies)(coins, draft)
    draft.claim_anew()
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
    rows = draft.tables.get("st")
    if rows is None:
        return _exchanged(coins, draft)
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


def _stricter(coins: random.Random, draft: Draft) -> None:
    """Promise more than was kept, or less."""
    asked = draft.manifest["requirement"]
    inner = asked["beta"] if isinstance(asked.get("beta"), dict) else asked
    key = coins.choice([key for key in inner if key not in ("model", "against", "enhanced", "bounds")] or ["l"])
    if key == "l":
        inner["l"] = coins.choice([1, 2, 3, 4, 10, 10**9])
    elif isinstance(inner.get(key), str):
        inner[key] = coins.choice(
            [
                half(inner[key]),
                str(Fraction(inner[key]) * 2),
                "0",
                "1",
                "1/2",
                "2",
                str(Fraction(inner[key]) - Fraction(1, 10**30)),
            ]
        )


def _own_bound(coins: random.Random, draft: Draft) -> None:
    asked = draft.manifest["requirement"]
    if asked["model"] == "f-privacy":
        asked["bounds"] = {coins.choice(["HIV", "flu", "none", "nobody"]): coins.choice(["0", "1/100", "1/3", "1", "2"])}


def _other_adversary(coins: random.Random, draft: Draft) -> None:
    draft.manifest["requirement"]["against"] = coins.choice(AGAINST)


def _other_locality(coins: random.Random, draft: Draft) -> None:
    draft.manifest["parameters"]["locality"] = coins.choice(LOCALITIES)


def _other_parameter(coins: random.Random, draft: Draft) -> None:
    parameters = draft.manifest["parameters"]
    key = coins.choice(list(parameters))
    parameters[key] = (
        coins.choice([not parameters[key], 0, 1, 2]) if isinstance(parameters[key], (bool, int)) else parameters[key]
    )


def _other_method(coins: random.Random, draft: Draft) -> None:
    mutate_json(coins, draft.manifest["method"])


def _other_rows(coins: random.Random, draft: Draft) -> None:
    draft.manifest["rows"] += coins.choice([-1, 1, 10, 10**6])


def _other_columns(coins: random.Random, draft: Draft) -> None:
    mutate_json(coins, draft.manifest["schema"]["declared"])


def _fewer_claims(coins: random.Random, draft: Draft) -> None:
    draft.manifest["claims"] = coins.choice([[], draft.manifest["claims"][:1], draft.manifest["claims"][1:]])


def _other_values(coins: random.Random, draft: Draft) -> None:
    draft.manifest["values"] = None


CLAIM_LIES = [
    _stricter,
    _stricter,
    _stricter,
    _own_bound,
    _other_adversary,
    _other_locality,
    _other_parameter,
    _other_method,
    _other_rows,
    _other_columns,
    _fewer_claims,
    _other_values,
]


def _other_gamma(coins: random.Random, draft: Draft) -> None:
    """Say that values were kept more often, in agreement with γ."""
    part = coins.choice(draft.manifest["parameters"]["parts"])
    gamma = Fraction(coins.choice(["1", "3/2", "2", "10", "1000", "1/2"]))
    part["retention"] = str(max(Fraction(0), (gamma - 1) / (len(part["values"]) - 1 + gamma)))
    if "gamma" in part:
        part["gamma"] = str(gamma)


def _other_share(coins: random.Random, draft: Draft) -> None:
    part = coins.choice(draft.manifest["parameters"]["parts"])
    if "largest_share" in part:
        part["largest_share"] = coins.choice(["0", "1", "2", "1/100", half(part["largest_share"])])
    if "shares" in part:
        _moved_shares(coins, part["shares"])


def _moved_shares(coins: random.Random, shares: Any) -> None:
    """Move a share from one value to another; the sum stays."""
    keys = list(shares) if isinstance(shares, dict) else list(range(len(shares)))
    one, two = coins.choice(keys), coins.choice(keys)
    part = Fraction(shares[one]) * coins.choice([Fraction(1, 2), Fraction(1), Fraction(99, 100)])
    shares[one] = str(Fraction(shares[one]) - part)
    shares[two] = str(Fraction(shares[two]) + part)


def _other_declaration(coins: random.Random, draft: Draft) -> None:
    """Declare other shares, in the method only or in its only part too; or more of everything."""
    told = draft.manifest["method"].get("shares")
    if not told:
        return
    if coins.random() < 0.5:
        _moved_shares(coins, told)
    else:
        told.update(dict.fromkeys(told, coins.choice(["1", "0", "1/2"])))
    parts = draft.manifest["parameters"]["parts"]
    if coins.random() < 0.5 and len(parts) == 1 and set(map(str, parts[0]["values"])) == set(told):
        parts[0]["shares"] = [told[str(value)] for value in parts[0]["values"]]


def _other_part(coins: random.Random, draft: Draft) -> None:
    mutate_json(coins, coins.choice(draft.manifest["parameters"]["parts"]))


def _said_declared(coins: random.Random, draft: Draft) -> None:
    """Say that what was computed was declared: with the shares that are shown, or with any."""
    parameters = draft.manifest["parameters"]
    parameters["parameters"] = coins.choice(["computed", "declared"])
    draft.manifest["method"]["parameters"] = parameters["parameters"]


def _part_apart(coins: random.Random, draft: Draft) -> None:
    """Divide a part in two that look alike, or give it a value more."""
    parts = draft.manifest["parameters"]["parts"]
    if coins.random() < 0.5:
        parts.append({**coins.choice(parts), "part": len(parts) + 1})
        for row in draft.tables["records"]:
            row["part"] = coins.choice([row["part"], len(parts)])
    else:
        part = coins.choice(parts)
        part["values"] = [*part["values"], "another"]


PART_LIES = [_other_gamma, _other_share, _other_declaration, _other_part, _said_declared, _part_apart]
