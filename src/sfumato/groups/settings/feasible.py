"""When no setting keeps the bounds: which values stand in the way, and what would work."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from sfumato.errors import Infeasible, SfumatoError
from sfumato.exact import percent
from sfumato.groups.settings.min_cuts import SCALE, Cuts
from sfumato.groups.settings.optimum import optimum
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.two_size import best_one_size, best_two_size
from sfumato.privacy.bounds import Bounds

Strategy = Literal["optimal", "top-down", "two-size", "one-size"]

_EXACT = 256
"""Up to this size all sizes are searched for the nearest feasible one; above it, only pairs among the largest sizes."""

_WINDOW = 64
_SHOWN = 8


def exists(bounds: Bounds, strategy: Strategy, max_size: int, *, once: bool = False) -> bool:
    """Return whether the strategy finds a setting with sizes up to `max_size`; True is always backed by a setting.

    Above size 256 only the largest 64 sizes are tried, in pairs, so a False may be too strict there.
    """
    window = None if max_size <= _EXACT else max_size - _WINDOW + 1
    problem = Problem.of(bounds, max_size=max_size, min_size=window, once=once)
    if not len(problem.sizes):
        return False
    if strategy == "one-size":
        return best_one_size(problem) is not None
    if best_two_size(problem) is not None:
        return True
    if strategy != "optimal" or window is not None:
        return False
    try:
        return optimum(problem, gap=1.0, time_limit=5.0) is not None
    except SfumatoError:
        return False


def nearest_size(bounds: Bounds, strategy: Strategy, max_size: int, *, once: bool = False) -> int | None:
    """Return a larger maximum size that works (the smallest such, if it is small), or None when none does.

    A larger maximum size never hurts. The whole table as one group keeps every bound that is at least the value's
    share, so there always is one unless each value may be in a bucket only once.
    """
    if strategy == "one-size" and not once:
        divisors = _divisors(bounds.people)
        return next((size for size in divisors if size > max_size and _fits_one_size(bounds, size)), None)
    ceiling = len(bounds.values) if once else bounds.people
    low, high = max_size, max(max_size + 1, min(bounds.needs))
    while high < ceiling and not exists(bounds, strategy, high, once=once):
        low, high = high, 2 * high
    if high >= ceiling:
        high = ceiling
        if once and (ceiling <= max_size or not exists(bounds, strategy, ceiling, once=True)):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if exists(bounds, strategy, middle, once=once):
            high = middle
        else:
            low = middle
    return high


def _divisors(total: int) -> list[int]:
    small = [size for size in range(1, int(total**0.5) + 1) if total % size == 0]
    return sorted({*small, *(total // size for size in small)})


def _fits_one_size(bounds: Bounds, size: int) -> bool:
    number = bounds.people // size
    return all(
        count <= limit.numerator * size // limit.denominator * number
        for count, limit in zip(bounds.counts, bounds.limits, strict=True)
    )


def blocking_values(problem: Problem, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values whose caps stand in the way of every setting; none when only whole numbers do."""
    cuts = Cuts(problem)
    while True:
        answer = cuts.relax()
        if answer.x is None:
            blocked = cuts.blocked_values()
            return tuple(values[problem.order[i]] for i in np.flatnonzero(blocked))
        numbers = np.floor(np.maximum(answer.x, 0.0) * SCALE).astype(np.int64)
        if not cuts.separate(numbers, scale=SCALE, tolerance=SCALE // 1000):
            return ()


def check_bounds(bounds: Bounds, strategy: Strategy, *, max_size: int, once: bool = False) -> None:
    """Raise `Infeasible` for what needs no search: a bound below the value's share, or a value that no bucket may hold."""
    triples = list(zip(bounds.values, bounds.limits, bounds.shares, strict=True))
    below = {value: (limit, share) for value, limit, share in triples if limit < share}
    if below:
        worst = max(below, key=lambda value: below[value][1] - below[value][0])
        raise Infeasible(
            f"{_some(below)}: the bound is below the value's share in the table "
            f"({worst!r}: bound {percent(below[worst][0])}, share {percent(below[worst][1])})",
            hint="no release can keep a belief below the share: raise these bounds to at least the share",
            values=below,
            has={value: limit for value, (limit, _) in below.items()},
            needs={value: share for value, (_, share) in below.items()},
        )
    large = {value: limit for value, limit, _ in triples if limit * max_size < 1}
    if large:
        need = max(bounds.needs)
        nearest = nearest_size(bounds, strategy, max(need - 1, max_size), once=once)
        hints = [] if nearest is None else [f"max_size = {nearest} would work"]
        if max_size > 1:
            hints.append(f"raise these bounds to at least {percent(Fraction(1, max_size))}")
        raise Infeasible(
            f"{_some(large)}: a bucket must have {need} people to hold the value at its bound, max_size is {max_size}",
            hint="; or ".join(hints) or None,
            values=large,
            has=large,
            needs={value: Fraction(1, max_size) for value in large},
            nearest={} if nearest is None else {"max_size": nearest},
        )


def no_setting(bounds: Bounds, problem: Problem, strategy: Strategy, *, max_size: int, once: bool) -> Infeasible:
    """Return the error for a strategy that found no setting: who stands in the way, and what would work."""
    nearest: dict[str, object] = {}
    advice = []
    if strategy != "optimal" and exists(bounds, "optimal", max_size, once=once):
        better: Strategy = "two-size" if strategy == "one-size" and exists(bounds, "two-size", max_size, once=once) else "optimal"
        nearest["strategy"] = better
        advice.append(f'strategy = "{better}" would work with the same max_size')
    size = nearest_size(bounds, strategy, max_size, once=once)
    if size is not None:
        nearest["max_size"] = size
        advice.append(f"max_size = {size} would work")
    if once:
        advice.append("without decoys a value may be in a bucket more than once")
    blocked = blocking_values(problem, bounds.values) if "strategy" not in nearest and len(problem.sizes) else ()
    kinds = {"one-size": "one size", "two-size": "two sizes", "top-down": "two sizes", "optimal": "any sizes"}
    reason = f"; in the way: {_some(blocked)}" if blocked else ""
    limits = dict(zip(bounds.values, bounds.limits, strict=True))
    return Infeasible(
        f"no buckets of {kinds[strategy]} up to {max_size} hold these {bounds.people:,} people within the bounds"
        f"{' with every value at most once in a bucket' if once else ''}{reason}",
        hint="; or ".join(advice) if advice else "raise the bounds",
        values=blocked,
        has={value: limits[value] for value in blocked},
        nearest=nearest,
    )


def _some(values: dict[str, object] | dict[str, Fraction] | dict[str, tuple[Fraction, Fraction]] | tuple[str, ...]) -> str:
    names = [repr(value) for value in values]
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
