"""Boxes of near people: cuts of quasi space as a grouping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.groups._cut_kernels import Incidence
from sfumato.groups.cuts import Space, column_weights, cut_boxes, in_strata
from sfumato.groups.grouping import Grouping, need_table
from sfumato.groups.soft import SoftTests, affords
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness, SecureRandomness
from sfumato.table.column import Column


def cut_into_boxes(
    columns: Sequence[Column],
    sensitive: Array | Incidence,
    bounds: Bounds,
    *,
    tight: bool,
    floor: int,
    weights: Mapping[str, float] | Literal["association"] | None,
    soft: SoftTests | None = None,
    random: Randomness | None = None,
    strata: Array | None = None,
) -> Grouping:
    """Return the boxes that safe cuts make, or tight ones, or soft ones by a rule with coins.

    Tight cuts may order columns by their association with the sensitive one; others may not, because that looks at where
    values fell. People of different `strata` never share a box, and where each has bounds of its own it is cut under these.
    """
    if weights != "association":
        chosen = column_weights(columns, weights)
    elif isinstance(sensitive, Incidence):
        raise ValueError("association needs one value a person")
    else:
        chosen = association(columns, sensitive)
    space = Space.of(columns, narrow=True)
    if isinstance(sensitive, Incidence) and bounds.bands:
        assert strata is not None
        coins = (random or SecureRandomness()).spawn(Step.BANDS)
        order, begins = in_strata(len(strata), strata)
        parts = [
            cut_boxes(
                replace(space, codes=np.ascontiguousarray(space.codes[:, rows])),
                _events_of(sensitive, rows),
                own,
                tight=tight,
                floor=floor,
                weights=chosen,
                soft=soft,
                random=coins.spawn(k),
            )
            for k, (rows, own) in enumerate(zip(np.split(order, begins[1:]), bounds.bands, strict=True))
        ]
        return _side_by_side(parts, order)
    return cut_boxes(space, sensitive, bounds, tight=tight, floor=floor, weights=chosen, soft=soft, random=random, strata=strata)


def _events_of(secret: Incidence, rows: Array) -> Incidence:
    """Return the events of these people."""
    length = np.diff(secret.begin)[rows]
    begin = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    at = np.repeat(secret.begin[:-1][rows] - begin[:-1], length) + np.arange(begin[-1])
    return Incidence(begin, secret.event[at], secret.events)


def _side_by_side(parts: Sequence[Grouping], order: Array) -> Grouping:
    """Return the groups of several parts of the people as one grouping; `order` has the rows of one part after another."""
    first = np.cumsum([0, *(part.groups for part in parts)])
    group = np.empty(len(order), np.int32)
    group[order] = np.concatenate([part.group + np.int32(begin) for part, begin in zip(parts, first, strict=False)])
    accounts = [part.account for part in parts if part.account is not None]
    return Grouping(group, int(first[-1]), parts[0].basis, account=np.concatenate(accounts) if accounts else None)


def least_side(bounds: Bounds) -> tuple[str, int]:
    """Return how large a side must be to hold everybody of any one event within its bound, and the event that needs it."""
    need, start = need_table(bounds)
    sides = [int(need[start[k] + count]) for k, count in enumerate(bounds.counts)]
    return bounds.labels[sides.index(max(sides))], max(sides)


def room_for_a_cut(bounds: Bounds, *, floor: int, tight: bool, soft: SoftTests | None = None) -> bool:
    """Return whether counts leave room for a first cut: a safe one needs two sides that could each hold all of any value.

    Where cuts are soft, a first test must be affordable, and no value may have more than three quarters of what its bound allows,
    unless its odds may grow fourfold: with less to spare few tests of real tables are passed. (Adult, income, 76 and 24 %: where
    odds may grow by 2 and 3, boxes err .96 and .91 of independence and blind groups .45; by 4, boxes .14.) Counts alone decide,
    before anything is cut.
    """
    if 2 * floor > bounds.people:
        return False
    needed = 1 if tight else least_side(bounds)[1]
    return 2 * needed <= bounds.people or (soft is not None and _leaves_room(bounds) and affords(bounds, soft))


def _leaves_room(bounds: Bounds) -> bool:
    """Return whether every event with a share f and a bound b below 1 has f ≤ ¾·b, or b / (1 − b) ≥ 4·f / (1 − f)."""
    people, events = bounds.people, zip(bounds.counts, bounds.limits, strict=True)
    return all(
        limit == 1 or 4 * count <= 3 * limit * people or limit * (people - count) >= 4 * count * (1 - limit)
        for count, limit in events
    )


def association(columns: Sequence[Column], sensitive: Array) -> Floats:
    """Return the square root of each column's mutual information with the sensitive values, the largest set to 1.

    That with several sensitive columns is the sum over them.
    """
    return weights_by_pairs([[_pairs(column, codes) for column in columns] for codes in np.atleast_2d(sensitive)])


def _pairs(column: Column, sensitive: Array) -> Integers:
    values = int(sensitive.max()) + 1
    key = column.codes.astype(np.int64) * values + sensitive
    return np.bincount(key, minlength=column.size * values).reshape(column.size, values).astype(np.int64)


def weights_by_pairs(counts: Sequence[Sequence[Integers]]) -> Floats:
    """Return the same from how often each code of each column occurs with each value: per sensitive column, per quasi column."""
    information = np.sum([[_information(pairs) for pairs in columns] for columns in counts], axis=0)
    root = np.sqrt(np.maximum(information, 0.0))
    top = root.max()
    return np.maximum(root / top, 1e-6) if top > 0 else np.ones(len(counts[0]))


def _information(pairs: Integers) -> float:
    people = int(pairs.sum())
    joint = pairs / people
    apart = joint.sum(axis=1)[:, None] * (pairs.sum(axis=0) / people)[None, :]
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
