"""`Decoys`: blind buckets with values that belong to nobody, as the papers propose them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.groups.grouping import Grouping
from sfumato.groups.settings.plan import plan
from sfumato.methods.base import Method, Task
from sfumato.methods.multi_size import plan_figures
from sfumato.papers.decoys.decoys import assign_with_decoys
from sfumato.parameters import flag, parameter, seconds, whole
from sfumato.privacy.requirement import Against


@dataclass(frozen=True, kw_only=True)
class Decoys(Method):
    """Blind buckets that each show σ sensitive values more than they have people ([F' §6]).

    Parameters
    ----------
    decoys
        σ: values per bucket that belong to nobody, meant for an insider who knows bucket mates: measured in the receipt, never
        claimed. Every value occurs at most once in a bucket.
    guard
        Exchange decoys that an association learned from the release would give away. It looks at quasi values, so the claim then
        holds against a reader only.
    max_size, gap, time_limit
        As for `MultiSize`.
    """

    decoys: int = parameter(1, whole(1))
    guard: bool = parameter(False, flag)
    max_size: int = parameter(50, whole(1))
    gap: float = parameter(1e-4, seconds)
    time_limit: float = parameter(30.0, seconds)

    name: ClassVar[str] = "decoys"

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; only reader where decoys are guarded."""
        return ("reader",) if self.guard else ("reader", "engineer")

    def group(self, task: Task) -> Grouping:
        """Return people drawn into buckets, what each bucket shows, and how well an adversary does against it."""
        task.progress("finding the group sizes", 0.0)
        chosen = plan(
            task.bounds, strategy="optimal", max_size=self.max_size, gap=self.gap, time_limit=self.time_limit, once=True
        )
        task.progress("assigning people to groups", 0.4)
        grouping = assign_with_decoys(task.quasi, task.codes, chosen, task.bounds, self.decoys, task.random, guarded=self.guard)
        return replace(grouping, figures={**plan_figures(chosen), **grouping.figures}, complete=chosen.complete)
