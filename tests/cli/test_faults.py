"""Faults: signals, publishers side by side, too little memory, and places that cannot be written."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato
from sfumato.errors import FormatError, InputError, out_of_memory
from sfumato.release import files
from tests.cli.conftest import Run, listing, people, wait_until_it_catches_signals

PUBLISH = ["publish", "people.csv", "-p", "p.toml", "--out", "release"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sfumato", *arguments]


def ended_by(number: int, place: Path, delay: float) -> tuple[int, str, str]:
    (place / "people.csv").write_text(people(100_000))
    process = subprocess.Popen(command(*PUBLISH), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_until_it_catches_signals(process)
    time.sleep(delay)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_middle_leaves_nothing_and_has_the_exit_code_of_shells(place: Path, number: int) -> None:
    before = listing(place)
    assert ended_by(number, place, 0.5) == (128 + number, "", "interrupted; nothing was written\n")
    assert listing(place) == before


STRUCK = """
import os, signal, sys
import sfumato.release.files as files
number, real = int(sys.argv[1]), files._write_table

def struck(*given):
    os.kill(os.getpid(), number)
    return real(*given)

files._write_table = struck
sys.argv = ["sfumato", "publish", "people.csv", "-p", "p.toml", "--out", "release"]
from sfumato.cli import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_tables_are_written_leaves_nothing(place: Path, number: int) -> None:
    before = listing(place)
    done = subprocess.run([sys.executable, "-c", STRUCK, str(int(number))], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "interrupted; nothing was written\n")
    assert listing(place) == before


def test_after_a_sigkill_while_tables_are_written_the_next_publication_clears_up(place: Path, run: Run) -> None:
    before = listing(place)
    subprocess.run([sys.executable, "-c", STRUCK, str(int(signal.SIGKILL))], check=False)
    assert len(listing(place)) > len(before)
    assert run("publish", "people.csv", "-p", "p.toml", "--out", "other").code == 0
    tables = {"other/groups.parquet", "other/manifest.json", "other/qit.parquet", "other/st.parquet"}
    assert listing(place) == before | tables | {"other", "other.receipt.json"}


def test_a_signal_that_the_caller_ignores_stays_ignored(place: Path) -> None:
    code = "import signal, os, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", code, *command(*PUBLISH)], stdout=subprocess.DEVNULL, text=True)
    wait_until_it_catches_signals(process)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 0
    assert (place / "release" / "manifest.json").is_file()


def test_of_two_publishers_of_one_directory_one_wins_and_the_other_says_so(place: Path) -> None:
    both = [subprocess.Popen(command(*PUBLISH), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2]
    assert any("exists already" in text for text in said)
    assert {name for name in listing(place) if "/" not in name} == {"people.csv", "p.toml", "release", "release.receipt.json"}
    assert sfumato.Release.load("release").rows == 200


@pytest.mark.parametrize("megabytes", [60, 500, 860, 940, 1200])
def test_under_a_limit_on_memory_a_verb_does_its_work_or_says_that_memory_is_short(place: Path, run: Run, megabytes: int) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "--out", "whole").code == 0
    before = listing(place)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    for arguments in (PUBLISH, ["audit", "whole", "--table", "people.csv"], ["query", "whole", "illness = 'HIV'"]):
        done = subprocess.run(command(*arguments), preexec_fn=limit, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 2), done.stderr
        if done.returncode == 2:
            assert "error: not enough memory\n" in done.stderr
            assert "bug" not in done.stderr
    assert {name for name in listing(place) - before if "partial" in name} == set()
    assert megabytes < 1000 or (place / "release").is_dir()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_under_a_limit_on_memory_a_killed_command_leaves_no_worker(tmp_path: Path) -> None:
    code = (
        "import os, resource, time; from sfumato.cli._memory import guarded\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "guarded(lambda: print(os.getpid(), flush=True) or time.sleep(600) or 0)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert int(process.stdout.readline()) != process.pid
    process.kill()
    assert process.communicate(timeout=120)[0] == ""  # it ends when the worker has closed its output


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 64 failed"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
        ImportError("libfoo.so: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_every_way_to_say_that_memory_is_short_is_understood(error: Exception) -> None:
    caused = FormatError("qit.parquet cannot be read")
    caused.__context__ = error
    assert out_of_memory(error)
    assert out_of_memory(caused)


def test_a_value_that_sounds_like_it_is_not_mistaken_for_too_little_memory() -> None:
    quoting = InputError("column 'out of memory' is missing")
    quoting.__context__ = pa.ArrowInvalid("could not convert 'std::bad_alloc' to int64")
    assert not out_of_memory(quoting)


def test_too_little_memory_is_no_broken_claim(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        try:
            raise pa.ArrowMemoryError("malloc of size 64 failed")
        except pa.ArrowException:
            raise FormatError("qit.parquet cannot be read") from None

    assert run(*PUBLISH).code == 0
    monkeypatch.setattr(files, "stored_part", fails)
    done = run("audit", "release")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: not enough memory")


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that cannot be written to."""
    copy = tmp_path_factory.mktemp("installed")
    shutil.copytree(Path(sfumato.__file__).parent, copy / "sfumato", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy / "sfumato").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (copy / "sfumato").chmod(0o555)
    return copy


def drop_powers() -> None:
    """Let permissions mean something for root too, from the next program on."""
    for power in range(64):
        ctypes.CDLL(None).prctl(24, power, 0, 0, 0)  # PR_CAPBSET_DROP


COMPILES = "import numpy, sfumato.api, sfumato.release._covering_kernels as kernels; print(kernels.lowest_bit(numpy.uint64(8)))"


def without_a_home(installed: Path, *, first: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept |= {"HOME": "/dev/null/home", "PYTHONPATH": str(installed), **environment}
    program = [sys.executable, "-c", first + COMPILES]
    return subprocess.run(program, env=kept, preexec_fn=drop_powers, capture_output=True, text=True, timeout=600, check=False)


NOTE = "compiled code is kept in memory only; to start faster, set SFUMATO_CACHE to a directory of your own\n"


def test_a_read_only_installation_without_a_home_works_and_tells_who_listens_that_code_is_in_memory(
    installed: Path,
) -> None:
    quiet = without_a_home(installed)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "3\n", "")
    logged = without_a_home(installed, first="import logging; logging.basicConfig(format='%(message)s'); ")
    assert (logged.returncode, logged.stdout, logged.stderr) == (0, "3\n", NOTE)


def test_compiled_code_is_kept_where_it_is_asked_for(installed: Path, tmp_path: Path) -> None:
    done = without_a_home(installed, SFUMATO_CACHE=str(tmp_path / "compiled"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
    assert list((tmp_path / "compiled").rglob("_covering_kernels.lowest_bit*.nbi"))
