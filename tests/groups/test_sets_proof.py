"""Bounds on sets of values: worlds and coins of small tables with overlapping sets, and kernels beside their twin."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.grouping import histograms, require_bounds
from sfumato.groups.soft import SoftTests, leading
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds, SetBound
from sfumato.randomness import SeededRandomness
from tests.groups._soft_twin import ONE, Case, made
from tests.groups.test_soft_proof import faults
from tests.makers import people

COUNTS = [(1, 1, 2), (1, 1, 3), (1, 2, 2), (1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 4), (1, 2, 3), (1, 1, 1, 3)]
LIMITS = [Fraction(text) for text in ("1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5")]


def tables(number, seed):
    """Give random small tables with two sets of two values or more, most of them overlapping; a third of them cut safely."""
    coins = random.Random(seed)
    while number:
        counts = coins.choice(COUNTS)
        size, values = sum(counts), range(len(counts))
        sets = tuple(frozenset(coins.sample(values, coins.choice([2, 2, len(counts) - 1]))) for _ in range(2))
        held = (*counts, *(sum(counts[value] for value in one) for one in sets))
        limits = (*(coins.choice([*LIMITS, ONE, ONE]) for _ in counts), *(coins.choice(LIMITS) for _ in sets))
        if any(count > limit * size for count, limit in zip(held, limits, strict=True)):
            continue
        columns = coins.choice([1, 1, 2])
        quasi = tuple(tuple(coins.randrange(coins.choice([2, 3, 4])) for _ in range(columns)) for _ in range(size))
        drawn = [value for value, count in enumerate(counts) for _ in range(count)]
        yield Case(quasi, limits, 1, coins.choice([0, 1, 2]), coins.choice([1, 1, 2, 3]), sets=sets), drawn
        number -= 1


def test_no_belief_in_a_set_exceeds_its_figure_nor_its_bound_on_three_hundred_tables():
    refused = safe = overlapping = 0
    for case, values in tables(300, seed=1):
        wrong, _, told = faults(case, values)
        assert not wrong, (case, values)
        refused, safe = refused + told, safe + (case.tests == 0)
        overlapping += bool(case.sets[0] & case.sets[1]) and case.sets[0] != case.sets[1]
    assert refused > 50
    assert safe > 60
    assert overlapping > 100


@pytest.mark.parametrize("tests", [0, 2])
def test_a_version_that_checks_single_values_only_is_caught(tests):
    assert any(
        {"cap", "bound"} <= faults(replace(case, tests=tests, mistake="single values only"), values)[0]
        for case, values in tables(200, seed=2)
    )


def kernel_case(seed):
    """A table of some size, its world, and bounds of five values and three sets."""
    coins = random.Random(seed)
    size, values = coins.randrange(10, 70), 5
    world = [*range(values), *(coins.randrange(values) for _ in range(size - values))]
    coins.shuffle(world)
    sets = tuple(frozenset(coins.sample(range(values), coins.choice([2, 3]))) for _ in range(3))
    held = [world.count(value) for value in range(values)]
    held += [sum(value in one for value in world) for one in sets]
    limits = tuple(min(ONE, Fraction(count, size) * coins.choice([2, 2, 3, 4])) for count in held)
    columns = (2, 9, 4)[: coins.choice([1, 3])]
    quasi = tuple(tuple(coins.randrange(wide) for wide in columns) for _ in range(size))
    case = Case(quasi, limits, coins.choice([1, 2, 5]), coins.choice([0, 3, 7]), coins.choice([1, 3, 8, 20]), sets=sets)
    bounds = Bounds.of(
        tuple("abcde")[:values],
        tuple(held[:values]),
        limits[:values],
        tuple(SetBound(str(k), tuple(sorted(one)), limits[values + k]) for k, one in enumerate(sets)),
    )
    return case, tuple(world), bounds


@pytest.mark.usefixtures("one_thread")
def test_kernels_do_with_sets_what_the_twin_does():
    cut = refused = 0
    for seed in range(150):
        case, world, bounds = kernel_case(seed)
        quasi = {f"q{j}": list(column) for j, column in enumerate(zip(*case.quasi, strict=True))}
        coins, columns = SeededRandomness(seed), people(["abcde"[value] for value in world], **quasi).quasi
        soft = SoftTests(case.patience, case.tests) if case.tests else None
        found = cut_into_boxes(
            columns, np.array(world), bounds, tight=False, floor=case.floor, weights=None, soft=soft, random=coins
        )

        def tossed(low, high, coins=coins, case=case):
            return leading(coins.spawn(Step.CUTS).spawn(low, high), case.chance(high - low), case.tests) if case.tests else ()

        expected = made(case, world, tossed)
        told = [1000] * found.groups if found.account is None else found.account.tolist()
        boxes = [tuple(np.flatnonzero(found.group == box).tolist()) for box in range(found.groups)]
        assert sorted(zip(boxes, told, strict=True)) == expected, seed
        shown = histograms(found.group, np.array(world), 5)
        require_bounds(shown, found.sizes, bounds, found.account)
        cut += found.groups > 1
        refused += min(told) < 1000
    assert cut > 40
    assert refused > 20
