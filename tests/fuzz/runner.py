"""Many mutants in several processes, each watched: exceptions, signals, time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.fuzz.bases import prepare
from tests.fuzz.mutant import kind_of, run_mutant
from tests.fuzz.part_kinds import prepare_parts
from tests.fuzz.release_kinds import Work

SLOW = 10.0
"""Seconds of processor time that a mutant may take; the first one of its kind may have to compile, so it is tried twice."""
STUCK = 300.0
"""Seconds after which a process that says nothing is ended."""
TOLD = 30.0
"""Seconds between two lines that say how far it is."""
MEMORY = 4 << 30
"""Bytes that a process may ask for beyond what it has when it starts."""


@dataclass
class Report:
    """How many mutants of which kind ended how, and what went wrong."""

    seed: int
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def mutants(self) -> int:
        return sum(self.outcomes.values())

    def fail(self, number: int, what: str) -> None:
        self.outcomes[kind_of(self.seed, number), "WRONG"] += 1
        again = f"FUZZ_SEED={self.seed} python -m tests.fuzz {number}"
        self.failures.append(f"{kind_of(self.seed, number)}: {what}\n    again: {again}")
        print(self.failures[-1], file=sys.stderr, flush=True)

    def __str__(self) -> str:
        kinds = sorted({kind for kind, _ in self.outcomes})
        words = sorted({word for _, word in self.outcomes})
        lines = []
        for kind in kinds:
            parts = [f"{word} {self.outcomes[kind, word]:,}" for word in words if self.outcomes[kind, word]]
            lines.append(f"{kind:12} {sum(n for (one, _), n in self.outcomes.items() if one == kind):7,}  {', '.join(parts)}")
        verdict = f"{self.mutants:,} mutants, seed {self.seed}: {len(self.failures):,} wrong"
        return "\n".join([*lines, verdict, *self.failures])


@dataclass(eq=False)
class _Worker:
    """One process, and what it is busy with."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    step: int
    number: int
    since: float


def run(*, seed: int, seconds: float | None = None, mutants: int | None = None, workers: int = 2) -> Report:
    """Try mutants 0, 1, 2, … for so long, or so many of them, and return what became of them."""
    report = Report(seed)
    with tempfile.TemporaryDirectory(prefix="sfumato-fuzz-") as name:
        place = Path(name)
        prepare(place / "bases")
        prepare_parts(place / "bases")
        end = None if seconds is None else time.monotonic() + seconds
        busy = {_start(place, report, step, step, workers, mutants) for step in range(workers)}
        told = time.monotonic()
        while busy:
            if time.monotonic() - told > TOLD:
                told = time.monotonic()
                print(f"{report.mutants:,} mutants, {len(report.failures):,} wrong so far", file=sys.stderr, flush=True)
            ready = wait([one.pipe for one in busy], timeout=1.0)
            for one in list(busy):
                ended = one.pipe in ready and _listen(one, report)
                stuck = time.monotonic() - one.since > STUCK
                if not ended and not stuck and (end is None or time.monotonic() < end):
                    continue
                busy.remove(one)
                one.process.kill()
                one.process.join()
                crashed = ended and one.process.exitcode != 0
                if crashed or stuck:
                    report.fail(one.number, f"signal or exit {one.process.exitcode}" if crashed else f"no end within {STUCK:g} s")
                    if end is None or time.monotonic() < end:
                        busy.add(_start(place, report, one.step, one.number + workers, workers, mutants))
    return report


def _start(place: Path, report: Report, step: int, first: int, every: int, mutants: int | None) -> _Worker:
    here, there = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_work, args=(place, report.seed, first, every, mutants, there), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here, step, first, time.monotonic())


def _listen(worker: _Worker, report: Report) -> bool:
    """Take in what a process says: that it begins a mutant, or how one ended; return whether it will say no more."""
    try:
        while worker.pipe.poll():
            number, outcome, wrong = worker.pipe.recv()
            worker.number, worker.since = number, time.monotonic()
            if wrong:
                report.fail(number, wrong)
            elif outcome:
                report.outcomes[kind_of(report.seed, number), outcome] += 1
    except EOFError:
        worker.process.join()
        return True
    return False


def _work(place: Path, seed: int, first: int, every: int, mutants: int | None, pipe: Connection) -> None:
    """Run every so-manieth mutant, and tell the parent before and after each."""
    scratch = place / f"scratch-{first % every}"
    scratch.mkdir(exist_ok=True)
    work = Work(place / "bases", scratch)
    warnings.simplefilter("error", RuntimeWarning)  # a number that overflowed, or that is none
    number = first
    limited = False
    while mutants is None or number < mutants:
        pipe.send((number, "", ""))
        pipe.send((number, *attempt(seed, number, work)))
        number += every
        if not limited and number > first + 50 * every:  # by then most of what is needed is loaded and compiled
            _limit_memory()
            limited = True


def attempt(seed: int, number: int, work: Work) -> tuple[str, str]:
    """Return how a mutant ended, and what was wrong."""
    for again in (False, True):
        before = time.process_time()
        try:
            outcome = run_mutant(seed, number, work)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            return "", f"{type(error).__name__}: {str(error)[:300]} ({Path(last.filename).name}:{last.lineno})"
        spent = time.process_time() - before
        if spent <= SLOW:
            return outcome, ""
        if again:
            return "", f"{spent:.0f} seconds of processor time"
    return "", ""


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
