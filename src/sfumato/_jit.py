"""The one place where kernels are compiled, and where their compiled code is kept.

That is `SFUMATO_CACHE` if it is set, else beside the source or in the user's cache, as numba does; where none of these can be
written, compiled code is kept in memory for as long as the process runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

if place := os.environ.get("SFUMATO_CACHE"):
    place = os.path.abspath(place)
    os.environ["NUMBA_CACHE_DIR"] = place

import numba

if place:
    setattr(numba.config, "CACHE_DIR", place)  # noqa: B010  (numba may be here before us; its types do not show it)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_told: list[str] = []


def njit(**options: Any) -> Callable[[_Function], _Function]:
    """Return numba's decorator with these options; `cache` asks for a place on disk and does without where there is none."""

    def compiled(function: _Function) -> _Function:
        try:
            made: _Function = numba.njit(**options)(function)
        except RuntimeError as error:
            if not options.get("cache") or "cannot cache" not in str(error):
                raise
            _tell_once()
            made = numba.njit(**{**options, "cache": False})(function)
        return made

    return compiled


def _tell_once() -> None:
    if not _told:
        _told.append(
            "note: compiled code is kept in memory only; to start faster, set SFUMATO_CACHE to a directory of your own\n"
        )
        sys.stderr.write(_told[0])
