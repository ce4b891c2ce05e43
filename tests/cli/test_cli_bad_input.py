"""Bad input gives one clear message and exit code 2, and leaves nothing half-written."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.methods import Method
from sfumato.release.atomic import move_new
from tests.cli.conftest import POLICY, Run, listing, people, wait_until_it_catches_signals


def policy(old: str, new: str) -> Callable[[Path], object]:
    assert old in POLICY
    return lambda place: (place / "p.toml").write_text(POLICY.replace(old, new))


def data(text: str | bytes) -> Callable[[Path], object]:
    content = text if isinstance(text, bytes) else text.encode()
    return lambda place: (place / "people.csv").write_bytes(content)


def both(*spoilers: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda place: [spoil(place) for spoil in spoilers]


def toml(text: str) -> str:
    return '"' + "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in text) + '"'


BAD: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "empty file": (data(""), ["people.csv", "empty"]),
    "header only": (data("name,age,sex,illness\n"), ["no rows"]),
    "one column": (data("name\nx\ny\n"), ["people.csv", "column"]),
    "wrong delimiter": (policy("[columns]", '[input]\ndelimiter = ";"\n[columns]'), ["';'"]),
    "all-equal sensitive values": (
        both(policy('HIV = "0.2"', ""), data(re.sub("Asthma|Gout|Lupus|HIV", "Flu", people()))),
        ["protects nobody"],
    ),
    "duplicate column names": (data(people().replace("name,age", "age,age", 1)), ["age"]),
    "a bound of 0": (policy('HIV = "0.2"', "HIV = 0"), ["HIV", "above 0"]),
    "a bound above 1": (policy('HIV = "0.2"', "HIV = 1.5"), ["HIV", "at most 1"]),
    "a bound below the share": (policy('HIV = "0.2"', 'HIV = "0.01"'), ["HIV", "5 %", "1 %", "feasible would be"]),
    "a bound too small for the largest bucket": (
        policy('HIV = "0.2"', 'HIV = "0.06"\n[method]\nname = "multi-size"\nmax_size = 10'),
        ["HIV"],
    ),
    "more quasi than columns": (policy('"sex"]', '"sex", "height", "weight"]'), ["height", "weight"]),
    "a column without a role": (policy('"age", "sex"', '"age"'), ["'sex'", "no role"]),
    "an unknown column": (policy('"illness"', '"ilness"'), ["'ilness'", "did you mean 'illness'?"]),
    "an unknown value": (policy("HIV =", "HVI ="), ["HVI", "did you mean 'HIV'?"]),
    "missing sensitive values": (data(people().replace("HIV", "")), ["illness", "10"]),
    "NaN sensitive values": (data(people().replace("HIV", "NaN")), ["illness", "10"]),
    "mixed types": (
        both(policy("[requirement]", '[types]\nage = "numeric"\n[requirement]'), data(people().replace(",20,", ",young,"))),
        ["age", "numeric", "'xxxxx'"],
    ),
    "not UTF-8": (data(people().replace("Gout", "Gicht-ü").encode("latin-1")), ["not valid utf-8", "encoding"]),
    "ragged rows": (data(people() + "N999,1\n"), ["header has 4 values", "row 202 has 2"]),
    "repeated identifiers": (data(people().replace("N1,", "N0,")), ["several rows", "keep = \"all\""]),
    "an unknown key": (policy("theta ", "thta "), ["thta", "did you mean 'theta'?"]),
    "a policy that protects nobody": (
        policy('offset = "0.1"\n[requirement.bounds]\nHIV = "0.2"', "offset = 1"),
        ["protects nobody", "bound of 1"],
    ),
    "utf-16": (data(people().encode("utf-16")), ["UTF-16", 'encoding = "utf-16"']),
    "utf-8 read as utf-16": (policy("[columns]", '[input]\nencoding = "utf-16"\n[columns]'), ["not valid utf-16"]),
    "an encoding that is none": (policy("[columns]", '[input]\nencoding = "zip"\n[columns]'), ["[input] encoding", "zip"]),
    "policy not TOML": (policy("theta  = 2", "theta  = "), ["not valid TOML", "line 7"]),
    "an adversary out of reach": (policy("[requirement]", '[requirement]\nagainst = "insider"'), ["insider"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("verb", ["publish", "explain"])
def test_bad_input_is_told_once_and_nothing_is_written(place: Path, run: Run, case: str, verb: str) -> None:
    spoil, words = BAD[case]
    spoil(place)
    before = listing(place)
    out = ["--out", "release"] if verb == "publish" else []
    done = run(verb, "people.csv", "--policy", "p.toml", *out)
    if verb == "explain" and case in EXPLAINED:
        assert done.code == 0
        assert "cannot be kept" in " ".join(done.out.split())
    elif verb == "explain" and case in ("all-equal sensitive values", "a policy that protects nobody"):
        assert done.code == 0
        assert done.out.startswith("This policy protects nobody")
    else:
        assert done.code == 2
        assert done.out == ""
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err
        assert done.err.count("error:") == 1
        for word in words:
            assert word in done.err
    assert listing(place) == before


EXPLAINED = ("a bound below the share", "a bound too small for the largest bucket", "an adversary out of reach")
"""`explain` is there to tell these, so it succeeds."""


def test_identifiers_and_sensitive_values_stay_out_of_messages(place: Path, run: Run) -> None:
    data(people().replace("N1,", "N0,"))(place)
    assert "N0" not in run("publish", "people.csv", "-p", "p.toml", "-o", "release").err


def test_an_output_directory_that_exists_is_left_alone(place: Path, run: Run) -> None:
    (place / "release").mkdir()
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert done.code == 2
    assert "exists already" in done.err
    assert listing(place) == before


def test_an_output_below_a_file_is_refused(place: Path, run: Run) -> None:
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "people.csv/release")
    assert done.code == 2
    assert "not a directory" in done.err
    assert listing(place) == before


def test_no_write_permission_is_told_before_the_work(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.receipt.os.access", lambda path, mode: mode == os.R_OK)
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert done.code == 2
    assert "no permission" in done.err
    assert listing(place) == before


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("os.mkdir", "release"),
        ("sfumato.receipt.move_new", "new/release"),
        ("sfumato.receipt.move_new", "release.receipt.json"),
        ("os.open", ".receipt.json"),
        ("os.fsync", ""),
    ],
)
def test_a_failure_to_write_leaves_neither_release_nor_receipt(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch, step: str, name: str
) -> None:
    module, _, function = step.rpartition(".")
    real = getattr(importlib.import_module(module), function)
    struck = []

    def refused(*given: Any, **options: Any) -> Any:
        if any(str(one).endswith(name) for one in given):
            struck.append(given)
            raise PermissionError(13, "Permission denied")
        return real(*given, **options)

    monkeypatch.setattr(step, refused)
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "new/release", "--receipts", "receipts")
    assert struck
    assert done.code == 2
    assert "Permission denied" in done.err
    assert listing(place) == before


@pytest.mark.parametrize("missing", ["people.csv", "p.toml"])
def test_a_missing_file_is_named(place: Path, run: Run, missing: str) -> None:
    (place / missing).unlink()
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert done.code == 2
    assert missing in done.err
    assert not (place / "release").exists()


@pytest.mark.parametrize(
    "arguments",
    [["publish", "people.csv"], ["publish"], ["frobnicate"], ["sample", "moon", "--out", "x.csv"], ["demo", "--rows", "3"]],
)
def test_wrong_usage_is_exit_code_2(place: Path, run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize("seed", ["-1", "x"])
def test_a_seed_that_is_none_is_refused(place: Path, run: Run, seed: str) -> None:
    before = listing(place)
    assert run("publish", "people.csv", "-p", "p.toml", "--out", "release", "--seed", seed).code == 2
    assert listing(place) == before


def test_ctrl_c_inside_the_method_leaves_nothing(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Method, "run", interrupted)
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert (done.code, done.err) == (130, "interrupted; nothing was written\n")
    assert listing(place) == before


def test_ctrl_c_while_writing_leaves_nothing(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.receipt.move_new", interrupted)
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert (done.code, done.err) == (130, "interrupted; nothing was written\n")
    assert listing(place) == before


@pytest.mark.parametrize("delay", [0.1, 0.5, 1.0])
def test_ctrl_c_in_the_middle_of_a_real_run_leaves_nothing(place: Path, delay: float) -> None:
    (place / "people.csv").write_text(people(600_000))
    before = listing(place)
    command = [sys.executable, "-m", "sfumato", "publish", "people.csv", "-p", "p.toml", "--out", "new/release"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    wait_until_it_catches_signals(process)
    time.sleep(delay)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted; nothing was written\n")
    assert listing(place) == before


def test_ctrl_c_after_everything_was_written_is_no_failure(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.cli.publish.show_published", interrupted)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert (done.code, done.err) == (0, "interrupted; release was written\n")
    assert run("audit", "release").code == 0


def test_ctrl_c_right_after_the_last_step_is_no_failure_either(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(*given: Path) -> None:
        move_new(*given)
        if str(given[1]).endswith("/release"):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("sfumato.receipt.move_new", moved)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert (done.code, done.err) == (0, "interrupted; release was written\n")
    assert {"release/manifest.json", "release.receipt.json"} <= listing(place)


def test_ctrl_c_after_everything_was_written_is_exit_code_0_of_the_process(place: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "import sfumato.cli.publish as verb\n"
        "verb.show_published = lambda *given, **named: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.argv = ['sfumato', 'publish', 'people.csv', '-p', 'p.toml', '-o', 'release']\n"
        "from sfumato.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "interrupted; release was written\n")


def test_ctrl_c_while_python_is_taken_down_is_exit_code_0_of_what_was_written(place: Path) -> None:
    """Python lets signals end it from then on; words alone have come to their end too, and may be interrupted."""
    code = (
        "import os, signal, sys\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, pid=os.getpid(), number=signal.SIGINT):\n"
        "        kill(pid, number)\n"
        "late = Late()\n"
        "from sfumato.cli import main\n"
        "main()\n"
    )
    ends = {}
    for verb in (
        ["publish", "people.csv", "-p", "p.toml", "-o", "release"],
        ["policy", "init", "people.csv", "-o", "d"],
        ["audit", "release"],
    ):
        ends[verb[0]] = subprocess.run(
            [sys.executable, "-c", code, *verb], capture_output=True, text=True, check=False
        ).returncode
    assert ends == {"publish": 0, "policy": 0, "audit": -signal.SIGINT}


@pytest.mark.parametrize("arguments", [["--out", "z", "--receipts", "z"], ["--out", "z", "--receipts", "z/receipts"]])
def test_receipts_in_the_new_release_are_refused_before_the_work(place: Path, run: Run, arguments: list[str]) -> None:
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", *arguments)
    assert (done.code, "must never lie" in done.err) == (2, True)
    assert listing(place) == before


def test_nothing_is_written_into_a_release(place: Path, run: Run) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    before = listing(place)
    for arguments in (
        ["publish", "people.csv", "-p", "p.toml", "-o", "release/again"],
        ["publish", "people.csv", "-p", "p.toml", "-o", "again", "--receipts", "release"],
        ["policy", "init", "people.csv", "-o", "release/draft.toml"],
    ):
        done = run(*arguments)
        assert (done.code, "lies in a release" in done.err) == (2, True)
    assert listing(place) == before


def test_a_directory_instead_of_a_table_is_named(place: Path, run: Run) -> None:
    assert run("publish", ".", "-p", "p.toml", "-o", "release").err.startswith("error: .: this is a directory")


def test_control_characters_of_the_data_are_never_printed_raw(place: Path, run: Run) -> None:
    evil = "F\x1b[31mlu\x9b2J\u202e"
    data(people().replace("Flu", evil).replace("HIV", '"H\nIV"').replace("sex", "s\x1bex", 1))(place)
    policy('HIV = "0.2"', f'"H\\nIV" = "0.2"\n{toml(evil)} = 1')(place)
    text = (place / "p.toml").read_text().replace('"sex"', r'"s\u001bex"')
    (place / "p.toml").write_text(text)
    (place / "bad.toml").write_text(text.replace('"H\\nIV" =', '"H\\nIVX" ='))
    outputs = []
    for arguments in (
        ["explain", "people.csv", "-p", "p.toml", "--all"],
        ["explain", "people.csv", "-p", "p.toml", "--json"],
        ["publish", "people.csv", "-p", "p.toml", "-o", "release"],
        ["audit", "release", "--table", "people.csv"],
        ["query", "release", "SELECT COUNT(*) GROUP BY illness"],
        ["query", "release", "SELECT COUNT(*) GROUP BY illness", "--json"],
        ["query", "release", 'SELECT COUNT(*) GROUP BY "s\x1bex"'],
        ["policy", "init", "people.csv"],
    ):
        done = run(*arguments)
        assert done.code == 0, done.err
        outputs.append(done.out + done.err)
    refused = run("publish", "people.csv", "-p", "bad.toml", "-o", "other")
    assert refused.code == 2
    outputs.append(refused.err)
    for output in outputs:
        assert not set("\x1b\x9b\u202e") & set(output)
    assert "F␛[31mlu\\x9b2J\\u202e" in outputs[0]
    assert "H⏎IV" in outputs[0]
    assert json.loads(outputs[1])["values"][-1]["value"] == evil


def test_errors_show_control_characters_of_the_data(place: Path, run: Run) -> None:
    data(people().replace("name,", "na\x1bme,", 1))(place)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "na\\x1bme" in done.err


def test_an_unexpected_error_is_a_bug_with_a_code_of_its_own(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **options: object) -> None:
        raise RuntimeError("N17 has HIV")

    monkeypatch.setattr(Method, "run", broken)
    done = run("publish", "people.csv", "-p", "p.toml", "--out", "release")
    assert done.code == 3
    assert "RuntimeError" in done.err
    assert "N17" not in done.err
    assert "N17 has HIV" in run("--debug", "publish", "people.csv", "-p", "p.toml", "--out", "release").err
