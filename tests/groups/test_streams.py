"""Coins by step and box: what is drawn in a box rests on the key, its number and its people, and on nobody else."""

import numpy as np

from sfumato.groups.blind import deal
from sfumato.groups.near.matched import _draw, _keys
from sfumato.groups.streams import Step
from sfumato.privacy import FPrivacy
from sfumato.randomness import SeededRandomness

BOX = np.repeat(np.arange(3, dtype=np.int32), 20)
EVEN = np.tile(np.arange(4), 15)
THREE = np.tile(np.arange(20) % 3, 3)  # of twenty people one or two values are drawn from
OTHER = np.where(BOX == 0, EVEN % 2, EVEN)  # only the first box has other values
CHANGED = np.where(BOX == 0, THREE[::-1], THREE)


def bounds_of(codes):
    return FPrivacy(offset="1/2").bounds({str(k): int(count) for k, count in enumerate(np.bincount(codes, minlength=4))})


def places(codes, box, seed=1):
    """Return who of a box is in which bucket, and who is left over, as `matched_groups` draws it."""
    mine = np.flatnonzero(box == BOX)
    found = _draw(mine, codes, bounds_of(codes), SeededRandomness(seed).spawn(Step.BOXES).spawn(box))
    return [[tuple(bucket) for bucket in people.tolist()] for people in found.classes], found.left.tolist()


def test_other_people_in_another_box_change_nothing_that_is_drawn_in_this_one():
    assert places(THREE, 0) != places(CHANGED, 0)
    assert places(THREE, 2) == places(CHANGED, 2)
    assert places(THREE, 2) != places(THREE, 2, seed=2)
    classes, left = places(THREE, 2)
    shifted = [[tuple(row - 20 for row in bucket) for bucket in people] for people in classes], [row - 20 for row in left]
    assert shifted != places(THREE, 1)  # boxes with people of the same values do not toss the same coins


def test_keys_of_matched_people_are_drawn_box_by_box():
    rows = np.split(np.arange(60), 3)
    coins = SeededRandomness(4)
    found = []
    for codes in (EVEN, OTHER):
        drawn = [_draw(mine, codes, bounds_of(codes), coins.spawn(Step.BOXES, box)) for box, mine in enumerate(rows)]
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
