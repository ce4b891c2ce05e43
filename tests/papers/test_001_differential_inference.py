import pytest

from sfumato.attacks.differential import theorem


def test_the_papers_example_is_two_percent_above_the_true_share():
    # 001 §2.1: ε = 0.1 and x = 100 give 2b²/x² = 0.02, so E[Y/X] is 1.02·y/x; for x = 1000 it is 1.0002·y/x.
    assert theorem(100, 90, 10)[0] == pytest.approx(1.02 * 0.9)
    assert theorem(1000, 900, 10)[0] == pytest.approx(1.0002 * 0.9)
    assert theorem(100, 90, 10)[1] == pytest.approx(0.02 * (1 + 0.81))
