"""Groups for two views (PriView): disjoint boxes in which every matching keeps α and the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import Infeasible
from sfumato.exact import ceil_inverse, decimal_text, percent
from sfumato.groups._cut_kernels import Secret, cut_level
from sfumato.groups.cuts import Space, cut_levels, secret_of, tree_of
from sfumato.groups.fragments._view_kernels import CERTAIN_PRESENCE, GOOD, GREY, Matched, judge_boxes
from sfumato.groups.fragments.cover import combined
from sfumato.groups.fragments.matchings import Worst, worst
from sfumato.groups.grouping import Grouping, need_table
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import round_up
from sfumato.progress import silent
from sfumato.table.column import Column

_BEHIND = 1e-3  # the weight of a moved column: cutting it leaves fewer joined values, so the others come first


@dataclass(frozen=True, eq=False)
class ViewRows:
    """The rows of the two views as numbers: equal numbers are equal rows."""

    left: Small
    right: Small

    @classmethod
    def of(cls, columns: Sequence[Column], moved: Sequence[str]) -> ViewRows:
        """Return the views in which these columns are moved to the sensitive ones."""
        return cls(
            row_numbers([column for column in columns if column.name not in moved]),
            row_numbers([column for column in columns if column.name in moved]),
        )


class _Promise(NamedTuple):
    """The people of two views, and what every box of them has to keep."""

    views: ViewRows
    sensitive: Array
    bounds: Bounds
    alpha: Fraction

    def worst(self, rows: Array | slice = slice(None)) -> Worst:
        """Return what is believed most of these people, all of them unless given."""
        return worst(self.views.left[rows], self.views.right[rows], self.sensitive[rows], self.bounds.limits)


@dataclass(frozen=True, eq=False)
class _Tree:
    """The boxes along the cuts: people `rows[low:high]`, two children each (−1: final), and what was found of each."""

    rows: Small
    low: Integers
    high: Integers
    child: Integers  # [boxes × 2]
    verdict: Integers


def row_numbers(columns: Sequence[Column]) -> Small:
    """Return for every person the number of her combination of values: 0, 1, … in ascending order of the combinations."""
    key = combined([column.codes for column in columns], [column.size for column in columns])
    return np.unique(key, return_inverse=True)[1].astype(np.int32)


def smallest_first(columns: Sequence[Column], sensitive: Array) -> list[str]:
    """Return the columns by how small groups can be if they are moved (the paper's rule), the best first.

    A group takes people from different buckets of a joined and a sensitive value: the smaller the largest bucket, the smaller
    the groups that use all of them up. Of equal ones the column with more buckets comes first, then the earlier one.
    """
    values = int(sensitive.max()) + 1
    ranked = []
    for place, column in enumerate(columns):
        buckets = np.bincount(column.codes.astype(np.int64) * values + sensitive)
        ranked.append((int(buckets.max()), -int(np.count_nonzero(buckets)), place, column.name))
    return [name for *_, name in sorted(ranked)]


def view_boxes(
    columns: Sequence[Column],
    moved: Sequence[str],
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    others: bool,
) -> Grouping:
    """Return disjoint boxes in which every row of one view beside every row of the other keeps α and the bounds.

    A box that breaks them may have parts that keep them, and the reverse. So boxes are cut as long as either side may hold a
    group; then two parts are kept if both could be solved, else the box itself if it is good, else it is left to the box it was
    cut from. Whom no box can take is an error; with `others` its advice is also to move other columns.
    """
    promise = _Promise(ViewRows.of(columns, moved), sensitive, bounds, alpha)
    tree = _cut(columns, moved, promise)
    final, lost = _choose(tree)
    if len(lost):
        raise _unsolved(tree, lost, promise, moved, others=others)
    group = np.empty(len(sensitive), np.int32)
    for number, box in enumerate(final.tolist()):
        group[tree.rows[tree.low[box] : tree.high[box]]] = number
    return Grouping(group, len(final), "tight")


def _cut(columns: Sequence[Column], moved: Sequence[str], promise: _Promise) -> _Tree:
    """Return all boxes along the cuts, each judged."""
    views, sensitive, bounds, alpha = promise
    space = Space.of(columns).lines
    need, start = need_table(bounds)
    enough = ceil_inverse(alpha)
    least = enough * min(bounds.needs)
    axes = space.axes(np.array([_BEHIND if column.name in moved else 1.0 for column in columns]))
    limits = np.array([float(limit) for limit in bounds.limits])
    most = np.array([alpha.numerator * size // alpha.denominator for size in range(len(sensitive) + 1)], dtype=np.int64)
    groups = Matched(views.left, views.right, need, start, limits, most, float(alpha), least, enough, strict=True)
    secret = secret_of(sensitive, bounds)
    assert isinstance(secret, Secret)
    rows = np.arange(len(sensitive), dtype=np.int32)

    def cut(low: Integers, high: Integers) -> Integers:
        where = cut_level(space.codes, axes, secret, rows, low, high, groups)
        whole = where < 0
        where[whole] = cut_level(space.codes, axes, secret, rows, low[whole], high[whole], groups._replace(strict=False))
        return where

    lows, highs, child = tree_of(cut_levels(len(rows), cut, silent))
    verdict = judge_boxes(rows, lows, highs, secret.codes[0], groups)
    for box in np.flatnonzero(verdict == GREY):
        worst = promise.worst(rows[lows[box] : highs[box]])
        verdict[box] = GOOD if worst.presence <= alpha and worst.belief <= worst.limit else CERTAIN_PRESENCE
    return _Tree(rows, lows, highs, child, verdict)


def _choose(tree: _Tree) -> tuple[Integers, Integers]:
    """Return the boxes to publish, and the final ones that neither they nor any box around them could solve."""
    boxes = len(tree.low)
    good = (tree.verdict == GOOD).tolist()
    child = tree.child.tolist()
    solved = [False] * boxes
    for box in range(boxes - 1, -1, -1):
        low, two = child[box]
        solved[box] = good[box] or (low >= 0 and solved[low] and solved[two])
    chosen, lost, waiting = [], [], [0]
    while waiting:
        box = waiting.pop()
        low, two = child[box]
        parted = low >= 0 and solved[low] and solved[two]
        if good[box] and not parted:
            chosen.append(box)
        elif low >= 0:
            waiting += [two, low]
        else:
            lost.append(box)
    return np.array(chosen, dtype=np.int64), np.array(lost, dtype=np.int64)


def _unsolved(tree: _Tree, lost: Integers, promise: _Promise, moved: Sequence[str], *, others: bool) -> Infeasible:
    """Return the error that says which condition a box broke, in numbers, and what all people as one group would keep."""
    alpha, everybody = promise.alpha, len(promise.sensitive)
    people = int((tree.high - tree.low)[lost].sum())
    box = lost[np.argmax((tree.high - tree.low)[lost])]
    worst = promise.worst(tree.rows[tree.low[box] : tree.high[box]])
    together = " and ".join(moved)
    taken = "nobody fits" if people == everybody else f"{people:,} of {everybody:,} people do not fit"
    reasons = []
    if worst.presence > alpha:
        reasons.append(_too_present(worst, alpha, together))
    if worst.belief > worst.limit:
        reasons.append(_too_sure(worst, together))
    nearest, advice = _one_group(promise.worst(), promise.bounds, alpha)
    other = f"recode {together}" + (", or move another column" if others else "") + ', or name = "ambiguity"'
    return Infeasible(
        f"{taken} into a box that keeps alpha and the bounds. In the largest box that was left, {'; '.join(reasons)}",
        hint=f"{advice} {other}",
        nearest=nearest,
    )


def _one_group(whole: Worst, bounds: Bounds, alpha: Fraction) -> tuple[dict[str, object], str]:
    """Return the α, and the β if there is one, that all people as one group would keep, and that in words; nothing if it is 1."""
    presence = max(alpha, round_up(whole.presence))
    advice = f'all people as one group would keep alpha = "{decimal_text(presence)}"'
    if len(set(bounds.limits)) == 1:
        belief = max(bounds.limits[0], round_up(whole.belief))
        if presence == belief == 1:
            return {}, "even all people as one group keep no alpha and no beta below 1;"
        if belief == 1:
            return {"alpha": presence, "beta": belief}, f'{advice}, but no beta below 1 (beta = "1" bounds presence alone); or'
        return {"alpha": presence, "beta": belief}, f'{advice} with beta = "{decimal_text(belief)}"; or'
    if whole.belief <= whole.limit:
        return {"alpha": presence}, f"{advice}; or"
    if presence == whole.belief == 1:
        return {}, "even all people as one group keep no alpha and no bound below 1;"
    return {}, f"{advice} with bounds of up to {percent(whole.belief)}; or"


def _too_present(worst: Worst, alpha: Fraction, together: str) -> str:
    return (
        f"presence: one value of {together} has {worst.most_joined:,} of {worst.people:,} rows, and {worst.again:,} people share "
        f"all other quasi values, so that a stranger would be {percent(worst.presence)} sure, more than {percent(alpha)}"
    )


def _too_sure(worst: Worst, together: str) -> str:
    return (
        f"association: of the rows with one value of {together}, {worst.joined:,}, there are {worst.both:,} with one sensitive "
        f"value, and {worst.again:,} people share all other quasi values, so that a reader would be {percent(worst.belief)} sure "
        f"that some such person has it, more than {percent(worst.limit)}"
    )
