"""Columns and views beside the original table: nothing lost, nothing invented, in every group or at least somewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Integers
from sfumato.auditor._group_kernels import LackingEntries, stand_behind
from sfumato.auditor.claims import ShownCounts
from sfumato.auditor.original import wrong_totals
from sfumato.release.covering import Cover, ShownPart, distinct_rows
from sfumato.table.table import Table


@dataclass(frozen=True)
class ShownTable:
    """One published table: what it shows of a person as a part with a code per value, and how often, where it says so."""

    name: str
    part: ShownPart
    times: Integers | None


ListedPeople = tuple[Integers, Integers | None]
"""People as rows of what the tables would show of them, and how many each row stands for; None: one."""


def compare(
    histograms: ShownCounts,
    shown: list[ShownTable],
    people: Iterable[ListedPeople],
    table: Table,
    missing: int,
    *,
    disjoint: bool,
) -> list[str]:
    """Return where the release is not one of this table, when `missing` people may have been left out.

    `people` come some at a time, as rows: what `shown[j]` would show of row r, −1 where it shows nothing like it; the last is
    `st`. If groups are `disjoint`, no two covering the same values, everybody's group is known, and every table must add up in
    every group. Otherwise everybody must fit some group, and every entry must have people who fit.
    """
    problems = []
    if histograms.people + missing != table.rows:
        problems.append(f"{histograms.people} people are published and {missing} left out, but the table has {table.rows}")
    problems += wrong_totals(histograms, table, table.rows - histograms.people)
    if disjoint:
        return problems + _in_their_groups(shown, people, missing)
    (everybody,) = people  # where groups overlap, people are in memory
    return problems + _somewhere(shown, everybody[0], missing)


def _in_their_groups(shown: list[ShownTable], people: Iterable[ListedPeople], missing: int) -> list[str]:
    """Return which tables do not add up to the people whom the groups cover."""
    cover, uncovered = Cover(tuple(table.part for table in shown[:-1])), 0
    lacking = np.zeros(len(shown), bool)
    none = np.zeros(0, np.int64)
    entries = [(none, none) for _ in shown]
    for rows, weight in people:
        distinct, which = distinct_rows(rows[:, :-1])
        of_row = np.full(len(distinct), -1, np.int64)
        for owner, covering in cover.pairs(distinct):
            of_row[owner] = covering
        group = of_row[which]
        times = np.ones(len(group), np.int64) if weight is None else weight
        uncovered += int(times[group < 0].sum())
        for j, (table, codes) in enumerate(zip(shown, rows.T, strict=True)):
            inside = (group >= 0) & (codes >= 0)
            lacking[j] |= bool((group[codes < 0] >= 0).any())
            keys, many = entries[j]
            entries[j] = _added([keys, group[inside] * table.part.size + codes[inside]], [many, times[inside]])
    problems = []
    if uncovered > missing:
        problems.append(f"{uncovered} people of the table are covered by no group")
    for table, lacks, (real, have) in zip(shown, lacking.tolist(), entries, strict=True):
        published = table.part.group * table.part.size + table.part.codes
        if not missing and lacks:
            problems.append(f"table {table.name!r} lacks a value that people of its groups have")
        wrong = _differences(published, table.times, real, have, missing)
        if wrong:
            problems.append(f"table {table.name!r}: {wrong} rows are not what the people of their groups have")
    return problems


def _added(keys: list[Integers], times: list[Integers]) -> tuple[Integers, Integers]:
    """Return the different keys, ascending, and how often each occurs in all."""
    distinct, where = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, where, np.concatenate(times))
    return distinct, total


def _differences(shown: Integers, times: Integers | None, real: Integers, have: Integers, missing: int) -> int:
    """Return how many entries are invented, lost or counted wrongly; with people missing, only what is invented or too many."""
    place = np.minimum(np.searchsorted(real, shown), max(len(real) - 1, 0))
    known = real[place] == shown if len(real) else np.zeros(len(shown), bool)
    wrong = int((~known).sum())
    if not missing:
        wrong += len(real) - int(known.sum())
    if times is not None:
        more = times[known] > have[place[known]] if missing else times[known] != have[place[known]]
        wrong += int(more.sum())
    return wrong


def _somewhere(shown: list[ShownTable], people: Integers, missing: int) -> list[str]:
    """Return who fits no group, and what has nobody who fits, where groups cover the same values."""
    distinct, which = distinct_rows(people)
    weight = np.bincount(which, minlength=len(distinct))
    cover = Cover(tuple(shown_part.part for shown_part in shown))
    lengths = np.stack([np.diff(shown_part.part.start) for shown_part in shown], axis=1)
    ends = np.cumsum(lengths.reshape(-1)).reshape(lengths.shape)
    begin = np.concatenate([ends[:, :1] - lengths[:, :1], ends], axis=1)
    # What a group shows stands side by side: people are many, and this is where they are looked up.
    order = np.argsort(np.concatenate([shown_part.part.group for shown_part in shown]), kind="stable")
    table = np.repeat(np.arange(len(shown)), [len(shown_part.part.codes) for shown_part in shown])[order]
    codes = np.concatenate([shown_part.part.codes for shown_part in shown]).astype(np.int64)[order]
    times = [
        np.ones(len(shown_part.part.codes), np.int64) if shown_part.times is None else shown_part.times for shown_part in shown
    ]
    lacking = np.concatenate(times)[order]
    entries = LackingEntries(begin, codes, lacking, lengths.sum(axis=1))
    fits = np.zeros(len(distinct), bool)
    for owner, group in cover.pairs(distinct):
        fits[owner] = True
        stand_behind(owner, group, distinct, weight, entries)
    problems = []
    lost = int(weight[~fits].sum())
    if lost > missing:
        problems.append(f"{lost} people of the table fit no group that shows their sensitive value")
    for j, shown_part in enumerate(shown):
        short = int((lacking[table == j] > 0).sum())
        if short and shown_part.times is None:
            problems.append(f"table {shown_part.name!r}: {short} rows show a value that nobody has who fits their group")
        elif short:
            problems.append(
                f"table {shown_part.name!r}: {short} rows are shown more often than there are people who fit their group"
            )
    return problems
