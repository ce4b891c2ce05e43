"""The plan of a table: the one place that turns bounds into a setting and an allocation, checked before it is returned."""

from __future__ import annotations

from typing import get_args

from sfumato.groups.settings.feasible import Strategy, check_bounds, no_setting
from sfumato.groups.settings.flow import allocate, check_plan
from sfumato.groups.settings.optimum import optimum
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Plan
from sfumato.groups.settings.top_down import top_down
from sfumato.groups.settings.two_size import SizeSearch, best_one_size, best_two_size
from sfumato.privacy.bounds import Bounds

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def plan(
    bounds: Bounds,
    *,
    strategy: Strategy = "optimal",
    max_size: int = 50,
    search: SizeSearch = "full",
    gap: float = 1e-4,
    time_limit: float = 30.0,
    once: bool = False,
) -> Plan:
    """Return a checked plan: bucket sizes, their numbers, and how many records of each value go into each size.

    `search` is how "two-size" and "top-down" look for a pair of sizes (slower ones find the same pair); `gap` and
    `time_limit` (seconds) end the search of "optimal"; `once` allows every value at most once per bucket. The plan does not
    depend on the order of the values; its rows are in their order.

    Raises `Infeasible` when no setting with sizes up to `max_size` exists, with the values in the way and what would
    work.
    """
    check_bounds(bounds, strategy, max_size=max_size, once=once)
    problem = Problem.of(bounds, max_size=max_size, once=once)
    made = _search(problem, strategy, search, gap, time_limit) if len(problem.sizes) else None
    if made is None:
        raise no_setting(bounds, problem, strategy, max_size=max_size, once=once)
    check_plan(bounds, made, once=once)
    return made


def _search(problem: Problem, strategy: Strategy, search: SizeSearch, gap: float, time_limit: float) -> Plan | None:
    if strategy == "optimal":
        best = optimum(problem, gap=gap, time_limit=time_limit)
        if best is None:
            return None
        return Plan(best.setting, problem.restored(best.allocation), strategy, best.lower_bound, best.complete)
    if strategy == "top-down":
        plan = top_down(problem, search=search)
        return None if plan is None else Plan(plan[0], problem.restored(plan[1]), strategy)
    setting = best_one_size(problem) if strategy == "one-size" else best_two_size(problem, search=search)
    if setting is None:
        return None
    allocation = allocate(problem.counts, problem.caps_of(setting.sizes), setting)
    return None if allocation is None else Plan(setting, problem.restored(allocation), strategy)
