"""Whether a setting can hold a table, decided exactly by a flow: which values go into which sizes, or what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.errors import ClaimBroken
from sfumato.exact import floor_times
from sfumato.groups.settings._kernels import transport
from sfumato.groups.settings.setting import Plan, Setting
from sfumato.privacy.bounds import Bounds


@dataclass(frozen=True, eq=False)
class Shortage:
    """Why an allocation is impossible: the sizes J have more places than the values can fill.

    Σ_{j∈J} S_j·b_j exceeds Σ_{i∈A} o_i + Σ_{i∉A} Σ_{j∈J} cap_ij·b_j, where J is `sizes` and A is `free`: the values
    of A could all go there, the others are held back by their caps.
    """

    sizes: Flags
    free: Flags


def solve_flow(counts: Integers, caps: Integers, sizes: Integers, numbers: Integers, scale: int = 1) -> Integers | Shortage:
    """Return an allocation [values × sizes] of all places, or the cut that forbids it.

    Numbers may be multiples of 1/scale: give them multiplied by `scale`; the allocation is then multiplied as well.
    Everything is int64 and capacities are clamped to the counts, so that nothing overflows below 2⁶² scaled people.
    """
    supply = counts * scale
    demand = sizes * numbers
    capacity = np.ascontiguousarray(np.minimum(caps * numbers, supply[:, None]))
    flow, rows, columns = transport(supply, capacity, demand)
    return flow if flow.sum() == demand.sum() else Shortage(sizes=columns < 0, free=rows < 0)


def allocate(counts: Sequence[int] | Integers, caps: Integers, setting: Setting) -> Integers | None:
    """Return how many records of each value go into each size class, or None when the setting is not valid.

    `caps[i, j]` is how often a bucket of class j may hold value i. A setting of any number of sizes is valid exactly
    when there are v_ij ≤ caps_ij·b_j with Σ_j v_ij = o_i and Σ_i v_ij = S_j·b_j; the conditions PC, FC and CC are not
    enough from three sizes on [F', Example 5]. Deterministic.
    """
    supply = np.asarray(counts, dtype=np.int64)
    if int(supply.sum()) != setting.total:
        return None
    sizes, numbers = np.array(setting.sizes, dtype=np.int64), np.array(setting.numbers, dtype=np.int64)
    result = solve_flow(supply, np.asarray(caps, dtype=np.int64), sizes, numbers)
    return None if isinstance(result, Shortage) else result


def check_plan(bounds: Bounds, plan: Plan, *, once: bool = False) -> None:
    """Raise `ClaimBroken` unless the plan places every record once, fills every bucket and keeps every bound.

    Plain integers and the bounds themselves: nothing of what made the plan is used.
    """
    rows = plan.allocation.tolist()
    classes = plan.setting.classes
    hint = "this is a defect of the search, not of the data: please report it"
    if len(rows) != len(bounds.values) or any(len(row) != len(classes) for row in rows):
        raise ClaimBroken("the plan's allocation does not fit its values and sizes", hint=hint)
    for row, value, count, limit in zip(rows, bounds.values, bounds.counts, bounds.limits, strict=True):
        if sum(row) != count or min(row) < 0:
            raise ClaimBroken(f"the plan places {sum(row)} records of {value!r}, the table has {count}", hint=hint)
        for amount, (size, number) in zip(row, classes, strict=True):
            cap = min(floor_times(limit, size), 1) if once else floor_times(limit, size)
            if amount > cap * number:
                raise ClaimBroken(
                    f"the plan puts {amount} records of {value!r} into {number} buckets of {size}, which may hold {cap} each",
                    hint=hint,
                )
    for place, (size, number) in enumerate(classes):
        if sum(row[place] for row in rows) != size * number:
            raise ClaimBroken(f"the plan does not fill its {number} buckets of {size} exactly", hint=hint)
