"""The engineer's claim for whole households: every world and coin of small tables, on the shipped kernels.

What a household has are the values of its members, in any order and however they go together: beliefs before are any that do not
tell households of one size apart. The event is that somebody of it has a value.
"""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from tests.groups._enumerated import Case, faults
from tests.groups.test_bundles_proof import LIMITS, believed, caught

pytestmark = pytest.mark.usefixtures("one_thread")


def somebody(event, members):
    return event in members


def once(event, members):
    return int(event in members)


def every_member(event, members):
    """A mistake: members steer cuts one by one."""
    return members.count(event)


def households(number, seed, *, sizes=(1, 2)):
    """Give tables of households with so many members each, who have one of some values."""
    coins = random.Random(seed)
    while number:
        own = tuple(sorted(coins.choices(sizes, k=coins.choice([4, 5]))))
        if sum(own) > 8:
            continue
        values = (0, 1, 2) if sum(own) <= 6 else (0, 1)
        limits = (coins.choice(LIMITS), coins.choice([*LIMITS, Fraction(1)]), Fraction(1))
        quasi = tuple((coins.randrange(3),) for _ in own)
        if len(set(quasi)) == 1:
            continue
        worlds = believed(coins, product(*(tuple(product(values, repeat=many)) for many in own)), own)
        yield Case(quasi, limits, worlds, somebody, once, strata=own)
        number -= 1


def test_nobody_believes_more_of_a_household_than_its_figure_and_so_of_no_member():
    """A member has a value only if somebody has: what is believed of her is less."""
    worst, many = Fraction(0), 0
    for case in households(300, seed=1):
        wrong, most, beliefs = faults(case)
        assert not wrong, case
        worst, many = max(worst, most), many + beliefs
    assert worst == 1
    assert many > 1000


def test_whoever_knows_sizes_believes_more_where_they_are_mixed():
    many, what = caught(replace(case, strata=None) for case in households(40, seed=2) if len(set(case.strata)) > 1)
    assert many > 20
    assert {"figure", "bound"} <= what


def couples(number, seed):
    """Give tables of couples, of whom nobody, one or both have the one value that is bounded."""
    coins = random.Random(seed)
    while number:
        size = coins.choice([4, 5, 5])
        limits = (coins.choice([*LIMITS, Fraction(4, 5), Fraction(5, 6)]), Fraction(1))
        quasi = tuple((coins.randrange(4),) for _ in range(size))
        worlds = believed(coins, product([(1, 1), (0, 1), (0, 0)], repeat=size), (2,) * size)
        yield Case(quasi, limits, worlds, somebody, once, strata=(2,) * size)
        number -= 1


def test_the_enumeration_catches_members_who_steer_cuts_one_by_one():
    """To exchange a couple of whom both have a value for one of whom nobody has moves such a count by two."""
    assert caught(couples(40, 5)) == (0, set())
    many, what = caught(replace(case, steers=every_member) for case in couples(40, 5))
    assert many
    assert "figure" in what


def single_people(number, seed):
    """Give tables of single people of whom the first two are known to have the same value."""
    coins = random.Random(seed)
    while number:
        size = coins.choice([4, 5])
        limits = (coins.choice(LIMITS), coins.choice(LIMITS))
        quasi = tuple((coins.randrange(3),) for _ in range(size))
        worlds = {world: 1 for world in product(((0,), (1,), (2,)), repeat=size) if world[0] == world[1]}
        yield Case(quasi, limits, worlds, somebody, once)
        number -= 1


def test_what_is_claimed_of_single_people_covers_no_link_between_relatives():
    many, what = caught(single_people(60, seed=3))
    assert many > 40
    assert {"figure", "bound"} <= what
