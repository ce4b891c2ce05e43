"""Many runs, each in a process of its own on one processor, several at a time; and how long the rest will take."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from typing import Any

from sfumato.compare.measure import Task
from sfumato.compare.worker import LENGTH

ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_CPU_COUNT")

LOST = "its process ended early: too little memory is the usual cause"

WAIT = 0.5
"""Seconds between two looks for a signal."""


def run_all(
    kinds: Sequence[str], task: Callable[[int], Task], *, workers: int, tell: Callable[[int, str], None]
) -> Iterator[tuple[int, dict[str, Any], float]]:
    """Give place, figures and seconds of every run as it ends; `kinds` name what takes alike long, one a run.

    `task` makes a run's task when its turn comes. `tell` hears how many are done and how long the rest takes. Whatever ends the
    loop early, also an exception of the caller, ends the processes.
    """
    waiting = iter(range(len(kinds)))
    lock, done = threading.Lock(), queue.SimpleQueue[tuple[int, dict[str, Any], float] | BaseException]()
    living: set[subprocess.Popen[bytes]] = set()
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            with lock:
                place = next(waiting, None)
            if place is None:
                return
            start = time.monotonic()
            try:
                done.put((place, _one(task(place), living, stopped), time.monotonic() - start))
            except BaseException as error:
                done.put(error)
                return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(kinds)))]
    took: dict[str, list[float]] = {}
    for thread in threads:
        thread.start()
    try:
        left = ""
        for number in range(1, len(kinds) + 1):
            tell(number - 1, left)
            found = _wait(done, functools.partial(tell, number - 1, left))
            if isinstance(found, BaseException):
                raise found
            took.setdefault(kinds[found[0]], []).append(found[2])
            yield found
            rest = list(kinds)
            for kind, seconds in took.items():
                for _ in seconds:
                    rest.remove(kind)
            left = time_left(rest, took, workers)
        tell(len(kinds), "")
    finally:
        stopped.set()
        for process in list(living):
            with contextlib.suppress(OSError):
                process.kill()


def time_left(rest: Sequence[str], took: dict[str, list[float]], workers: int) -> str:
    """Return about how long runs of these kinds take, from those that have ended: "about 3 min left"."""
    if not rest:
        return ""
    usual = mean(second for seconds in took.values() for second in seconds)
    total = sum(mean(took[kind]) if kind in took else usual for kind in rest) / min(workers, len(rest))
    if total < 60:
        return f"about {max(1, round(total))} s left"
    return f"about {round(total / 60)} min left" if total < 5400 else f"about {total / 3600:.1f} h left"


def _wait(done: queue.SimpleQueue[Any], look: Callable[[], None]) -> Any:
    while True:
        try:
            return done.get(timeout=WAIT)
        except queue.Empty:
            look()


def _one(task: Task, living: set[subprocess.Popen[bytes]], stopped: threading.Event) -> dict[str, Any]:
    """Return the figures of one run, or a note that its process was lost."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **dict.fromkeys(ONE_THREAD, "1")}
    command = [sys.executable, "-m", "sfumato.compare.worker"]
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
        found: dict[str, Any] = json.loads(answer)
    except ValueError:
        return {"note": LOST, "failed": True}
    return found
