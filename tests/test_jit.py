"""Compiled code is kept, is never older than any kernel in it, and whoever waits for it is told."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import sfumato
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
    for name in ("__init__.py", "_jit.py", "progress.py"):
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

    people = pa.table({"age": [1, 2], "ill": ["a", "b"]})
    table = sfumato.Table.from_frame(people, sfumato.Schema(quasi=["age"], sensitive=["ill"]))
    monkeypatch.setattr(Method, "run", lambda *given, **options: compiling())
    told: list[tuple[str, float]] = []
    sfumato.publication(table, sfumato.LDiversity(2), method=sfumato.Boxes(), progress=lambda *given: told.append(given))
    assert told == [(COMPILING, 0.0)]


def test_borrowed_arrays_are_written_and_keep_their_owner() -> None:
    from sfumato import _jit
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
