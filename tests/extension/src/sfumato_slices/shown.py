"""The slices in sfumato's other forms: columns apart, two views, records with ranges of their own, and records of nobody."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from sfumato.groups.boxes import least_side
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Made, Task, Ungrouped
from sfumato.methods.linking import Linked, Linking
from sfumato.methods.show.synthetic import Drawn, show_synthetic
from sfumato.parameters import REQUIRED, flag, parameter, rational
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.differential import power_below
from sfumato.privacy.requirement import Against, Requirement
from sfumato.release.links import Links
from sfumato.release.views import MOVED
from sfumato.table.table import Table
from sfumato_slices.method import Slices


@dataclass(frozen=True, kw_only=True)
class ApartSlices(Slices):
    """Slices, each quasi column in a table of its own: they hide presence as far as other people could be in a slice.

    Equal values stay together: nobody's quasi values then fit two slices.
    """

    name: ClassVar[str] = "slices-apart"
    form: ClassVar[str] = "columns"
    hides_presence: ClassVar[bool] = True

    def group(self, task: Task) -> Grouping:
        column = task.quasi[0 if self.column is None else [one.name for one in task.quasi].index(self.column)]
        times = np.bincount(column.codes, minlength=column.size)
        step = least_side(task.bounds)[1] + int(times.max())
        number = max(task.bounds.people // step, 1)
        slice_of = np.minimum((np.cumsum(times) - times) // step, number - 1)  # the last one takes the rest
        return Grouping(slice_of[column.codes].astype(np.int32), number, "safe")


@dataclass(frozen=True, kw_only=True)
class PublishedSlices(ApartSlices):
    """The same as if a paper proposed it, with a claim that is weaker than a bound on belief."""

    accept_weaker_claim: bool = parameter(False, flag)

    name: ClassVar[str] = "slices-published"
    unproven: ClassVar[str] = "it is here to show what such a method may say"
    instead: ClassVar[str] = 'name = "slices-apart"'

    def proves(self) -> tuple[Against, ...]:
        return ()

    def group(self, task: Task) -> Grouping:
        return replace(super().group(task), basis="paper")


@dataclass(frozen=True, kw_only=True)
class ViewedSlices(PublishedSlices):
    """The same in two views, the last quasi column beside the values."""

    name: ClassVar[str] = "slices-viewed"
    form: ClassVar[str] = "views"

    def group(self, task: Task) -> Grouping:
        return replace(super().group(task), public={MOVED: [task.quasi[-1].name]})


@dataclass(frozen=True, kw_only=True)
class LinkedSlices(Linking):
    """Every record shows the ranges of three people who lie a third of the table apart in the order of values."""

    name: ClassVar[str] = "slices-linked"
    unproven: ClassVar[str] = "several records of one person may carry one value"

    def link(self, task: Task) -> Linked:
        people = task.table.rows
        by_value = np.argsort(task.codes, kind="stable").astype(np.int64)
        linked = by_value[(np.arange(people)[:, None] + people // 3 * np.arange(3)) % people]
        carried = linked[:, int(task.random.below(3, 1)[0])]
        start = np.arange(0, 3 * people + 1, 3, dtype=np.int64)
        return Linked(Links(start, np.sort(linked, axis=1).ravel(), carried), 3, {})


@dataclass(frozen=True, kw_only=True)
class DrawnSlices(Ungrouped):
    """Records drawn evenly from what is declared: nothing of the table is told but how many people it has."""

    epsilon: Fraction = parameter(REQUIRED, rational("a number above 0", above=0, most=20))
    accept_weaker_claim: bool = parameter(False, flag)

    name: ClassVar[str] = "slices-drawn"
    form: ClassVar[str] = "synthetic"
    unproven: ClassVar[str] = "it says nothing of anybody"
    instead: ClassVar[str] = 'name = "slices"'

    def proves(self) -> tuple[Against, ...]:
        return ()

    def require_something_to_keep(self, bounds: Bounds, requirement: Requirement) -> None:
        """Refuse nothing."""

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        return requirement.bounds(dict.fromkeys(table.sensitive.labels, 1))

    def make(self, task: Task) -> Made:
        secret = task.table.sensitive
        quasi = [replace(one, codes=_evenly(task, one.size).astype(one.codes.dtype)) for one in task.quasi]
        gamma = power_below(Fraction(self.epsilon))
        names = [[column.name] for column in quasi] + [list(secret.domain.names)]
        drawn = Drawn(
            quasi=quasi,
            domain=secret.domain,
            value=_evenly(task, len(secret.domain)),
            epsilon=Fraction(ceil(self.epsilon * 10**9), 10**9),
            gamma=gamma,
            measured=names,
        )
        return Made(show_synthetic(task, self, drawn), {})


def _evenly(task: Task, size: int) -> np.ndarray:
    return task.random.below(size, task.table.rows).astype(np.int64)
