"""Applying a plan to records: each goes to a part, then its value is kept or replaced by a coin of its own ([SDR §4])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.randomize.coins import Choices, below_each
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomness import PLACES, Randomness


@dataclass(frozen=True, eq=False)
class Randomized:
    """For every record the part (0 … in the order of the plan) and the published code."""

    part: Small
    value: Small


@dataclass(frozen=True, eq=False)
class PlanEntries:
    """The (part, value) pairs of a plan, sorted by value, then part; those of v begin at `start[v]`. No counts if declared."""

    part: Integers
    value: Integers
    counts: Integers
    retention: Sequence[Fraction]
    start: Integers

    @classmethod
    def of(cls, plan: RandomizationPlan, values: int) -> PlanEntries:
        """Return the pairs of a plan for so many values."""
        part = np.repeat(np.arange(len(plan.parts)), [len(part.values) for part in plan.parts])
        value = np.concatenate([np.array(part.values, dtype=np.int64) for part in plan.parts])
        order = np.lexsort((part, value))
        counts = np.array([count for part in plan.parts for count in part.counts], dtype=np.int64)
        kept = [p for part in plan.parts for p in part.retention]
        start = np.searchsorted(value[order], np.arange(values + 1)).astype(np.int64)
        return cls(part[order], value[order], counts if plan.declared else counts[order], [kept[k] for k in order], start)


DEALT, RECORDS = 0, 1
"""The streams of who goes to which part, and of what is published of records."""


def randomize(codes: Array, plan: RandomizationPlan, values: int, random: Randomness) -> Randomized:
    """Return every record's part and published value; `codes` are true values, below `values`.

    With computed parameters the per-value counts of each part are exactly the plan's, and which records of a value go where is
    random. With declared ones each record draws its part by a coin of its own, so nothing that is published of it depends on
    another record. Either way its value is then kept with exactly its retention probability, else replaced by a value of the part
    drawn uniformly, independently of all other records.

    Coins are drawn by place: where the plan says how many go where, first for the place of a record among all, and then for that
    among all by value and the first coin. Whoever has some of the records, and knows their places, draws the same.
    """
    part, value = np.empty(len(codes), np.int32), np.empty(len(codes), np.int32)
    order = random.spawn(DEALT).ranked(codes) if dealt(plan) else None
    entry = None if order is None else np.repeat(*_filled(plan, values))
    for begin in range(0, len(codes), PLACES):
        here = slice(begin, begin + PLACES) if order is None else order[begin : begin + PLACES]
        own = None if entry is None else entry[begin : begin + PLACES]
        made = randomize_block(codes[here], plan, values, random.spawn(RECORDS).spawn(begin // PLACES), own)
        part[here], value[here] = made.part, made.value
    return Randomized(part, value)


def dealt(plan: RandomizationPlan) -> bool:
    """Return whether a plan says how many records of each value are in which part."""
    return len(plan.parts) > 1 and not plan.declared


def _filled(plan: RandomizationPlan, values: int) -> tuple[Integers, Integers]:
    entries = PlanEntries.of(plan, values)
    return np.arange(len(entries.part)), entries.counts


def randomize_block(
    codes: Array, plan: RandomizationPlan, values: int, random: Randomness, entry: Integers | None = None
) -> Randomized:
    """Return the same for records whose places follow one another; `entry` says where they go, if that was drawn before."""
    entries = PlanEntries.of(plan, values)
    if entry is not None:
        pass
    elif len(plan.parts) == 1:
        entry = entries.start[codes]
    else:
        entry = _drawn(codes, plan, entries, random)
    coins = Choices([(kept, 1 - kept) for kept in entries.retention])
    replaced = np.flatnonzero(coins.draw(entry, random))
    part = entries.part[entry]
    sizes = np.array([len(part.values) for part in plan.parts], dtype=np.int64)
    domain = np.concatenate([np.array(part.values, dtype=np.int64) for part in plan.parts])
    home = part[replaced]
    value = codes.astype(np.int32)
    value[replaced] = domain[(np.cumsum(sizes) - sizes)[home] + below_each(sizes[home], random)]
    return Randomized(part.astype(np.int32), value)


def _drawn(codes: Array, plan: RandomizationPlan, entries: PlanEntries, random: Randomness) -> Integers:
    """Return an entry per record, drawn by its own coin with the chance that its value goes to each part."""
    shares = [dict(zip(part.values, part.shares, strict=True)) for part in plan.parts]
    weights = [plan.parts[p].weight * shares[p][v] for p, v in zip(entries.part.tolist(), entries.value.tolist(), strict=True)]
    rows = []
    for first, end in zip(entries.start[:-1].tolist(), entries.start[1:].tolist(), strict=True):
        total = sum(weights[first:end], Fraction(0))
        rows.append([weight / total for weight in weights[first:end]])
    entry: Integers = entries.start[codes] + Choices(rows).draw(codes, random)
    return entry
