"""The compiled loop over people and the records that fit them, counting values on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


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
