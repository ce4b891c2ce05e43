"""Posterior bounds: how sure anybody may become of each thing that a person has or has not, as exact rationals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.exact import ceil_inverse, floor_times

MARK = ": "
"""Between a secret and its value, where values of several secrets are listed together: "income: 10 to 20"."""


def labelled(secret: str, value: str) -> str:
    """Return what a value of one of several secrets is called beside those of the others."""
    return f"{secret}{MARK}{value}"


@dataclass(frozen=True)
class SetBound:
    """`limit` bounds the belief that a person has one of the values at these places.

    So many people have one, `count`; None: each of them one value, so that the counts of these add up.
    """

    name: str
    places: tuple[int, ...]
    limit: Fraction
    count: int | None = None

    @property
    def label(self) -> str:
        """What the set is called beside values."""
        return f"any of {self.name}"


@dataclass(frozen=True)
class Bounds:
    """`limits[i]` bounds the belief in `events[i]`, which `counts[i]` of the `people` have.

    An *event* is something that a person has or has not: a value of a secret, or one of a named set of its values. Those of one
    or several secrets stand in one list: the values of each secret in turn, then the sets, of which `members` has the places of
    their values. `secret_of_event[i]` is the number of the secret among `secrets`, which are named where there are several. How
    many values of a secret a person has is not said here: counts need not add up to people.

    Where bounds follow from the shares in each band of people, `bands` has them, of the same events: who is of a band is held to
    its own. The limits are then the largest of all bands in which somebody has the event.
    """

    events: tuple[str, ...]
    counts: tuple[int, ...]
    limits: tuple[Fraction, ...]
    people: int
    secret_of_event: tuple[int, ...]
    members: tuple[tuple[int, ...], ...] = ()
    secrets: tuple[str, ...] = ("",)
    bands: tuple[Bounds, ...] = ()

    @classmethod
    def of(
        cls,
        values: Sequence[str],
        counts: Sequence[int],
        limits: Sequence[Fraction],
        sets: Sequence[SetBound] = (),
        people: int | None = None,
    ) -> Bounds:
        """Return the bounds of one secret and of sets of its values; everybody has exactly one unless `people` says else."""
        held = (sum(counts[place] for place in rule.places) if rule.count is None else rule.count for rule in sets)
        return cls(
            (*values, *(rule.name for rule in sets)),
            (*counts, *held),
            (*limits, *(rule.limit for rule in sets)),
            sum(counts) if people is None else people,
            (0,) * (len(values) + len(sets)),
            tuple(rule.places for rule in sets),
        )

    @classmethod
    def of_bands(cls, bands: Sequence[Bounds]) -> Bounds:
        """Return the bounds of people of several bands, each held to its own; what nobody of a band has needs no bound there."""
        events = range(len(bands[0].events))
        own = tuple(
            replace(band, limits=tuple(band.limits[e] if band.counts[e] else Fraction(1) for e in events)) for band in bands
        )
        limits = (max((band.limits[e] for band in own if band.counts[e]), default=Fraction(1)) for e in events)
        return replace(
            own[0],
            counts=tuple(sum(band.counts[e] for band in own) for e in events),
            limits=tuple(limits),
            people=sum(band.people for band in own),
            bands=own,
        )

    @classmethod
    def together(cls, secrets: Mapping[str, Bounds]) -> Bounds:
        """Return the bounds of several secrets, by their names, as one list.

        Counts that were declared, of each secret by itself, are brought to the same number of people.
        """
        people = math.lcm(*(secret.people for secret in secrets.values()))
        first = np.cumsum([0, *(secret.valued for secret in secrets.values())]).tolist()
        each = list(zip(secrets.values(), first, strict=False))
        parts = [[(one, k, place) for place in range(one.valued)] for k, (one, _) in enumerate(each)]
        parts += [[(one, k, place) for place in range(one.valued, len(one.events))] for k, (one, _) in enumerate(each)]
        listed = [entry for part in parts for entry in part]
        return cls(
            tuple(secret.events[place] for secret, _, place in listed),
            tuple(secret.counts[place] * (people // secret.people) for secret, _, place in listed),
            tuple(secret.limits[place] for secret, _, place in listed),
            people,
            tuple(k for _, k, _ in listed),
            tuple(tuple(begin + place for place in own) for secret, begin in each for own in secret.members),
            tuple(secrets),
            tuple(
                cls.together(dict(zip(secrets, band, strict=True)))
                for band in zip(*(secret.bands for secret in secrets.values()), strict=True)
            ),
        )

    @cached_property
    def each(self) -> tuple[Bounds, ...]:
        """The bounds of each secret alone, under its name."""
        each, first = [], 0
        for k, name in enumerate(self.secrets):
            mine = [place for place, secret in enumerate(self.secret_of_event) if secret == k]
            own = [members for place, members in enumerate(self.members, self.valued) if self.secret_of_event[place] == k]
            each.append(
                replace(
                    self,
                    events=tuple(self.events[place] for place in mine),
                    counts=tuple(self.counts[place] for place in mine),
                    limits=tuple(self.limits[place] for place in mine),
                    secret_of_event=(0,) * len(mine),
                    members=tuple(tuple(place - first for place in members) for members in own),
                    secrets=(name,),
                    bands=tuple(band.each[k] for band in self.bands),
                )
            )
            first += each[-1].valued
        return tuple(each)

    def with_counts(self, counts: Sequence[int]) -> Bounds:
        """Return the same bounds for other people, so many of whom have each value of the only secret."""
        sets = (sum(counts[place] for place in members) for members in self.members)
        return replace(self, counts=(*counts, *sets), people=sum(counts))

    @property
    def valued(self) -> int:
        """How many of the events are values; the others are sets."""
        return len(self.events) - len(self.members)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What each event is called: of named secrets after the name."""
        named = [
            labelled(self.secrets[secret], event) if self.secrets[secret] else event
            for event, secret in zip(self.events, self.secret_of_event, strict=True)
        ]
        return (*named[: self.valued], *(f"any of {name}" for name in named[self.valued :]))

    @cached_property
    def values(self) -> tuple[str, ...]:
        """What each value is called."""
        return self.labels[: self.valued]

    @property
    def set_limits(self) -> dict[str, Fraction]:
        """The bound of each set by its name, after that of its secret where there are several."""
        named = (label.removeprefix("any of ") for label in self.labels[self.valued :])
        return dict(zip(named, self.limits[self.valued :], strict=True))

    @cached_property
    def values_of_each(self) -> tuple[int, ...]:
        """How many values each secret has."""
        return tuple(np.bincount(self.secret_of_event[: self.valued], minlength=len(self.secrets)).tolist())

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The share of people who have each event; f(x) of a value x."""
        return tuple(Fraction(count, self.people) for count in self.counts)

    @property
    def protects(self) -> bool:
        """Whether anything is bounded at all: a bound of 1 promises nothing."""
        return any(limit < 1 for band in self.by_band for limit in band.limits)

    @property
    def by_band(self) -> tuple[Bounds, ...]:
        """The bounds of each band where it has its own, else these."""
        return self.bands or (self,)

    @cached_property
    def incidence(self) -> tuple[Integers, Integers]:
        """Where each set begins (one entry more) among the places of the values of all sets, and these places."""
        start = np.concatenate(([0], np.cumsum([len(places) for places in self.members], dtype=np.int64))).astype(np.int64)
        return start, np.array([place for places in self.members for place in places], dtype=np.int64)

    @cached_property
    def open_values(self) -> tuple[int, ...]:
        """The places of values that may be shown openly: their bound is 1, and no set that is bounded has them."""
        bounds = self.by_band
        sets = [pair for band in bounds for pair in zip(self.members, band.limits[self.valued :], strict=True)]
        held = {place for members, limit in sets if limit < 1 for place in members}
        free = (place for place in range(self.valued) if all(band.limits[place] == 1 for band in bounds))
        return tuple(place for place in free if place not in held)

    @cached_property
    def open_share(self) -> Fraction:
        """Share of the people whose value may be shown openly."""
        return sum((self.shares[place] for place in self.open_values), Fraction(0))

    def limit(self, value: str) -> Fraction:
        """Return the bound of one value."""
        return self.limits[self.values.index(value)]

    @cached_property
    def value_limits(self) -> dict[str, Fraction]:
        """The bound of each value by what it is called."""
        return dict(zip(self.values, self.limits[: self.valued], strict=True))

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """⌈1/bound⌉ for each value: the smallest group that may hold it at all."""
        return tuple(ceil_inverse(limit) for limit in self.limits[: self.valued])

    def caps(self, sizes: Sequence[int]) -> Integers:
        """Return ⌊bound(i)·S⌋ for every value i (rows) and size S (columns), in exact integers."""
        limits = self.limits[: self.valued]
        return np.array([[floor_times(limit, size) for size in sizes] for limit in limits], dtype=np.int64).reshape(
            len(limits), len(sizes)
        )


def as_combinations(bounds: Bounds, labels: Sequence[str], counts: Sequence[int], parts: Sequence[Sequence[int]]) -> Bounds:
    """Return the bounds of several secrets for one whose values are combinations: every value and set is a set of these.

    `parts` are the codes of each combination in the columns, as the bounds number values. A combination is at most as
    likely as each of its parts, so that it has the lowest of their bounds.
    """
    members: list[list[int]] = [[] for _ in bounds.values]
    for place, codes in enumerate(zip(*parts, strict=True)):
        for code in codes:
            members[code].append(place)
    events = [*((code,) for code in range(bounds.valued)), *bounds.members]
    sets = tuple(
        SetBound(label, tuple(sorted(place for code in codes for place in members[code])), limit)
        for label, codes, limit in zip(bounds.labels, events, bounds.limits, strict=True)
        if limit < 1
    )
    limits: tuple[Fraction, ...] = tuple(min(bounds.limits[code] for code in codes) for codes in zip(*parts, strict=True))
    return Bounds.of(tuple(labels), tuple(counts), limits, sets)
