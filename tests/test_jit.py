"""SeenError code is kept, is never older than any kernel in it, and whoever waits for it is told."""

import hashlib
import os
import pickle
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import sfumato
from sfumato import _jit
from sfumato.progress import COMPILING, compiling, listening

CALLER = """from sfumato._jit import njit
from sfumato._other_kernels import amount

@njit(cache=True)
def twice(x):
    return 2 * amount(x)
"""
CALLEE = """from sfumato._jit import njit

@njit(cache=True)
def amount(x):
    return x + {}
"""
ASKS = """from sfumato._own_kernels import twice
from sfumato.progress import listening
with listening(lambda *told: print(*told, sep="|")) as tell:
    tell("asking", 0.25)
    print(twice(1), twice(2.5))
"""
TOLD = f"{COMPILING}|0.25"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The part of the package that compiles, with two kernels in two files."""
    copy = tmp_path / "sfumato"
    copy.mkdir()
    for name in ("__init__.py", "_jit.py", "places.py", "progress.py"):
        shutil.copy(Path(sfumato.__file__).parent / name, copy)
    (copy / "_own_kernels.py").write_text(CALLER)
    (copy / "_other_kernels.py").write_text(CALLEE.format(1))
    return copy


def asked(package: Path, **environment: str) -> list[str]:
    given = {**os.environ, "PYTHONPATH": str(package.parent), **environment}
    return subprocess.run([sys.executable, "-c", ASKS], env=given, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("elsewhere", [False, True])
def test_compiled_code_is_kept_until_a_kernel_of_another_file_changes(package: Path, elsewhere: bool) -> None:
    place = {"SFUMATO_CACHE": str(package.parent / "kept") if elsewhere else ""}
    assert asked(package, **place) == ["asking|0.25", TOLD, "4 7.0"]
    assert asked(package, **place) == ["asking|0.25", "4 7.0"]
    (package / "_other_kernels.py").write_text(CALLEE.format(2))
    assert asked(package, **place) == ["asking|0.25", TOLD, "6 9.0"]
    assert asked(package, **place) == ["asking|0.25", "6 9.0"]


class Caller:
    """Loads a file with a kernel anew, as another process would, and calls it."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
        self.source, self.place, self.patch, self.log = home / "alone_kernels.py", home / "kept", patch, log
        self.source.write_text("from sfumato._jit import njit\n" + CALLEE.split("\n", 1)[1].format(1))
        self.names("SFUMATO_CACHE", self.place)

    def names(self, variable: str, place: Path | str) -> None:
        for one in ("SFUMATO_CACHE", "NUMBA_CACHE_DIR"):
            self.patch.setenv(one, str(place) if one == variable else "")

    def __call__(self) -> tuple[bool, str]:
        """Return whether code was compiled for it, and what was logged, a line a warning."""
        _jit._stated_place.cache_clear()
        _jit._said.clear()
        self.log.clear()
        told: list[str] = []
        with listening(lambda stage, done: told.append(stage)):
            assert runpy.run_path(str(self.source))["amount"](1) == 2
        return told == [COMPILING], "".join(f"{one.message}\n" for one in self.log.records if one.levelname == "WARNING")

    def kept(self, ending: str) -> Path:
        (found,) = self.place.rglob(f"*{ending}")
        return found


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Caller]:
    yield Caller(tmp_path, monkeypatch, caplog)
    _jit._stated_place.cache_clear()


def give_away(path: Path) -> None:
    if os.getuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 65534, 65534)


COMPILED, KEPT = (True, ""), (False, "")


@pytest.mark.parametrize("variable", ["SFUMATO_CACHE", "NUMBA_CACHE_DIR"])
@pytest.mark.parametrize("how", ["open to a group", "open to all", "of another user"])
def test_a_directory_that_others_can_write_is_refused_in_a_sentence(call: Caller, variable: str, how: str) -> None:
    call.names(variable, call.place)
    assert call() == COMPILED
    before = call.kept(".nbi").read_bytes()
    give_away(call.place) if how == "of another user" else call.place.chmod(0o770 if how == "open to a group" else 0o707)
    compiled, said = call()
    assert compiled
    assert said.startswith(f"{variable}: others can write to {call.place}, and could let you run code of theirs")
    assert said.count("\n") == 1
    assert call.kept(".nbi").read_bytes() == before


class _Ran:
    def __reduce__(self) -> Any:
        return pytest.fail, ("code of somebody else was run",)


@pytest.mark.parametrize("whose", ["open to others", "of another user"])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_file_that_others_could_have_written_is_not_run_but_made_again(call: Caller, ending: str, whose: str) -> None:
    assert call() == COMPILED
    path = call.kept(ending)
    content = pickle.dumps(_Ran())
    path.write_bytes(content + hashlib.sha256(content).digest())
    give_away(path) if whose == "of another user" else path.chmod(0o666)
    compiled, said = call()
    assert compiled
    assert "it is made again" in said
    assert path.stat().st_mode & 0o777 == 0o600
    assert call() == KEPT


@pytest.mark.parametrize("how", ["cut", "empty", "bit", "text"])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_damaged_code_is_compiled_once_more_with_a_word(call: Caller, ending: str, how: str) -> None:
    assert call() == COMPILED
    path = call.kept(ending)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"cut": bytes(data[:-20]), "empty": b"", "bit": bytes(data), "text": b"nothing of the kind"}[how])
    told = f"compiled code in {path.parent} was damaged, or others could write to it; it is made again\n"
    assert call() == (True, told)
    assert call() == KEPT


def test_where_others_can_write_beside_the_source_code_is_kept_in_the_users_cache(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__").chmod(0o777)
    call.names("SFUMATO_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0o002)  # as where every user has a group of her own
    try:
        assert call() == COMPILED
        assert call() == KEPT
    finally:
        os.umask(before)
    assert not list((tmp_path / "__pycache__").iterdir())
    assert list((tmp_path / "cache" / "sfumato" / "compiled").rglob("*.nbi"))


def test_compiling_is_told_once_a_stage_to_the_innermost_who_listens() -> None:
    inner, outer = [], []
    with listening(lambda *told: outer.append(told)):
        with listening(lambda *told: inner.append(told)) as tell:
            tell("one", 0.1)
            compiling()
            compiling()
            tell("two", 0.2)
            compiling()
        compiling()
    compiling()
    assert inner == [("one", 0.1), (COMPILING, 0.1), ("two", 0.2), (COMPILING, 0.2)]
    assert outer == [(COMPILING, 0.0)]


def test_publishing_tells_of_kernels_that_are_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.methods.base import Method

    class SeenError(Exception):
        """Enough was seen."""

    def run(*_: Any, **__: Any) -> None:
        compiling()
        raise SeenError

    people = pa.table({"age": [1, 2], "ill": ["a", "b"]})
    table = sfumato.Table.from_frame(people, sfumato.Schema(quasi=["age"], sensitive=["ill"]))
    monkeypatch.setattr(Method, "run", run)
    told: list[tuple[str, float]] = []
    with pytest.raises(SeenError):
        sfumato.publication(table, sfumato.LDiversity(2), method=sfumato.Boxes(), progress=lambda *given: told.append(given))
    assert told == [(COMPILING, 0.0)]


def test_borrowed_arrays_are_written_and_keep_their_owner() -> None:
    from sfumato.groups.near._anneal_kernels import borrowed

    class Pair(NamedTuple):
        one: np.ndarray[Any, Any]
        other: np.ndarray[Any, Any]

    @_jit.njit()
    def doubled(pair: Any) -> Any:
        pair = borrowed(pair)
        for k in range(len(pair.one)):
            pair.other[k, 0] = 2 * pair.one[k]
        return len(pair.one)

    given = Pair(np.arange(5), np.zeros((5, 2), np.int32))
    before = [sys.getrefcount(array) for array in given]
    assert doubled(given) == 5
    assert given.other.tolist() == [[0, 0], [2, 0], [4, 0], [6, 0], [8, 0]]
    assert [sys.getrefcount(array) for array in given] == before
