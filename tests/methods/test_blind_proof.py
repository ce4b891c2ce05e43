"""The engineer's claim, by enumerating every world and every coin on tiny tables.

The engineer knows the program, its parameters, everybody's quasi values and their order in the input. A world is a placement of
the sensitive values on the people. Blindness means: given any release, every world that could have produced it did so with the
same probability, so her belief in a value is exactly its share in the bucket.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from sfumato.groups import blind
from sfumato.groups.anatomy import assign_by_anatomy
from sfumato.groups.blind import RoundRobin, round_robin
from sfumato.groups.grouping import Grouping, canonical_order
from sfumato.groups.settings.plan import plan
from sfumato.groups.streams import Step
from sfumato.methods import MultiSize
from sfumato.methods.base import PEOPLE
from sfumato.papers.decoys.decoys import _holders, _plan_slots, make_room
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.randomness import Randomness, SeededRandomness
from tests.makers import people


class Coins(Randomness):
    """One outcome of all coins: the order in which people are dealt, that into which they are brought first, and numbers."""

    reproducible = True

    def __init__(self, deal, people=None, numbers=(), task=None):
        self.deal, self.people, self.numbers, self.task = deal, people, list(numbers), task

    def words(self, count):
        raise AssertionError("every coin of a blind assignment is an order or a number below a limit")

    def spawn(self, *path):
        return Coins(self.deal, self.people, self.numbers, path[-1])

    def permutation(self, count):
        order = {Step.DEAL: self.deal, PEOPLE: self.people}.get(self.task)
        assert order is None or len(order) == count
        return np.arange(count) if order is None else np.array(order, dtype=np.int64)

    def ranked(self, codes):
        order = self.permutation(len(codes))
        return order[np.argsort(codes[order], kind="stable")]

    def below(self, limit, count):
        assert count == 1
        assert self.task == Step.PLACES
        return np.array([self.numbers.pop(0) % limit])


def worlds(values):
    return sorted(set(permutations(values)))


def seen(group, codes):
    """What the release shows up to the numbers of buckets: who shares a bucket, and each bucket's values."""
    members = defaultdict(list)
    for person, (bucket, code) in enumerate(zip(group.tolist(), codes, strict=True)):
        members[bucket].append((person, code))
    return frozenset(
        (tuple(person for person, _ in bucket), tuple(sorted(code for _, code in bucket))) for bucket in members.values()
    )


def posterior(likelihood, values):
    """Check that, given each release, its worlds are equally likely, and return the worst belief per value."""
    worst = defaultdict(Fraction)
    for by_world in likelihood.values():
        chances = set(by_world.values())
        if len(chances) != 1:
            return None
        for person in range(len(next(iter(by_world)))):
            for value in range(values):
                belief = Fraction(sum(world[person] == value for world in by_world), len(by_world))
                worst[value] = max(worst[value], belief)
    return worst


def assign_blindly(codes, allocation, numbers, order, random):
    slots = RoundRobin(np.array(allocation), numbers, order)
    return Grouping(blind.deal(codes, slots.all(np.sum(allocation, axis=1)), random), slots.groups, "blind")


def enumerate_blind(values, requirement, strategy, assign=assign_blindly, max_size=50):
    codes = np.array(values)
    counts = np.bincount(codes)
    bounds = requirement.bounds({str(k): int(c) for k, c in enumerate(counts)})
    chosen = plan(bounds, strategy=strategy, max_size=max_size)
    numbers = np.array(chosen.setting.numbers, dtype=np.int64)
    order = canonical_order(bounds)
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        codes = np.array(world)
        for deal in permutations(range(len(values))):
            found = assign(codes, chosen.allocation, numbers, order, Coins(deal))
            likelihood[seen(found.group, world)][world] += 1
    return likelihood, bounds, chosen


@pytest.mark.parametrize(
    ("values", "requirement", "strategy"),
    [
        ([0, 0, 1, 1, 2, 2], LDiversity(3), "optimal"),
        ([0, 0, 1, 1, 2], LDiversity(2), "optimal"),
        ([0, 0, 0, 1, 2], FPrivacy(offset="2/3"), "two-size"),
        ([0, 0, 1, 2, 3], FPrivacy(offset="1/2", bounds={"3": "1/3"}), "top-down"),
    ],
)
def test_every_placement_in_a_bucket_is_equally_likely_to_the_engineer(values, requirement, strategy):
    likelihood, bounds, chosen = enumerate_blind(values, requirement, strategy)
    worst = posterior(likelihood, len(bounds.values))
    assert worst is not None
    assert chosen.setting.buckets > 1
    for value, belief in worst.items():
        assert belief <= bounds.limits[value]


def test_the_enumeration_catches_an_assignment_that_follows_the_input_order():
    def unshuffled(codes, allocation, numbers, order, random):
        bucket = np.empty(len(codes), np.int32)
        bucket[np.argsort(codes, kind="stable")] = round_robin(allocation, numbers, order)
        return Grouping(bucket, int(numbers.sum()), "blind")

    likelihood, bounds, _ = enumerate_blind([0, 0, 1, 1, 2], LDiversity(2), "optimal", assign=unshuffled)
    worst = posterior(likelihood, len(bounds.values))
    assert worst is None or max(worst.values()) > Fraction(1, 2)


def test_the_whole_method_is_blind_not_only_its_core():
    requirement = LDiversity(2)
    values = ["a", "a", "b", "b"]
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        table = people(world)
        for deal, first in product(permutations(range(4)), [(0, 1, 2, 3), (3, 1, 0, 2)]):
            tables = MultiSize().run(table, requirement, random=Coins(deal, first)).release.tables()
            shown = tuple(map(str, (tables["qit"].to_pylist(), tables["st"].to_pylist())))
            likelihood[shown][tuple("ab".index(value) for value in world)] += 1
    worst = posterior(likelihood, 2)
    assert worst == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_anatomy_is_blind_too_also_where_people_are_left_over():
    values = [0, 0, 1, 1, 2]
    counts = np.bincount(values)
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        for deal, place in product(permutations(range(5)), range(2)):
            found = assign_by_anatomy(np.array(world), counts, 2, np.arange(3), Coins(deal, numbers=[place]))
            likelihood[seen(found.group, world)][world] += 1
    worst = posterior(likelihood, 3)
    assert worst is not None
    assert max(worst.values()) <= Fraction(1, 2)


def test_decoys_leave_every_placement_on_real_slots_equally_likely():
    """The slots and decoys follow from counts and coins alone; then the people of a value are dealt to its real slots."""
    values = [0, 0, 1, 1, 2, 2]
    bounds = LDiversity(2).bounds({str(k): int(c) for k, c in enumerate(np.bincount(values))})
    chosen = plan(bounds, strategy="optimal", once=True)
    assert chosen.setting.classes == ((2, 3),)
    room = make_room(chosen.setting, bounds, 1)
    slots = _plan_slots(chosen.setting, room, canonical_order(bounds), 1, SeededRandomness(3))
    real = ~slots.decoy
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        for deal in permutations(range(len(values))):
            holder = _holders(np.array(world), slots, Coins(deal))
            group = np.empty(len(values), np.int64)
            group[holder[real]] = slots.bucket[real]
            likelihood[seen(group, world)][world] += 1
    worst = posterior(likelihood, len(bounds.values))
    assert worst is not None
    assert max(worst.values()) <= Fraction(1, 2)
