"""Too little memory: one sentence and exit code 2, also where a library would end the process, or hang, instead.

Under a limit on address space (`ulimit -v`) C++ libraries abort in the middle of a kernel, and a linear-algebra library was seen
to wait forever. So under such a limit, and only then, the command asks beforehand for the room that its libraries need, and works
in a child process whose death the parent can report.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable

from sfumato.cli._state import SIGNALS

NOT_ENOUGH = "error: not enough memory\nhint: use a larger machine, a higher limit (`ulimit -v`), or fewer --workers"
EXIT = 2

_LIBRARIES, _THREAD = 768 << 20, 16 << 20  # bytes of address space: what they need at least, and the stack of every thread

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)

_ONE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
_FRUGAL = {**dict.fromkeys(_ONE, "1"), "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Settings of libraries that reserve far more address space than they use; nobody's own settings are changed. With one thread
none is started: one for which there is no memory never begins, and Python waits for it forever."""


def is_limited() -> bool:
    """Return whether the address space of this process has a limit."""
    try:
        import resource
    except ImportError:  # Windows has none
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def require_room() -> None:
    """Raise `MemoryError`, under a limit, unless the libraries have room to load."""
    if not is_limited():
        return
    try:
        mmap.mmap(-1, _LIBRARIES + _THREAD * (os.cpu_count() or 1)).close()
    except OSError:
        raise MemoryError from None


def guarded(command: Callable[[], int]) -> int:
    """Return the exit code of a command; under a limit on memory it runs in a child, which a library may end."""
    if not is_limited():
        return command()
    for name, value in _FRUGAL.items():
        os.environ.setdefault(name, value)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _end_with_parent()
        code = command()
        os.write(writer, bytes([code]))
        os._exit(code)
    os.close(writer)
    for number in SIGNALS:
        if callable(signal.getsignal(number)):
            signal.signal(number, lambda number, frame: os.kill(child, number))
    status = os.waitpid(child, 0)[1]
    answer = os.read(reader, 1)
    if answer:
        return answer[0]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in SIGNALS:
        return 128 + os.WTERMSIG(status)
    sys.stderr.write(NOT_ENOUGH + "\n")
    return EXIT


def _end_with_parent() -> None:
    """Have this process killed when its parent is: a command that was killed publishes nothing any more."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
