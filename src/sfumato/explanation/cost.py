"""What each way of choosing bucket sizes would cost, from counts alone, and why some of them cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from sfumato.errors import Infeasible, NotProvable
from sfumato.groups.anatomy import excess
from sfumato.groups.settings.feasible import Strategy
from sfumato.groups.settings.plan import plan
from sfumato.methods import Anatomy, Method, MultiSize
from sfumato.privacy import Bounds
from sfumato.progress import Progress, silent

_STRATEGIES: tuple[Strategy, ...] = ("one-size", "two-size", "top-down", "optimal")


@dataclass(frozen=True)
class Obstacle:
    """Why no release can be made, and what would make one possible."""

    message: str
    hint: str | None
    values: tuple[str, ...] = ()
    has: Mapping[str, Fraction] = field(default_factory=dict)
    needs: Mapping[str, Fraction] = field(default_factory=dict)
    nearest: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, error: Infeasible | NotProvable) -> Obstacle:
        """Return what the error carries."""
        if isinstance(error, NotProvable):
            return cls(error.message, error.hint)
        return cls(error.message, error.hint, error.values, error.has, error.needs, error.nearest)


PROTECTS_NOBODY = Obstacle(
    "this policy protects nobody: every sensitive value of this table has a bound of 1",
    "lower the bounds (a smaller theta, offset or beta, a larger l), or give single values their own under [requirement.bounds]",
)

HIDES_NOTHING = Obstacle(
    "this policy protects nobody: alpha is 1, and every sensitive value of this table has a bound of 1",
    "lower alpha, which bounds presence, or beta, which bounds the belief in values",
)


def protects_nobody(presence: Fraction | None) -> Obstacle:
    """Return that every bound is 1, in the words of a requirement that speaks of presence or of one that does not."""
    return PROTECTS_NOBODY if presence is None else HIDES_NOTHING


@dataclass(frozen=True)
class StrategyLoss:
    """What one way of choosing bucket sizes would lose, or why it cannot be used; `gap` is how far from the optimum it may be.

    `setting` lists all bucket sizes, `sizes` the smallest and the largest of them.
    """

    name: str
    loss: int | None
    setting: str = ""
    sizes: tuple[int, int] | None = None
    gap: float | None = None
    note: str = ""
    chosen: bool = False


def compare_strategies(
    bounds: Bounds, method: Method, progress: Progress = silent
) -> tuple[tuple[StrategyLoss, ...], Obstacle | None]:
    """Return the loss of every strategy of blind groups, Anatomy last, and why the policy's own one cannot be used, if so."""
    own = {name: getattr(method, name, getattr(MultiSize, name)) for name in ("max_size", "gap", "time_limit")}
    strategy = getattr(method, "strategy", "optimal" if hasattr(method, "decoys") else None)
    losses: list[StrategyLoss] = []
    obstacle: Obstacle | None = None
    names = _STRATEGIES
    for done, name in enumerate(names):
        progress(f"searching: {name}", done / len(names))
        chosen = strategy == name
        try:
            best = plan(bounds, strategy=name, once=hasattr(method, "decoys"), **own)
        except Infeasible as error:
            losses.append(StrategyLoss(name, None, note=error.message, chosen=chosen))
            obstacle = Obstacle.of(error) if chosen else obstacle
        else:
            sizes = best.setting.sizes[0], best.setting.sizes[-1]
            losses.append(StrategyLoss(name, best.loss, str(best.setting), sizes, gap=best.gap, chosen=chosen))
    mine = method.way == "distinct"
    anatomy, blocked = _anatomy(bounds, cast(Anatomy, method) if mine else Anatomy())
    progress("done", 1.0)
    return (*losses, replace(anatomy, chosen=mine)), blocked if mine else obstacle


def _anatomy(bounds: Bounds, method: Anatomy) -> tuple[StrategyLoss, Obstacle | None]:
    """Return Anatomy's loss, its people spread evenly over ⌊n/ℓ⌋ groups, or why it has no such groups."""
    needed = max(bounds.needs)
    ell = method.l or needed
    removed = excess(bounds.counts, ell)
    people = bounds.people - sum(removed)
    tightest = bounds.values[bounds.needs.index(needed)]
    frequent = bounds.values[bounds.counts.index(max(bounds.counts))]
    if ell < needed:
        message = f"groups of {ell} different values are too small for the bound of {tightest!r}, which needs groups of {needed}"
        return StrategyLoss("anatomy", None, note=message), Obstacle(message, f"l = {needed}, or leave l out", (tightest,))
    if people < ell or (any(removed) and not method.suppress):
        message = f"with groups of {ell} no value may have more than 1/{ell} of the people, and {frequent!r} has more"
        share = max(bounds.shares)
        return StrategyLoss("anatomy", None, note=message), Obstacle(
            message,
            "the method multi-size, which gives each value its own bound",
            (frequent,),
            {frequent: share},
            {},
            {"l": int(1 / share)},
        )
    small, more = divmod(people, people // ell)
    fewer = people // ell - more
    setting = ", ".join(f"{number} of {size}" for size, number in ((small, fewer), (small + 1, more)) if number)
    note = f"ℓ = {ell}" + (f", {people_text(sum(removed))} left out" if any(removed) else "")
    sizes = small if fewer else small + 1, small + 1 if more else small
    return StrategyLoss("anatomy", fewer * (small - 1) ** 2 + more * small**2, setting, sizes, note=note), None


def people_text(number: int) -> str:
    """Return "1 person", "2,000 people"."""
    return "1 person" if number == 1 else f"{number:,} people"


def range_text(sizes: tuple[int, int]) -> str:
    """Return "2 to 50 people", "1 person"."""
    small, large = sizes
    return people_text(small) if small == large else f"{small:,} to {large:,} people"
