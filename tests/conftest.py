"""How property tests run: the same examples every time, without a clock, because kernels compile on first use.

`HYPOTHESIS_PROFILE=explore make test` draws fresh examples instead.
"""

import os

import numba
import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture
def one_thread():
    """Compute a handful of people by one thread: to wake others takes a hundred times as long as the work."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)
