"""What every verb shares: expected errors become one clear message and an exit code."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from sfumato.cli._memory import NOT_ENOUGH, require_room
from sfumato.cli._state import STATE, interruption
from sfumato.cli._visible import visible
from sfumato.errors import SfumatoError, out_of_memory

P = ParamSpec("P")
R = TypeVar("R")

BROKEN, BAD_INPUT, BUG = 1, 2, 3


def verb(function: Callable[P, R]) -> Callable[P, R]:
    """Return the verb whose errors become one message: exit 1 for a broken claim, 2 for bad input, 3 for a bug.

    A signal ends it with 128 and the signal's number. After everything was written nothing is a failure, neither a signal nor a
    mistake of ours in telling about it. The text of an unexpected exception is not shown, since nobody has checked that it holds
    no person's values.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        STATE.written = ""
        try:
            require_room()
            return function(*args, **kwargs)
        except (typer.Exit, SystemExit):
            raise
        except BaseException as error:
            if STATE.debug:
                traceback.print_exc()
            if STATE.signal or isinstance(error, KeyboardInterrupt):  # an import may turn one into another exception
                message, code = interruption()
                STATE.reported = True
            elif STATE.written:
                written = f"{visible(STATE.written)} was written; telling about it failed ({type(error).__name__})"
                message, code = f"warning: {written}", 0
            else:
                message, code = _described(error)
            typer.echo(message, err=True)
            raise typer.Exit(code) from None

    return run


def _described(error: BaseException) -> tuple[str, int]:
    """Return what to say about an error, and the exit code."""
    if out_of_memory(error):
        return NOT_ENOUGH, BAD_INPUT
    if isinstance(error, SfumatoError):
        from sfumato.policy.wording import hint_in_toml

        lines = [visible(error.message)]
        if problems := getattr(error, "problems", ()):
            lines = [visible(error.message.splitlines()[0]), *(_numbered(*problem) for problem in enumerate(problems, 1))]
        if error.hint is not None:
            lines.append(f"hint: {visible(hint_in_toml(error.hint) or '')}")
        return "error: " + "\n".join(lines), error.exit_code
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        # Not the text of an error without a number: Arrow raises such, and may quote what it read.
        return "error: " + visible(f"{place}{error.strerror or 'reading or writing failed'}"), BAD_INPUT
    return (
        f"error: sfumato failed in a way it should not ({type(error).__name__}); this is a bug, please report it\n"
        "hint: sfumato --debug … shows where; look through the text for personal data before passing it on",
        BUG,
    )


def _numbered(number: int, problem: SfumatoError) -> str:
    hint = "" if problem.hint is None else f"\n     hint: {visible(problem.hint)}"
    return f"  {number}. {visible(problem.message)}{hint}"
