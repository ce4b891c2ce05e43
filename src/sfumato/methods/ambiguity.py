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
        a person, so the bound on presence is one on what a stranger believes who does not know how boxes are cut. ``"halves"``:
        boxes of which only one cut is tried, into equal halves of the values of one column. α then holds also against a stranger
        who knows the program; boxes are fewer and larger. ``"paper"``: small groups scattered over quasi space, as published and
        made complete; each keeps α by itself, but many cover a person.
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
    α holds against a *stranger*, who does not know who else is in the table. With ``"boxes"`` she must not know the program
    either: which cuts it did not make rules out some of the tables that fit the release, and she may become certain of a person
    (`tests/papers/test_004_program.py`). Whoever knows everybody's quasi values knows who is in the table anyway. That a person
    is certainly absent, because no group covers her values, is not bounded.
    """

    floor: int = 2
    weights: Mapping[str, float] | None = None

    name: ClassVar[str] = "ambiguity"
    form: ClassVar[str] = "columns"
    groupings: ClassVar[tuple[str, ...]] = ("boxes", "halves", "paper")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("Ambiguity", "floor", self.floor, 1)
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise PolicyError(f"Ambiguity(weights=…): expected column = weight pairs, got {self.weights!r}")
        if self.grouping == "paper":
            self.require_used("boxes", ("floor", "weights"), "scattered groups")

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer for boxes of both kinds; nobody for groups as published."""
        return () if self.grouping == "paper" else ("reader", "engineer")

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds that a release of this table keeps; where they and α cannot be kept, the error names both."""
        from sfumato.groups.fragments.cover import require_presence

        try:
            return super().bounds(table, requirement)
        except Infeasible as values:
            if self.grouping != "paper" and requirement.presence is not None:
                try:
                    require_presence(table.quasi, table.rows, requirement.presence, bounded=True)
                except Infeasible as presence:
                    raise _both(values, presence) from None
            raise

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values."""
        document = super().to_dict()
        if self.weights is not None:
            document["weights"] = dict(self.weights) or None
        return document

    def fragment(
        self, table: Table, requirement: Requirement, bounds: Bounds, alpha: Fraction, random: Randomness, progress: Progress
    ) -> Fragmented:
        """Return boxes, or scattered groups with the numbers of residues and merges."""
        from sfumato.groups.fragments.boxes import presence_boxes
        from sfumato.groups.fragments.halves import half_boxes
        from sfumato.papers.overlapping.scattered import scattered_groups

        codes, tight = table.sensitive.codes, requirement.against == "reader"
        options: dict[str, Any] = {"tight": tight, "floor": self.floor, "weights": self.weights, "progress": progress}
        if self.grouping == "boxes":
            return Fragmented(presence_boxes(table.quasi, codes, bounds, alpha, **options))
        if self.grouping == "halves":
            return Fragmented(half_boxes(table.quasi, codes, bounds, alpha, **options))
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
