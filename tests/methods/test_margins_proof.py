"""The law of noisy boxes and tables together, exactly: the chance of every output under neighbouring tables of people.

Three people in two boxes; a table of each of two quasi columns, or of the pair too. What one of them has is anything. The chance
of an output is a product of geometric ones, but for a factor that all worlds share, and beyond the people of a count it grows or
falls alike under all worlds: one step outside shows all that there is. Every count has noise of its own, so that the worst output
is found count by count.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sfumato import Differential, NoisyBoxes
from sfumato.methods import margins as margins_of
from sfumato.methods import noisy_boxes
from sfumato.randomize.noise import noise_ratio, split_odds
from tests.makers import closed_for, people

VALUES = ("a", "b", "c")
WORLDS = ["".join(world) for world in itertools.product(VALUES, repeat=3)]
QUASI = {"age": [20, 20, 60], "sex": ["f", "m", "f"]}
GAMMA = Fraction(7, 2)


def method(margins):
    return NoisyBoxes(values=VALUES, otherwise="c", floor=1, margins=margins)


def published(world, margins, monkeypatch):
    """Return the counts of a world without noise, each with the ratio of what would be added to it."""
    drawn = []

    def none(ratio, count, random):
        drawn.append((ratio, count))
        return np.zeros(count, np.int64)

    monkeypatch.setattr(noisy_boxes, "two_sided", none)
    monkeypatch.setattr(margins_of, "two_sided", none)
    table = closed_for(method(margins), people(world, **QUASI))
    release = method(margins).run(table, Differential(odds=GAMMA), random=1).release
    counts = [release.st_count, *([] if release.margins is None else [release.margins.counts.ravel()])]
    ratios = np.repeat(*map(list, zip(*drawn, strict=True)))
    return np.concatenate(counts).tolist(), ratios.tolist()


def growth(first, second):
    """Return how many times as likely an output is under the one world as under the other, at most."""
    worst = Fraction(1)
    for a, b, ratio in zip(first[0], second[0], first[1], strict=True):
        worst *= max(ratio ** (abs(k - a) - abs(k - b)) for k in range(min(a, b) - 1, max(a, b) + 2))
    return worst


def neighbours():
    """Return worlds in which one person has another value."""
    return [(v, w) for v in WORLDS for w in WORLDS if sum(a != b for a, b in zip(v, w, strict=True)) == 1]


@pytest.mark.parametrize("margins", ["0.7", "0.25", [["age", "sex"]], [["sex", "age"]]], ids=str)
def test_boxes_and_tables_together_grow_odds_no_more_than_the_claim(margins, monkeypatch):
    shown = {world: published(world, margins, monkeypatch) for world in WORLDS}
    worst = max(growth(shown[v], shown[w]) for v, w in neighbours())
    assert worst <= GAMMA < worst * (1 + Fraction(1, 10**7))


def test_a_table_that_nobody_pays_for_is_caught(monkeypatch):
    shown = {}
    for world in WORLDS:
        counts, ratios = published(world, [["age", "sex"]], monkeypatch)
        # The noise of two tables, in three: the pair's was not paid for.
        cheap = noise_ratio(split_odds(GAMMA, Fraction(7, 10)), 2)
        boxes = len(ratios) - ratios.count(ratios[-1])
        shown[world] = counts, [*ratios[:boxes], *([cheap] * (len(ratios) - boxes))]
    assert max(growth(shown[v], shown[w]) for v, w in neighbours()) > GAMMA


def test_boxes_that_keep_all_odds_beside_tables_are_caught(monkeypatch):
    shown = {}
    for world in WORLDS:
        counts, ratios = published(world, "0.7", monkeypatch)
        boxes = len(ratios) - ratios.count(ratios[-1])
        shown[world] = counts, [*([noise_ratio(GAMMA)] * boxes), *ratios[boxes:]]
    assert max(growth(shown[v], shown[w]) for v, w in neighbours()) > GAMMA


@pytest.mark.parametrize("share", ["0.7", "0.001", "0.5", "0.999"])
@pytest.mark.parametrize("gamma", [Fraction(7, 2), Fraction(10697392752911, 10**12), Fraction(1001, 1000)])
def test_the_part_of_tables_is_the_largest_within_their_share(gamma, share):
    share = Fraction(share)
    part = split_odds(gamma, share)
    assert part**share.denominator <= gamma**share.numerator < (part + Fraction(1, 10**12)) ** share.denominator
    assert (part * 10**12).denominator == 1
