"""`sfumato doctor` finds what is missing, too old or open to others, and says 0 where nothing is; `--version` in JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

import sfumato
from sfumato import installation
from tests.cli.conftest import Done, Run


def told(done: Done) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(done.out)
    assert document["healthy"] == (done.code == 0) == (not document["problems"])
    return document


@pytest.fixture
def home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A register of the user's own with one receipt in it, and no other."""
    monkeypatch.delenv("SFUMATO_RECEIPTS")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    register = place / "data" / "sfumato" / "receipts"
    register.mkdir(parents=True, mode=0o700)
    receipt = register / "release.receipt.json"
    receipt.write_text("{}")
    receipt.chmod(0o600)
    return register


def state_of(done: Done, what: str = "register of receipts") -> list[tuple[str, str]]:
    return [(one["path"], one["state"]) for one in told(done)["places"] if one["what"] == what]


def test_a_sound_installation_is_told_with_its_versions_and_places(home: Path, run: Run) -> None:
    done = run("doctor", "--json")
    assert done.code == 0
    document = told(done)
    assert document["sfumato"] == sfumato.__version__
    needed = [one["name"] for one in document["packages"] if one["extra"] is None]
    assert {"numpy", "numba", "pyarrow"} <= set(needed)
    assert not {"pytest", "ruff"} & {one["name"] for one in document["packages"]}
    assert state_of(done) == [(str(home), "safe")]
    assert "Nothing is wrong." in run("doctor").out


def test_a_register_that_is_not_there_is_made_when_needed_and_the_doctor_makes_none(home: Path, run: Run) -> None:
    away = home.parent / "elsewhere"
    done = run("doctor", "--json", "--receipts", away)
    assert state_of(done) == [(str(away), "made when needed"), (str(home), "safe")]
    assert not away.exists()


@pytest.mark.parametrize(
    ("which", "mode"), [(".", 0o770), (".", 0o707), ("release.receipt.json", 0o640), ("release.receipt.json", 0o602)]
)
def test_a_register_that_others_can_touch_is_a_fault(home: Path, run: Run, which: str, mode: int) -> None:
    (home / which).chmod(mode)
    done = run("doctor", "--json")
    assert (done.code, state_of(done)) == (1, [(str(home), "unsafe")])
    assert "chmod" in told(done)["problems"][0]


def test_a_receipt_that_cannot_be_read_is_a_fault(home: Path, run: Run) -> None:
    (home / "release.receipt.json").write_text("{")
    done = run("doctor")
    assert done.code == 1
    assert "1 file cannot be read" in done.out


def test_a_needed_library_that_is_old_or_missing_is_a_fault_and_an_extra_that_is_missing_is_none(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = installation.version

    def version(name: str) -> str:
        if name in ("scipy", "pyspark"):
            raise PackageNotFoundError(name)
        return {"numpy": "1.9.3", "duckdb": "0.9", "numba": "0.59.0rc1"}.get(name) or there(name)

    monkeypatch.setattr(installation, "version", version)
    done = run("doctor", "--json")
    problems = told(done)["problems"]
    assert [(text.split(":")[0], "1.26" in text or "1.15" in text) for text in problems[:2]] == [
        ("numpy 1.9.3", True),
        ("scipy is missing", True),
    ]
    assert {text.split(":")[0] for text in problems[2:]} == {"duckdb 0.9"}


def test_a_cache_that_others_can_write_is_a_fault(home: Path) -> None:
    cache = home.parent / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    command = [sys.executable, "-m", "sfumato", "doctor", "--json"]
    done = subprocess.run(command, env={**os.environ, "SFUMATO_CACHE": str(cache)}, capture_output=True, text=True, check=False)
    assert state_of(Done(done.returncode, done.stdout, done.stderr), "compiled code") == [(str(cache), "unsafe")]
    assert done.returncode == 1
    assert done.stderr.startswith("note: SFUMATO_CACHE: others can write to ")


def test_the_version_is_told_in_json_in_either_order(run: Run) -> None:
    expected = {"sfumato": sfumato.__version__, "python": platform.python_version()}
    for order in (("--version", "--json"), ("--json", "--version")):
        done = run(*order)
        assert (done.code, {name: json.loads(done.out)[name] for name in expected}) == (0, expected)
    assert run("--version").out == f"sfumato {sfumato.__version__}\n"
    assert run("--json", "doctor").code == 2
