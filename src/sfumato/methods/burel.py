"""`BuReL`: the classical baseline of β-likeness by generalization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from sfumato.groups.burel import BucketPacking, Fill, burel_groups, plan_burel
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method, Task
from sfumato.parameters import choice, parameter, whole
from sfumato.privacy.requirement import Against

CANDIDATES = 200


@dataclass(frozen=True, kw_only=True)
class BuReL(Method):
    """Pack values into buckets, draw every group from all buckets in proportion, nearest people first (Cao and Karras, 2012).

    Parameters
    ----------
    packing
        ``"roomy"``: value buckets with room to halve groups further, the best of several tries on counts. ``"fewest"``: the
        paper's, as few buckets as possible.
    fill
        ``"near"``: people whose joining widens a group least, among `candidates`. ``"hilbert"``: the paper's, those nearest to
        a random person on a Hilbert curve.
    candidates
        How many people of a bucket `fill="near"` looks at for each place; 200 by default. More is slower and narrower.
    form
        ``"ranges"``, or ``"buckets"`` with exact quasi values.

    Notes
    -----
    Made for β-likeness, basic and enhanced, but any per-value bounds are kept: values are packed by bound instead of share. All
    is decided in integers, and every group is checked against the definition in the end. Groups depend on who has which value,
    which tells something to a reader who reruns the program, so the claim is a reader's.
    """

    packing: BucketPacking = parameter("roomy", choice("roomy", "fewest"))
    fill: Fill = parameter("near", choice("near", "hilbert"))
    candidates: int | None = parameter(None, whole(1), only={"fill": ("near",)})
    form: Literal["ranges", "buckets"] = parameter("ranges", choice("ranges", "buckets"))

    name: ClassVar[str] = "burel"

    def proves(self) -> tuple[Against, ...]:
        """Return reader: who shares a group depends on who has which value."""
        return ("reader",)

    def group(self, task: Task) -> Grouping:
        """Return the groups; the private figures are the number of value buckets."""
        task.progress("packing values", 0.0)
        plan = plan_burel(task.bounds, self.packing)
        grouping = burel_groups(
            task.quasi,
            task.codes,
            plan,
            fill=self.fill,
            candidates=self.candidates or CANDIDATES,
            random=task.random,
            progress=task.part(0.1, 0.8),
        )
        return replace(grouping, figures={"value_buckets": len(plan.buckets)})
