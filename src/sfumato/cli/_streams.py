"""Output that cannot be written: closed by the caller, on a full disk, or whose reader has stopped early.

`sfumato audit release | head -1` is no failure, and a release that lies in its place is published, whatever becomes of the words
about it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import select
import sys
from typing import Any, TextIO

from sfumato.cli._state import STATE
from sfumato.cli._visible import visible

LOST = 2
"""The exit code where words were all that there was to give, and they are lost."""


class _Output(io.FileIO):
    """A stream that never fails: what is written after the first failure is discarded, and why is noted for standard output."""

    def write(self, data: Any, /) -> int:
        try:
            while (written := super().write(data)) is None:  # the caller's pipe does not block, and is full
                select.select([], [self.fileno()], [])
            return written
        except OSError as error:
            STATE.output_gone = True
            if not isinstance(error, BrokenPipeError) and self.fileno() == 1:
                STATE.lost = error.strerror or "writing failed"
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(memoryview(data).cast("B"))


def open_closed() -> None:
    """Open the standard streams that the caller has closed, so that no file of ours gets their number and what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def allow_lost_output() -> None:
    """Let every verb finish with its own exit code when its output cannot be written, or not in the caller's encoding.

    Not by SIGPIPE: that would end a publication in the middle of its writing.
    """
    for name in ("stdout", "stderr"):
        stream: TextIO = getattr(sys, name)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # one that is no file
            if os.name == "posix" or not stream.isatty():
                setattr(sys, name, _tolerant(stream))


def _tolerant(stream: TextIO) -> TextIO:
    stream.flush()
    lines = stream is sys.stderr or stream.isatty()
    raw = _Output(stream.fileno(), "w", closefd=False)
    unknown = "backslashreplace" if stream.errors == "strict" else stream.errors
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, errors=unknown, line_buffering=lines)


class _Notes(logging.Handler):
    """Says on standard error what a user should know of an installation."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"note: {visible(record.getMessage())}\n")


def say_notes() -> None:
    """Let what is logged as a warning be said, once: the command has nobody else who listens."""
    log = logging.getLogger("sfumato")
    if not any(isinstance(handler, _Notes) for handler in log.handlers):
        log.addHandler(_Notes(logging.WARNING))


def after_output(code: int) -> int:
    """Return the exit code once everything is printed: words that are lost change it only where they were all there was to do."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    if not STATE.lost:
        return code
    kept = f"; {visible(STATE.written)} was written" if STATE.written else ""
    failed = not STATE.written and code == 0
    sys.stderr.write(f"{'error' if failed else 'warning'}: standard output cannot be written: {STATE.lost}{kept}\n")
    sys.stderr.flush()
    return LOST if failed else code
