"""The second opinion on releases of people with several values: what is false in one, from its files and rows alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tests.fuzz.files import Files, Row, text
from tests.fuzz.truth import bound, proved, set_bound, sets_of

Person = tuple[tuple[Any, ...], Mapping[str, frozenset[str]]]
"""The quasi values that are shown of somebody, and what she has of each secret."""


def gathered(rows: list[Row], key: str, quasi: list[str], secrets: Mapping[str, list[str]], edges: list[int]) -> list[Person]:
    """Return the people of some rows: quasi values, which agree in all of hers, the band of their number, and values."""
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    people = []
    for mine in found.values():
        low = max(edge for edge in edges if edge <= len(mine))
        higher = [edge for edge in edges if edge > low]
        band = str(low) if higher and higher[0] == low + 1 else f"{low} to {higher[0] - 1}" if higher else f"{low} or more"
        has = {
            name: frozenset(text(row[one]) for row in mine for one in columns if row[one] is not None)
            for name, columns in secrets.items()
        }
        people.append(((*(mine[0][name] for name in quasi), band), has))
    return people


def false_in(files: Files, people: list[Person] | None = None) -> list[str]:
    """Return what is certainly false in a release; with the people of the table also what is not theirs."""
    sizes = Counter(row["group"] for row in files.tables["qit"])
    found = [] if sum(sizes.values()) == files.manifest["rows"] else ["another number of people than the manifest says"]
    bands = defaultdict(set)
    known = [name for name in ("members", "rows") if name in files.quasi]
    for row in files.tables["qit"]:
        bands[row["group"]].add(tuple(row[name] for name in known))
    if any(len(one) > 1 for one in bands.values()):
        found.append("a group has people of two bands")
    found += [fault for claim in files.manifest["claims"] for fault in proved(files, claim["adversary"])]
    own = files.manifest["schema"]["declared"].get("people", {}).get("shares") == "band"
    alike = {group: min(one) if own else () for group, one in bands.items()}
    for secret in files.sensitive:
        for band in set(alike.values()):
            some = Counter({group: size for group, size in sizes.items() if alike[group] == band})
            found += _of_secret(files, secret, some)
    return found + ([] if people is None else _of_people(files, people))


def _entries(files: Files, table: str, secret: str, name: str) -> Counter[tuple[int, Any]]:
    column = name if "secret" in (files.tables[table] or [{}])[0] else secret
    counted: Counter[tuple[int, Any]] = Counter()
    for row in files.tables.get(table, []):
        if row.get("secret", secret) == secret:
            counted[row["group"], text(row[column]) if table == "st" else row[column]] += row["count"]
    return counted


def _of_secret(files: Files, secret: str, sizes: Counter[int]) -> list[str]:
    shown, numbers = (
        Counter({key: count for key, count in _entries(files, table, secret, name).items() if key[0] in sizes})
        for table, name in (("st", "value"), ("numbers", "values"))
    )
    found, people = [], sum(sizes.values())
    if any(count > sizes[group] for (group, _), count in shown.items()):
        found.append("more people have a value than are in the group")
    for group, size in sizes.items():
        own = {many: count for (one, many), count in numbers.items() if one == group}
        facts = sum(count for (one, _), count in shown.items() if one == group)
        if sum(own.values()) != size or sum(many * count for many, count in own.items()) != facts:
            found.append("numbers of values do not add up")
    asked = files.manifest["requirement"]
    asked = asked.get("columns", {}).get(secret) or asked
    totals: Counter[str] = Counter()
    for (_, value), count in shown.items():
        totals[value] += count
    for (group, value), count in shown.items():
        limit = bound(asked, value, Fraction(totals[value], people))
        if limit is not None and limit < 1 and count > limit * _room(files, group, sizes[group]):
            found.append("a value is believed with more than its bound")
    if asked.get("sets"):
        held = Counter({key: count for key, count in _entries(files, "sets", secret, "set").items() if key[0] in sizes})
        whole = Counter({name: sum(count for (_, one), count in held.items() if one == name) for _, name in held})
        for name, (_, rule) in sets_of(asked, totals).items():
            limit = set_bound(rule, Fraction(whole[name], people))
            if limit < 1 and any(
                count > limit * _room(files, group, sizes[group]) for (group, one), count in held.items() if one == name
            ):
                found.append("a set is believed with more than its bound")
    return found


def _room(files: Files, group: int, size: int) -> Fraction:
    """Return 1 + (size − 1)·account, or the size where nothing is claimed of an engineer."""
    accounts = {row["group"]: row["account"] for row in files.tables.get("groups", [])}
    engineer = any(claim["adversary"] == "engineer" for claim in files.manifest["claims"])
    return Fraction(1000 + (size - 1) * accounts.get(group, 1000), 1000) if engineer else Fraction(max(size, 1))


def _of_people(files: Files, people: list[Person]) -> list[str]:
    """Return where groups show other people, or anything else than what their people have."""
    names = files.quasi
    shown = [tuple(row[name] for name in names) for row in files.tables["qit"]]
    if Counter(shown) != Counter(quasi for quasi, _ in people):
        return ["qit shows other people"]
    home: dict[Any, set[int]] = defaultdict(set)
    for quasi, row in zip(shown, files.tables["qit"], strict=True):
        home[quasi].add(row["group"])
    if any(len(one) > 1 for one in home.values()):
        return ["people with equal quasi values are in two groups"]
    found = []
    for secret in files.sensitive:
        values: Counter[tuple[int, Any]] = Counter()
        many: Counter[tuple[int, Any]] = Counter()
        sets: Counter[tuple[int, Any]] = Counter()
        asked = files.manifest["requirement"].get("columns", {}).get(secret) or files.manifest["requirement"]
        known = sets_of(asked, {value for _, has in people for value in has[secret]})
        for quasi, has in people:
            (group,) = home[quasi]
            many[group, len(has[secret])] += 1
            for value in has[secret]:
                values[group, value] += 1
            for name, (members, _) in known.items():
                sets[group, name] += bool(members & has[secret])
        found += ["other counts than people have"] * (values != _entries(files, "st", secret, "value"))
        found += ["other numbers of values"] * (many != _entries(files, "numbers", secret, "values"))
        if known:
            found += ["other counts of sets"] * (+sets != +_entries(files, "sets", secret, "set"))
    return found
