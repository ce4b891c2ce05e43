"""What every verb shares: expected errors become one clear message and an exit code."""

from __future__ import annotations

import functools
import signal
import traceback
from collections.abc import Callable
from types import FrameType
from typing import ParamSpec, TypeVar

import typer

from sfumato.cli._visible import visible
from sfumato.errors import SfumatoError

P = ParamSpec("P")
R = TypeVar("R")

BROKEN, BAD_INPUT, BUG = 1, 2, 3


class State:
    """Options given before the verb, whether ctrl-C was pressed, and the release that is whole and in place, if any."""

    debug: bool = False
    interrupted: bool = False
    written: str = ""


STATE = State()


def remember_interrupts() -> None:
    """Note every ctrl-C: an import or a foreign library may turn the exception into another one, or swallow it."""

    def handler(number: int, frame: FrameType | None) -> None:
        STATE.interrupted = True
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, handler)


def check_interrupt() -> None:
    """Raise `KeyboardInterrupt` if ctrl-C was pressed and the exception got lost."""
    if STATE.interrupted:
        raise KeyboardInterrupt


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Return the verb with its errors told in one message: exit 1 for a broken claim, 2 for bad input and ctrl-C, 3 for a bug.

    A ctrl-C after everything was written changes nothing any more, and is no failure. The text of an unexpected exception is not
    shown, since nobody has checked that it holds no person's values.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        STATE.written = ""
        try:
            return function(*args, **kwargs)
        except (SfumatoError, KeyboardInterrupt, MemoryError, OSError) as error:
            if STATE.debug:
                traceback.print_exc()
            _say(_message(error))
            raise typer.Exit(_exit_code(error)) from None
        except typer.Exit:
            raise
        except Exception as error:
            if STATE.debug:
                traceback.print_exc()
            if STATE.interrupted:
                _say(_message(KeyboardInterrupt()))
                raise typer.Exit(_exit_code(KeyboardInterrupt())) from None
            _say(f"error: sfumato failed in a way it should not ({type(error).__name__}); this is a bug, please report it")
            _say("hint: sfumato --debug … shows where; look through the text for personal data before passing it on")
            raise typer.Exit(BUG) from None

    return run


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SfumatoError):
        return error.exit_code
    return 0 if isinstance(error, KeyboardInterrupt) and STATE.written else BAD_INPUT


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted; {STATE.written or 'nothing'} was written"
    if isinstance(error, MemoryError):
        return "error: not enough memory for this table\nhint: publish on a larger machine; nothing was written"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        # Not the text of an error without a number: Arrow raises such, and may quote what it read.
        return "error: " + visible(f"{place}{error.strerror or 'reading or writing failed'}")
    if isinstance(error, SfumatoError):
        hint = "" if error.hint is None else f"\nhint: {visible(error.hint)}"
        return f"error: {visible(error.message)}{hint}"
    return "error: " + visible(str(error))


def _say(message: str) -> None:
    typer.echo(message, err=True)
