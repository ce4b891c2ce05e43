"""Only regular files are opened: a pipe would block, a device has no end, and a directory is no table."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def refusal(path: str | os.PathLike[str]) -> str | None:
    """Return why a path cannot be read as a file ("this is a pipe, expected a file"), None where it can.

    Links are followed. Nothing is opened, so that nothing can block.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "this link leads nowhere" if Path(path).is_symlink() else "there is no such file"
    except PermissionError:
        return "no permission to read the file"
    except (OSError, ValueError):
        return "this is no path of a file"
    if stat.S_ISREG(mode):
        return None
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    return f"this is {kind}, expected a file"


class TooLongError(ValueError):
    """A file holds more bytes than such a file may have."""


def read_text(path: str | os.PathLike[str], *, most: int) -> str:
    """Return the text of a small UTF-8 file; one of more than `most` bytes raises `TooLongError`, and is not read further."""
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLongError(f"more than {most:,} bytes")
    return content.decode("utf-8-sig")
