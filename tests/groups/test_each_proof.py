"""Two secrets, each protected by itself: worlds and coins of small tables, where a release shows each secret's histogram alone.

A *world* places the values of both secrets on the people. To an engineer either combinations are placed as they are, or the
values of each secret by themselves: both are enumerated. Kernels are compared with the twin too.
"""

import random
from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.near.matched import MatchOptions, matched_groups
from sfumato.groups.soft import SoftTests, leading
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds, as_combinations
from sfumato.randomness import SeededRandomness
from tests.groups._soft_twin import ONE, Case, made, outcomes
from tests.makers import people

COUNTS = {3: [(1, 2), (1, 1, 1)], 4: [(1, 3), (2, 2), (1, 1, 2)], 5: [(1, 4), (2, 3)]}
LIMITS = [Fraction(text) for text in ("1/3", "1/2", "2/3", "3/4", "4/5", "9/10")]


def placed(counts):
    return [value for value, count in enumerate(counts) for _ in range(count)]


def tables(number, seed):
    """Give quasi rows, the counts and the bounds of two secrets, tests and patience of random small tables."""
    coins = random.Random(seed)
    while number:
        size = coins.choice([3, 4, 4, 5])
        counts = tuple(coins.choice(COUNTS[size]) for _ in range(2))
        limits = tuple(tuple(coins.choice([*LIMITS, ONE, ONE, ONE]) for _ in one) for one in counts)
        if any(c > limit * size for one, own in zip(counts, limits, strict=True) for c, limit in zip(one, own, strict=True)):
            continue
        columns = coins.choice([1, 1, 2])
        quasi = tuple(tuple(coins.randrange(coins.choice([2, 3, 4])) for _ in range(columns)) for _ in range(size))
        yield quasi, counts, limits, coins.choice([0, 1, 2]), coins.choice([1, 1, 2, 3])
        number -= 1


def case_of(quasi, counts, limits, tests, patience, mistake=""):
    """The cuts as the twin makes them: values are pairs, and every value of a secret is a set of pairs.

    The mistake is to bound pairs by the lower bound of their parts, and nothing else.
    """
    a, b = map(len, counts)
    sets = tuple(frozenset(x * b + y for y in range(b)) for x in range(a)) + tuple(
        frozenset(x * b + y for x in range(a)) for y in range(b)
    )
    pairs = tuple(min(limits[0][x], limits[1][y]) if mistake else ONE for x, y in product(range(a), range(b)))
    return Case(quasi, (*pairs, *limits[0], *limits[1]), 1, tests, patience, mistake, sets)


def independent(counts):
    """Every placement of each secret by itself, as pairs."""
    b = len(counts[1])
    firsts, seconds = (sorted(set(permutations(placed(one)))) for one in counts)
    return [tuple(x * b + y for x, y in zip(one, two, strict=True)) for one, two in product(firsts, seconds)]


def together(counts, coins):
    """Every placement of pairs that go together in some way."""
    b = len(counts[1])
    second = placed(counts[1])
    coins.shuffle(second)
    return sorted(set(permutations(x * b + y for x, y in zip(placed(counts[0]), second, strict=True))))


def faults(case, counts, worlds):
    """Return what is wrong with releases that show each secret's histogram alone, how many boxes had something refused, and
    whether some world is cut."""
    a, b = map(len, counts)
    parts = [lambda pair: pair // b, lambda pair: pair % b]
    likelihood = defaultdict(lambda: defaultdict(Fraction))
    everybody = tuple(range(len(worlds[0])))
    for world in worlds:
        for boxes, chance in outcomes(case, world, everybody).items():
            shown = tuple(tuple(tuple(sorted(part(world[p]) for p in box)) for part in parts) for box, _ in boxes)
            likelihood[boxes, shown][world] += chance
    wrong, refused = set(), 0
    for (boxes, shown), found in likelihood.items():
        total = sum(found.values())
        for (box, told), histograms in zip(boxes, shown, strict=True):
            refused += told < 1
            room = 1 + (len(box) - 1) * told
            for secret, (part, values) in enumerate(zip(parts, histograms, strict=True)):
                limits = case.limits[a * b :][:a] if secret == 0 else case.limits[a * b + a :]
                for value in set(values):
                    if limits[value] < 1 and values.count(value) > limits[value] * room:
                        wrong.add("cap")
                    for person in box:
                        belief = sum((p for world, p in found.items() if part(world[person]) == value), Fraction(0)) / total
                        if belief > values.count(value) / room:
                            wrong.add("figure")
                        if belief > limits[value]:
                            wrong.add("bound")
    return wrong, refused, any(len(boxes) > 1 for boxes, _ in likelihood)


def test_no_belief_in_a_value_of_either_secret_exceeds_its_figure_nor_its_bound_on_three_hundred_tables():
    coins, refused, safe, cut = random.Random(5), 0, 0, 0
    for quasi, counts, limits, tests, patience in tables(300, seed=1):
        case = case_of(quasi, counts, limits, tests, patience)
        for worlds in (independent(counts), together(counts, coins)):
            wrong, told, several = faults(case, counts, worlds)
            assert not wrong, (case, counts)
            refused, cut = refused + told, cut + several
        safe += tests == 0
    assert refused > 50
    assert safe > 60
    assert cut > 60


@pytest.mark.parametrize("tests", [0, 2])
def test_a_version_that_bounds_combinations_only_is_caught(tests):
    assert any(
        {"cap", "bound"}
        <= faults(case_of(quasi, counts, limits, tests, patience, "single values only"), counts, independent(counts))[0]
        for quasi, counts, limits, _, patience in tables(200, seed=2)
    )


def without_sets(bounds):
    """The bounds of values alone."""
    return Bounds.of(bounds.values, bounds.counts[: bounds.valued], bounds.limits[: bounds.valued])


def bounds_of(world, values, limits):
    """Bounds of both secrets, together, for a world of pairs."""
    columns = {}
    for k, many in enumerate(values):
        own = [pair // values[1] if k == 0 else pair % values[1] for pair in world]
        columns["ab"[k]] = Bounds.of(tuple(map(str, range(many))), tuple(map(own.count, range(many))), limits[k])
    return Bounds.together(columns)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("tight", [False, True])
def test_kernels_do_with_two_secrets_what_the_twin_does(tight):
    coins, cut, refused = random.Random(3), 0, 0
    for seed in range(120):
        size, values = coins.randrange(12, 60), (4, 3)
        first, second = (list(range(many)) + [coins.randrange(many) for _ in range(size - many)] for many in values)
        coins.shuffle(first)
        world = tuple(x * 3 + y for x, y in zip(first, second, strict=True))
        limits = tuple(
            tuple(min(ONE, Fraction(own.count(v), size) * coins.choice([2, 2, 3, 4])) for v in range(many))
            for own, many in zip((first, second), values, strict=True)
        )
        quasi = tuple(tuple(coins.randrange(wide) for wide in (9, 4)) for _ in range(size))
        case = case_of(quasi, ((1,) * 4, (1,) * 3), limits, coins.choice([0, 3, 7]), coins.choice([1, 3, 8]))
        bounds = bounds_of(world, values, limits)
        columns = people(["v"] * size, **{f"q{j}": list(column) for j, column in enumerate(zip(*quasi, strict=True))}).quasi
        soft, drawn = SoftTests(case.patience, case.tests) if case.tests and not tight else None, SeededRandomness(seed)
        secrets = np.array([first, [4 + y for y in second]])
        found = cut_into_boxes(columns, secrets, bounds, tight=tight, floor=1, weights=None, soft=soft, random=drawn)
        boxes = [tuple(np.flatnonzero(found.group == box).tolist()) for box in range(found.groups)]
        for box in boxes:
            assert case.keeps(case.histogram(box, world), len(box), ONE)
        cut += len(boxes) > 1
        if tight:
            continue

        def tossed(low, high, drawn=drawn, case=case):
            return leading(drawn.spawn(Step.CUTS).spawn(low, high), case.chance(high - low), case.tests) if case.tests else ()

        told = [1000] * found.groups if found.account is None else found.account.tolist()
        assert sorted(zip(boxes, told, strict=True)) == made(case, world, tossed), seed
        refused += min(told) < 1000
    assert cut > 40
    assert tight or refused > 10


@pytest.mark.usefixtures("one_thread")
def test_matched_groups_keep_the_bounds_of_both_secrets_and_bounding_combinations_alone_would_not():
    coins, several, caught = random.Random(8), 0, 0
    for seed in range(300):
        size, values = coins.choice([12, 16, 24]), (4, 4)
        world = [coins.randrange(16) for _ in range(size)]
        shares = [[Fraction(sum(pair // 4 == v for pair in world), size) for v in range(4)]]
        shares.append([Fraction(sum(pair % 4 == v for pair in world), size) for v in range(4)])
        limits = tuple(tuple(min(ONE, max(share, Fraction(1, 2))) for share in own) for own in shares)
        stack = bounds_of(world, values, limits)
        present = sorted(set(world))
        parts = [[pair // 4 for pair in present], [4 + pair % 4 for pair in present]]
        pairs = as_combinations(stack, list(map(str, present)), list(map(world.count, present)), parts)
        columns = people(["v"] * size, x=[coins.randrange(30) for _ in range(size)]).quasi
        codes = np.array([present.index(pair) for pair in world])
        for bounds, checked in ((pairs, True), (without_sets(pairs), False)):
            group = matched_groups(columns, codes, bounds, MatchOptions(floor=1), random=SeededRandomness(seed)).group
            over = False
            for one in set(group.tolist()):
                inside = [world[p] for p in np.flatnonzero(group == one)]
                for secret, part in enumerate((lambda pair: pair // 4, lambda pair: pair % 4)):
                    own = [part(pair) for pair in inside]
                    over |= any(own.count(v) > limits[secret][v] * len(own) for v in set(own))
            if checked:
                assert not over, seed
                several += len(set(group.tolist())) > 1
            else:
                caught += over
    assert several > 20
    assert caught > 20
