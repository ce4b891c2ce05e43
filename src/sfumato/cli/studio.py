"""`sfumato studio`: the whole job in a browser, on this machine."""

from __future__ import annotations

from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._run import verb


class _WithoutPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ImportError(name)


def _spare_pandas() -> None:
    """Let pyarrow do without pandas, which it imports at the first list that it converts: half a second for nothing.

    The process is the studio's own, and no page of it needs pandas.
    """
    import sys

    import pyarrow as pa

    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


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
    import logging

    from sfumato.cli._state import STATE

    _spare_pandas()
    if not STATE.debug:  # the library's own words about a mistake may quote a person
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)
    from sfumato.studio.server import open_studio

    try:
        open_studio(path, port=port, show=show)
    except KeyboardInterrupt:
        STATE.signal = 0
        typer.echo("The studio is closed, and what it kept is wiped.")
