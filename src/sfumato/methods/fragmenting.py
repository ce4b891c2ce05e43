"""What Ambiguity and PriView have in common: groups as boxes or as published, checked, and shown apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.errors import NotProvable, PolicyError
from sfumato.groups.grouping import Grouping, histograms, require_bounds
from sfumato.methods.base import Method, Outcome, require_choice
from sfumato.methods.grouped import group_figures
from sfumato.methods.show_fragments import Terms, require_free_fragment_names
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.release.weaker import WEAKER_CLAIMS
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Fragmented:
    """The groups, private figures of their making, and the columns that stand beside the sensitive ones."""

    grouping: Grouping
    figures: Mapping[str, Any] = field(default_factory=dict)
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fragmenting(Method):
    """Publish people's values in tables apart, so that presence stays uncertain too."""

    grouping: Literal["boxes", "halves", "paper"] = "boxes"
    suppress: bool = False
    accept_weaker_claim: bool = False

    hides_presence: ClassVar[bool] = True
    groupings: ClassVar[tuple[str, ...]] = ("boxes", "paper")

    def __post_init__(self) -> None:
        require_choice(type(self).__name__, "grouping", self.grouping, self.groupings)
        for name in ("suppress", "accept_weaker_claim"):
            if not isinstance(getattr(self, name), bool):
                raise PolicyError(f"{type(self).__name__}({name}=…): expected true or false, got {getattr(self, name)!r}")
        self.require_used("paper", ("suppress", "accept_weaker_claim"), "disjoint boxes")

    def require_used(self, grouping: str, names: tuple[str, ...], others: str) -> None:
        """Raise `PolicyError` where an option is set that only another grouping uses."""
        if self.grouping == grouping:
            return
        for name in names:
            if getattr(self, name) != getattr(type(self), name):
                raise PolicyError(
                    f"{type(self).__name__}({name}=…): {others} do not use it, got {getattr(self, name)!r}",
                    hint=f'leave it out, or set grouping = "{grouping}"',
                )

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise unless the bounds on values can be proven, or the weaker claim is accepted in place of one against a reader."""
        if self.grouping != "paper":
            super().require_provable(table, requirement)
            return
        self.require_presence(requirement)
        against = requirement.against
        if not self.accept_weaker_claim:
            raise NotProvable(
                f"method {self.name!r} with grouping = 'paper' bounds what one group tells, and several may cover a person",
                hint='accept_weaker_claim = true to publish with the paper\'s claim, or grouping = "boxes"',
                against=against,
            )
        if against != "reader":
            raise NotProvable(
                f"method {self.name!r} with grouping = 'paper' has a weaker claim to offer in place of one against 'reader', not "
                f"against {against!r}",
                hint='choose against = "reader", or grouping = "boxes"',
                against=against,
            )

    @abstractmethod
    def fragment(
        self, table: Table, requirement: Requirement, bounds: Bounds, alpha: Fraction, random: Randomness, progress: Progress
    ) -> Fragmented:
        """Return who shares a group."""

    @abstractmethod
    def show(self, table: Table, found: Fragmented, terms: Terms) -> Release:
        """Return the groups in the method's form."""

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures are numbers and sizes of groups, and those of their making."""
        require_free_fragment_names(table)
        bounds = self.bounds(table, requirement)
        alpha = Fraction(requirement.presence or 1)
        found = self.fragment(table, requirement, bounds, alpha, random, lambda stage, done: progress(stage, 0.8 * done))
        progress("checking every group", 0.8)
        _require_kept(table, found.grouping, bounds)
        cuts = "tight" if requirement.against == "reader" else "safe"
        weaker = WEAKER_CLAIMS[self.name] if self.grouping == "paper" else None
        locality = "none" if self.grouping == "paper" else cuts
        terms = Terms(bounds, requirement, self, random, weaker, {"locality": locality}, program=self.grouping == "halves")
        release = self.show(table, found, terms)
        progress("done", 1.0)
        left_out = int((found.grouping.group < 0).sum())
        return Outcome(release, {**group_figures(found.grouping), **found.figures, "suppressed": left_out})


def _require_kept(table: Table, grouping: Grouping, bounds: Bounds) -> None:
    """Raise `ClaimBroken` unless every group keeps the bounds: the last look before publishing."""
    kept = grouping.group >= 0
    shown = histograms(grouping.group[kept], table.sensitive.codes[kept], len(bounds.values))
    require_bounds(shown, grouping.sizes, bounds.limits)
