"""The engineer's claim for people who have several values: every world and coin of small tables, on the shipped kernels.

She may have any belief before that does not tell the people of one stratum apart.
"""

import random
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import pytest

from sfumato.privacy.f_privacy import FPrivacy
from tests.groups._enumerated import Case, faults

pytestmark = pytest.mark.usefixtures("one_thread")
LIMITS = [Fraction(text) for text in ("1/3", "1/2", "1/2", "3/5", "2/3", "3/4")]
SET = frozenset({0, 1})
"""The events are the values 0, 1, 2, and then to have one of 0 and 1."""


def has(event, values):
    return bool(SET & set(values)) if event == 3 else event in values


def once(event, values):
    return int(has(event, values))


def once_a_row(event, values):
    """A mistake: what somebody has in two rows is counted twice."""
    return sum(value in SET for value in values) if event == 3 else values.count(event)


def added_up(event, values):
    """A mistake: a set is counted by its values."""
    return len(SET & set(values)) if event == 3 else int(event in values)


def believed(coins, worlds, strata):
    """Return worlds with weights that are the same however people of one stratum exchange what they have."""
    weights = defaultdict(lambda: coins.randrange(1, 6))

    def kind(world):
        return tuple(tuple(sorted(world[one] for one in range(len(world)) if strata[one] == s)) for s in sorted(set(strata)))

    return {world: weights[kind(world)] for world in worlds}


def bundles(number, seed):
    """Give tables of people who have any of some sets of values, all in one stratum."""
    coins = random.Random(seed)
    every = [some for size in (0, 1, 2, 3) for some in combinations(range(3), size)]
    while number:
        size = coins.choice([3, 3, 4, 4, 4])
        kinds = coins.sample(every, coins.choice([3, 4]) if size < 5 else 3)
        limits = (*(coins.choice(LIMITS) for _ in range(3)), coins.choice([*LIMITS, Fraction(1)]))
        quasi = tuple((coins.randrange(3), *((coins.randrange(2),) if size == 3 else ())) for _ in range(size))
        if len(set(quasi)) == 1:
            continue
        worlds = believed(coins, product(kinds, repeat=size), (0,) * size)
        yield Case(quasi, limits, worlds, has, once, tests=coins.choice([1, 1, 2]))
        number -= 1


def visits(number, seed):
    """Give tables of people with one to three rows, a value in each, who are in one stratum if they have as many rows."""
    coins = random.Random(seed)
    while number:
        rows = tuple(sorted(coins.choices([1, 2], k=coins.choice([5, 6])) if coins.random() < 0.8 else (1, 1, 1, 3)))
        if len(set(rows)) == 1 or sum(rows) > 9:
            continue
        values = (0, 1, 2) if sum(rows) <= 6 else (0, 2)
        limits = (coins.choice(LIMITS), coins.choice(LIMITS), Fraction(1), Fraction(1))
        quasi = tuple((coins.randrange(3),) for _ in rows)
        own = [tuple(combinations_with_replacement(values, many)) for many in rows]
        yield Case(quasi, limits, believed(coins, product(*own), rows), has, once, strata=rows)
        number -= 1


def own_shares(number, seed):
    """Give tables whose bounds follow from the shares in each stratum: events are those of everybody's own stratum.

    What a release shows says how many people of each stratum have what, so that all worlds with these counts have these bounds.
    """
    coins = random.Random(seed)
    while number:
        rows = tuple(sorted(coins.choices([1, 1, 2], k=coins.choice([4, 5, 5]))))
        if len(set(rows)) == 1:
            continue
        own = [tuple((many, what) for what in combinations_with_replacement((0, 1, 2), many)) for many in rows]
        table = tuple(coins.choice(some) for some in own)
        keys = [(many, value) for many in (1, 2) for value in (0, 1, 2)]
        counts = [sum(one == many and value in what for one, what in table) for many, value in keys]
        line = FPrivacy(theta=coins.choice(["1.5", "2"]), offset=coins.choice(["0.1", "0.2"]))
        limits = []
        for many in (1, 2):
            shares = {str(v): Fraction(counts[keys.index((many, v))], rows.count(many)) for v in (0, 1, 2)}
            limits += [limit if shares[v] else Fraction(1) for v, limit in line.limits(shares).items()]
        worlds = [
            world
            for world in product(*own)
            if counts == [sum(one == many and value in what for one, what in world) for many, value in keys]
        ]
        quasi = tuple((coins.randrange(3),) for _ in rows)
        yield Case(quasi, tuple(limits), believed(coins, worlds, rows), own_event, lambda e, what: int(own_event(e, what)), rows)
        number -= 1


def own_event(event, what):
    """Whether somebody of a stratum has a value, of the values of her stratum."""
    many, values = what
    return event // 3 == many - 1 and event % 3 in values


def one_event(number, seed, kinds, event):
    """Give tables in one stratum whose people have one of these, and of which one event is bounded."""
    coins = random.Random(seed)
    while number:
        size = coins.choice([4, 5, 6])
        limits = tuple(coins.choice([*LIMITS, Fraction(4, 5), Fraction(5, 6)]) if e == event else Fraction(1) for e in range(4))
        quasi = tuple((coins.randrange(4),) for _ in range(size))
        worlds = believed(coins, product(kinds, repeat=size), (0,) * size)
        yield Case(quasi, limits, worlds, has, once)
        number -= 1


@pytest.mark.parametrize("tables", [bundles, visits, own_shares])
def test_no_belief_exceeds_its_figure_nor_any_count_its_cap(tables):
    """And the figure is attained: the account is not larger than it must be."""
    worst, many = Fraction(0), 0
    for case in tables(300, seed=1):
        wrong, most, beliefs = faults(case)
        assert not wrong, case
        worst, many = max(worst, most), many + beliefs
    assert worst == 1
    assert many > 1000


def caught(cases):
    """Return how many of some tables are wrong, and by what."""
    found = [faults(case)[0] for case in cases]
    return sum(bool(one) for one in found), set().union(*found)


def test_whoever_knows_the_numbers_of_rows_believes_more_without_strata():
    """Which rows are whose follows by arithmetic: who has more rows has more values."""
    many, what = caught(replace(case, strata=None) for case in visits(60, seed=2))
    assert many > 40
    assert {"figure", "bound"} <= what


def likely_joined(number, seed):
    """Give tables in two strata, which nothing but their number tells apart, with one bounded value."""
    coins = random.Random(seed)
    while number:
        size = coins.choice([3, 4, 5])
        strata = tuple(sorted(coins.choices([1, 2], k=size)))
        if len(set(strata)) == 1:
            continue
        limits = (coins.choice([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)]), Fraction(1), Fraction(1), Fraction(1))
        quasi = tuple((coins.randrange(2),) for _ in strata)
        worlds = believed(coins, product(((), (0,)), repeat=size), (0,) * size)
        yield Case(quasi, limits, worlds, has, once, strata=strata)
        number -= 1


def test_the_enumeration_catches_strata_that_are_joined_because_they_cannot_keep_the_bounds():
    """Of three people one has it. Were she of the two, these would keep 1/2 by themselves: so it is the one alone."""
    assert caught(likely_joined(60, 6)) == (0, set())
    many, what = caught(replace(case, joins=True) for case in likely_joined(60, 6))
    assert many > 20
    assert {"figure", "bound"} <= what
    limits, world = (Fraction(1, 2), Fraction(1)), product(((), (0,)), repeat=3)
    alone = Case(((0,),) * 3, limits, dict.fromkeys(world, 1), lambda e, own: e in own, lambda e, own: int(e in own), (1, 2, 2))
    assert faults(alone)[0] == set()
    assert faults(replace(alone, joins=True))[1] == 3


TWICE = ((), (0,), (0, 0))
BOTH = ((), (0,), (0, 1))


@pytest.mark.parametrize(("mistake", "kinds", "event"), [(once_a_row, TWICE, 0), (added_up, BOTH, 3)])
def test_the_enumeration_catches_counts_with_multiplicity_that_steer_cuts(mistake, kinds, event):
    """A person who is counted once a row, and a set that is added up: exchanging two people moves such a count by two."""
    assert caught(one_event(60, 5, kinds, event)) == (0, set())
    many, what = caught(replace(case, steers=mistake) for case in one_event(60, 5, kinds, event))
    assert many
    assert "figure" in what
