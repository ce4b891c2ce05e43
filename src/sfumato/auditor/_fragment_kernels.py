"""Compiled loops of the audit of columns and views: groups that cover the same combination, and what people may stand behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True)
def _gather(union: Any, first: int, row: Any, low: int, high: int, bits: Any, base: int, start: Any, groups: Any) -> None:
    """Set in `union`, from word `first` on, the groups that share one of the values `row[low:high]`."""
    for w in range(first, len(union)):
        union[w] = np.uint64(0)
    for e in range(low, high):
        if row[e] >= base:
            for w in range(first, len(union)):
                union[w] |= bits[row[e] - base, w]
        else:
            for place in range(start[row[e]], start[row[e] + 1]):
                union[groups[place] >> 6] |= np.uint64(1) << np.uint64(groups[place] & 63)


@njit(cache=True)
def _rare(g: int, begin: Any, row: Any, base: int, start: Any, most: int) -> bool:
    """Return whether the values of group g in the first part are all kept as lists, of at most so many groups together."""
    many = 0
    for e in range(begin[0, g], begin[0, g + 1]):
        if row[e] >= base:
            return False
        many += start[row[e] + 1] - start[row[e]]
        if many > most:
            return False
    return True


@njit(cache=True)
def _from_rare(g: int, begin: Any, row: Any, start: Any, groups: Any, mark: Any, seen: Any, found: Any, pairs: int) -> int:
    """Write the groups behind g that share one of its values in every part, looked up by those of the first; return how many.

    `mark[r]` is g + 1 where r is a value of group g, and `seen[c]` is where group c was looked at.
    """
    for e in range(begin[0, g], begin[0, g + 1]):
        for place in range(start[row[e]], start[row[e] + 1]):
            c = groups[place]
            if c <= g or seen[c] == g + 1:
                continue
            seen[c] = g + 1
            shares = True
            for j in range(1, len(begin)):
                both = False
                for other in range(begin[j, c], begin[j, c + 1]):
                    both = both or mark[row[other]] == g + 1
                if not both:
                    shares = False
                    break
            if shares:
                if pairs == len(found):
                    return pairs
                found[pairs, 0] = g
                found[pairs, 1] = c
                pairs += 1
    return pairs


@njit(cache=True)
def shared_cover(begin: Any, row: Any, base: int, bits: Any, start: Any, groups: Any, found: Any) -> int:
    """Write pairs of groups that cover a common combination to `found`, as many as it has room for; return how many.

    Group g shows the values `row[begin[j, g]:begin[j, g + 1]]` of part j. Which groups have value r stands in the row
    r − base of `bits`, or where r is below `base` by the list `groups[start[r]:start[r + 1]]`. Two groups share a combination if
    they share a value in every part. Where few groups share a value of the first part, only these are looked at: what bits cost
    grows with the square of the number of groups.
    """
    parts, many = begin.shape[0], begin.shape[1] - 1
    words = (many + 63) // 64
    common = np.zeros(words, np.uint64)
    union = np.zeros(words, np.uint64)
    mark = np.zeros(base + len(bits), np.int64)
    seen = np.zeros(many, np.int64)
    pairs = 0
    for g in range(many):
        if _rare(g, begin, row, base, start, words):
            for j in range(parts):
                for e in range(begin[j, g], begin[j, g + 1]):
                    mark[row[e]] = g + 1
            pairs = _from_rare(g, begin, row, start, groups, mark, seen, found, pairs)
            if pairs == len(found):
                return pairs
            continue
        first = g >> 6
        for j in range(parts):
            _gather(union, first, row, begin[j, g], begin[j, g + 1], bits, base, start, groups)
            left = False
            for w in range(first, words):
                common[w] = union[w] if j == 0 else common[w] & union[w]
                left = left or common[w] != 0
            if not left:
                break
        for w in range(first, words):
            for k in range(64 if common[w] != 0 else 0):
                if (common[w] >> np.uint64(k)) & np.uint64(1) and 64 * w + k > g:
                    if pairs == len(found):
                        return pairs
                    found[pairs, 0] = g
                    found[pairs, 1] = 64 * w + k
                    pairs += 1
    return pairs


@njit(cache=True)
def _entry(codes: Any, low: int, high: int, code: int) -> int:
    """Return the place of a code among the ascending `codes[low:high]` that hold it."""
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def stand_behind(owner: Any, group: Any, people: Any, weight: Any, begin: Any, codes: Any, lacking: Any, still: Any) -> None:
    """Take the people off what groups show, over pairs of a person and a group that shows all of her.

    `people[p, j]` is person p's code in part j (she is `weight[p]` people); those of group g stand side by side, part j's from
    place `begin[g, j]` on. `lacking[e]` says for how many people entry e waits, and `still[g]` how many entries of the group do;
    nothing is counted beyond that.
    """
    for k in range(len(owner)):
        p, g = owner[k], group[k]
        if still[g] == 0:
            continue
        for j in range(people.shape[1]):
            e = _entry(codes, begin[g, j], begin[g, j + 1], people[p, j])
            if lacking[e] > 0:
                lacking[e] -= weight[p]
                if lacking[e] <= 0:
                    still[g] -= 1
