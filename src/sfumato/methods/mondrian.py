"""`Mondrian`: the classical baseline of generalization, under any per-value bounds and the classical constraints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.groups.cuts import Cuts
from sfumato.groups.grouping import Grouping
from sfumato.groups.mondrian import Constraint, ConstraintName, classical, mondrian
from sfumato.methods.base import Method, Task
from sfumato.parameters import choice, parameter, rational, whole
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.table.table import Table

_DIVERSE = {"constraint": ("distinct", "entropy", "recursive")}
_RECURSIVE = {"constraint": ("recursive",)}
_CLOSE = {"constraint": ("t-closeness",)}


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

    partition: Literal["strict", "relaxed"] = parameter("strict", choice("strict", "relaxed"))
    constraint: ConstraintName = parameter("bounds", choice(*get_args(ConstraintName)))
    k: int = parameter(1, whole(1))
    l: int | None = parameter(None, whole(1), only=_DIVERSE)
    c: Number | None = parameter(None, rational("a number above 0", above=0), only=_RECURSIVE)
    t: Number | None = parameter(None, rational("a distance from 0 to 1", least=0, most=1), only=_CLOSE)
    distance: Literal["equal", "ordered"] | None = parameter(None, choice("equal", "ordered"), only=_CLOSE)
    form: Literal["ranges", "buckets"] = parameter("ranges", choice("ranges", "buckets"))

    name: ClassVar[str] = "mondrian"
    slow: ClassVar[bool] = True
    tosses_when_tight: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constraint == "t-closeness" and self.distance is None:
            object.__setattr__(self, "distance", "equal")
        for name, users in (("l", _DIVERSE), ("c", _RECURSIVE), ("t", _CLOSE)):
            if self.constraint in users["constraint"] and getattr(self, name) is None:
                raise PolicyError(f"Mondrian(constraint={self.constraint!r}) needs {name}", hint=f"add {name} = …")

    def proves(self) -> tuple[Against, ...]:
        """Return reader: a refused cut tells something to a reader who reruns the program."""
        return ("reader",)

    def require_something_to_keep(self, bounds: Bounds, requirement: Requirement) -> None:
        """Raise `PolicyError` where every value has a bound of 1, and there is no k and no constraint either."""
        if self.k == 1 and self.constraint == "bounds":
            super().require_something_to_keep(bounds, requirement)

    def group(self, task: Task) -> Grouping:
        """Return the groups."""
        if self.engines_refused(task.against) is None:
            grouping = task.people.cut(
                task, Cuts("tight", self.k, classical=classical(task.bounds, constraint=self.groups_keep, k=self.k))
            )
        else:
            codes, bounds = _in_order(task) if self.distance == "ordered" else (task.codes, task.bounds)
            relaxed, progress = self.partition == "relaxed", task.part(0.0, 0.8)
            how = {"constraint": self.groups_keep, "k": self.k, "relaxed": relaxed, "progress": progress}
            grouping = mondrian(task.quasi, codes, bounds, **how)  # type: ignore[arg-type]
        return replace(grouping, public=self.said(task.bounds))

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why relaxed cuts, and constraints that are compared size by size, are for memory."""
        if self.partition == "relaxed":
            return "people at a median are divided in an order of coins of all rows", 'partition = "strict"'
        if self.constraint in ("recursive", "t-closeness"):
            return "what groups are compared with has a number for every size that a group could have", 'constraint = "bounds"'
        return None

    def said(self, bounds: Bounds) -> dict[str, str]:
        """Return what a release says of itself whose bounds are all 1."""
        return {} if bounds.protects else {"note": _note(self.constraint)}

    @property
    def groups_keep(self) -> Constraint:
        """What every group satisfies beside its bounds."""
        return Constraint(self.constraint, self.l or 1, Fraction(self.c or 0), Fraction(self.t or 0), self.distance or "equal")


def _note(constraint: ConstraintName) -> str:
    """Return what a release says whose bounds are all 1."""
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"


def _in_order(task: Task) -> tuple[Array, Bounds]:
    """Return codes and bounds in the order of the numbers that values stand for: bins are listed as texts are."""
    _require_order(task.table)
    bounds, bins = task.bounds, task.table.schema.bins_in_order()
    if not bins:
        return task.codes, bounds
    order = sorted(range(len(bounds.values)), key=lambda place: bins.index(bounds.values[place]))
    values, counts = tuple(bounds.values[place] for place in order), tuple(bounds.counts[place] for place in order)
    return np.argsort(order)[task.codes], Bounds.of(values, counts, tuple(bounds.limits[place] for place in order))


def _require_order(table: Table) -> None:
    """Raise `PolicyError` where the sensitive values have no order that means something."""
    domain = table.sensitive.domain
    ordered = len(domain.names) == 1 and (domain.kinds[0] != "categorical" or table.schema.bins_of(domain.names[0]) is not None)
    if not ordered or domain.table.column(0).null_count:
        raise PolicyError(
            "Mondrian(distance='ordered') needs one sensitive column of numbers, dates or bins, without missing values",
            hint="use distance = 'equal'",
        )
