"""Compiled loops of the multiplicative model: expected counts, gradients, raking, and one question.

People of a box with the same levels are one *cell*. Cells of a box lie together: start[box] … start[box + 1] − 1.
`tables[l, v]` is the factor by which level l multiplies the weight of value v. A column that is the same in a whole box is
handled once for the box.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit

MOST = 65_535  # the largest whole number that a chance is written as
_FAST = {"reassoc", "contract"}  # sums in the order that is fastest: the same one at every run


@njit(cache=True, nogil=True, fastmath=_FAST)
def _common(levels: Any, varies: Any, tables: Any, box: int, first: int, out: Any) -> None:
    """Write to out[v] the product of the factors that everybody in the box shares."""
    out[:] = 1.0
    for j in range(levels.shape[1]):
        if not varies[box, j]:
            row = levels[first, j]
            for v in range(len(out)):
                out[v] *= tables[row, v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _chances(levels: Any, varying: Any, columns: int, tables: Any, common: Any, cell: int, out: Any) -> None:
    """Write to out[v] the chance of each value for the people of a cell."""
    values = len(common)
    for v in range(values):
        out[v] = common[v]
    for t in range(columns):
        row = levels[cell, varying[t]]
        for v in range(values):
            out[v] *= tables[row, v]
    total = 0.0
    for v in range(values):
        total += out[v]
    part = 1.0 / total
    for v in range(values):
        out[v] *= part


@njit(cache=True, nogil=True, fastmath=_FAST)
def _list_varying(varies: Any, box: int, out: Any) -> int:
    columns = 0
    for j in range(varies.shape[1]):
        if varies[box, j]:
            out[columns] = j
            columns += 1
    return columns


@njit(cache=True, nogil=True, fastmath=_FAST)
def score(cells: Any, tables: Any, shown: Any, noise: Any) -> tuple[Any, Any]:
    """Return the expected count of every value in every box, and the gradient of the log-likelihood by level and value.

    The likelihood of a count is that of one with mean E and variance E + noise[box].
    """
    levels, weight, start, varies, _ = cells
    boxes, values = shown.shape
    expected = np.zeros((boxes, values))
    gradient = np.zeros(tables.shape)
    largest = 0
    for b in range(boxes):
        largest = max(largest, start[b + 1] - start[b])
    chances = np.empty((largest, values), np.float32)
    common, own, pull, all_of_box = np.empty(values), np.empty(values), np.empty(values), np.empty(values)
    varying = np.empty(levels.shape[1], np.int64)
    for b in range(boxes):
        first, last = start[b], start[b + 1]
        if first == last:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, first, common)
        for i in range(first, last):
            _chances(levels, varying, columns, tables, common, i, own)
            for v in range(values):
                chances[i - first, v] = own[v]
                expected[b, v] += weight[i] * own[v]
        for v in range(values):
            pull[v] = (shown[b, v] - expected[b, v]) / max(expected[b, v] + noise[b], 1e-9)
            all_of_box[v] = 0.0
        for i in range(first, last):
            mean = 0.0
            for v in range(values):
                mean += chances[i - first, v] * pull[v]
            for v in range(values):
                own[v] = weight[i] * chances[i - first, v] * (pull[v] - mean)
                all_of_box[v] += own[v]
            for t in range(columns):
                row = levels[i, varying[t]]
                for v in range(values):
                    gradient[row, v] += own[v]
        for j in range(levels.shape[1]):
            if not varies[b, j]:
                row = levels[first, j]
                for v in range(values):
                    gradient[row, v] += all_of_box[v]
    return expected, gradient


@njit(cache=True, nogil=True, fastmath=_FAST)
def slopes(cells: Any, tables: Any, chosen: Any, out: Any) -> None:
    """Write to out[k, l, v] how the expected count of v in the box chosen[k] grows with the weight of level l for v."""
    levels, weight, start, varies, _ = cells
    values = tables.shape[1]
    common, own, all_of_box = np.empty(values), np.empty(values), np.empty(values)
    varying = np.empty(levels.shape[1], np.int64)
    out[:] = 0.0
    for k in range(len(chosen)):
        b = chosen[k]
        first, last = start[b], start[b + 1]
        if first == last:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, first, common)
        all_of_box[:] = 0.0
        for i in range(first, last):
            _chances(levels, varying, columns, tables, common, i, own)
            for v in range(values):
                own[v] = weight[i] * own[v] * (1.0 - own[v])
                all_of_box[v] += own[v]
            for t in range(columns):
                row = levels[i, varying[t]]
                for v in range(values):
                    out[k, row, v] += own[v]
        for j in range(levels.shape[1]):
            if not varies[b, j]:
                row = levels[first, j]
                for v in range(values):
                    out[k, row, v] = all_of_box[v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def rake(cells: Any, tables: Any, goals: Any, place: Any, rounds: int, out: Any) -> None:
    """Write to `out` the chances of the values shown, scaled so that a box's people have every value as often as its goal.

    Box b shows the values value[entry[b]] … value[entry[b + 1] − 1]; the chances of
    the k-th of them stand in `out` from place[b] + k · (its cells) on, one for every cell.
    Each person's chances add up to one up to rounding, too.
    """
    levels, weight, start, varies, _ = cells
    entry, value, goal = goals.entry, goals.value, goals.people
    values = tables.shape[1]
    largest = 0
    for b in range(len(start) - 1):
        largest = max(largest, (start[b + 1] - start[b]) * (entry[b + 1] - entry[b]))
    flat = np.empty(largest)
    common, own, total = np.empty(values), np.empty(values), np.empty(values)
    varying = np.empty(levels.shape[1], np.int64)
    for b in range(len(start) - 1):
        first, last, e, many = start[b], start[b + 1], entry[b], entry[b + 1] - entry[b]
        if first == last or many == 0:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, first, common)
        chances = flat[: (last - first) * many].reshape(last - first, many)
        total[:many] = 0.0
        for i in range(first, last):
            _chances(levels, varying, columns, tables, common, i, own)
            part = 1e-300
            for k in range(many):
                part += own[value[e + k]]
            for k in range(many):
                chances[i - first, k] = own[value[e + k]] / part
                total[k] += weight[i] * chances[i - first, k]
        for _ in range(rounds):
            worst = 0.0
            for k in range(many):
                worst = max(worst, abs(goal[e + k] - total[k]))
                own[k] = goal[e + k] / max(total[k], 1e-300)
                total[k] = 0.0
            for i in range(first, last):
                part = 1e-300
                for k in range(many):
                    chances[i - first, k] *= own[k]
                    part += chances[i - first, k]
                for k in range(many):
                    chances[i - first, k] /= part
                    total[k] += weight[i] * chances[i - first, k]
            if worst < 1e-3:
                break
        for k in range(many):
            own[k] = goal[e + k] / max(total[k], 1e-300)
        for i in range(first, last):
            for k in range(many):
                out[place[b] + k * (last - first) + i - first] = chances[i - first, k] * own[k]


@njit(cache=True, nogil=True)
def believed(shown: Any, expected: Any, noise: Any) -> tuple[Any, Any]:
    """Return mean and variance of counts that are Poisson around `expected`, shown with normal noise of variance noise[box]."""
    mean, variance = np.empty(shown.shape), np.empty(shown.shape)
    for b in range(len(shown)):
        s2 = noise[b]
        for v in range(shown.shape[1]):
            e, y = expected[b, v], shown[b, v]
            # c + 1 is e·exp((y − c − ½)/s²)/(c + 1) times as likely as c: from below, Newton's method finds where that is 1.
            middle = max(min(e, y) - 1.0, 0.0)
            for _ in range(60):
                rise = np.log(e / (middle + 1.0)) + (y - middle - 0.5) / s2
                if rise <= 1e-3:
                    break
                middle += rise / (1.0 / (middle + 1.0) + 1.0 / s2)
            start = np.floor(middle)
            total, first, second = 1.0, 0.0, 0.0
            chance, c = 1.0, start
            while chance > 1e-13:
                chance *= e / (c + 1.0) * np.exp((y - c - 0.5) / s2)
                c += 1.0
                total += chance
                first += chance * (c - start)
                second += chance * (c - start) ** 2
            chance, c = 1.0, start
            while chance > 1e-13 and c > 0.0:
                chance *= c / e * np.exp((c - 0.5 - y) / s2)
                c -= 1.0
                total += chance
                first += chance * (c - start)
                second += chance * (c - start) ** 2
            away = first / total
            mean[b, v] = start + away
            variance[b, v] = max(second / total - away * away, 0.0)
    return mean, variance


def _pack(start: Any, entry: Any, place: Any, chances: Any, small: Any, scale: Any) -> None:
    for b in range(len(start) - 1):
        here = chances[place[b] : place[b + 1]].reshape(entry[b + 1] - entry[b], start[b + 1] - start[b])
        own = here.max(axis=1, initial=0.0) / np.float32(MOST)
        scale[entry[b] : entry[b + 1]] = own
        packed = here / np.where(own > 0, own, np.float32(1.0))[:, None] + np.float32(0.5)
        small[place[b] : place[b + 1]] = packed.astype(np.uint16).ravel()


@njit(cache=True, nogil=True, plain=_pack)
def pack(start: Any, entry: Any, place: Any, chances: Any, small: Any, scale: Any) -> None:
    """Write chances as whole numbers to `small`, in units of scale[e] for entry e of a box: half the room, read faster."""
    for b in range(len(start) - 1):
        cells = start[b + 1] - start[b]
        for k in range(entry[b + 1] - entry[b]):
            at = place[b] + k * cells
            most = np.float32(0.0)
            for i in range(at, at + cells):
                most = max(most, chances[i])
            unit = most / np.float32(MOST)
            scale[entry[b] + k] = unit
            for i in range(at, at + cells):
                small[i] = np.uint16(chances[i] / unit + np.float32(0.5)) if unit > 0 else np.uint16(0)


def _add_chances(start: Any, entry: Any, place: Any, small: Any, scale: Any, out: Any) -> None:
    for b in range(len(start) - 1):
        here = small[place[b] : place[b + 1]].reshape(entry[b + 1] - entry[b], start[b + 1] - start[b])
        out[start[b] : start[b + 1]] = scale[entry[b] : entry[b + 1]] @ here.astype(np.float32)


@njit(cache=True, nogil=True, plain=_add_chances, fastmath=_FAST)
def add_chances(start: Any, entry: Any, place: Any, small: Any, scale: Any, out: Any) -> None:
    """Write to out[cell] the sum of the chances of its people."""
    for b in range(len(start) - 1):
        cells = start[b + 1] - start[b]
        own = out[start[b] : start[b + 1]]
        own[:] = 0.0
        for k in range(entry[b + 1] - entry[b]):
            row, unit = small[place[b] + k * cells : place[b] + (k + 1) * cells], scale[entry[b] + k]
            for i in range(cells):
                own[i] += unit * np.float32(row[i])


class AskedPeople(NamedTuple):
    """Whom a question is about: the first `many` of `rows`.

    A row stands for times[row] people, for one where `times` is empty. Of a box hits[box] are asked about, of size[box].
    """

    rows: Any
    many: int
    times: Any
    hits: Any
    size: Any


class SoftmaxAnswer(NamedTuple):
    """What the model says of the people asked about: how many have a wanted value, and what is open in that.

    With A and Q Σ p(1 − p) over those asked and over the whole box, `placement` is Σ A·(1 − A/Q) over boxes. `squares` is Σ U²,
    where U is the same, but without the part of A/Q with which the box's count itself follows the model (`shrinkage`). `noise`
    is what noise in the boxes' counts (of variance `noise_variance`) adds to the variance, Σ (A/Q)²·noise_variance.
    `differ` is per level how those asked differ: Σ p(1 − p) over them less A/Q times that over their box, without that part.
    `each` is per cell what every person asked about adds to ΣU.
    """

    found: float
    placement: float
    squares: float
    noise: float
    differ: Any
    each: Any


def _ask(asked_of: AskedPeople, cells: Any, joint: Any, wanted: Any, goals: Any, packed: Any) -> SoftmaxAnswer:
    rows, count, times, people, size = asked_of
    _, weight, start, _, cell = cells
    codes, first_of, source, line, lines = joint
    entry, value, goal, noise_variance, shrinkage = goals
    place, small, scale, _ = packed
    many = times[rows[:count]] if len(times) else None
    asked = np.bincount(cell[rows[:count]], many, len(weight)).astype(np.int64)
    found, placement_variance, squares, unsure, sums = 0.0, 0.0, 0.0, 0.0, np.zeros(first_of[-1])
    each = np.zeros(len(weight), np.float32)
    for b in np.flatnonzero(people).tolist():
        here, listed = slice(start[b], start[b + 1]), np.flatnonzero(wanted[value[entry[b] : entry[b + 1]]])
        noise = float(noise_variance[entry[b] + listed].sum())
        if not len(listed) or (people[b] == size[b] and noise == 0.0):
            found += float(goal[entry[b] + listed].sum())
            continue
        free = float((goal * shrinkage)[entry[b] + listed].sum() / max(goal[entry[b] + listed].sum(), 1e-9))
        many_cells = start[b + 1] - start[b]
        shown = small[place[b] : place[b] + (entry[b + 1] - entry[b]) * many_cells].reshape(-1, many_cells)
        chance = (scale[entry[b] + listed] @ shown[listed].astype(np.float32)).astype(np.float64)
        found += float(asked[here] @ chance)
        open_ = np.minimum(chance, 1.0)
        open_ *= 1.0 - open_
        a, q = float(asked[here] @ open_), float(weight[here] @ open_)
        if q <= 0.0:
            continue
        share = a / q
        u = max(0.0, a * (1.0 - (1.0 - free) * share))
        placement_variance += max(0.0, a * (1.0 - share))
        squares, unsure = squares + u * u, unsure + share * share * noise
        each[here] = open_ * (1.0 - (1.0 - free) * share)
        more = open_ * (asked[here] - (1.0 - free) * share * weight[here])
        for group, at in zip(codes, first_of, strict=False):
            sums += np.bincount(at + group[here].astype(np.int64), more, len(sums))
    return SoftmaxAnswer(found, placement_variance, squares, unsure, np.bincount(line, sums[source], lines), each)


@njit(cache=True, nogil=True, plain=_ask, fastmath=_FAST)
def ask(asked_of: AskedPeople, cells: Any, joint: Any, wanted: Any, goals: Any, packed: Any) -> SoftmaxAnswer:
    """Return what the model says of the people asked about.

    Columns are put together in groups: codes[group, cell], sums of a group from first_of[group] on, and sums[source[f]] is part
    of what level line[f] has. `whole` has the sum of each cell's chances, which are small · scale.
    """
    rows, count, times, people, size = asked_of
    _, weight, start, _, cell = cells
    codes, first_of, source, line, lines = joint
    entry, value, goal, noise_variance, shrinkage = goals
    place, small, scale, whole = packed
    asked = np.zeros(len(weight), np.int32)
    for t in range(count):
        asked[cell[rows[t]]] += times[rows[t]] if len(times) else 1
    boxes, largest = len(start) - 1, 0
    for b in range(boxes):
        largest = max(largest, start[b + 1] - start[b])
    spread, sums, each = np.empty(largest, np.float32), np.zeros(first_of[-1]), np.zeros(len(weight), np.float32)
    at, by = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.float32)
    found, placement_variance, squares, unsure = 0.0, 0.0, 0.0, 0.0
    for b in range(boxes):
        first, last, e, many = start[b], start[b + 1], entry[b], entry[b + 1] - entry[b]
        if people[b] == 0:
            continue
        few, noise, free, held = 0, 0.0, 0.0, 0.0
        for k in range(many):
            if wanted[value[e + k]]:
                noise += noise_variance[e + k]
                free += shrinkage[e + k] * goal[e + k]
                held += goal[e + k]
                few += 1
        if few == 0 or (people[b] == size[b] and noise == 0.0):
            found += held
            continue
        free /= max(held, 1e-9)
        a, q, many_cells = 0.0, 0.0, last - first
        own = spread[:many_cells]
        rest = 2 * few > many  # the other values are fewer: what they leave of the sum
        for i in range(many_cells):
            own[i] = whole[first + i] if rest else 0.0
        sign = np.float32(-1.0 if rest else 1.0)
        listed = 0
        for k in range(many):
            if wanted[value[e + k]] != rest:
                at[listed], by[listed] = place[b] + k * many_cells, sign * scale[e + k]
                listed += 1
        # Most of the time goes here: slices, counted from 0, become vector instructions, and four at a time are read together.
        for k in range(0, listed - 3, 4):
            one, two = small[at[k] : at[k] + many_cells], small[at[k + 1] : at[k + 1] + many_cells]
            three, four = small[at[k + 2] : at[k + 2] + many_cells], small[at[k + 3] : at[k + 3] + many_cells]
            by1, by2, by3, by4 = by[k], by[k + 1], by[k + 2], by[k + 3]
            for i in range(many_cells):
                pair = by1 * np.float32(one[i]) + by2 * np.float32(two[i])
                own[i] += pair + (by3 * np.float32(three[i]) + by4 * np.float32(four[i]))
        for k in range(listed - listed % 4, listed):
            row, unit = small[at[k] : at[k] + many_cells], by[k]
            for i in range(many_cells):
                own[i] += unit * np.float32(row[i])
        here, people_of = asked[first:last], weight[first:last]
        for i in range(many_cells):
            p = max(float(own[i]), 0.0)
            found += here[i] * p
            p = min(p, 1.0)
            s = p * (1.0 - p)
            own[i] = s
            a += here[i] * s
            q += people_of[i] * s
        if q <= 0.0:
            continue
        share = a / q
        placement_variance += max(0.0, a * (1.0 - share))
        u = max(0.0, a * (1.0 - (1.0 - free) * share))
        squares += u * u
        unsure += share * share * noise
        for i in range(many_cells):
            each[first + i] = own[i] * (1.0 - (1.0 - free) * share)
            own[i] *= here[i] - (1.0 - free) * share * people_of[i]
        for g in range(len(codes)):
            code, into = codes[g, first:last], sums[first_of[g] : first_of[g + 1]]
            for i in range(many_cells):
                into[np.uint64(code[i])] += own[i]
    differ = np.zeros(lines)
    for f in range(len(source)):
        differ[line[f]] += sums[source[f]]
    return SoftmaxAnswer(found, placement_variance, squares, unsure, differ, each)


class Halves(NamedTuple):
    """What the model of merged boxes says of their first halves.

    For entry e: its people in the half, and U as in `ask`. For entries with a number: how their people differ, by level.
    """

    mean: Any
    spread: Any
    differ: Any


@njit(cache=True, nogil=True, fastmath=_FAST)
def split(cells: Any, half: Any, goals: Any, place: Any, chances: Any, which: Any, out: Any) -> None:
    """Write to `out` what the model says of first halves, those cells where `half`; which[e] is the number of entry e, or −1."""
    mean, spread, differ = out
    levels, weight, start, entry = cells.levels, cells.weight, cells.start, goals.entry
    for b in range(len(start) - 1):
        many = entry[b + 1] - entry[b]
        for k in range(many):
            e = entry[b] + k
            found, a, q = 0.0, 0.0, 0.0
            for i in range(start[b], start[b + 1]):
                p = min(chances[place[b] + k * (start[b + 1] - start[b]) + i - start[b]], 1.0)
                s = weight[i] * p * (1.0 - p)
                q += s
                if half[i]:
                    found += weight[i] * p
                    a += s
            mean[e] = found
            if q <= 0.0:
                continue
            spread[e] = max(0.0, a * (1.0 - a / q))
            if which[e] >= 0:
                for i in range(start[b], start[b + 1]):
                    p = min(chances[place[b] + k * (start[b + 1] - start[b]) + i - start[b]], 1.0)
                    more = weight[i] * p * (1.0 - p) * ((1.0 if half[i] else 0.0) - a / q)
                    for j in range(levels.shape[1]):
                        differ[which[e], levels[i, j]] += more
