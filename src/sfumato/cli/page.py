"""`sfumato page`: a release as one HTML file that answers, for recipients who install nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import ReleaseDirectory
from sfumato.cli._run import verb
from sfumato.cli._show import console, progress_bar, shown, warn
from sfumato.cli._state import writing
from sfumato.cli.query import load_remembering


@verb
def page(
    release: ReleaseDirectory,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("explore.html"),
) -> None:
    """Write a page that answers: every table of one or two columns with intervals, to filter, look at and download.

    One HTML file that loads nothing, made from the release alone: it may be handed out with it. What does not fit into 5 MB is
    said.
    """
    from sfumato.reports.explore import write_page

    with progress_bar() as tell, writing(out):
        size, left = write_page(load_remembering(release), out, progress=tell)
    for line in left:
        warn(f"left out: {shown(line)}")
    console().print(f"Wrote {shown(out)} ({size / 1e6:.1f} MB, for everybody)")
