"""Groups as the paper makes them, made complete: small, scattered over quasi space, each keeping α and the bounds by itself.

A group starts with ⌈1/β⌉ people of different values, the values with the most people first, drawn at random within a value. It is
extended, by the best of 32 people at a time, until it covers enough combinations. Residues go where there is room for them;
what is left then is one group, merged with others until it keeps everything. With `greedy` the first two are as printed: the
person of each value who covers most (`_bucket_kernels`); what the paper leaves open, residues that fit nowhere, is as above.

Groups overlap in quasi space: a person is covered by many, and nothing is claimed about what they tell together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import Infeasible
from sfumato.exact import decimal_text
from sfumato.groups.fragments.cover import combinations, covering_table, from_alpha
from sfumato.groups.grouping import Grouping, canonical_order, need_table
from sfumato.papers.overlapping._bucket_kernels import Hashed, from_buckets
from sfumato.papers.overlapping._scatter_kernels import RESIDUE, Crowd, insert_residues, merge_until, scatter
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import round_up
from sfumato.progress import Progress, silent
from sfumato.table.column import Column, code_type


def scattered_groups(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    suppress: bool,
    greedy: bool = False,
    progress: Progress = silent,
) -> Grouping:
    """Return groups that keep the bounds and people / combinations ≤ α each; `greedy` picks as Fig. 7 does.

    With `suppress`, people whom no group can take are left out; otherwise that is an error. It never happens where the table as
    a whole keeps α.
    """
    kind = code_type(max(column.size for column in columns))
    codes = np.stack([column.codes.astype(kind) for column in columns], axis=1)
    crowd = crowd_of(sensitive, bounds, codes, [column.size for column in columns], covering_table(len(sensitive), alpha))
    nearest = min(round_up(Fraction(len(sensitive), combinations(columns))), Fraction(1))
    bucket = sensitive if greedy else None
    return scattered(crowd, bounds, alpha, nearest, bucket=bucket, suppress=suppress, progress=progress)


def crowd_of(value: Array, bounds: Bounds, codes: Array, sizes: Sequence[int], covering: Integers, least: int = 1) -> Crowd:
    """Return people, rows in an order of coins, as the kernels see them, and what a group of them may hold and must cover."""
    one_more = Bounds.of(bounds.values, tuple(count + 1 for count in bounds.counts), bounds.limits)  # is there room for the next?
    need, start = need_table(one_more)
    rank = np.empty(len(bounds.values), np.int64)
    rank[canonical_order(bounds)] = np.arange(len(rank))
    urgent = np.array(sorted(range(len(rank)), key=lambda v: (-need[start[v] + 1], rank[v])), dtype=np.int64)
    weight = np.array([float(1 / limit) for limit in bounds.limits])
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Crowd(value.astype(np.int32), codes, first, weight, urgent, need, start, covering, least)


def scattered(
    crowd: Crowd,
    bounds: Bounds,
    alpha: Fraction,
    nearest: Fraction,
    *,
    bucket: Array | None,
    suppress: bool,
    progress: Progress,
) -> Grouping:
    """Return the three steps' groups of a crowd; `nearest` is an α that could be kept.

    With `bucket` people are picked as printed, one from each bucket; without, at random.
    """
    value, values = crowd.value, len(bounds.values)
    progress("making groups", 0.0)
    if bucket is None:
        group, groups = scatter(crowd, *_by_value(value, np.arange(len(value), dtype=np.int32), values))
    else:
        group, groups = from_buckets(crowd, _hashed(bucket, value))
    progress("placing residues", 0.7)
    residues = np.flatnonzero(group == RESIDUE).astype(np.int32)
    if groups and len(residues):
        insert_residues(crowd, group, groups, *_by_value(value, residues, values))
    merged, suppressed = 0, 0
    if (group == RESIDUE).any():
        merged = _merge(group, groups, bounds, crowd)
        suppressed = int((group == RESIDUE).sum())
    if suppressed and (not suppress or suppressed == len(group)):
        raise _impossible(suppressed, alpha, nearest)
    return replace(_numbered(group), figures={"residues": len(residues), "merged": merged, "suppressed": suppressed})


def _by_value(value: Array, rows: Small, values: int) -> tuple[Small, Integers]:
    """Return the rows by value, each value's in their order, and where each value's begin."""
    own = value[rows].astype(code_type(values))
    begin = np.concatenate(([0], np.cumsum(np.bincount(own, minlength=values)))).astype(np.int64)
    return rows[np.argsort(own, kind="stable")], begin


def _hashed(bucket: Array, value: Small) -> Hashed:
    """Return the buckets that somebody is in, each one's people in their order."""
    own = np.unique(bucket, return_inverse=True)[1]
    rows = np.argsort(own, kind="stable").astype(np.int32)
    begin = np.concatenate(([0], np.cumsum(np.bincount(own)))).astype(np.int64)
    return Hashed(rows, begin, value[rows[begin[:-1]]].astype(np.int64))


def _merge(group: Small, groups: int, bounds: Bounds, crowd: Crowd) -> int:
    """Make what is left one group, with the groups that have most room for its values, and return how many those were.

    Nothing changes where no number of groups would do.
    """
    value, need, start = crowd.value, crowd.need, crowd.start
    left = np.bincount(value[group == RESIDUE], minlength=len(bounds.values))
    people = int(left.sum())
    tight = np.array([need[start[v] + left[v]] > people for v in range(len(left))])
    limits = np.array([float(limit) if tight[v] else 0.0 for v, limit in enumerate(bounds.limits)])
    inside = group >= 0
    sizes = np.bincount(group[inside], minlength=groups)
    slack = sizes * limits.sum() - np.bincount(group[inside & tight[value]], minlength=groups)
    best = np.argsort(-slack, kind="stable")
    place = np.empty(groups + 1, np.int64)
    place[best] = np.arange(1, groups + 1)
    place[-1] = 0  # a residue's −1
    turn = np.argsort(place[group], kind="stable")
    begin = np.concatenate(([0], [people], people + np.cumsum(sizes[best]))).astype(np.int64)
    done = merge_until(crowd, turn, begin)
    if done >= 0:
        group[turn[: begin[done + 1]]] = groups
    return max(int(done), 0)


def _numbered(group: Small) -> Grouping:
    """Return the groups that people stand in as a grouping, numbered without gaps."""
    used = np.bincount(group[group >= 0]) > 0
    label = np.append(np.cumsum(used) - 1, RESIDUE).astype(np.int32)
    return Grouping(label[group], int(used.sum()), "paper")


def _impossible(left: int, alpha: Fraction, nearest: Fraction) -> Infeasible:
    return Infeasible(
        f"alpha = {decimal_text(alpha)}: no group can take {left:,} of the people and keep it, not even all groups together",
        hint=f"{from_alpha(nearest)}, or suppress = true to leave out whom no group can take",
        nearest={"alpha": nearest},
    )
