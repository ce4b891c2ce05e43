"""The command line: one verb a file."""

from __future__ import annotations

import contextlib
import os
import sys

_SHELL_INTERRUPT = 130


def main() -> None:
    """Run the command `sfumato`. Exit codes: 0 all is well, 1 a claim is broken, 2 bad input or interrupted, 3 a bug of ours."""
    told, written = False, ""
    try:
        from sfumato.cli._run import STATE, remember_interrupts
        from sfumato.cli._streams import allow_closed_pipes
        from sfumato.cli.app import app

        remember_interrupts()
        allow_closed_pipes()
        try:
            app()
        finally:
            written = STATE.written
        return
    except KeyboardInterrupt:
        pass
    except SystemExit as end:
        told = end.code != _SHELL_INTERRUPT  # that one is a ctrl-C between two steps of the argument parser
        if told and not STATE.interrupted:
            raise
    if not told:
        sys.stderr.write(f"interrupted; {written or 'nothing'} was written\n")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    # Not sys.exit: after a ctrl-C inside an `exec`, Python ends itself by the signal, and a shell would see another code.
    os._exit(0 if written else 2)
