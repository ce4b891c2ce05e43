"""`Ring`: non-homogeneous generalization, the baseline in which records of one group have ranges of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import PolicyError
from sfumato.groups.anatomy import too_frequent
from sfumato.methods.base import Task
from sfumato.methods.linking import Linked, Linking
from sfumato.papers.heterogeneous.ring import Partition, RingAssignment, Rings, draw_carried, ring_order, ring_partition
from sfumato.parameters import choice, parameter, whole
from sfumato.privacy.bounds import Bounds
from sfumato.release.links import Links

MOST_TRIES = 10_000
_LARGEST = "the largest possible l for this table is {}; near-groups and burel give each value its own bound"


@dataclass(frozen=True, kw_only=True)
class Ring(Linking):
    """Put every group on a ring; each record shows the ranges of ℓ neighbours on it (NH; Wong, Mamoulis and Cheung, 2010).

    Parameters
    ----------
    accept_weaker_claim
        Must be true: the values that the records covering one person carry can repeat, so no bound on belief is claimed.
    l
        Neighbours that a record shows, all with different values; by default the fewest that keep the requirement, ⌈1 / smallest
        bound⌉.
    partition
        ``"diverse"``: groups are cut as long as no value exceeds 1/ℓ on either side. ``"merged"``: the paper's, cuts by quasi
        values alone, then groups that are not diverse are merged with the nearest.
    assignment
        Whose value a record carries: one of ℓ disjoint assignments found by random walks (``"walks"``, the paper's), or the
        person s places further for a whole ring (``"shift"``). Each of the ℓ people has probability 1/ℓ either way.
    tries
        How many exchanges of places are looked at for each person and pass, to narrow ranges; 0 leaves the first order.

    Notes
    -----
    A record's ranges lie inside its group's, so the result is never wider than the groups. With ``"shift"`` the ℓ records that
    cover a person carry ℓ different values; with ``"walks"`` they may not. Neither bounds the belief of somebody who takes all
    records whose ranges fit a person.
    """

    l: int | None = parameter(None, whole(2))
    partition: Partition = parameter("diverse", choice("diverse", "merged"))
    assignment: RingAssignment = parameter("walks", choice("walks", "shift"))
    tries: int = parameter(20, whole(0, MOST_TRIES))

    name: ClassVar[str] = "ring"
    slow: ClassVar[bool] = True
    unproven: ClassVar[str] = "the records that cover one person can repeat a value"

    def link(self, task: Task) -> Linked:
        """Return whom each place of a ring covers; the private figures are ℓ and the numbers and sizes of rings."""
        length = self._length(task.bounds)
        task.progress("cutting quasi space", 0.0)
        grouping = ring_partition(task.quasi, task.codes, task.bounds, length, self.partition)
        rings = ring_order(
            task.quasi, task.codes, grouping, length, tries=self.tries, random=task.random, progress=task.part(0.1, 0.8)
        )
        task.progress("drawing an assignment", 0.8)
        links = _links(rings, length, draw_carried(rings, length, self.assignment, task.random))
        sizes = grouping.sizes
        figures = {"l": length, "rings": grouping.groups, "smallest": int(sizes.min()), "largest": int(sizes.max())}
        return Linked(links, length, figures)

    def _length(self, bounds: Bounds) -> int:
        """Return ℓ; it keeps the bounds, and no value has more than 1/ℓ of the people."""
        least = max(bounds.needs)
        length = self.l or least
        if length < least:
            raise PolicyError(
                f"Ring(l={length}) cannot keep a bound of {min(bounds.limits)}: {length} neighbours show every value once",
                hint=f"l = {least} or more, or leave l out",
            )
        most = max(range(len(bounds.counts)), key=bounds.counts.__getitem__)
        if length * bounds.counts[most] > bounds.people:
            raise too_frequent(bounds, most, length, f"Ring with {length} different neighbours", _LARGEST)
        return length


def _links(rings: Rings, length: int, carried: Any) -> Links:
    """Return which rows the record of each place covers, and whose value it carries."""
    covered = rings.order[rings.windows(length)]
    start = np.arange(len(covered) + 1, dtype=np.int64) * length
    return Links(start, covered.reshape(-1).astype(np.int32), carried)
