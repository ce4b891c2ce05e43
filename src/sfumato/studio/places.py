"""Which files the studio may touch: those below the directory in which it was started, and its own workshop."""

from __future__ import annotations

from pathlib import Path

from sfumato.errors import InputError


def below(root: Path, name: str | Path) -> Path:
    """Return the path of a file or directory below `root`; refused is whatever lies elsewhere, by a link too."""
    place = (root / name).resolve()
    if not str(name).strip() or place == root.resolve() or root.resolve() not in place.parents:
        raise InputError(
            "the studio works only below the directory in which it was started", hint="give a name such as release, without .."
        )
    return place
