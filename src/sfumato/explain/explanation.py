"""The figures behind an explanation: bounds per value, feasibility, and what each strategy would cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.errors import Infeasible, NotProvable
from sfumato.exact import ceil_inverse, decimal_text
from sfumato.explain.cost import PROTECTS_NOBODY, Obstacle, StrategyLoss, compare_strategies
from sfumato.groups.boxes import near_people
from sfumato.methods import Buckets, Method, default_method
from sfumato.privacy import Bounds, Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import SeededRandomness
from sfumato.table import Table


@dataclass(frozen=True)
class ValueBound:
    """One sensitive value: how many people have it, how sure a reader may become, and the smallest group that may hold it."""

    value: str
    count: int
    share: Fraction
    bound: Fraction

    @property
    def factor(self) -> float:
        """How many times as sure as before a reader may become."""
        return float(self.bound / self.share)

    @property
    def needs(self) -> int:
        """⌈1/bound⌉: the smallest group in which one person may have the value."""
        return ceil_inverse(self.bound)

    @property
    def feasible(self) -> bool:
        """False when more people have the value than its bound allows in any group."""
        return self.bound >= self.share


@dataclass(frozen=True)
class Explanation:
    """What a policy means for a table. Private: it tells shares of the original table, and is never written into a release."""

    rows: int
    dropped: int
    roles: Mapping[str, tuple[str, ...]]
    one_row_per_person: bool
    unique_share: Fraction
    requirement: Mapping[str, Any]
    against: str
    method: str
    max_size: int | None
    boxes: tuple[int, int, int] | None
    decoys: int
    values: tuple[ValueBound, ...]
    obstacle: Obstacle | None
    strategies: tuple[StrategyLoss, ...]

    @property
    def feasible(self) -> bool:
        """True when the method of the policy can keep the bounds."""
        return self.obstacle is None

    @property
    def compound(self) -> bool:
        """True when several sensitive columns form one attribute."""
        return len(self.roles["sensitive"]) > 1

    @property
    def unbounded(self) -> tuple[ValueBound, ...]:
        """The values without a bound, the most frequent first: a release may show openly who has them."""
        return tuple(value for value in reversed(self.values) if value.bound == 1)

    def tightest(self, number: int) -> tuple[ValueBound, ...]:
        """Return so many values with the lowest bounds, the lowest first and of equal ones the rarest."""
        return tuple(sorted(self.values, key=lambda value: (value.bound, value.count, value.value))[:number])

    def verdict(self) -> list[str]:
        """Return the answers to three questions: can the policy be kept, who is unprotected, who is unique?"""
        from sfumato.explain.sentences import verdict

        return verdict(self)

    def details(self) -> list[str]:
        """Return what else there is to know, as paragraphs for the person who answers for the table's privacy."""
        from sfumato.explain.sentences import details

        return details(self)

    def sentences(self) -> list[str]:
        """Return the whole explanation, the verdict first."""
        return [*self.verdict(), *self.details()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values, every bound exact."""
        return {
            "private": "figures about the original table; do not publish",
            "rows": self.rows,
            "dropped": self.dropped,
            "roles": {role: list(names) for role, names in self.roles.items()},
            "one_row_per_person": self.one_row_per_person,
            "unique_share": float(self.unique_share),
            "requirement": dict(self.requirement),
            "against": self.against,
            "method": self.method,
            "max_size": self.max_size,
            "boxes": self.boxes,
            "decoys": self.decoys,
            "feasible": self.feasible,
            "unbounded_share": float(sum((value.share for value in self.unbounded), start=Fraction(0))),
            "obstacle": None if self.obstacle is None else _plain(vars(self.obstacle)),
            "values": [
                {
                    "value": value.value,
                    "count": value.count,
                    "share": float(value.share),
                    "bound": decimal_text(value.bound),
                    "factor": value.factor,
                    "smallest_group": value.needs,
                    "feasible": value.feasible,
                }
                for value in self.values
            ],
            "strategies": [vars(strategy) for strategy in self.strategies],
        }


def explain(
    table: Table, requirement: Requirement, *, method: Method | None = None, progress: Progress | None = None
) -> Explanation:
    """Return what the requirement means for this table. Nothing is published.

    The loss per strategy is Σ(size − 1)² over the buckets, from counts alone; so this takes the time of the searches, not of a
    release. Anatomy stands beside them at ℓ = ⌈1/smallest bound⌉, the only way it can keep bounds that differ.
    """
    method = method or default_method(requirement)
    tell = progress or silent
    counts = {value: count for value, count in table.sensitive.histogram().items() if count}
    total = sum(counts.values())
    shares = {value: Fraction(count, total) for value, count in counts.items()}
    limits = requirement.limits(shares)
    values = sorted(counts, key=lambda value: (counts[value], value))
    strategies: tuple[StrategyLoss, ...] = ()
    boxes: tuple[int, int, int] | None = None
    try:
        bounds = requirement.bounds(counts)
    except Infeasible as error:
        obstacle: Obstacle | None = Obstacle.of(error)
    else:
        if bounds.protects:
            strategies, obstacle = compare_strategies(bounds, method, tell)
            boxes = _boxes(table, requirement, bounds, method)
            if boxes is not None:
                strategies = tuple(replace(strategy, chosen=False) for strategy in strategies)
                obstacle = None
        else:
            obstacle = PROTECTS_NOBODY
    try:
        method.require_provable(table, requirement)
    except NotProvable as error:
        obstacle = obstacle or Obstacle.of(error)
    return Explanation(
        rows=table.rows,
        dropped=table.dropped,
        roles={role: tuple(getattr(table.schema, role)) for role in ("identifier", "quasi", "sensitive", "other")},
        one_row_per_person=table.schema.one_row_per_person,
        unique_share=table.unique_share(),
        requirement=requirement.to_dict(),
        against=requirement.against,
        method=method.name,
        max_size=method.max_size if isinstance(method, Buckets) and boxes is None else None,
        boxes=boxes,
        decoys=method.decoys if isinstance(method, Buckets) else 0,
        values=tuple(ValueBound(value, counts[value], shares[value], limits[value]) for value in values),
        obstacle=obstacle,
        strategies=strategies,
    )


def _boxes(table: Table, requirement: Requirement, bounds: Bounds, method: Method) -> tuple[int, int, int] | None:
    """Return how many boxes of near people there would be, the smallest and the largest; None where buckets would be blind."""
    if not isinstance(method, Buckets) or method.locality != "boxes":
        return None
    cut = near_people(
        table.quasi,
        table.sensitive.codes,
        bounds,
        tight=requirement.against == "reader",
        floor=method.floor,
        weights=method.weights,
        random=SeededRandomness(0),
    ).grouping
    return None if cut.groups == 1 else (cut.groups, int(cut.sizes.min()), int(cut.sizes.max()))


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value
