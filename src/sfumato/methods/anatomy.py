"""`Anatomy`: the classical baseline."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import percent
from sfumato.groups.anatomy import assign_by_anatomy, excess
from sfumato.groups.grouping import Grouping, canonical_order, histograms, require_bounds
from sfumato.methods.base import Method, Outcome, require_whole
from sfumato.methods.forms import require_free_names, show_as_buckets
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.table.table import Table


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

    l: int | None = None  # noqa: E741
    suppress: bool = False

    name: ClassVar[str] = "anatomy"

    def __post_init__(self) -> None:
        if self.l is not None:
            require_whole("Anatomy", "l", self.l, 1)
        if not isinstance(self.suppress, bool):
            raise PolicyError(f"Anatomy(suppress=…): expected true or false, got {self.suppress!r}")

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; only reader when people may be suppressed."""
        return ("reader",) if self.suppress else ("reader", "engineer")

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures say how many people of which values were suppressed."""
        require_free_names(table)
        bounds = requirement.bounds(table.sensitive.histogram())
        size = self.l or max(bounds.needs)
        if size < max(bounds.needs):
            raise PolicyError(
                f"Anatomy(l={size}) cannot keep a bound of {min(bounds.limits)}: its groups of {size} show every value once",
                hint=f"l = {max(bounds.needs)} or more, or leave l out",
            )
        counts = np.array(bounds.counts, dtype=np.int64)
        removed = np.array(excess(bounds.counts, size), dtype=np.int64)
        if removed.any() and not self.suppress:
            raise _not_eligible(bounds, size)
        progress("forming groups", 0.1)
        kept = _keep(table.sensitive.codes, removed, random)
        if len(kept) < size:
            raise _not_eligible(bounds, size)
        left = Bounds(bounds.values, tuple(int(c) for c in counts - removed), bounds.limits)
        found = assign_by_anatomy(table.sensitive.codes[kept], counts - removed, size, canonical_order(left), random)
        group = np.full(table.rows, -1, np.int32)
        group[kept] = found.group
        grouping = Grouping(group, found.groups)
        progress("checking every group", 0.8)
        shown = histograms(found.group, table.sensitive.codes[kept], len(bounds.values))
        require_bounds(shown, grouping.sizes, bounds.limits)
        release = show_as_buckets(
            table,
            grouping,
            shown,
            bounds=None if removed.any() else bounds,
            requirement=requirement,
            method=self,
            random=random,
            suppression=bool(removed.any()),
        )
        progress("done", 1.0)
        return Outcome(release, _figures(bounds, size, removed, grouping))


def _keep(codes: Any, removed: Any, random: Randomness) -> Any:
    """Return the rows that stay: of each value a uniformly drawn set of `removed[value]` rows goes."""
    shuffled = random.permutation(len(codes))
    by_value = shuffled[np.argsort(codes[shuffled], kind="stable")]
    start = np.cumsum(np.bincount(codes, minlength=len(removed))) - np.bincount(codes, minlength=len(removed))
    rank = np.arange(len(codes)) - start[codes[by_value]]
    return np.sort(by_value[rank >= removed[codes[by_value]]])


def _not_eligible(bounds: Bounds, size: int) -> Infeasible:
    most = max(range(len(bounds.counts)), key=lambda i: bounds.counts[i])
    value, share = bounds.values[most], bounds.shares[most]
    largest = int(1 / share)
    return Infeasible(
        f"Anatomy with groups of {size} needs every value to have at most 1/{size} of the people; {value} has {percent(share)}",
        hint=(
            f"the largest possible group size for this table is {largest}; use method = buckets, which gives each value its own "
            'bound, or suppress = true with against = "reader"'
        ),
        values=[value],
        has={value: share},
        needs={value: Fraction(1, size)},
        nearest={"l": largest},
    )


def _figures(bounds: Bounds, size: int, removed: Any, grouping: Grouping) -> dict[str, Any]:
    sizes = grouping.sizes
    return {
        "l": size,
        "groups": grouping.groups,
        "loss": int(((sizes - 1) ** 2).sum()),
        "suppressed": {value: int(count) for value, count in zip(bounds.values, removed, strict=True) if count},
    }
