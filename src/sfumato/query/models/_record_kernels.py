"""Compiled loops of the likelihood of randomized records: expected values, gradients, information, and one question.

People with the same levels are one *cell*; cells are in order of their levels, so that what the first columns say of a cell
is mostly what they said of the one before: products are made, and sums passed on, from the first column that differs.
`tables[l, v]` is the factor by which level l multiplies the weight of value v. A person of value v is seen in a slot, the
pair of a part and a published value y, with the chance spread[part, v], and kept[slot] more where y is v.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit

_FAST = {"reassoc", "contract"}  # sums in the order that is fastest: the same one at every run
_SIMPLE = 8  # so few values are looked up one by one


@njit(cache=True, nogil=True, fastmath=_FAST)
def _first_new(levels: Any, cell: int, before: int) -> int:
    """Return the first column in which a cell differs from the one before, which is −1 for none."""
    if before < 0:
        return 0
    for j in range(levels.shape[1]):
        if levels[cell, j] != levels[before, j]:
            return j
    return int(levels.shape[1]) - 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def _chances(levels: Any, cell: int, first: int, tables: Any, products: Any, out: Any) -> None:
    """Write to out[v] the chance of each value for the people of a cell; products[j] are those of the columns up to j."""
    values = len(out)
    columns = levels.shape[1]
    for j in range(first, columns):
        factor, own = tables[levels[cell, j]], products[j]
        if j == 0:
            for v in range(values):
                own[v] = factor[v]
        else:
            before = products[j - 1]
            for v in range(values):
                own[v] = before[v] * factor[v]
    last, total = products[columns - 1], 0.0
    for v in range(values):
        total += last[v]
    part = 1.0 / total
    for v in range(values):
        out[v] = last[v] * part


@njit(cache=True, nogil=True, fastmath=_FAST)
def score(people: Any, tables: Any, out: Any) -> tuple[float, Any]:
    """Return the log-likelihood of the slots, and the people of each value expected by quasi values alone.

    `out` gets its gradient by level and value. The people of cell c are slot[start[c]] … slot[start[c + 1] − 1].
    """
    levels, start, slot, part, value, _, spread, kept, _ = people
    cells, columns = levels.shape
    values = tables.shape[1]
    products, pulls = np.empty((columns, values)), np.zeros((columns, values))
    own, totals, likely = np.empty(values), np.zeros(values), 0.0
    out[:] = 0.0
    for c in range(cells):
        first = _first_new(levels, c, c - 1)
        if c:
            for j in range(columns - 1, first - 1, -1):  # what ends here is passed on to the columns before
                row, pull = out[levels[c - 1, j]], pulls[j]
                for v in range(values):
                    row[v] += pull[v]
                if j:
                    before = pulls[j - 1]
                    for v in range(values):
                        before[v] += pull[v]
                pull[:] = 0.0
        _chances(levels, c, first, tables, products, own)
        last = pulls[columns - 1]
        for i in range(start[c], start[c + 1]):
            s = slot[i]
            y, even, seen = value[s], spread[part[s]], 0.0
            for v in range(values):
                seen += even[v] * own[v]
            more = kept[s] * own[y]
            seen += more
            likely += np.log(seen)
            scale = 1.0 / seen
            for v in range(values):
                last[v] += own[v] * (even[v] * scale - 1.0)
                totals[v] += own[v]
            last[y] += more * scale
    if cells:
        for j in range(columns - 1, -1, -1):
            for v in range(values):
                out[levels[cells - 1, j], v] += pulls[j, v]
                if j:
                    pulls[j - 1, v] += pulls[j, v]
    return likely, totals


@njit(cache=True, nogil=True, fastmath=_FAST)
def information(people: Any, tables: Any, which: Any, step: int, alone: bool, out: Any) -> None:
    """Add to out[l, k, m] what one look at everybody's slot is expected to tell about the weights of levels l and k together.

    It is summed over the values v with which[v] = m, over every `step`-th cell; l is of a column not after that of k.
    """
    levels, start, _, _, value, begin, spread, kept, _ = people
    cells, columns = levels.shape
    values, parts = tables.shape[1], len(begin) - 1
    products, sums = np.empty((columns, values)), np.zeros((columns, out.shape[2]), np.float32)
    own, known, inverse = np.empty(values), np.empty(values), np.empty(len(value))
    before = -1
    for c in range(0, cells, step):
        first = _first_new(levels, c, before)
        if before >= 0:
            _pass_on(levels, before, first, sums, out)
        before = c
        _chances(levels, c, first, tables, products, own)
        for v in range(values):
            known[v] = 0.0 if alone else -own[v] * own[v]
        for t in range(parts):
            seen, even, shown = 0.0, spread[t], 0.0
            for v in range(values):
                seen += even[v] * own[v]
            whole = 0.0
            for s in range(begin[t], begin[t + 1]):
                here = max(seen + kept[s] * own[value[s]], 1e-300)
                inverse[s] = 1.0 / here
                whole += inverse[s]
                shown += here
            size, all_of_part = float(begin[t + 1] - begin[t]), 1.0 / max(shown, 1e-300)
            for s in range(begin[t], begin[t + 1]):
                y = value[s]
                less, more, mine = even[y], even[y] + kept[s], own[y]
                known[y] += mine * mine * ((more * more - less * less) * inverse[s] + less * less * whole)
                if alone:
                    share = mine * (size * less + kept[s]) * all_of_part
                    known[y] += shown * ((share - mine) ** 2 * share - share * share)
        many = float(start[c + 1] - start[c]) * step
        last = sums[columns - 1]
        for v in range(values):
            last[which[v]] += many * max(known[v], 0.0)
    if before >= 0:
        _pass_on(levels, before, 0, sums, out)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _pass_on(levels: Any, cell: int, first: int, sums: Any, out: Any) -> None:
    """Add the sums of the columns from `first` on, which end with a cell, to their pairs of levels, and to the column before."""
    many = sums.shape[1]
    for j in range(levels.shape[1] - 1, first - 1, -1):
        own = sums[j]
        for k in range(j + 1):
            row = out[levels[cell, k], levels[cell, j]]
            for m in range(many):
                row[m] += own[m]
        if j:
            before = sums[j - 1]
            for m in range(many):
                before[m] += own[m]
        own[:] = 0.0


@njit(cache=True, nogil=True, fastmath=_FAST)
def chances(everybody: Any, tables: Any) -> None:
    """Write to `chances` [c, v] the chance of each value for the people of a cell, and to seen[i] that of each person's slot."""
    cell, slot, part, value, spread, kept, out, levels, seen = everybody
    cells, columns = levels.shape
    values = tables.shape[1]
    products, own = np.empty((columns, values)), np.empty(values)
    for c in range(cells):
        _chances(levels, c, _first_new(levels, c, c - 1), tables, products, own)
        for v in range(values):
            out[c, v] = own[v]
    for i in range(len(cell)):
        s, row, total = slot[i], out[cell[i]], 0.0
        even = spread[part[s]]
        for v in range(values):
            total += even[v] * row[v]
        seen[i] = total + kept[s] * row[value[s]]


class RecordAnswer(NamedTuple):
    """What the model says of some people.

    r being the chance that a person has a wanted value given her slot, and p that by quasi values alone: `found` is Σ r,
    `placement` Σ r(1 − r), `score` Σ (r − p), `informed` Σ (r − p)², and `differ` Σ r(1 − r) by level.
    """

    found: float
    placement: float
    score: float
    informed: float
    differ: Any


def _ask(rows: Any, count: int, everybody: Any, wanted: Any, lines: int) -> RecordAnswer:
    cell, slot, part, value, spread, kept, chances, levels, seen = everybody
    here = rows[:count]
    s, c, few = slot[here], cell[here], np.flatnonzero(wanted)
    shown, own = value[s], chances[c][:, few].astype(np.float64)
    before = own.sum(axis=1)
    after = (own * spread[part[s]][:, few]).sum(axis=1) + np.where(wanted[shown], kept[s] * chances[c, shown], 0.0)
    r = np.minimum(after / seen[here], 1.0)
    open_, gap = r * (1.0 - r), r - before
    differ = sum(np.bincount(level, open_, lines) for level in levels[c].T)
    return RecordAnswer(float(r.sum()), float(open_.sum()), float(gap.sum()), float(gap @ gap), differ)


@njit(cache=True, nogil=True, plain=_ask, fastmath=_FAST)
def ask(rows: Any, count: int, everybody: Any, wanted: Any, lines: int) -> RecordAnswer:
    """Return what the model says of the first `count` of `rows`."""
    cell, slot, part, value, spread, kept, chances, levels, seen = everybody
    values, few = len(wanted), np.flatnonzero(wanted)
    flags, even = np.zeros(values, np.float32), np.zeros(spread.shape, np.float32)
    for k in range(len(few)):
        flags[few[k]] = 1.0
        even[:, few[k]] = spread[:, few[k]]
    differ = np.zeros(lines)
    found, chance, score, squares = 0.0, 0.0, 0.0, 0.0
    for t in range(count):
        i = rows[t]
        s, c = slot[i], cell[i]
        own, mine, y = chances[c], even[part[s]], value[s]
        before, after = np.float32(0.0), np.float32(0.0)
        if len(few) > _SIMPLE:  # all values, one behind the other, are faster than some here and there
            for v in range(values):
                before += own[v] * flags[v]
                after += own[v] * mine[v]
        else:
            for k in range(len(few)):
                before += own[few[k]]
                after += own[few[k]] * mine[few[k]]
        seen_here = float(after)
        if wanted[y]:
            seen_here += kept[s] * own[y]
        r = min(seen_here / seen[i], 1.0)
        open_, gap = r * (1.0 - r), r - before
        found += r
        chance += open_
        score += gap
        squares += gap * gap
        for j in range(levels.shape[1]):
            differ[levels[c, j]] += open_
    return RecordAnswer(found, chance, score, squares, differ)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _given_slot(row: Any, even: Any, lift: Any, kept: float, shown: int, out: Any) -> None:
    """Write to out[v] the chance of each value for a person whose slot is seen, `lift` being a factor of each value's."""
    total = 0.0
    for v in range(len(out)):
        out[v] = row[v] * lift[v] * even[v]
    out[shown] += row[shown] * lift[shown] * kept
    for v in range(len(out)):
        total += out[v]
    for v in range(len(out)):
        out[v] /= total


@njit(cache=True, nogil=True, fastmath=_FAST)
def shift_chances(levels: Any, chances: Any, factor: Any, out: Any) -> None:
    """Write to out[c, v] the chances of a cell times the factors of its levels."""
    for c in range(len(levels)):
        for v in range(chances.shape[1]):
            out[c, v] = chances[c, v]
        for j in range(levels.shape[1]):
            for v in range(chances.shape[1]):
                out[c, v] *= factor[levels[c, j], v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def lift_values(everybody: Any, goal: Any, rounds: int, lift: Any) -> None:
    """Change the factors `lift` of the values until the people expected of each, slots being seen, are its goal."""
    cell, slot, part, value, spread, kept, chances, _, _ = everybody
    own, found = np.empty(len(goal)), np.empty(len(goal))
    for _ in range(rounds):
        found[:] = 0.0
        for i in range(len(cell)):
            s = slot[i]
            _given_slot(chances[cell[i]], spread[part[s]], lift, kept[s], value[s], own)
            for v in range(len(goal)):
                found[v] += own[v]
        for v in range(len(goal)):
            lift[v] *= goal[v] / max(found[v], 1e-9)


@njit(cache=True, nogil=True, fastmath=_FAST)
def draw(everybody: Any, lift: Any, uniform: Any, out: Any) -> None:
    """Draw a value for every person from her chances, her slot being seen; uniform[i] lies between 0 and 1."""
    cell, slot, part, value, spread, kept, chances, _, _ = everybody
    own = np.empty(len(lift))
    for i in range(len(cell)):
        s = slot[i]
        _given_slot(chances[cell[i]], spread[part[s]], lift, kept[s], value[s], own)
        left = uniform[i]
        out[i] = value[s]
        for v in range(len(own)):
            left -= own[v]
            if left < 0.0:
                out[i] = v
                break
