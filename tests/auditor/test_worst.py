"""The belief nearest to its bound is found exactly, however close others come."""

from fractions import Fraction

import numpy as np

from sfumato.auditor.claims import _foremost
from sfumato.auditor.result import ClaimResult, nearest_first
from sfumato.release.manifest import Claim

COINS = np.random.default_rng(3)


def test_how_much_of_a_bound_is_used_is_a_number_however_small_the_bound():
    claim = Claim.association("reader")
    assert ClaimResult(claim, False, Fraction(1, 2), Fraction(1, 10**399)).to_dict()["used"] == 1e9
    assert ClaimResult(claim, True, Fraction(1, 4), Fraction(1, 2)).used == Fraction(1, 2)


def exact(beliefs, bounds):
    return max(range(len(beliefs)), key=lambda k: nearest_first(beliefs[k], bounds[k]))


def test_the_foremost_is_never_left_out():
    for case in range(200):
        limits = [Fraction(int(over), 1000 + case) for over in COINS.integers(1, 1000 + case, 5)]
        limits += [Fraction(1), 1 - Fraction(1, 1 << 80)][: case % 3]
        if case % 20 == 0:
            limits.append(Fraction(0))
        value = COINS.integers(0, len(limits), 40)
        size = COINS.integers(1, 1 << (case % 40 + 2), 40)
        count = COINS.integers(0, size + 1)
        beliefs = [Fraction(int(a), int(b)) for a, b in zip(count, size, strict=True)]
        kept = _foremost(count / size, limits, value)
        assert exact(beliefs, [limits[k] for k in value]) in kept


def test_beliefs_that_floats_cannot_tell_apart_are_all_kept():
    size = (1 << 52) + np.arange(6)
    count = np.full(6, 1 << 51)
    assert len(_foremost(count / size, [Fraction(1, 2)], np.zeros(6, int))) == 6
