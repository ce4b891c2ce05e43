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


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """Let tests, and the commands they start, keep receipts and what they learned in directories of their own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        yield home


@pytest.fixture
def one_thread():
    """Compute a handful of people by one thread: to wake others takes a hundred times as long as the work."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)
