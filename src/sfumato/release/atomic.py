"""Writing a directory or a private file whole or not at all, whoever is killed and whoever else writes there.

What is being written lies in a *workshop*, a hidden directory beside its target. The workshop holds a locked file; the lock ends
with the process, however that ends, so the next one that writes there can tell a dead workshop from a living one and removes it.

Some steps no signal may cut in two: ctrl-C, SIGTERM and SIGHUP wait until they are done, or can be undone (`undisturbed`).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, TypeVar

from sfumato.errors import OutputError
from sfumato.places import is_own

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on Windows: nothing is swept there
    fcntl = None

T = TypeVar("T")

LOCK = "sfumato.lock"
_WORKSHOP = re.compile(r"\..+\.[0-9a-f]{12}\.partial", re.DOTALL)
_AT_CWD, _NO_REPLACE, _EXCLUSIVE = -100, 1, 4  # of Linux' renameat2 and of macOS' renamex_np
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_NO_LOCKS = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.ENOLCK)


def write_directory(directory: Path, fill: Callable[[Path], T]) -> T:
    """Make a new directory, whole or not at all, and return what `fill` returned, which is given an empty one to write to.

    Signals wait while files are written, so that no writer is cut off, and strike before the directory appears. Of several who
    write the same directory one wins, and what exists is never replaced.
    """
    refuse_existing(directory)
    try:
        with workshop(directory) as hidden:
            partial = hidden / directory.name
            partial.mkdir()
            result = fill(partial)
            _to_disk(partial)
            let_in()
            move_new(partial, directory)
            flush(directory.parent)
    except OSError as error:
        if isinstance(error, FileExistsError):
            refuse_existing(directory)  # another publisher was faster
        raise OutputError(
            f"cannot write the release to {directory}: {error.strerror or error}", hint="check the path and its permissions"
        ) from None
    return result


def write_private(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a new file that only its owner can read, whole or not at all; one that exists is never replaced."""
    with workshop(path) as hidden:
        draft = write_draft(hidden / path.name, write)
        let_in()
        move_new(draft, path)
        flush(path.parent)


def replace_private(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that only its owner can read in place of an earlier one: whoever is killed leaves the old one or the new."""
    with workshop(path) as hidden:
        draft = write_draft(hidden / path.name, write)
        let_in()
        os.replace(draft, path)
        flush(path.parent)


def write_draft(path: Path, write: Callable[[BinaryIO], object]) -> Path:
    """Write a file in a workshop, readable for its owner only and surely on disk, and return its path."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        write(stream)
        stream.flush()
        os.fsync(stream.fileno())
    return path


def refuse_taken(target: Path) -> None:
    """Refuse a new file that exists already, or whose directory does not."""
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} exists already; it is not overwritten", hint="choose another file")
    if not target.parent.is_dir():
        raise OutputError(f"{target.name}: the directory {str(target.parent)!r} does not exist", hint="create it first")


@contextlib.contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Give the path at which to write a new file; it appears at the end, whole, unless something else took its place."""
    try:
        with workshop(target) as hidden:
            yield hidden / target.name
            let_in()
            move_new(hidden / target.name, target)
    except FileExistsError:
        raise OutputError(f"{target} exists already; it is not overwritten", hint="choose another file") from None
    except OSError as error:
        raise OutputError(f"{target.name}: cannot be written: {error.strerror or 'the disk refused'}") from None


@contextlib.contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """Give a hidden directory beside the target, in which to prepare it; signals wait, and it is gone at the end.

    Missing parents are made, and removed again where they stay empty. Workshops that killed processes left there are removed.
    """
    with undisturbed():
        home = target.parent
        missing = [folder for folder in (home, *home.parents) if not folder.exists()]
        try:
            home.mkdir(parents=True, exist_ok=True)
            sweep(home)
            place, lock = _open_workshop(lambda: target.with_name(f".{target.name}.{secrets.token_hex(6)}.partial"))
            try:
                yield place
            finally:
                _remove(place)
                os.close(lock)
        finally:
            for folder in missing:
                with contextlib.suppress(OSError):
                    folder.rmdir()


def temporary_workshop(name: str) -> tuple[Path, int]:
    """Return a new directory of the user's alone among temporary files, and its lock, which ends with the process or when closed.

    Those of this name that killed processes of hers left are removed.
    """
    home = Path(tempfile.gettempdir())
    sweep(home, re.compile(rf"{re.escape(name)}-[0-9a-f]{{12}}"))
    return _open_workshop(lambda: home / f"{name}-{secrets.token_hex(6)}")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Give a directory for files that only this user may see and that nobody needs later, where the system keeps such.

    It is gone at the end. What a process that was killed left there of a table is removed by the next one that needs one.
    """
    place, lock = temporary_workshop("sfumato")
    try:
        yield place
    finally:
        _remove(place)
        os.close(lock)


def sweep(home: Path, names: re.Pattern[str] = _WORKSHOP) -> None:
    """Remove this user's workshops whose processes are gone. Nothing else is touched, nor what cannot be removed."""
    if fcntl is None:
        return
    for place in [entry for entry in home.iterdir() if names.fullmatch(entry.name)]:
        with contextlib.suppress(OSError):
            if not is_own(place) or not place.is_dir() or not (_is_lock(place / LOCK) or not any(place.iterdir())):
                continue
            if place.stat().st_uid != os.geteuid():  # whoever made it could put another directory in its place meanwhile
                continue
            lock = _lock(place, needed=True)
            if lock is not None:
                _remove(place)
                os.close(lock)


def move_new(source: Path, target: Path) -> None:
    """Rename in one step; raise `FileExistsError` if there is a target, also an empty directory, which `os.rename` replaces."""
    rename = _exclusive_rename()
    if rename is not None:
        code = rename(os.fsencode(source), os.fsencode(target))
        if code == 0:
            return
        if code not in _CANNOT:
            raise OSError(code, os.strerror(code), str(target))
    if os.name == "nt":
        os.rename(source, target)
        return
    if not source.is_dir():
        os.link(source, target)
        source.unlink()
        return
    os.mkdir(target)  # fails when it exists; whoever makes it may replace it
    try:
        os.rename(source, target)
    except BaseException:
        target.rmdir()
        raise


def refuse_existing(directory: Path) -> None:
    """Refuse an output directory that exists already."""
    if directory.exists() or directory.is_symlink():
        raise OutputError(
            f"{directory} exists already; a release is only written to a new directory",
            hint="choose another --out, or remove the old release if nobody has received it",
        )


def flush(directory: Path) -> None:
    """Let the names in a directory survive a loss of power, where the file system can promise that."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _to_disk(directory: Path) -> None:
    for folder, _, files in os.walk(directory, topdown=False):
        for name in files:
            flush(Path(folder, name))
        flush(Path(folder))


def _open_workshop(name: Callable[[], Path]) -> tuple[Path, int]:
    """Return a new workshop and its lock. Somebody may sweep it before it is locked: then there is another one."""
    while True:
        place = name()
        place.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            lock = _lock(place, needed=False)
            if lock is not None:
                return place, lock


def _lock(place: Path, *, needed: bool) -> int | None:
    """Return the locked file of a workshop; None if another process has it, or has just removed it.

    Where a file system has no locks one can still write, unless the lock is needed: nothing is ever swept there.
    """
    path = place / LOCK
    lock = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), os.stat(path)):
            return lock
    except BlockingIOError:
        pass
    except OSError as error:
        if error.errno in _NO_LOCKS and not needed:
            return lock
    os.close(lock)
    return None


def _is_lock(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _remove(place: Path) -> None:
    """Remove a workshop, its lock last, so that somebody can go on with it where this process is killed."""
    with contextlib.suppress(OSError):
        for entry in [entry for entry in place.iterdir() if entry.name != LOCK]:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()
        (place / LOCK).unlink()
        place.rmdir()


def _exclusive_rename() -> Callable[[bytes, bytes], int] | None:
    """Return a function that renames without replacing, and returns 0 or the error's number; None where there is none."""
    if os.name == "nt":
        return None
    library = ctypes.CDLL(None, use_errno=True)

    def called(name: str, *arguments: object) -> int:
        return 0 if getattr(library, name)(*arguments) == 0 else ctypes.get_errno()

    if hasattr(library, "renameat2"):
        return lambda source, target: called("renameat2", _AT_CWD, source, _AT_CWD, target, _NO_REPLACE)
    if hasattr(library, "renamex_np"):
        return lambda source, target: called("renamex_np", source, target, _EXCLUSIVE)
    return None


_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class _Held:
    """What the process holds back: how many blocks are inside each other, what is waiting, and who gets it."""

    depth = 0
    waiting: list[int]
    handlers: dict[int, Any]


_HELD = _Held()
_HELD.waiting, _HELD.handlers = [], {}


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals back while the block runs, and deliver at its end what has come in between.

    Only signals that have a Python handler are held back, since only those raise an exception in the middle of a step, and only
    in the main thread, since handlers run nowhere else.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _HELD.depth == 0:
        _HELD.handlers.clear()  # those of an earlier block may have been replaced since
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and handler is not _hold:
                _HELD.handlers[number] = handler
                signal.signal(number, _hold)
    _HELD.depth += 1
    try:
        yield
    finally:
        _HELD.depth -= 1
        if _HELD.depth == 0:
            for number, handler in _HELD.handlers.items():
                signal.signal(number, handler)
            _deliver()


def let_in() -> None:
    """Deliver what is waiting now: for the points of an undisturbed block from which everything can still be undone.

    What comes later, while it is being undone, waits again.
    """
    if threading.current_thread() is threading.main_thread():
        _deliver()


def _hold(number: int, frame: FrameType | None) -> None:
    if _HELD.depth:
        _HELD.waiting.append(number)
    else:
        _HELD.handlers[number](number, frame)


def _deliver() -> None:
    if _HELD.waiting:
        number = _HELD.waiting[0]
        _HELD.waiting.clear()
        _HELD.handlers[number](number, None)
