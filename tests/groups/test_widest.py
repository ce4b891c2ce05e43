import numpy as np

from sfumato.groups.cuts import _on_a_line
from tests.makers import people


def test_the_widest_numbers_there_are_lie_on_a_line():
    table = people(["x"] * 3, age=[-1.7e308, 0.0, 1.7e308])
    assert np.array_equal(_on_a_line(table.quasi[0]), [0.0, 0.5, 1.0])
