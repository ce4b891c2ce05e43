"""Directories of the user's own, where the system keeps such: for what must not get lost, and for what can be made again."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path


def user_data() -> Path | None:
    """Return where the user's data of sfumato lies, whether or not it is there; None for a user without a home.

    `$XDG_DATA_HOME/sfumato` or `~/.local/share/sfumato`, `~/Library/Application Support/sfumato`, `%LOCALAPPDATA%\\sfumato`.
    """
    return _own("XDG_DATA_HOME", ".local/share", "Library/Application Support")


def user_cache() -> Path | None:
    """Return where the user's cache of sfumato lies, as `user_data`: `$XDG_CACHE_HOME/sfumato` or `~/.cache/sfumato`."""
    return _own("XDG_CACHE_HOME", ".cache", "Library/Caches")


def private_directory(place: Path | None) -> Path | None:
    """Return the directory, made for its owner alone where it is missing; None where it cannot be made or written."""
    if place is None:
        return None
    try:
        for folder in reversed([folder for folder in (place, *place.parents) if not folder.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        return place if place.is_dir() and os.access(place, os.W_OK | os.X_OK) else None
    except OSError:
        return None


def is_own(place: Path | int) -> bool:
    """Return whether nobody but this user could have written there: a file or directory of hers, no link, open to nobody else.

    A number is that of an open file. False where there is nothing, or it cannot be looked at.
    """
    try:
        status = os.fstat(place) if isinstance(place, int) else os.lstat(place)
    except OSError:
        return False
    if stat.S_ISLNK(status.st_mode):
        return False
    return os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _own(variable: str, below: str, on_mac: str) -> Path | None:
    stated = Path(os.environ.get(variable, ""))
    if stated.is_absolute():  # a relative one is to be ignored, says the XDG specification
        return stated / "sfumato"
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", ""))
        return local / "sfumato" if local.is_absolute() else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / (on_mac if sys.platform == "darwin" else below) / "sfumato" if home.is_absolute() else None
