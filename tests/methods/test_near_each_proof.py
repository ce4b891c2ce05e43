"""Matched groups with two secrets, each protected by itself, and with overlapping sets: worlds and coins of small tables.

A world places the values of both secrets on the people, each secret by itself. The release shows who shares a group, and each
group's values of one secret and of the other, not how they go together. `make proofs` tries more tables than the suite does.
"""

import math
import os
import random
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.groups.near.matched import MatchOptions, matched_groups
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds, SetBound, as_combinations
from tests.makers import people
from tests.methods.test_near_proof import Coins, orders, small_tables, worlds

__all__ = ["small_tables"]

TABLES = int(os.environ.get("PROOF_TABLES") or 40)
MOST_ORDERS, MOST_WORLDS = 6, 100
ONE = Fraction(1)
WHOLE = 12  # products of factorials up to 6 divide it
COUNTS = {4: [(2, 2), (1, 3), (1, 1, 2), (1, 1, 1, 1)], 5: [(2, 3), (1, 4), (1, 1, 3)], 6: [(3, 3), (2, 4), (1, 5), (1, 1, 4)]}
LIMITS = [Fraction(text) for text in ("1/2", "1/2", "2/3", "3/4")]


class Noted(Coins):
    """Coins whose draws leave the order as it is, and which note how many people each draw puts in order."""

    def spawn(self, *path):
        return Noted(self.rows, self.draws, self.keys, self.step or Step(path[0]))

    def permutation(self, count):
        if self.step == Step.BOXES:
            self.draws.append(count)
            return np.arange(count)
        return super().permutation(count)


def limits_of(held, size, coins):
    """Return a bound for each of these counts, often 1, never below what everybody together has."""
    return tuple(max(Fraction(count, size), coins.choice([*LIMITS, ONE])) for count in held)


def column(counts, coins, *, sets):
    """Return the bounds of one secret; with two sets that may overlap where it has three values or more."""
    size, values = sum(counts), range(len(counts))
    named = [tuple(sorted(coins.sample(values, 2))) for _ in range(2)] if sets and len(counts) > 2 else []
    held = [sum(counts[v] for v in one) for one in named]
    bounds = [max(Fraction(count, size), coins.choice(LIMITS)) for count in held]
    own = tuple(SetBound(str(k), one, limit) for k, (one, limit) in enumerate(zip(named, bounds, strict=True)))
    return Bounds.of(tuple(map(str, values)), counts, limits_of(counts, size, coins), own)


def tables(seed):
    """Give random small tables for ever: the bounds of two secrets, quasi values, and an order of rows and of keys."""
    coins = random.Random(seed)
    while True:
        size = coins.choice([4, 4, 5, 6, 6])
        secrets = [column(coins.choice(COUNTS[size]), coins, sets=coins.random() < 0.5) for _ in range(2)]
        if math.prod(len(worlds(placed(one.counts[: one.valued]))) for one in secrets) <= MOST_WORLDS:
            quasi = sorted(coins.randrange(9) for _ in range(size))
            yield secrets, quasi, tuple(coins.sample(range(size), size) for _ in range(2))


def placed(counts):
    return [value for value, count in enumerate(counts) for _ in range(count)]


def kept(secrets, world):
    """What matched groups are asked to keep in a world of pairs: every value and set of a secret as a set of pairs."""
    stack = Bounds.together(dict(zip("ab", secrets, strict=True)))
    present = sorted(set(world))
    parts = [[a for a, _ in present], [secrets[0].valued + b for _, b in present]]
    return as_combinations(stack, list(map(str, present)), list(map(world.count, present)), parts)


def pairs_only(secrets, world):
    """The mistake to bound pairs by the lower bound of their parts, and nothing else."""
    found = kept(secrets, world)
    return Bounds.of(found.values, found.counts[: found.valued], found.limits[: found.valued])


def without_sets(secrets, world):
    """The mistake to bound single values of each secret, and to forget its sets."""
    return kept([Bounds.of(one.values, one.counts[: one.valued], one.limits[: one.valued]) for one in secrets], world)


def outcomes(columns, world, bounds, rows, keys):
    """Give every grouping of a world, one per outcome of the draws: all of them have the same chance."""
    present = sorted(set(world))
    codes = np.array([present.index(pair) for pair in world])

    def made(coins):
        return tuple(matched_groups(columns, codes, bounds, MatchOptions(floor=1), random=coins).group.tolist())

    sizes = []
    noted = Noted(rows, (), keys)
    noted.draws = sizes
    first = made(noted)
    if math.prod(map(math.factorial, sizes)) > MOST_ORDERS:
        raise ValueError("too many orders")
    return [first] if not sizes else [made(Coins(rows, drawn, keys)) for drawn in orders(sizes)]


def shown(group, world):
    """Return what the release shows: who shares a group, and each group's values of each secret by itself."""
    members = defaultdict(list)
    for person, one in enumerate(group):
        members[one].append(person)
    return frozenset(
        (tuple(some), *(tuple(sorted(world[p][k] for p in some)) for k in range(len(world[0])))) for some in members.values()
    )


def releases(secrets, quasi, coins, asked=kept):
    """Return how likely each world makes each release, in parts of WHOLE."""
    columns = people(["v"] * len(quasi), x=quasi).quasi
    found = defaultdict(dict)
    for placement in product(*(worlds(placed(one.counts[: one.valued])) for one in secrets)):
        world = tuple(zip(*placement, strict=True))
        groupings = outcomes(columns, world, asked(secrets, world), *coins)
        for group in groupings:
            release = shown(group, world)
            found[release][world] = found[release].get(world, 0) + WHOLE // len(groupings)
    return found


def events(bounds):
    """The values and sets of a secret, each with its bound."""
    return list(zip([*((value,) for value in range(bounds.valued)), *bounds.members], bounds.limits, strict=True))


def faults(secrets, likelihood):
    """Return what is wrong: a belief that is not the share shown, or above its bound.

    An engineer may know how the secrets go together, in one way of all that fit, or not.
    """
    wrong = set()
    for release, by_world in likelihood.items():
        ways = defaultdict(dict)
        for world, chance in by_world.items():
            ways[tuple(sorted(world))][world] = chance
        for some, *histograms in release:
            for secret, values in enumerate(histograms):
                for (event, limit), person in product(events(secrets[secret]), some):
                    share = Fraction(sum(value in event for value in values), len(some))
                    for known in (by_world, *ways.values()):
                        sure = sum(chance for world, chance in known.items() if world[person][secret] in event)
                        belief = Fraction(sure, sum(known.values()))
                        if belief != share:
                            wrong.add("share")
                        if belief > limit:
                            wrong.add("bound")
    return wrong


def tried(number, seed, asked=kept):
    """Give so many tables that have few enough draws, with all their releases."""
    for secrets, quasi, coins in tables(seed):
        if not number:
            return
        try:
            found = releases(secrets, quasi, coins, asked)
        except ValueError:
            continue
        number -= 1
        yield secrets, quasi, coins, found


def test_every_belief_in_a_value_or_set_of_either_secret_is_its_share_in_the_group_and_within_its_bound():
    several = drawn = overlapping = 0
    for secrets, quasi, coins, likelihood in tried(TABLES, seed=1):
        assert not faults(secrets, likelihood), (secrets, quasi, coins)
        several += any(len(release) > 1 for release in likelihood)
        drawn += any(chance < WHOLE for by_world in likelihood.values() for chance in by_world.values())
        overlapping += any(len(set(one.members[0]) & set(one.members[1])) == 1 for one in secrets if one.members)
    assert several > TABLES // 5
    assert drawn > TABLES // 40
    assert overlapping > TABLES // 10


@pytest.mark.parametrize("asked", [pairs_only, without_sets])
def test_a_version_that_bounds_only_pairs_or_only_single_values_is_caught(asked):
    assert any("bound" in faults(secrets, likelihood) for secrets, _, _, likelihood in tried(200, seed=2, asked=asked))
