"""`Buckets`: groups shown as buckets, near people together or blindly, that keep any per-value bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError
from sfumato.groups.blind import assign_blindly
from sfumato.groups.boxes import near_people, plan_box, settings_inside
from sfumato.groups.grouping import Grouping, Histograms, canonical_order, histograms, require_bounds
from sfumato.groups.near.matched import matched_groups
from sfumato.groups.near.widths import domain_widths
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.setting import Plan
from sfumato.methods.base import Method, Outcome, require_choice, require_whole
from sfumato.methods.forms import require_free_names, show_as_buckets
from sfumato.papers.decoys.decoys import assign_with_decoys
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.table.table import Table

_UNUSED = {"none": ("floor", "inside", "weights"), "near": ("inside",)}
"""The options that a locality has no use for."""


@dataclass(frozen=True, eq=False)
class _Made:
    """A grouping, what each group shows, how it was reached, and figures for the receipt."""

    grouping: Grouping
    shown: Histograms
    locality: Literal["none", "safe", "tight", "near"]
    complete: bool
    private: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Buckets(Method):
    """Put people into buckets so that no value exceeds its bound in any of them ([F' §3–5]; boxes are ours).

    Parameters
    ----------
    locality
        ``"boxes"``: near people share a bucket, by cuts of quasi space. The requirement's adversary decides which: against an
        engineer cuts are *safe*, decided by quasi values and by counts that the release shows anyway, so that rerunning the
        program tells nothing; against a reader they are *tight*, decided by where values fell, so that boxes are smaller, but a
        refused cut would tell an engineer something. ``"near"``: after safe cuts, small buckets of people matched on their quasi
        values (*pure matched groups*, ours). ``"none"``: who shares a bucket is drawn at random, in a setting of small buckets.
        Near and blind buckets hold against both. Boxes expose far less at the same bound than small buckets do.
    floor
        No box holds fewer people; for ``"near"``, not fewer for every member of the smallest bucket. The bound holds for any
        floor, against either adversary; larger boxes expose less and answer more coarsely.
    inside
        A box is one bucket (``"whole"``), or holds small blind buckets in a setting of its own (``"setting"``), which expose
        more. The claim is that of the cuts either way.
    weights
        Columns with larger weights are cut first, 1 being usual. Fixed in advance they tell nobody anything;
        ``"association"`` weighs columns by what they tell about the sensitive values in this table, which an engineer could
        rerun, so it holds against a reader only.
    strategy
        How a setting (how many buckets of which sizes) is found, on counts that the release shows anyway, so that neither
        adversary learns from it: the provable ``"optimal"`` loss, the papers' ``"top-down"`` recursion, their ``"two-size"``
        optimum, or ``"one-size"``. This, `max_size`, `gap` and `time_limit` are for blind buckets, for ``inside="setting"``, for
        near buckets under bounds that differ, and for tables that leave no room for a first cut.
    max_size
        M': the largest bucket of a setting. The bound holds for any; the smallest bounds need the largest buckets.
    gap, time_limit
        ``"optimal"`` stops when its loss is proven to be within this relative gap of the best possible, or after so many seconds;
        a stop by the clock marks the release as not reproducible. No matter of privacy.
    decoys
        σ: sensitive values per bucket that belong to nobody, meant for an insider who knows bucket mates: measured in the
        receipt, never claimed. Needs every value at most once in a bucket, and blind buckets.
    guard_decoys
        Exchange decoys that an association learned from the release would give away. It looks at quasi values, so the claim
        then holds against a reader only.

    Notes
    -----
    Every setting is validated by a flow before it is used, and every bucket is checked in integers before it is published. Where
    the table leaves no room for a first cut, buckets are near ones if the claim is against an engineer and all bounds are equal,
    else blind, and the release says so. For safe cuts that is decided by quasi values and the published histogram, so it tells
    an engineer nothing. An option that a locality would ignore is refused together with it.
    """

    strategy: Literal["optimal", "top-down", "two-size", "one-size"] = "optimal"
    max_size: int = 50
    gap: float = 1e-4
    time_limit: float = 30.0
    decoys: int = 0
    guard_decoys: bool = False
    locality: Literal["boxes", "near", "none"] = "boxes"
    floor: int = 100
    inside: Literal["whole", "setting"] = "whole"
    weights: Mapping[str, float] | Literal["association"] | None = None

    name: ClassVar[str] = "buckets"

    def __post_init__(self) -> None:
        require_choice("Buckets", "strategy", self.strategy, ("optimal", "top-down", "two-size", "one-size"))
        require_choice("Buckets", "locality", self.locality, ("boxes", "near", "none"))
        require_choice("Buckets", "inside", self.inside, ("whole", "setting"))
        require_whole("Buckets", "max_size", self.max_size, 1)
        require_whole("Buckets", "decoys", self.decoys, 0)
        require_whole("Buckets", "floor", self.floor, 1)
        if not isinstance(self.guard_decoys, bool) or (self.guard_decoys and not self.decoys):
            raise PolicyError(
                f"Buckets(guard_decoys=…): expected true or false, and true only with decoys, got {self.guard_decoys!r}"
            )
        if self.decoys and self.locality != "none":
            raise PolicyError("Buckets(decoys=…): decoys need blind buckets", hint='set locality = "none", or decoys = 0')
        if self.weights not in (None, "association") and not isinstance(self.weights, Mapping):
            raise PolicyError(f"Buckets(weights=…): expected column = weight pairs or 'association', got {self.weights!r}")
        for name in ("gap", "time_limit"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise PolicyError(f"Buckets({name}=…): expected a number from 0 on, got {value!r}")
        self._require_unused_defaults()
        if self.locality == "near" and self.weights == "association":
            raise PolicyError(
                "Buckets(weights='association'): near buckets may not look at who has which value",
                hint='give column = weight pairs, or set locality = "boxes" and against = "reader"',
            )

    def _require_unused_defaults(self) -> None:
        """Raise `PolicyError` where an option is set that this locality would ignore."""
        what = "matched buckets" if self.locality == "near" else "buckets drawn at random"
        for name in _UNUSED.get(self.locality, ()):
            if getattr(self, name) != getattr(Buckets, name):
                raise PolicyError(
                    f"Buckets({name}=…): {what} do not use it, got {getattr(self, name)!r}",
                    hint='leave it out, or set locality = "boxes"',
                )

    def blind(self) -> Buckets:
        """Return the method with who shares a bucket drawn at random, without the options that only boxes use."""
        return replace(self, locality="none", floor=Buckets.floor, inside=Buckets.inside, weights=Buckets.weights)

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer: drawing, safe cuts and pure matching leave every placement in a bucket equally likely."""
        looks = self.guard_decoys or self.weights == "association"
        return ("reader",) if looks else ("reader", "engineer")

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values."""
        document = super().to_dict()
        if isinstance(self.weights, Mapping):
            document["weights"] = dict(self.weights) or None
        return document

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release, with the loss, its proven lower bound and the sizes used as private figures."""
        require_free_names(table)
        bounds = requirement.bounds(table.sensitive.histogram())
        made = self._make(table, requirement, bounds, random, progress)
        progress("checking every bucket", 0.8)
        codes = table.sensitive.codes
        real = histograms(made.grouping.group, codes, len(bounds.values)) if self.decoys else made.shown
        require_bounds(real, made.grouping.sizes, bounds.limits)
        release = show_as_buckets(
            table,
            made.grouping,
            made.shown,
            bounds=None if self.decoys else bounds,
            requirement=requirement,
            method=self,
            random=random,
            complete=made.complete,
            decoys=self.decoys,
            locality=made.locality,
        )
        progress("done", 1.0)
        return Outcome(release, made.private)

    def _make(self, table: Table, requirement: Requirement, bounds: Bounds, coins: Randomness, tell: Progress) -> _Made:
        """Return the buckets of this locality; where there is no room for boxes, near buckets or blind ones."""
        if self.locality == "near":
            return self._near(table, bounds, coins, tell)
        made = self._boxes(table, requirement, bounds, coins, tell) if self.locality == "boxes" else None
        if made is None and self.falls_back_to_near(table, requirement, bounds):
            made = self._near(table, bounds, coins, tell)
        return made or self._blind(table, bounds, coins, tell)

    def falls_back_to_near(self, table: Table, requirement: Requirement, bounds: Bounds) -> bool:
        """Return whether near buckets stand in for boxes where the table leaves no room for a first cut."""
        if self.locality != "boxes" or self.inside != "whole" or requirement.against != "engineer":
            return False
        equal = len(set(bounds.limits)) == 1 and bounds.protects
        return equal and any((column.codes != column.codes[0]).any() for column in table.quasi)

    def _near(self, table: Table, bounds: Bounds, coins: Randomness, tell: Progress) -> _Made:
        """Return near people matched into small buckets."""
        complete = True

        def planner(own: Bounds) -> Plan:
            nonlocal complete
            chosen, _ = plan_box(own, self._plan, self.max_size)
            complete = complete and chosen.complete
            return chosen

        found = matched_groups(
            table.quasi,
            table.sensitive.codes,
            bounds,
            widths=domain_widths(table.quasi, table.schema),
            floor=self.floor,
            weights=self.weights if isinstance(self.weights, Mapping) else None,
            planner=planner,
            random=coins,
            progress=lambda stage, done: tell(stage, 0.8 * done),
        )
        shown = histograms(found.grouping.group, table.sensitive.codes, len(bounds.values))
        return _Made(found.grouping, shown, "near", complete, {**_sizes(found.grouping), **found.figures})

    def _boxes(self, table: Table, requirement: Requirement, bounds: Bounds, coins: Randomness, tell: Progress) -> _Made | None:
        """Return near people together, or None where the table leaves no room for a first cut."""
        tight = requirement.against == "reader"
        tell("cutting quasi space into boxes", 0.0)
        codes = table.sensitive.codes
        found = near_people(table.quasi, codes, bounds, tight=tight, floor=self.floor, weights=self.weights)
        if found.grouping.groups == 1:
            return None
        complete = True
        if self.inside == "setting":
            tell("finding bucket sizes in every box", 0.3)
            found = settings_inside(found.grouping, codes, bounds, self._plan, self.max_size, coins)
            complete = bool(found.figures["search_complete"])
        shown = histograms(found.grouping.group, codes, len(bounds.values))
        locality: Literal["safe", "tight"] = "tight" if tight else "safe"
        return _Made(found.grouping, shown, locality, complete, {**_sizes(found.grouping), **found.figures})

    def _blind(self, table: Table, bounds: Bounds, coins: Randomness, tell: Progress) -> _Made:
        """Return people put together regardless of their quasi values."""
        tell("finding the bucket sizes", 0.0)
        chosen = self._plan(bounds, self.max_size)
        tell("assigning people to buckets", 0.4)
        codes = table.sensitive.codes
        private = _figures(chosen)
        if self.decoys:
            result = assign_with_decoys(table.quasi, codes, chosen, bounds, self.decoys, coins, guarded=self.guard_decoys)
            private["decoys"] = result.measured
            return _Made(result.grouping, result.shown, "none", chosen.complete, private)
        numbers = np.array(chosen.setting.numbers, dtype=np.int64)
        grouping = assign_blindly(codes, chosen.allocation, numbers, canonical_order(bounds), coins)
        shown = histograms(grouping.group, codes, len(bounds.values))
        return _Made(grouping, shown, "none", chosen.complete, private)

    def _plan(self, bounds: Bounds, max_size: int) -> Plan:
        return plan(
            bounds,
            strategy=self.strategy,
            max_size=max_size,
            gap=self.gap,
            time_limit=self.time_limit,
            once=self.decoys > 0,
        )


def _sizes(grouping: Grouping) -> dict[str, Any]:
    sizes = grouping.sizes
    return {"loss": int(((sizes - 1) ** 2).sum()), "smallest": int(sizes.min()), "largest": int(sizes.max())}


def _figures(chosen: Plan) -> dict[str, Any]:
    return {
        "strategy": chosen.strategy,
        "setting": [list(pair) for pair in chosen.setting.classes],
        "loss": chosen.loss,
        "loss_lower_bound": None if chosen.lower_bound is None else float(chosen.lower_bound),
        "gap": None if chosen.gap is None else float(chosen.gap),
        "search_complete": chosen.complete,
    }
