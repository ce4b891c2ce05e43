"""A directory is written whole or not at all: whoever is killed, whatever signal comes, and whoever else writes there."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sfumato.errors import OutputError
from sfumato.release import atomic
from sfumato.release.atomic import LOCK, let_in, move_new, sweep, undisturbed, workshop, write_directory, write_private


def fill(partial):
    (partial / "a").write_text("whole")
    return "result"


def listing(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def test_a_directory_appears_whole_and_nothing_beside_it(tmp_path):
    assert write_directory(tmp_path / "new" / "release", fill) == "result"
    assert listing(tmp_path) == ["new", "new/release", "new/release/a"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device"), ValueError])
def test_a_failure_leaves_nothing_not_even_the_parents_it_made(tmp_path, error):
    def fails(partial):
        fill(partial)
        raise error

    with pytest.raises(OutputError if isinstance(error, OSError) else error):
        write_directory(tmp_path / "new" / "deep" / "release", fails)
    assert listing(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_writers_are_done_and_then_leaves_nothing(tmp_path, number):
    done = []

    def handler(number, frame):
        raise KeyboardInterrupt

    def slowly(partial):
        os.kill(os.getpid(), number)
        writer = threading.Thread(target=lambda: (time.sleep(0.2), fill(partial), done.append(True)))
        writer.start()
        writer.join()

    before = signal.signal(number, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_directory(tmp_path / "release", slowly)
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, before)
    assert done == [True]
    assert listing(tmp_path) == []


def test_a_handler_that_was_taken_back_does_not_return_with_the_next_write(tmp_path):
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    write_directory(tmp_path / "one", fill)
    signal.signal(signal.SIGTERM, before)
    write_directory(tmp_path / "two", fill)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_signal_does_not_disturb_the_cleaning(tmp_path, monkeypatch):
    real, before = atomic._remove, signal.getsignal(signal.SIGINT)  # Spark sets one of its own, if it was here first

    def interrupted(place):
        os.kill(os.getpid(), signal.SIGINT)
        real(place)

    monkeypatch.setattr(atomic, "_remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_directory(tmp_path / "release", lambda partial: os.kill(os.getpid(), signal.SIGINT))
    assert listing(tmp_path) == []
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_after_the_last_point_of_return_waits_for_the_end_of_the_outermost_block():
    reached = []

    def steps():
        with undisturbed():
            with undisturbed():
                let_in()
                os.kill(os.getpid(), signal.SIGINT)
                reached.append("inner")
            reached.append("outer")
        reached.append("behind")

    with pytest.raises(KeyboardInterrupt):
        steps()
    assert reached == ["inner", "outer"]


def test_signals_without_a_handler_keep_their_meaning():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with undisturbed():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_another_thread_can_write_too(tmp_path):
    thread = threading.Thread(target=write_directory, args=(tmp_path / "release", fill))
    thread.start()
    thread.join()
    assert listing(tmp_path) == ["release", "release/a"]


KILLED = """
import os, signal, sys
from pathlib import Path
from sfumato.release.atomic import write_directory

def fill(partial):
    (partial / "a").write_text("half")
    if sys.argv[2] == "wait":
        print("writing", flush=True)
        sys.stdin.read()
    else:
        os.kill(os.getpid(), signal.SIGKILL)

write_directory(Path(sys.argv[1]), fill)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "release"), "die"], check=False)
    assert [path.name for path in tmp_path.glob(".release.*.partial/release/a")] == ["a"]
    write_directory(tmp_path / "other", fill)
    assert listing(tmp_path) == ["other", "other/a"]


def test_what_a_living_process_writes_is_not_removed(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "release"), "wait"]
    living = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert living.stdout.readline() == "writing\n"
    write_directory(tmp_path / "other", fill)
    assert len(list(tmp_path.glob(".release.*.partial/release/a"))) == 1
    living.communicate()
    assert living.returncode == 0
    assert listing(tmp_path) == ["other", "other/a", "release", "release/a"]


def test_only_our_own_workshops_are_swept(tmp_path):
    foreign = tmp_path / ".photos.0123456789ab.partial"
    foreign.mkdir()
    (foreign / "photo").write_text("not ours")
    (tmp_path / ".notes.0123456789ab.partial").write_text("a file")
    (tmp_path / ".link.0123456789ab.partial").symlink_to(foreign)
    (tmp_path / "release.partial").mkdir()
    before = listing(tmp_path)
    sweep(tmp_path)
    assert listing(tmp_path) == before


def test_a_workshop_killed_before_it_was_locked_or_while_it_was_swept_is_removed(tmp_path):
    (tmp_path / ".a.0123456789ab.partial").mkdir()
    swept = tmp_path / ".b.0123456789ab.partial"
    swept.mkdir()
    (swept / LOCK).touch()
    sweep(tmp_path)
    assert listing(tmp_path) == []


def test_a_workshop_that_somebody_swept_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    real, swept = Path.mkdir, []

    def made(self, *given, **options):
        real(self, *given, **options)
        if not swept:
            swept.append(self)
            sweep(tmp_path)

    monkeypatch.setattr(Path, "mkdir", made)
    with workshop(tmp_path / "release") as place:
        assert swept != [place]
        assert listing(tmp_path) == [place.name, f"{place.name}/{LOCK}"]


@pytest.mark.parametrize("native", [True, False], ids=["by the system", "by hand"])
def test_what_exists_is_never_replaced_not_even_an_empty_directory(tmp_path, monkeypatch, native):
    if not native:
        monkeypatch.setattr(atomic, "_exclusive_rename", lambda: None)
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("old")
    for source in ("new directory", "new file"):
        for target in ("directory", "file"):
            (tmp_path / source).mkdir() if "directory" in source else (tmp_path / source).write_text("new")
            with pytest.raises(FileExistsError):
                move_new(tmp_path / source, tmp_path / target)
            move_new(tmp_path / source, tmp_path / "free")
            (tmp_path / "free").rename(tmp_path / f"moved {source} {target}")
    assert (tmp_path / "file").read_text() == "old"
    assert list((tmp_path / "directory").iterdir()) == []


def test_of_two_who_write_the_same_directory_one_wins(tmp_path):
    def slower(partial):
        (partial / "b").write_text("the slower one")
        write_directory(tmp_path / "release", fill)

    with pytest.raises(OutputError, match="exists already"):
        write_directory(tmp_path / "release", slower)
    assert listing(tmp_path) == ["release", "release/a"]


def test_an_empty_directory_that_appears_meanwhile_stays(tmp_path):
    with pytest.raises(OutputError, match="exists already"):
        write_directory(tmp_path / "release", lambda partial: (tmp_path / "release").mkdir())
    assert listing(tmp_path) == ["release"]


def test_a_file_system_without_locks_can_be_written_and_is_never_swept(tmp_path, monkeypatch):
    def unsupported(*given):
        raise OSError(37, "No locks available")

    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "dead"), "die"], check=False)
    monkeypatch.setattr(atomic.fcntl, "flock", unsupported)
    write_directory(tmp_path / "release", fill)
    assert len(list(tmp_path.glob(".dead.*.partial/dead/a"))) == 1
    assert (tmp_path / "release" / "a").read_text() == "whole"


def test_a_private_file_is_its_owners_only_from_the_first_byte_and_never_replaces_another(tmp_path):
    def write(stream):
        (draft,) = tmp_path.glob(".secret.*.partial/secret")
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        assert stat.S_IMODE(draft.parent.stat().st_mode) == 0o700
        stream.write(b"all of it")

    write_private(tmp_path / "secret", write)
    assert listing(tmp_path) == ["secret"]
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "secret", lambda stream: stream.write(b"more"))
    assert (tmp_path / "secret").read_bytes() == b"all of it"
