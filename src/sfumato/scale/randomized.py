"""Randomized records beyond memory: the plan on counts, coins by place, records in their order part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.randomize.apply import DEALT, RECORDS, PlanEntries, dealt, randomize_block
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomness import PLACES, Randomness
from sfumato.scale.blind import ranked_files
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.places import Series, sorted_files


@dataclass(frozen=True, eq=False)
class SortedRecords:
    """Records in canonical order (part, quasi codes, value), and how many people of each true value are in each part."""

    rows: Series
    in_parts: Integers


class RecordCodes(NamedTuple):
    """How values and parts are published: the code of each true one, of so many `values`, and the number of each part."""

    declared: Array
    values: int
    number: Array


def randomized_records(
    people: Blocks,
    sizes: Sequence[int],
    plan: RandomizationPlan,
    codes: RecordCodes,
    random: Randomness,
    place: Path,
    at_once: int,
) -> SortedRecords:
    """Return everybody's record.

    Everybody's coins follow from her place: among all, sorted by their values; where the plan says how many people of a value are
    in which part, among all by value and then by a coin of the first place. Records that stand there side by side draw from one
    stream as records in memory do, each for itself.
    """
    declared, values, number = codes
    files = sorted_files(people, people.layout, sizes, place / "ordered", at_once)
    entries = PlanEntries.of(plan, values)
    by_rank = dealt(plan)
    if by_rank:
        files = ranked_files(files, sizes, random.spawn(DEALT), place, at_once)
    in_parts = np.zeros((len(plan.parts), values), np.int64)
    ends = np.cumsum(entries.counts)
    taken = entries_before = np.zeros(0, np.int64)
    if by_rank:
        taken = np.zeros(values, np.int64)
        entries_before = (ends - entries.counts)[entries.start[:-1].clip(max=len(ends) - 1)]

    def records() -> Iterator[list[Array]]:
        for block, columns in enumerate(_aligned(files)):
            *quasi, secret = columns[:-1] if by_rank else columns
            true = declared[secret]
            entry = None
            if by_rank:
                rank = _ranks(true, taken)
                entry = np.searchsorted(ends, entries_before[true] + rank, side="right")
            made = randomize_block(true, plan, values, random.spawn(RECORDS).spawn(block), entry)
            np.add.at(in_parts, (number[made.part], true), 1)
            yield [number[made.part].astype(np.int32), *quasi, made.value]

    layout = Layout((np.dtype(np.int32), *people.layout.types[:-1], np.dtype(np.int32)))
    rows = sorted_files(records(), layout, [len(plan.parts), *sizes[:-1], values], place / "records", at_once)
    return SortedRecords(Series(rows), in_parts)


def _ranks(value: Array, taken: Integers) -> Integers:
    """Return how many people of the same value came before each, who come sorted by value; `taken` counts them."""
    heads = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    length = np.diff(np.append(heads, len(value)))
    rank = np.arange(len(value)) - np.repeat(heads, length) + np.repeat(taken[value[heads]], length)
    np.add.at(taken, value[heads], length)
    order: Integers = rank
    return order


def _aligned(files: Sequence[Blocks]) -> Iterator[list[Array]]:
    """Yield the rows of all files, a block of places at a time."""
    held: list[Array] | None = None
    for file in files:
        if not file.total:
            continue
        columns = file.take()
        if held is not None:
            columns = [np.concatenate(pair) for pair in zip(held, columns, strict=True)]
        whole = len(columns[0]) // PLACES * PLACES
        for begin in range(0, whole, PLACES):
            yield [column[begin : begin + PLACES] for column in columns]
        held = [column[whole:] for column in columns]
    if held is not None and len(held[0]):
        yield held
