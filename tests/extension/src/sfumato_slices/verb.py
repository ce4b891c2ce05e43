"""`sfumato slices`: a verb of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato import Release
from sfumato.errors import InputError


def slices(
    release: Annotated[Path, typer.Argument(help="A release of slices.")],
    *,
    most: Annotated[int, typer.Option(help="Show so many of them.", min=1)] = 10,
) -> None:
    """Show how many people the first slices of a release have."""
    loaded = Release.load(release)
    if not loaded.shown_as.has_groups:
        raise InputError("the release has no groups", hint="a release of the method slices")
    typer.echo(f"{loaded.rows} people in {loaded.manifest.parameters['groups']} slices, of which {most} are shown at most")
