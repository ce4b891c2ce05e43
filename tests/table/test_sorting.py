"""Sorting by counting gives what sorting by comparisons gives, whatever the numbers; so do long arrays a block at a time."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.arrays import counted, put_back, taken
from sfumato.groups.grouping import _caps, histograms
from sfumato.release.canonical import TableRows, canonical_order
from sfumato.table import coding

COINS = np.random.default_rng(5)


@pytest.mark.parametrize("top", [1, 2, 1 << 12, 1 << 13, 1 << 20, 1 << 40, (1 << 52) - 1, 1 << 55])
@pytest.mark.parametrize("many", [0, 1, 1000, coding._MANY, coding._MANY + 3])
def test_places_are_those_of_a_stable_sort(top, many):
    key = COINS.integers(0, top, many)
    np.testing.assert_array_equal(coding.ascending(key.copy(), used_up=True), np.argsort(key, kind="stable"))
    key.sort()
    np.testing.assert_array_equal(coding.ascending(key), np.arange(many))


def test_numbers_are_dealt_to_where_each_begins():
    for many in (0, 1, 5000):
        key = COINS.integers(0, 40, many).astype(np.int32)
        places, start = coding.dealt(key, 41)
        np.testing.assert_array_equal(places, np.argsort(key, kind="stable"))
        np.testing.assert_array_equal(start, np.searchsorted(np.sort(key), np.arange(42)))


def test_a_fall_is_found_on_the_edge_of_blocks(monkeypatch):
    monkeypatch.setattr(coding, "_AT_ONCE", 8)
    for many in range(40):
        key = np.arange(many)
        assert not coding.falls(key)
        for at in range(many - 1):
            key = np.arange(many)
            key[at] = many
            assert coding.falls(key)


@pytest.mark.parametrize("many", [0, 1, 1 << 16, (1 << 17) + 5])
@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
def test_blocks_are_taken_counted_and_put_back_as_a_whole_would_be(many, kind):
    values, places = COINS.integers(0, 99, 200).astype(np.uint8), COINS.integers(0, 120, many).astype(kind)
    np.testing.assert_array_equal(taken(values, places), values[places])
    np.testing.assert_array_equal(counted(places, 120), np.bincount(places, minlength=120))
    order = COINS.permutation(many).astype(np.int32)
    some = COINS.integers(0, 9, many)
    np.testing.assert_array_equal(put_back(some, order)[order], some)


def test_histograms_are_the_same_counted_and_sorted():
    group, codes = COINS.integers(0, 30, 5000).astype(np.int32), COINS.integers(0, 20, 5000).astype(np.int32)
    many = histograms(group, codes, 20)
    few = histograms(group, codes, 20_000)  # too many to count them all
    for one, other in zip((many.group, many.value, many.count), (few.group, few.value, few.count), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_caps_are_exact_in_words_and_beyond_them():
    rooms = np.concatenate([np.arange(0, 5000), COINS.integers(0, 1 << 40, 100)])
    for limit in (Fraction(1, 3), Fraction(999_999, 1_000_000), Fraction(1, 1 << 70), Fraction((1 << 70) - 1, 1 << 70)):
        np.testing.assert_array_equal(_caps(limit, rooms), [int(limit * room / 1000) for room in rooms.tolist()])
    assert _caps(Fraction(1), rooms).min() > rooms.max()


def test_rows_in_order_are_only_dealt_to_their_groups():
    group, key = COINS.integers(0, 50, 4000).astype(np.int32), COINS.integers(0, 900, 4000)
    shuffled = canonical_order([TableRows("qit", group, key)], 50)
    order = np.argsort(key, kind="stable")
    arranged = canonical_order([TableRows("qit", group[order], key[order])], 50)
    np.testing.assert_array_equal(shuffled.number, arranged.number)
    np.testing.assert_array_equal(key[shuffled.rows[0]], key[order][arranged.rows[0]])
    np.testing.assert_array_equal(group[shuffled.rows[0]], group[order][arranged.rows[0]])
