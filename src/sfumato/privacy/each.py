"""Several sensitive columns, each protected by itself: the bounds of all of them as those of one list of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.privacy.requirement import Bounds, SetBound

MARK = ": "
"""Between a column and its value, where values of several columns are listed together: "income: 10 to 20"."""


def labelled(column: str, value: str) -> str:
    """Return what a value of one of several columns is called beside those of the others."""
    return f"{column}{MARK}{value}"


def stacked(columns: Mapping[str, Bounds]) -> Bounds:
    """Return the bounds of several columns as one: the values of all of them in turn, of which everybody has one of each."""
    values: list[str] = []
    sets: list[SetBound] = []
    for name, one in columns.items():
        first = len(values)
        sets += [SetBound(labelled(name, a.name), tuple(first + place for place in a.places), a.limit) for a in one.sets]
        values += [labelled(name, value) for value in one.values]
    every = columns.values()
    return Bounds(
        tuple(values),
        tuple(count for one in every for count in one.counts),
        tuple(limit for one in every for limit in one.limits),
        tuple(sets),
        tuple(len(one.values) for one in every),
    )


def unstacked(bounds: Bounds) -> list[Bounds]:
    """Return the bounds of each column by itself, with the names that its values have beside the others; one of one column."""
    found, first = [], 0
    for many in bounds.apart or (len(bounds.values),):
        mine = slice(first, first + many)
        sets = tuple(
            SetBound(one.name, tuple(place - first for place in one.places), one.limit)
            for one in bounds.sets
            if first <= one.places[0] < first + many
        )
        found.append(Bounds(bounds.values[mine], bounds.counts[mine], bounds.limits[mine], sets))
        first += many
    return found


def unlabelled(column: str, bounds: Bounds) -> Bounds:
    """Return the bounds of one column with the names that its values and sets have alone."""
    mark = len(labelled(column, ""))
    sets = tuple(replace(one, name=one.name[mark:]) for one in bounds.sets)
    return replace(bounds, values=tuple(value[mark:] for value in bounds.values), sets=sets)


def as_combinations(bounds: Bounds, labels: Sequence[str], counts: Sequence[int], parts: Sequence[Sequence[int]]) -> Bounds:
    """Return the same bounds for combinations, in which every value and set of a column is a set of combinations.

    `parts` are the codes of each combination in the columns, as the stacked bounds number values. A combination is at most as
    likely as each of its parts, so that it has the lowest of their bounds.
    """
    members: list[list[int]] = [[] for _ in bounds.values]
    for place, codes in enumerate(zip(*parts, strict=True)):
        for code in codes:
            members[code].append(place)
    events = [((code,), limit) for code, limit in enumerate(bounds.limits)] + [(one.places, one.limit) for one in bounds.sets]
    sets = tuple(
        SetBound(bounds.events[k], tuple(sorted(place for code in codes for place in members[code])), limit)
        for k, (codes, limit) in enumerate(events)
        if limit < 1
    )
    limits: tuple[Fraction, ...] = tuple(min(bounds.limits[code] for code in codes) for codes in zip(*parts, strict=True))
    return Bounds(tuple(labels), tuple(counts), limits, sets)
