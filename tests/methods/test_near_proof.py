"""The engineer's claim for near buckets: by enumerating worlds and coins on tiny tables, and by permuting labels end to end.

The engineer knows the program, everybody's quasi values and their order in the input. A world is a placement of the sensitive
values on the people. Pure means: given any release, her belief that a person has a value is exactly its share in the bucket.
"""

import os
from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import numba
import numpy as np
import pyarrow as pa
import pytest

from sfumato import Schema, Table, publication, publish
from sfumato.errors import PolicyError
from sfumato.groups.near import packing
from sfumato.groups.near.matched import MatchOptions, matched_groups
from sfumato.groups.near.packing import pack
from sfumato.groups.streams import Step
from sfumato.methods import NearGroups
from sfumato.methods.base import MAKING, PEOPLE
from sfumato.policy import Policy
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.privacy.bounds import Bounds, SetBound
from sfumato.randomness import Randomness, SeededRandomness
from tests.makers import people, skewed


class Coins(Randomness):
    """One outcome of all coins: in which turn rows are met, draws of split values box by box, keys of those matched in a box."""

    reproducible = True

    def __init__(self, rows, draws, keys, step=None):
        self.rows, self.draws, self.keys, self.step = rows, draws if step else list(draws), keys, step

    def words(self, count):
        raise AssertionError("every coin of near groups is an order")

    def spawn(self, *path):
        return Coins(self.rows, self.draws, self.keys, self.step or Step(path[0]))

    def permutation(self, count):
        if self.step == Step.KEYS:
            return np.argsort(np.argsort(np.array(self.keys)[:count]))
        order = self.rows if self.step == Step.TURNS else self.draws.pop(0)
        assert self.step in (Step.TURNS, Step.BOXES)
        assert len(order) == count
        return np.array(order)


def worlds(values):
    return sorted(set(permutations(values)))


def seen(group, world):
    """What the release shows up to the numbers of buckets: who shares a bucket, and each bucket's values."""
    members = defaultdict(list)
    for person, bucket in enumerate(group.tolist()):
        members[bucket].append(person)
    return frozenset((tuple(some), tuple(sorted(world[person] for person in some))) for some in members.values())


def pure(likelihood):
    """Return whether, given every release, each person has each value with exactly its share in her bucket."""
    for release, by_world in likelihood.items():
        total = sum(by_world.values())
        for some, values in release:
            for person, value in product(some, set(values)):
                belief = Fraction(sum(chance for world, chance in by_world.items() if world[person] == value), total)
                if belief != Fraction(values.count(value), len(values)):
                    return False
    return True


def bounds_of(values, limit):
    counts = np.bincount(values)
    return Bounds.of(tuple(map(str, range(len(counts)))), tuple(counts.tolist()), (Fraction(limit),) * len(counts))


def one(columns, world, bounds, coins):
    return matched_groups(columns, np.array(world), bounds, MatchOptions(floor=1), random=coins).group


WHOLE = ([0, 0, 1, 2], "1/2", [0, 1, 5, 6], [])
LEFT = ([0, 0, 1, 1, 2, 2], "1/2", [0, 1, 4, 5, 9, 9], [2, 2])
SEVERAL = ([0, 0, 0, 0, 1, 1], "2/3", [0, 1, 2, 7, 8, 9], [4])
"""Values, their bound, quasi values, and how many people have each value that is drawn from: nobody is left over and every value
is in one bucket; somebody is left over; a value fills two buckets alone."""


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    """Leave people over where a table of thousands would, and do not wake threads for a handful of people."""
    monkeypatch.setattr(packing, "_LEFT_OVER", 0)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)


def orders(sizes):
    return product(*(list(permutations(range(size))) for size in sizes))


def enumerate_near(values, limit, quasi, sizes, rows, keys, make=one, draws=None):
    """Return how often each world gives each release, over every draw, with one order of rows and one of keys."""
    bounds = bounds_of(values, limit)
    columns = people(values, x=quasi).quasi
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        for drawn in draws or list(orders(sizes)):
            group = make(columns, world, bounds, Coins(rows, drawn, keys))
            likelihood[seen(group, world)][world] += 1
    return likelihood


@pytest.mark.parametrize(("values", "limit", "quasi", "sizes"), [WHOLE, LEFT, SEVERAL])
def test_every_belief_is_the_share_in_the_bucket(values, limit, quasi, sizes):
    """For every order of the other coins by itself, which is more than the claim needs."""
    coins = SeededRandomness(5)
    many = 0
    for _ in range(3):
        rows, keys = coins.permutation(len(values)), coins.permutation(len(values))
        likelihood = enumerate_near(values, limit, quasi, sizes, rows, keys)
        many = max(many, *(len(release) for release in likelihood))
        assert pure(likelihood)
    assert many > 1


@pytest.mark.parametrize(
    ("values", "limits", "sizes", "groups"),
    [
        ([0, 0, 0, 1, 1, 2], ("2/3", "1/3", "1/3"), [3], {3}),  # 0 has a bucket alone and one together with 2
        ([0, 0, 0, 0, 1, 2], ("2/3", "1/3", "1/3"), [4], {3}),  # 0 fills two buckets alone
        ([0, 0, 1, 1, 2, 2], ("1/2", "1/2", "2/3"), [2, 2], {2}),  # somebody is left over
    ],
)
def test_every_belief_is_the_share_in_the_bucket_also_for_bounds_that_differ(values, limits, sizes, groups):
    bounds = Bounds.of(("0", "1", "2"), tuple(map(values.count, range(3))), tuple(map(Fraction, limits)))
    columns = people(values, x=[0, 1, 5, 6, 9, 9]).quasi
    likelihood = defaultdict(lambda: defaultdict(int))
    for world in worlds(values):
        for drawn in orders(sizes):
            group = one(columns, world, bounds, Coins(range(len(values)), drawn, [3, 0, 5, 1, 4, 2]))
            likelihood[seen(group, world)][world] += 1
    assert {len(some) for release in likelihood for some, _ in release} == groups
    assert pure(likelihood)


def test_padded_safe_cuts_tell_nothing_either():
    values, quasi = [0, 1, 2, 3], [0, 7, 7, 8]
    likelihood = defaultdict(lambda: defaultdict(int))
    for rows in permutations(range(4)):
        for release, found in enumerate_near(values, "1/2", quasi, [], rows, range(4)).items():
            for world, times in found.items():
                likelihood[release][world] += times
    assert pure(likelihood)
    assert len({frozenset(some for some, _ in release) for release in likelihood}) == 3  # person 0 with either of three


def test_the_enumeration_catches_people_left_over_for_their_quasi_values():
    values, limit, quasi, sizes = LEFT
    first = [tuple(tuple(range(size)) for size in sizes)]  # always the first of a value, in the order of quasi values
    assert not pure(enumerate_near(values, limit, quasi, sizes, range(6), range(6), draws=first))


def test_the_enumeration_catches_the_better_of_two_results():
    values, limit, quasi, sizes = LEFT
    made = {}

    def better(columns, world, bounds, coins):
        found = []
        for drawn in (coins.draws[: len(sizes)], coins.draws[len(sizes) :]):
            if (world, *drawn) not in made:
                made[world, *drawn] = one(columns, world, bounds, Coins(coins.rows, drawn, coins.keys))
            found.append(made[world, *drawn])
        width = [sum(np.ptp(np.array(quasi)[group == g]) for g in set(group.tolist())) for group in found]
        return found[int(width[1] < width[0])]

    twice = list(orders([*sizes, *sizes]))
    assert not pure(enumerate_near(values, limit, quasi, sizes, range(6), range(6), make=better, draws=twice))


def test_the_enumeration_catches_members_listed_by_value():
    """Ties in a match are then broken by value."""
    values, quasi = [0, 0, 1, 2], [5, 5, 5, 5]

    def listed(columns, world, bounds, coins):
        return one(columns, world, bounds, Coins(coins.rows, coins.draws, np.argsort(np.argsort(world, kind="stable"))))

    assert not pure(enumerate_near(values, "1/2", quasi, [], range(4), range(4), make=listed))
    assert pure(enumerate_near(values, "1/2", quasi, [], range(4), range(4)))


def permuted(table, codes, group, values, ell, order):
    """Return the world in which, in every group, the person from bucket x has the value of the person from bucket order[x]."""
    counts = np.bincount(codes, minlength=values)
    by_count = sorted(range(values), key=lambda v: (counts[v], str(table.sensitive.domain.labels[v])))
    (pieces,) = pack(counts[by_count], [Fraction(1, ell)] * values).classes
    bucket_of = np.empty(values, np.int64)
    bucket_of[by_count] = pieces.argmax(axis=1)
    world = codes.copy()
    for g in range(group.max() + 1):
        mine = np.flatnonzero(group == g)
        place = {int(bucket_of[codes[row]]): row for row in mine}
        assert len(place) == ell
        for bucket, row in place.items():
            world[row] = codes[place[order[bucket]]]
    return world


def test_the_same_coins_give_the_same_groups_in_a_world_with_permuted_labels():
    coins = np.random.default_rng(2)
    codes = coins.permutation(np.repeat(np.arange(6), [20, 20, 10, 10, 12, 8]))  # packed into 3 or 2 full buckets
    labels = [f"v{code}" for code in codes]
    # Nobody shares an age: people who look alike are first put in the order of their values, and then nobody knows who is who.
    quasi = {"age": coins.permutation(80).tolist(), "town": coins.integers(0, 4, 80).astype(str).tolist()}
    requirement, method = LDiversity(4), NearGroups(form="buckets")
    shown = publication(people(labels, **quasi), requirement, method=method, random=7)
    assert shown.private["people_left_over"] == 0
    table = people(labels, **quasi)
    bounds = requirement.bounds(table.sensitive.histogram())
    shuffled, rows = table.shuffled(SeededRandomness(7).spawn(PEOPLE))
    found = matched_groups(shuffled.quasi, shuffled.sensitive.codes, bounds, random=SeededRandomness(7).spawn(MAKING))
    group = found.group[np.argsort(rows)]
    for order in ([1, 0, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0]):
        world = permuted(table, table.sensitive.codes.astype(np.int64), group, 6, 4, order)
        assert (world != table.sensitive.codes).any()
        again = publish(people([f"v{code}" for code in world], **quasi), requirement, method=method, random=7)
        assert again.tables()["qit"].equals(shown.release.tables()["qit"])
        assert again.tables()["st"].equals(shown.release.tables()["st"])


def test_near_buckets_are_claimed_against_an_engineer_and_the_audit_agrees():
    result = publication(skewed(2000), LDiversity(2), method=NearGroups(form="buckets"), random=1)
    assert result.release.manifest.basis == "matched"
    assert result.audit.claims[0].adversary == "engineer"
    assert result.audit.holds is True
    assert result.private["group_sizes"] == [2]


def test_bounds_that_differ_are_kept_by_groups_of_one_size_a_box():
    requirement = FPrivacy(theta=3, offset="0.1")
    table = skewed(2000)
    result = publication(table, requirement, method=NearGroups(form="buckets", floor=500), random=1)
    assert result.audit.holds is True
    assert len(result.private["group_sizes"]) <= result.private["boxes"]
    bounds = requirement.bounds(table.sensitive.histogram())
    assert len(set(bounds.limits)) > 1
    release = result.release
    for bucket, value, count in zip(release.st_group, release.st_value, release.st_count, strict=True):
        assert Fraction(int(count), int(release.sizes[bucket])) <= bounds.limit(release.domain.labels[value])


def test_weights_that_look_at_values_are_refused_for_near_people():
    with pytest.raises(PolicyError, match=r"weights=….*'association'"):
        NearGroups(form="buckets", weights="association")


def test_a_policy_may_ask_for_near_buckets():
    policy = Policy.parse(
        "[columns]\nquasi = ['age']\nsensitive = ['value']\n[requirement]\nmodel = 'l-diversity'\nl = 2\nagainst = 'engineer'\n"
        "[method]\nname = 'near-groups'\nform = 'buckets'\nfloor = 20\n"
    )
    assert policy.method == NearGroups(form="buckets", floor=20)


def test_columns_that_tie_are_cut_in_the_same_order_whoever_has_which_value():
    """A sum of floats rests on the order of its terms: people must not be added up in the order of their values."""
    coins = np.random.default_rng(0)
    for seed in range(8):
        ones = np.repeat([0, 1], [187, 115])
        quasi = {"x": ones, "y": coins.permutation(ones)}
        values = coins.permutation(np.repeat(["a", "b"], 151))
        made = []
        for world in (values, np.where(values == "a", "b", "a")):
            table = Table.from_frame(pa.table({**quasi, "value": world}), Schema(quasi=["x", "y"], sensitive=["value"]))
            bounds = LDiversity(2).bounds(table.sensitive.histogram())
            codes, draws = table.sensitive.codes, SeededRandomness(seed)
            made.append(matched_groups(table.quasi, codes, bounds, MatchOptions(block=40), random=draws))
        assert (made[0].group == made[1].group).all()


class Recorded(Randomness):
    """Coins that note how many people each draw of a box puts in order."""

    reproducible = True

    def __init__(self, sizes=None, step=None):
        self.sizes, self.step = [] if sizes is None else sizes, step

    def words(self, count):
        raise AssertionError("every coin of near groups is an order")

    def spawn(self, *path):
        return Recorded(self.sizes, self.step or Step(path[0]))

    def permutation(self, count):
        if self.step == Step.BOXES:
            self.sizes.append(count)
        return np.arange(count)


def tables_with_sets(number, seed):
    """Give small tables, bounds with two sets that may overlap, and how many people each draw orders: at most 24 orders."""
    import random

    coins = random.Random(seed)
    while number:
        counts = coins.choice([(1, 1, 1, 1), (1, 1, 2), (1, 1, 1, 2), (2, 1, 1, 1), (1, 1, 1, 1, 1), (2, 2, 1), (1, 2, 1, 1)])
        size, values = sum(counts), len(counts)
        limits = tuple(coins.choice([Fraction(1, 2), Fraction(2, 3), Fraction(1)]) for _ in counts)
        sets = tuple(
            SetBound(
                str(k),
                tuple(sorted(coins.sample(range(values), 2))),
                coins.choice([Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)]),
            )
            for k in range(2)
        )
        bounds = Bounds.of(tuple(map(str, range(values))), counts, limits, sets)
        if any(count > limit * size for count, limit in zip(bounds.counts, bounds.limits, strict=True)):
            continue
        world = [value for value, count in enumerate(counts) for _ in range(count)]
        quasi = sorted(coins.randrange(9) for _ in world)
        noted = Recorded()
        one(people(world, x=quasi).quasi, world, bounds, noted)
        if np.prod([np.prod(range(1, some + 1)) for some in noted.sizes]) > 24:
            continue
        yield world, quasi, bounds, noted.sizes
        number -= 1


def test_matched_groups_keep_the_bounds_of_sets_and_every_belief_is_the_share_in_the_bucket():
    coins, several, caught = SeededRandomness(6), 0, 0
    for values, quasi, bounds, sizes in tables_with_sets(int(os.environ.get("PROOF_TABLES") or 25), seed=3):
        columns = people(values, x=quasi).quasi
        rows, keys = coins.permutation(len(values)), coins.permutation(len(values))
        likelihood = defaultdict(lambda: defaultdict(int))
        for world in worlds(values):
            for drawn in orders(sizes):
                likelihood[seen(one(columns, world, bounds, Coins(rows, drawn, keys)), world)][world] += 1
        assert pure(likelihood)  # so that the belief in a set is its share in the bucket, too
        sets = list(zip(bounds.members, bounds.limits[bounds.valued :], strict=True))
        for release in likelihood:
            assert all(share(shown, kept) <= limit for _, shown in release for kept, limit in sets)
        several += any(len(release) > 1 for release in likelihood)
        alone = Bounds.of(bounds.values, bounds.counts[: bounds.valued], bounds.limits[: bounds.valued])
        forgotten = one(columns, values, alone, SeededRandomness(1))
        caught += any(share(shown, kept) > limit for _, shown in seen(forgotten, values) for kept, limit in sets)
    assert several > 5
    assert caught > 5


def share(shown, kept):
    return Fraction(sum(value in kept for value in shown), len(shown))


def test_matched_groups_of_a_larger_table_keep_the_bounds_of_sets():
    table = skewed(3000)
    sets = {"rare": {"values": ["v6", "v7", "v8"], "bound": "0.45"}, "late": {"values": ["v4", "v5", "v6"], "bound": "0.5"}}
    made = NearGroups(form="buckets").run(table, FPrivacy(offset="0.4", sets=sets), random=1)
    assert made.release.manifest.basis == "matched"
    assert made.private["groups"] > 100
    assert made.audit.holds
