"""The papers' loss measures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.utility import bucket_loss, setting_loss


def test_the_corrected_examples_have_their_losses() -> None:
    assert setting_loss([(2, 6), (3, 4), (6, 2)]).loss == 72  # thesis Example 5
    assert setting_loss([(5, 3), (6, 4)]).loss == 148  # thesis Example 13
    assert setting_loss([(4, 9), (14, 1)]).loss == 250  # Example 3/8


def test_sizes_and_setting_say_the_same() -> None:
    found = bucket_loss(np.array([2, 2, 3, 6]))
    assert found == setting_loss([(2, 2), (3, 1), (6, 1)])
    assert (found.loss, found.people) == (1 + 1 + 4 + 25, 13)
    assert found.mse == 31 / 12
    assert found.il == math.sqrt(31) / 12


def test_a_single_bucket_loses_everything_and_single_people_nothing() -> None:
    assert bucket_loss([50]).il == 1
    assert bucket_loss([1, 1, 1]) == setting_loss([(1, 3)])
    assert bucket_loss([1, 1, 1]).mse == 0
    assert bucket_loss([1]).mse == bucket_loss([1]).il == 0


def test_an_empty_bucket_is_refused() -> None:
    with pytest.raises(InputError, match="at least one person"):
        setting_loss([(0, 3)])
