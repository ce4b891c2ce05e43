"""The one place where kernels are compiled, and where their compiled code is kept.

That is `SFUMATO_CACHE` (or numba's own `NUMBA_CACHE_DIR`) if it is set, else beside the source or in the user's cache; where none
of these can be written, compiled code is kept in memory for as long as the process runs.

Kept code is unpickled and run. So it is read only from files that nobody but this user could have written, in a directory where
nobody else can put or rename any, and only if it is whole: each file ends in a digest. Any other is made again, with a word.

numba looks for changes in the file of a function only, but kernels of other files are compiled into it. So kept code is good for
one state of all kernels: those of the package are in files named `_…kernel….py`, and a change in any of them is seen.

numba itself is loaded by the first kernel that needs it: loading it, and what it looks up for a first kernel, takes longer than
to read a release and answer a question. So a kernel may have a twin in numpy, `@njit(plain=twin)`, which does the same and is
used for as long as nothing has loaded numba and the kernel was called a few times only. Where both give the same to the last bit,
`@njit(plain=twin, same=True)`, the twin does short arrays at first, even with numba at hand: to compile a kernel takes longer.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import io
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from sfumato.places import is_own, private_directory, user_cache
from sfumato.progress import LOG, compiling

_FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

FEW = 200
"""After so many calls of one kernel its twin in numpy has cost more than loading numba would."""
SHORT = 200_000
"""After so many numbers, over all calls of one kernel, its twin in numpy has cost more than a tenth of compiling it."""

DIGEST = hashlib.sha256().digest_size

_Function = TypeVar("_Function", bound=Callable[..., Any])
_said: set[str] = set()
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
    in_memory = numba.njit(**{**options, "cache": False})
    if not options.get("cache") or _stated_place() == "":
        return in_memory(function)
    try:
        with _cache_directory(_stated_place() or numba.config.CACHE_DIR):
            made = numba.njit(**options)(function)
        if made is function:  # numba was told to compile nothing
            return made
        return made if _kept(made) else in_memory(function)
    except (RuntimeError, AttributeError) as error:
        if isinstance(error, RuntimeError) and "cannot cache" not in str(error):
            raise
        _tell_once(_IN_MEMORY)
        return in_memory(function)


@functools.cache
def _numba() -> Any:
    import numba
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            compiling()
            _collector.pause()

        def on_end(self, event: Any) -> None:
            _collector.go_on()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
    return numba


class _Collector:
    """Python's collector of cycles, which waits while kernels compile: it takes a seventh of the time there.

    A kernel compiles those that it calls, inside; the outermost lets the collector go on. numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def pause(self) -> None:
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def go_on(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


_collector = _Collector()


@functools.cache
def _stated_place() -> str | None:
    """Return the directory that the user names for compiled code; None where none is named, "" for one that is refused."""
    for variable in ("SFUMATO_CACHE", "NUMBA_CACHE_DIR"):
        if stated := os.environ.get(variable):
            place = Path(os.path.realpath(stated))
            if private_directory(place) is None:
                return str(place)  # numba finds that it cannot write there, and says so
            if is_own(place):
                return str(place)
            _tell_once(
                f"{variable}: others can write to {place}, and could let you run code of theirs; compiled code is kept in "
                "memory only. To start faster, name a directory of your own (chmod 700)"
            )
            return ""
    return None


def kept_in(kernel: Any) -> Path | None:
    """Return the directory in which a kernel's compiled code is kept; None where that is in memory only."""
    kept = getattr(kernel._made, "_cache", None)  # numba that was told to compile nothing has none
    return None if kept is None or kept.cache_path is None else Path(kept.cache_path)


def _kept(made: Any) -> bool:
    """Let a kernel's code be kept where nobody else can write, and be out of date when any kernel has changed.

    False if there is no such place; `AttributeError` if this numba keeps code in another way.
    """
    named = Path(_stated_place() or os.devnull)
    path = Path(made._cache._cache_path)
    if path.parent != named and not is_own(path):
        # Others can write beside the source, as where a group keeps an installation: the user's own cache instead.
        home = user_cache()
        place = private_directory(None if home is None else home / "compiled")
        if place is not None and is_own(place):
            with _cache_directory(str(place)):
                made.enable_caching()
            named, path = place, Path(made._cache._cache_path)
    if path.parent == named and not is_own(path):
        with suppress(OSError):
            path.chmod(0o700)  # numba makes it as open as the umask says
    if not is_own(path):
        _tell_once(_IN_MEMORY)
        return False
    stamp = (made._cache._cache_file._source_stamp, _state_of_kernels())
    made._cache._cache_file = _checked_file()(str(path), made._cache._impl.filename_base, stamp)
    return True


@contextmanager
def _cache_directory(place: str) -> Iterator[None]:
    """Let numba keep there the code of what is decorated meanwhile: ours alone, not that of other packages."""
    config = _numba().config
    before, config.CACHE_DIR = config.CACHE_DIR, place
    try:
        yield
    finally:
        config.CACHE_DIR = before


@functools.cache
def _checked_file() -> Any:
    """Return numba's class of files of kept code, which here are the user's own, open to nobody else, and end in a digest."""
    from numba.core import caching

    files: Any = caching.IndexDataCacheFile

    class Checked(files):  # type: ignore[misc]
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self._version: str = f"{_numba().__version__} with digests"

        def _load_index(self) -> Any:
            try:
                stream = io.BytesIO(_own_bytes(self._index_path))
                if pickle.load(stream) != self._version:
                    return {}
                stamp, overloads = pickle.loads(_whole(stream.read()))
            except FileNotFoundError:
                return {}
            except Exception:  # whatever damaged bytes may raise
                _made_again(self._cache_path)
                return {}
            return overloads if stamp == self._source_stamp else {}

        def _load_data(self, name: str) -> Any:
            try:
                return pickle.loads(_whole(_own_bytes(self._data_path(name))))
            except FileNotFoundError:
                raise
            except Exception:
                _made_again(self._cache_path)
                raise OSError("damaged") from None  # numba compiles it, and keeps that instead

        def _dump(self, obj: Any) -> bytes:
            content: bytes = super()._dump(obj)
            return content + hashlib.sha256(content).digest()

        @contextmanager
        def _open_for_write(self, filepath: str) -> Iterator[Any]:
            with super()._open_for_write(filepath) as stream:
                os.chmod(stream.name, 0o600)
                yield stream

    return Checked


def _own_bytes(path: str) -> bytes:
    """Return what is in a file that nobody but this user could have written: of the open file, which nobody can exchange."""
    with open(path, "rb") as stream:
        if not is_own(stream.fileno()):
            raise ValueError("others can write to it")
        return stream.read()


def _whole(content: bytes) -> bytes:
    if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
        raise ValueError("damaged")
    return content[:-DIGEST]


def _made_again(place: str) -> None:
    _tell_once(f"compiled code in {place} was damaged, or others could write to it; it is made again")


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


_IN_MEMORY = "compiled code is kept in memory only; to start faster, set SFUMATO_CACHE to a directory of your own"


def _tell_once(note: str) -> None:
    if note not in _said:
        _said.add(note)
        LOG.warning("%s", note)
