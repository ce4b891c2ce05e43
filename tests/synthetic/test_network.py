"""PrivBayes: scores by hand, their sensitivity and the chances of a choice by enumeration, and which tables are useful."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.randomness import SeededRandomness
from sfumato.synthetic.network import CodedPeople, Pair, find_network, measured_pairs, noisy_law, useful_cells
from sfumato.synthetic.records import Given, draw_records, marginal


def counted(rows, sizes):
    columns = np.array(rows).T
    return CodedPeople(tuple(columns), tuple(sizes), len(rows))


def test_two_columns_that_are_one_have_half_a_score_and_independent_ones_none():
    same = counted([(0, 0), (0, 0), (1, 1), (1, 1)], (2, 2))
    assert same.score(Pair(1, (0,))) / (2 * 16) == 0.5
    assert counted([(0, 0), (0, 1), (1, 0), (1, 1)], (2, 2)).score(Pair(1, (0,))) == 0
    assert same.score(Pair(1, ())) == 0


def test_the_sensitivity_is_the_papers():
    assert CodedPeople((), (), 10_000).sensitivity / (2 * 10_000**2) == pytest.approx(3.0002e-4, rel=1e-12)


def test_no_other_record_moves_a_score_further_than_the_sensitivity_and_some_come_near():
    records = list(itertools.product(range(2), range(3)))
    largest = 0
    for others in itertools.combinations_with_replacement(records, 4):
        scores = [counted([*others, one], (2, 3)).score(Pair(1, (0,))) for one in records]
        largest = max(largest, max(scores) - min(scores))
    limit = CodedPeople((), (), 5).sensitivity
    assert limit / 3 < largest <= limit


def test_no_other_record_makes_a_network_more_than_e_to_the_epsilon_times_as_likely():
    """All tables of three people with three columns of two values: the chance of every network, by the law of the choices."""
    epsilon, records = 1.5, list(itertools.product(range(2), repeat=3))

    def chances(rows):
        people, found = counted(rows, (2, 2, 2)), {}
        for root in range(3):
            first = [Pair(child, (root,)) for child in range(3) if child != root]
            for one, p in zip(first, weights(people, first), strict=True):
                last = 3 - root - one.child
                second = [Pair(last, (parent,)) for parent in sorted((root, one.child))]
                for two, q in zip(second, weights(people, second), strict=True):
                    found[root, one, two] = p * q
        return found

    def weights(people, pairs):
        powers = [math.exp(epsilon / 2 * people.score(pair) / (2 * people.sensitivity)) for pair in pairs]
        return [power / sum(powers) for power in powers]

    worst = 1.0
    for others in itertools.combinations_with_replacement(records, 2):
        laws = [chances([*others, one]) for one in records]
        worst = max(worst, *(a[net] / b[net] for a in laws for b in laws for net in a))
    assert 1.05 < worst <= math.exp(epsilon)


def test_a_table_is_useful_up_to_the_papers_number_of_cells():
    assert useful_cells(10_000, Fraction(7, 10), 8, Fraction(4)) == 109


def test_columns_get_the_largest_sets_of_parents_whose_tables_are_useful():
    coins = np.random.default_rng(1)
    people = CodedPeople(tuple(coins.integers(0, size, 50) for size in (2, 3, 40)), (2, 3, 40), 50)
    network = find_network(people, Fraction(1), degree=None, most_cells=60, random=SeededRandomness(1))
    for place, pair in enumerate(network):
        before = {one.child for one in network[:place]}
        assert set(pair.parents) <= before
        assert people.cells(pair.columns) <= 60 or not pair.parents
        assert all(people.cells((*pair.columns, more)) > 60 for more in before - set(pair.parents))


def test_a_degree_gives_everybody_as_many_parents_as_there_are_and_measures_fewer_tables():
    coins = np.random.default_rng(2)
    people = CodedPeople(tuple(coins.integers(0, 3, 200) for _ in range(5)), (3,) * 5, 200)
    network = find_network(people, Fraction(1), degree=2, most_cells=0, random=SeededRandomness(2))
    assert [len(pair.parents) for pair in network] == [0, 1, 2, 2, 2]
    assert len(measured_pairs(network, 2)) == 3
    law, _ = noisy_law(people, network, Fraction(1000), degree=2, random=SeededRandomness(2))
    assert [given.column for given in law] == [pair.child for pair in network]
    for given in law:  # hardly any noise: what is drawn from is what was counted
        assert np.array_equal(given.weights, people.table((*given.parents, given.column)))


def test_a_strong_link_is_found_with_enough_epsilon():
    coins = np.random.default_rng(3)
    one, other = coins.integers(0, 4, 4000), coins.integers(0, 4, 4000)
    people = CodedPeople((one, other, one), (4, 4, 4), 4000)
    for seed in range(5):
        network = find_network(people, Fraction(20), degree=1, most_cells=0, random=SeededRandomness(seed))
        assert any({pair.child, *pair.parents} == {0, 2} for pair in network)


def test_a_marginal_has_its_columns_in_the_order_asked_for():
    counts = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(marginal(counts, (5, 7, 2), (2, 5)), counts.sum(axis=1).T)


def test_records_are_drawn_from_the_row_of_their_parents_and_from_the_whole_where_noise_left_nothing():
    law = [Given(0, (), np.array([1, 1, 1])), Given(1, (0,), np.array([[5, 0], [0, 2], [0, 0]]))]
    first, second = draw_records(law, 2, 3000, SeededRandomness(4))
    assert set(second[first == 0]) == {0}
    assert set(second[first == 1]) == {1}
    share = (second[first == 2] == 0).mean()  # 5 of 7; off by more than 0.1 once in 10⁸ draws
    assert abs(share - 5 / 7) < 0.1
