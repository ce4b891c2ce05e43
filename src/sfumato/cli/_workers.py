"""How many processors a verb may use; the result is the same for any number."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def limited(workers: int | None) -> Iterator[None]:
    """Let kernels and readers use so many processors while the block runs; None leaves them all of them."""
    if workers is None:
        yield
        return
    from sfumato.errors import PolicyError

    if workers < 1:
        raise PolicyError(
            f"--workers: expected a whole number from 1 on, got {workers}", hint="leave it out to use all processors"
        )
    import numba
    import pyarrow as pa

    most: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009  (numba sets it when it is imported)
    if workers > most:
        raise PolicyError(f"--workers: this machine has {most} processors, got {workers}", hint=f"{most} or fewer")
    kernels, readers = numba.get_num_threads(), pa.cpu_count()
    numba.set_num_threads(workers)
    pa.set_cpu_count(workers)
    try:
        yield
    finally:
        numba.set_num_threads(kernels)
        pa.set_cpu_count(readers)
