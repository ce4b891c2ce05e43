"""What the methods with a weaker claim have in common: records with ranges of their own, from the people they are linked with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.errors import NotProvable, PolicyError
from sfumato.methods.base import Method, Outcome
from sfumato.methods.show_own_ranges import show_own_ranges
from sfumato.methods.show_ranges import require_free_range_names
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.release.links import Links
from sfumato.release.weaker import WEAKER_CLAIMS
from sfumato.table.table import Table


@dataclass(frozen=True)
class Linked:
    """Who is behind each record, with at least `least` people each; private `figures` and public `parameters` of the making."""

    links: Links
    least: int
    figures: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Linking(Method):
    """Publish every record with the ranges of the people it is linked with. That bounds no belief, so it must be accepted."""

    accept_weaker_claim: bool = False

    form: ClassVar[str] = "ranges"
    unproven: ClassVar[str]
    """Why no bound on belief holds, as the refusal says it."""

    def __post_init__(self) -> None:
        accepted = self.accept_weaker_claim
        if not isinstance(accepted, bool):
            raise PolicyError(f"{type(self).__name__}(accept_weaker_claim=…): expected true or false, got {accepted!r}")

    def proves(self) -> tuple[Against, ...]:
        """Return nobody: what is claimed is not about a reader who has seen the release."""
        return ()

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise `NotProvable` unless the weaker claim is accepted, in place of one against a reader and nobody stronger."""
        self.require_presence(requirement)
        against = requirement.against
        if not self.accept_weaker_claim:
            raise NotProvable(
                f"method {self.name!r} proves no bound on what a reader believes: {self.unproven}",
                hint='accept_weaker_claim = true to publish with the paper\'s claim, or name = "near-groups"',
                against=against,
            )
        if against != "reader":
            raise NotProvable(
                f"method {self.name!r} has a weaker claim to offer in place of one against 'reader', not against {against!r}",
                hint='choose against = "reader"',
                against=against,
            )

    @abstractmethod
    def link(self, table: Table, bounds: Bounds, random: Randomness, progress: Progress) -> Linked:
        """Return whom each record is linked with, and whose value it carries."""

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release and, for the publisher alone, figures of its making and whom each record is linked with."""
        require_free_range_names(table)
        bounds = requirement.bounds(table.sensitive.histogram())
        found = self.link(table, bounds, random, lambda stage, done: progress(stage, 0.9 * done))
        progress("showing ranges", 0.9)
        release, links = show_own_ranges(
            table,
            found.links,
            bounds=bounds,
            requirement=requirement,
            method=self,
            random=random,
            weaker_claim=WEAKER_CLAIMS[self.name],
            least=found.least,
            parameters=found.parameters,
        )
        progress("done", 1.0)
        return Outcome(release, dict(found.figures), links=links)
