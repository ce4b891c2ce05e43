"""Many runs, each in a process of its own on one processor, several at a time; and how long the rest will take."""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from sfumato.comparison.measure import RunTask
from sfumato.comparison.worker import LENGTH

ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_CPU_COUNT")

LOST = "its process ended early: too little memory is the usual cause"

WAIT = 0.5
"""Seconds between two looks for a signal."""


def run_all(
    kinds: Sequence[str],
    task: Callable[[int], RunTask],
    *,
    workers: int,
    tell: Callable[[int, str], None],
    before: Mapping[str, Sequence[float]] | None = None,
) -> Iterator[tuple[int, dict[str, Any], float]]:
    """Give place, figures and seconds of every run as it ends; `kinds` name what takes alike long, one a run.

    `task` makes a run's task when its turn comes. `tell` hears how many are done and how long the rest takes, `before` being
    the seconds of runs that ended in an earlier process. Whatever ends the loop early, also an exception of the caller, ends the
    processes.
    """
    waiting = list(range(len(kinds)))[::-1]
    begun: dict[int, float] = {}
    lock, done = threading.Lock(), queue.SimpleQueue[tuple[int, dict[str, Any], float] | BaseException]()
    living: set[subprocess.Popen[bytes]] = set()
    stopped = threading.Event()
    workers = min(workers, len(kinds))

    def work() -> None:
        while not stopped.is_set():
            with lock:
                if not waiting:
                    return
                place = waiting.pop()
                begun[place] = time.monotonic()
            try:
                done.put((place, _one(task(place), living, stopped), time.monotonic() - begun[place]))
            except BaseException as error:
                done.put(error)
                return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    took = {kind: list(seconds) for kind, seconds in (before or {}).items()}
    for thread in threads:
        thread.start()
    try:
        for number in range(len(kinds)):

            def look(number: int = number) -> None:
                with lock:
                    under_way = [(kinds[place], time.monotonic() - start) for place, start in begun.items()]
                    to_come = [kinds[place] for place in reversed(waiting)]
                tell(number, time_left(to_come, took, workers, under_way))

            ended = _wait(done, look)
            if isinstance(ended, BaseException):
                raise ended
            with lock:
                del begun[ended[0]]
            took.setdefault(kinds[ended[0]], []).append(ended[2])
            yield ended
        tell(len(kinds), "")
    finally:
        stopped.set()
        for process in list(living):
            with contextlib.suppress(OSError):
                process.kill()


def time_left(
    waiting: Sequence[str], took: Mapping[str, Sequence[float]], workers: int, under_way: Sequence[tuple[str, float]] = ()
) -> str:
    """Return about how long runs of these kinds take, begun in this order beside those under way: "about 3 min left".

    What a kind took tells how long it takes; as long as none of a kind has ended, the rest takes "at least" so long.
    """
    if not (waiting or under_way) or not took:
        return ""
    usual = mean(second for seconds in took.values() for second in seconds)
    expected = {kind: mean(seconds) for kind, seconds in took.items()}
    for kind, spent in under_way:
        if kind not in took:
            expected[kind] = max(spent, expected.get(kind, usual))
    free = [max(0.0, expected[kind] - spent) for kind, spent in under_way]
    free += [0.0] * (workers - len(free))
    heapq.heapify(free)
    for kind in waiting:
        heapq.heapreplace(free, free[0] + expected.get(kind, usual))
    about = "about" if all(kind in took for kind in (*waiting, *(kind for kind, _ in under_way))) else "at least"
    total = max(free)
    if total < 60:
        return f"{about} {max(1, round(total))} s left"
    return f"{about} {round(total / 60)} min left" if total < 5400 else f"{about} {total / 3600:.1f} h left"


def _wait(done: queue.SimpleQueue[Any], look: Callable[[], None]) -> Any:
    while True:
        look()
        with contextlib.suppress(queue.Empty):
            return done.get(timeout=WAIT)


def _one(task: RunTask, living: set[subprocess.Popen[bytes]], stopped: threading.Event) -> dict[str, Any]:
    """Return the figures of one run, or a note that its process was lost."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **dict.fromkeys(ONE_THREAD, "1")}
    command = [sys.executable, "-m", "sfumato.comparison.worker"]
    pipe, errors = subprocess.PIPE, None if os.environ.get("SFUMATO_DEBUG") else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, env=environment, start_new_session=True)
    living.add(process)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if stopped.is_set():
            process.kill()
        given = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(LENGTH.pack(len(given)))
            process.stdin.write(given)
            process.stdin.flush()
        answer = process.stdout.read()
        process.wait()
    finally:
        living.discard(process)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()
    try:
        figures: dict[str, Any] = json.loads(answer)
    except ValueError:
        return {"note": LOST, "failed": True}
    return figures
