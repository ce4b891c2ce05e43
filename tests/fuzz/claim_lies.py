"""Lies about claims: what the manifest could promise, declare or say of the method instead."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from tests.fuzz.drafts import Draft, half
from tests.fuzz.noise import mutate_json

AGAINST = ("reader", "engineer", "insider")
BASES = ("blind", "safe", "soft", "tight", "noisy", "matched", "annealed", "paper")


def claim_more(coins: random.Random, draft: Draft) -> None:
    """Change what is claimed, required or said about the method; mostly in agreement with the rest."""
    lies = [*CLAIM_LIES, *(PART_LIES * 3 if draft.manifest["form"] == "randomized" else [])]
    for _ in range(coins.choice([1, 1, 2])):
        coins.choice(lies)(coins, draft)
    draft.claim_anew()
    if coins.random() < 0.9:
        draft.keep_books()


def _stricter(coins: random.Random, draft: Draft) -> None:
    """Promise more than was kept, or less."""
    asked = coins.choice(_requirements(draft))
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


def _requirements(draft: Draft) -> list[dict[str, Any]]:
    """Return the requirement, and those of single columns."""
    asked = draft.manifest["requirement"]
    return [asked, *asked.get("columns", {}).values()]


def _other_set(coins: random.Random, draft: Draft) -> None:
    """Promise more of a set, or less, or of another one."""
    sets = [(one, name) for one in _requirements(draft) for name in one.get("sets", {})]
    if sets:
        asked, name = coins.choice(sets)
        if coins.random() < 0.3:
            mutate_json(coins, asked["sets"])
        elif "bound" in asked["sets"][name]:
            asked["sets"][name]["bound"] = coins.choice(["1/100", "1/3", "1/2", "99/100", half(asked["sets"][name]["bound"])])
        else:
            asked["sets"][name].update(theta=coins.choice(["0", "1", "2"]), offset=coins.choice(["0", "1/10", "1/2"]))


def _own_bound(coins: random.Random, draft: Draft) -> None:
    asked = coins.choice(_requirements(draft))
    if asked["model"] == "f-privacy":
        asked["bounds"] = {coins.choice(["HIV", "flu", "none", "nobody"]): coins.choice(["0", "1/100", "1/3", "1", "2"])}


def _other_adversary(coins: random.Random, draft: Draft) -> None:
    draft.manifest["requirement"]["against"] = coins.choice(AGAINST)


def _other_basis(coins: random.Random, draft: Draft) -> None:
    draft.manifest["basis"] = coins.choice([*BASES, None])


def _another_package(coins: random.Random, draft: Draft) -> None:
    draft.manifest["method"] = {"name": coins.choice(["magic", "boxes"]), "package": "magic 1.0"}
    _other_basis(coins, draft)


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
    _other_set,
    _other_adversary,
    _other_basis,
    _another_package,
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
