"""The loops of the class model beside the same sums written with numpy."""

import numpy as np
import pytest

from sfumato.query.models import _class_kernels as kernels
from sfumato.query.models._spread_kernels import at_least_once, solve_rate
from sfumato.query.models.classes import ClassCounts, ClassShares
from sfumato.query.models.spread import GroupValues

CODES = 7  # a first column of 3 values, a second of 4
VALUES = 3


class Small:
    """Five groups with random sets of two columns, histograms of three sensitive values, and the shares of two classes."""

    def __init__(self, seed):
        coins = np.random.default_rng(seed)
        sets = [[np.sort(coins.permutation(size)[: coins.integers(1, size + 1)]) for _ in range(5)] for size in (3, 4)]
        self.sets = [sets[0], [codes + 3 for codes in sets[1]]]
        self.codes = np.concatenate([codes for column in self.sets for codes in column]).astype(np.int64)
        ends = np.cumsum([len(codes) for column in self.sets for codes in column])
        self.start = np.stack([np.concatenate(([0], ends[:5])), ends[4:]]).astype(np.int64)
        counts = coins.integers(0, 6, (5, VALUES))
        counts[:, 0] += 5
        self.counts = counts
        group, self.value = (array.astype(np.int32) for array in np.nonzero(counts))
        self.count = counts[group, self.value].astype(np.int64)
        self.st_start = np.searchsorted(group, np.arange(6)).astype(np.int64)
        self.sizes = counts.sum(axis=1).astype(np.int64)
        self.weight = np.concatenate([coins.dirichlet(np.ones(size), 2).T for size in (3, 4)])
        self.rate = coins.dirichlet(np.ones(VALUES), 2).T.copy()
        self.share = coins.dirichlet(np.ones(2))
        self.shown = GroupValues(self.sizes, self.st_start, self.value, self.count)
        self.shares = ClassShares(self.weight, self.rate, self.share)

    def chances(self):
        chance = np.array(
            [self.share * np.prod([self.weight[column[g]].sum(axis=0) for column in self.sets], axis=0) for g in range(5)]
        )
        return chance / chance.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_round_spreads_people_as_the_formulas_say(seed):
    small = Small(seed)
    people, holders = np.empty((CODES, 2)), np.empty((VALUES, 2))
    spread = ClassCounts(people, holders, np.empty(len(small.codes)))
    kernels.learn_round(small.shown, small.start, small.codes, small.shares, spread)
    expected, expected_holders = np.zeros((CODES, 2)), np.zeros((VALUES, 2))
    for g, chance in enumerate(small.chances()):
        part = chance * small.rate
        part = small.counts[g][:, None] * part / part.sum(axis=1, keepdims=True)
        expected_holders += part
        belongs = part.sum(axis=0)
        for column in small.sets:
            weight = small.weight[column[g]]
            mean = (weight / weight.sum(axis=0)) @ belongs / small.sizes[g]
            t = solve_rate(float(small.sizes[g]), 0.0, mean, len(mean))
            changed = weight * np.array([at_least_once(t * m) / m for m in mean])[:, None]
            expected[column[g]] += belongs * changed / changed.sum(axis=0)
    assert people == pytest.approx(expected)
    assert holders == pytest.approx(expected_holders)
    assert people[:3].sum() == pytest.approx(small.sizes.sum())


@pytest.mark.parametrize("seed", range(5))
def test_a_question_is_the_mean_over_classes_of_products_over_columns(seed):
    small = Small(seed)
    chance = np.empty((5, 2))
    kernels.class_chances(small.start, small.codes, small.shares, chance)
    assert chance == pytest.approx(small.chances())
    tilt = np.random.default_rng(seed + 10).uniform(0.5, 2.0, len(small.codes))
    accepted = np.array([1, 0, 1, 0, 1, 1, 0], np.uint8)
    share = np.ones((5, 2))
    for start in small.start:
        kernels.narrow(start, small.codes, small.weight, tilt, accepted, share)
    wanted = np.array([1, 0, 1], np.uint8)
    value, variance = kernels.weigh_classes(share, chance, small.rate, wanted, *small.shown[1:])
    total = spread = 0.0
    for g in range(5):
        inside = np.ones(2)
        for start in small.start:
            entries = slice(start[g], start[g + 1])
            part = small.weight[small.codes[entries]] * tilt[entries][:, None]
            inside *= part[accepted[small.codes[entries]] == 1].sum(axis=0) / part.sum(axis=0)
        for s in (0, 2):
            belongs = small.chances()[g] * small.rate[s]
            p = float(belongs @ inside / belongs.sum())
            total += small.counts[g, s] * p
            spread += small.counts[g, s] * p * (1 - p)
    assert value == pytest.approx(total)
    assert variance == pytest.approx(spread)
