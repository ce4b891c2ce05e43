"""The one place where kernels are compiled, and where their compiled code is kept.

That is `SFUMATO_CACHE` if it is set, else beside the source or in the user's cache, as numba does; where none of these can be
written, compiled code is kept in memory for as long as the process runs.

numba looks for changes in the file of a function only, but kernels of other files are compiled into it. So kept code is good for
one state of all kernels: those of the package are in files named `_…kernel….py`, and a change in any of them is seen.

numba itself is loaded by the first kernel that needs it: loading it, and what it looks up for a first kernel, takes longer than
to read a release and answer a question. So a kernel may have a twin in numpy, `@njit(plain=twin)`, which does the same and is
used for as long as nothing has loaded numba and the kernel was called a few times only. Where both give the same to the last bit,
`@njit(plain=twin, same=True)`, the twin does short arrays at first, even with numba at hand: to compile a kernel takes longer.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from sfumato.progress import compiling

_FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

FEW = 200
"""After so many calls of one kernel its twin in numpy has cost more than loading numba would."""
SHORT = 200_000
"""After so many numbers, over all calls of one kernel, its twin in numpy has cost more than a tenth of compiling it."""

if place := os.environ.get("SFUMATO_CACHE"):
    place = os.path.abspath(place)
    os.environ["NUMBA_CACHE_DIR"] = place

_Function = TypeVar("_Function", bound=Callable[..., Any])
_noted: list[str] = []
_lock = threading.RLock()


def prange(*given: int) -> range:
    """Stand for numba's `prange` in kernels whose file is not to load numba."""
    return range(*given)


class Kernel:
    """A function that is compiled when it is first called, or when another kernel that calls it is compiled."""

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], plain: Callable[..., Any] | None, same: bool
    ) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options, self._plain, self._calls = function, options, plain, 0
        self._left = SHORT if same else 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self._plain is not None and self._calls < FEW and ("numba" not in sys.modules or self._is_short(given)):
            self._calls += 1
            return self._plain(*given, **named)
        return self._made(*given, **named)

    def _is_short(self, given: tuple[Any, ...]) -> bool:
        """Return whether what is given is little enough for the twin, and count it."""
        if self._left > 0:
            self._left -= max(one.size for one in given if hasattr(one, "size"))
        return self._left > 0

    @functools.cached_property
    def _made(self) -> Any:
        with _lock:
            return self.__dict__.get("_made") or _compiled(self._function, self._options)

    @functools.cached_property
    def _inner(self) -> Any:
        """The same for compiled callers only: without what Python and C would call it by, which also has to be compiled."""
        with _lock:
            return self.__dict__.get("_inner") or _compiled(_apart(self._function), {**self._options, **_FOR_KERNELS})

    @property
    def _numba_type_(self) -> Any:
        """What numba takes this for inside another kernel."""
        return self._inner._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._made, name)


def njit(*, plain: Callable[..., Any] | None = None, same: bool = False, **options: Any) -> Callable[[_Function], _Function]:
    """Return numba's decorator with these options; `cache` asks for a place on disk and does without where there is none.

    `plain` does the same in numpy, but for rounding unless it is the `same`.
    """
    return lambda function: Kernel(function, options, plain, same)  # type: ignore[return-value]


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function under another name, so that its compiled code is kept apart."""
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__qualname__, made.__module__ = f"{function.__qualname__}_inner", function.__module__
    return made


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    numba = _numba()
    if function.__globals__.get("prange") is prange:
        function.__globals__["prange"] = numba.prange
    try:
        made = numba.njit(**options)(function)
        if options.get("cache") and made is not function:  # numba may have been told to compile nothing
            _stamp(made)
        return made
    except (RuntimeError, AttributeError) as error:
        if not options.get("cache") or (isinstance(error, RuntimeError) and "cannot cache" not in str(error)):
            raise
        _tell_once()
        return numba.njit(**{**options, "cache": False})(function)


@functools.cache
def _numba() -> Any:
    import numba
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            compiling()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
    if place:
        setattr(numba.config, "CACHE_DIR", place)  # noqa: B010  (numba may be here before us; its types do not show it)
    return numba


def _stamp(made: Any) -> None:
    """Let kept code of this function be out of date when any kernel has changed; `AttributeError` if numba keeps it otherwise."""
    file = made._cache._cache_file
    file._source_stamp = (file._source_stamp, _state_of_kernels())


@functools.cache
def _state_of_kernels() -> str:
    """Return a digest of all files of the package that hold kernels."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(root.rglob("_*kernel*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _tell_once() -> None:
    if not _noted:
        _noted.append(
            "note: compiled code is kept in memory only; to start faster, set SFUMATO_CACHE to a directory of your own\n"
        )
        sys.stderr.write(_noted[0])
