"""Long work, done by the command line in another process: with progress, time left, and ctrl-C as a button."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.progress import LINES, read_from_line


def shell(words: Sequence[str]) -> str:
    """Return a command line as a person would write it: in double quotes what holds single ones and nothing that is special."""
    easy = ("'" in word and not any(mark in word for mark in '"$`\\!') for word in words)
    return " ".join(f'"{word}"' if plain else shlex.quote(word) for word, plain in zip(words, easy, strict=True))


@dataclass(eq=False)
class Job:
    """One command, running or done. It belongs to the session, not to a page: a reload or a second tab finds it again."""

    words: tuple[str, ...]
    where: Path
    stage: str = "starting"
    done: float = 0.0
    code: int | None = None
    output: str = ""
    message: str = ""
    cancelled: bool = False
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    _process: subprocess.Popen[str] | None = None
    _first: tuple[float, float] | None = None
    """When progress was first heard of, and how much: before that comes what has no pace, such as loading libraries."""
    _heard: float = 0.0

    @classmethod
    def start(cls, words: Sequence[str], where: Path) -> Job:
        """Start `sfumato WORDS` in a directory, and return at once."""
        job = cls(tuple(words), where)
        plain = {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "100"}
        # A file of the table's directory that is called like a module of ours must not be taken for it.
        environment = {**os.environ, LINES: "1", **plain, "PYTHONSAFEPATH": "1"}
        job._process = subprocess.Popen(
            [sys.executable, "-m", "sfumato", *words],
            cwd=where,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=job._watch, daemon=True).start()
        return job

    @property
    def command(self) -> str:
        """The same on the command line, without the switch that makes its output readable for programs."""
        return shell(["sfumato", *(word for word in self.words if word != "--json")])

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self.code is None

    @property
    def succeeded(self) -> bool:
        """Whether it ended well."""
        return self.code == 0

    @property
    def document(self) -> Any:
        """What it printed, read as JSON; None if it printed something else."""
        try:
            return json.loads(self.output)
        except ValueError:
            return None

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def seconds_left(self) -> float | None:
        """How long it will take at the pace so far; None while nobody can say, and where nothing was heard for a while."""
        if not self.running or self._first is None or self.done - self._first[1] <= 0.05:
            return None
        now, (began, first) = time.monotonic(), self._first
        if now - self._heard > max(3.0, (now - began) / 4):
            return None
        return (now - began) * (1 - self.done) / (self.done - first)

    def hear(self, stage: str, done: float) -> None:
        """Take what the work says of itself."""
        self.stage, self.done, self._heard = stage, done, time.monotonic()
        self._first = self._first or (self._heard, done)

    def cancel(self) -> None:
        """Do what ctrl-C does, once: nothing is left of what was not finished."""
        if self._process is not None and self.running and not self.cancelled:
            self.cancelled = True
            self._process.send_signal(signal.SIGINT)

    def stop(self) -> None:
        """End it for good, because the studio is closed."""
        self.cancel()
        if self._process is not None:
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def _watch(self) -> None:
        process = self._process
        assert process is not None
        assert process.stderr is not None
        assert process.stdout is not None
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        messages = []
        for line in process.stderr:
            heard = read_from_line(line)
            if heard is None:
                messages.append(line)
            else:
                self.hear(*heard)
        reader.join()
        self.message = "".join(messages).strip()
        self.ended = time.monotonic()
        self.code = process.wait()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self.output = self._process.stdout.read()
