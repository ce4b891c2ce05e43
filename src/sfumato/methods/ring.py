"""`Ring`: non-homogeneous generalization, the baseline in which records of one group have ranges of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.exact import percent
from sfumato.heterogeneous.ring import Assigned, Partition, Rings, draw_carried, ring_order, ring_partition
from sfumato.methods.base import Method, Outcome, require_choice, require_whole
from sfumato.methods.show_own_ranges import show_own_ranges
from sfumato.methods.show_ranges import require_free_range_names
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.release.links import Links
from sfumato.release.weaker import WEAKER_CLAIMS
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Ring(Method):
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

    accept_weaker_claim: bool = False
    l: int | None = None  # noqa: E741  (the model's own letter)
    partition: Partition = "diverse"
    assignment: Assigned = "walks"
    tries: int = 20

    name: ClassVar[str] = "ring"

    def __post_init__(self) -> None:
        if not isinstance(self.accept_weaker_claim, bool):
            raise PolicyError(f"Ring(accept_weaker_claim=…): expected true or false, got {self.accept_weaker_claim!r}")
        require_choice("Ring", "partition", self.partition, ("diverse", "merged"))
        require_choice("Ring", "assignment", self.assignment, ("walks", "shift"))
        require_whole("Ring", "tries", self.tries, 0)
        if self.l is not None:
            require_whole("Ring", "l", self.l, 2)

    def proves(self) -> tuple[Against, ...]:
        """Return nobody: what is claimed is not about a reader who has seen the release."""
        return ()

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise `NotProvable` unless the weaker claim is accepted, in place of one against a reader and nobody stronger."""
        if not self.accept_weaker_claim:
            raise NotProvable(
                "method 'ring' proves no bound on what a reader believes: the records that cover one person can repeat a value",
                hint='accept_weaker_claim = true to publish with the weaker claim, or name = "near-groups"',
                against=requirement.against,
            )
        if requirement.against != "reader":
            raise NotProvable(
                f"method 'ring' has a weaker claim to offer in place of one against 'reader', not {requirement.against!r}",
                hint='choose against = "reader"',
                against=requirement.against,
            )

    def run(
        self,
        table: Table,
        requirement: Requirement,
        *,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Return the release; the private figures are ℓ and the numbers and sizes of rings."""
        outcome, links = self.run_linked(table, requirement, random=random, progress=progress)
        return replace(outcome, links=links)

    def run_linked(
        self,
        table: Table,
        requirement: Requirement,
        *,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Outcome, Links]:
        """Return the release and, for the publisher alone, which people each record covers."""
        self.require_provable(table, requirement)
        require_free_range_names(table)
        tell = progress or silent
        coins = randomness(random)
        bounds = requirement.bounds(table.sensitive.histogram())
        length = self._length(bounds)
        columns, codes = table.quasi, table.sensitive.codes
        tell("cutting quasi space", 0.0)
        grouping = ring_partition(columns, codes, bounds, length, self.partition, coins)
        rings = ring_order(
            columns,
            codes,
            grouping,
            length,
            tries=self.tries,
            random=coins,
            progress=lambda stage, done: tell(stage, 0.1 + 0.7 * done),
        )
        tell("drawing an assignment", 0.8)
        links = _links(rings, length, draw_carried(rings, length, self.assignment, coins))
        tell("showing ranges", 0.9)
        release, links = show_own_ranges(
            table,
            links,
            bounds=bounds,
            requirement=requirement,
            method=self,
            random=coins,
            weaker_claim=WEAKER_CLAIMS[self.name],
            least=length,
        )
        tell("done", 1.0)
        sizes = grouping.sizes
        figures: dict[str, Any] = {
            "l": length,
            "rings": grouping.groups,
            "smallest": int(sizes.min()),
            "largest": int(sizes.max()),
        }
        return Outcome(release, figures), links

    def _length(self, bounds: Bounds) -> int:
        """Return ℓ; it keeps the bounds, and no value has more than 1/ℓ of the people."""
        if not bounds.protects:
            raise PolicyError("nothing to keep: every sensitive value has a bound of 1", hint="lower the bounds")
        least = max(bounds.needs)
        length = self.l or least
        if length < least:
            raise PolicyError(
                f"Ring(l={length}) cannot keep a bound of {min(bounds.limits)}: {length} neighbours show every value once",
                hint=f"l = {least} or more, or leave l out",
            )
        most = max(range(len(bounds.counts)), key=bounds.counts.__getitem__)
        if length * bounds.counts[most] > bounds.total:
            raise _not_eligible(bounds, most, length)
        return length


def _links(rings: Rings, length: int, carried: Any) -> Links:
    """Return which rows the record of each place covers, and whose value it carries."""
    covered = rings.order[rings.windows(length)]
    start = np.arange(len(covered) + 1, dtype=np.int64) * length
    return Links(start, covered.reshape(-1).astype(np.int32), carried)


def _not_eligible(bounds: Bounds, most: int, length: int) -> Infeasible:
    value, share = bounds.values[most], bounds.shares[most]
    return Infeasible(
        f"Ring with {length} different neighbours needs every value to have at most 1/{length} of the people; {value} has "
        f"{percent(share)}",
        hint=f"the largest possible l for this table is {int(1 / share)}; near-groups and burel give each value its own bound",
        values=[value],
        has={value: share},
        needs={value: Fraction(1, length)},
        nearest={"l": int(1 / share)},
    )
