"""Compiled loops of completed tables: a random placement of each box's values on its people."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True, nogil=True)
def spread_chances(cells: Any, box: Any, goals: Any, place: Any, chances: Any, out: Any) -> None:
    """Write to out[i, v] each person's chance of every value that her box shows; `out` is zero elsewhere."""
    cell, start, entry, value = cells.cell, cells.start, goals.entry, goals.value
    for i in range(len(cell)):
        b = box[i]
        own = start[b + 1] - start[b]
        at = place[b] + cell[i] - start[b]
        for k in range(entry[b + 1] - entry[b]):
            out[i, value[entry[b] + k]] = chances[at + k * own]


@njit(cache=True, nogil=True)
def deal(first: Any, boxes: Any, goals: Any, place: Any, chances: Any, words: Any, out: Any) -> None:
    """Write to out[i] a number for each person, that of her value among those of her box: k as often as the goal says.

    People are served one after the other, with weights in proportion to what is left of a value and to how many of
    those still to come are expected to want it: nearly a draw of the model, which `exchange` then mixes.
    """
    cell, start, entry, count = boxes.cell, boxes.start, goals.entry, goals.people
    most = 0
    for b in range(len(first) - 1):
        most = max(most, entry[b + 1] - entry[b])
    left, wanted, own = np.empty(most), np.empty(most), np.empty(most)
    for b in range(len(first) - 1):
        many, cells = entry[b + 1] - entry[b], start[b + 1] - start[b]
        for k in range(many):
            left[k] = count[entry[b] + k]
            wanted[k] = 0.0
        for i in range(first[b], first[b + 1]):
            at = place[b] + cell[i] - start[b]
            for k in range(many):
                wanted[k] += chances[at + k * cells]
        for i in range(first[b], first[b + 1]):
            at = place[b] + cell[i] - start[b]
            total, rest = 0.0, 0.0
            for k in range(many):
                own[k] = left[k] * (chances[at + k * cells] / max(wanted[k], 1e-9) + 1e-12)
                total += own[k]
                rest += left[k]
                wanted[k] -= chances[at + k * cells]
            target = np.float64(words[i] >> np.uint64(11)) / 9007199254740992.0 * total
            chosen = -1
            for k in range(many):
                if left[k] > 0.0:
                    chosen = k
                    target -= own[k]
                    if target < 0.0:
                        break
            left[chosen] -= 1.0
            out[i] = chosen


@njit(cache=True, nogil=True)
def exchange(first: Any, cell: Any, start: Any, place: Any, chances: Any, words: Any, out: Any) -> None:
    """Let each person once try to exchange values with somebody of her box: a Metropolis step of the model's placements."""
    for b in range(len(first) - 1):
        size, cells = first[b + 1] - first[b], start[b + 1] - start[b]
        if size < 2:
            continue
        for i in range(first[b], first[b + 1]):
            j = first[b] + np.int64(((words[i] & np.uint64(0xFFFFFFFF)) * np.uint64(size)) >> np.uint64(32))
            if out[i] == out[j]:
                continue
            mine, other = place[b] + cell[i] - start[b], place[b] + cell[j] - start[b]
            now = np.float64(chances[mine + out[i] * cells]) * chances[other + out[j] * cells]
            then = np.float64(chances[mine + out[j] * cells]) * chances[other + out[i] * cells]
            if np.float64(words[i] >> np.uint64(32)) * now < then * 4294967296.0:
                out[i], out[j] = out[j], out[i]
