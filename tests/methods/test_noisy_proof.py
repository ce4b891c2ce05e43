"""The insider's posterior under noisy boxes, exactly: every world, and every noisy count that makes a difference.

First that a release is a function of noisy counts and quasi values: whatever world the counts come from. Then the chance of noisy
counts under a world is a product of geometric ones, and the posterior of somebody who knows everybody else is a quotient of
these: rational numbers. Beyond the people of a box a count grows or falls alike under all worlds, so that one step outside shows
all that there is.
"""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from sfumato import BetaLikeness, Differential, FPrivacy, NoisyBoxes, RhoPrivacy
from sfumato.methods import noisy_boxes
from sfumato.privacy.growth import grown
from sfumato.randomize.noise import largest_odds, noise_ratio
from tests.makers import closed_for, people

AGES = [20, 21, 60, 61]
BOXES = ((0, 1), (2, 3))
SHARES = {"a": 5, "b": 3, "c": 2}
CODE = {"a": 0, "b": 1, "c": 2}
REQUIREMENTS = [
    FPrivacy(theta="3/2", offset="0.05", against="insider"),
    FPrivacy(offset=1, bounds={"c": "1/4"}, against="insider"),
    BetaLikeness("1/2", against="insider"),
    RhoPrivacy("1/5", "2/5", against="insider"),
    Differential("1"),
    Differential(odds="3/2"),
]
METHOD = NoisyBoxes(shares=SHARES, otherwise="c", floor=2)
WORLDS = ["".join(world) for world in itertools.product("abc", repeat=4)]


def counts_of(world):
    counts = np.zeros((2, 3), np.int64)
    for box, members in enumerate(BOXES):
        for person in members:
            counts[box, CODE[world[person]]] += 1
    return counts


def table_of(world):
    return closed_for(METHOD, people(world, age=AGES))


def published(world, noisy, requirement, monkeypatch):
    """Return all that is published of a world whose counts, with noise, are these."""
    noise = noisy - counts_of(world)
    monkeypatch.setattr(noisy_boxes, "two_sided", lambda ratio, count, random: noise.ravel())
    made = METHOD.run(table_of(world), requirement, random=1)
    return (
        made.release.manifest.to_json(),
        {name: table.to_pydict() for name, table in made.release.tables().items()},
        made.private,
    )


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_a_release_is_a_function_of_noisy_counts_and_quasi_values(requirement, monkeypatch):
    coins = np.random.default_rng(5)
    for _ in range(4):
        noisy = coins.integers(-2, 5, (2, 3))
        seen = [published(world, noisy, requirement, monkeypatch) for world in WORLDS[::7]]
        assert all(one == seen[0] for one in seen)


def chance(noisy, counts, ratio):
    """Return how likely noisy counts are, but for a factor that all worlds share."""
    return ratio ** int(np.abs(np.asarray(noisy) - counts).sum())


def worst_beliefs(ratio, prior, releases=1):
    """Return the largest belief in each value of the first person, for somebody who knows everybody else.

    The other person of her box has any value; the counts of other boxes are the same in all worlds and cancel out.
    """
    worst = dict.fromkeys(CODE, Fraction(0))
    for known in CODE:
        worlds = {value: counts_of(value + known + "aa")[0] for value in CODE}
        each = {
            noisy: {value: chance(noisy, counts, ratio) for value, counts in worlds.items()}
            for noisy in itertools.product(range(-1, 4), repeat=3)
        }
        distinct = {tuple(one[value] / one["a"] for value in CODE): one for one in each.values()}
        for several in itertools.product(distinct.values(), repeat=releases):
            weight = {value: prior[value] for value in CODE}
            for one in several:
                weight = {value: weight[value] * one[value] for value in CODE}
            total = sum(weight.values())
            worst = {value: max(worst[value], weight[value] / total) for value in CODE}
    return worst


def setting(requirement):
    bounds = METHOD.bounds(table_of("abca"), requirement)
    gamma = largest_odds(bounds)
    limits = dict(zip(bounds.values, bounds.limits, strict=True))
    shares = dict(zip(bounds.values, bounds.shares, strict=True))
    return gamma, noise_ratio(gamma), limits, shares


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_no_insider_is_surer_than_the_bound_and_the_worst_one_is_nearly_as_sure(requirement):
    gamma, ratio, limits, shares = setting(requirement)
    worst = worst_beliefs(ratio, shares)
    assert all(worst[value] <= limits[value] for value in CODE)
    assert worst == {value: grown(share, ratio**-2) for value, share in shares.items()}
    assert ratio**-2 <= gamma < ratio**-2 * (1 + Fraction(1, 10**8))
    for prior in (
        {"a": Fraction(1, 3)} | dict.fromkeys("bc", Fraction(1, 3)),
        {"a": Fraction(98, 100), **dict.fromkeys("bc", Fraction(1, 100))},
    ):
        assert all(belief <= grown(prior[value], gamma) for value, belief in worst_beliefs(ratio, prior).items())


def test_noise_of_half_the_scale_is_caught():
    gamma, ratio, limits, shares = setting(REQUIREMENTS[0])
    worst = worst_beliefs(ratio**2, shares)  # P(|Z| ≥ k) falls twice as fast
    assert any(worst[value] > limits[value] for value in CODE)
    assert any(worst[value] > grown(shares[value], gamma) for value in CODE)


def test_two_releases_multiply_their_odds_and_no_more():
    gamma, ratio, limits, shares = setting(REQUIREMENTS[0])
    worst = worst_beliefs(ratio, shares, releases=2)
    assert all(belief <= grown(shares[value], gamma**2) for value, belief in worst.items())
    assert worst == {value: grown(share, ratio**-4) for value, share in shares.items()}
    assert any(worst[value] > limits[value] for value in CODE)


def test_two_relatives_who_share_a_value_are_told_twice():
    _, ratio, _, shares = setting(REQUIREMENTS[0])
    both = {value: counts_of(value * 2 + "aa")[0] for value in CODE}
    worst = Fraction(0)
    for noisy in itertools.product(range(-1, 4), repeat=3):
        weight = {value: shares[value] * chance(noisy, both[value], ratio) for value in CODE}
        worst = max(worst, weight["c"] / sum(weight.values()))
    assert worst == grown(shares["c"], ratio**-4)  # why the claim names who is independent of whom


def test_that_boxes_were_joined_speaks_to_a_reader():
    """Two people beside eighteen, bound 0.2: why shares that are shown within bounds are no claim against a reader."""
    r, prior, shown = 0.2, 0.2, 2
    drawn = np.arange(-60, 61)
    whole = sure = 0.0
    for mine, theirs in itertools.product(range(3), range(19)):
        first = mine + drawn
        weight = comb(2, mine) * comb(18, theirs) * prior ** (mine + theirs) * (1 - prior) ** (20 - mine - theirs)
        likely = r ** np.abs(drawn) * r ** np.abs((shown - first - theirs).astype(float))
        joined = (first > 0) | (shown - first > 3)  # a share over 0.2 in the box of two, or in the other one
        whole += weight * (likely * joined).sum()
        sure += weight * (likely * joined).sum() * mine / 2
    assert sure / whole == pytest.approx(0.34, abs=0.005)
