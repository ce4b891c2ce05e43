"""How long work tells where it is: a function that takes the name of the stage and the fraction done; and the log.

The logger is `sfumato`, quiet unless the caller listens: stages at INFO, what a user should know of an installation at WARNING.
No message shows a cell of a table, nor a figure that a release does not tell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Progress = Callable[[str, float], None]

LOG = logging.getLogger("sfumato")

COMPILING = "compiling kernels, once after an install"
"""The stage while machine code is made that is kept for the next time."""


LINES = "SFUMATO_PROGRESS"
"""A variable of the environment: where it is set, the command line tells its progress in lines, for a program that listens."""

_MARK = "progress "


def in_a_line(stage: str, done: float) -> str:
    """Return where work is, as a line on standard error."""
    return f"{_MARK}{done:.4f} {stage}"


def read_from_line(line: str) -> tuple[str, float] | None:
    """Return stage and fraction done of such a line; None for any other."""
    if not line.startswith(_MARK):
        return None
    done, _, stage = line[len(_MARK) :].strip().partition(" ")
    try:
        return stage, min(1.0, max(0.0, float(done)))
    except ValueError:
        return None


def silent(stage: str, done: float) -> None:
    """Tell nobody."""


@dataclass(eq=False)
class _Listener:
    progress: Progress
    stage: str = ""
    done: float = 0.0

    def __call__(self, stage: str, done: float) -> None:
        if stage != self.stage and self is _listeners[-1]:  # who listens around it hears the same stage again
            LOG.info("%s", stage)
        self.stage, self.done = stage, done
        self.progress(stage, done)


_listeners: list[_Listener] = []


@contextmanager
def listening(progress: Progress) -> Iterator[Progress]:
    """Give a function that passes on progress, and hears of kernels that are compiled meanwhile, once a stage."""
    listener = _Listener(progress)
    _listeners.append(listener)
    try:
        yield listener
    finally:
        _listeners.remove(listener)


def compiling() -> None:
    """Tell whoever listens that a kernel is being compiled; several ones of a stage are announced once."""
    if _listeners and _listeners[-1].stage != COMPILING:
        _listeners[-1](COMPILING, _listeners[-1].done)
