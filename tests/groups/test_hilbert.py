import numpy as np
import pytest

from sfumato.groups._burel_kernels import curve_words
from sfumato.groups.cuts import Space
from sfumato.groups.hilbert import hilbert_order
from tests.makers import people


def grid(columns, bits):
    return np.stack(np.meshgrid(*[np.arange(1 << bits)] * columns, indexing="ij")).reshape(columns, -1)


@pytest.mark.parametrize(("columns", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (5, 2)])
def test_the_curve_visits_every_cell_once_and_steps_to_a_neighbour(columns, bits):
    cells = grid(columns, bits)
    order = np.lexsort(curve_words(cells, bits)[::-1])
    steps = np.abs(np.diff(cells[:, order], axis=1)).sum(axis=0)
    assert (steps == 1).all()


def test_a_curve_through_many_columns_needs_several_words():
    coins = np.random.default_rng(1)
    cells = coins.integers(0, 1 << 10, (9, 500))
    words = curve_words(cells, 10)
    assert words.shape == (2, 500)
    assert len({tuple(word) for word in words.T.tolist()}) == len({tuple(cell) for cell in cells.T.tolist()})


def test_the_order_of_the_input_does_not_change_who_follows_whom():
    table = people(["x"] * 60, age=[k * k for k in range(60)], size=[(7 * k) % 11 for k in range(60)])
    turned = table.take(np.random.default_rng(2).permutation(60))
    seen = []
    for one in (table, turned):
        order = hilbert_order(Space.of(one.quasi))
        seen.append([one.quasi[0].arrow()[int(row)].as_py() for row in order])
    assert seen[0] == seen[1]


def test_people_in_the_same_place_keep_the_order_in_which_they_stand():
    table = people([f"v{k}" for k in range(8)], age=[30, 20] * 4)
    assert hilbert_order(Space.of(table.quasi)).tolist() == [1, 3, 5, 7, 0, 2, 4, 6]
