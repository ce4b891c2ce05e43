"""Who tells an insider what other people of a group have, and keeps from her what the victim has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.randomness import Randomness

VictimChoice = Literal["random", "most useful"]

MOST_CASES = 4_000
_MOST_PEOPLE = 4_000_000


@dataclass(frozen=True, eq=False)
class KnownOthers:
    """Victims of whom an insider knows the group, and [victims × values] how many of the others whom she knows have each
    value.

    `number` is by which the judge knows these victims; `known` is how many others of her group she knows.
    """

    number: int
    group: Integers
    values: Integers
    known: Integers


class Informant:
    """Draws victims and tells their groups, and values of others in them.

    What the victims have stays here. It is drawn from the values that people of a group really have: which of people with
    equal quasi values stands in which group is nobody's knowledge, and changes none of these figures.
    """

    def __init__(self, real: Mapping[int, Integers], values: int, random: Randomness) -> None:
        self._real, self._values, self._random = real, values, random
        self._truth: list[Integers] = []

    @property
    def groups(self) -> Integers:
        """The groups whose people are known."""
        return np.array(sorted(self._real), dtype=np.int64)

    def ask(self, many: int | float, choice: VictimChoice = "random") -> KnownOthers:
        """Return victims and the values of so many others of each group: a number, or a share of all the others."""
        groups = self.groups
        sizes = np.array([int(self._real[int(g)].sum()) for g in groups], dtype=np.int64)
        cases = max(200, min(MOST_CASES, int(_MOST_PEOPLE // max(float((sizes**2).sum() / sizes.sum()), 1.0))))
        drawn = np.searchsorted(np.cumsum(sizes), self._random.below(int(sizes.sum()), cases), side="right")
        values = np.zeros((cases, self._values), np.int64)
        truth, known = np.zeros(cases, np.int64), np.zeros(cases, np.int64)
        for case, place in enumerate(drawn):
            slots = np.repeat(np.arange(self._values), self._real[int(groups[place])])
            order = slots[self._random.permutation(len(slots))]
            truth[case], mates = order[0], order[1:]
            known[case] = min(many, len(mates)) if isinstance(many, int) else int(many * len(mates))
            if choice == "most useful":
                mates = mates[np.argsort(mates == truth[case], kind="stable")]
            values[case] = np.bincount(mates[: known[case]], minlength=self._values)
        self._truth.append(truth)
        return KnownOthers(len(self._truth) - 1, groups[drawn], values, known)


def truth_of(informant: Informant, number: int) -> Integers:
    """Return what the victims of a question really have: for the judge."""
    return informant._truth[number]  # the judge is the one friend who may look


def real_values(release: Any, truth: Integers, everybody: Any) -> dict[int, Integers]:
    """Return per group how many of its people really have each value, for the groups where that is known.

    Where groups show true counts, they say it themselves. With decoys or noise it follows from the table, for groups in which
    everybody can be told from people of other groups by quasi values.
    """
    from sfumato.release.coding import row_keys

    values = len(release.domain)
    if not (release.noisy or release.decoys):
        entry, value, count = shown_counts(release)
        each = [slice(begin, end) for begin, end in pairwise(entry)]
        return {g: np.bincount(value[own], count[own], values).astype(np.int64) for g, own in enumerate(each)}
    published, wanted = row_keys(release.quasi, everybody)
    keys, first, which = np.unique(published, return_index=True, return_inverse=True)
    home = release.group[first]
    alone = np.ones(len(keys), bool)
    np.logical_and.at(alone, which, release.group == home[which])
    clear = np.ones(len(release.sizes), bool)
    np.logical_and.at(clear, release.group, alone[which])
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_known = (keys[place] == wanted) & (truth >= 0)
    group = np.where(is_known, home[place], -1)
    real: dict[int, Integers] = {}
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(len(clear) + 1))
    for g in np.flatnonzero(clear):
        mine = order[start[g] : start[g + 1]]
        if len(mine) == release.sizes[g]:
            real[int(g)] = np.bincount(truth[mine], minlength=values).astype(np.int64)
    return real


def shown_counts(release: Any) -> tuple[Integers, Integers, Integers]:
    """Return where each group's histogram begins, its values and counts, for the forms that have groups."""
    ranges = release.shown_as.as_ranges
    start, value, count = release.shown if ranges else (release.st_start, release.st_value, release.st_count)
    return start, value.astype(np.int64), count


def remaining(shown: Floats, values: Integers, people: Integers) -> Floats:
    """Return beliefs when the values told are struck out: what is left of each, by how many people are left."""
    return (shown - values) / np.maximum(people, 1)[:, None]
