"""What the pages share: the table and its policy, or the release; what was computed of them; and the work under way.

It lives in the server, once for all tabs. Pages get aggregates of it, never rows unless they are asked for. Its workshop, a
directory of this user alone, is wiped at the end, and if the process was killed, when the next studio starts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import InputError, SfumatoError
from sfumato.policy import Policy
from sfumato.policy.draft import Guessed, draft_of, review_of
from sfumato.policy.edited import PolicyText
from sfumato.policy.guess import Looked, look
from sfumato.policy.hierarchies import beside
from sfumato.policy.profile import Profile, profiles
from sfumato.policy.roles import Decision
from sfumato.release.atomic import temporary_workshop
from sfumato.studio.jobs import Job
from sfumato.table.source import SharedFile

if TYPE_CHECKING:
    from sfumato.explanation.risk import Risk
    from sfumato.release import Release
    from sfumato.table import Table

POLICY = "policy.toml"
WORKSHOP = "sfumato-studio"


UNDONE = 200
"""So many states of a policy are kept, to go back to."""


@dataclass(eq=False)
class Session:
    """One studio: started in `root`, about the file `data` or the release in `directory`."""

    root: Path
    data: Path | None = None
    directory: Path | None = None
    workshop: Path = field(init=False)
    jobs: dict[str, Job] = field(default_factory=dict)
    out: str = "release"
    stage: tuple[str, float] = ("starting", 0.0)
    _kept: SharedFile | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _opened: tuple[PolicyText, dict[str, Profile], Guessed] | None = None
    _table: tuple[str, Table] | None = None
    _risk: tuple[Table, Risk] | None = None
    _release: tuple[tuple[Path, int], Release] | None = None
    _held: int | None = None
    _before: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workshop, self._held = temporary_workshop(WORKSHOP)

    def open(self) -> None:
        """Read the table, once, and find its policy: the one that lies beside it, else a draft. `stage` tells how far this is."""
        with self._lock:
            if self._opened is not None:
                return
            self.stage = ("reading the table", 0.1)
            kept = self.root / POLICY
            if kept.is_file():
                policy, checked = PolicyText.read(kept)
                looked = Looked(*profiles(self.kept, checked.options), checked.options, {})
            else:
                looked = look(self.kept)
                self.stage = ("proposing a role for every column", 0.5)
                policy = PolicyText(draft_of(self.kept, looked))
            self.stage = ("counting who is unique", 0.8)
            self._opened = (policy, looked.by_name, Guessed.of(looked))

    @property
    def opened(self) -> bool:
        """Whether the table was read."""
        return self._opened is not None

    @property
    def kept(self) -> SharedFile:
        """The table as it lies in the file; its columns stay in memory."""
        assert self.data is not None
        if self._kept is None:
            self._kept = SharedFile(self.data)
        return self._kept

    @property
    def policy(self) -> PolicyText:
        """The policy, as pages have changed it."""
        self.open()
        assert self._opened is not None
        return self._opened[0]

    def remember(self) -> bool:
        """Keep the policy as it stands, if it has changed, so that changes can be undone; return whether one can be."""
        text = self.policy.text
        if not self._before or self._before[-1] != text:
            self._before.append(text)
            del self._before[:-UNDONE]
        return len(self._before) > 1

    def undo(self) -> None:
        """Take back the last change of the policy: every page that is open follows."""
        if self.remember():
            del self._before[-1]
            assert self._opened is not None
            self._opened = (PolicyText(self._before[-1]), *self._opened[1:])

    @property
    def profiles(self) -> dict[str, Profile]:
        """What every column of the file looks like."""
        self.open()
        assert self._opened is not None
        return self._opened[1]

    @property
    def data_name(self) -> str:
        """The table as commands name it, from where the studio was started."""
        assert self.data is not None
        return str(self.data.relative_to(self.root))

    def parsed(self) -> Policy:
        """Return the policy as it stands; what is wrong with it is an error."""
        return Policy.parse(self.policy.text, base=self.root)

    def decisions(self) -> list[Decision]:
        """Return the role of every column with its reason, doubtful ones first."""
        self.open()
        assert self._opened is not None
        return review_of(self._opened[2], self.parsed().schema)

    def hierarchies_for(self, column: Profile) -> list[str]:
        """Return the files beside the table that may be hierarchies of a column."""
        return beside(self.root, column, but=self.data)

    def table(self) -> Table:
        """Return the table as the policy reads it; kept until what is read changes."""
        with self._lock:  # whoever waited gets the table of the policy as it stands now, not as it stood
            policy = self.parsed()
            key = repr((policy.schema, policy.options))
            if self._table is None or self._table[0] != key:
                self._table = (key, policy.read_table(self.kept))
            return self._table[1]

    def risk(self) -> Risk:
        """Return who is found by quasi values as they would be published; kept as long as the table."""
        from sfumato.explanation.risk import risk_of

        with self._lock:
            table = self.table()
            if self._risk is None or self._risk[0] is not table:
                self._risk = (table, risk_of(table))
            return self._risk[1]

    def release_place(self) -> Path:
        """Return the directory of the release: the one that was opened, or the one to be published."""
        return self.directory or below(self.root, self.out)

    @property
    def published(self) -> bool:
        """Whether there is a release in that directory."""
        return (self.release_place() / "manifest.json").is_file()

    @property
    def release_name(self) -> str:
        """The release as commands name it, from where the studio was started."""
        return str(self.release_place().relative_to(self.root))

    def release(self) -> Release:
        """Return the release, with what it teaches kept between runs; read again where another one lies there."""
        from sfumato.cli.query import load_remembering

        place = self.release_place()
        key = (place, (place / "manifest.json").stat().st_mtime_ns)
        if self._release is None or self._release[0] != key:
            self._release = (key, load_remembering(place))
        return self._release[1]

    @property
    def saved(self) -> bool:
        """Whether the policy file beside the table is what the pages have."""
        try:
            return (self.root / POLICY).read_text("utf-8") == self.policy.text
        except (OSError, UnicodeDecodeError):
            return False

    def save_policy(self) -> Path:
        """Write the policy beside the table, where every command finds it: whole or not at all, for its owner alone."""
        place = self.root / POLICY
        number, draft = tempfile.mkstemp(prefix=f".{POLICY}.", dir=self.root)
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            stream.write(self.policy.text)
        os.replace(draft, place)
        return place

    def start(self, name: str, words: Sequence[str]) -> Job:
        """Start a command under a name; one of that name that still runs goes on."""
        running = self.jobs.get(name)
        if running is not None and running.running:
            return running
        self.jobs[name] = Job.start(words, self.root)
        return self.jobs[name]

    def close(self) -> None:
        """End all work and wipe what was kept."""
        for job in self.jobs.values():
            job.cancel()
        for job in self.jobs.values():
            job.stop()
        shutil.rmtree(self.workshop, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None
        self._kept = self._opened = self._table = self._risk = self._release = None


def below(root: Path, name: str | Path) -> Path:
    """Return the path of a file or directory below `root`; refused is whatever lies elsewhere, by a link too."""
    place = (root / name).resolve()
    if not str(name).strip() or place == root.resolve() or root.resolve() not in place.parents:
        raise InputError(
            "the studio works only below the directory in which it was started", hint="give a name such as release, without .."
        )
    return place


def names_of(release: Release, role: str) -> list[str]:
    """Return the columns of a release that are quasi, or sensitive."""
    return [str(column["name"]) for column in release.manifest.schema[role]]


def message(error: Exception) -> str:
    """Return what a page says of an error: our own words, never those of a library, which may quote a person."""
    if isinstance(error, SfumatoError):
        return error.sentence
    return "This did not work, for a reason that the studio does not know. `sfumato --debug` on the command line tells more."
