"""The engineer's claim for soft cuts, by enumerating worlds and coins on small tables; and the kernels beside their twin."""

import random
from collections import defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.grouping import histograms, require_bounds
from sfumato.groups.soft import Accounts, SoftTests, default_patience, leading, refusing, soft_rule
from sfumato.groups.streams import Step
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness, SeededRandomness
from tests.groups._soft_twin import LEAST, ONE, Case, made, outcomes
from tests.makers import people

LIMITS = [Fraction(text) for text in ("1/4", "1/3", "2/5", "1/2", "1/2", "3/5", "2/3", "3/4", "1")]
COUNTS = [(1, 2), (1, 3), (2, 2), (1, 4), (2, 3), (1, 1, 3), (1, 2, 2), (1, 5), (2, 4), (1, 1, 4), (2, 5), (3, 4), (1, 1, 1, 3)]


def tables(number, seed=1, *, levels=False):
    """Give random small tables that keep their own caps: ties, per-value bounds, floors, one to three tests a box.

    With `levels` their columns are categories: one, or two of two levels.
    """
    coins = random.Random(seed)
    while number:
        counts = coins.choice(COUNTS)
        size = sum(counts)
        limits = tuple(coins.choice(LIMITS) for _ in counts)
        if all(limit == 1 for limit in limits) or any(count > limit * size for count, limit in zip(counts, limits, strict=True)):
            continue
        columns = coins.choice([1, 1, 2])
        wide = [2, 3, 4] if not levels else [4, 5] if columns == 1 else [2]
        quasi = tuple(tuple(coins.randrange(coins.choice(wide)) for _ in range(columns)) for _ in range(size))
        values = [value for value, count in enumerate(counts) for _ in range(count)]
        how = coins.choice([1, 1, 1, 2]), coins.choice([1, 2, 3]), coins.choice([1, 1, 2, 3])
        yield Case(quasi, limits, *how, levels=levels), values
        number -= 1


def likelihoods(case, values):
    """Return {release: {world: probability}} over all worlds and coins; a release shows its boxes, their values and accounts."""
    found = defaultdict(lambda: defaultdict(Fraction))
    known = {}
    whole = tuple(range(len(values)))
    for world in sorted(set(permutations(values))):
        for boxes, chance in released(case, outcomes(case, world, whole, known=known)).items():
            shown = tuple((box, tuple(sorted(world[person] for person in box)), told) for box, told in boxes)
            found[shown][world] += chance
    return found


def released(case, runs):
    """Return what is published of the runs: each one, but for two mistakes."""
    if case.mistake == "better of two runs":
        best = defaultdict(Fraction)
        for one, p in runs.items():
            for two, q in runs.items():
                best[two if len(two) > len(one) else one] += p * q
        return best
    if case.mistake == "fallback after refusals":
        return {((boxes[0][0], ONE),) if len(boxes) == 1 else boxes: chance for boxes, chance in runs.items()}
    return runs


def faults(case, values):
    """Return what is wrong with the releases of a table (belief over its figure, counts over caps, belief over the bound), the
    largest belief relative to the figure, and in how many boxes something was refused."""
    wrong, worst, refused = set(), Fraction(0), 0
    for release, likelihood in likelihoods(case, values).items():
        total = sum(likelihood.values())
        if not total:
            continue
        for box, shown, told in release:
            room = 1 + (len(box) - 1) * told
            refused += told < 1
            for value in range(len(case.limits)):
                count = sum(case.has(value, one) for one in shown)
                if not count:
                    continue
                figure = count / room
                if case.limits[value] < 1 and count > case.limits[value] * room:
                    wrong.add("cap")
                for person in box:
                    belief = sum((p for world, p in likelihood.items() if case.has(value, world[person])), Fraction(0)) / total
                    worst = max(worst, belief / figure)
                    if belief > figure:
                        wrong.add("figure")
                    if belief > case.limits[value]:
                        wrong.add("bound")
    return wrong, worst, refused


def test_no_belief_exceeds_its_figure_nor_any_count_its_cap_on_four_hundred_tables():
    """And the figure is attained: the account is not larger than it must be."""
    worst, refusals = Fraction(0), 0
    for case, values in [*tables(400), *tables(100, levels=True)]:
        wrong, most, refused = faults(case, values)
        assert not wrong, (case, values)
        worst, refusals = max(worst, most), refusals + refused
    assert worst == 1
    assert refusals > 300


@pytest.mark.parametrize(
    ("mistake", "caught"),
    [
        ("not charged", "bound"),
        ("not charged to descendants", "figure"),
        ("hopeless refusals not charged", "figure"),
        ("only coins charged", "bound"),
        ("affordable afterwards", "figure"),
        ("safe without account", "cap"),
        ("one side", "cap"),
        ("only values that a side has", "figure"),
        ("a coin more", "figure"),
        ("one number a box", "figure"),
        ("rounded up", "figure"),
        ("ordered by values", "figure"),
        ("better of two runs", "figure"),
        ("fallback after refusals", "figure"),
    ],
)
def test_the_enumeration_catches(mistake, caught):
    from dataclasses import replace

    assert any(caught in faults(replace(case, mistake=mistake), values)[0] for case, values in tables(400, seed=2))


def test_a_table_that_does_not_keep_its_own_cap_is_caught():
    case = Case(((0,), (1,), (1,)), (Fraction(1, 4), ONE), 1, 1, 1)
    assert "cap" in faults(case, [0, 1, 1])[0]


def test_the_smallest_example():
    """Quasi values 0, 1, 1, one x, bound 1/2, q = 7/10: a refused cut leaves the first person at 1/2.4."""
    case = Case(((0,), (1,), (1,)), (Fraction(1, 2), ONE), 1, 1, 1)
    assert case.chance(3) == LEAST
    found = likelihoods(case, [0, 1, 1])
    whole = next(release for release in found if len(release) == 1)
    assert whole == (((0, 1, 2), (0, 1, 1), LEAST),)
    assert Fraction(found[whole][0, 1, 1], sum(found[whole].values())) == Fraction(1) / Fraction("2.4")


class Tossed(Randomness):
    """Coins that come up as they are told to."""

    reproducible = True

    def __init__(self, *flags):
        self.flags = list(flags)

    def words(self, count):
        raise AssertionError("soft cuts toss coins")

    def spawn(self, *path):
        return self

    def chance(self, probability, count):
        taken, self.flags = self.flags[:count], self.flags[count:]
        return np.array(taken, dtype=bool)


def test_coins_that_refuse_in_a_row_are_counted_for_each_test():
    flags = [True, True, False, False, True, False, True]
    assert leading(Tossed(*flags, *[False] * 40), Fraction(7, 10), 3).tolist() == [2, 0, 1]
    drawn = leading(SeededRandomness(5), Fraction(4, 5), 40_000)
    for coins in range(1, 8):  # six standard deviations: a false alarm in 10⁸, but seeds are fixed
        assert abs((drawn >= coins).mean() - 0.8**coins) < 6 * (0.8**coins / 40_000) ** 0.5


def test_a_refusing_coin_is_exact_and_has_a_least_chance():
    assert refusing(60, 1000) == Fraction(47, 50)
    assert refusing(60, 200) == LEAST
    assert refusing(60, 40) == LEAST


def kernel_case(seed):
    """A table of some size, its world, and its bounds; the columns of every third one are categories."""
    coins = random.Random(seed)
    size = coins.randrange(12, 90)
    counts = [0]
    while len(counts) < 2 or 0 in counts:
        values = [min(int(coins.expovariate(0.7)), 4) for _ in range(size)]
        counts = [values.count(value) for value in range(max(values) + 1)]
    limits = tuple(
        min(ONE, max(Fraction(count, size) * coins.choice([Fraction(5, 4), 2, 3, 4]), Fraction(coins.randrange(2, 7), 9)))
        for count in counts
    )
    columns, levels = (2, 9, 4)[: coins.choice([1, 2, 3])], seed % 3 == 0
    if levels:
        columns = (9,) if len(columns) == 1 else (2,) * len(columns)
    quasi = tuple(tuple(coins.randrange(wide) for wide in columns) for _ in range(size))
    how = coins.choice([1, 2, 5]), coins.choice([1, 3, 7]), coins.choice([1, 3, 8, 20])
    case = Case(quasi, limits, *how, levels=levels)
    return case, tuple(values), tuple(counts)


@pytest.mark.usefixtures("one_thread")
def test_kernels_do_what_the_twin_does():
    """With the same coins: the same boxes with the same accounts, in hundreds of tables."""
    cut = refused = 0
    for seed in range(400):
        case, world, counts = kernel_case(seed)
        bounds = Bounds.of(tuple(map(str, range(len(counts)))), counts, case.limits)
        coins = SeededRandomness(seed)
        found = cut_into_boxes(
            people([str(value) for value in world], **case.columns).quasi,
            np.array(world),
            bounds,
            tight=False,
            floor=case.floor,
            weights=None,
            soft=SoftTests(case.patience, case.tests),
            random=coins,
        )

        def tossed(low, high, coins=coins, case=case):
            return leading(coins.spawn(Step.CUTS).spawn(low, high), case.chance(high - low), case.tests)

        expected = made(case, world, tossed)
        boxes = [tuple(np.flatnonzero(found.group == box).tolist()) for box in range(found.groups)]
        assert sorted(zip(boxes, found.account.tolist(), strict=True)) == expected, seed
        require_bounds(histograms(found.group, np.array(world), len(counts)), found.sizes, bounds, found.account)
        cut += found.groups > 1
        refused += any(told < 1000 for _, told in expected)
    assert cut > 150
    assert refused > 100


def test_soft_boxes_and_accounts_are_the_same_for_any_order_of_the_input_and_any_number_of_threads():
    import numba

    coins = np.random.default_rng(4)
    age, zone = coins.integers(0, 60, 3000), coins.integers(0, 12, 3000)
    values = (age // 10 + coins.integers(0, 5, 3000)) % 8

    def cut(rows):
        table = people([str(value) for value in values[rows]], age=age[rows].tolist(), zone=zone[rows].tolist())
        bounds = LDiversity(3).bounds(table.sensitive.histogram())
        made = cut_into_boxes(
            table.quasi,
            table.sensitive.codes,
            bounds,
            tight=False,
            floor=20,
            weights=None,
            soft=soft_rule(bounds),
            random=SeededRandomness(3),
        )
        return {(frozenset(rows[made.group == box].tolist()), int(made.account[box])) for box in range(made.groups)}

    order, threads = np.arange(3000), numba.get_num_threads()
    whole = cut(order)
    assert len(whole) > 10
    assert any(told < 1000 for _, told in whole)
    assert cut(order[::-1]) == whole
    numba.set_num_threads(1)
    try:
        assert cut(order) == whole
    finally:
        numba.set_num_threads(threads)


def test_the_default_patience_follows_from_bounds_and_counts():
    even = LDiversity(5).bounds({str(k): 100 for k in range(10)})
    assert default_patience(even) == -(-30 * 5)
    assert soft_rule(even, 0) is None
    assert soft_rule(even, 7) == SoftTests(7)
    skewed = FPrivacy(offset="1/2", bounds={"a": "1/10", "c": 1}).bounds({"a": 10, "b": 30, "c": 60})
    assert default_patience(skewed) == 75  # ⌈30 / (10·1/10 + 30·1/2)·40⌉: open values do not count


def test_bounds_of_huge_denominators_and_tiny_ones_do_not_overflow():
    limit = Fraction(10**30 + 1, 2 * 10**30)
    accounts = Accounts(Bounds.of(("a", "b"), (30, 40), (limit, Fraction(1, 10**18))), SoftTests(5), 1, SeededRandomness(1))
    need, start = accounts.level(np.array([0]), np.array([70]))[:2]
    assert need[start[0] : start[0] + 4].tolist() == [0, 2000, 4000, 6000]
    assert need[start[1] : start[1] + 2].tolist() == [0, 1 << 62]
