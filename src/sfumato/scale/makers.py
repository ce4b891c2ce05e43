"""How each method is made beyond memory, in each form, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import NotProvable
from sfumato.groups.counted import TopCuts
from sfumato.groups.cuts import Space, axes, column_weights
from sfumato.groups.fragments.cover import require_presence
from sfumato.groups.grouping import Grouping, Histograms, canonical_order, require_bounds
from sfumato.groups.mondrian import classical
from sfumato.groups.near.matched import block_of, least_box, variety_of
from sfumato.groups.near.order import BoxCost, domain_widths
from sfumato.groups.noisy import join_boxes, with_sets
from sfumato.groups.soft import SoftTests, soft_rule
from sfumato.groups.streams import Step
from sfumato.methods import Method
from sfumato.methods.base import Task, size_figures
from sfumato.methods.margins import MarginPlan, noisy_margins
from sfumato.methods.multi_size import plan_figures
from sfumato.methods.noisy_boxes import odds_within
from sfumato.methods.randomizing import closed_domain, declared_places
from sfumato.methods.randomizing import plan_figures as plan_figures_of
from sfumato.methods.show.columns import fragment_facts
from sfumato.methods.show.manifest import group_manifest
from sfumato.methods.show.noisy import noisy_manifest
from sfumato.methods.show.randomized import show_randomized
from sfumato.privacy.bounds import Bounds
from sfumato.randomize.apply import Randomized
from sfumato.randomize.noise import noise_ratio, two_sided
from sfumato.randomness import Randomness
from sfumato.release.accounts import noise_tables
from sfumato.release.boxes import Box
from sfumato.release.buckets import GROUP
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Manifest
from sfumato.release.margins import MARGINS, Banded, Margins
from sfumato.scale.blind import AnatomySlots, GroupAssignment, RoundRobin, deal
from sfumato.scale.boxes import PublishedCodes, boxes
from sfumato.scale.collect import Collected, StoredShard, collect, collect_columns, collect_ranges
from sfumato.scale.joined import join_rows, whole_tree
from sfumato.scale.layout import Blocks
from sfumato.scale.outline import Outline
from sfumato.scale.randomized import RecordCodes, randomized_records
from sfumato.scale.shard import Matching, Rules
from sfumato.scale.write import write_buckets, write_dealt, write_ranges, write_records, write_small
from sfumato.table.column import Domain


class Work(NamedTuple):
    """What a maker is given: a task without rows, the outline, everybody's codes, where to write, and how large a shard is."""

    task: Task
    outline: Outline
    people: PublishedCodes
    directory: Path
    shard: int
    scratch: Callable[[str], Path]
    coded: Callable[[], Blocks]
    """Everybody's codes in files of this machine."""
    shuffling: Randomness
    """The coins that people are shuffled by before a method sees them."""

    def cut(self, rules: Rules) -> tuple[list[StoredShard], TopCuts]:
        """Return the boxes that these rules cut, shard by shard, and the first cuts."""
        task = self.task
        return boxes(self.outline, self.people, task.bounds, rules, task.random, shard=self.shard, progress=task.progress)


class Written(NamedTuple):
    """What a maker gives: the manifest as written, private figures, and how many people each group has."""

    manifest: Manifest
    figures: dict[str, Any]
    sizes: Integers
    in_parts: Integers | None = None
    """[parts × values]: how many people of each true value are in each part of a randomized release."""


def make_boxes(work: Work, method: Any) -> Written:
    """Cut boxes, check every count against its bound, and write them."""
    cutting, rule = _cutting(work.task, method)
    shards, _ = work.cut(Rules(cutting, method.floor, method.weights, rule, form=method.form))
    written = _written(work, method, shards, cutting, {})
    sizes = written.sizes
    stopped = sizes[sizes < 2 * method.floor].sum() / max(int(sizes.sum()), 1)
    return written._replace(figures={**written.figures, "share_in_boxes_at_the_floor": float(stopped)})


def make_mondrian(work: Work, method: Any) -> Written:
    """Cut Mondrian's boxes, check them, and write them: strict ones, which no order of people decides."""
    for name, asked, known, why in (
        ("partition", method.partition, ("strict",), "people at a median are divided in an order of coins of all rows"),
        (
            "constraint",
            method.constraint,
            ("bounds", "distinct", "entropy"),
            "what groups are compared with has a number for every size that a group could have",
        ),
    ):
        if asked not in known:
            raise NotProvable(
                f"method 'mondrian' with {name} = {asked!r} is made in memory only: {why}",
                hint=f'{name} = "{known[0]}", or engine = "memory"',
            )
    bounds = work.task.bounds
    rule = classical(bounds, constraint=method.groups_keep, k=method.k)
    shards, _ = work.cut(Rules("tight", method.k, None, None, rule, method.form))
    return _written(work, method, shards, "tight", method.said(bounds))


def make_near(work: Work, method: Any) -> Written:
    """Cut safe boxes of at most a shard of people, match people inside each as in memory, and write the groups."""
    task, columns = work.task, work.outline.table.quasi
    if task.against == "reader":
        raise NotProvable(
            "method 'near-groups' against a reader is made in memory only: people are exchanged until groups of the whole "
            "table get no nearer",
            hint='against = "engineer", whose groups are matched inside boxes; or name = "boxes", or engine = "memory"',
        )
    if method.effort is not None:
        method.group(task)  # which says why it is refused
    widths = domain_widths(columns, work.outline.table.schema)
    floor = method.floor or 100
    space = Space(np.zeros((len(columns), 0), np.int32), *axes(columns))
    weights = variety_of(BoxCost.of(columns, widths, space), work.outline.counts) * column_weights(columns, method.weights)
    matching = Matching(columns, tuple(widths), floor, method.weights, block_of(work.outline.rows), work.shuffling)
    least = least_box(task.bounds, floor)
    shards, _ = work.cut(Rules("safe", least, weights, None, None, method.form, None, matching))
    written = _written(work, method, shards, "matched", {})
    own = [shard.made.figures for shard in shards]
    figures: dict[str, Any] = {name: sum(made[name] for made in own) for name in ("boxes", "people_left_over", "blocks")}
    figures["group_sizes"] = sorted({size for made in own for size in made["group_sizes"]})
    return written._replace(figures={**written.figures, **figures})


def make_ambiguity(work: Work, method: Any) -> Written:
    """Cut boxes that keep a bound on presence too, check them, and write them column by column."""
    if method.grouping != "boxes":
        raise NotProvable(
            f"method 'ambiguity' with grouping = {method.grouping!r} is made in memory only: the values that its groups show "
            "decide about the next ones, and beyond memory first cuts are decided by counts",
            hint='grouping = "boxes", or engine = "memory"',
        )
    task, columns = work.task, work.outline.table.quasi
    alpha = Fraction(task.requirement.presence or 1)
    covered = prod(int(np.count_nonzero(counts)) for counts in work.outline.counts)
    require_presence(columns, work.outline.rows, alpha, bounded=task.bounds.protects, covered=covered)
    cutting, rule = _cutting(task, method)
    shards, _ = work.cut(Rules(cutting, method.floor, method.weights, rule, None, "columns", alpha))
    made, shown = collect_columns(shards, columns)
    _check(made, task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(made.sizes), cutting, account=made.account)
    stated = group_manifest(task, method, method.form, grouping, fragment_facts(grouping))
    group = np.repeat(np.arange(grouping.groups, dtype=np.int32), made.entries)
    quasi, start = (tuple(parts) for parts in zip(*shown, strict=True))
    task.progress("writing", 0.75)
    entries = group, made.value.astype(np.int32), made.count
    release = ColumnsRelease(stated, quasi, start, work.outline.table.events, *entries, account=made.account).canonical()
    return Written(write_small(work.directory, stated, release.tables()), size_figures(made.sizes), release.sizes)


def _cutting(task: Task, method: Any) -> tuple[Any, SoftTests | None]:
    """Return how boxes are cut against the requirement's adversary, and the rule of soft cuts."""
    if task.against == "reader":
        return "tight", None
    rule = soft_rule(task.bounds, method.patience)
    return "safe" if rule is None else "soft", rule


def _written(work: Work, method: Any, shards: list[StoredShard], basis: Any, said: dict[str, str]) -> Written:
    """Check every count of every box against its bound, and write the boxes in the method's form."""
    task, columns = work.task, work.outline.table.quasi
    shown: tuple[Box, ...] = ()
    if method.shown_as.as_ranges:
        made, shown = collect_ranges(shards, columns)
    else:
        made = collect(shards)
    _check(made, task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(made.sizes), basis, public=said, account=made.account)
    task.progress("writing", 0.75)
    if method.shown_as.as_ranges:
        stated = group_manifest(task, method, method.form, grouping, {"groups": grouping.groups})
        manifest = write_ranges(work.directory, stated, work.outline, made, shown)
    else:
        public = {"groups": grouping.groups, "decoys": 0, "suppression": False}
        stated = group_manifest(task, method, method.form, grouping, public)
        manifest = write_buckets(work.directory, stated, work.outline, made)
    return Written(manifest, size_figures(made.sizes), made.sizes)


def make_blind(work: Work, method: Any) -> Written:
    """Deal everybody to the groups of a plan, by coins of her place, and write them as buckets."""
    bounds = work.task.bounds
    chosen = method.plan(bounds, work.task)
    numbers = np.array(chosen.setting.numbers, dtype=np.int64)
    slots = RoundRobin(np.array(chosen.allocation, dtype=np.int64), numbers, canonical_order(bounds))
    return _dealt(work, method, slots, plan_figures(chosen), complete=chosen.complete)


def make_anatomy(work: Work, method: Any) -> Written:
    """Deal everybody to Anatomy's groups."""
    if method.suppress:
        raise NotProvable(
            "method 'anatomy' with suppress = true is made in memory only: who is left out is drawn from all people of a value",
            hint='suppress = false, or engine = "memory"',
        )
    bounds = work.task.bounds
    size, removed = method.sizes(bounds)
    counts = np.array(bounds.counts, dtype=np.int64)
    assert not removed.any()
    slots = AnatomySlots(counts, size, canonical_order(bounds), work.task.random, work.scratch("slots"))
    return _dealt(work, method, slots, {"l": size, "suppressed": {}})


def _dealt(work: Work, method: Any, slots: GroupAssignment, figures: dict[str, Any], *, complete: bool = True) -> Written:
    task = work.task
    task.progress("assigning people to groups", 0.4)
    dealt = deal(work.coded(), work.outline.sizes, slots, task.random, work.scratch("dealt"), work.shard)
    for begin in range(0, dealt.entries.total, work.shard):
        group, value, count = dealt.entries.part(begin, min(begin + work.shard, dealt.entries.total))
        shown = Histograms((group - group[0]).astype(np.int32), value.astype(np.int32), count)
        require_bounds(shown, dealt.sizes[group[0] : group[-1] + 1], task.bounds)
    grouping = Grouping(np.zeros(0, np.int32), len(dealt.sizes), "blind", complete=complete)
    public = {"groups": grouping.groups, "decoys": 0, "suppression": False}
    task.progress("writing", 0.75)
    manifest = write_dealt(work.directory, group_manifest(task, method, "buckets", grouping, public), work.outline, dealt)
    return Written(manifest, {**size_figures(dealt.sizes), **figures}, dealt.sizes)


def make_randomized(work: Work, method: Any) -> Written:
    """Randomize everybody's value by coins of her place, and write the records."""
    task, table = work.task, work.outline.table
    task.progress("finding parts and retentions", 0.3)
    domain = method.published_domain(table)
    plan = method.planned(task.requirement, task.bounds, table.rows)
    nobody = np.zeros(0, np.int32)
    empty, number = show_randomized(task, method, domain, plan, Randomized(nobody, nobody))
    described = [part.described for part in empty.parts]
    if any(part == two for part, two in pairwise(sorted(described))):
        raise NotProvable(
            f"method {method.name!r}: two parts of its plan are described alike, and only all records tell which comes first",
            hint='engine = "memory"',
        )
    task.progress("randomizing values", 0.4)
    codes, place = RecordCodes(declared_places(table, domain), len(domain), number), work.scratch("randomized")
    made = randomized_records(work.coded(), work.outline.sizes, plan, codes, task.random, place, work.shard)
    task.progress("writing", 0.75)
    manifest = write_records(work.directory, empty.manifest, work.outline, domain, made.rows)
    return Written(manifest, plan_figures_of(plan), np.ones(0, np.int64), made.in_parts)


def make_noisy(work: Work, method: Any) -> Written:
    """Cut boxes by quasi values alone, add noise to every count of every declared value, and write them as buckets.

    Noise is drawn on the driver, for boxes in their order along the cuts, as in memory.
    """
    task = work.task
    domain = closed_domain(work.outline.table, method.close(work.outline.table.schema))
    gamma = odds_within(task.bounds)
    plan = method.margin_plan(gamma, work.outline.rows, work.outline.table.schema)
    left = gamma if plan is None else gamma / plan.gamma
    ratio = noise_ratio(left)
    floor = method.floor_for(left, work.outline.rows)
    shards, cuts = work.cut(Rules("noisy", floor, method.weights, None))
    made = collect(shards)
    cut = len(made.sizes)
    task.progress("adding noise to every count", 0.7)
    counts = np.zeros((cut, len(domain)), np.int64)  # boxes in their order along the cuts
    counts[np.repeat(made.along, made.entries), declared_places(work.outline.table, domain)[made.value]] = made.count
    counts += two_sided(ratio, counts.size, task.random.spawn(Step.NOISE)).reshape(counts.shape)
    margins = None if plan is None else _margins(work, plan, domain)
    draws, kept, counts = None, True, counts if method.merge else counts[made.along]
    if method.merge:
        tree, sizes = whole_tree(cuts, made.shards), np.empty(cut, np.int64)
        sizes[made.along] = made.sizes
        joined = join_boxes(tree, with_sets(counts, task.bounds), task.bounds.limits, sizes)
        widths = [column.size for column in work.outline.table.quasi]
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
    stated = noisy_manifest(task, method, groups, gamma=gamma, ratio=ratio, plan=plan)
    beside = noise_tables(draws, GROUP) | ({} if margins is None else {MARGINS: margins.table(domain)})
    manifest = write_buckets(work.directory, stated, work.outline, shown, domain=domain, beside=beside)
    figures = {"gamma": str(gamma), "epsilon": float(np.log(float(gamma))), "floor": floor, "boxes": cut}
    return Written(manifest, {**figures, "groups": groups, "kept": kept}, made.sizes)


def _margins(work: Work, plan: MarginPlan, domain: Domain) -> Margins:
    """Return noisy tables beside boxes, counted wherever people lie; noise is drawn as in memory."""
    values, place = len(domain), declared_places(work.outline.table, domain)

    def tally(banded: tuple[Banded, ...]) -> list[Integers]:
        def empty() -> list[Integers]:
            return [np.zeros(own.many * values, np.int64) for own in banded]

        def add(rows: Sequence[Array], sums: list[Integers]) -> None:
            for own, total in zip(banded, sums, strict=True):
                total += np.bincount(own.of(rows) * values + place[rows[-1]], minlength=len(total))

        found: list[Integers] = work.people.total(empty, add)
        return [total.reshape(-1, values) for total in found]

    return noisy_margins(plan, work.outline.table.quasi, work.outline.counts, tally, work.task.random)


def _check(made: Collected, bounds: Bounds) -> None:
    group = np.repeat(np.arange(len(made.sizes), dtype=np.int32), made.entries)
    require_bounds(Histograms(group, made.value.astype(np.int32), made.count), made.sizes, bounds, made.account)


Maker = Callable[[Work, Any], Written]
MAKERS: dict[tuple[str, str], Maker] = {
    ("boxes", "buckets"): make_boxes,
    ("boxes", "ranges"): make_boxes,
    ("burel-perturbation", "randomized"): make_randomized,
    ("noisy-boxes", "buckets"): make_noisy,
    ("small-domain", "randomized"): make_randomized,
    ("uniform", "randomized"): make_randomized,
    ("ambiguity", "columns"): make_ambiguity,
    ("anatomy", "buckets"): make_anatomy,
    ("mondrian", "buckets"): make_mondrian,
    ("mondrian", "ranges"): make_mondrian,
    ("multi-size", "buckets"): make_blind,
    ("near-groups", "buckets"): make_near,
    ("near-groups", "ranges"): make_near,
}
"""How each method is made beyond memory, in each form."""

EACH = {("boxes", "buckets"), ("boxes", "ranges"), ("ambiguity", "columns")}
"""What is made beyond memory also where each of several secrets is protected by itself."""

EACH_REASONS = {
    "near-groups": "people are matched by the values",
    "noisy-boxes": "noise is added to the counts",
}
"""What is done beyond memory with one secret only."""

REASONS = {
    "burel": "it walks along one curve through all people",
    "heterogeneous": "every record is matched with people of the whole table",
    "ring": "every record is matched with people of the whole table",
    "decoys": "decoys are exchanged between groups of the whole table",
    "priview": "which values a box covers is decided against the whole table",
    "privbayes": "its network is learned from the whole table",
    "noisy-tables": "its tables are counted in memory",
}
"""Why every other method is made in memory only."""


def scales(method: Method) -> str:
    """Return why a method is made in memory only; empty where engines make it too."""
    if (method.name, method.form) in MAKERS:
        return ""
    made = _made_form(method)
    return f"only its form {made!r} is made beyond memory" if made else REASONS.get(method.name, "it looks at all people at once")


def _made_form(method: Method) -> str:
    """Return a form in which the method is made beyond memory; empty where there is none."""
    return min((form for name, form in MAKERS if name == method.name), default="")


def maker_of(method: Method, *, each: bool = False) -> Maker:
    """Return how a method is made beyond memory, also where `each` of several secrets is protected by itself; raise if not."""
    why = scales(method)
    if not why and each and (method.name, method.form) not in EACH:
        done = EACH_REASONS.get(method.name, "it is made for the values")
        raise NotProvable(
            f'protect = "each": method {method.name!r} in the form {method.form!r} protects each secret by itself in memory '
            f"only: beyond it {done} of one secret",
            hint='name = "boxes", which does so beyond memory; or engine = "memory", or protect = "combination"',
        )
    if not why:
        return MAKERS[method.name, method.form]
    if _made_form(method):
        raise NotProvable(
            f"method {method.name!r} in the form {method.form!r} is made in memory only: beyond it nothing puts together "
            "what its groups show in this form",
            hint=f'form = "{_made_form(method)}", or engine = "memory"',
        )
    raise NotProvable(
        f"method {method.name!r} is made in memory only: {why}",
        hint='name = "boxes", which every engine makes; or engine = "memory"',
    )
