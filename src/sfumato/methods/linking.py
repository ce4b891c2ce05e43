"""What the methods with a weaker claim have in common: records with ranges of their own, from the people they are linked with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.methods.base import Made, Task, Ungrouped
from sfumato.methods.show.own_ranges import show_own_ranges
from sfumato.parameters import flag, parameter
from sfumato.privacy.requirement import Against
from sfumato.release.links import Links


@dataclass(frozen=True)
class Linked:
    """Who is behind each record, with at least `least` people each; private `figures` and public `parameters` of the making."""

    links: Links
    least: int
    figures: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Linking(Ungrouped):
    """Publish every record with the ranges of the people it is linked with. That bounds no belief, so it must be accepted."""

    accept_weaker_claim: bool = parameter(False, flag)

    form: ClassVar[str] = "ranges"
    links_records: ClassVar[bool] = True
    instead: ClassVar[str] = 'name = "near-groups"'

    def proves(self) -> tuple[Against, ...]:
        """Return nobody: what is claimed is not about a reader who has seen the release."""
        return ()

    @abstractmethod
    def link(self, task: Task) -> Linked:
        """Return whom each record is linked with, and whose value it carries."""

    def make(self, task: Task) -> Made:
        """Return the release and, for the publisher alone, figures of its making and whom each record is linked with."""
        linked = self.link(task)
        task.progress("showing ranges", 0.9)
        release, links = show_own_ranges(task, linked.links, self, least=linked.least, parameters=linked.parameters)
        return Made(release, linked.figures, links=links)
