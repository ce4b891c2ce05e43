"""Output whose reader stops early: `sfumato audit release | head -1` is no failure."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, TextIO

from sfumato.cli._state import STATE


class _Pipe(io.FileIO):
    """A pipe whose reader may go away: what is written after that is discarded."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            STATE.reader_gone = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(memoryview(data).cast("B"))


def allow_closed_pipes() -> None:
    """Let every verb finish with its own exit code, and quietly, when the reader of its output has gone.

    Not by SIGPIPE: that would end a publication in the middle of its writing.
    """
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # no stream, or one that is no file
            if stream is not None and not stream.isatty():
                setattr(sys, name, _tolerant(stream))


def _tolerant(stream: TextIO) -> TextIO:
    stream.flush()
    pipe = _Pipe(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(pipe), encoding=stream.encoding, errors=stream.errors, line_buffering=stream is sys.stderr
    )
