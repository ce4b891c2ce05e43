"""Files that are none, in the place of every input of every verb: exit code 2 and one sentence, without waiting for anybody."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def pipe(path: Path) -> None:
    os.mkfifo(path)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def nowhere(path: Path) -> None:
    path.symlink_to("gone")


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)


def endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


NO_FILES: dict[str, Callable[[Path], None]] = {
    "a pipe": pipe,
    "a device": zeros,
    "a directory": Path.mkdir,
    "a socket": listening,
    "a link to nothing": nowhere,
    "a gigabyte of zeros": endless,
}
VERBS: dict[str, list[str]] = {
    "the table of publish": ["publish", "odd.csv", "-p", "p.toml", "-o", "out"],
    "the table of explain": ["explain", "odd.csv", "-p", "p.toml"],
    "the table of policy init": ["policy", "init", "odd.csv"],
    "the table of audit": ["audit", "release", "--table", "odd.csv", "-p", "p.toml"],
    "the table of audit without a policy": ["audit", "release", "--table", "odd.csv"],
    "outsiders": ["audit", "release", "--outsiders", "odd.csv"],
    "links": ["audit", "release", "--table", "people.csv", "--links", "odd.csv"],
    "the policy of publish": ["publish", "people.csv", "-p", "odd.csv", "-o", "out"],
    "the policy of explain": ["explain", "people.csv", "-p", "odd.csv"],
    "the policy of audit": ["audit", "release", "-p", "odd.csv"],
    "the workload": ["explain", "people.csv", "-p", "p.toml", "--workload", "odd.csv"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_file_is_refused_in_a_sentence(verb: str, place: Path, run: Run) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    (place / "release.receipt.json").unlink()
    for make in NO_FILES.values():
        make(Path("odd.csv"))
        done = run(*VERBS[verb])
        assert done.code == 2, (make.__name__, done.err)
        assert done.err.startswith("error: odd.csv")
        assert len(done.err) < 400
        assert not (place / "out").exists()
        (place / "odd.csv").rmdir() if make is Path.mkdir else (place / "odd.csv").unlink()


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "-0", "9" * 5000, "1e", ""])
@pytest.mark.parametrize("option", ["--confidence", "--workers"])
def test_a_hostile_number_of_an_option_is_refused(number: str, option: str, place: Path, run: Run) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    done = run("query", "release", "age > 30", option, number)
    assert done.code == 2
    assert "should not" not in done.err


@pytest.mark.parametrize("seed", ["9" * 5000, "-1", "1e5", "nan"])
def test_a_seed_that_is_none_is_refused(seed: str, place: Path, run: Run) -> None:
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--seed", seed)
    assert done.code == 2
    assert "should not" not in done.err
