"""Worked examples on bucket settings: the article "Inferential or Differential: Privacy Laws Dictate" (001) and the thesis (000).

Where the papers slip, the corrected figure is here, and the test says what was printed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.groups.settings.flow import allocate
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.top_down import partition
from sfumato.groups.settings.two_size import is_valid_one_size
from sfumato.privacy.bounds import Bounds
from tests.groups.settings.oracle import feasible_pairs


def linear(counts: list[int], theta: int, offset: str) -> Bounds:
    total = sum(counts)
    limits = tuple(min(Fraction(1), theta * Fraction(count, total) + Fraction(offset)) for count in counts)
    return Bounds.of(tuple(f"x{i:02d}" for i in range(1, len(counts) + 1)), tuple(counts), limits)


EXAMPLE_3 = linear([1] * 8 + [6] * 4 + [9] * 2, 2, "0.05")
EXAMPLE_5 = linear([2, 2, 2, 4, 4, 4, 4, 7, 7], 3, "0.02")
EXAMPLE_10 = linear([4, 4, 4, 8, 8], 2, "0")
EXAMPLE_13 = linear([2, 2, 2, 2, 4, 4, 4, 4, 7, 8], 3, "0.02")


@pytest.mark.parametrize(
    ("bounds", "strategy", "loss", "classes"),
    [
        pytest.param(EXAMPLE_3, "two-size", 250, ((4, 9), (14, 1)), id="001 Example 3: 9 of 4 and 1 of 14"),
        pytest.param(EXAMPLE_3, "optimal", 216, None, id="001 Example 3: true optimum"),
        pytest.param(EXAMPLE_5, "one-size", 150, ((6, 6),), id="000 Example 6: six of 6"),
        pytest.param(EXAMPLE_5, "two-size", 82, ((3, 8), (6, 2)), id="000 Example 5: two sizes"),
        pytest.param(EXAMPLE_5, "optimal", 72, ((2, 6), (3, 4), (6, 2)), id="000 Example 5: 72, printed 70 (x7 forgotten)"),
        pytest.param(EXAMPLE_10, "two-size", 42, ((2, 6), (4, 4)), id="000 Example 10"),
        pytest.param(EXAMPLE_10, "optimal", 42, ((2, 6), (4, 4)), id="000 Example 10: two sizes are the optimum"),
        pytest.param(EXAMPLE_13, "two-size", 148, ((5, 3), (6, 4)), id="000 Example 13: 148, printed 132"),
        pytest.param(EXAMPLE_13, "top-down", 98, None, id="000 Example 13: rarest first reaches 98, printed 118"),
        pytest.param(EXAMPLE_13, "optimal", 91, ((2, 7), (4, 2), (5, 1), (6, 2)), id="000 Example 13: true optimum"),
    ],
)
def test_corrected_losses_of_the_examples(bounds: Bounds, strategy: Any, loss: int, classes: Any) -> None:
    found = plan(bounds, strategy=strategy)
    assert found.loss == loss
    assert classes is None or found.setting.classes == classes
    assert strategy != "optimal" or found.lower_bound == loss


def test_example_3_moves_six_records_and_fills_both_classes() -> None:
    # 001 §4.3: T1 first holds 6·4 + 9·2 = 42 records, has 36 places, and gives up 6; rarest first, they all come from x9 … x10.
    caps = EXAMPLE_3.caps([4, 14])
    low, high = partition(np.array(EXAMPLE_3.counts), caps[:, 0], caps[:, 1], ((4, 9), (14, 1)))
    assert low.tolist() == [0] * 8 + [2, 4, 6, 6, 9, 9]
    assert high.tolist() == [1] * 8 + [4, 2, 0, 0, 0, 0]
    assert (high <= caps[:, 1]).all()


def test_example_3_printed_assignment_is_an_allocation_too() -> None:
    caps = EXAMPLE_3.caps([4, 14])
    printed = np.array([[0, 1]] * 8 + [[5, 1]] * 4 + [[8, 1]] * 2)
    assert (printed.sum(axis=1) == EXAMPLE_3.counts).all()
    assert (printed.sum(axis=0) == [36, 14]).all()
    assert (printed <= caps * [9, 1]).all()
    assert allocate(EXAMPLE_3.counts, caps, Setting(((4, 9), (14, 1)))) is not None


def test_example_4_and_9_list_the_feasible_pairs() -> None:
    assert feasible_pairs(2, 4, 28) == [(14, 0), (12, 1), (10, 2), (8, 3), (6, 4), (4, 5), (2, 6), (0, 7)]
    # The thesis starts its second list at (1, 5) and so misses 3·6 + 5·2 = 28.
    assert feasible_pairs(3, 5, 28) == [(6, 2), (1, 5)]


def test_example_7_six_buckets_of_six_are_valid() -> None:
    caps = EXAMPLE_5.caps([6])[:, 0]
    assert caps.tolist() == [1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert is_valid_one_size(np.array(EXAMPLE_5.counts), caps, 6)


def test_example_5_and_12_three_sizes_pass_the_two_size_conditions_and_have_no_assignment() -> None:
    # 70 records: ten values of 5 that fit only the third class (30 places), one value of 20 that fits everywhere.
    counts = [5] * 10 + [20]
    setting = Setting(((4, 5), (5, 4), (6, 5)))
    caps = np.array([[0, 0, 1]] * 10 + [[4, 5, 4]])
    most = np.minimum(caps * np.array(setting.numbers), np.array(counts)[:, None])
    assert most.tolist() == [[0, 0, 5]] * 10 + [[20, 20, 20]]
    assert (most.sum(axis=1) >= counts).all()
    assert (most.sum(axis=0) >= [20, 20, 30]).all()
    assert setting.total == sum(counts)
    assert allocate(counts, caps, setting) is None
