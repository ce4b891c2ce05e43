"""`sfumato studio`: the whole job in a browser, on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.plugged import STATE


class _Without(MetaPathFinder):
    """Says that some packages are not there."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in self.names:
            raise ImportError(name)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Let an import do without packages that it takes if they are there, and that no page needs.

    The process is the studio's own. Nothing of a package is hidden that was imported before.
    """
    finder = _Without(tuple(name for name in names if name not in sys.modules))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _spare() -> None:
    """Import what would import for nothing: half a second for pandas, at the first list that pyarrow converts, and a third of one
    for what talks to other machines (the library's client, which is never used).
    """
    import pyarrow as pa

    with _without("pandas"):
        pa.array([0])
    with _without("aiohttp", "requests", "websocket"), suppress(ImportError):
        import_module("engineio")


def studio(
    path: Annotated[Path, typer.Argument(help="A table, or the directory of a release.")],
    *,
    port: Annotated[int | None, typer.Option(help="A free port is taken otherwise.", min=1024, max=65535)] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open it in the browser.")] = True,
) -> None:
    """Open a page on this machine: from a table to a release, or to ask a release. Nobody else can reach it."""
    import logging

    _spare()
    if not STATE.debug:  # the library's own words about a mistake may quote a person
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)
    from sfumato.studio.server import open_studio

    try:
        open_studio(path, port=port, show=show)
    except KeyboardInterrupt:
        STATE.signal = 0
        typer.echo("The studio is closed, and what it kept is wiped.")
