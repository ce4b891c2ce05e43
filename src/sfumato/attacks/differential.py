"""Differential inference: two differentially private counts, and their ratio as belief (001 §2).

Q1 asks how many people have some quasi values, Q2 how many of them have a sensitive value. Both are answered with Laplace noise
of scale 1/ε. Where the group is large beside the noise, the ratio of the answers is the share of the value in the group: what is
told of a person's *kind* is not what differential privacy bounds. This says for how many people of a table, and from which size
of group on, that share is told and is above the bound of a policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats
from sfumato.errors import InputError
from sfumato.randomize.opendp_noise import laplace_answers
from sfumato.table.table import Table

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
SURE = 0.95
"""A share counts as told to be above its bound where the ratio of two answers says so with this chance."""


@dataclass(frozen=True)
class AtEpsilon:
    """What two counts with noise at one ε tell: of how many people and groups the ratio shows more than the bound allows."""

    epsilon: float
    groups: int
    people: float
    smallest: int | None
    needed: int | None


@dataclass(frozen=True)
class DifferentialInference:
    """The region of (x, ε) in which counts with noise tell more than a policy allows, for a table of one's own.

    `value`, `bound`, `size` and `share` are of the group in which a share is furthest above its bound, relative to it;
    `levels` has a line for each ε; `checked` compares Theorem 2 with noise that was drawn, where that was asked for.
    """

    value: str
    bound: float
    where: str
    size: int
    share: float
    levels: tuple[AtEpsilon, ...]
    checked: tuple[dict[str, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            **vars(self),
            "levels": [dict(vars(level)) for level in self.levels],
            "checked": [dict(level) for level in self.checked],
        }


def theorem(x: float, y: float, b: float) -> tuple[float, float]:
    """Return mean and variance of Y/X as Theorem 2 states them: (y/x)(1 + 2b²/x²) and (2b²/x²)(1 + (y/x)²).

    Both are Taylor values: X has density at 0, so that the true moments do not exist.
    """
    ripple = 2 * b**2 / x**2
    return y / x * (1 + ripple), ripple * (1 + (y / x) ** 2)


def chance_over(x: Floats | float, y: Floats | float, bound: Floats | float, epsilon: float) -> Floats:
    """Return the chance that Y > bound·X, for Y = y + noise and X = x + noise: exactly, for Laplace noise of scale 1/ε.

    Y − bound·X lies y − bound·x above 0, and its noise is the difference of two Laplace numbers of scales b and bound·b.
    """
    b = 1 / epsilon
    above = np.asarray(np.asarray(y) - np.asarray(bound) * np.asarray(x), dtype=np.float64)
    other = np.minimum(np.asarray(bound, dtype=np.float64), 1 - 1e-9) * b
    away = np.abs(above)
    with np.errstate(divide="ignore", under="ignore"):
        tail = (b**2 * np.exp(-away / b) - other**2 * np.exp(-away / np.maximum(other, 1e-300))) / (2 * (b**2 - other**2))
    return np.where(above > 0, 1 - tail, tail)


def needed_size(share: float, bound: float, epsilon: float) -> int | None:
    """Return from how many people x on the ratio shows, with 95 %, that a share is above its bound; None if it is not."""
    if share <= bound:
        return None
    low, high = 1, 2
    while chance_over(high, share * high, bound, epsilon) < SURE:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if chance_over(middle, share * middle, bound, epsilon) >= SURE else (middle + 1, high)
    return low


def differential_inference(
    table: Table, bounds: dict[str, float], *, epsilons: Sequence[float] = EPSILONS, draws: int = 0
) -> DifferentialInference:
    """Return what counts with noise tell about the groups of a table that one or two of its quasi columns make.

    With `draws`, Theorem 2 is compared with so many answers of OpenDP's Laplace mechanism for the group that `size` speaks of.
    """
    limits = np.array([bounds[label] for label in table.sensitive.labels])
    if not (limits < 1).any():
        raise InputError("every bound is 1, so that no belief can exceed it", hint="a policy that bounds some value")
    cells = _cells(table, limits)
    x, y, value, _ = cells
    over = y / x > limits[value]
    if not over.any():
        at = int(np.argmax(y / x / limits[value]))
        nothing = tuple(AtEpsilon(epsilon, 0, 0.0, None, None) for epsilon in epsilons)
        return DifferentialInference(*cells.described(at, table, limits), nothing, ())
    at = int(np.argmax(np.where(over & (x >= 20), y / x / limits[value], np.where(over, 1e-9, -1))))
    levels: list[AtEpsilon] = []
    for epsilon in epsilons:
        sure = over & (chance_over(x, y, limits[value], epsilon) >= SURE)
        needed = needed_size(float(y[at] / x[at]), float(limits[value[at]]), epsilon)
        levels.append(
            AtEpsilon(epsilon, int(sure.sum()), _people(table, cells, sure), int(x[sure].min()) if sure.any() else None, needed)
        )
    checked = tuple(_checked(float(x[at]), float(y[at]), epsilon, draws) for epsilon in epsilons) if draws else ()
    return DifferentialInference(*cells.described(at, table, limits), tuple(levels), checked)


Where = tuple[tuple[int, ...], int]


class CountedCells(NamedTuple):
    """The groups of one or two quasi columns with every bounded value that they have: people, how many have it, which it is."""

    size: Any
    count: Any
    value: Any
    where: list[Where]

    def described(self, at: int, table: Table, limits: Floats) -> tuple[str, float, str, int, float]:
        """Return value and bound of a cell, the columns that make its group, its people, and the share who have the value."""
        names = " and ".join(table.quasi[j].name for j in self.where[at][0])
        value, size = self.value[at], int(self.size[at])
        return table.sensitive.labels[value], float(limits[value]), names, size, float(self.count[at] / size)


def _cells(table: Table, limits: Floats) -> CountedCells:
    """Return every cell of a table."""
    values = len(limits)
    sizes, counts, which = [], [], []
    where: list[Where] = []
    for chosen in [(j,) for j in range(len(table.quasi))] + list(combinations(range(len(table.quasi)), 2)):
        key = _key(table, chosen)
        people = np.bincount(key)
        pairs, many = np.unique(key * values + table.sensitive.codes.astype(np.int64), return_counts=True)
        kept = limits[pairs % values] < 1
        sizes.append(people[pairs[kept] // values])
        counts.append(many[kept])
        which.append(pairs[kept] % values)
        where += [(chosen, int(cell)) for cell in pairs[kept] // values]
    return CountedCells(np.concatenate(sizes), np.concatenate(counts), np.concatenate(which), where)


def _key(table: Table, chosen: tuple[int, ...]) -> Any:
    key = np.zeros(table.rows, np.int64)
    for j in chosen:
        key = key * table.quasi[j].size + table.quasi[j].codes
    return key


def _people(table: Table, cells: CountedCells, sure: Any) -> float:
    """Return the share of people who have a value in a group where it is told to be above its bound."""
    above = np.zeros(table.rows, bool)
    codes = table.sensitive.codes.astype(np.int64)
    marked: dict[tuple[int, ...], list[int]] = {}
    for k in np.flatnonzero(sure):
        chosen, cell = cells.where[k]
        marked.setdefault(chosen, []).append(cell * len(table.sensitive.domain) + int(cells.value[k]))
    for chosen, pairs in marked.items():
        above |= np.isin(_key(table, chosen) * len(table.sensitive.domain) + codes, np.array(pairs))
    return float(above.mean())


def _checked(x: float, y: float, epsilon: float, draws: int) -> dict[str, float]:
    """Return Theorem 2's mean and deviation of the ratio beside those of noise that OpenDP's Laplace mechanism drew."""
    mean, variance = theorem(x, y, 1 / epsilon)
    noisy_x, noisy_y = (laplace_answers(count, 1 / epsilon, draws) for count in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = noisy_y / noisy_x
    return {
        "epsilon": epsilon,
        "theorem_mean": mean,
        "theorem_deviation": math.sqrt(variance),
        "median": float(np.median(ratio)),
        "clipped_deviation": float(np.clip(ratio, 0, 1).std()),
    }
