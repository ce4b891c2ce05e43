"""Linear algebra on small matrices by one thread: sharing it out costs more than it saves, most of all on a busy machine."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra use one thread while the block runs.

    The setting is the whole process's, so one block at a time changes it, and changes it back; those inside it, or beside it in
    other threads, find it changed. Two that both remembered "what was before" could leave it changed for good.
    """
    if not _lock.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _lock.release()


@functools.cache
def _libraries() -> Any:
    """Return the linear-algebra libraries of this process: looking for them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401  (brings a library of its own)

    return ThreadpoolController().select(user_api="blas")
