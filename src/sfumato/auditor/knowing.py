"""What those believe who know more than a claim covers: how many rows, or how many values, everybody of a group has.

Bounds hold for whoever sees no link between people of a group and what they have. A number that is known of each of them is such
a link: whoever has more rows has more values. The adversary here knows the numbers of all, takes every row (or value) of the
group to be as likely the value in question, and what the group shows as given: of a person with k she believes 1 − exp(−k·t),
where t is such that these add up to the people who have it. It is measured, and never claimed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats, Integers

_STEPS = 60
_AT_ONCE = 1 << 20
_ROUNDING = 1e-9


class NumberClasses(NamedTuple):
    """The different numbers in each group, and how many people have each: [groups × most numbers of a group], 0 people beyond."""

    number: Integers
    people: Integers

    def place(self, group: Integers, number: Integers) -> Integers:
        """Return where the number of each person stands among those of her group."""
        return np.asarray((self.number[group] == number[:, None]).argmax(axis=1))


def classes_of(group: Integers, number: Integers, groups: int) -> NumberClasses:
    """Return how many people of each group have each number, of everybody's group and number."""
    return classes_of_counts(group, number, np.ones(len(group), np.int64), groups)


def classes_of_counts(group: Integers, number: Integers, people: Integers, groups: int) -> NumberClasses:
    """Return the same of how many people of a group have a number."""
    room = int(number.max(initial=0)) + 1
    key, which = np.unique(group.astype(np.int64) * room + number, return_inverse=True)
    people = np.bincount(which, weights=people, minlength=len(key)).astype(np.int64)
    of, what = np.divmod(key, room)
    place = np.arange(len(key)) - np.searchsorted(of, of)
    shape = (groups, int(place.max(initial=0)) + 1)
    classes = NumberClasses(np.full(shape, -1, np.int64), np.zeros(shape, np.int64))
    classes.number[of, place], classes.people[of, place] = what, people
    return classes


def beliefs_by_number(classes: NumberClasses, group: Integers, count: Integers) -> Floats:
    """Return [entries × numbers of a group]: the belief that somebody with each number has what so many of her group have."""
    beliefs = np.empty((len(group), classes.number.shape[1]))
    step = max(1, _AT_ONCE // classes.number.shape[1])
    for low in range(0, len(group), step):
        part = slice(low, low + step)
        beliefs[part] = _solved(classes.number[group[part]], classes.people[group[part]], count[part])
    return beliefs


def share_above(classes: NumberClasses, group: Integers, count: Integers, limits: Floats) -> float:
    """Return the share of people in whom somebody who knows all numbers believes something above its bound."""
    above = beliefs_by_number(classes, group, count) > limits[:, None] + _ROUNDING
    anything = np.zeros(classes.number.shape, bool)
    np.logical_or.at(anything, group, above)
    return float((classes.people * anything).sum() / classes.people.sum())


def _solved(number: Integers, people: Integers, count: Integers) -> Floats:
    """Return 1 − exp(−number·t) with t such that Σ people · that is the count: by Newton's steps, which only ascend."""
    times = np.maximum(number, 0).astype(np.float64)
    able = ((number > 0) * people).sum(axis=1)
    rate = np.zeros(len(count))
    for _ in range(_STEPS):
        left = np.exp(-times * rate[:, None])
        missing = count - (people * (1 - left)).sum(axis=1)
        slope = np.maximum((people * times * left).sum(axis=1), 1e-12)
        rate += np.maximum(missing, 0.0) / slope
    beliefs = 1 - np.exp(-times * rate[:, None])
    everybody = count >= able  # whoever has a row, or a value, has it
    return np.where(everybody[:, None], (number > 0).astype(np.float64), beliefs)
