"""How each method is made beyond memory, in each form, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import NotProvable
from sfumato.groups.counted import TopCuts
from sfumato.groups.fragments.cover import require_presence
from sfumato.groups.grouping import Grouping, Histograms, require_bounds
from sfumato.groups.mondrian import classical
from sfumato.groups.noisy import join_boxes, with_sets
from sfumato.groups.soft import soft_rule
from sfumato.groups.streams import Step
from sfumato.methods import Method
from sfumato.methods.base import Task
from sfumato.methods.noisy_boxes import odds_within
from sfumato.methods.randomizing import closed_domain
from sfumato.methods.show.columns import fragment_facts
from sfumato.methods.show.manifest import group_manifest
from sfumato.methods.show.noisy import noisy_manifest
from sfumato.privacy.requirement import Bounds
from sfumato.randomize.noise import noise_ratio, two_sided
from sfumato.release.boxes import Box
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Manifest
from sfumato.scale.boxes import People, Rules, boxes
from sfumato.scale.collect import Collected, Kept, collect, collect_columns, collect_ranges
from sfumato.scale.joined import join_rows, whole_tree
from sfumato.scale.outline import Outline
from sfumato.scale.write import write_buckets, write_ranges, write_small
from sfumato.table.column import Domain


class Work(NamedTuple):
    """What a maker is given: a task without rows, the outline, everybody's codes, where to write, and how large a shard is."""

    task: Task
    found: Outline
    people: People
    directory: Path
    shard: int
    scratch: Callable[[str], Path]

    def cut(self, rules: Rules) -> tuple[list[Kept], TopCuts]:
        """Return the boxes that these rules cut, shard by shard, and the first cuts."""
        task = self.task
        return boxes(self.found, self.people, task.bounds, rules, task.random, shard=self.shard, progress=task.progress)


class Written(NamedTuple):
    """What a maker gives: the manifest as written, private figures, and how many people each group has."""

    manifest: Manifest
    figures: dict[str, Any]
    sizes: Integers


def make_boxes(work: Work, method: Any) -> Written:
    """Cut boxes, check every count against its bound, and write them."""
    tight = work.task.against == "reader"
    rule = None if tight else soft_rule(work.task.bounds, method.patience)
    cutting: Any = "tight" if tight else "safe" if rule is None else "soft"
    shards, _ = work.cut(Rules(cutting, method.floor, method.weights, rule, form=method.form))
    written = _written(work, method, shards, cutting, {})
    sizes = written.sizes
    stopped = sizes[sizes < 2 * method.floor].sum() / max(int(sizes.sum()), 1)
    return written._replace(figures={**written.figures, "share_in_boxes_at_the_floor": float(stopped)})


def make_mondrian(work: Work, method: Any) -> Written:
    """Cut Mondrian's boxes, check them, and write them: strict ones, which no order of people decides."""
    for name, asked, known in (
        ("partition", method.partition, ("strict",)),
        ("constraint", method.constraint, ("bounds", "distinct", "entropy")),
    ):
        if asked not in known:
            raise NotProvable(
                f"method 'mondrian' with {name} = {asked!r} is made in memory only",
                hint=f'{name} = "{known[0]}", or engine = "memory"',
            )
    bounds = work.task.bounds
    rule = classical(bounds, constraint=method.groups_keep, k=method.k, relaxed=False)
    shards, _ = work.cut(Rules("tight", method.k, None, None, rule, method.form))
    return _written(work, method, shards, "tight", method.said(bounds))


def make_ambiguity(work: Work, method: Any) -> Written:
    """Cut boxes that keep a bound on presence too, check them, and write them column by column."""
    if method.grouping != "boxes":
        raise NotProvable(
            f"method 'ambiguity' with grouping = {method.grouping!r} is made in memory only",
            hint='grouping = "boxes", or engine = "memory"',
        )
    task, columns = work.task, work.found.table.quasi
    alpha = Fraction(task.requirement.presence or 1)
    covered = prod(int(np.count_nonzero(counts)) for counts in work.found.counts)
    require_presence(columns, work.found.rows, alpha, bounded=task.bounds.protects, covered=covered)
    tight = task.against == "reader"
    rule = None if tight else soft_rule(task.bounds, method.patience)
    cutting: Any = "tight" if tight else "safe" if rule is None else "soft"
    shards, _ = work.cut(Rules(cutting, method.floor, method.weights, rule, None, "columns", alpha))
    made, shown = collect_columns(shards, columns)
    _check(made, task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(made.sizes), cutting, told=made.told)
    stated = group_manifest(task, method, "columns", grouping, fragment_facts(grouping))
    group = np.repeat(np.arange(grouping.groups, dtype=np.int32), made.entries)
    quasi, start = (tuple(parts) for parts in zip(*shown, strict=True))
    domain = work.found.table.sensitive.domain
    release = ColumnsRelease(stated, quasi, start, domain, group, made.value.astype(np.int32), made.count, told=made.told)
    task.progress("writing", 0.75)
    release = release.canonical()
    return Written(write_small(work.directory, stated, release.tables()), _figures(made.sizes), release.sizes)


def _written(work: Work, method: Any, shards: list[Kept], basis: Any, said: dict[str, str]) -> Written:
    """Check every count of every box against its bound, and write the boxes in the method's form."""
    task, columns = work.task, work.found.table.quasi
    shown: tuple[Box, ...] = ()
    if method.form == "ranges":
        made, shown = collect_ranges(shards, columns)
    else:
        made = collect(shards)
    _check(made, task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(made.sizes), basis, public=said, told=made.told)
    task.progress("writing", 0.75)
    if method.form == "ranges":
        stated = group_manifest(task, method, "ranges", grouping, {"groups": grouping.groups})
        manifest = write_ranges(work.directory, stated, work.found, made, shown)
    else:
        public = {"buckets": grouping.groups, "decoys": 0, "suppression": False}
        manifest = write_buckets(work.directory, group_manifest(task, method, "buckets", grouping, public), work.found, made)
    return Written(manifest, _figures(made.sizes), made.sizes)


def _figures(sizes: Integers) -> dict[str, Any]:
    """Return what the publisher is told of groups of these sizes."""
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "loss": int(((sizes - 1) ** 2).sum()),
    }


def make_noisy(work: Work, method: Any) -> Written:
    """Cut boxes by quasi values alone, add noise to every count of every declared value, and write them as buckets.

    Noise is drawn on the driver, for boxes in their order along the cuts, as in memory.
    """
    task = work.task
    domain = closed_domain(work.found.table, method.close(work.found.table.schema))
    gamma = odds_within(task.bounds)
    ratio = noise_ratio(gamma)
    floor = method.floor_for(gamma, work.found.rows)
    shards, cuts = work.cut(Rules("noisy", floor, method.weights, None))
    made = collect(shards)
    cut = len(made.sizes)
    task.progress("adding noise to every count", 0.7)
    counts = _true_counts(made, _declared(work.found, domain), len(domain))
    counts += two_sided(ratio, counts.size, task.random.spawn(Step.NOISE)).reshape(counts.shape)
    draws, kept, counts = None, True, counts[made.along] if not method.joins(task.requirement) else counts
    if method.joins(task.requirement):
        tree, sizes = whole_tree(cuts, made.shards), np.empty(cut, np.int64)
        sizes[made.along] = made.sizes
        joined = join_boxes(tree, with_sets(counts, task.bounds), task.bounds.event_limits, sizes)
        widths = [column.size for column in work.found.table.quasi]
        made, number = join_rows(made, joined.of, work.scratch("joined"), widths, at_once=work.shard)
        added = np.zeros((len(made.sizes), len(domain)), np.int64)
        np.add.at(added, number[joined.of], counts)
        draws = np.bincount(number[joined.of]).astype(np.int64)
        counts, kept = added, joined.kept
    groups = len(made.sizes)
    shown = replace(
        made,
        entries=np.full(groups, len(domain), np.int64),
        value=np.tile(np.arange(len(domain), dtype=np.int64), groups),
        count=counts.ravel(),
    )
    task.progress("writing", 0.75)
    stated = noisy_manifest(task, method, groups, gamma=gamma, ratio=ratio)
    manifest = write_buckets(work.directory, stated, work.found, shown, domain=domain, draws=draws)
    figures = {"gamma": str(gamma), "epsilon": float(np.log(float(gamma))), "floor": floor, "boxes": cut}
    return Written(manifest, {**figures, "groups": groups, "kept": kept}, made.sizes)


def _declared(found: Outline, domain: Domain) -> Array:
    """Return the declared number of each of the table's values."""
    place = {label: code for code, label in enumerate(domain.labels)}
    return np.array([place[label] for label in found.table.sensitive.labels], dtype=np.int64)


def _true_counts(made: Collected, declared: Array, values: int) -> Integers:
    """Return [boxes × values], boxes in their order along the cuts."""
    counts = np.zeros((len(made.sizes), values), np.int64)
    counts[np.repeat(made.along, made.entries), declared[made.value]] = made.count
    return counts


def _check(made: Collected, bounds: Bounds) -> None:
    group = np.repeat(np.arange(len(made.sizes), dtype=np.int32), made.entries)
    require_bounds(Histograms(group, made.value.astype(np.int32), made.count), made.sizes, bounds.limits, made.told, bounds.sets)


Maker = Callable[[Work, Any], Written]
MAKERS: dict[tuple[str, str], Maker] = {
    ("boxes", "buckets"): make_boxes,
    ("boxes", "ranges"): make_boxes,
    ("noisy-boxes", "buckets"): make_noisy,
    ("ambiguity", "columns"): make_ambiguity,
    ("mondrian", "buckets"): make_mondrian,
    ("mondrian", "ranges"): make_mondrian,
}
"""How each method is made beyond memory, in each form."""

REASONS = {
    "burel": "it walks along one curve through all people",
    "heterogeneous": "every record is matched with people of the whole table",
    "ring": "every record is matched with people of the whole table",
    "decoys": "decoys are exchanged between buckets of the whole table",
    "priview": "which values a box covers is decided against the whole table",
    "near-groups": "whole boxes are matched and annealed at once, which has not been divided yet",
    "multi-size": "everybody is dealt to groups in one order of coins, which has not been divided yet",
    "anatomy": "everybody is dealt to groups in one order of coins, which has not been divided yet",
    "burel-perturbation": "everybody's coin is drawn in one order, which has not been divided yet",
    "privbayes": "its network is learned from the whole table",
    "noisy-tables": "its tables are counted in memory",
    "uniform": "everybody's coin is drawn in one order, which has not been divided yet",
    "small-domain": "everybody's coin is drawn in one order, which has not been divided yet",
}
"""Why every other method is made in memory only."""


def scales(method: Method) -> str:
    """Return why a method is made in memory only; empty where engines make it too."""
    if (method.name, method.form) in MAKERS:
        return ""
    forms = sorted(form for name, form in MAKERS if name == method.name)
    if forms:
        return f"only its form {forms[0]!r} is made beyond memory"
    return REASONS.get(method.name, "it looks at all people at once")


def maker_of(method: Method) -> Maker:
    """Return how a method is made beyond memory; raise where it is not."""
    why = scales(method)
    if not why:
        return MAKERS[method.name, method.form]
    forms = sorted(form for name, form in MAKERS if name == method.name)
    if forms:
        raise NotProvable(
            f"method {method.name!r} in the form {method.form!r} is made in memory only",
            hint=f'form = "{forms[0]}", or engine = "memory"',
        )
    raise NotProvable(
        f"method {method.name!r} is made in memory only: {why}",
        hint='name = "boxes", which every engine makes; or engine = "memory"',
    )
