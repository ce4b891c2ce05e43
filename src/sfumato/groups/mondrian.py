"""Mondrian: recursive cuts at the median, a classical constraint kept on both sides of every cut (LeFevre et al., ICDE 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import Infeasible, InputError
from sfumato.exact import decimal_text, percent
from sfumato.groups._mondrian_kernels import (
    BOUNDS,
    DISTINCT,
    ENTROPY,
    EQUAL,
    ORDERED,
    RECURSIVE,
    Classical,
    Relaxed,
    entropy_suffices,
)
from sfumato.groups.cuts import Space, cut_space, secret_of
from sfumato.groups.grouping import Grouping, need_table
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import round_up
from sfumato.progress import Progress, silent
from sfumato.table.column import Column

ConstraintName = Literal["bounds", "distinct", "entropy", "recursive", "t-closeness"]


@dataclass(frozen=True)
class Constraint:
    """What every group satisfies beyond its bounds and a size of k; monotone: no cut can mend a box that breaks it.

    ``distinct``: at least l values. ``entropy``: −Σ q ln q ≥ ln l. ``recursive``: r₁ < c·(r_l + … + r_m), counts falling.
    ``t-closeness``: the earth mover's distance from the table's shares is at most t, all values being equally far apart
    (½ Σ|q − p|) or, ``ordered``, lying in the order of their codes in steps of 1/(m−1).

    All are decided in integers; entropy by logarithms where it lies further than 1e-9 from ln l, and nearer than that only exact
    equality passes, which integers decide. So a group may be refused whose entropy exceeds ln l by less, never the reverse.
    """

    kind: ConstraintName = "bounds"
    l: int = 1
    c: Fraction = Fraction(0)
    t: Fraction = Fraction(0)
    distance: Literal["equal", "ordered"] = "equal"

    @property
    def rule(self) -> int:
        """The constraint's number in the kernels."""
        if self.kind == "t-closeness":
            return ORDERED if self.distance == "ordered" else EQUAL
        return {"bounds": BOUNDS, "distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}[self.kind]

    def most(self, bounds: Bounds) -> Integers:
        """Return what a kernel compares with, exactly: the largest r₁ for every tail, or the largest distance for every size.

        ⌈c·tail⌉ − 1 for recursive diversity; for t-closeness ⌊t·n·size·2⌋, or ·(m−1) when ordered, because that is how far the
        integers Σ|count·n − total·size| may go.
        """
        if self.kind == "recursive":
            up, down = self.c.numerator, self.c.denominator
            return np.array([min(-(-up * tail // down) - 1, bounds.people) for tail in range(bounds.people + 1)], dtype=np.int64)
        if self.kind == "t-closeness":
            if 2 * len(bounds.counts) * bounds.people**2 >= 1 << 62:
                raise InputError(
                    f"t-closeness of {bounds.people} people with {len(bounds.counts)} values needs numbers beyond 64 bits",
                    hint="use fewer values, or another constraint",
                )
            steps = max(len(bounds.counts) - 1, 1) if self.distance == "ordered" else 2
            up, down = self.t.numerator * bounds.people * steps, self.t.denominator
            return np.array([up * size // down for size in range(bounds.people + 1)], dtype=np.int64)
        return np.zeros(1, np.int64)


def mondrian(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    *,
    constraint: Constraint,
    k: int,
    relaxed: bool,
    progress: Progress = silent,
) -> Grouping:
    """Return groups of at least k people that keep the bounds and the constraint.

    A box is cut across the column in which it is widest (of those that can be cut), at the allowable boundary nearest the median;
    equal widths go to the earlier column, equally even boundaries to the lower value. Width is the part of the table's range, for
    categories in the order of `Space`. Strict cuts separate values. Relaxed ones halve the box, dividing the people at the median
    in the order of the rows, which must be one of coins; where the halves would break the constraint, the cut is a strict one. A
    box in which all columns are constant is final: to divide people who look alike would tell nobody more.
    """
    strict = classical(bounds, constraint=constraint, k=k)
    return classical_boxes(columns, sensitive, bounds, Relaxed(strict) if relaxed else strict, progress)


def classical_boxes(
    columns: Sequence[Column], sensitive: Array, bounds: Bounds, acceptance: Classical | Relaxed, progress: Progress = silent
) -> Grouping:
    """Return the boxes of cuts that Mondrian accepts."""
    space = Space.of(columns)
    rows = np.arange(len(sensitive), dtype=np.int32)
    alike = np.ones(len(columns))
    return cut_space(space, secret_of(sensitive, bounds), rows, acceptance, basis="tight", weights=alike, progress=progress)


def classical(bounds: Bounds, *, constraint: Constraint, k: int) -> Classical:
    """Return what accepts cuts; raise `Infeasible` where not even the whole table keeps the constraint."""
    require_room(constraint, bounds, k)
    need, start = need_table(bounds)
    return Classical(
        k=k,
        look=bounds.protects or constraint.kind != "bounds",
        need=need,
        start=start,
        rule=constraint.rule,
        l=constraint.l,
        most=constraint.most(bounds),
        whole=np.array(bounds.counts, dtype=np.int64),
    )


def require_room(constraint: Constraint, bounds: Bounds, k: int) -> None:
    """Raise `Infeasible`, with what would work, unless the table as a whole satisfies the constraint: else no group can."""
    total, values = bounds.people, len(bounds.counts)
    if k > total:
        raise Infeasible(
            f"k = {k}: no group can hold so many people, the table has {total}",
            hint=f"k = {total} or less",
            nearest={"k": total},
        )
    if constraint.kind in ("distinct", "entropy", "recursive") and values < constraint.l:
        raise Infeasible(
            f"{constraint.kind} l-diversity with l = {constraint.l}: the table has only {values} sensitive values",
            hint=f"l = {values} or less",
            nearest={"l": values},
        )
    if constraint.kind == "entropy":
        _require_entropy(constraint.l, bounds)
    if constraint.kind == "recursive":
        _require_spread(constraint, bounds)


def _require_entropy(l: int, bounds: Bounds) -> None:
    counts = np.array(bounds.counts, dtype=np.int64)
    if entropy_suffices(counts, bounds.people, l):
        return
    entropy = math.log(bounds.people) - sum(count * math.log(count) for count in bounds.counts) / bounds.people
    fits = next(less for less in range(l - 1, 0, -1) if entropy_suffices(counts, bounds.people, less))
    most, share = _most_frequent(bounds)
    raise Infeasible(
        f"entropy l-diversity with l = {l}: the whole table reaches only {math.exp(entropy):.4g}; the most frequent value, "
        f"{most}, has {percent(share)} of the people",
        hint=f"l = {fits} or less",
        values=[most],
        has={most: share},
        nearest={"l": fits},
    )


def _require_spread(constraint: Constraint, bounds: Bounds) -> None:
    falling = sorted(bounds.counts, reverse=True)
    tail = sum(falling[constraint.l - 1 :])
    if falling[0] < constraint.c * tail:
        return
    ratio = Fraction(falling[0], tail)
    least = round_up(ratio) + (Fraction(1, 10_000) if round_up(ratio) == ratio else 0)
    most, share = _most_frequent(bounds)
    raise Infeasible(
        f"recursive (c, l)-diversity with c = {decimal_text(constraint.c)}, l = {constraint.l}: {most} has {falling[0]} people, "
        f"and must have fewer than c times {tail}",
        hint=f"c = {decimal_text(least)} or more, or a smaller l",
        values=[most],
        has={most: share},
        nearest={"c": least},
    )


def _most_frequent(bounds: Bounds) -> tuple[str, Fraction]:
    most = max(range(len(bounds.counts)), key=bounds.counts.__getitem__)
    return bounds.values[most], bounds.shares[most]
