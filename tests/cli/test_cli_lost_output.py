"""Output that is closed, full or broken: whatever was put in its place is never reported as failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli._state import STATE
from tests.cli.conftest import Run, listing

RANDOMIZED = """\
[columns]
identifier = ["name"]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
[requirement]
{requirement}
[method]
name = "{method}"
[people]
rows = "people"
"""
PUBLISH = ["publish", "people.csv", "-p", "p.toml", "-o", "out"]
VERBS = {
    "publish": PUBLISH,
    "publish --json": [*PUBLISH, "--json"],
    "publish --engine duckdb": ["publish", "people.csv", "-p", "uniform.toml", "-o", "out", "--engine", "duckdb"],
    "complete": ["complete", "release", "-o", "out"],
    "report": ["report", "release", "--quick", "--out", "out"],
    "query --duckdb": ["query", "release", "--duckdb", "out"],
    "policy init": ["policy", "init", "people.csv", "-o", "out"],
    "policy check --reviewed": ["policy", "check", "out", "people.csv", "--reviewed"],
    "sample": ["sample", "hospital", "--rows", "50", "-o", "out.csv"],
    "compare --out": ["compare", "people.csv", "-p", "p.toml", "--methods", "anatomy", "--out", "out", "--workers", "1"],
}
METHODS = {
    "small-domain": 'model = "rho-privacy"\nrho1 = "1/2"\nrho2 = "4/5"',
    "uniform": 'model = "rho-privacy"\nrho1 = "1/2"\nrho2 = "4/5"',
    "burel-perturbation": 'model = "beta-likeness"\nbeta = "2"',
}


def policies(place: Path) -> None:
    for method, requirement in METHODS.items():
        (place / f"{method}.toml").write_text(RANDOMIZED.format(method=method, requirement=requirement))


def closed() -> None:
    os.close(1)


def full() -> None:
    for number in (1, 2):
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)


def broken() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, 1)


def ended(arguments: list[str], output: Callable[[], None], **more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "sfumato", *arguments]
    environment = os.environ | more
    done = subprocess.run(command, preexec_fn=output, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    return done.returncode, done.stderr


@pytest.fixture
def released(place: Path, run: Run) -> Path:
    """A release, policies of methods that show no groups, and a draft of a policy called out."""
    policies(place)
    (place / "small.toml").write_text((place / "p.toml").read_text() + '[method]\nname = "boxes"\nfloor = 3\n')
    assert run("publish", "people.csv", "-p", "small.toml", "-o", "release", "--seed", "1").code == 0
    return place


ENDS = [("publish", closed), ("publish", broken), ("query --duckdb", closed), *((verb, full) for verb in VERBS)]


@pytest.mark.parametrize(("verb", "output"), ENDS, ids=[f"{verb} {output.__name__}" for verb, output in ENDS])
def test_what_was_written_is_no_failure_however_its_output_ends(released: Path, verb: str, output: Callable[[], None]) -> None:
    if verb == "policy check --reviewed":
        text = (released / "p.toml").read_text()
        (released / "out").write_text(f"reviewed = false\n{text}")
    code, said = ended(VERBS[verb], output)
    assert code == 0, said
    assert "Traceback" not in said
    made = next(path for path in listing(released) if path in ("out", "out.csv"))
    if verb.startswith("publish"):
        assert sf.audit(released / made).holds is not False
        assert (released / "out.receipt.json").is_file()
    elif verb == "policy check --reviewed":
        assert "reviewed = true" in (released / made).read_text()
    assert [name for name in listing(released) if "partial" in name] == []


def test_a_full_disk_is_said_of_what_was_written(released: Path) -> None:
    code, said = ended(PUBLISH, lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1) and None)
    assert (code, said.splitlines()[-1]) == (
        0,
        "warning: standard output cannot be written: No space left on device; out was written",
    )


def test_where_words_are_all_there_is_to_give_a_full_disk_is_an_error(released: Path) -> None:
    def stdout_full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    for arguments in (["audit", "release"], ["query", "release", "age > 30", "--json"], ["--help"]):
        code, said = ended(arguments, stdout_full)
        assert (code, said) == (2, "error: standard output cannot be written: No space left on device\n")
    (released / "release" / "qit.parquet").unlink()
    assert ended(["audit", "release"], stdout_full)[0] == 1  # a broken release stays one


def test_closed_streams_are_not_given_to_files(released: Path) -> None:
    """The first file that a program opens gets the lowest free number: what is printed would go into it."""

    def all_closed() -> None:
        for number in (0, 1, 2):
            os.close(number)

    code = subprocess.run([sys.executable, "-m", "sfumato", *PUBLISH], preexec_fn=all_closed, check=False).returncode
    assert code == 0
    assert sf.audit(released / "out").holds is True


def test_letters_that_the_output_cannot_write_are_no_failure(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (released / "p.toml").read_text().replace("HIV", '"Grippe é"')
    (released / "p.toml").write_text(text)
    (released / "people.csv").write_text((released / "people.csv").read_text().replace("HIV", "Grippe é"))
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    plain, told = (
        subprocess.run([sys.executable, "-m", "sfumato", *words], capture_output=True, check=False)
        for words in ([*PUBLISH[:-1], "one", "--all", "--seed", "1"], [*PUBLISH[:-1], "two", "--json", "--seed", "1"])
    )
    assert (plain.returncode, told.returncode) == (0, 0)
    assert b"'Grippe \\xe9'" in plain.stdout
    assert "Grippe é" in json.dumps(json.loads(told.stdout), ensure_ascii=False)


@pytest.mark.parametrize("method", METHODS)
def test_engines_tell_of_methods_without_groups_what_memory_tells(place: Path, run: Run, method: str) -> None:
    policies(place)
    told = {}
    for engine in ("memory", "duckdb"):
        words = ["-p", f"{method}.toml", "-o", engine, "--engine", engine, "--seed", "1", "--receipts", f"of-{engine}"]
        done = run("publish", "people.csv", *words)
        assert done.code == 0, done.err
        assert (place / f"of-{engine}" / f"{engine}.receipt.json").is_file()
        told[engine] = [line for line in done.out.splitlines() if engine not in line]
    assert told["duckdb"] == told["memory"]
    assert any("kept with probability" in line for line in told["duckdb"])


def test_a_mistake_before_the_release_appears_leaves_nothing(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("sfumato.cli.publish.made_of", fails)
    for engine in ("memory", "duckdb"):
        text = (place / "p.toml").read_text().partition("[people]")[0]
        (place / "p.toml").write_text(text + '[people]\nrows = "people"\n')
        before = listing(place)
        assert run(*PUBLISH, "--engine", engine).code == 3
        assert listing(place) == before


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_mistake_after_the_release_appeared_is_no_failure(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    def fails(*given: object, **named: object) -> None:
        assert STATE.written == "out"
        raise ZeroDivisionError

    (place / "p.toml").write_text((place / "p.toml").read_text() + '[people]\nrows = "people"\n')
    monkeypatch.setattr("sfumato.cli.publish.show_published", fails)
    done = run(*PUBLISH, "--engine", engine)
    assert (done.code, done.err) == (0, "warning: out was written; telling about it failed (ZeroDivisionError)\n")
    assert sf.audit(place / "out").holds is True


def test_a_receipt_does_not_stay_where_an_engine_finds_the_place_taken(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.release.atomic import move_new

    def slower(source: Path, target: Path) -> None:
        if target.name == "out":
            target.mkdir()
        move_new(source, target)

    (place / "p.toml").write_text((place / "p.toml").read_text() + '[people]\nrows = "people"\n')
    monkeypatch.setattr("sfumato.receipt.move_new", slower)
    done = run(*PUBLISH, "--engine", "duckdb")
    assert (done.code, "exists already" in done.err) == (2, True)
    assert listing(place) == {"people.csv", "p.toml", "out"}


def test_links_that_cannot_be_kept_leave_no_release(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise OSError(28, "No space left on device")

    diverse = 'model = "l-diversity"\nl = 2\nagainst = "reader"'
    text = RANDOMIZED.format(method="ring", requirement=diverse).replace("[people]", "accept_weaker_claim = true\n[people]")
    (place / "p.toml").write_text(text)
    before = listing(place)
    monkeypatch.setattr("sfumato.release.links.write_private", fails)
    done = run(*PUBLISH, "--links", "links.parquet")
    assert (done.code, "links.parquet" in done.err) == (2, True)
    assert listing(place) == before
