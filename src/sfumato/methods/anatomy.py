"""`Anatomy`: the classical baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import PolicyError
from sfumato.groups.anatomy import AnatomySlots, assign_by_anatomy, excess, too_frequent
from sfumato.groups.grouping import Grouping, canonical_order
from sfumato.methods.base import Method, Task, Way
from sfumato.parameters import flag, parameter, whole
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against
from sfumato.randomness import Randomness

_LARGEST = (
    'the largest possible group size for this table is {}; use method "multi-size", which gives each value its own bound, or '
    'suppress = true with against = "reader"'
)


@dataclass(frozen=True, kw_only=True)
class Anatomy(Method):
    """Groups of ℓ people (a few have more) with different sensitive values (Xiao and Tao, VLDB 2006).

    Parameters
    ----------
    l
        Group size; by default the smallest that keeps the requirement, ⌈1 / smallest bound⌉.
    suppress
        Leave out as many people of the too frequent values as stand in the way of ℓ-diversity. Off by default: whoever is missing
        from the release then has a frequent value, so the claim holds against a reader only.
    """

    l: int | None = parameter(None, whole(1))
    suppress: bool = parameter(False, flag)

    name: ClassVar[str] = "anatomy"
    way: ClassVar[Way] = "distinct"
    by_counts: ClassVar[bool] = True

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; only reader when people may be suppressed."""
        return ("reader",) if self.suppress else ("reader", "engineer")

    def group(self, task: Task) -> Grouping:
        """Return Anatomy's groups; the private figures say how many people of which values were suppressed."""
        bounds = task.bounds
        size, removed = self.sizes(bounds)
        counts = np.array(bounds.counts, dtype=np.int64)
        task.progress("forming groups", 0.1)
        if not self.suppress:
            shelves = task.people.shelves(len(counts))
            slots = AnatomySlots(counts, size, canonical_order(bounds), task.random, shelves)
            return replace(task.people.deal(task, slots), figures={"l": size, "suppressed": {}})
        kept = _keep(task.codes, removed, task.random)
        left = Bounds.of(bounds.values, tuple(int(c) for c in counts - removed), bounds.limits)
        grouping = assign_by_anatomy(task.codes[kept], counts - removed, size, canonical_order(left), task.random)
        group = np.full(task.table.rows, -1, np.int32)
        group[kept] = grouping.group
        suppressed = {value: int(count) for value, count in zip(bounds.values, removed, strict=True) if count}
        return replace(grouping, group=group, figures={"l": size, "suppressed": suppressed})

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why people are left out in memory only."""
        return ("who is left out is drawn from all people of a value", "suppress = false") if self.suppress else None

    def sizes(self, bounds: Bounds) -> tuple[int, Integers]:
        """Return the size of groups, and how many people of each value stand in their way."""
        size = self.l or max(bounds.needs)
        if size < max(bounds.needs):
            raise PolicyError(
                f"Anatomy(l={size}) cannot keep a bound of {min(bounds.limits)}: its groups of {size} show every value once",
                hint=f"l = {max(bounds.needs)} or more, or leave l out",
            )
        removed = np.array(excess(bounds.counts, size), dtype=np.int64)
        if (removed.any() and not self.suppress) or bounds.people - int(removed.sum()) < size:
            most = max(range(len(bounds.counts)), key=bounds.counts.__getitem__)
            raise too_frequent(bounds, most, size, f"Anatomy with groups of {size}", _LARGEST)
        return size, removed


def _keep(codes: Any, removed: Any, random: Randomness) -> Any:
    """Return the rows that stay: of each value a uniformly drawn set of `removed[value]` rows goes."""
    shuffled = random.permutation(len(codes))
    by_value = shuffled[np.argsort(codes[shuffled], kind="stable")]
    start = np.cumsum(np.bincount(codes, minlength=len(removed))) - np.bincount(codes, minlength=len(removed))
    rank = np.arange(len(codes)) - start[codes[by_value]]
    return np.sort(by_value[rank >= removed[codes[by_value]]])
