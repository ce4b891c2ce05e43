"""Independent tasks on several processors, in one process: for kernels that let other threads run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_inside = threading.local()


def in_threads(function: Callable[[_Task], _Result], tasks: Sequence[_Task]) -> Iterator[_Result]:
    """Give the results in the order of the tasks, computed by as many threads as numba may use: that is what --workers limits.

    Tasks that divide themselves further do so in their own thread: processors are shared out once. Whoever stops asking, by an
    error or ctrl-C, waits for the tasks that run and for no other.
    """
    import numba

    threads = min(len(tasks), numba.get_num_threads())
    if threads < 2 or getattr(_inside, "one", False):
        yield from map(function, tasks)
        return

    def alone(task: _Task) -> _Result:
        _inside.one = True
        return function(task)

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(alone, task) for task in tasks]
        try:
            for future in futures:
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
