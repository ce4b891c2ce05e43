"""Wall-clock and processor time, compilation apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
SHORT = 0.02
"""What takes less is run several times in a row: the processor's clock is too coarse for it."""


def best_of(repeats: int, work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the shortest of `repeats` times in seconds, and the result of the last: noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def least_seconds(repeats: int, work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the least of `repeats` processor times in seconds, and the result of the last: other programs do not add to it."""
    start = time.process_time()
    result = work()
    first = time.process_time() - start
    many = 1 if first >= SHORT else int(SHORT / max(first, SHORT / 100))
    found = [first] if many == 1 else []
    while len(found) < repeats:
        start = time.process_time()
        for _ in range(many):
            result = work()
        found.append((time.process_time() - start) / many)
    return min(found), result
