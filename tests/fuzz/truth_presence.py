"""The second opinion on presence and matchings: what columns and views tell, in exact fractions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.fuzz.files import Files, Group


def split(files: Files) -> tuple[dict[Any, Counter[Any]], dict[Any, Counter[Any]], dict[Any, Counter[Any]]]:
    """Return of views, per group, how often each row of `at`, each moved value, and each of these with a sensitive one occur."""
    moved = files.parameters["moved"]
    kept = [name for name in files.quasi if name not in moved]
    left, right, both = (defaultdict(Counter) for _ in range(3))
    for row in files.tables["at"]:
        left[row["group"]][tuple(row[name] for name in kept)] += 1
    for row in files.tables["st"]:
        joined = tuple(row[name] for name in moved)
        right[row["group"]][joined] += row["count"]
        both[row["group"]][joined, files.label(row)] += row["count"]
    return left, right, both


def meet(people: int, one: int, other: int) -> Fraction:
    """Return how many of all matchings bring one of some rows together with one of some others."""
    return 1 - Fraction(math.comb(people - other, one), math.comb(people, one))


def matched(files: Files) -> Iterable[tuple[str, Fraction]]:
    """Yield the belief in a value of somebody who is there, all matchings of a group being equally likely."""
    left, right, both = split(files)
    for group, rows in left.items():
        people = sum(rows.values())
        for often in set(rows.values()):
            for (joined, label), x in both[group].items():
                z = right[group][joined]
                yield label, max(Fraction(x, z), meet(people, often, x) / meet(people, often, z))


def present(files: Files, groups: Mapping[Any, Group]) -> list[str]:
    """Return whether a stranger is surer of somebody's presence than alpha."""
    alpha = Fraction(files.manifest["requirement"]["alpha"])
    if files.form == "views":
        left, right, _ = split(files)
        beliefs = [
            meet(sum(rows.values()), m, z)
            for group, rows in left.items()
            for m in set(rows.values())
            for z in set(right[group].values())
        ]
    else:
        room = dict.fromkeys(groups, 1)
        for shown in _auxiliary(files):
            for group in groups:
                room[group] *= len(shown[group])
        beliefs = [min(Fraction(1), Fraction(one.people, room[group])) for group, one in groups.items()]
    return ["a group tells more of presence than alpha allows"] if max(beliefs) > alpha else []


def _auxiliary(files: Files) -> list[dict[Any, set[Any]]]:
    """Return per quasi column of the form columns the values of every group."""
    found = []
    for rows, name in zip((rows for key, rows in files.tables.items() if key != "st"), _in_order(files), strict=True):
        shown: dict[Any, set[Any]] = defaultdict(set)
        for row in rows:
            shown[row["group"]].add(row[name])
        found.append(shown)
    return found


def _in_order(files: Files) -> Sequence[str]:
    """Return the quasi column of every table but `st`, in the order of the tables."""
    return [next(column for column in rows[0] if column != "group") for key, rows in files.tables.items() if key != "st"]


def overlapping(files: Files) -> list[str]:
    """Return whether two groups cover one combination of values."""
    if files.form == "views":
        left, right, _ = split(files)
        parts: list[dict[Any, set[Any]]] = [{g: set(rows) for g, rows in side.items()} for side in (left, right)]
    else:
        parts = _auxiliary(files)
    pairs = combinations(parts[0], 2)
    shared = any(all(part[one] & part[two] for part in parts) for one, two in pairs)
    return ["two groups cover the same people"] if shared else []
