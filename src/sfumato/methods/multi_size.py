"""`MultiSize`: blind groups of many sizes, whoever has which quasi values (F'-privacy's own)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.groups.blind import RoundRobin
from sfumato.groups.grouping import Grouping, canonical_order
from sfumato.groups.settings.feasible import Strategy
from sfumato.groups.settings.plan import STRATEGIES, plan
from sfumato.groups.settings.setting import Plan
from sfumato.groups.settings.two_size import SEARCHES, SizeSearch
from sfumato.methods.base import Method, Task, Way
from sfumato.parameters import choice, parameter, seconds, whole
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against
from sfumato.progress import silent


@dataclass(frozen=True, kw_only=True)
class MultiSize(Method):
    """Draw people at random into small groups of several sizes, so that no value exceeds its bound in any ([F' §3–5]).

    Parameters
    ----------
    strategy
        How a setting (how many groups of which sizes) is found, on counts that the release shows anyway, so that nobody learns
        from it: the provable ``"optimal"`` loss, the papers' ``"top-down"`` recursion, their ``"two-size"`` optimum, or
        ``"one-size"``.
    search
        How ``"two-size"`` and ``"top-down"`` look for the best pair of sizes, as the papers prune: ``"none"`` tries every pair of
        numbers, ``"loss"`` stops at the best loss so far, ``"full"`` goes straight to the first valid pair. All find the same.
    max_size
        M': the largest group of a setting. The bound holds for any; the smallest bounds need the largest groups.
    gap, time_limit
        ``"optimal"`` stops when its loss is proven to be within this relative gap of the best possible, or after so many seconds
        of processor time; a stop by the clock marks the release as not reproducible. No matter of privacy.
    form
        ``"buckets"``, or ``"ranges"``: since near people are not together, ranges are wide.

    Notes
    -----
    Everybody's belief sits at the bound, and analysts learn little: `Boxes` tell more and expose less at the same bound, wherever
    there is room for them.
    """

    strategy: Strategy = parameter("optimal", choice(*STRATEGIES))
    search: SizeSearch = parameter("full", choice(*SEARCHES), only={"strategy": ("two-size", "top-down")})
    max_size: int = parameter(50, whole(1))
    gap: float = parameter(1e-4, seconds)
    time_limit: float = parameter(30.0, seconds)
    form: Literal["buckets", "ranges"] = parameter("buckets", choice("buckets", "ranges"))

    name: ClassVar[str] = "multi-size"
    way: ClassVar[Way] = "setting"
    by_counts: ClassVar[bool] = True

    def sets_refused(self, against: Against) -> str:
        """Return why blind groups keep no bounds on sets."""
        return "blind groups are planned from counts of single values"

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer: drawing leaves every placement of a group's values equally likely."""
        return ("reader", "engineer")

    def group(self, task: Task) -> Grouping:
        """Return people drawn into the groups of the best setting found."""
        chosen = self.plan(task.bounds, task)
        numbers = np.array(chosen.setting.numbers, dtype=np.int64)
        allocation = np.array(chosen.allocation, dtype=np.int64)
        grouping = task.people.deal(task, RoundRobin(allocation, numbers, canonical_order(task.bounds)))
        return replace(grouping, figures=plan_figures(chosen), complete=chosen.complete)

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why ranges are for memory: what blind groups show lies all over the table."""
        if self.shown_as.as_ranges:
            return "beyond memory nothing puts together what blind groups show in this form", 'form = "buckets"'
        return None

    def plan(self, bounds: Bounds, task: Task | None = None) -> Plan:
        """Return the setting for these bounds."""
        tell = silent if task is None else task.progress
        tell("finding the group sizes", 0.0)
        chosen = plan(
            bounds,
            strategy=self.strategy,
            search=self.search,
            max_size=self.max_size,
            gap=self.gap,
            time_limit=self.time_limit,
        )
        tell("assigning people to groups", 0.4)
        return chosen


def plan_figures(chosen: Plan) -> dict[str, Any]:
    """Return what the receipt says of a setting: its loss, a proven lower bound, and the sizes used."""
    return {
        "strategy": chosen.strategy,
        "setting": [list(pair) for pair in chosen.setting.classes],
        "loss": chosen.loss,
        "loss_lower_bound": None if chosen.lower_bound is None else float(chosen.lower_bound),
        "gap": None if chosen.gap is None else float(chosen.gap),
        "search_complete": chosen.complete,
    }
