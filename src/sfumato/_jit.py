"""The one place where kernels are compiled, and where their compiled code is kept.

That is `SFUMATO_CACHE` if it is set, else beside the source or in the user's cache, as numba does; where none of these can be
written, compiled code is kept in memory for as long as the process runs.

numba looks for changes in the file of a function only, but kernels of other files are compiled into it. So kept code is good for
one state of all kernels: those of the package are in files named `_…kernel….py`, and a change in any of them is seen.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sfumato.progress import compiling

if place := os.environ.get("SFUMATO_CACHE"):
    place = os.path.abspath(place)
    os.environ["NUMBA_CACHE_DIR"] = place

import numba
from numba.core import event

if place:
    setattr(numba.config, "CACHE_DIR", place)  # noqa: B010  (numba may be here before us; its types do not show it)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_told: list[str] = []


def njit(**options: Any) -> Callable[[_Function], _Function]:
    """Return numba's decorator with these options; `cache` asks for a place on disk and does without where there is none."""

    def compiled(function: _Function) -> _Function:
        try:
            made: _Function = numba.njit(**options)(function)
            if options.get("cache") and made is not function:  # numba may have been told to compile nothing
                _stamp(made)
        except (RuntimeError, AttributeError) as error:
            if not options.get("cache") or (isinstance(error, RuntimeError) and "cannot cache" not in str(error)):
                raise
            _tell_once()
            made = numba.njit(**{**options, "cache": False})(function)
        return made

    return compiled


def _stamp(made: Any) -> None:
    """Let kept code of this function be out of date when any kernel has changed; `AttributeError` if numba keeps it otherwise."""
    file = made._cache._cache_file
    file._source_stamp = (file._source_stamp, _state_of_kernels())


@cache
def _state_of_kernels() -> str:
    """Return a digest of all files of the package that hold kernels."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(root.rglob("_*kernel*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


class _Listener(event.Listener):
    def on_start(self, event: Any) -> None:
        compiling()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]


def _tell_once() -> None:
    if not _told:
        _told.append(
            "note: compiled code is kept in memory only; to start faster, set SFUMATO_CACHE to a directory of your own\n"
        )
        sys.stderr.write(_told[0])
