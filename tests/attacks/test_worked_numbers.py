"""The worked numbers of the attacks' own papers, on tables small enough for a pencil."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks.definetti import by_rounds, by_swaps
from sfumato.attacks.differential import theorem
from sfumato.attacks.foreground import strongest
from sfumato.attacks.informant import remaining
from sfumato.attacks.members import Members
from sfumato.attacks.placing import log_chances, place, spread_tables, weights_of
from sfumato.randomness import SeededRandomness
from sfumato.table.column import Column


def grouped(groups, codes, values):
    """Return people in groups: per group a list of quasi codes and a list of values."""
    people = np.concatenate([one for one, _ in groups])
    start = np.cumsum([0, *(len(one) for one, _ in groups)])
    entry, value, count = [0], [], []
    for _, shown in groups:
        found = np.bincount(shown, minlength=values)
        value += np.flatnonzero(found).tolist()
        count += found[found > 0].tolist()
        entry.append(len(value))
    column = Column("x", "categorical", pa.array([str(k) for k in range(codes)]), people.astype(np.uint8))
    own = np.arange(len(people))
    return Members(
        (column,), start, np.array(entry), np.array(value, np.int32), np.array(count, float), values, own, own, own, own
    )


@pytest.fixture
def kifer():
    """Smokers and others; cancer, flu and measles: {s,s}: {C,F}, {n,n}: {F,M} twice, {s,n}: {C,F}."""
    smoker, other, cancer, flu, measles = 0, 1, 0, 1, 2
    healthy = ([other, other], [flu, measles])
    groups = [([smoker, smoker], [cancer, flu]), healthy, healthy, ([smoker, other], [cancer, flu])]
    return grouped([(np.array(q), np.array(v)) for q, v in groups], 2, 3)


def last_smoker_has_cancer(people, flat):
    return people.to_victims(flat)[6, 0]


def test_random_worlds_say_one_half_of_the_smoker(kifer):
    assert last_smoker_has_cancer(kifer, place(kifer, np.ones(int(kifer.offset[-1])))) == pytest.approx(1 / 2)


def test_definetti_says_three_quarters(kifer):
    """The exact posterior of naive Bayes with Beta(1, 1) is 3/4; 40,000 sweeps are off by less than .02 but once in 10^6."""
    sampled = by_swaps(kifer, SeededRandomness(1), sweeps=40_000, burn=100)
    assert last_smoker_has_cancer(kifer, sampled) == pytest.approx(3 / 4, abs=0.02)


def test_one_step_of_spread_counts_says_five_sixths(kifer):
    once = by_rounds(kifer, rounds=1, correction=0.0)
    assert last_smoker_has_cancer(kifer, once) == pytest.approx(5 / 6)


def test_foreground_knowledge_of_one_case_in_a_pair_says_997():
    """Half of the people with code 0 have the disease, 3 in a thousand of those with code 1; one of the pair has it."""
    pair = grouped([(np.array([0, 1]), np.array([0, 1]))], 2, 2)
    rates = [np.array([[500.0, 500.0], [3.0, 997.0]])]
    found = place(pair, strongest(pair, rates))
    assert pair.to_victims(found)[0, 0] == pytest.approx(0.997, abs=5e-4)
    assert pair.to_victims(found)[0, 0] == pytest.approx(0.5 * 0.997 / (0.5 * 0.997 + 0.5 * 0.003))


def test_values_that_two_of_three_cannot_have_are_the_third_ones():
    trio = grouped([(np.array([0, 1, 2]), np.array([0, 1, 2]))], 3, 3)
    impossible = np.array([[0.0, 1, 1], [0, 1, 1], [1, 1, 1]])
    with np.errstate(divide="ignore"):
        beliefs = trio.to_victims(place(trio, weights_of(trio, np.log(impossible))))
    assert beliefs[2, 0] == pytest.approx(1)
    assert beliefs[0, 1] == pytest.approx(1 / 2)


def test_a_corrupted_group_of_three_says_a_third_then_a_half_then_all():
    shown, told = np.ones((3, 3)), np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1]])
    beliefs = remaining(shown, told, np.array([3, 2, 1]))
    assert beliefs[:, 0].tolist() == pytest.approx([1 / 3, 1 / 2, 1])


def test_exact_sums_and_scaling_are_those_of_all_placements():
    """Ten random groups against the enumeration of every placement; raked beliefs add up as the counts say."""
    from itertools import permutations

    coins = np.random.default_rng(5)
    for _ in range(10):
        size, values = int(coins.integers(2, 6)), 3
        group = grouped([(coins.integers(0, 4, size), coins.integers(0, values, size))], 4, values)
        table = np.log(coins.random((4, values)))
        weight = np.exp(table)[group.codes[:, 0]]
        shown = np.repeat(group.value, group.count.astype(int))
        total, expected = 0.0, np.zeros((size, values))
        for world in permutations(shown):
            chance = np.prod([weight[i, v] for i, v in enumerate(world)])
            total += chance
            for i, v in enumerate(world):
                expected[i, v] += chance
        assert group.to_victims(place(group, weights_of(group, table))) == pytest.approx(expected / total)


def test_larger_groups_are_scaled_until_people_and_values_add_up():
    coins = np.random.default_rng(6)
    group = grouped([(coins.integers(0, 9, 60), coins.integers(0, 5, 60))], 9, 5)
    beliefs = group.to_victims(place(group, weights_of(group, np.log(coins.random((9, 5))))))
    assert beliefs.sum(axis=1) == pytest.approx(np.ones(60))
    assert beliefs.sum(axis=0) == pytest.approx(group.count, abs=1e-3)


def test_learning_by_rounds_begins_with_counts_spread_over_groups(kifer):
    table = spread_tables(kifer)[0]
    assert table.tolist() == [[1.5, 1.5, 0], [0.5, 2.5, 2]]
    assert np.exp(log_chances([table], 1.0))[0, 0] == pytest.approx(2.5 / 4)


def test_the_papers_example_is_two_percent_above_the_true_share():
    # 001 §2.1: ε = 0.1 and x = 100 give 2b²/x² = 0.02, so E[Y/X] is 1.02·y/x; for x = 1000 it is 1.0002·y/x.
    assert theorem(100, 90, 10)[0] == pytest.approx(1.02 * 0.9)
    assert theorem(1000, 900, 10)[0] == pytest.approx(1.0002 * 0.9)
    assert theorem(100, 90, 10)[1] == pytest.approx(0.02 * (1 + 0.81))
