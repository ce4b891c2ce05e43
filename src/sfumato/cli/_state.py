"""What the verbs of one run of the command share, and how signals end it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class State:
    """Options before the verb, the signal that came, whether it was reported, what is whole and in place, whether output goes
    nowhere since its reader has gone or it could not be written, and why it could not."""

    debug: bool = False
    signal: int = 0
    reported: bool = False
    written: str = ""
    output_gone: bool = False
    lost: str = ""


STATE = State()


def catch_signals() -> None:
    """Let SIGTERM and SIGHUP end the run like ctrl-C, and note it: an import or a library may swallow the exception.

    What the caller has chosen to ignore, as nohup does, stays ignored.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        STATE.signal = number
        raise KeyboardInterrupt

    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, handler)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Put something in its place while the block runs. From its end on the verb has done what it is for.

    A signal that comes after the last step waits until that is noted: what is there is never said not to be.
    """
    from sfumato.release.atomic import undisturbed

    with undisturbed():
        yield
        STATE.written = str(target)


def ignore_signals() -> None:
    """Ignore further signals while the last message is written."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def check_interrupt() -> None:
    """Raise `KeyboardInterrupt` if a signal came and the exception got lost."""
    if STATE.signal:
        raise KeyboardInterrupt


def interruption() -> tuple[str, int]:
    """Return what to say about a signal, and the exit code: that of shells, or 0 where everything was written before."""
    message = f"interrupted; {STATE.written or 'nothing'} was written"
    return message, 0 if STATE.written else 128 + (STATE.signal or signal.SIGINT)
