"""Compiled loops of the audit of ranges: which groups fit a person, and what they show."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True)
def _ones(x: Any) -> Any:
    """Return how many bits of a 64-bit word are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def entry_of(start: Any, value: Any, group: int, code: int) -> int:
    """Return the entry of a group's histogram with this value, −1 if it shows none."""
    low, high = start[group], start[group + 1]
    while low < high:
        middle = (low + high) // 2
        if value[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < start[group + 1] and value[low] == code else -1


@njit(cache=True)
def _narrow(row: Any, j: int, place: Any, left: Any, many: Any) -> int:
    """Keep of the groups that fit columns 0 … j−1 those that `row` allows too; return in how many words there are any."""
    found = 0
    for k in range(len(row) if j == 0 else many[j - 1]):
        w = k if j == 0 else place[j - 1, k]
        fits = row[w] if j == 0 else row[w] & left[j - 1, k]
        if fits != 0:
            place[j, found] = w
            left[j, found] = fits
            found += 1
    return found


@njit(cache=True)
def walk_fits(
    words: Any,
    bits: Any,
    offset: int,
    truth: Any,
    weight: Any,
    sizes: Any,
    start: Any,
    value: Any,
    count: Any,
    enough: bool,
    people: Any,
    groups: Any,
    own: Any,
    only: Any,
    inside: Any,
) -> None:
    """Add up, for every person, what the groups that fit her show.

    `words[p, j]` is the row of `bits` that tells which groups hold person p's value in column j; bit k of its words is group
    offset + k. Filled in: per person the people and the number of fitting groups, how often they show her value, and the last
    of them; per group the weight of the people who fit it. With `enough` a person is done once her value was seen.

    The groups that fit a person's first columns are kept for the next one, who shares them if people are sorted.
    """
    columns = words.shape[1]
    place = np.empty((columns, bits.shape[1]), np.int64)
    left = np.empty((columns, bits.shape[1]), np.uint64)
    many = np.zeros(columns, np.int64)
    kept = -1
    for p in range(len(truth)):
        if enough and own[p] > 0:
            continue
        fresh = 0
        while kept >= 0 and fresh < columns and words[p, fresh] == words[kept, fresh]:
            fresh += 1
        kept = p
        for j in range(fresh, columns):
            many[j] = _narrow(bits[words[p, j]], j, place, left, many)
        for k in range(many[columns - 1]):
            fits = left[columns - 1, k]
            while fits != 0:
                last = fits & (~fits + np.uint64(1))
                g = offset + 64 * place[columns - 1, k] + _ones(last - np.uint64(1))
                fits ^= last
                people[p] += sizes[g]
                groups[p] += 1
                only[p] = g
                inside[g] += weight[p]
                entry = entry_of(start, value, g, truth[p])
                if entry >= 0:
                    own[p] += count[entry]
                    if enough:
                        break
            if enough and own[p] > 0:
                break


@njit(cache=True)
def walk_values(words: Any, bits: Any, carried: Any, truth: Any, weight: Any, faced: Any, behind: Any) -> None:
    """Count the values of fitting records (`faced`, per person), and those of fitting people (`behind`, per record).

    `words[p, j]` is the row of `bits` that tells which records hold person p's value in column j; bit k of its word w is record
    64·w + k.
    """
    for p in range(len(words)):
        for w in range(bits.shape[1]):
            fits = bits[words[p, 0], w]
            for j in range(1, words.shape[1]):
                fits &= bits[words[p, j], w]
            k = 64 * w
            while fits != 0:
                if fits & np.uint64(1):
                    faced[p, carried[k]] += 1
                    if truth[p] >= 0:
                        behind[k, truth[p]] += weight[p]
                fits >>= np.uint64(1)
                k += 1
