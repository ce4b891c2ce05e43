"""Compiled loops of noisy tables in the multiplicative model: every cell of people is in one band of each table.

`member[cell, t]` is the band of a cell in table t, bands of all tables being numbered together. Cells, tables of factors and
chances are as in `_softmax_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.query.models._softmax_kernels import _FAST, _chances, _common, _list_varying


@njit(cache=True, nogil=True, fastmath=_FAST)
def expected(cells: Any, tables: Any, member: Any, out: Any) -> None:
    """Add to out[band, v] how many people of the band are expected to have v."""
    levels, weight, start, varies, _ = cells
    values = tables.shape[1]
    common, own = np.empty(values), np.empty(values)
    varying = np.empty(levels.shape[1], np.int64)
    for b in range(len(start) - 1):
        if start[b] == start[b + 1]:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, start[b], common)
        for i in range(start[b], start[b + 1]):
            _chances(levels, varying, columns, tables, common, i, own)
            for t in range(member.shape[1]):
                row = out[member[i, t]]
                for v in range(values):
                    row[v] += weight[i] * own[v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def pull(cells: Any, tables: Any, member: Any, pulls: Any, gradient: Any) -> None:
    """Add to the gradient by level and value what bands that are `pulls[band, v]` off in units of variance add to it."""
    levels, weight, start, varies, _ = cells
    values = tables.shape[1]
    common, own, off = np.empty(values), np.empty(values), np.empty(values)
    varying = np.empty(levels.shape[1], np.int64)
    for b in range(len(start) - 1):
        if start[b] == start[b + 1]:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, start[b], common)
        for i in range(start[b], start[b + 1]):
            _chances(levels, varying, columns, tables, common, i, own)
            off[:] = 0.0
            for t in range(member.shape[1]):
                row = pulls[member[i, t]]
                for v in range(values):
                    off[v] += row[v]
            mean = 0.0
            for v in range(values):
                mean += own[v] * off[v]
            for v in range(values):
                own[v] *= weight[i] * (off[v] - mean)
            for j in range(levels.shape[1]):
                line = gradient[levels[i, j]]
                for v in range(values):
                    line[v] += own[v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def slopes(cells: Any, tables: Any, member: Any, out: Any) -> None:
    """Add to out[band, l, v] how the expected count of v in a band grows with the weight of level l for v."""
    levels, weight, start, varies, _ = cells
    values = tables.shape[1]
    common, own, spread = np.empty(values), np.empty(values), np.empty(values, np.float32)
    varying = np.empty(levels.shape[1], np.int64)
    for b in range(len(start) - 1):
        if start[b] == start[b + 1]:
            continue
        columns = _list_varying(varies, b, varying)
        _common(levels, varies, tables, b, start[b], common)
        for i in range(start[b], start[b + 1]):
            _chances(levels, varying, columns, tables, common, i, own)
            for v in range(values):
                spread[v] = weight[i] * own[v] * (1.0 - own[v])
            for t in range(member.shape[1]):
                for j in range(levels.shape[1]):
                    line = out[member[i, t], levels[i, j]]
                    for v in range(values):
                        line[v] += spread[v]


@njit(cache=True, nogil=True, fastmath=_FAST)
def add_up(cells: Any, goals: Any, place: Any, chances: Any, band: Any, out: Any) -> None:
    """Add to out[v, band] the chances of the people of each band of one table, band[cell] being a cell's."""
    weight, start, entry, value = cells.weight, cells.start, goals.entry, goals.value
    for b in range(len(start) - 1):
        first, many = start[b], start[b + 1] - start[b]
        for k in range(entry[b + 1] - entry[b]):
            row, own = out[value[entry[b] + k]], chances[place[b] + k * many : place[b] + (k + 1) * many]
            for i in range(many):
                row[band[first + i]] += weight[first + i] * own[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def scale(cells: Any, goals: Any, place: Any, chances: Any, band: Any, factor: Any) -> None:
    """Multiply everybody's chances by factor[v, band] of one table, and bring each person's back to one."""
    start, entry, value = cells.start, goals.entry, goals.value
    largest = 0
    for b in range(len(start) - 1):
        largest = max(largest, start[b + 1] - start[b])
    total = np.empty(largest)
    for b in range(len(start) - 1):
        first, many = start[b], start[b + 1] - start[b]
        total[:many] = 1e-300
        for k in range(entry[b + 1] - entry[b]):
            row, own = factor[value[entry[b] + k]], chances[place[b] + k * many : place[b] + (k + 1) * many]
            for i in range(many):
                own[i] *= row[band[first + i]]
                total[i] += own[i]
        for i in range(many):
            total[i] = 1.0 / total[i]
        for k in range(entry[b + 1] - entry[b]):
            own = chances[place[b] + k * many : place[b] + (k + 1) * many]
            for i in range(many):
                own[i] *= total[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def box_sums(cells: Any, goals: Any, place: Any, chances: Any, out: Any) -> None:
    """Write to out[entry] how many people of its box the chances give its value."""
    weight, start, entry = cells.weight, cells.start, goals.entry
    for b in range(len(start) - 1):
        first, many = start[b], start[b + 1] - start[b]
        for k in range(entry[b + 1] - entry[b]):
            own, total = chances[place[b] + k * many : place[b] + (k + 1) * many], 0.0
            for i in range(many):
                total += weight[first + i] * own[i]
            out[entry[b] + k] = total
