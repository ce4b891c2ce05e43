"""A second opinion on a release, in plain Python: what is false in it, read from its files and docs/guarantees.md alone.

Nothing here is shared with the auditor or with the code that makes releases. Only what is certainly false is listed, so that an
audit may be stricter than this, but never more lenient.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

Row = dict[str, Any]
Shares = Mapping[str, Fraction]


@dataclass
class Group:
    """Who shares a group: how many people, and how often each sensitive value is shown."""

    people: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def shown(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Files:
    """A release directory as any program could read it."""

    manifest: dict[str, Any]
    tables: dict[str, list[Row]]

    @classmethod
    def read(cls, directory: Path) -> Files:
        manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        return cls(manifest, {name: _rows(directory, facts) for name, facts in manifest["tables"].items()})

    @property
    def form(self) -> str:
        return self.manifest["form"]

    @property
    def parameters(self) -> dict[str, Any]:
        return self.manifest["parameters"]

    @property
    def quasi(self) -> list[str]:
        return [column["name"] for column in self.manifest["schema"]["quasi"]]

    @property
    def sensitive(self) -> list[str]:
        return [column["name"] for column in self.manifest["schema"]["sensitive"]]

    def label(self, row: Row) -> str:
        return " / ".join(text(row[name]) for name in self.sensitive)

    def groups(self) -> dict[Any, Group]:
        """Return the histograms of all groups; forms in which people show their own values by coin have none."""
        found: dict[Any, Group] = defaultdict(Group)
        if self.form == "ranges":
            for row in self.tables["records"]:
                found[row["group"]].people += 1
                found[row["group"]].counts[self.label(row)] += 1
            return found
        number = "bucket" if self.form == "buckets" else "group"
        for row in self.tables["st"]:
            found[row[number]].counts[self.label(row)] += row["count"]
        for row in self.tables.get("qit", []) + self.tables.get("at", []):
            found[row[number]].people += 1
        if self.form == "columns":
            for group in found.values():
                group.people = group.shown
        return found


def _rows(directory: Path, facts: Mapping[str, Any]) -> list[Row]:
    path = directory / facts["files"][0]["file"]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    types = {column["name"]: pa.type_for_alias(column["type"]) for column in facts["columns"]}
    options = pyarrow.csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.read_csv(path, convert_options=options, parse_options=parse).to_pylist()


def text(value: Any) -> str:
    """Return a sensitive value as policies write it."""
    if value is None:
        return "(missing)"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def bound(requirement: Mapping[str, Any], label: str, share: Fraction | None) -> Fraction | None:
    """Return how sure a reader may become of a value; None where that depends on a share that nobody has told."""
    model = requirement["model"]
    if model == "presence-association":
        beta = requirement["beta"]
        return bound(beta, label, share) if isinstance(beta, dict) else Fraction(beta)
    if model == "l-diversity":
        return Fraction(1, requirement["l"])
    if model == "f-privacy":
        if label in requirement["bounds"]:
            return Fraction(requirement["bounds"][label])
        theta, offset = Fraction(requirement["theta"]), Fraction(requirement["offset"])
        if theta and share is None:
            return None
        return min(Fraction(1), offset + (theta * share if share is not None else 0))
    if share is None:
        return None
    if model == "rho-privacy":
        return Fraction(requirement["rho2"]) if share <= Fraction(requirement["rho1"]) else Fraction(1)
    gain = Fraction(requirement["beta"])
    if requirement["enhanced"] and share:
        with localcontext() as context:
            context.prec = 60
            gain = min(gain, Fraction((Decimal(share.denominator) / Decimal(share.numerator)).ln()) + Fraction(1, 10**40))
    return min(Fraction(1), (1 + gain) * share)


def shares_shown(files: Files) -> Shares | None:
    """Return the shares of the table where the release shows them: everybody's value, and nobody's twice."""
    if files.parameters.get("suppression") or files.parameters.get("decoys"):
        return None
    total: Counter[str] = Counter()
    for group in files.groups().values():
        total += group.counts
    return shares_of(total)


def shares_of(counts: Mapping[str, int]) -> Shares:
    people = sum(counts.values())
    return {label: Fraction(many, people) for label, many in counts.items()}


def wrong_claims(files: Files, shares: Shares | None) -> list[str]:
    """Return which claims of a release in groups are false, or could not be told from its tables."""
    manifest = files.manifest
    groups = files.groups()
    found = _numbers(files, groups)
    weaker = "weaker_claim" in files.parameters
    kinds = [claim["kind"] for claim in manifest["claims"]]
    if not kinds and not weaker:
        found.append("nothing is claimed")
    for claim in manifest["claims"]:
        if claim["kind"] == "presence":
            if claim["adversary"] != "stranger" or manifest["requirement"]["model"] != "presence-association":
                found.append("presence is claimed of somebody else, or without alpha")
            elif files.form not in ("columns", "views") or "suppression" in files.parameters:
                found.append("presence is claimed where it cannot be")
            else:
                found += _overlapping(files) + _present(files, groups)
        else:
            found += _proved(files, claim["adversary"]) + _sure(files, groups, shares)
    if weaker and files.form == "columns":
        found += _present(files, groups) + ([] if shares is None else _sure(files, groups, shares))
    return found


def _numbers(files: Files, groups: Mapping[Any, Group]) -> list[str]:
    """Return where people and values do not add up."""
    decoys = files.parameters.get("decoys", 0)
    found = []
    if sum(group.people for group in groups.values()) != files.manifest["rows"]:
        found.append("another number of people than the manifest says")
    if any(group.shown != group.people + decoys for group in groups.values()):
        found.append("a group shows another number of values than it has people")
    if files.parameters.get("groups", files.parameters.get("buckets")) != len(groups):
        found.append("another number of groups than the manifest says")
    totals: Counter[str] = Counter()
    for group in groups.values():
        totals += group.counts
    if files.manifest["values"] is not None:
        told = {one["value"]: one["count"] for one in files.manifest["values"][0]["values"]}
        if told != totals:
            found.append("the manifest counts values otherwise")
    return found


def _proved(files: Files, adversary: str) -> list[str]:
    """Return why nobody has proved such a claim: docs/guarantees.md says what holds against whom."""
    method, parameters = files.manifest["method"], files.parameters
    if adversary != files.manifest["requirement"]["against"]:
        return ["the claim is made against somebody else than the requirement"]
    if adversary == "reader":
        return []
    locality = parameters.get("locality")
    proved = {
        "buckets": files.form == "buckets" and locality in ("none", "safe", "near") and not method.get("guard_decoys"),
        "near-groups": locality == "near",
        "anatomy": not method.get("suppress") and not parameters.get("suppression"),
        "ambiguity": method.get("grouping") == "boxes" and locality == "safe",
    }
    return [] if adversary == "engineer" and proved.get(method["name"]) else [f"nothing is proved against the {adversary}"]


def _sure(files: Files, groups: Mapping[Any, Group], shares: Shares | None) -> list[str]:
    """Return which values a reader may be surer of than their bounds."""
    requirement = files.manifest["requirement"]
    found = []
    if files.form == "views":
        beliefs: Iterable[tuple[str, Fraction]] = _matched(files)
    else:
        beliefs = ((label, Fraction(n, one.shown)) for one in groups.values() for label, n in one.counts.items())
    for label, belief in beliefs:
        most = bound(requirement, label, None if shares is None else shares.get(label, Fraction(0)))
        if most is None:
            found.append("a bound depends on shares that are not told")
        elif belief > most:
            found.append(f"a value is believed with {belief}, above {most}")
    return sorted(set(found))


def _split(files: Files) -> tuple[dict[Any, Counter[Any]], dict[Any, Counter[Any]], dict[Any, Counter[Any]]]:
    """Return of views, per group, how often each row of `at`, each moved value, and each moved value with a sensitive one occur."""
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


def _meet(people: int, one: int, other: int) -> Fraction:
    """Return how many of all matchings bring one of some rows together with one of some others."""
    return 1 - Fraction(math.comb(people - other, one), math.comb(people, one))


def _matched(files: Files) -> Iterable[tuple[str, Fraction]]:
    """Yield the belief in a value of somebody who is there, all matchings of a group being equally likely."""
    left, right, both = _split(files)
    for group, rows in left.items():
        people = sum(rows.values())
        for often in set(rows.values()):
            for (joined, label), x in both[group].items():
                z = right[group][joined]
                yield label, max(Fraction(x, z), _meet(people, often, x) / _meet(people, often, z))


def _present(files: Files, groups: Mapping[Any, Group]) -> list[str]:
    """Return whether a stranger is surer of somebody's presence than alpha."""
    alpha = Fraction(files.manifest["requirement"]["alpha"])
    if files.form == "views":
        left, right, _ = _split(files)
        beliefs = [
            _meet(sum(rows.values()), m, z)
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


def _overlapping(files: Files) -> list[str]:
    """Return whether two groups cover one combination of values."""
    if files.form == "views":
        left, right, _ = _split(files)
        parts: list[dict[Any, set[Any]]] = [{g: set(rows) for g, rows in side.items()} for side in (left, right)]
    else:
        parts = _auxiliary(files)
    pairs = combinations(parts[0], 2)
    shared = any(all(part[one] & part[two] for part in parts) for one, two in pairs)
    return ["two groups cover the same people"] if shared else []
