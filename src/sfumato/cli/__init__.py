"""The command line: one verb a file."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command `sfumato`.

    Exit codes: 0 all is well, 1 a claim is broken, 2 bad input or too little memory, 3 a bug of ours, 128 and its number for a
    signal. Once everything is in its place it is 0, whatever becomes of the words about it.
    """
    from sfumato.cli._memory import guarded
    from sfumato.cli._state import STATE
    from sfumato.cli._streams import after_output, open_closed

    # What a command loads stays until it ends: to look through it for garbage every 700 objects takes a fifth of a publication.
    gc.set_threshold(100_000)
    open_closed()
    code = guarded(lambda: after_output(_command()))
    if not STATE.signal and not STATE.output_gone:
        sys.exit(code)
    # Not sys.exit: after a ctrl-C inside an `exec`, Python ends itself by the signal, and a shell would see another code; and
    # after the reader of a pipe has gone, threads of Arrow may still run when C++ takes down what they use, which aborts.
    os._exit(code)


def _command() -> int:
    """Run the command and return its exit code."""
    from sfumato.cli._state import SIGNALS, STATE, catch_signals, ignore_signals, interruption

    ended = 0
    try:
        catch_signals()
        from sfumato.cli._streams import allow_lost_output, say_notes

        allow_lost_output()
        say_notes()
        from sfumato.cli.app import app

        app()
    except SystemExit as end:
        ended = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        STATE.signal = STATE.signal or SIGNALS[0]
    if STATE.signal or STATE.written:  # Python would end itself by a signal that comes while it is taken down
        ignore_signals()
    if not STATE.signal:
        return ended
    message, code = interruption()
    if not STATE.reported:  # it came between two steps of the argument parser
        sys.stderr.write(message + "\n")
    return code
