"""The engines of having something or not, of people who may have several values of a secret, or none.

An *event* is a value among somebody's, or one of several, or none at all. Every box shows how many people have it and, with its
size, how many have not: two values, of which everybody has one, and the models of the inside of boxes are asked as ever. The
multiplicative one (`sfumato.query.models.inside`) is then a logistic regression, raked in every box to both counts. The adding
one (`sfumato.query.models.trend`) is a sum of effects for any counts of people, so that it is learned once from all values of the
secret, which share how much each column matters, and asked for one of them at a time.

**Several values of one person.** A count of people with one of several values is published for sets that the policy names, and
which values belong to one person not at all. Boxes show how many people have 0, 1, 2, … values, though. Somebody with k of them
is taken as having drawn k times: she has none of a set S with chance (1 − s)^k, where s is the sum over the values of S of what
makes each as frequent as its box shows. "x and y", "x and not y" follow by inclusion and exclusion; two secrets are taken as
independent inside boxes. These are estimates without an interval.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Floats, Integers
from sfumato.errors import QueryError
from sfumato.query.answer import Estimator
from sfumato.query.buckets import BucketsEngine
from sfumato.query.engine import MODEL_CACHE, CountEngine, CountEstimate, fits, fitted
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.model_cache import ModelCache
from sfumato.query.models.cells import Cells, Directions
from sfumato.query.models.inside import Inside, cells_of, learn_model_error
from sfumato.query.models.trend import FEWEST_BOXES, MODEL_ERRORS, ModelError, Trend
from sfumato.query.noisy import NoisyEngine
from sfumato.query.ranges import ranges_engine
from sfumato.query.rows import Asked, BucketIndex
from sfumato.release.buckets import BucketsRelease
from sfumato.release.held import Held, HeldEntries
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import RangesRelease
from sfumato.table.column import Column, Domain

HAS, NOT = "has it", "has not"

HeldRelease = BucketsRelease | RangesRelease
OneForm = TypeVar("OneForm", BucketsRelease, RangesRelease)

MOST_TOGETHER = 4
"""So many things may be asked of one person together."""

JUDGED = 8
"""From so many of the most frequent values it is learned what models miss."""

LEAST_ALIKE = 0.1
"""The least share by which models are taken to miss in all boxes alike: see docs/answers.md."""

MOSTLY = 2 / 3
"""An answer has no interval if it is mostly prior: if so much of its error is."""

_HALVINGS = 40  # of the range in which a rate is looked for


@dataclass(frozen=True, eq=False)
class Event:
    """Which values of a secret it takes one of; none of them, `missing`, where it takes to have no value at all."""

    secret: int
    values: Flags
    missing: bool = False

    @property
    def key(self) -> bytes:
        """The same for the same event."""
        return bytes([self.secret, self.missing]) + self.values.tobytes()


Literals = tuple[tuple[Event, bool], ...]
"""What is asked of one person together: events, and whether she has each or has it not."""


@dataclass(frozen=True, eq=False)
class SecretCounts:
    """What groups show of one secret: how many people have each value, one of each named set, and 0, 1, 2, … values."""

    sizes: Integers
    facts: HeldEntries
    values: int
    held: Held
    sets: tuple[Flags, ...]  # the values of each set with counts of its own

    @classmethod
    def of(cls, part: HeldRelease) -> SecretCounts:
        """Return the counts of a release of one secret."""
        assert part.held is not None
        sets = tuple(np.isin(np.array(part.labels, dtype=object), list(values)) for values in set_members(part))
        return cls(part.sizes, part.facts, len(part.domain), part.held, sets)

    @cached_property
    def totals(self) -> Floats:
        """Number of people with each value."""
        return np.bincount(self.facts.value, self.facts.people, self.values).astype(np.float64)

    @cached_property
    def numbers(self) -> Integers:
        """[groups × numbers]: how many people of each group have 0, 1, 2, … values."""
        held = self.held
        counts = np.zeros((len(self.sizes), int(held.values.max(initial=0)) + 1), np.int64)
        counts[held.group, held.values] = held.people
        return counts

    def published(self, event: Event) -> Integers | None:
        """Return how many people of each group have an event, None where that is not published."""
        sizes, none = self.sizes, self.numbers[:, 0]
        if event.missing:
            return sizes if event.values.all() else none
        if event.values.sum() <= 1 or self.numbers.shape[1] <= 2:
            group, people = self._entries(event)
            return np.bincount(group, people, len(sizes)).astype(np.int64)
        if event.values.all():
            return sizes - none
        for place, members in enumerate(self.sets):
            if (members == event.values).all():
                mine, counts = self.held.set_place == place, np.zeros(len(sizes), np.int64)
                counts[self.held.set_group[mine]] = self.held.set_count[mine]
                return counts
        return None

    def _entries(self, event: Event) -> tuple[Array, Floats]:
        """Return the group and the people of each entry of a value of an event."""
        inside = event.values[self.facts.value]
        return self.facts.group[inside], self.facts.people[inside].astype(np.float64)

    def expected(self, event: Event) -> Floats:
        """Return how many people of each group have an event, as published or estimated: from the most frequent to the sum."""
        known = self.published(event)
        if known is not None:
            return known.astype(np.float64)
        sizes = self.sizes
        group, people = self._entries(event)
        rate = np.bincount(group, _rates(self.numbers[group], people), len(sizes))
        least = np.zeros(len(sizes))
        np.maximum.at(least, group, people)
        most = np.minimum(np.bincount(group, people, len(sizes)), sizes - self.numbers[:, 0])
        found: Floats = np.clip(_with_rate(self.numbers, np.minimum(rate, 1.0)), least, most)
        return found


@dataclass(frozen=True, eq=False)
class NoisySecretCounts:
    """What groups show of one secret where counts have noise: neither sets nor numbers of values."""

    sizes: Integers
    shown: Integers  # [groups × values]

    @classmethod
    def of(cls, part: BucketsRelease) -> NoisySecretCounts:
        """Return the counts of a release of one secret."""
        return cls(part.sizes, part.st_count.reshape(len(part.sizes), -1))

    @property
    def values(self) -> int:
        """How many values there are."""
        return int(self.shown.shape[1])

    @property
    def totals(self) -> Floats:
        """Number of people with each value, about."""
        totals: Floats = np.maximum(self.shown.sum(axis=0), 0).astype(np.float64)
        return totals

    def published(self, event: Event) -> Integers | None:
        """Return how many people of each group have an event, None where that is not published."""
        if event.missing and not event.values.all():
            raise QueryError(
                "how many values people have is not shown where counts have noise", hint="ask for a value that somebody has"
            )
        if event.missing:
            return self.sizes
        return self.shown[:, event.values][:, 0] if event.values.sum() == 1 else None

    def expected(self, event: Event) -> Floats:
        """Return how many people of each group have an event, as published or as if values had nothing to do with each other."""
        known = self.published(event)
        if known is not None:
            return known.astype(np.float64)
        share = np.clip(self.shown[:, event.values] / self.sizes[:, None], 0.0, 1.0)
        found: Floats = self.sizes * (1.0 - np.prod(1.0 - share, axis=1))
        return found


@dataclass(frozen=True, eq=False)
class HavingEngine(BucketsEngine):
    """Boxes as such of having something or not, that share with others of the secret what they have in common."""

    boxes_of: HavingBoxes

    @fitted
    def trend(self) -> Trend:
        """What all values of the secret taught, asked for these counts."""
        return self.boxes_of.trend_of(self.index)

    @fitted
    def inside(self) -> Inside:
        """The logistic model of having it, raked in every box."""
        return replace(Inside.of_cells(self, *self.boxes_of.cells, self.boxes_of.missed), mostly=MOSTLY)


@dataclass(frozen=True, eq=False)
class HavingBoxes:
    """Boxes of one secret, and what questions about any of its values have in common."""

    index: BucketIndex  # of all values, which add up to more than the people, or to fewer
    columns: tuple[Column, ...]
    vocabulary: Vocabulary  # of having something or not
    model_error: ModelError | None

    @classmethod
    def of(cls, release: BucketsRelease, place: int) -> HavingBoxes:
        """Return the boxes of one of the secrets of a release."""
        index = replace(BucketIndex.of(release.each[place]), shown=release.sizes)
        columns = release.runs().quasi
        plain = declared_in(plain_schema(release.manifest, release.secrets[place]))
        known = MODEL_ERRORS.get(release.manifest.rests_on.name) if index.groups >= FEWEST_BOXES else None
        return cls(index, columns, Vocabulary.of(columns, _two_values(release.secrets[place]), plain), known)

    trend = fits(Trend)

    @property
    def noise_variance(self) -> Floats:
        """The variance of noise in the counts of each group: there is none."""
        return np.zeros(self.index.groups)

    margins = None

    @fitted
    def cells(self) -> tuple[Cells, Directions]:
        """People of a box who are alike in every column."""
        return cells_of(self.index, self.columns)

    @fitted
    def missed(self) -> Floats:
        """What logistic models miss, a² and b²: learned from the most frequent values together, since one alone tells little."""
        index = self.index
        counts = np.zeros((index.groups, index.values))
        counts[np.repeat(np.arange(index.groups), np.diff(index.st_start)), index.st_value] = index.st_count
        often = np.argsort(-counts.sum(axis=0), kind="stable")[:JUDGED]
        tables = [np.stack([counts[:, value], index.sizes - counts[:, value]], axis=1) for value in often]
        return learn_model_error(*self.cells, tables, self.noise_variance, LEAST_ALIKE)

    @fitted
    def away(self) -> Floats:
        """[boxes × features]: how the features of boxes differ from those of all people."""
        sums = self.trend.sums
        away: Floats = sums / self.index.sizes[:, None] - sums.sum(axis=0) / self.index.people
        return away

    def trend_of(self, index: BucketIndex) -> Trend:
        """Return the trend of having something: who has it not shows the opposite of who has it."""
        whole = self.trend
        own = whole.posterior
        score = ((index.wanted(np.array([True, False])) @ self.away) * own.scale) @ own.turn
        trend = replace(whole, index=index, posterior=replace(own, score=np.stack([score, -score])))
        vars(trend).update({name: getattr(whole, name) for name in ("block_start", "joint", "flat")})
        return trend

    def engine(self, count: Integers) -> HavingEngine:
        """Return the engine of something that so many people of each group have."""
        both = np.stack([count, self.index.sizes - count], axis=1)
        there = both > 0
        index = replace(
            self.index,
            st_start=np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int64),
            st_value=np.nonzero(there)[1].astype(np.int32),
            st_count=both[there].astype(np.int32),
            values=2,
        )
        return HavingEngine(index, self.vocabulary, self.columns, False, self.model_error, self)


@dataclass(frozen=True, eq=False)
class HavingRanges:
    """The engines of one secret of a release that shows ranges in place of people's quasi values."""

    release: weakref.ref[RangesRelease]  # what is kept as long as the release must not keep it alive
    name: str

    def engine(self, count: Integers) -> CountEngine:
        """Return the engine of something that so many people of each group have."""
        return ranges_engine(_of_two(self.release(), self.name, count))


class HavingNoisyEngine(NoisyEngine):
    """Noisy counts of having something or not."""

    def _guess(self, asked: Asked, estimator: Estimator) -> CountEstimate:
        """Return what counts say where whole groups are asked about: then noise is all that is not known, and it is known."""
        known = asked.uniform
        if known.placement:
            return super()._guess(asked, estimator)
        return CountEstimate(float(known.value), math.sqrt(known.noise), float(known.least), float(known.most), "")


@dataclass(frozen=True, eq=False)
class HavingNoisy:
    """The engines of one secret of a release whose counts have noise."""

    release: weakref.ref[BucketsRelease]
    name: str

    def engine(self, count: Integers) -> CountEngine:
        """Return the engine of something that so many people of each group have, about.

        Both counts, of who has it and who has not, have the noise of one, and engines take half of two away.
        """
        alone = HavingNoisyEngine.of(_of_two(self.release(), self.name, count))
        return replace(alone, noise=2 * alone.noise)


def _of_two(release: OneForm | None, name: str, count: Integers) -> OneForm:
    """Return the release as one of a column that everybody has one of two values of: has it, or has not."""
    assert release is not None
    manifest = replace(release.manifest, schema=plain_schema(release.manifest, name), sets=(), values=None)
    return release.of_two(manifest, _two_values(name), count)


def _two_values(name: str) -> Domain:
    return Domain(pa.table({name: [HAS, NOT]}), ("categorical",))


def plain_schema(manifest: Manifest, name: str) -> dict[str, Any]:
    """Return the columns with this one in place of the secrets."""
    schema = manifest.schema
    declared = {key: dict(schema["declared"][key]) for key in ("types", "recode", "domains")}
    for key, rules in declared.items():
        declared[key] = {one: rule for one, rule in rules.items() if one not in manifest.secrets}
    plain = {**declared, "quasi": schema["declared"]["quasi"], "sensitive": [name], "bins": {}}
    plain |= {key: rule for key, rule in schema["declared"].items() if key == "weight"}
    return {"quasi": schema["quasi"], "sensitive": [{"name": name, "kind": "categorical"}], "declared": plain}


def _with_rate(numbers: Integers, rate: Floats) -> Floats:
    """Return how many people have something that each of their values is with this chance; `numbers` have 0, 1, 2, … of them."""
    without = np.zeros(len(rate))
    for many in numbers.T[::-1]:
        without = without * (1.0 - rate) + many
    people: Floats = numbers.sum(axis=1) - without
    return people


def _rates(numbers: Integers, count: Floats) -> Floats:
    """Return the chance that makes something as frequent as it is."""
    low, high = np.zeros(len(count)), np.ones(len(count))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        few = _with_rate(numbers, middle) < count
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    return (low + high) / 2


@dataclass(frozen=True, eq=False)
class Having:
    """The secrets of people who may have several values, and the engines of what was asked about."""

    secrets: tuple[SecretCounts | NoisySecretCounts, ...]
    groups: tuple[HavingBoxes | HavingRanges | HavingNoisy, ...]
    _engines: dict[tuple[bytes, ...], tuple[CountEngine, bool]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)

    @classmethod
    def of(cls, release: HeldRelease, cache: ModelCache | None) -> Having:
        """Return the secrets of a release, whose models may be kept in a cache."""
        if release.noisy:
            noisy = cast("BucketsRelease", release)  # no other form has noisy counts
            counts = tuple(NoisySecretCounts.of(part) for part in noisy.each)
            return cls(counts, tuple(HavingNoisy(weakref.ref(noisy), name) for name in release.secrets))
        secrets = tuple(SecretCounts.of(part) for part in release.each)
        if release.shown_as.as_ranges:
            ranges = weakref.ref(cast("RangesRelease", release))
            return cls(secrets, tuple(HavingRanges(ranges, name) for name in release.secrets))
        boxes = tuple(HavingBoxes.of(cast("BucketsRelease", release), place) for place in range(len(secrets)))
        for place, one in enumerate(boxes):
            vars(one)[MODEL_CACHE] = None if cache is None else replace(cache, secret=place)
        return cls(secrets, boxes)

    def anybody(self) -> Event:
        """Return what everybody has."""
        return Event(0, np.ones(self.secrets[0].values, bool), missing=True)

    def value(self, place: int, value: int) -> Event:
        """Return the event of having one value of a secret."""
        return Event(place, np.arange(self.secrets[place].values) == value)

    def engine(self, literals: Literals) -> tuple[CountEngine, bool]:
        """Return the engine of what is asked of one person together, and whether its counts are published."""
        literals = literals or ((self.anybody(), True),)
        key = tuple(sorted(event.key + bytes([has]) for event, has in literals))
        with self._lock:
            if key not in self._engines:
                first, has = literals[0]
                count = self.secrets[first.secret].published(first) if len(literals) == 1 and has else None
                exact = count is not None
                count = _whole(self.together(literals)) if count is None else count
                self._engines[key] = self.groups[first.secret].engine(count), exact
            return self._engines[key]

    def boxes(self, place: int, value: int) -> HavingEngine:
        """Return the engine of having one value, of a release that shows boxes of people."""
        engine, _ = self.engine(((self.value(place, value), True),))
        assert isinstance(engine, HavingEngine)
        return engine

    def together(self, literals: Literals) -> Floats:
        """Return how many people of each group are expected to have the one and not the other of several events."""
        secrets = [event.secret for event, _ in literals]
        if len(literals) > MOST_TOGETHER or any(event.missing and secrets.count(event.secret) > 1 for event, _ in literals):
            raise QueryError(
                "too many conditions on the values of one person: which values she has together is not published",
                hint=f"ask for at most {MOST_TOGETHER} values together, each by name",
            )
        sizes = self.secrets[0].sizes.astype(np.float64)
        chance, least, most = np.ones(len(sizes)), np.zeros(len(sizes)), sizes
        for place in sorted(set(secrets)):
            mine = [(event, has) for event, has in literals if event.secret == place]
            chance = chance * self._chance(self.secrets[place], mine)
        for event, has in literals:
            count = self.secrets[event.secret].expected(event)
            own = count if has else sizes - count
            least, most = least + own - sizes, np.minimum(most, own)
        found: Floats = np.clip(chance * sizes, np.maximum(least + sizes, 0.0), most)
        return found

    @staticmethod
    def _chance(secret: SecretCounts | NoisySecretCounts, literals: Sequence[tuple[Event, bool]]) -> Floats:
        """Return for each group the chance of having the one and not the other, of one secret, by inclusion and exclusion."""
        has = [event for event, positive in literals if positive]
        lacks = [event for event, positive in literals if not positive]
        chance = np.zeros(len(secret.sizes))
        for taken in chain.from_iterable(combinations(has, many) for many in range(len(has) + 1)):
            out = [event.values for event in (*taken, *lacks)]
            any_of = Event(literals[0][0].secret, np.logical_or.reduce(out)) if out else None
            if len(out) == 1 and (*taken, *lacks)[0].missing:
                any_of = (*taken, *lacks)[0]
            without = 1.0 if any_of is None else 1.0 - secret.expected(any_of) / secret.sizes
            chance += (-1) ** len(taken) * without
        return np.clip(chance, 0.0, 1.0)


def _whole(counts: Floats) -> Integers:
    """Return whole numbers that add up to as much over all groups, each the one below or above."""
    ends = np.floor(np.cumsum(counts) + 0.5)
    return np.diff(ends, prepend=0.0).astype(np.int64)


_known: weakref.WeakKeyDictionary[HeldRelease, Having] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def having_of(release: HeldRelease, cache: ModelCache | None = None) -> Having:
    """Return what answers questions to a release, made on first use and kept as long as the release."""
    with _lock:
        if release not in _known:
            _known[release] = Having.of(release, cache)
        return _known[release]


def set_members(part: HeldRelease) -> list[tuple[str, ...]]:
    """Return the values of each set that the manifest lists, of one secret, as its requirement has them."""
    labels = part.labels
    rules: Mapping[str, Any] = part.manifest.requirement.get("sets", {})
    bins = Vocabulary.of((), part.domain, declared_in(part.manifest.schema)).declared
    order = () if bins is None else bins.bins_in_order()
    members: dict[str, tuple[str, ...]] = {}
    for name, rule in rules.items():
        if "values" in rule:
            members[name] = tuple(rule["values"])
        elif "near" in rule:
            for k, one in enumerate(order):
                members[f"{name}: around {one}"] = order[max(k - rule["near"], 0) : k + rule["near"] + 1]
        elif "map" in rule:
            for category in {rule["map"].get(label) for label in labels}:
                members[f"{name}: {category}"] = tuple(label for label in labels if rule["map"].get(label) == category)
    return [tuple(value for value in members.get(str(entry["set"]), ()) if value in labels) for entry in part.manifest.sets]


__all__ = ["Having", "having_of"]
