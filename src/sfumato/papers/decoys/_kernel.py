"""The random walk over ways to call slots decoys."""

from __future__ import annotations

from sfumato._jit import njit
from sfumato.arrays import Array
from sfumato.groups._random_kernels import high_below


@njit(cache=True)
def mix(decoy: Array, value: Array, bucket: Array, start: Array, rows: Array, words: Array) -> None:
    """Exchange roles at random, in place: every bucket and every value keeps its number of decoys.

    `rows[g]` lists the slots of bucket g by value, `start[v]` is the first slot of value v. One step takes three words: a slot,
    another slot of the same value, another slot of the first one's bucket. The step is its own reverse with the same
    probability, so the uniform law over all states within reach is stationary.
    """
    slots = len(decoy)
    width = rows.shape[1]
    for step in range(len(words) // 3):
        one = high_below(words[3 * step], slots)
        first, after = start[value[one]], start[value[one] + 1]
        two = first + high_below(words[3 * step + 1], after - first)
        place = high_below(words[3 * step + 2], width)
        if decoy[one] == decoy[two]:
            continue
        other = rows[bucket[one], place]
        if decoy[other] == decoy[one]:
            continue
        for k in range(width):
            match = rows[bucket[two], k]
            if value[match] == value[other]:
                if decoy[match] == decoy[one]:
                    decoy[one], decoy[two] = decoy[two], decoy[one]
                    decoy[other], decoy[match] = decoy[match], decoy[other]
                break
