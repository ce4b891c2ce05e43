"""People whom an engine holds, as methods ask for them: counted where they lie, divided into shards, and written part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.auditor import Audit
from sfumato.errors import NotProvable
from sfumato.form import FORMS
from sfumato.groups.anatomy import Shelf
from sfumato.groups.blind import Slots
from sfumato.groups.boxes import weights_by_pairs
from sfumato.groups.counted import TopCuts, secret_shape, top_cuts
from sfumato.groups.cuts import Cuts, Space, axes, column_weights, on_lines
from sfumato.groups.grouping import Grouping, Histograms, require_bounds
from sfumato.groups.near.matched import MatchOptions, block_of, least_box, variety_of
from sfumato.groups.near.order import BoxCost
from sfumato.groups.noisy import Joined, Tree
from sfumato.methods import Method
from sfumato.methods.people import Declared, People
from sfumato.methods.show.manifest import group_manifest
from sfumato.methods.show.noisy import NoisyCounts, noisy_manifest
from sfumato.methods.show.randomized import show_randomized
from sfumato.methods.task import Made, Task
from sfumato.privacy.requirement import Against
from sfumato.progress import Progress
from sfumato.randomize.apply import Randomized
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomness import Randomness
from sfumato.release.accounts import noise_tables
from sfumato.release.buckets import GROUP
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Manifest
from sfumato.release.margins import MARGINS, Banded
from sfumato.scale.audit import audit_parts
from sfumato.scale.blind import Dealt, deal
from sfumato.scale.collect import Collected, StoredShard, collect, collect_columns, collect_ranges
from sfumato.scale.engine import Engine, PublishedCodes
from sfumato.scale.joined import join_rows, whole_tree
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.outline import Outline
from sfumato.scale.randomized import RecordCodes, randomized_records
from sfumato.scale.shard import CutPlan, Matching
from sfumato.scale.shown import ranged
from sfumato.scale.tally import Counter, Frame, frame_of
from sfumato.scale.write import write_buckets, write_dealt, write_ranges, write_records, write_small
from sfumato.table.column import Domain, Events
from sfumato.table.marks import Marks


class Written(NamedTuple):
    """A release that lies in a directory: its manifest, and how many people each of its groups has."""

    manifest: Manifest
    sizes: Integers


@dataclass(frozen=True, eq=False)
class Stored(Grouping):
    """Groups whose people lie in files, and what they show column by column, if they do."""

    held: Collected | Dealt | None = None
    seen: Sequence[Any] = ()

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        assert self.held is not None
        return self.held.sizes


@dataclass(frozen=True, eq=False)
class StoredTree(Tree):
    """Boxes that quasi values alone decide, whose people lie in files."""

    held: Collected

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each box, along the cuts."""
        return self.held.along_cuts(self.held.sizes)


class Counted(People):
    """People whom an engine holds. What is made of them is written to `directory`, shards having so many people."""

    def __init__(self, engine: Engine, outline: Outline, directory: Path, shard: int) -> None:
        self.engine, self.outline, self.directory, self.shard = engine, outline, directory, shard
        self.table, self.counts = outline.table, outline.counts
        self.form = "buckets"

    @cached_property
    def codes(self) -> PublishedCodes:
        """Everybody's codes, wherever they lie."""
        return self.engine.people(self.outline)

    def make(self, method: Method, task: Callable[..., Task], coins: Randomness) -> Made:
        """Return what the method makes: people have no order but that of their values."""
        self.form, self.shuffling, asked = method.form, coins, task(self.table, self)
        asked.progress("coding rows", 0.1)
        _ = self.codes
        return method.make(asked)

    def require_makes(self, method: Method, against: Against) -> None:
        """Raise `NotProvable` where engines cannot make a method."""
        require_made(method, against)

    def marks(self) -> Marks:
        """Return what tells these people in a later table."""
        return self.engine.marks()

    def audit(self, made: Made, tell: Progress) -> Audit:
        """Return the audit of what was written, a part at a time."""
        tell("auditing", 0.85)
        manifest, place = made.release.manifest, self.engine.scratch("audit")
        coded = self.engine.coded(self.outline)
        return audit_parts(self.directory, manifest, place, self.outline, coded, draw=False, in_parts=made.parts)

    def cut(self, task: Task, cuts: Cuts) -> Stored:
        """Return the boxes: first cuts by counting, then one shard after another."""
        return self._collected(self._shards(task, cuts)[0], cuts.cutting)

    def match(self, task: Task, options: MatchOptions) -> Stored:
        """Return groups that are matched inside safe boxes of at most a shard of people."""
        columns, widths = task.quasi, tuple(options.widths or ())
        space = Space(np.zeros((len(columns), 0), np.int32), *axes(columns))
        varied = variety_of(BoxCost.of(columns, widths, space), self.outline.counts)
        own = options._replace(block=options.block or block_of(self.outline.rows))
        matching = Matching(columns, own, task.combined, self.shuffling)
        cuts = Cuts("safe", least_box(task.combined, options.floor))
        shards, _ = self._shards(task, cuts, matching, varied * column_weights(columns, options.weights))
        each = [shard.made.figures for shard in shards]
        figures: dict[str, Any] = {name: sum(made[name] for made in each) for name in ("boxes", "people_left_over", "blocks")}
        figures["group_sizes"] = sorted({size for made in each for size in made["group_sizes"]})
        return replace(self._collected(shards, "matched"), figures=figures)

    def shelves(self, many: int) -> Sequence[Shelf]:
        """Return so many files for numbers."""
        place = self.engine.scratch("slots")
        return [_Filed(place / f"slots{value}") for value in range(many)]

    def deal(self, task: Task, slots: Slots) -> Stored:
        """Return everybody's group, in files."""
        task.progress("assigning people to groups", 0.4)
        place, coded = self.engine.scratch("dealt"), self.engine.coded(self.outline)
        held = deal(coded, self.outline.sizes, slots, task.random, place, self.shard)
        return Stored(_NOBODY, len(held.sizes), "blind", held=held)

    def checked(self, task: Task, grouping: Grouping) -> Grouping:
        """Return the same, every count checked, about a shard of entries at a time where they lie in files."""
        assert isinstance(grouping, Stored)
        held = grouping.held
        if isinstance(held, Dealt):
            for begin in range(0, held.entries.total, self.shard):
                group, value, count = held.entries.part(begin, min(begin + self.shard, held.entries.total))
                shown = Histograms((group - group[0]).astype(np.int32), value.astype(np.int32), count)
                require_bounds(shown, held.sizes[group[0] : group[-1] + 1], task.bounds)
            return grouping
        assert held is not None
        require_bounds(Histograms(held.group, held.value.astype(np.int32), held.count), held.sizes, task.bounds, held.account)
        return grouping

    def show(self, task: Task, grouping: Grouping, method: Method) -> Any:
        """Write the groups in the method's form, part by part."""
        assert isinstance(grouping, Stored)
        task.progress("writing", 0.75)
        held = grouping.held
        public: dict[str, Any] = {"groups": grouping.groups}
        if method.shown_as.exact_quasi:
            public |= {"decoys": 0, "suppression": False}
        stated = group_manifest(task, method, method.form, grouping, public)
        if isinstance(held, Dealt):
            return Written(write_dealt(self.directory, stated, self.outline, held), held.sizes)
        assert held is not None
        if method.shown_as.hides_presence:
            quasi, start = (tuple(parts) for parts in zip(*grouping.seen, strict=True))
            entries = held.group, held.value.astype(np.int32), held.count
            shown = ColumnsRelease(stated, quasi, start, self.table.events, *entries, account=held.account).canonical()
            return Written(write_small(self.directory, stated, shown.tables()), shown.sizes)
        if method.shown_as.as_ranges:
            return Written(write_ranges(self.directory, stated, self.outline, held, tuple(grouping.seen)), held.sizes)
        return Written(write_buckets(self.directory, stated, self.outline, held), held.sizes)

    def randomized(self, task: Task, method: Method, domain: Domain, places: Integers, plan: RandomizationPlan) -> Made:
        """Write everybody's record; the parts are how many people of each true value are in each."""
        nobody = np.zeros(0, np.int32)
        empty, number = show_randomized(task, method, domain, plan, Randomized(nobody, nobody))
        described = [part.described for part in empty.parts]
        if any(part == two for part, two in pairwise(sorted(described))):
            raise NotProvable(
                f"method {method.name!r}: two parts of its plan are described alike, and only all records tell which comes first",
                hint='engine = "memory"',
            )
        codes, place = RecordCodes(places, len(domain), number), self.engine.scratch("randomized")
        coded = self.engine.coded(self.outline)
        made = randomized_records(coded, self.outline.sizes, plan, codes, task.random, place, self.shard)
        task.progress("writing", 0.75)
        manifest = write_records(self.directory, empty.manifest, self.outline, domain, made.rows)
        return Made(Written(manifest, np.ones(0, np.int64)), {}, made.in_parts)  # type: ignore[arg-type]

    def cut_evenly(self, task: Task, cuts: Cuts) -> StoredTree:
        """Return the boxes, shard by shard, and one tree of all cuts."""
        shards, top = self._shards(task, cuts)
        held = collect(shards)
        tree = whole_tree(top, held.shards)
        return StoredTree(tree.group, tree.sides, tree.box, held)

    def counted(self, task: Task, tree: Tree, declared: Declared) -> Integers:
        """Return the counts that shards came with."""
        assert isinstance(tree, StoredTree)
        held, places = tree.held, np.concatenate([*_after_another(declared)])
        counts = np.zeros((len(held.sizes), declared.values), np.int64)
        np.add.at(counts, (np.repeat(held.along, held.entries), places[held.value]), held.count)
        return counts

    def banded(self, task: Task, bands: Sequence[Banded], declared: Declared) -> list[Integers]:
        """Return the counts of bands, summed up wherever people lie."""
        every = np.concatenate([*_after_another(declared)])
        values, places = declared.values, [every[own] for own in self.outline.stack]

        def empty() -> list[Integers]:
            return [np.zeros(own.many * values, np.int64) for own in bands]

        def add(rows: Sequence[Array], sums: list[Integers]) -> None:
            for own, total in zip(bands, sums, strict=True):
                for place in places:
                    total += np.bincount(own.of(rows) * values + place[rows[-1]], minlength=len(total))

        found: list[Integers] = self.codes.total(empty, add)
        return [total.reshape(-1, values) for total in found]

    def show_noisy(
        self, task: Task, method: Any, tree: Tree, joined: Joined | None, declared: Declared, noisy: NoisyCounts
    ) -> Any:
        """Write these boxes as buckets; those that are joined are sorted again."""
        assert isinstance(tree, StoredTree)
        held, counts, draws = tree.held, noisy.counts, noisy.draws
        if joined is None:
            counts = counts[held.along]
        else:
            widths = [column.size for column in self.table.quasi]
            held, number = join_rows(held, joined.of, self.engine.scratch("joined"), widths, at_once=self.shard)
            order = np.argsort(number)
            counts, draws = counts[order], None if draws is None else draws[order]
        groups, values = counts.shape
        every = np.tile(np.arange(values, dtype=np.int64), groups)
        shown = replace(held, entries=np.full(groups, values, np.int64), value=every, count=counts.ravel())
        stated = noisy_manifest(task, method, groups, gamma=noisy.gamma, ratio=noisy.ratio, plan=noisy.plan)
        domains = tuple(declared.domains)
        domain: Domain | Events = domains[0] if len(domains) == 1 else Events(domains)
        beside = noise_tables(draws, GROUP)
        if noisy.margins is not None:
            beside = beside | {MARGINS: noisy.margins.table(domain)}
        return Written(write_buckets(self.directory, stated, self.outline, shown, domain=domain, beside=beside), shown.sizes)

    def _collected(self, shards: Sequence[StoredShard], basis: Any) -> Stored:
        columns = self.table.quasi
        seen: Sequence[Any] = ()
        if FORMS[self.form].as_ranges:
            held, seen = collect_ranges(shards, columns)
        elif FORMS[self.form].exact_quasi:
            held = collect(shards)
        else:
            held, seen = collect_columns(shards, columns)
        return Stored(_NOBODY, len(held.sizes), basis, account=held.account, held=held, seen=seen)

    def _shards(
        self, task: Task, cuts: Cuts, matching: Matching | None = None, weights: Array | None = None
    ) -> tuple[list[StoredShard], TopCuts]:
        """Return all boxes, shard by shard, from left to right along the cuts: those that everybody in memory would give."""
        outline, people, tell = self.outline, self.codes, task.progress
        tell("ordering categories", 0.3)
        frame = frame_of(outline, np.ones(len(outline.table.quasi)), people.total)
        own = frame.axes._replace(weights=self._weights(frame, cuts) if weights is None else weights)
        frame = replace(frame, axes=own if matching is None else own._replace(kind=on_lines(own.kind)))
        sizes = tuple(column.size for column in outline.table.quasi)
        absent = None if FORMS[self.form].exact_quasi else ranged(outline.table.quasi, self.form)
        how = CutPlan(frame, sizes, task.bounds, cuts, task.random, absent, outline.rows, matching)
        tell("cutting quasi space", 0.35)
        top = top_cuts(
            Counter(frame, people.total),
            frame.axes,
            secret_shape(task.bounds),
            how.acceptance(),
            people=outline.rows,
            shard=max(self.shard, 2 * cuts.floor),
            alpha=cuts.alpha,
            whole=matching is not None,
        )
        tell("cutting quasi space", 0.5)
        return list(people.shards(how, top, lambda done: tell("cutting quasi space", 0.5 + 0.25 * done))), top

    def _weights(self, frame: Frame, cuts: Cuts) -> Floats:
        if cuts.weights != "association":
            return column_weights(self.table.quasi, cuts.weights)
        root = np.array([[-1, -1, -1, 0, -1, -1]], dtype=np.int64)
        pairs: Integers = Counter(frame, self.codes.total).pairs(root, np.zeros(1, np.int64))[0]
        first, ends = frame.axes.first, [int(one.max()) + 1 for one in frame.stack]
        by_secret = []
        for begin, end in zip([0, *ends], ends, strict=False):  # codes as published, as a column has them
            by_secret.append([pairs[first[j] : first[j + 1], begin:end][place] for j, place in enumerate(frame.places)])
        return weights_by_pairs(by_secret)


_NOBODY = np.zeros(0, np.int32)


def require_made(method: Method, against: Against) -> None:
    """Raise `NotProvable` where engines beyond memory cannot make a method, with the reason and what works."""
    why = method.engines_refused(against)
    if why is not None:
        raise NotProvable(f"method {method.name!r} is made in memory only: {why[0]}", hint=f'{why[1]}; or engine = "memory"')


def _after_another(declared: Declared) -> Sequence[Integers]:
    """Return the places of each secret's values, those of one after those of another."""
    first = np.cumsum([0, *map(len, declared.domains)]).tolist()
    return [places + start for places, start in zip(declared.places, first, strict=False)]


class _Filed:
    """Numbers in a file."""

    def __init__(self, path: Path) -> None:
        self.blocks = Blocks(path, Layout((np.dtype(np.int64),)))

    @property
    def total(self) -> int:
        """How many there are."""
        return self.blocks.total

    def add(self, numbers: Integers) -> None:
        """Keep these too."""
        self.blocks.append([numbers])

    def part(self, begin: int, end: int) -> Integers:
        """Return those from one place up to another: the blocks of a file of one column follow one another."""
        if begin >= end or not self.blocks.total:
            return np.zeros(0, np.int64)
        with self.blocks.path.open("rb") as stream:
            stream.seek(8 * begin)
            return np.frombuffer(stream.read(8 * (end - begin)), np.int64)
