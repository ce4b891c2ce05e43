"""Compiled loops of the class model of groups that are shown column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.query.models._spread_kernels import at_least_once, solve_rate


@njit(cache=True, nogil=True)
def _chances(g: int, start: Any, codes: Any, shares: Any, inside: Any, chance: Any) -> None:
    """Fill in per class how likely one of its people shows what the group shows, adding up to 1, and by column in `inside`."""
    columns, classes = inside.shape
    chance[:] = shares.classes
    for j in range(columns):
        for c in range(classes):
            inside[j, c] = 0.0
        for e in range(start[j, g], start[j, g + 1]):
            for c in range(classes):
                inside[j, c] += shares.weight[codes[e], c]
        total = 0.0
        for c in range(classes):
            chance[c] *= inside[j, c]
            total += chance[c]
        for c in range(classes):
            chance[c] /= total


@njit(cache=True, nogil=True)
def learn_round(shown: Any, start: Any, codes: Any, shares: Any, spread: Any) -> None:
    """Spread the people of every group over classes, and over the values of each column: fill in `spread` from `shares`.

    The entries of column j and group g are `start[j, g]` to before `start[j, g + 1]`; codes count on from column to column.
    """
    weight, rate, tilt = shares.weight, shares.rate, spread.tilt
    columns, classes = len(start), len(shares.classes)
    spread.people[:] = 0.0
    spread.holders[:] = 0.0
    inside = np.empty((columns, classes))
    chance = np.empty(classes)
    belongs = np.empty(classes)
    room = np.empty(len(weight))
    for g in range(len(shown.sizes)):
        size = shown.sizes[g]
        _chances(g, start, codes, shares, inside, chance)
        belongs[:] = 0.0
        for e in range(shown.start[g], shown.start[g + 1]):
            value = shown.value[e]
            total = 0.0
            for c in range(classes):
                total += chance[c] * rate[value, c]
            for c in range(classes):
                part = shown.times[e] * chance[c] * rate[value, c] / total
                belongs[c] += part
                spread.holders[value, c] += part
        for j in range(columns):
            first, many = start[j, g], start[j, g + 1] - start[j, g]
            for k in range(many):
                room[k] = 0.0
                for c in range(classes):
                    room[k] += belongs[c] / size * weight[codes[first + k], c] / inside[j, c]
            t = solve_rate(float(size), 0.0, room, many)
            for k in range(many):
                tilt[first + k] = at_least_once(t * room[k]) / room[k]
            for c in range(classes):
                total = 0.0
                for k in range(many):
                    total += weight[codes[first + k], c] * tilt[first + k]
                for k in range(many):
                    entry = first + k
                    spread.people[codes[entry], c] += belongs[c] * weight[codes[entry], c] * tilt[entry] / total


@njit(cache=True, nogil=True)
def class_chances(start: Any, codes: Any, shares: Any, out: Any) -> None:
    """Fill in, per group and class, how likely a person of the class shows what the group shows; each row adds up to 1."""
    inside = np.empty((len(start), out.shape[1]))
    for g in range(len(out)):
        _chances(g, start, codes, shares, inside, out[g])


@njit(cache=True, nogil=True)
def narrow(start: Any, codes: Any, weight: Any, tilt: Any, accepted: Any, share: Any) -> None:
    """Multiply `share` [groups × classes] by the share of people whose value in one column is accepted."""
    groups, classes = share.shape
    taken, whole = share[0].copy(), share[0].copy()
    for g in range(groups):
        some = False
        for c in range(classes):
            taken[c], whole[c] = 0.0, 0.0
        for e in range(start[g], start[g + 1]):
            inside = accepted[codes[e]]
            some = some or inside
            for c in range(classes):
                part = weight[codes[e], c] * tilt[e]
                whole[c] += part
                if inside:
                    taken[c] += part
        for c in range(classes):
            share[g, c] = share[g, c] * taken[c] / whole[c] if some else 0.0


@njit(cache=True, nogil=True)
def weigh_classes(share: Any, chance: Any, rate: Any, wanted: Any, start: Any, value_of: Any, times: Any) -> tuple[float, float]:
    """Return the expected number of people with a wanted value who meet the condition, and the variance of as many coins."""
    groups, classes = share.shape
    value, variance = 0.0, 0.0
    for g in range(groups):
        for e in range(start[g], start[g + 1]):
            if wanted[value_of[e]]:
                inside, total = 0.0, 0.0
                for c in range(classes):
                    part = chance[g, c] * rate[value_of[e], c]
                    total += part
                    inside += part * share[g, c]
                p = min(1.0, inside / total)
                value += times[e] * p
                variance += times[e] * p * (1.0 - p)
    return value, variance
