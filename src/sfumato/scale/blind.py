"""Blind groups beyond memory: the plan on counts, people of a value ranked by coins, and then arithmetic.

Coins are drawn by place, as in memory: the people of a value in the order of their coins take its slots one after another. What
is as long as the table lies in files; the driver holds a few numbers a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups.blind import Slots
from sfumato.groups.streams import Step
from sfumato.randomness import Randomness
from sfumato.scale.layout import Blocks, Layout, scatter
from sfumato.scale.places import Series, ascending, packed, sorted_files

_LONG = np.dtype(np.int64)


@dataclass(frozen=True, eq=False)
class Dealt:
    """Groups in canonical order: `rows` (quasi codes, group) and `entries` (group, value, count) lie in files."""

    rows: Series
    entries: Series
    sizes: Integers


def deal(people: Blocks, sizes: Sequence[int], slots: Slots, random: Randomness, place: Path, at_once: int) -> Dealt:
    """Deal everybody to the slots of her value. `sizes` are those of the quasi columns, then of the sensitive one, last."""
    place.mkdir(mode=0o700, exist_ok=True)
    layout = people.layout
    ordered = sorted_files(people, layout, sizes, place / "ordered", at_once)
    ranked = ranked_files(ordered, sizes, random.spawn(Step.DEAL), place, at_once)
    files = _seated(ranked, sizes, slots, place, at_once)
    number, group_sizes = _numbered(files, sizes, slots.groups, place)
    return _arranged(files, sizes, number, group_sizes, place, at_once)


def ranked_files(ordered: Sequence[Blocks], sizes: Sequence[int], random: Randomness, place: Path, at_once: int) -> list[Blocks]:
    """Return everybody by value, then by a coin of her place in these files, which comes last; in files of one block each."""
    # Where two people of one value drew equal coins, all draw again.
    drawn = (_ranked(ordered, sizes, random.spawn(attempt), place, at_once) for attempt in count())
    ranked = next(file for file in drawn if file is not None)
    for file in ordered:
        file.path.unlink(missing_ok=True)
    return ranked


def _ranked(
    ordered: Sequence[Blocks], sizes: Sequence[int], random: Randomness, place: Path, at_once: int
) -> list[Blocks] | None:
    """Return everybody by value, then by coin, in files; None where two coins of one value are equal."""
    counts = np.zeros(sizes[-1], np.int64)
    for file in ordered:
        counts += np.bincount(file.read()[-1], minlength=len(counts))
    start, total = np.cumsum(counts) - counts, int(counts.sum())
    wide = Layout((*ordered[0].layout.types, np.dtype(np.uint64)))
    files = [Blocks(place / f"ranked{k}", wide) for k in range(-(-total // at_once))]
    at = 0
    for file in ordered:
        columns = file.read()
        key = random.at_places(at, at + file.total)
        at += file.total
        # Where a person will stand, roughly, in the order of values and coins.
        many = counts[columns[-1]].astype(np.uint64)
        expected = start[columns[-1]] + ((key >> np.uint64(32)) * many >> np.uint64(32)).astype(np.int64)
        scatter([*columns, key], expected // at_once, files)
    for file in files:
        columns = file.take()
        order = np.lexsort((columns[-1], columns[-2]))
        *rest, value, key = (column[order] for column in columns)
        if ((key[1:] == key[:-1]) & (value[1:] == value[:-1])).any():
            for other in files:
                other.path.unlink(missing_ok=True)
            return None
        file.append([*rest, value, key])
    return files


def _seated(ranked: Sequence[Blocks], sizes: Sequence[int], slots: Slots, place: Path, at_once: int) -> list[Blocks]:
    """Return everybody with her group, in files by group: quasi codes, value, group."""
    total = sum(file.total for file in ranked)
    many = max(1, -(-total // at_once))
    wide = Layout((*ranked[0].layout.types[:-1], _LONG))
    files = [Blocks(place / f"seated{k}", wide) for k in range(many)]
    taken = np.zeros(sizes[-1], np.int64)
    for file in ranked:
        if not file.total:
            continue
        *codes, value, _ = file.take()
        group = np.empty(len(value), np.int64)
        heads = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
        for begin, end in zip(heads.tolist(), [*heads[1:].tolist(), len(value)], strict=True):
            code = int(value[begin])
            group[begin:end] = slots.take(code, int(taken[code]), int(taken[code]) + end - begin)
            taken[code] += end - begin
        scatter([*codes, value, group], group * many // slots.groups, files)
    for file in files:
        columns = file.take()
        order = ascending([columns[-1], *packed(columns, sizes)])
        file.append([column[order] for column in columns])
    return files


def _numbered(files: Sequence[Blocks], sizes: Sequence[int], groups: int, place: Path) -> tuple[Integers, Integers]:
    """Return the canonical number of every group, and how many people it has.

    Groups are compared by what they show, one number after another: their rows, −1, the entries of `st`, −1. Those that are
    still equal are compared by their next numbers, until all differ or nothing is left: then they are interchangeable.
    """
    size, rank = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    kept: list[tuple[Path, Path, int]] = []
    for k, file in enumerate(files):
        *codes, value, group = file.read()
        if not len(group):
            continue
        low = int(group[0])
        start, numbers = _sequences(codes, value, group - low, sizes)
        size[low : low + len(start) - 1] = np.bincount(group - low)
        paths = place / f"start{k}.npy", place / f"numbers{k}.npy"
        np.save(paths[0], start)
        np.save(paths[1], numbers)
        kept.append((*paths, low))
    depth, open_ = 0, np.ones(groups, bool)
    while open_.any():
        key = np.zeros(groups, np.int64)
        for starts, numbers_, low in kept:
            start, numbers = np.load(starts), np.load(numbers_, mmap_mode="r")
            mine = np.flatnonzero(open_[low : low + len(start) - 1] & (start[:-1] + depth < start[1:]))
            key[low + mine] = numbers[start[:-1][mine] + depth] + 2
        some = np.flatnonzero(open_)
        order = np.lexsort((key[some], rank[some]))
        ranks, keys = rank[some][order], key[some][order]
        fresh = np.append(True, (ranks[1:] != ranks[:-1]) | (keys[1:] != keys[:-1]))
        # A group's rank is how many groups come before all of those it is still equal to.
        base = np.flatnonzero(np.append(True, ranks[1:] != ranks[:-1]))
        of_base = np.cumsum(np.append(False, ranks[1:] != ranks[:-1]))
        rank[some[order]] = ranks + np.maximum.accumulate(np.where(fresh, np.arange(len(some)), 0)) - base[of_base]
        alone = fresh & np.append(fresh[1:], True)
        open_[some[order]] = ~alone & (keys > 0)  # 0: nothing is left to compare
        depth += 1
    for starts, numbers_, _ in kept:
        starts.unlink()
        numbers_.unlink()
    number = np.empty(groups, np.int64)
    number[np.argsort(rank, kind="stable")] = np.arange(groups)
    return number, size


def _sequences(codes: Sequence[Array], value: Array, group: Integers, sizes: Sequence[int]) -> tuple[Integers, Integers]:
    """Return what each group shows as a sequence of numbers, and where it begins; rows are sorted by group and codes."""
    groups = int(group[-1]) + 1
    keys = packed(codes, sizes[:-1])
    rows = np.bincount(group, minlength=groups)
    of, shown, count = _entries(group, value, sizes[-1])
    entries = np.bincount(of, minlength=groups)
    length = rows * len(keys) + 1 + entries + 1
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    numbers = np.full(int(start[-1]), -1, np.int64)
    at = np.arange(len(group)) - np.repeat(np.cumsum(rows) - rows, rows)
    for j, key in enumerate(keys):
        numbers[start[:-1][group] + at * len(keys) + j] = key
    at = np.arange(len(of)) - np.repeat(np.cumsum(entries) - entries, entries)
    numbers[start[:-1][of] + rows[of] * len(keys) + 1 + at] = shown * (1 << 32) + count
    return start, numbers


def _entries(group: Integers, value: Array, values: int) -> tuple[Integers, Integers, Integers]:
    """Return group, value and count of every entry of `st`, sorted by group and value."""
    key, count = np.unique(group * values + value, return_counts=True)
    return key // values, key % values, count.astype(np.int64)


def _arranged(
    files: Sequence[Blocks], sizes: Sequence[int], number: Integers, group_sizes: Integers, place: Path, at_once: int
) -> Dealt:
    """Return everybody in canonical order, and what groups show of values."""
    ordered = np.empty(len(number), np.int64)
    ordered[number] = group_sizes
    part = (np.cumsum(ordered) - ordered) // at_once
    layout = files[0].layout
    targets = [Blocks(place / f"arranged{k}", layout) for k in range(int(part[-1]) + 1)]
    for file in files:
        columns = file.take()
        columns[-1] = number[columns[-1]]
        scatter(columns, part[columns[-1]], targets)
    rows, entries = [], []
    for k, target in enumerate(targets):
        columns = target.take()
        order = ascending([columns[-1], *packed(columns, sizes[:-1])])
        *codes, value, group = (column[order] for column in columns)
        rows.append(Blocks(place / f"rows{k}", Layout((*layout.types[:-2], _LONG))))
        rows[-1].append([*codes, group])
        entries.append(Blocks(place / f"entries{k}", Layout((_LONG, _LONG, _LONG))))
        entries[-1].append(list(_entries(group, value, sizes[-1])))
    return Dealt(Series([file for file in rows if file.total]), Series([file for file in entries if file.total]), ordered)
