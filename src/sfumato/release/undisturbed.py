"""Steps that no signal may cut in two: ctrl-C, SIGTERM and SIGHUP wait until they are done, or can be undone."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class _Held:
    """What the process holds back: how many blocks are inside each other, what is waiting, and who gets it."""

    depth = 0
    waiting: list[int]
    handlers: dict[int, Any]


_HELD = _Held()
_HELD.waiting, _HELD.handlers = [], {}


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals back while the block runs, and deliver at its end what has come in between.

    Only signals that have a Python handler are held back, since only those raise an exception in the middle of a step, and only
    in the main thread, since handlers run nowhere else.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _HELD.depth == 0:
        _HELD.handlers.clear()  # those of an earlier block may have been replaced since
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and handler is not _hold:
                _HELD.handlers[number] = handler
                signal.signal(number, _hold)
    _HELD.depth += 1
    try:
        yield
    finally:
        _HELD.depth -= 1
        if _HELD.depth == 0:
            for number, handler in _HELD.handlers.items():
                signal.signal(number, handler)
            _deliver()


def let_in() -> None:
    """Deliver what is waiting now: for the points of an undisturbed block from which everything can still be undone.

    What comes later, while it is being undone, waits again.
    """
    if threading.current_thread() is threading.main_thread():
        _deliver()


def _hold(number: int, frame: FrameType | None) -> None:
    if _HELD.depth:
        _HELD.waiting.append(number)
    else:
        _HELD.handlers[number](number, frame)


def _deliver() -> None:
    if _HELD.waiting:
        number = _HELD.waiting[0]
        _HELD.waiting.clear()
        _HELD.handlers[number](number, None)
