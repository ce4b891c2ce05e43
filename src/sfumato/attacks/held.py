"""Adversaries of releases of people who may have several values of a secret: what each knows, and what she believes then.

They get a `HeldSight`, which has no way to the table: of one secret what groups show, who is where, and the numbers that
they know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.result import Knows
from sfumato.auditor.knowing import beliefs_by_number, classes_of


@dataclass(frozen=True, eq=False)
class HeldSight:
    """What groups show of one secret (values, then named sets), everybody's group, and numbers that an adversary may know.

    `rows` and `values` say how many rows, and how many values of the secret, everybody has; `sets` is how many of the events are
    named sets.
    """

    sizes: Integers
    group: Integers
    event: Integers
    count: Integers
    events: int
    sets: int
    home: Integers
    victims: Integers
    values: Integers
    rows: Integers | None
    alike: str

    def spread(self, per_entry: Floats) -> Floats:
        """Return [victims × events] of what is believed of the entries of a victim's group: a column a class of people."""
        by_group = np.zeros((len(self.sizes), self.events))
        by_group[self.group, self.event] = per_entry
        return by_group[self.home[self.victims]]

    def by_number(self, number: Integers) -> Floats:
        """Return [victims × events] of somebody who knows this number of everybody."""
        classes = classes_of(self.home, number, len(self.sizes))
        each = beliefs_by_number(classes, self.group, self.count)
        mine, beliefs = classes.place(self.home[self.victims], number[self.victims]), np.zeros((len(self.victims), self.events))
        for place in np.unique(mine).tolist():
            whole = np.zeros((len(self.sizes), self.events))
            whole[self.group, self.event] = each[:, place]
            beliefs[mine == place] = whole[self.home[self.victims[mine == place]]]
        return beliefs


class HeldAttack(NamedTuple):
    """An adversary of such releases: her knowledge, what she does in a sentence, and what she believes."""

    knows: Knows
    says: str
    run: Callable[[HeldSight], Floats]


def random_worlds(sight: HeldSight) -> Floats:
    """Return how many people of a victim's group have each value, by those who are in it."""
    return sight.spread(sight.count / sight.sizes[sight.group])


def number_of_rows(sight: HeldSight) -> Floats:
    """Return the beliefs of somebody who knows how many rows everybody has."""
    if sight.rows is None:
        raise NotApplicable("everybody has one row")
    if sight.alike == "number":
        raise NotApplicable("people share a group only with people who have as many rows, so that it tells nothing")
    return sight.by_number(sight.rows)


def number_of_values(sight: HeldSight) -> Floats:
    """Return the beliefs of somebody who knows how many values everybody has; who has all that are shown has each."""
    beliefs = sight.by_number(sight.values)
    single = sight.event < sight.events - sight.sets
    shown = np.bincount(sight.group[single], minlength=len(sight.sizes))
    home = sight.home[sight.victims]
    every = sight.values[sight.victims] >= shown[home]
    there = np.zeros((len(sight.sizes), sight.events))
    there[sight.group, sight.event] = 1.0
    return np.where(every[:, None], there[home], beliefs)


HELD: Mapping[str, HeldAttack] = {
    "random-worlds": HeldAttack(
        "reader", "takes all assignments of a group's values to its people as equally likely", random_worlds
    ),
    "number-of-rows": HeldAttack("counter", "knows how many rows everybody has, also inside a band", number_of_rows),
    "number-of-values": HeldAttack("counter", "knows how many values everybody has", number_of_values),
}
"""Every adversary of people who may have several values, by name."""

OTHERS: Mapping[str, Any] = {
    "rows": "rows of one person are published together here, so that there is nothing to combine",
    "minimality": "it reruns programs with one value a person; every rerun of small tables is enumerated in the tests",
}
ONE_VALUE = "it is for one value a person, and people may have several here"
"""Why the other attacks are not done on such a release."""
