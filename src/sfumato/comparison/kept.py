"""What a study leaves in its directory: a file a run as soon as it ends, so that a killed study goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato import __version__
from sfumato.errors import OutputError
from sfumato.receipt import refuse_in_release
from sfumato.release.atomic import replace_private
from sfumato.table import Table
from sfumato.utility import TrueAnswers

FORMAT = "sfumato-study"
ABOUT = "study.json"
PRIVATE = "PRIVATE: figures of the original table. Never publish this directory and never put it into a release."


def identity(table: Table, asked: TrueAnswers, attacks: tuple[str, ...], *, generated: bool, spent: bool) -> str:
    """Return what fixes the results of a run beside its method and requirement: people, questions, attacks and program."""
    questions = hashlib.sha256(repr([asked.queries, asked.truth.tolist()]).encode()).hexdigest()
    parts = [table.fingerprint.digest, table.rows, questions, attacks, generated, spent, __version__]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class StudyDirectory:
    """The directory of a study; None keeps nothing."""

    place: Path | None

    @classmethod
    def at(cls, place: Path | None) -> StudyDirectory:
        """Return the study's directory, made for its owner alone; one that holds something else is refused."""
        if place is None:
            return cls(None)
        place = Path(place)
        refuse_in_release(place)
        about = place / ABOUT
        try:
            if place.exists() and not about.is_file() and (not place.is_dir() or any(place.iterdir())):
                raise OutputError(f"{place} exists and is not the directory of a study", hint="choose a new directory")
            (place / "runs").mkdir(parents=True, exist_ok=True, mode=0o700)
            place.chmod(0o700)
            if not about.is_file():
                _replace(about, _json({"private": PRIVATE, "format": FORMAT, "version": 1}))
        except OSError as error:
            raise OutputError(f"cannot write to {place}: {error.strerror or error}", hint="choose another directory") from None
        return cls(place)

    def load(self, key: str) -> dict[str, Any] | None:
        """Return the figures of a run that ended before; None where there are none that can be read."""
        if self.place is None:
            return None
        try:
            figures: dict[str, Any] = json.loads((self.place / "runs" / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return figures

    def save(self, key: str, figures: Mapping[str, Any]) -> None:
        """Keep the figures of a run, whole or not at all."""
        if self.place is not None:
            _replace(self.place / "runs" / f"{key}.json", _json(figures))

    def write(self, name: str, content: bytes) -> Path | None:
        """Write a result of the whole study in place of an earlier one, and return its path."""
        if self.place is None:
            return None
        _replace(self.place / name, content)
        return self.place / name


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _replace(path: Path, content: bytes) -> None:
    """Write a file for its owner alone, in one step: whoever is killed leaves the old one or the new one."""
    try:
        replace_private(path, lambda stream: stream.write(content))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}", hint="is the disk full?") from None
