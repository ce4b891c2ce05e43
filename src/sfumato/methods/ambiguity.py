"""`Ambiguity`: quasi columns published apart, so that presence and association both stay uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import Infeasible, PolicyError
from sfumato.methods.base import require_whole
from sfumato.methods.fragmenting import Fragmented, Fragmenting
from sfumato.methods.show_columns import show_as_columns
from sfumato.methods.show_fragments import Terms
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Ambiguity(Fragmenting):
    """Publish every quasi column in a table of its own, with the group of each value, and per group the sensitive values.

    Parameters
    ----------
    grouping
        ``"boxes"``: disjoint boxes of quasi space, each covering enough combinations of values for α. At most one group covers
        a person, so the bound on presence is one on what a stranger believes. ``"paper"``: small groups scattered over quasi
        space, as published and made complete; each keeps α by itself, but many cover a person.
    floor
        Boxes hold at least so many people. Larger boxes answer worse, and rule out fewer outsiders.
    weights
        How much a column counts when boxes are cut: a wide column with a large weight is cut first.
    suppress
        For ``"paper"``: leave out people whom no group can take, instead of refusing.
    accept_weaker_claim
        Must be true for ``"paper"``, whose release states the paper's claim per group and none about a reader.

    Notes
    -----
    α holds against a *stranger*, who does not know who else is in the table. Whoever can rerun the cuts on everybody's quasi
    values knows who is in it anyway. That a person is certainly absent, because no group covers her values, is not bounded.
    """

    floor: int = 2
    weights: Mapping[str, float] | None = None

    name: ClassVar[str] = "ambiguity"
    form: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("Ambiguity", "floor", self.floor, 1)
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise PolicyError(f"Ambiguity(weights=…): expected column = weight pairs, got {self.weights!r}")
        self.require_used("boxes", ("floor", "weights"), "scattered groups")

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer for boxes; nobody for groups as published."""
        return ("reader", "engineer") if self.grouping == "boxes" else ()

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds that a release of this table keeps; where they and α cannot be kept, the error names both."""
        from sfumato.groups.fragments.cover import require_presence

        try:
            return super().bounds(table, requirement)
        except Infeasible as values:
            if self.grouping == "boxes" and requirement.presence is not None:
                try:
                    require_presence(table.quasi, table.rows, requirement.presence, bounded=True)
                except Infeasible as presence:
                    raise _both(values, presence) from None
            raise

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values."""
        document = super().to_dict()
        if self.weights is not None:
            document["weights"] = dict(self.weights)
        return document

    def fragment(
        self, table: Table, requirement: Requirement, bounds: Bounds, alpha: Fraction, random: Randomness, progress: Progress
    ) -> Fragmented:
        """Return boxes, or scattered groups with the numbers of residues and merges."""
        from sfumato.groups.fragments.boxes import presence_boxes
        from sfumato.groups.fragments.scattered import scattered_groups

        codes = table.sensitive.codes
        if self.grouping == "boxes":
            boxes = presence_boxes(
                table.quasi,
                codes,
                bounds,
                alpha,
                tight=requirement.against == "reader",
                floor=self.floor,
                weights=self.weights,
                progress=progress,
            )
            return Fragmented(boxes)
        found = scattered_groups(table.quasi, codes, bounds, alpha, suppress=self.suppress, progress=progress)
        return Fragmented(found.grouping, {"residues": found.residues, "merged": found.merged})

    def show(self, table: Table, found: Fragmented, terms: Terms) -> Release:
        """Return the values of every group, column by column."""
        return show_as_columns(table, found.grouping, terms)


def _both(values: Infeasible, presence: Infeasible) -> Infeasible:
    """Return one error for bounds on values and on presence neither of which can be kept."""
    return Infeasible(
        f"{values.message}. Besides, {presence.message}",
        hint=f"{values.hint}; and {presence.hint}",
        values=values.values,
        has=values.has,
        needs=values.needs,
        nearest={**presence.nearest, **values.nearest},
    )
