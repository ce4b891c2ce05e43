"""`Mondrian`: the classical baseline of generalization, under any per-value bounds and the classical constraints."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

from sfumato.errors import PolicyError
from sfumato.exact import Number, exact
from sfumato.groups.mondrian import Constraint, Kind, mondrian
from sfumato.methods.base import Method, Outcome, require_choice, require_whole
from sfumato.methods.grouped import FORMS, Form, group_figures, require_names_for, show_groups
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.table.table import Table

_USED_BY: dict[str, tuple[str, ...]] = {
    "l": ("distinct", "entropy", "recursive"),
    "c": ("recursive",),
    "t": ("t-closeness",),
    "distance": ("t-closeness",),
}


@dataclass(frozen=True, kw_only=True)
class Mondrian(Method):
    """Cut quasi space at medians as long as both sides keep the bounds and a classical constraint (LeFevre et al., ICDE 2006).

    Parameters
    ----------
    partition
        ``"strict"``: people with equal values stay together, so boxes are disjoint. ``"relaxed"``: people at the median are
        divided at random, so that halves differ by at most one person and boxes may touch.
    constraint
        What every group satisfies beside the requirement's bounds, which it always keeps: nothing more (``"bounds"``),
        ``"distinct"``, ``"entropy"`` or ``"recursive"`` ℓ-diversity, or ``"t-closeness"``.
    k
        The smallest group.
    l, c
        ℓ of the three diversities; c of recursive (c, ℓ)-diversity.
    t, distance
        The largest distance of a group's shares from the table's, values being ``"equal"``-ly far apart (the default) or
        ``"ordered"``, which needs one numeric, date or binned sensitive column.
    form
        Groups shown as ``"ranges"`` and value sets, as the paper does, or as ``"buckets"`` with exact quasi values.

    Notes
    -----
    The cut is the allowable one nearest the median, not the median or nothing: 1,1,5,5,5,5,5 with k = 2 becomes 2|5. Categories
    are cut into value sets, in the engine's order of categories, and a column's width is its span in that order. A refused cut
    tells something to a reader who reruns the program, so the claim is a reader's. Only the bounds are claimed: the constraint
    is kept in every group, but k-anonymity and its like promise nothing about belief in a single value, and a release
    whose bounds are all 1 says so.
    """

    partition: Literal["strict", "relaxed"] = "strict"
    constraint: Kind = "bounds"
    k: int = 1
    l: int | None = None  # noqa: E741  (the models' own letter)
    c: Number | None = None
    t: Number | None = None
    distance: Literal["equal", "ordered"] | None = None
    form: Form = "ranges"

    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        require_choice("Mondrian", "partition", self.partition, ("strict", "relaxed"))
        require_choice("Mondrian", "constraint", self.constraint, get_args(Kind))
        require_choice("Mondrian", "form", self.form, FORMS)
        require_whole("Mondrian", "k", self.k, 1)
        if self.constraint == "t-closeness" and self.distance is None:
            object.__setattr__(self, "distance", "equal")
        for parameter, users in _USED_BY.items():
            self._require_used(parameter, users)
        if self.l is not None:
            require_whole("Mondrian", "l", self.l, 1)
        if self.distance is not None:
            require_choice("Mondrian", "distance", self.distance, ("equal", "ordered"))
        if self.c is not None:
            object.__setattr__(self, "c", exact(self.c, "Mondrian(c=…)"))
            if Fraction(self.c) <= 0:
                raise PolicyError(f"Mondrian(c=…): expected a number above 0, got {self.c}")
        if self.t is not None:
            object.__setattr__(self, "t", exact(self.t, "Mondrian(t=…)"))
            if not 0 <= Fraction(self.t) <= 1:
                raise PolicyError(f"Mondrian(t=…): expected a distance from 0 to 1, got {self.t}")

    def _require_used(self, parameter: str, users: tuple[str, ...]) -> None:
        """Raise `PolicyError` where the constraint lacks a parameter that it needs, or has one that it would ignore."""
        given = getattr(self, parameter) is not None
        if given and self.constraint not in users:
            raise PolicyError(
                f"Mondrian({parameter}=…): the constraint {self.constraint!r} does not use it",
                hint=f"leave it out, or set constraint = {' or '.join(map(repr, users))}",
            )
        if not given and self.constraint in users:
            raise PolicyError(f"Mondrian(constraint={self.constraint!r}) needs {parameter}", hint=f"add {parameter} = …")

    def proves(self) -> tuple[Against, ...]:
        """Return reader: a refused cut tells something to a reader who reruns the program."""
        return ("reader",)

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values, rationals as text."""
        return {name: str(value) if isinstance(value, Fraction) else value for name, value in super().to_dict().items()}

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures are numbers and sizes of groups."""
        require_names_for(table, self.form)
        bounds = requirement.bounds(table.sensitive.histogram())
        if not bounds.protects and self.k == 1 and self.constraint == "bounds":
            raise PolicyError(
                "nothing to keep: every sensitive value has a bound of 1, and k is 1",
                hint="lower the bounds, or set k or a constraint",
            )
        if self.distance == "ordered":
            _require_order(table)
        grouping = mondrian(
            table.quasi,
            table.sensitive.codes,
            bounds,
            constraint=self._constraint(),
            k=self.k,
            relaxed=self.partition == "relaxed",
            progress=lambda stage, done: progress(stage, 0.8 * done),
        )
        progress("checking every group", 0.8)
        release = show_groups(
            table,
            grouping,
            self.form,
            bounds=bounds,
            requirement=requirement,
            method=self,
            random=random,
            parameters={} if bounds.protects else {"note": _note(self.constraint)},
        )
        progress("done", 1.0)
        return Outcome(release, group_figures(grouping))

    def _constraint(self) -> Constraint:
        return Constraint(self.constraint, self.l or 1, Fraction(self.c or 0), Fraction(self.t or 0), self.distance or "equal")


def _note(constraint: Kind) -> str:
    """Return what a release says whose bounds are all 1."""
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"


def _require_order(table: Table) -> None:
    """Raise `PolicyError` where the sensitive values have no order that means something."""
    domain = table.sensitive.domain
    ordered = len(domain.names) == 1 and (domain.kinds[0] != "categorical" or table.schema.bins_of(domain.names[0]) is not None)
    if not ordered or domain.table.column(0).null_count:
        raise PolicyError(
            "Mondrian(distance='ordered') needs one sensitive column of numbers, dates or bins, without missing values",
            hint="use distance = 'equal'",
        )
