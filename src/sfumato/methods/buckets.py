"""`Buckets`: buckets of many sizes that keep any per-value bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError
from sfumato.groups.blind import assign_blindly
from sfumato.groups.decoys import assign_with_decoys
from sfumato.groups.grouping import canonical_order, histograms, require_bounds
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.setting import Plan
from sfumato.methods.base import Method, Outcome, require_choice, require_whole
from sfumato.methods.forms import require_free_names, show_as_buckets
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Buckets(Method):
    """Put people into buckets of up to `max_size`, blindly, so that no value exceeds its bound in any bucket ([F' §3–5]).

    Parameters
    ----------
    strategy
        How the setting (how many buckets of which sizes) is found, on counts only: the provable ``"optimal"`` loss, the papers'
        ``"top-down"`` recursion, their ``"two-size"`` optimum, or ``"one-size"``.
    max_size
        M': the largest bucket.
    gap, time_limit
        ``"optimal"`` stops when its loss is proven to be within this relative gap of the best possible, or after so many seconds;
        a stop by the clock marks the release as not reproducible.
    decoys
        σ: sensitive values per bucket that belong to nobody. Measured in the receipt, never claimed; needs every value at most
        once in a bucket.
    guard_decoys
        Exchange decoys that an association learned from the release would give away. It looks at quasi values, so the claim
        then holds against a reader only.
    locality
        ``"none"``: who shares a bucket does not depend on quasi values.

    Notes
    -----
    Every setting is validated by a flow before it is used, and every bucket is checked in integers before it is published.
    """

    strategy: Literal["optimal", "top-down", "two-size", "one-size"] = "optimal"
    max_size: int = 50
    gap: float = 1e-4
    time_limit: float = 30.0
    decoys: int = 0
    guard_decoys: bool = False
    locality: Literal["none"] = "none"

    name: ClassVar[str] = "buckets"

    def __post_init__(self) -> None:
        require_choice("Buckets", "strategy", self.strategy, ("optimal", "top-down", "two-size", "one-size"))
        require_choice("Buckets", "locality", self.locality, ("none",))
        require_whole("Buckets", "max_size", self.max_size, 1)
        require_whole("Buckets", "decoys", self.decoys, 0)
        if not isinstance(self.guard_decoys, bool) or (self.guard_decoys and not self.decoys):
            raise PolicyError(
                f"Buckets(guard_decoys=…): expected true or false, and true only with decoys, got {self.guard_decoys!r}"
            )
        for name in ("gap", "time_limit"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise PolicyError(f"Buckets({name}=…): expected a number from 0 on, got {value!r}")

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer: blind assignment leaves every placement in a bucket equally likely."""
        return ("reader",) if self.guard_decoys else ("reader", "engineer")

    def run(
        self,
        table: Table,
        requirement: Requirement,
        *,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Return the release, with the loss, its proven lower bound and the sizes used as private figures."""
        self.require_provable(table, requirement)
        require_free_names(table)
        tell = progress or silent
        coins = randomness(random)
        bounds = requirement.bounds(table.sensitive.histogram())
        tell("finding the bucket sizes", 0.0)
        chosen = plan(
            bounds,
            strategy=self.strategy,
            max_size=self.max_size,
            gap=self.gap,
            time_limit=self.time_limit,
            once=self.decoys > 0,
        )
        tell("assigning people to buckets", 0.4)
        codes = table.sensitive.codes
        numbers = np.array(chosen.setting.numbers, dtype=np.int64)
        order = canonical_order(bounds)
        private = _figures(chosen)
        if self.decoys:
            result = assign_with_decoys(table.quasi, codes, chosen, bounds, self.decoys, coins, guarded=self.guard_decoys)
            grouping, shown = result.grouping, result.shown
            private["decoys"] = result.measured
        else:
            grouping = assign_blindly(codes, chosen.allocation, numbers, order, coins)
            shown = histograms(grouping.group, codes, len(bounds.values))
        tell("checking every bucket", 0.8)
        real = histograms(grouping.group, codes, len(bounds.values)) if self.decoys else shown
        require_bounds(real, grouping.sizes, bounds.limits)
        release = show_as_buckets(
            table,
            grouping,
            shown,
            bounds=None if self.decoys else bounds,
            requirement=requirement,
            method=self,
            random=coins,
            complete=chosen.complete,
            decoys=self.decoys,
        )
        tell("done", 1.0)
        return Outcome(release, private)


def _figures(chosen: Plan) -> dict[str, Any]:
    return {
        "strategy": chosen.strategy,
        "setting": [list(pair) for pair in chosen.setting.classes],
        "loss": chosen.loss,
        "loss_lower_bound": None if chosen.lower_bound is None else float(chosen.lower_bound),
        "gap": None if chosen.gap is None else float(chosen.gap),
        "search_complete": chosen.complete,
    }
