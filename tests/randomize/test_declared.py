import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from sfumato import FPrivacy, RhoPrivacy
from sfumato.errors import PolicyError
from sfumato.randomize.apply import randomize
from sfumato.randomize.declared import as_declared, declared_counts, declared_shares
from sfumato.randomize.partition import partitioned, per_value_retentions, uniform_retentions
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.randomize.problem import SortedValues
from tests.randomize._belief import belief
from tests.randomize.test_coins import Told

HALF = Fraction(1, 2)
TINY = RandomizationPlan(
    parts=(
        Part((0, 1), (), (HALF, HALF), (HALF, HALF), Fraction(3), HALF),
        Part((1, 2), (), (HALF, HALF), (HALF, HALF), Fraction(3), HALF),
    ),
    error_bound=1.0,
    paper_bound=1.0,
    whole_bound=1.0,
    delta=Fraction(1, 20),
    groups=2,
    declared=True,
)
PRIORS = [
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    (Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)),
    (Fraction(98, 100), Fraction(1, 100), Fraction(1, 100)),
]


def releases_of(codes):
    """Return the probability of every release of a table, from every outcome of the coins: all chances of the plan are halves."""
    found = defaultdict(Fraction)
    coins = 3 * len(codes)  # part, retention, replacement
    for digits in itertools.product((0, 1), repeat=coins):
        words = Told(*(digit << 63 | digit for digit in digits))
        made = randomize(np.array(codes), TINY, 3, words)
        found[tuple(zip(made.part.tolist(), made.value.tolist(), strict=True))] += Fraction(1, 2**coins)
    return found


@pytest.mark.parametrize("known", [(0,), (1,), (2,), (1, 1)])
def test_whoever_knows_everybody_else_is_bounded_by_amplification(known):
    # The insider knows all records but the first, and the whole program; the release is what the code makes of every coin.
    likely = [releases_of((value, *known)) for value in range(3)]
    for prior in PRIORS:
        for release in set().union(*likely):
            part = TINY.parts[release[0][0]]
            weight = [p * chances.get(release, 0) for p, chances in zip(prior, likely, strict=True)]
            # Inside the part: what she would believe knowing which part the record is in, but not its published value.
            inside = [
                prior[value] * sum(chance for seen, chance in likely[value].items() if seen[0][0] == release[0][0])
                for value in range(3)
            ]
            for value in part.values:
                allowed = belief(part.gamma, inside[value] / sum(inside))
                assert weight[value] / sum(weight) <= allowed
    assert all(sum(chances.values()) == 1 for chances in likely)


def test_the_bound_of_the_insider_is_reached():
    likely = [releases_of((value,)) for value in range(3)]
    seen = ((0, 0),)
    inside = {value: sum(chance for release, chance in likely[value].items() if release[0][0] == 0) for value in (0, 1)}
    share = inside[0] / (inside[0] + inside[1])
    reached = likely[0][seen] / (likely[0][seen] + likely[1][seen])
    assert reached == belief(Fraction(3), share)


@pytest.mark.parametrize("rule", [uniform_retentions(), per_value_retentions()], ids=["uniform", "per-value"])
@pytest.mark.parametrize("requirement", [RhoPrivacy("0.4", "0.7"), FPrivacy(theta=2, offset="0.1")], ids=["rho", "f"])
def test_beliefs_stay_within_amplification_for_any_prior_in_every_part_of_a_plan(rule, requirement):
    counts = declared_counts(declared_shares({"a": "0.4", "b": "0.2", "c": "0.15", "d": "0.1", "e": "0.1", "f": "0.05"}))
    plan = as_declared(partitioned(SortedValues.of(requirement.bounds(counts)), rule, people=1000))
    for part in plan.parts:
        size = len(part.values)
        for seed in range(20):
            drawn = np.random.default_rng(seed).integers(1, 100, size).tolist()
            prior = [Fraction(weight, sum(drawn)) for weight in drawn]
            for y in range(size):
                shown = sum(prior[x] * part.transition(x, y) for x in range(size))
                for x in range(size):
                    assert prior[x] * part.transition(x, y) / shown <= belief(part.amplification, prior[x])


def test_the_plan_keeps_the_declared_proportions_exactly():
    shares = declared_shares({"a": 50, "b": 30, "c": 15, "d": 5})
    counts = declared_counts(shares)
    assert {value: Fraction(count, sum(counts.values())) for value, count in counts.items()} == shares
    plan = as_declared(partitioned(SortedValues.of(RhoPrivacy("0.5", "0.8").bounds(counts)), uniform_retentions(), people=10))
    for code, share in enumerate(shares.values()):
        spread = [part.weight * part.shares[part.values.index(code)] for part in plan.parts if code in part.values]
        assert sum(spread) == share


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"a": 1}, "at least two"),
        ({"a": 1, "b": 0}, "of 'b'.*above 0"),
        ({"a": 1, "b": "-1/2"}, "of 'b'.*above 0"),
        ({"a": 1, "b": "much"}, r"shares\['b'\]: expected a number"),
        ("a", "at least two"),
    ],
)
def test_shares_that_are_none_are_refused(shares, message):
    with pytest.raises(PolicyError, match=message):
        declared_shares(shares)


def test_shares_without_a_small_common_denominator_are_refused():
    with pytest.raises(PolicyError, match="common denominator") as caught:
        declared_counts(declared_shares({f"v{prime}": Fraction(1, prime) for prime in (999_961, 999_979, 999_983, 1_000_003)}))
    assert "twelve places" in caught.value.hint
