"""Compiled loops over people and the groups that fit or cover them, and over groups that cover the same combination."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.release._covering_kernels import Holders, entry_of, lowest_bit


class WalkedPeople(NamedTuple):
    """Different people: `words[p, j]` is the row of bits of person p's value in column j; she is `weight[p]` people."""

    words: Any
    truth: Any
    weight: Any


class GroupEntries(NamedTuple):
    """What groups show: group g has `sizes[g]` people, with the values and counts from `start[g]` on."""

    sizes: Any
    start: Any
    value: Any
    count: Any


class PartValues(NamedTuple):
    """The values of groups: those of group g in part j are `row[begin[j, g]:begin[j, g + 1]]`."""

    begin: Any
    row: Any


class LackingEntries(NamedTuple):
    """What groups show, side by side, and what is not accounted for: the codes of part j of group g from `begin[g, j]` on.

    `lacking[e]` says for how many people entry e waits, and `still[g]` how many entries of the group do.
    """

    begin: Any
    codes: Any
    lacking: Any
    still: Any


@njit(cache=True)
def _narrow(row: Any, j: int, place: Any, left: Any, many: Any) -> int:
    """Keep of the groups that fit columns 0 … j−1 those that `row` allows too; return in how many words there are any."""
    words = 0
    for k in range(len(row) if j == 0 else many[j - 1]):
        w = k if j == 0 else place[j - 1, k]
        fits = row[w] if j == 0 else row[w] & left[j - 1, k]
        if fits != 0:
            place[j, words] = w
            left[j, words] = fits
            words += 1
    return words


@njit(cache=True)
def walk_fits(people: WalkedPeople, bits: Any, offset: int, entries: GroupEntries, enough: bool, fits: Any) -> None:
    """Add up, for every person, what the groups that fit her show.

    A row of `bits` tells which groups hold a value; bit k of its words is group offset + k. `fits` is filled in. With `enough` a
    person is done once her value was seen.

    The groups that fit a person's first columns are kept for the next one, who shares them if people are sorted.
    """
    words, truth, weight = people
    sizes, start, value, count = entries
    columns = words.shape[1]
    place = np.empty((columns, bits.shape[1]), np.int64)
    left = np.empty((columns, bits.shape[1]), np.uint64)
    many = np.zeros(columns, np.int64)
    kept = -1
    for p in range(len(truth)):
        if enough and fits.own[p] > 0:
            continue
        fresh = 0
        while kept >= 0 and fresh < columns and words[p, fresh] == words[kept, fresh]:
            fresh += 1
        kept = p
        for j in range(fresh, columns):
            many[j] = _narrow(bits[words[p, j]], j, place, left, many)
        for k in range(many[columns - 1]):
            held = left[columns - 1, k]
            while held != 0:
                g = offset + 64 * place[columns - 1, k] + lowest_bit(held)
                held &= held - np.uint64(1)
                fits.people[p] += sizes[g]
                fits.groups[p] += 1
                fits.only[p] = g
                fits.inside[g] += weight[p]
                entry = entry_of(value, start[g], start[g + 1], truth[p])
                if entry >= 0:
                    fits.own[p] += count[entry]
                    if enough:
                        break
            if enough and fits.own[p] > 0:
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


@njit(cache=True)
def _gather(union: Any, first: int, values: Any, base: int, holders: Holders) -> None:
    """Set in `union`, from word `first` on, the groups that share one of the values."""
    bits, start, groups = holders
    for w in range(first, len(union)):
        union[w] = np.uint64(0)
    for value in values:
        if value >= base:
            for w in range(first, len(union)):
                union[w] |= bits[value - base, w]
        else:
            for place in range(start[value], start[value + 1]):
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
def _from_rare(g: int, shown: PartValues, holders: Holders, mark: Any, seen: Any, out: Any, pairs: int) -> int:
    """Write the groups behind g that share one of its values in every part, looked up by those of the first; return how many.

    `mark[r]` is g + 1 where r is a value of group g, and `seen[c]` is where group c was looked at.
    """
    begin, row = shown
    _, start, groups = holders
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
                if pairs == len(out):
                    return pairs
                out[pairs, 0] = g
                out[pairs, 1] = c
                pairs += 1
    return pairs


@njit(cache=True)
def shared_cover(shown: PartValues, base: int, holders: Holders, out: Any) -> int:
    """Write pairs of groups that cover a common combination to `out`, as many as it has room for; return how many.

    Value r has row r − base of bits, or where r is below `base` list r. Two groups share a combination if they share a value in
    every part. Where few groups share a value of the first part, only these are looked at: what bits cost grows with the square
    of the number of groups.
    """
    begin, row = shown
    parts, many = begin.shape[0], begin.shape[1] - 1
    words = (many + 63) // 64
    common = np.zeros(words, np.uint64)
    union = np.zeros(words, np.uint64)
    mark = np.zeros(base + len(holders.bits), np.int64)
    seen = np.zeros(many, np.int64)
    pairs = 0
    for g in range(many):
        if _rare(g, begin, row, base, holders.start, words):
            for j in range(parts):
                for e in range(begin[j, g], begin[j, g + 1]):
                    mark[row[e]] = g + 1
            pairs = _from_rare(g, shown, holders, mark, seen, out, pairs)
            if pairs == len(out):
                return pairs
            continue
        first = g >> 6
        for j in range(parts):
            _gather(union, first, row[begin[j, g] : begin[j, g + 1]], base, holders)
            left = False
            for w in range(first, words):
                common[w] = union[w] if j == 0 else common[w] & union[w]
                left = left or common[w] != 0
            if not left:
                break
        for w in range(first, words):
            for k in range(64 if common[w] != 0 else 0):
                if (common[w] >> np.uint64(k)) & np.uint64(1) and 64 * w + k > g:
                    if pairs == len(out):
                        return pairs
                    out[pairs, 0] = g
                    out[pairs, 1] = 64 * w + k
                    pairs += 1
    return pairs


@njit(cache=True)
def stand_behind(owner: Any, group: Any, people: Any, weight: Any, entries: LackingEntries) -> None:
    """Take the people off what groups show, over pairs of a person and a group that shows all of her.

    `people[p, j]` is person p's code in part j (she is `weight[p]` people). Nothing is counted beyond what is lacking.
    """
    begin, codes, lacking, still = entries
    for k in range(len(owner)):
        p, g = owner[k], group[k]
        if still[g] == 0:
            continue
        for j in range(people.shape[1]):
            e = entry_of(codes, begin[g, j], begin[g, j + 1], people[p, j])
            if lacking[e] > 0:
                lacking[e] -= weight[p]
                if lacking[e] <= 0:
                    still[g] -= 1
