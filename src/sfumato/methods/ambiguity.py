"""`Ambiguity`: quasi columns published apart, so that presence and association both stay uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import Infeasible
from sfumato.groups.cuts import Cuts
from sfumato.groups.fragments.cover import PresenceRule, require_presence
from sfumato.groups.fragments.halves import half_boxes
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import MOST_PATIENCE
from sfumato.methods.base import Method, Task
from sfumato.parameters import choice, flag, parameter, weights, whole
from sfumato.plugins import grouping, require_grouping
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Ambiguity(Method):
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
    patience
        κ of soft cuts, for ``"boxes"`` against an engineer, as in `Boxes`; 0 for safe cuts only. Halves are always cut safely.
    suppress
        For ``"paper"``: leave out people whom no group can take, instead of refusing.
    pick
        For ``"paper"``, how people are picked for a group: ``"sampled"``, at random within a value, and the best of 32 to extend
        it; or ``"greedy"``, the paper's own (its Fig. 7), the person of each value who covers most values that the group has not:
        it uses up the diverse people first, leaves more residues and takes quadratic time.
    accept_weaker_claim
        Must be true for ``"paper"``, whose release states the paper's claim per group and none about a reader.

    Notes
    -----
    α holds against a *stranger*, who does not know who else is in the table. With ``"boxes"`` she must not know the program
    either: which cuts it did not make rules out some of the tables that fit the release, and she may become certain of a person
    (`tests/papers/test_004_program.py`). Whoever knows everybody's quasi values knows who is in the table anyway. That a person
    is certainly absent, because no group covers her values, is not bounded.
    """

    grouping: Literal["boxes", "halves", "paper"] = parameter("boxes", choice("boxes", "halves", "paper"))
    floor: int = parameter(2, whole(1), only={"grouping": ("boxes", "halves")})
    weights: Mapping[str, float] | None = parameter(None, weights(), only={"grouping": ("boxes", "halves")})
    patience: int | None = parameter(None, whole(0, MOST_PATIENCE), only={"grouping": ("boxes",)})
    suppress: bool = parameter(False, flag, only={"grouping": ("paper",)})
    pick: Literal["sampled", "greedy"] = parameter("sampled", choice("sampled", "greedy"), only={"grouping": ("paper",)})
    accept_weaker_claim: bool = parameter(False, flag, only={"grouping": ("paper",)})

    name: ClassVar[str] = "ambiguity"
    form: ClassVar[str] = "columns"
    hides_presence: ClassVar[bool] = True
    unproven: ClassVar[str] = "it bounds what one group tells, and several may cover a person"
    instead: ClassVar[str] = 'grouping = "boxes"'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grouping == "paper":
            require_grouping(self.name)

    def sets_refused(self, against: Against) -> str:
        """Return why groups as published keep no bounds on sets; nothing for boxes."""
        return "as published, groups bound single values" if self.grouping == "paper" else ""

    def each_refused(self, against: Against) -> str:
        """Return why groups as published protect one attribute only; nothing for boxes."""
        return "as published, groups bound one value of each person" if self.grouping == "paper" else ""

    def bundles_refused(self, against: Against) -> str:
        """Return that the tables of columns have no place for how many people a group has, where values do not say it."""
        return (
            "belief in presence rests on how many people a group has, which its columns show only by one value of each; with "
            "several values a person that number is not shown"
        )

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer for boxes of both kinds, only engineer with patience; nobody for groups as published."""
        if self.grouping == "paper":
            return ()
        return ("reader", "engineer") if self.patience is None else ("engineer",)

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds that a release of this table keeps; where they and α cannot be kept, the error names both."""
        try:
            return super().bounds(table, requirement)
        except Infeasible as values:
            if self.grouping != "paper" and requirement.presence is not None:
                try:
                    require_presence(table.quasi, table.rows, requirement.presence, bounded=True)
                except Infeasible as presence:
                    raise _both(values, presence) from None
            raise

    def group(self, task: Task) -> Grouping:
        """Return boxes, or scattered groups with the numbers of residues and merges."""
        alpha, progress = Fraction(task.requirement.presence or 1), task.part(0.0, 0.8)
        if self.grouping == "paper":
            people, greedy = (task.quasi, task.codes, task.bounds, alpha), self.pick == "greedy"
            made: Grouping = grouping(self.name)(*people, suppress=self.suppress, greedy=greedy, progress=progress)
            return made
        if self.grouping == "halves":
            rule = PresenceRule(alpha, task.against == "reader", self.floor, self.weights)
            return half_boxes(task.quasi, task.secrets, task.bounds, rule, progress=progress)
        covered = prod(int(np.count_nonzero(counts)) for counts in task.people.code_counts())
        require_presence(task.quasi, task.table.rows, alpha, bounded=task.bounds.protects, covered=covered)
        own: dict[str, Any] = {"floor": self.floor, "weights": self.weights, "patience": self.patience, "alpha": alpha}
        return task.people.cut(task, Cuts.against(task.against, task.bounds, **own))

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why only boxes of the first kind are cut by counting."""
        if self.grouping == "boxes":
            return None
        return (
            "the values that its groups show decide about the next ones, and beyond memory first cuts are decided by counts",
            'grouping = "boxes"',
        )


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
