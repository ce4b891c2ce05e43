"""Coins by step and box: what is drawn in a box rests on the key, its number and its people, and on nobody else."""

import numpy as np

from sfumato.groups.blind import deal
from sfumato.groups.boxes import settings_inside
from sfumato.groups.grouping import Grouping
from sfumato.groups.near.matched import _draw, _keys
from sfumato.groups.settings.plan import plan
from sfumato.groups.streams import Step
from sfumato.privacy import FPrivacy
from sfumato.randomness import SeededRandomness

BOX = np.repeat(np.arange(3, dtype=np.int32), 20)
EVEN = np.tile(np.arange(4), 15)
OTHER = np.where(BOX == 0, EVEN % 2, EVEN)  # only the first box has other values


def bounds_of(codes):
    return FPrivacy(offset="1/2").bounds({str(k): int(count) for k, count in enumerate(np.bincount(codes, minlength=4))})


def buckets(codes, box, seed=1):
    found = settings_inside(
        Grouping(BOX, 3),
        codes,
        bounds_of(codes),
        lambda own, size: plan(own, strategy="two-size", max_size=size),
        6,
        SeededRandomness(seed),
    ).grouping
    mine = np.flatnonzero(box == BOX)
    return {frozenset(mine[found.group[mine] == group].tolist()) for group in set(found.group[mine].tolist())}


def test_other_people_in_another_box_change_nothing_that_is_drawn_in_this_one():
    assert buckets(EVEN, 0) != buckets(OTHER, 0)
    assert buckets(EVEN, 2) == buckets(OTHER, 2)
    assert buckets(EVEN, 2) != buckets(EVEN, 2, seed=2)
    shifted = {frozenset(row - 20 for row in bucket) for bucket in buckets(EVEN, 2)}
    assert shifted != buckets(EVEN, 1)  # boxes with the same people do not toss the same coins


def test_keys_of_matched_people_are_drawn_box_by_box():
    rows = np.split(np.arange(60), 3)
    coins = SeededRandomness(4)
    found = []
    for codes in (EVEN, OTHER):
        drawn = [_draw(mine, codes, bounds_of(codes), None, coins.spawn(Step.BOXES, box)) for box, mine in enumerate(rows)]
        found.append(_keys(drawn, 60, coins.spawn(Step.KEYS)))
    assert (found[0][40:] == found[1][40:]).all()
    assert sorted(found[0][40:]) == list(range(20))


def test_a_step_that_draws_more_shifts_no_other():
    one, two = SeededRandomness(3), SeededRandomness(3)
    two.spawn(Step.PLACES).below(10, 1000)
    two.permutation(50)
    slots = np.arange(12) % 3
    assert (deal(EVEN[:12], slots, one) == deal(EVEN[:12], slots, two)).all()


def test_every_step_has_a_stream_of_its_own():
    drawn = [tuple(SeededRandomness(3).spawn(step).words(2).tolist()) for step in Step]
    assert len(set(drawn)) == len(Step.__members__)
