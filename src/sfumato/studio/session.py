"""What the pages share: the table and its policy, or the release; what was computed of them; and the work under way.

It lives in the server, once for all tabs. Pages get aggregates of it, never rows. Its workshop, a directory of this user alone,
is wiped at the end.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import SfumatoError
from sfumato.policy import Policy
from sfumato.policy.draft import draft_policy, review
from sfumato.policy.profile import Profile, profiles
from sfumato.policy.roles import Decision
from sfumato.studio.jobs import Job
from sfumato.studio.places import below
from sfumato.studio.policy_text import PolicyText

if TYPE_CHECKING:
    from sfumato.release import Release
    from sfumato.table import Table

POLICY = "policy.toml"


@dataclass(eq=False)
class Session:
    """One studio: started in `root`, about the file `data` or the release `release`."""

    root: Path
    data: Path | None = None
    directory: Path | None = None
    workshop: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="sfumato-studio-")))
    jobs: dict[str, Job] = field(default_factory=dict)
    out: str = "release"
    _table: tuple[str, Table] | None = None

    @cached_property
    def policy(self) -> PolicyText:
        """The policy: the one that lies beside the table, else a draft."""
        assert self.data is not None
        kept = self.root / POLICY
        return PolicyText(kept.read_text("utf-8") if kept.is_file() else draft_policy(self.data))

    @cached_property
    def profiles(self) -> dict[str, Profile]:
        """What every column of the file looks like."""
        assert self.data is not None
        return {one.name: one for one in profiles(self.data, Policy.parse(self.policy.text, base=self.root).options)[0]}

    def parsed(self) -> Policy:
        """Return the policy as it stands; what is wrong with it is an error."""
        return Policy.parse(self.policy.text, base=self.root)

    def decisions(self) -> list[Decision]:
        """Return the role of every column with its reason, doubtful ones first."""
        assert self.data is not None
        policy = self.parsed()
        return review(self.data, policy.schema, policy.options)

    def table(self) -> Table:
        """Return the table as the policy reads it; kept until what is read changes."""
        assert self.data is not None
        policy = self.parsed()
        key = repr((policy.schema, policy.options))
        if self._table is None or self._table[0] != key:
            self._table = (key, policy.read_table(self.data))
        return self._table[1]

    def release_place(self) -> Path:
        """Return the directory of the release: the one that was opened, or the one to be published."""
        return self.directory or below(self.root, self.out)

    @cached_property
    def release(self) -> Release:
        """The release that was opened, with what it teaches kept between runs."""
        from sfumato.cli.query import load_remembering

        return load_remembering(self.release_place())

    def save_policy(self) -> Path:
        """Write the policy beside the table, where every command finds it."""
        place = self.root / POLICY
        place.write_text(self.policy.text, "utf-8")
        place.chmod(0o600)
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
            job.stop()
        shutil.rmtree(self.workshop, ignore_errors=True)


def names_of(release: Release, role: str) -> list[str]:
    """Return the columns of a release that are quasi, or sensitive."""
    return [str(column["name"]) for column in release.manifest.schema[role]]


def message(error: Exception) -> str:
    """Return what a page says of an error: our own words, never those of a library, which may quote a person."""
    if isinstance(error, SfumatoError):
        return error.message if error.hint is None else f"{error.message} — {error.hint}"
    return "This did not work, for a reason that the studio does not know. `sfumato --debug` on the command line tells more."
