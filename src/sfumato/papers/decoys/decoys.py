"""Decoys: buckets that show σ sensitive values more than they have people ([F' §6], with another construction).

The papers draw decoys from the domain; then whoever knows the shares sees a rare value and calls it a decoy. Here buckets of
|g|+σ *distinct* values are planned from counts inflated by (|g|+σ)/|g|, and only then is it drawn, as uniformly as a long random
walk can, which slots are decoys. A decoy is then as frequent as the real value it imitates. What this is worth is measured
(`measured`), never claimed: exact small cases reach 5/9 and 2/3 where the papers promise 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import Infeasible
from sfumato.groups.blind import round_robin
from sfumato.groups.grouping import Grouping, Histograms, canonical_order
from sfumato.groups.settings._kernels import transport
from sfumato.groups.settings.setting import Plan, Setting
from sfumato.groups.streams import Step
from sfumato.papers.decoys._kernel import mix
from sfumato.papers.decoys.adversary import BucketValues, excludable, guard, guessing
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness
from sfumato.table.column import Column

_STEPS_PER_SLOT = 40
_WORDS_AT_ONCE = 3 << 20


def assign_with_decoys(
    quasi: Sequence[Column],
    codes: Array,
    plan: Plan,
    bounds: Bounds,
    decoys: int,
    random: Randomness,
    *,
    guarded: bool = False,
) -> Grouping:
    """Return buckets with `decoys` values too many in each, and the people dealt blindly to the real slots.

    With `guarded`, decoys that a reader could strike out for everybody in their bucket by an association learned from the
    release are exchanged. That looks at quasi values, so the result holds against a reader only.
    """
    slots, holder = slots_with_decoys(codes, plan, bounds, decoys, random)
    before = excludable(quasi, slots, holder)
    exchanged = guard(quasi, slots, holder, random.spawn(Step.GUARD)) if guarded else 0
    after = excludable(quasi, slots, holder) if guarded else before
    group = np.empty(len(codes), np.int32)
    real = ~slots.decoy
    group[holder[real]] = slots.bucket[real]
    shown_group = slots.bucket.astype(np.int32)
    by_bucket = np.lexsort((slots.value, shown_group))
    shown = Histograms(shown_group[by_bucket], slots.value[by_bucket].astype(np.int32), np.ones(len(slots.value), dtype=np.int64))
    measured = {
        "decoys_per_bucket": decoys,
        "excludable_for_everybody_in_their_bucket": int(after.sum()),
        "excludable_before_exchange": int(before.sum()),
        "exchanged": exchanged,
        "guessing": guessing(slots, random.spawn(Step.GUESSES)),
    }
    return Grouping(group, slots.buckets, "tight" if guarded else "blind", figures={"decoys": measured}, shown=shown)


def slots_with_decoys(codes: Array, plan: Plan, bounds: Bounds, decoys: int, random: Randomness) -> tuple[BucketValues, Integers]:
    """Return what every bucket shows, and the row that holds each slot, −1 for a decoy."""
    slots = _plan_slots(plan.setting, make_room(plan.setting, bounds, decoys), canonical_order(bounds), decoys, random)
    return slots, _holders(codes, slots, random)


def make_room(setting: Setting, bounds: Bounds, decoys: int) -> Integers:
    """Return an allocation [values × classes] in which no value has more than its part of a class: b·S/(S+σ) of its people.

    Then every value can be shown (S+σ)/S times as often as it occurs and still only once per bucket, so that all values are
    inflated alike and counts can be estimated without bias.
    """
    sizes = np.array(setting.sizes, dtype=np.int64)
    numbers = np.array(setting.numbers, dtype=np.int64)
    counts = np.array(bounds.counts, dtype=np.int64)
    room = (bounds.caps(setting.sizes) >= 1) * (numbers * sizes // (sizes + decoys))
    allocation = transport(counts, np.minimum(room, counts[:, None]), sizes * numbers)[0]
    if allocation.sum() != counts.sum():
        crowded = [value for value, count, places in zip(bounds.values, counts, room.sum(axis=1), strict=True) if count > places]
        raise Infeasible(
            f"decoys: with {decoys} decoys in buckets of {setting.sizes[0]} people or more, a value may have at most "
            f"1/{setting.sizes[0] + decoys} of the people" + (f"; too frequent: {', '.join(crowded[:5])}" if crowded else ""),
            hint="fewer decoys, or no decoys: other people's values then help a reader who knows them",
            values=crowded or bounds.values,
        )
    return allocation


def inflate(counts: Integers, size: int, number: int, decoys: int) -> Integers:
    """Return how often each value is shown in `number` buckets of size+decoys: counts·(size+decoys)/size, largest remainder.

    No value is shown more often than there are buckets, because it must not occur twice in one.
    """
    exactly = counts * (size + decoys)  # in units of 1/size
    shown = np.minimum(exactly // size, number)
    while (short := (size + decoys) * number - int(shown.sum())) > 0:
        room = np.flatnonzero((counts > 0) & (shown < number))
        if not len(room):
            raise Infeasible(
                f"decoys: the buckets of {size} people cannot show {size + decoys} different values each: only "
                f"{int((counts > 0).sum())} values are placed there, or some are too frequent",
                hint="fewer decoys, or a larger max_size",
            )
        shown[room[np.argsort(-(exactly - shown * size)[room], kind="stable")[:short]]] += 1
    return shown


def _plan_slots(setting: Setting, allocation: Integers, order: Integers, decoys: int, random: Randomness) -> BucketValues:
    coins = random.spawn(Step.DECOYS)
    pieces = []
    first = 0
    for j, (size, number) in enumerate(setting.classes):
        shown = inflate(allocation[:, j], size, number, decoys)
        bucket = round_robin(shown[:, None], np.array([number], dtype=np.int64), order)
        value = np.repeat(np.arange(len(shown)), shown)
        decoy = _some_decoys(bucket, value, shown - allocation[:, j], number, decoys)
        _mix(decoy, value, bucket, number, coins.spawn(j))
        pieces.append((bucket + first, value, decoy))
        first += number
    bucket, value, decoy = (np.concatenate([piece[k] for piece in pieces]) for k in range(3))
    by_value = np.argsort(value, kind="stable")
    return BucketValues(bucket[by_value], value[by_value], decoy[by_value], first, decoys, allocation.sum(axis=1))


def _some_decoys(bucket: Integers, value: Integers, wanted: Integers, number: int, decoys: int) -> Flags:
    """Return any choice of slots with `decoys` in every bucket and `wanted[v]` of every value, by a flow."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    values = len(wanted)
    nodes = 2 + number + values
    tail = np.concatenate([np.zeros(number, np.int64), 1 + bucket, 1 + number + np.arange(values)])
    head = np.concatenate([1 + np.arange(number), 1 + number + value, np.full(values, nodes - 1)])
    room = np.concatenate([np.full(number, decoys), np.ones(len(bucket), np.int64), wanted])
    flow = maximum_flow(csr_array((room.astype(np.int32), (tail, head)), shape=(nodes, nodes)), 0, nodes - 1)
    if flow.flow_value != decoys * number:
        raise Infeasible(
            "decoys: no choice of decoys gives every bucket and every value its number", hint="another number of decoys"
        )
    return np.asarray(flow.flow[1 + bucket, 1 + number + value]).ravel() > 0


def _mix(decoy: Flags, value: Integers, bucket: Integers, number: int, random: Randomness) -> None:
    """Walk at random over all choices with the same margins, long enough to forget where it began."""
    width = len(bucket) // number
    rows = np.lexsort((value, bucket)).reshape(number, width)
    start = np.searchsorted(value, np.arange(int(value.max(initial=-1)) + 2))
    words = 3 * _STEPS_PER_SLOT * len(decoy)
    while words > 0:
        mix(decoy, value, bucket, start, rows, random.words(min(words, _WORDS_AT_ONCE)))
        words -= _WORDS_AT_ONCE


def _holders(codes: Array, slots: BucketValues, random: Randomness) -> Integers:
    """Return the row that holds each real slot, −1 for a decoy: the rows of a value in random order."""
    shuffled = random.spawn(Step.DEAL).permutation(len(codes))
    holder = np.full(len(slots.value), -1, np.int64)
    holder[~slots.decoy] = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return holder
