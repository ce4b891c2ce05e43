"""Whoever holds the people of a task, and what a method may ask of them: a table in memory, or an engine beyond it.

What is asked is answered by counting people by columns, dividing them by cuts or slots, and handing over the people of a piece.
A method that asks nothing else is made by every engine (`Method.engines_refused`), and writes the same bytes with each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.auditor import Audit, audit_release
from sfumato.groups.anatomy import Listed, Shelf
from sfumato.groups.blind import Slots, deal
from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.cuts import Cuts
from sfumato.groups.fragments.boxes import presence_boxes
from sfumato.groups.fragments.cover import PresenceRule
from sfumato.groups.grouping import Grouping, histograms, require_bounds
from sfumato.groups.mondrian import classical_boxes
from sfumato.groups.near.matched import MatchOptions, matched_groups
from sfumato.groups.noisy import Joined, Tree, counts_by, cut_evenly
from sfumato.groups.streams import Step
from sfumato.methods.bands import counted_events, strata_of
from sfumato.methods.show import show
from sfumato.methods.show.noisy import NoisyCounts, show_noisy
from sfumato.methods.show.randomized import show_randomized
from sfumato.methods.task import Made, Task
from sfumato.privacy.requirement import Against
from sfumato.progress import Progress
from sfumato.randomize.apply import randomize
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.release.margins import Banded
from sfumato.table.column import Domain
from sfumato.table.marks import Marks
from sfumato.table.table import Table

if TYPE_CHECKING:
    from sfumato.methods.base import Method


@dataclass(frozen=True, eq=False)
class Declared:
    """Declared values of every secret, to whose counts noise is added: `places` are those of each of the table's own values.

    The values of one secret follow those of another. Of `most` values of a secret a person is counted.
    """

    domains: Sequence[Domain]
    places: Sequence[Integers]
    most: Sequence[int]

    @property
    def values(self) -> int:
        """How many values all secrets have together."""
        return sum(map(len, self.domains))


class People(ABC):
    """Whoever holds people: `table` has their domains and counts, and in memory their rows too."""

    table: Table
    counts: Sequence[Integers] | None = None
    """How many people have each code of each quasi column, where the table has no rows."""

    @abstractmethod
    def require_makes(self, method: Method, against: Against) -> None:
        """Raise `NotProvable` where a method cannot be made of people who are held like this."""

    def marks(self) -> Marks:
        """Return what tells these people in a later table."""
        return self.table.marks

    @abstractmethod
    def make(self, method: Method, task: Callable[..., Task], coins: Randomness) -> Made:
        """Return what the method makes of a task with these people, brought into an order; `coins` shuffle them."""

    @abstractmethod
    def audit(self, made: Made, tell: Progress) -> Audit:
        """Return the audit of what was made, against these people, that looks at nothing that depends on coins."""

    @abstractmethod
    def cut(self, task: Task, cuts: Cuts) -> Grouping:
        """Return the boxes that are left when none can be cut any more."""

    @abstractmethod
    def match(self, task: Task, options: MatchOptions) -> Grouping:
        """Return groups of near people, matched inside safe boxes."""

    @abstractmethod
    def deal(self, task: Task, slots: Slots) -> Grouping:
        """Return people dealt to the slots of their values, by coins of their places."""

    def shelves(self, many: int) -> Sequence[Shelf]:
        """Return so many places for numbers that are kept while slots are drawn."""
        return [Listed() for _ in range(many)]

    @abstractmethod
    def checked(self, task: Task, grouping: Grouping) -> Grouping:
        """Return the grouping with what its groups show, every count checked against its bound in integers."""

    @abstractmethod
    def show(self, task: Task, grouping: Grouping, method: Method) -> Release:
        """Return checked groups in the method's form."""

    @abstractmethod
    def randomized(self, task: Task, method: Method, domain: Domain, places: Integers, plan: RandomizationPlan) -> Made:
        """Return everybody's record, drawn as the plan says; `places` are those of the table's values in the domain."""

    @abstractmethod
    def cut_evenly(self, task: Task, cuts: Cuts) -> Tree:
        """Return boxes that quasi values alone decide, and the tree of their cuts."""

    @abstractmethod
    def counted(self, task: Task, tree: Tree, declared: Declared) -> Integers:
        """Return [boxes × declared values]: how many people of each box have each."""

    @abstractmethod
    def banded(self, task: Task, bands: Sequence[Banded], declared: Declared) -> list[Integers]:
        """Return the same for the bands of some quasi columns."""

    @abstractmethod
    def show_noisy(
        self, task: Task, method: Any, tree: Tree, joined: Joined | None, declared: Declared, noisy: NoisyCounts
    ) -> Release:
        """Return these boxes, joined or not, with noisy counts."""

    def code_counts(self) -> Sequence[Integers]:
        """Return how many people have each code of each quasi column."""
        if self.counts is not None:
            return self.counts
        return [np.bincount(column.codes, minlength=column.size).astype(np.int64) for column in self.table.quasi]


class Memory(People):
    """People in memory: a table with its rows."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def require_makes(self, method: Method, against: Against) -> None:
        """Return: every method is made in memory."""

    def make(self, method: Method, task: Callable[..., Task], coins: Randomness) -> Made:
        """Return what the method makes; the parts and links of records are those of the table's own rows."""
        # Nothing holds the people in another order while the release is audited: memory is what limits a table.
        if method.by_counts:
            made = method.make(task(self.table.by_values()))
            return made if made.parts is None else made.at_rows(self.table.order_of_values())
        shuffled, order = self.table.shuffled(coins)
        return method.make(task(shuffled)).at_rows(order)

    def audit(self, made: Made, tell: Progress) -> Audit:
        """Return the audit of the release against the table."""
        return audit_release(made.release, self.table, parts=made.parts, links=made.links, draw=False)

    def cut(self, task: Task, cuts: Cuts) -> Grouping:
        """Return the boxes."""
        secrets = task.secrets if task.incidence is None else task.incidence
        how: dict[str, Any] = {"soft": cuts.soft, "random": task.random}
        tight = cuts.cutting == "tight"
        if cuts.alpha is not None:
            assert not isinstance(cuts.weights, str)
            rule = PresenceRule(cuts.alpha, tight, cuts.floor, cuts.weights)
            return presence_boxes(task.quasi, task.secrets, task.bounds, rule, progress=task.part(0.0, 0.8), **how)
        if cuts.classical is not None:
            return classical_boxes(task.quasi, task.codes, task.bounds, cuts.classical, task.part(0.0, 0.8))
        how |= {"tight": tight, "floor": cuts.floor, "weights": cuts.weights, "strata": strata_of(task.table)}
        return cut_into_boxes(task.quasi, secrets, task.bounds, **how)

    def match(self, task: Task, options: MatchOptions) -> Grouping:
        """Return the groups, matched among everybody."""
        people = task.quasi, task.codes, task.combined
        return matched_groups(*people, options, random=task.random, progress=task.part(0.0, 0.8))

    def deal(self, task: Task, slots: Slots) -> Grouping:
        """Return everybody's group."""
        return Grouping(deal(task.codes, slots.all(task.bounds.counts), task.random), slots.groups, "blind")

    def checked(self, task: Task, grouping: Grouping) -> Grouping:
        """Return the grouping with its histograms."""
        kept = grouping.group >= 0 if grouping.suppressed else slice(None)
        if task.incidence is not None:
            return counted_events(task.incidence, grouping, task.bounds, task.table)
        secrets, group = task.secrets[:, kept], grouping.group[kept]
        group = group if len(secrets) == 1 else np.tile(group, len(secrets))
        shown = histograms(group, secrets.ravel(), len(task.bounds.values))
        require_bounds(shown, grouping.sizes, task.bounds, grouping.account)
        return grouping if grouping.shown is not None else replace(grouping, shown=shown)

    def show(self, task: Task, grouping: Grouping, method: Method) -> Release:
        """Return the release."""
        return show(task, grouping, method)

    def randomized(self, task: Task, method: Method, domain: Domain, places: Integers, plan: RandomizationPlan) -> Made:
        """Return the records."""
        codes = task.table.sensitive.codes
        made = randomize(codes if domain is task.table.sensitive.domain else places[codes], plan, len(domain), task.random)
        task.progress("writing the release", 0.8)
        release, number = show_randomized(task, method, domain, plan, made)
        return Made(release, {}, number[made.part].astype(np.int64))

    def cut_evenly(self, task: Task, cuts: Cuts) -> Tree:
        """Return the boxes."""
        assert not isinstance(cuts.weights, str)
        return cut_evenly(task.quasi, cuts.floor, cuts.weights)

    def counted(self, task: Task, tree: Tree, declared: Declared) -> Integers:
        """Return the counts of the boxes."""
        return _counted(task, tree.group, tree.boxes, declared)

    def banded(self, task: Task, bands: Sequence[Banded], declared: Declared) -> list[Integers]:
        """Return the counts of the bands."""
        codes = [column.codes for column in task.quasi]
        return [_counted(task, own.of(codes), own.many, declared) for own in bands]

    def show_noisy(
        self, task: Task, method: Any, tree: Tree, joined: Joined | None, declared: Declared, noisy: NoisyCounts
    ) -> Release:
        """Return the release."""
        group = tree.group if joined is None else joined.of[tree.group].astype(np.int32)
        return show_noisy(task, method, Grouping(group, len(noisy.counts), "noisy"), declared.domains, noisy)


def _counted(task: Task, group: Array, groups: int, declared: Declared) -> Integers:
    """Return [groups × declared values]: how many people of each group have each value, and are counted of it."""
    bundles = task.table.bundles
    if bundles is None:
        each = zip(task.table.each(), declared.places, declared.domains, strict=True)
        return np.hstack([counts_by(group, groups, places[one.sensitive.codes], len(domain)) for one, places, domain in each])
    order = task.random.spawn(Step.COUNTED).permutation(int(bundles.numbers().sum()))
    person, value = bundles.counted(list(declared.most), order)
    first = np.cumsum([0, *map(len, declared.domains)])
    place = np.concatenate([places + start for places, start in zip(declared.places, first, strict=False)])
    return counts_by(group[person], groups, place[value], declared.values)
