"""What `sfumato query --export-model` does: the model of a release as a file for other languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.cli._show import console, progress_bar, shown
from sfumato.cli._state import writing

if TYPE_CHECKING:
    from sfumato.release import Release


def write_model_file(directory: Path, release: Release, target: Path) -> None:
    """Write what a release teaches to a new file, and say how large it is."""
    from sfumato.query.model_file import write_model
    from sfumato.release.files import MANIFEST, sha256

    with progress_bar() as tell:
        tell("learning", 0.0)
        with writing(target):
            size = write_model(release, target, manifest=sha256(directory / MANIFEST))
    console().print(
        f"Wrote {shown(target)} ({size / 1e6:.1f} MB), which is of this release alone: docs/formats.md, `count()` in R"
    )
