"""Wall-clock and processor time, compilation apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


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
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result
