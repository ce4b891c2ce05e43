"""The second opinion on randomized releases: posteriors from the published matrices, in exact fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

from tests.fuzz.files import Files, Row
from tests.fuzz.truth import bound, shares_of
from tests.fuzz.truth_table import labels, people_of


def wrong_randomized(files: Files, rows: list[Row] | None) -> list[str]:
    """Return which claims of a randomized release are false, or could not be told."""
    manifest = files.manifest
    declared = files.parameters["parameters"] == "declared"
    found = []
    if len(files.tables["records"]) != manifest["rows"]:
        found.append("another number of people than the manifest says")
    if not manifest["claims"]:
        found.append("nothing is claimed")
    for claim in manifest["claims"]:
        against = claim["adversary"]
        if claim["kind"] != "association" or against != manifest["requirement"]["against"] or against == "stranger":
            found.append("such a claim is not proved")
        if against == "insider" and not declared:
            found.append("computed parameters hold against no insider")
    if declared:
        return found + _declared(files)
    if rows is None:
        return [*found, "the shares of the parts are not told"]
    return found + _computed(files, rows)


def _beliefs(entry: dict[str, Any], shares: list[Fraction]) -> list[tuple[int, Fraction]]:
    """Return the belief in every value where any value is published."""
    told = entry["retention"]
    many = len(entry["values"])
    kept = [Fraction(p) for p in told] if isinstance(told, list) else [Fraction(told)] * many
    chance = [[(kept[x] if x == y else 0) + (1 - kept[x]) / many for y in range(many)] for x in range(many)]
    found = []
    for y in range(many):
        seen = sum(shares[z] * chance[z][y] for z in range(many))
        found += [(x, shares[x] * chance[x][y] / seen) for x in range(many) if seen]
    return found


def _declared(files: Files) -> list[str]:
    told = files.manifest["method"].get("shares") or {}
    shares = {value: Fraction(share) for value, share in told.items()}
    found = []
    if not shares or min(shares.values()) <= 0 or sum(shares.values()) != 1:
        found.append("the declared shares are not positive, or do not add up to 1")
    parts = files.parameters["parts"]
    if {value for entry in parts for value in labels(entry)} != set(shares):
        found.append("other values have declared shares than the parts have")
    mixed: Counter[str] = Counter()
    for entry in parts:
        own = [Fraction(share) for share in entry.get("shares", [])]
        values = labels(entry)
        if len(own) != len(values) or min(own, default=0) <= 0 or sum(own) != 1:
            found.append("the shares of a part are not positive, or do not add up to 1")
            continue
        weight = Fraction(entry.get("weight", "1"))
        for value, share in zip(values, own, strict=True):
            mixed[value] += weight * share
        found += _above(files, values, _beliefs(entry, own), shares)
    if mixed != shares:
        found.append("the shares of the parts do not add up to the declared ones")
    return found


def _computed(files: Files, rows: list[Row]) -> list[str]:
    """Return beliefs above their bounds, where quasi values leave no doubt about who is in which part."""
    people = people_of(files, rows)
    shares = shares_of(Counter(value for _, value in people))
    parts: dict[Any, set[Any]] = defaultdict(set)
    for row in files.tables["records"]:
        parts[tuple(row[name] for name in files.quasi)].add(row["part"])
    if any(len(parts[quasi]) != 1 for quasi, _ in people):
        return []
    inside: dict[Any, Counter[str]] = defaultdict(Counter)
    for quasi, value in people:
        inside[next(iter(parts[quasi]))][value] += 1
    found = []
    for entry in files.parameters["parts"]:
        values, counts = labels(entry), inside[entry["part"]]
        people_here = sum(counts.values())
        if people_here:
            own = [Fraction(counts[value], people_here) for value in values]
            found += _above(files, values, _beliefs(entry, own), shares)
    return found


def _above(files: Files, values: list[str], beliefs: list[tuple[int, Fraction]], shares: dict[str, Fraction]) -> list[str]:
    found = set()
    for x, belief in beliefs:
        most = bound(files.manifest["requirement"], values[x], shares.get(values[x], Fraction(0)))
        if most is None or belief > most:
            found.add("a value is believed above its bound")
    return sorted(found)
