"""Publishing a source beyond memory: domains and counts, codes, groups, parts, and the audit of what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.auditor.result import Audit
from sfumato.budget import book
from sfumato.errors import ClaimBroken, NotProvable, PolicyError
from sfumato.groups.grouping import Grouping, Histograms, require_bounds
from sfumato.groups.soft import soft_rule
from sfumato.methods import Method, default_method
from sfumato.methods.base import MAKING, Task
from sfumato.methods.show import require_free_names
from sfumato.methods.show.manifest import group_manifest
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.register import open_register
from sfumato.release.manifest import Manifest
from sfumato.scale.audit import audit_parts
from sfumato.scale.boxes import Rules, boxes
from sfumato.scale.collect import Collected
from sfumato.scale.engine import Engine, Limits
from sfumato.scale.outline import Outline
from sfumato.scale.write import write_buckets
from sfumato.table.schema import Schema
from sfumato.table.unique import require_shared_texts


@dataclass(frozen=True, eq=False)
class Prepared:
    """A release that was written and audited in a workshop, and what only the publisher may see of it."""

    manifest: Manifest
    audit: Audit
    private: Mapping[str, Any]
    method: Method
    bounds: Bounds
    outline: Outline


def prepare(
    engine: Engine,
    schema: Schema,
    requirement: Requirement,
    directory: Path,
    *,
    method: Method | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
    register: Path | None = None,
    budget: Fraction | None = None,
    limits: Limits,
) -> Prepared:
    """Write the release of an engine's source to an empty directory, audit it there, and return what there is to tell of it."""
    tell = progress or silent
    tell("counting values", 0.0)
    outline = engine.outline(schema)
    table = outline.table
    table.require_people()
    require_shared_texts(table, outline.counts)
    chosen = method or default_method(requirement, table)
    maker = _maker(chosen)
    chosen.require_provable(table, requirement)
    require_free_names(table, chosen.form)
    bounds = chosen.bounds(table, requirement)
    chosen.require_something_to_keep(bounds, requirement)
    gamma = chosen.odds(table, requirement)
    if gamma is not None:
        book(engine.fingerprints()[1], gamma, open_register() if register is None else register, budget=budget)
    elif budget is not None:
        raise PolicyError(
            f"[budget]: nothing bounds what the method {chosen.name!r} tells an insider, so that no budget can be kept",
            hint='name = "noisy-boxes", or leave [budget] out',
        )
    coins = randomness(random)
    task = Task(table, requirement, bounds, coins.spawn(MAKING), tell)
    tell("coding rows", 0.1)
    people = engine.people(outline)
    manifest, figures = maker(task, chosen, outline, people, directory, limits)
    tell("auditing", 0.85)
    audit = audit_parts(directory, manifest, engine.scratch("audit"), outline, engine.coded(outline), draw=False)
    if audit.holds is not True:
        raise ClaimBroken("the release does not pass its own audit, so it is not published", audit=audit)
    tell("done", 1.0)
    sets = {"sets": {one.name: str(one.limit) for one in bounds.sets}} if bounds.sets else {}
    return Prepared(manifest, audit, {**figures, **sets}, chosen, bounds, outline)


def _make_boxes(
    task: Task, method: Any, outline: Outline, people: Any, directory: Path, limits: Limits
) -> tuple[Manifest, dict[str, Any]]:
    """Cut boxes, check every count against its bound, and write them as buckets."""
    tight = task.against == "reader"
    rule = None if tight else soft_rule(task.bounds, method.patience)
    cutting: Any = "tight" if tight else "safe" if rule is None else "soft"
    rules = Rules(cutting, method.floor, method.weights, rule)
    made, _, _ = boxes(outline, people, task.bounds, rules, task.random, shard=limits.shard, progress=task.progress)
    _check(made, task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(made.sizes), cutting, told=made.told)
    public = {"buckets": grouping.groups, "decoys": 0, "suppression": False}
    task.progress("writing", 0.75)
    manifest = write_buckets(directory, group_manifest(task, method, "buckets", grouping, public), outline, made)
    stopped = made.sizes[made.sizes < 2 * method.floor].sum() / max(int(made.sizes.sum()), 1)
    return manifest, {**_figures(made), "share_in_boxes_at_the_floor": float(stopped)}


def _check(made: Collected, bounds: Bounds) -> None:
    group = np.repeat(np.arange(len(made.sizes), dtype=np.int32), made.entries)
    require_bounds(Histograms(group, made.value.astype(np.int32), made.count), made.sizes, bounds.limits, made.told, bounds.sets)


def _figures(made: Collected) -> dict[str, Any]:
    sizes = made.sizes
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "loss": int(((sizes - 1) ** 2).sum()),
    }


_MAKERS = {("boxes", "buckets"): _make_boxes}
"""How each method is made beyond memory, in each form."""


def _maker(method: Method) -> Any:
    """Return how a method is made beyond memory; raise where it is not."""
    maker = _MAKERS.get((method.name, method.form))
    if maker is not None:
        return maker
    forms = sorted(form for name, form in _MAKERS if name == method.name)
    if forms:
        raise NotProvable(
            f"method {method.name!r} in the form {method.form!r} is made in memory only",
            hint=f'form = "{forms[0]}", or engine = "memory"',
        )
    raise NotProvable(
        f"method {method.name!r} is made in memory only: {_WHY.get(method.name, 'it looks at all people at once')}",
        hint='name = "boxes", which every engine makes; or engine = "memory"',
    )


_WHY = {
    "burel": "it walks along one curve through all people",
    "heterogeneous": "every record is matched with people of the whole table",
    "ring": "every record is matched with people of the whole table",
    "decoys": "decoys are exchanged between buckets of the whole table",
    "ambiguity": "which values a box covers is decided against the whole table",
    "priview": "which values a box covers is decided against the whole table",
}
