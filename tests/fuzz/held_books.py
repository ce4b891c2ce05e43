"""The manifest of people with several values made to agree with its tables: people, groups, counts and bounds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from tests.fuzz.files import Row
from tests.fuzz.truth import bound, set_bound, sets_of


def keep_held(manifest: dict[str, Any], tables: dict[str, list[Row]]) -> None:
    """Change manifest and tables so that they agree, whatever was changed before."""
    manifest["rows"] = len(tables["qit"])
    used = {number: k + 1 for k, number in enumerate(sorted({row["group"] for row in tables["qit"]}))}
    for rows in tables.values():
        rows[:] = [row | {"group": used[row["group"]]} for row in rows if row["group"] in used]
    manifest["parameters"]["groups"] = len(used)
    own = manifest["schema"]["declared"].get("people", {}).get("shares") == "band"
    names = [one["name"] for one in manifest["schema"]["quasi"] if own and one["name"] in ("members", "rows")]
    band = {row["group"]: tuple(row[name] for name in names) for row in tables["qit"]}
    people = Counter(band[row["group"]] for row in tables["qit"])
    for told in manifest["values"] or []:
        _tell(manifest["requirement"], told, tables, band, people)


def _tell(
    requirement: dict[str, Any], told: dict[str, Any], tables: dict[str, list[Row]], band: dict[int, Any], people: Counter[Any]
) -> None:
    """Count the values and sets of one secret; the bound is the largest of the bands in which somebody has it."""
    secret, several = told["columns"][0], "secret" in (tables["st"] or [{}])[0]
    asked = requirement.get("columns", {}).get(secret) or requirement
    values: Counter[Any] = Counter()
    sets: Counter[Any] = Counter()
    for row in tables["st"]:
        if not several or row["secret"] == secret:
            values[row["value" if several else secret], band[row["group"]]] += row["count"]
    for row in tables.get("sets", []):
        if row["secret"] == secret:
            sets[row["set"], band[row["group"]]] += row["count"]
    order = [one["value"] for one in told["values"]]
    known = {value for (value, _), count in values.items() if count > 0}
    told["values"] = [
        {
            "value": value,
            "count": sum(count for (one, _), count in values.items() if one == value),
            "bound": str(
                max(
                    bound(asked, value, Fraction(count, people[where]))
                    for (one, where), count in values.items()
                    if one == value and count > 0
                )
            ),
        }
        for value in sorted(known, key=lambda one: (order.index(one) if one in order else len(order), str(one)))
    ]
    rules = sets_of(asked, known)
    for entry in told.get("sets", []):
        held = [(where, count) for (one, where), count in sets.items() if one == entry["set"]]
        _, rule = rules[entry["set"]]
        limits = [set_bound(rule, Fraction(count, people[where])) for where, count in held if count > 0]
        entry.update(count=sum(count for _, count in held), bound=str(max(limits)))
