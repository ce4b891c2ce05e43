"""Adversaries against decoys: who guesses from shares, and who strikes out what associations exclude. Measured only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.randomness import Randomness
from sfumato.table.column import Column

_SAMPLE = 4_000
_FAINT = 0.1  # an association excludes a value when its estimated rate is below a tenth of the usual one
_SURE = 2.0  # … and below half of it by two standard errors
_TRIES = 200


@dataclass(frozen=True, eq=False)
class BucketValues:
    """Every value shown: its bucket, whether it is a decoy; sorted by value. `counts` are the true counts per value."""

    bucket: Integers
    value: Integers
    decoy: Flags
    buckets: int
    decoys: int
    counts: Integers

    @cached_property
    def widths(self) -> Integers:
        """Number of slots in each bucket: its people and its decoys."""
        return np.bincount(self.bucket, minlength=self.buckets).astype(np.int64)

    @cached_property
    def by_bucket(self) -> tuple[Integers, Integers]:
        """Slots sorted by bucket, and where each bucket's begin (one entry more than buckets)."""
        order = np.argsort(self.bucket, kind="stable")
        return order, np.concatenate(([0], np.cumsum(self.widths)))

    def of(self, bucket: int) -> Integers:
        """Return the slots of one bucket."""
        order, start = self.by_bucket
        return order[start[bucket] : start[bucket + 1]]


def guessing(slots: BucketValues, random: Randomness) -> list[dict[str, float]]:
    """Return, per number q of known people in a bucket, how often the best guess of another one's value is right.

    The adversary knows the true shares, the program and the values of q people of the bucket. Of the values that remain she
    names the one that is most often real when shown (real count / shown count); ties fall at random. `promised` is the mean of
    1/(|g|−q+σ), the figure in the papers.
    """
    shown = np.maximum(np.bincount(slots.value, minlength=len(slots.counts)), 1)
    honesty = slots.counts / shown
    sample = np.unique(random.below(slots.buckets, _SAMPLE))
    smallest = int(slots.widths.min()) - slots.decoys
    results = []
    for known in sorted({0, smallest // 2, smallest - 1}):
        right, promised = [], []
        for bucket in sample:
            own = slots.of(int(bucket))
            real = own[~slots.decoy[own]]
            real = real[random.permutation(len(real))]
            left = np.concatenate([real[known:], own[slots.decoy[own]]])
            left = left[random.permutation(len(left))]
            guess = left[np.argmax(honesty[slots.value[left]])]
            right.append(float(guess == real[known]))
            promised.append(1 / (len(real) - known + slots.decoys))
        results.append({"known": known, "right": float(np.mean(right)), "promised": float(np.mean(promised))})
    return results


def excluded_pairs(quasi: Sequence[Column], slots: BucketValues, holder: Integers) -> list[Flags]:
    """Return per column [code × value]: pairs that a reader of the release would learn to exclude.

    If people with value v had code z as often as others, the buckets that show v would hold the usual number of z. The gap,
    divided by the number of people who really have v, estimates their rate of z.
    """
    from scipy.sparse import csr_array

    real = ~slots.decoy
    row_bucket = np.empty(int(real.sum()), np.int64)
    row_bucket[holder[real]] = slots.bucket[real]
    people = slots.widths - slots.decoys
    values = len(slots.counts)
    shows = csr_array((np.ones(len(slots.value)), (slots.bucket, slots.value)), shape=(slots.buckets, values))
    near = people @ shows  # people in the buckets that show v
    really = np.maximum((people / slots.widths) @ shows, 1e-9)
    result = []
    for column in quasi:
        where = csr_array((np.ones(len(row_bucket)), (column.codes, row_bucket)), shape=(column.size, slots.buckets))
        seen = (where @ shows).toarray()
        usual = np.bincount(column.codes, minlength=column.size)[:, None] / len(row_bucket)
        rate = usual + (seen - usual * near) / really
        error = np.sqrt(usual * (1 - usual) * near) / really
        result.append((rate < _FAINT * usual) & (rate + _SURE * error < usual / 2))
    return result


def excludable(
    quasi: Sequence[Column],
    slots: BucketValues,
    holder: Integers,
    learned: list[Flags] | None = None,
    among: Integers | None = None,
) -> Flags:
    """Return which slots are decoys that the learned associations exclude for *everybody* in their bucket.

    The papers ask that a decoy be excludable for nobody. That would backfire: a value that is excludable for somebody in its
    bucket would then surely be real. Real values are possible for at least one person, so decoys must be too.
    """
    learned = excluded_pairs(quasi, slots, holder) if learned is None else learned
    order, start = slots.by_bucket
    candidates = np.flatnonzero(slots.decoy) if among is None else among
    bucket = slots.bucket[candidates]
    length = slots.widths[bucket]
    owner = np.repeat(np.arange(len(candidates)), length)
    entry = order[np.repeat(start[bucket], length) + np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)]
    person = holder[entry]
    alive = person >= 0
    owner, person = owner[alive], person[alive]
    value = slots.value[candidates][owner]
    struck = np.zeros(len(owner), np.bool_)
    for column, pairs in zip(quasi, learned, strict=True):
        struck |= pairs[column.codes[person], value]
    possible = np.bincount(owner[~struck], minlength=len(candidates)) > 0
    flags = np.zeros(len(slots.value), np.bool_)
    flags[candidates[~possible]] = True
    return flags


def guard(quasi: Sequence[Column], slots: BucketValues, holder: Integers, random: Randomness) -> int:
    """Exchange excludable decoys with other buckets, in place, and return how many exchanges were made.

    One exchange makes the decoy real here (its holder comes over from a bucket where it was real) and a real value of this
    bucket a decoy there's: both buckets and both values keep their numbers of decoys. It is kept only if neither bucket then has
    an excludable decoy.
    """
    learned = excluded_pairs(quasi, slots, holder)
    start = np.searchsorted(slots.value, np.arange(len(slots.counts) + 1))
    made = 0
    for slot in np.flatnonzero(excludable(quasi, slots, holder, learned)):
        if slots.decoy[slot] and _exchange(int(slot), quasi, slots, holder, learned, start, random):
            made += 1
    return made


def _exchange(
    slot: int,
    quasi: Sequence[Column],
    slots: BucketValues,
    holder: Integers,
    learned: list[Flags],
    start: Any,
    random: Randomness,
) -> bool:
    mine = slots.of(int(slots.bucket[slot]))
    same = np.arange(start[slots.value[slot]], start[slots.value[slot] + 1])
    same = same[~slots.decoy[same] & (slots.widths[slots.bucket[same]] == slots.widths[slots.bucket[slot]])]
    for there in same[random.permutation(len(same))[:_TRIES]]:
        theirs = slots.of(int(slots.bucket[there]))
        wanted = mine[~slots.decoy[mine] & np.isin(slots.value[mine], slots.value[theirs[slots.decoy[theirs]]])]
        if not len(wanted):
            continue
        give = wanted[random.below(len(wanted), 1)[0]]
        take = theirs[slots.value[theirs] == slots.value[give]][0]
        _swap(slots, holder, slot, int(there), int(give), int(take))
        decoys = np.concatenate([mine[slots.decoy[mine]], theirs[slots.decoy[theirs]]])
        if not excludable(quasi, slots, holder, learned, decoys).any():
            return True
        _swap(slots, holder, slot, int(there), int(give), int(take))
    return False


def _swap(slots: BucketValues, holder: Integers, slot: int, there: int, give: int, take: int) -> None:
    for one, two in ((slot, there), (give, take)):
        slots.decoy[[one, two]] = slots.decoy[[two, one]]
        holder[[one, two]] = holder[[two, one]]
