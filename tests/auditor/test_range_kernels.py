"""The compiled walk over fitting groups, beside a plain one."""

import numpy as np
import pytest

from sfumato.auditor._group_kernels import GroupEntries, WalkedPeople, walk_fits
from sfumato.auditor.containment import Fits

PEOPLE, GROUPS, COLUMNS, VALUES = 150, 130, 3, 4


@pytest.fixture(scope="module")
def case():
    """People by a row of `holds` per column, groups by the values they hold and their histograms."""
    coins = np.random.default_rng(7)
    holds = coins.random((COLUMNS * 5, GROUPS)) < 0.3
    words = np.array(sorted(coins.integers(0, 5, (PEOPLE, COLUMNS)).tolist())) + 5 * np.arange(COLUMNS)
    shown = coins.integers(1, 4, (GROUPS, VALUES)) * (coins.random((GROUPS, VALUES)) < 0.4)
    return words, holds, coins.integers(0, VALUES, PEOPLE), coins.integers(1, 4, PEOPLE), shown


def walked(case, *, enough, step=GROUPS, order=None):
    words, holds, truth, weight, shown = case
    order = np.arange(PEOPLE) if order is None else order
    group, value = np.nonzero(shown)
    start = np.searchsorted(group, np.arange(GROUPS + 1))
    found = [np.zeros(PEOPLE, np.int64) for _ in range(3)] + [np.full(PEOPLE, -1), np.zeros(GROUPS, np.int64)]
    for offset in range(0, GROUPS, step):
        part = holds[:, offset : offset + step]
        table = np.zeros((len(part), -(-part.shape[1] // 64) * 64), np.uint8)
        table[:, : part.shape[1]] = part
        bits = np.packbits(table, axis=1, bitorder="little").view(np.uint64)
        people = WalkedPeople(words[order], truth[order], weight[order])
        entries = GroupEntries(shown.sum(axis=1), start, value, shown[group, value])
        walk_fits(people, bits, offset, entries, enough, Fits(*found))
    back = np.argsort(order)
    return [array[back] for array in found[:4]] + [found[4]]


def by_hand(case):
    words, holds, truth, weight, shown = case
    fits = np.array([np.logical_and.reduce(holds[row]) for row in words])
    last = np.array([np.flatnonzero(row)[-1] if row.any() else -1 for row in fits])
    return [fits @ shown.sum(axis=1), fits.sum(axis=1), (fits * shown[:, truth].T).sum(axis=1), last, weight @ fits]


@pytest.mark.parametrize("step", [GROUPS, 64])
def test_fitting_groups_are_those_of_a_plain_walk_in_any_blocks(case, step):
    for found, expected in zip(walked(case, enough=False, step=step), by_hand(case), strict=True):
        assert found.tolist() == expected.tolist()


def test_the_order_of_people_changes_nothing(case):
    scattered = np.random.default_rng(3).permutation(PEOPLE)
    for found, expected in zip(walked(case, enough=False, order=scattered), by_hand(case), strict=True):
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("step", [GROUPS, 64])
def test_enough_finds_the_same_people_placed_and_misplaced(case, step):
    _, groups, own, *_ = walked(case, enough=True, step=step)
    expected = by_hand(case)
    assert (groups > 0).tolist() == (expected[1] > 0).tolist()
    assert (own > 0).tolist() == (expected[2] > 0).tolist()
    assert 0 < (own == 0).sum() < PEOPLE
