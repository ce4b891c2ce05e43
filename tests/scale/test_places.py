"""People dealt and randomized by coins of their place, in files: by the people alone, and by the law of the plan."""

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from sfumato.groups import anatomy
from sfumato.groups.anatomy import AnatomySlots, Listed, assign_by_anatomy
from sfumato.groups.blind import RoundRobin
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.randomness import Randomness, SeededRandomness
from sfumato.scale.blind import deal
from sfumato.scale.counted import _Filed
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.places import sorted_files
from sfumato.scale.randomized import RecordCodes, randomized_records

FALSE_ALARM = 1e-6


def blocks_of(columns, place, rows=3):
    """Return columns as a file of small blocks."""
    place.mkdir(exist_ok=True)
    found = Blocks(place / "people", Layout(tuple(column.dtype for column in columns)))
    for begin in range(0, len(columns[0]), rows):
        found.append([column[begin : begin + rows] for column in columns])
    return found


@pytest.mark.parametrize("at_once", [4, 50, 10_000])
@pytest.mark.parametrize("sizes", [(7, 3, 5), (1 << 40, 3, 1 << 40), (2, 2, 1)])
def test_files_are_sorted_as_a_whole(tmp_path, at_once, sizes):
    draw = np.random.default_rng(1)
    columns = [draw.integers(0, min(size, 5000), 700) for size in sizes]
    files = sorted_files(blocks_of(columns, tmp_path, 90), Layout((np.dtype(np.int64),) * 3), sizes, tmp_path / "x", at_once)
    found = [np.concatenate(parts) for parts in zip(*(file.read() for file in files), strict=True)]
    order = np.lexsort(columns[::-1])
    assert all((one == column[order]).all() for one, column in zip(found, columns, strict=True))
    assert all(len(file.rows) == 1 for file in files)
    assert max(file.total for file in files) <= max(at_once, 90)


def test_slots_by_arithmetic_are_those_of_the_plan(tmp_path):
    allocation, numbers = np.array([[4, 3], [5, 0], [3, 6]]), np.array([3, 2])
    order = np.array([2, 0, 1])
    listed, turn = [[], [], []], [0, 0]
    for value in order.tolist():  # one slot after another
        for j in range(2):
            for _ in range(allocation[value, j]):
                listed[value].append(3 * j + turn[j] % numbers[j])
                turn[j] += 1
    slots = RoundRobin(allocation, numbers, order)
    for value, expected in enumerate(listed):
        assert slots.take(value, 0, len(expected)).tolist() == expected
        assert slots.take(value, 2, 4).tolist() == expected[2:4]


def test_anatomys_slots_hold_every_value_once(tmp_path, monkeypatch):
    counts = np.array([50, 40, 33, 17, 9])
    for at_once in (1 << 20, 7):
        monkeypatch.setattr(anatomy, "AT_ONCE", at_once)
        shelves = [_Filed(tmp_path / f"{at_once} {value}") for value in range(5)]
        slots = AnatomySlots(counts, 2, np.argsort(counts), SeededRandomness(1), shelves)
        held = [slots.take(value, 0, int(count)) for value, count in enumerate(counts)]
        assert all(len(set(groups.tolist())) == len(groups) for groups in held)
        assert sorted(Counter(np.concatenate(held).tolist()).values()) == [2] * 73 + [3]
        assert slots.take(0, 5, 12).tolist() == held[0][5:12].tolist()
    monkeypatch.undo()
    codes = np.repeat(np.arange(5), counts)
    there = assign_by_anatomy(codes, counts, 2, np.argsort(counts), SeededRandomness(1))
    whole = AnatomySlots(counts, 2, np.argsort(counts), SeededRandomness(1), [Listed() for _ in counts])
    for value, count in enumerate(counts):
        assert sorted(whole.take(value, 0, int(count))) == sorted(there.group[codes == value])
    monkeypatch.setattr(anatomy, "AT_ONCE", 7)
    small = assign_by_anatomy(codes, counts, 2, np.argsort(counts), SeededRandomness(1))
    assert sorted(np.bincount(small.group).tolist()) == sorted(np.bincount(there.group).tolist())


def together(columns, sizes, slots, seed, place, at_once=1000):
    """Return who shares a group with whom, as quasi codes and values."""
    dealt = deal(blocks_of(columns, place), sizes, slots, SeededRandomness(seed), place / f"d{seed}", at_once)
    *codes, group = dealt.rows.part(0, dealt.rows.total)
    return codes[0], group, dealt


def test_every_placement_is_equally_likely(tmp_path):
    """Four people of one value and four of another, in pairs: 24 placements. False alarm 1e-6; coins of fewer bits are found."""
    columns = [np.arange(8), np.repeat([0, 1], 4)]
    slots = RoundRobin(np.array([[4], [4]]), np.array([4]), np.array([0, 1]))

    def placements(name):
        found = Counter()
        for seed in range(1200):
            codes, group, _ = together(columns, [8, 2], slots, seed, tmp_path / name)
            mate = {group[k]: int(code) for k, code in enumerate(codes) if code >= 4}
            found[tuple(mate[group[k]] for k, code in enumerate(codes) if code < 4)] += 1
        return [found[one] for one in itertools.permutations(range(4, 8))]

    seen = placements("right")
    assert sum(seen) == 1200
    assert chisquare(seen).pvalue > FALSE_ALARM
    with pytest.MonkeyPatch.context() as patch:  # a law that is wrong: only one bit of a coin is used
        usual = Randomness.at_places
        one_bit = lambda *given: usual(*given) % np.uint64(2) * np.uint64(8) + np.arange(8, dtype=np.uint64)  # noqa: E731
        patch.setattr(Randomness, "at_places", one_bit)
        assert chisquare(placements("wrong")).pvalue < FALSE_ALARM


@pytest.mark.parametrize("at_once", [5, 40, 1000])
def test_dealing_follows_from_the_people_alone(tmp_path, at_once):
    draw = np.random.default_rng(2)
    columns = [draw.integers(0, 4, 200), draw.integers(0, 3, 200), np.repeat(np.arange(5), 40)]
    slots = RoundRobin(np.full((5, 1), 40), np.array([40]), np.arange(5))
    whole = deal(blocks_of(columns, tmp_path / "a"), [4, 3, 5], slots, SeededRandomness(1), tmp_path / "one", 1000)
    order = draw.permutation(200)
    mixed = blocks_of([column[order] for column in columns], tmp_path / "b", 17)
    again = deal(mixed, [4, 3, 5], slots, SeededRandomness(1), tmp_path / "two", at_once)
    for one, other in ((whole.rows, again.rows), (whole.entries, again.entries)):
        assert all((a == b).all() for a, b in zip(one.part(0, one.total), other.part(0, other.total), strict=True))
    assert (whole.sizes == 5).all()


def test_equal_coins_are_drawn_again(tmp_path, monkeypatch):
    columns = [np.arange(8), np.repeat([0, 1], 4)]
    slots = RoundRobin(np.array([[4], [4]]), np.array([4]), np.array([0, 1]))
    tried = []

    usual = Randomness.at_places

    def drawn(random, begin, end):
        tried.append(begin)
        return np.zeros(end - begin, np.uint64) if len(tried) == 1 else usual(random, begin, end)

    monkeypatch.setattr(Randomness, "at_places", drawn)
    _, group, _ = together(columns, [8, 2], slots, 1, tmp_path)
    assert len(tried) == 2
    assert sorted(group) == [0, 0, 1, 1, 2, 2, 3, 3]


ONE, THREE = Fraction(1), Fraction(3)
PLAN = RandomizationPlan(
    (
        Part((0, 1, 2), (30, 50, 20), (THREE / 10, ONE / 2, ONE / 5), (ONE / 3,) * 3, None, ONE / 2),
        Part((1, 3), (40, 60), (2 * ONE / 5, THREE / 5), (ONE / 4, 2 * ONE / 3), None, ONE / 2),
    ),
    0.0, 0.0, 0.0, Fraction(1, 20), 2,
)  # fmt: skip


def scaled(plan, times, declared):
    """Return the plan for so many times as many people."""
    parts = tuple(replace(part, counts=() if declared else tuple(times * count for count in part.counts)) for part in plan.parts)
    return replace(plan, parts=parts, declared=declared)


@pytest.mark.parametrize("declared", [False, True])
def test_values_are_kept_and_replaced_as_the_matrices_say(tmp_path, declared):
    """Where records go and what they publish, beside the law of the plan. False alarm 1e-6; a wrong retention is found."""
    times = 400
    secret = np.repeat(np.arange(4), np.array([30, 90, 20, 60]) * times).astype(np.uint8)
    quasi = np.random.default_rng(1).integers(0, 9, len(secret)).astype(np.uint8)
    plan = scaled(PLAN, times, declared)

    def published(plan, place):
        people = blocks_of([quasi, secret], tmp_path / place, 5000)
        number, work = np.array([1, 0]), tmp_path / place / "work"
        work.mkdir()
        codes = RecordCodes(np.arange(4), 4, number)
        return randomized_records(people, [9, 4], plan, codes, SeededRandomness(5), work, 7000)

    found = published(plan, "right")
    part, codes, value = found.rows.part(0, found.rows.total)
    assert np.bincount(codes).tolist() == np.bincount(quasi).tolist()
    assert not (np.diff((part.astype(int) * 9 + codes) * 4 + value) < 0).any()
    assert found.in_parts.sum(axis=0).tolist() == np.bincount(secret).tolist()
    if not declared:
        assert found.in_parts.tolist() == [[0, 40 * times, 0, 60 * times], [30 * times, 50 * times, 20 * times, 0]]
    else:  # value 1 is in the first part with the chance of 1/2 · 1/2 to 1/2 · 2/5
        assert binomtest(int(found.in_parts[1, 1]), 90 * times, 5 / 9).pvalue > FALSE_ALARM

    def odds(found, plan):
        """Return how well what is published of each part agrees with the matrices."""
        part, _, value = found.rows.part(0, found.rows.total)
        worst = 1.0
        for k, one in enumerate(plan.parts):
            seen = np.bincount(value[part == 1 - k], minlength=4)[list(one.values)]
            true = found.in_parts[1 - k][list(one.values)]
            size = range(len(one.values))
            expected = [sum(float(one.transition(x, y)) * int(true[x]) for x in size) for y in size]
            worst = min(worst, chisquare(seen, expected).pvalue)
        return worst

    assert odds(found, plan) > FALSE_ALARM
    more = replace(plan, parts=(replace(plan.parts[0], retention=(Fraction(1, 2),) * 3), plan.parts[1]))
    assert odds(published(more, "wrong"), plan) < FALSE_ALARM
