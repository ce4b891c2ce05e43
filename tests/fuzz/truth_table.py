"""The second opinion with the original table at hand: is this a release of these people?"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.fuzz.files import Files, Row, text
from tests.fuzz.truth_noisy import untrue_noise

Person = tuple[tuple[Any, ...], str]


def people_of(files: Files, rows: list[Row]) -> list[Person]:
    """Return the table's people as the release would name them: quasi values in its order, and the sensitive value."""
    return [(tuple(row[name] for name in files.quasi), " / ".join(text(row[name]) for name in files.sensitive)) for row in rows]


def untrue(files: Files, rows: list[Row]) -> list[str]:
    """Return what a release says of these people that is not so."""
    people = people_of(files, rows)
    form = files.form
    if files.manifest["basis"] == "noisy":
        return untrue_noise(files, [quasi for quasi, _ in people])
    if form == "buckets":
        return _buckets(files, people)
    if form == "randomized":
        return _randomized(files, people)
    if form == "ranges":
        return _ranges(files, people)
    return _fragments(files, people)


def _left_out(files: Files) -> bool:
    return bool(files.parameters.get("suppression"))


def _totals(files: Files, people: list[Person]) -> list[str]:
    shown: Counter[str] = Counter()
    for group in files.groups().values():
        shown += group.counts
    true = Counter(value for _, value in people)
    if files.parameters.get("decoys"):
        return [] if true <= shown else ["values are shown less often than the table has them"]
    if _left_out(files):
        return [] if shown <= true else ["values are shown more often than the table has them"]
    return [] if shown == true else ["values are shown another number of times than the table has them"]


def no_placement(files: Files, rows: list[Row]) -> bool:
    """Return whether people cannot all be in groups that show their values, although everybody by herself could.

    The audit with the table asks this of people whom one group fits, and of every other person by herself; a release of which
    it holds may still be one of no table, with claims that are true.
    """
    people = people_of(files, rows)
    if files.form not in ("buckets", "ranges") or "weaker_claim" in files.parameters or files.manifest["basis"] == "noisy":
        return False
    classes = Counter(people)
    placed = _flow(classes, _slots(files), _fits(files, classes))
    return placed < (files.manifest["rows"] if _left_out(files) else len(people))


def _slots(files: Files) -> dict[Any, int]:
    return {(group, value): n for group, one in files.groups().items() for value, n in one.counts.items()}


def _fits(files: Files, classes: Counter[Person]) -> dict[Person, list[Any]]:
    """Return the groups that everybody could be in, each with her own value."""
    if files.form == "ranges":
        boxes = {row["group"]: row for row in files.tables["records"]}
        return {one: [(g, one[1]) for g, row in boxes.items() if _inside(files, row, one[0])] for one in classes}
    places: dict[Any, dict[Any, None]] = defaultdict(dict)
    for row in files.tables["qit"]:
        places[tuple(row[name] for name in files.quasi)][row["group"]] = None
    return {one: [(g, one[1]) for g in places[one[0]]] for one in classes}


def _misplaced(files: Files, classes: Counter[Person]) -> bool:
    """Return whether a group has no room for the values of people whom no other group fits."""
    fits = _fits(files, classes)
    sure = {one: many for one, many in classes.items() if len(fits[one]) <= 1}
    return _flow(sure, _slots(files), fits) < sum(sure.values())


def _buckets(files: Files, people: list[Person]) -> list[str]:
    published = Counter(tuple(row[name] for name in files.quasi) for row in files.tables["qit"])
    true = Counter(quasi for quasi, _ in people)
    wrong = not published <= true if _left_out(files) else published != true
    found = ["qit shows other people"] if wrong else []
    if _misplaced(files, Counter(one for one in people if published[one[0]] >= true[one[0]])):
        found.append("people are in buckets that do not show their values")
    return found + _totals(files, people)


def _ranges(files: Files, people: list[Person]) -> list[str]:
    if "weaker_claim" not in files.parameters and _misplaced(files, Counter(people)):
        return ["people fit no group that shows their values", *_totals(files, people)]
    return _totals(files, people)


def _inside(files: Files, row: Row, quasi: tuple[Any, ...]) -> bool:
    for name, value in zip(files.quasi, quasi, strict=True):
        if name in row:
            shown = json.loads(row[name]) if isinstance(row[name], str) else row[name]
            if value not in shown:
                return False
        elif value is None:
            if not row.get(f"{name}_missing", False):
                return False
        elif row[f"{name}_min"] is None or not row[f"{name}_min"] <= value <= row[f"{name}_max"]:
            return False
    return True


def _fragments(files: Files, people: list[Person]) -> list[str]:
    """Return where groups that do not overlap show anything but their people; overlapping ones are compared in total only."""
    found = [] if _left_out(files) else _totals(files, people)
    if not files.manifest["claims"]:
        return found
    moved = files.parameters.get("moved", [])
    place = {name: k for k, name in enumerate(files.quasi)}
    shown: dict[Any, dict[str, Counter[Any]]] = defaultdict(lambda: defaultdict(Counter))
    parts: list[tuple[str, list[str]]] = []
    for key, rows in files.tables.items():
        columns = [name for name in rows[0] if name in place]
        if columns:
            parts.append((key, columns))
        for row in rows:
            entry = (tuple(row[name] for name in columns), files.label(row) if key == "st" else "")
            shown[row["group"]][key][entry] += row.get("count", 1)
    true: dict[Any, dict[str, Counter[Any]]] = defaultdict(lambda: defaultdict(Counter))
    for quasi, value in people:
        own = {key: tuple(quasi[place[name]] for name in columns) for key, columns in parts}
        group = [g for g, tables in shown.items() if all(own[k] in {entry[0] for entry in tables[k]} for k in own)]
        if len(group) != 1:
            return [*found, "somebody is covered by no group, or by two"]
        for key in files.tables:
            true[group[0]][key][own.get(key, ()), value if key == "st" else ""] += 1
    for group, tables in shown.items():
        for key, entries in tables.items():
            real = true[group][key]
            same = entries == real if key == "st" or moved else set(entries) == set(real)
            if not same:
                return [*found, f"{key} is not what the people of a group have"]
    return found


def _randomized(files: Files, people: list[Person]) -> list[str]:
    here: Counter[tuple[tuple[Any, ...], Any]] = Counter()
    for row in files.tables["records"]:
        here[tuple(row[name] for name in files.quasi), row["part"]] += 1
    published: Counter[tuple[Any, ...]] = Counter()
    for (quasi, _), many in here.items():
        published[quasi] += many
    found = [] if published == Counter(quasi for quasi, _ in people) else ["records shows other people"]
    values = {entry["part"]: labels(entry) for entry in files.parameters["parts"]}
    if files.parameters["parameters"] == "declared":
        return found  # whoever has another value falls into a declared one
    classes = Counter(people)
    fits = {one: [slot for slot in here if slot[0] == one[0] and one[1] in values[slot[1]]] for one in classes}
    if _flow(classes, here, fits) < len(people):
        found.append("people cannot be in parts that have their values")
    return found


def labels(entry: Mapping[str, Any]) -> list[str]:
    """Return the values of a part as text."""
    return [" / ".join(map(text, value)) if isinstance(value, list) else text(value) for value in entry["values"]]


def _flow(people: Mapping[Any, int], slots: Mapping[Any, int], fits: Mapping[Any, Iterable[Any]]) -> int:
    """Return how many people can be placed: augmenting paths between people and slots."""
    sent: Counter[tuple[Any, Any]] = Counter()
    free = Counter(people)
    left = Counter(slots)
    who: dict[Any, set[Any]] = defaultdict(set)
    total = 0
    for start in people:
        while free[start] and (path := _path(start, fits, left, sent, who)):
            for one, slot, step in path:
                sent[one, slot] += step
                who[slot].add(one)
            left[path[-1][1]] -= 1
            free[start] -= 1
            total += 1
    return total


def _path(start: Any, fits: Any, left: Any, sent: Any, who: Any) -> list[tuple[Any, Any, int]]:
    """Return the steps of one more person to a free slot: +1 into a slot, −1 out of one; empty if there is no way."""
    ways: dict[Any, list[tuple[Any, Any, int]]] = {start: []}
    queue, seen = [start], set()
    for one in queue:
        for slot in fits[one]:
            if slot in seen or slot not in left:
                continue
            seen.add(slot)
            way = [*ways[one], (one, slot, 1)]
            if left[slot] > 0:
                return way
            for other in who[slot]:
                if other not in ways and sent[other, slot] > 0:
                    ways[other] = [*way, (other, slot, -1)]
                    queue.append(other)
    return []
