"""Cutting a box by what was counted of it, without its people: the same acceptances as in `cut_level`, on the same counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.groups._cut_kernels import Even, Safe, TightCut, implement, least_side, widest
from sfumato.groups._mondrian_kernels import Classical, boundaries, satisfies
from sfumato.groups._rule_kernels import absent_code, cut_of, tight_cut
from sfumato.groups._soft_kernels import Soft, before_test, passes


def choose(acceptance: Any, histogram: Any, kind: int, size: int, counts: Any, least: int, known: Any) -> Any:
    """Return a column's cut as `cut_of` does: last code on the left, code that goes left too, size of the left side.

    `histogram` counts the codes of the column in the box. `known` has the counts of events that this acceptance looks at beside
    those of the box: of every code, of the left side, or none.
    """
    raise TypeError(f"{type(acceptance).__name__} is no acceptance, or this is not compiled code")


def _safely(acceptance: Any, histogram: Any, kind: int, size: int, counts: Any, least: int, known: Any) -> Any:
    return cut_of(histogram, kind, size, least)


def _tightly(acceptance: Any, histogram: Any, kind: int, size: int, counts: Any, least: int, known: Any) -> Any:
    return tight_cut(known, histogram, kind, size, least, counts, acceptance.need, acceptance.start)


def _softly(acceptance: Any, histogram: Any, kind: int, size: int, counts: Any, least: int, known: Any) -> Any:
    account, need, start = acceptance.ledger[0], acceptance.need, acceptance.start
    boundary, also, left = cut_of(histogram, kind, size, least)
    if left > 0:
        verdict = before_test(left, size, counts, account, need, start)
        if verdict == 0 or (verdict < 0 and not passes(known[0], left, size, counts, account, need, start)):
            left = 0
    return boundary, also, left


def _classically(acceptance: Any, histogram: Any, kind: int, size: int, counts: Any, least: int, known: Any) -> Any:
    absent = absent_code(len(histogram), kind)
    codes = absent if absent >= 0 else len(histogram)
    lost = histogram[absent] if absent >= 0 else 0
    at, code, distinct, total = np.empty(codes, np.int64), np.empty(codes, np.int64), 0, 0
    for c in range(codes):
        if histogram[c] > 0:
            total += histogram[c]
            at[distinct], code[distinct] = total, c
            distinct += 1
    for cut in boundaries(at[:distinct], lost, size, least):
        b, joins = cut // 2, cut % 2
        left = at[b] + joins * lost
        if acceptance.look:
            mine = np.zeros(len(counts), np.int64)
            for c in range(code[b] + 1):
                mine += known[c]
            if joins == 1:
                mine += known[absent]
            if not satisfies(mine, left, acceptance) or not satisfies(counts - mine, size - left, acceptance):
                continue
        return code[b], absent if joins == 1 else -1, left
    return -1, -1, 0


implement(choose, Safe, _safely)
implement(choose, Classical, _classically)
implement(choose, Even, _safely)
implement(choose, TightCut, _tightly)
implement(choose, Soft, _softly)


@njit(cache=True)
def spread(histogram: Any, kind: int, position: Any) -> float:
    """Return how far apart the values of a column lie in a box, as the engine over people does."""
    absent = absent_code(len(histogram), kind)
    low, high = len(histogram), -1
    for code in range(len(histogram) if absent < 0 else absent):
        if histogram[code] > 0:
            low, high = min(low, code), code
    if high < 0:
        return 0.0
    wide = float(position[high] - position[low])
    return max(wide, 1e-9) if absent >= 0 and histogram[absent] > 0 else wide


@njit(cache=True)
def cut_counted(histogram: Any, counts: Any, size: int, known: Any, at: Any, axes: Any, acceptance: Any) -> Any:
    """Cut one box across the first column that can be cut: column, boundary, code that goes left too, left size; size 0: none.

    `histogram` has the codes of all columns one after another, as `axes.position` has; rows at[j] … at[j + 1] of `known` are for
    column j.
    """
    first, kind = axes.first, axes.kind
    least = least_side(acceptance, counts, size)
    if size >= 2 * least:
        score = np.zeros(len(kind))
        for j in range(len(kind)):
            here = slice(first[j], first[j + 1])
            score[j] = axes.weights[j] * spread(histogram[here], kind[j], axes.position[here])
        for _ in range(len(kind)):
            j = widest(score)
            if score[j] <= 0:
                break
            score[j] = 0
            mine = histogram[first[j] : first[j + 1]]
            boundary, also, left = choose(acceptance, mine, kind[j], size, counts, least, known[at[j] : at[j + 1]])
            if left > 0:
                return int(j), int(boundary), int(also), int(left)
    return -1, -1, -1, 0


@njit(cache=True, nogil=True)
def tree_nodes(codes: Any, tree: Any, first: Any, published: Any, out: Any) -> None:
    """Set the leaf of a tree of cuts that each person lies in.

    `tree` has a row a node: column (−1 for a leaf), boundary, code that goes left too (−1: none), whether codes are compared in
    their published order, left and right node.
    """
    for row in range(codes.shape[1]):
        node = 0
        while tree[node, 0] >= 0:
            column = tree[node, 0]
            code = codes[column, row]
            if tree[node, 3] == 1:
                code = published[first[column] + code]
            node = tree[node, 4] if code <= tree[node, 1] or code == tree[node, 2] else tree[node, 5]
        out[row] = node


@njit(cache=True, nogil=True)
def add_codes(codes: Any, box: Any, first: Any, histogram: Any) -> None:
    """Count the codes of the people of every box, whose numbers `box` has, −1 for those that are not asked for."""
    for row in range(codes.shape[1]):
        if box[row] >= 0:
            for j in range(codes.shape[0]):
                histogram[box[row], first[j] + codes[j, row]] += 1


@njit(cache=True, nogil=True)
def add_values(secret: Any, box: Any, counts: Any) -> None:
    """Count the values of the people of every box."""
    for row in range(len(box)):
        if box[row] >= 0:
            counts[box[row], secret[row]] += 1


@njit(cache=True, nogil=True)
def add_lefts(codes: Any, secret: Any, box: Any, boundary: Any, also: Any, lefts: Any) -> None:
    """Count the values on the left of a cut in every column: boundary and code that goes left too, [boxes × columns]."""
    for row in range(codes.shape[1]):
        mine = box[row]
        if mine >= 0:
            for j in range(codes.shape[0]):
                if codes[j, row] <= boundary[mine, j] or codes[j, row] == also[mine, j]:
                    lefts[mine, j, secret[row]] += 1


@njit(cache=True, nogil=True)
def add_pairs(codes: Any, secret: Any, box: Any, first: Any, pairs: Any) -> None:
    """Count the values of the people with every code of every column, [boxes × codes × values]."""
    for row in range(codes.shape[1]):
        if box[row] >= 0:
            for j in range(codes.shape[0]):
                pairs[box[row], first[j] + codes[j, row], secret[row]] += 1
