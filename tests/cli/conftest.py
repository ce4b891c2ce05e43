"""A small made-up table with its policy, and a way to run the command in this process."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app

POLICY = """\
[columns]
identifier = ["name"]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
[requirement]
model  = "f-privacy"
theta  = 2
offset = "0.1"
[requirement.bounds]
HIV = "0.2"
"""

ILLNESSES = ["Flu"] * 8 + ["Asthma"] * 6 + ["Gout"] * 4 + ["Lupus"] * 1 + ["HIV"] * 1


def people(count: int = 200) -> str:
    """Return a CSV of `count` people: 40 % flu, 30 % asthma, 20 % gout, 5 % lupus, 5 % HIV."""
    lines = [f"N{i},{20 + 7 * i % 60},{'fm'[i % 2]},{ILLNESSES[i % 20]}" for i in range(count)]
    return "name,age,sex,illness\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with people.csv and p.toml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_DEBUG", raising=False)
    monkeypatch.setenv("SFUMATO_RECEIPTS", str(tmp_path))
    (tmp_path / "people.csv").write_text(people())
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def run() -> Run:
    """The command `sfumato` with these arguments."""

    def call(*arguments: object) -> Done:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return Done(result.exit_code, result.stdout, result.stderr)

    return call


def listing(place: Path) -> set[str]:
    """Return every path below a directory, hidden ones too."""
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def wait_until_it_catches_signals(process: subprocess.Popen[str]) -> None:
    """Wait until the command has begun to run: only then does it catch SIGTERM. A busy machine takes long to start Python."""
    status = Path(f"/proc/{process.pid}/status")
    for _ in range(3000 if status.is_file() else 0):
        caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status.read_text(), flags=re.MULTILINE)
        assert caught
        if int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.01)
