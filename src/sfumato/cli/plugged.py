"""Verbs of guests and of installed packages: a function a verb, named by an entry point of the group `sfumato.verbs`.

What such a function may use of the command line is here too: the state of the process, releases as `query` loads them, and the
words that are completed in a condition.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sfumato.cli._run import verb
from sfumato.cli._state import STATE
from sfumato.plugins import installed, left_out

GROUP = "sfumato.verbs"


class Verbs(TyperGroup):
    """Sfumato's own verbs, and those of guests and installed packages, which are loaded when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all verbs; no package can take one of sfumato's own."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in installed(GROUP) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; None where there is none of this name."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in installed(GROUP):
            return own
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        one.command(cmd_name)(verb(installed(GROUP)[cmd_name].load()))
        return get_command(one)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is asked for; one of a guest that is left out is refused with a sentence."""
        if self.get_command(ctx, args[0]) is None and (part := left_out(GROUP, args[0])):
            ctx.fail(f"The verb {args[0]!r} is in the part {part}, which this installation leaves out.")
        return super().resolve_command(ctx, args)


__all__ = ["STATE", "Verbs"]
