"""How tests run: the same examples and the same coins every time, without a clock, because kernels compile on first use.

`HYPOTHESIS_PROFILE=explore make test` draws fresh examples instead, and every key from the operating system.
"""

import gc
import hashlib
import itertools
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
settings.load_profile(PROFILE)
# Hundreds of files are read once and stay, as do libraries: the collector of cycles is to look only at what tests make.
gc.disable()
# Each of some hundred commands that tests start would compile the whole package anew where Python is told to keep no bytecode.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell lets jobs in the background ignore ctrl-C, and nohup the end of a terminal; some tests send these.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Begin with the files of slow.txt, in its order: what takes longest is not left to one processor at the end."""
    named = [name.split("::")[0] for name in Path(__file__).with_name("slow.txt").read_text().split()]
    slow = {name: place for place, name in reversed(list(enumerate(named)))}
    items.sort(key=lambda item: slow.get(item.nodeid.split("::")[0], len(slow)))


class Keys:
    """Keys of coins as the operating system would draw them, all different, but the same in every run of a test."""

    def __init__(self) -> None:
        self.start("")

    def start(self, whose: str) -> None:
        """Begin with the keys of a test or of a fixture: whichever test runs first, a shared fixture gets the same."""
        self.whose, self.number = whose, itertools.count()

    def urandom(self, size: int) -> bytes:
        return hashlib.shake_256(f"{self.whose} {next(self.number)}".encode()).digest(size)


KEYS = Keys()


@pytest.fixture(autouse=True, scope="session")
def steady_coins():
    """Let a publication without a seed fall the same in every run, so that what fails once fails again."""
    with pytest.MonkeyPatch.context() as patch:
        if PROFILE == "steady":
            patch.setattr("sfumato.randomness.os", SimpleNamespace(urandom=KEYS.urandom))
        yield


def pytest_fixture_setup(fixturedef, request):
    KEYS.start(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    KEYS.start(item.nodeid)


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory):
    """Let tests, and the commands they start, keep what they learned in a directory of their own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        yield home


@pytest.fixture(autouse=True, scope="module")
def own_register(tmp_path_factory):
    """Let every file of tests begin with an empty register: which other files the same worker runs before is chance.

    A release that another file published of people much alike would count against a budget.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("register")))
        yield


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_disks():
    """Let nothing be brought to disk at once: only a loss of power would show the difference, and it takes half of a save."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda handle: None)
        yield


@pytest.fixture
def one_thread():
    """Compute a handful of people by one thread: to wake others takes a hundred times as long as the work."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)
