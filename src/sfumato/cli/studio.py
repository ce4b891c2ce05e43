"""`sfumato studio`: the whole job in a browser, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._run import verb


@verb
def studio(
    path: Annotated[Path, typer.Argument(help="A table, or the directory of a release.", show_default=False)],
    *,
    port: Annotated[
        int | None, typer.Option(help="A free port is taken otherwise.", min=1024, max=65535, show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open it in the browser.")] = True,
) -> None:
    """Open a page on this machine: from a table to a release, or to ask a release. Nobody else can reach it."""
    from sfumato.studio.server import open_studio

    open_studio(path, port=port, show=show)
