from collections import Counter

import numpy as np
import pytest

from sfumato import Decoys, publication, publish
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.papers.decoys._kernel import mix
from sfumato.papers.decoys.decoys import inflate
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.randomness import SeededRandomness
from tests.makers import people


def zipf(rows=600, values=12, seed=1):
    coins = np.random.default_rng(seed)
    weight = 1.0 / np.arange(9, values + 9)
    age = coins.integers(20, 70, rows)
    return people([f"v{k}" for k in coins.choice(values, size=rows, p=weight / weight.sum())], age=age.tolist())


def test_every_bucket_shows_sigma_more_distinct_values_than_it_has_people():
    release = publish(zipf(), LDiversity(5), method=Decoys(decoys=2), random=3)
    assert (release.shown == release.sizes + 2).all()
    assert (release.st_count == 1).all()
    assert release.rows == 600
    assert release.manifest.values is None


def test_decoys_are_as_frequent_as_the_values_they_imitate():
    table = zipf(rows=3000)
    release = publish(table, LDiversity(4), method=Decoys(decoys=1), random=3)
    true = table.sensitive.histogram()
    for value, shown in Counter(release.tables()["st"]["value"].to_pylist()).items():
        assert shown == pytest.approx(true[value] * 5 / 4, abs=len(set(release.sizes.tolist())) + 1)


def test_inflation_is_by_largest_remainder_and_never_twice_in_a_bucket():
    assert inflate(np.array([4, 3, 3]), 2, 5, 1).tolist() == [5, 5, 5]
    shown = inflate(np.array([6, 5, 5, 4, 4]), 4, 6, 1)
    assert shown.tolist() == [6, 6, 6, 6, 6]
    with pytest.raises(Infeasible, match="cannot show 4 different values"):
        inflate(np.array([4, 4, 4]), 3, 4, 1)


def test_a_value_too_frequent_to_be_inflated_is_named():
    values = ["often"] * 18 + [f"v{k}" for k in range(9) for _ in range(9)]
    with pytest.raises(Infeasible, match=r"1/6 of the people.*often"):
        publish(people(values), LDiversity(5), method=Decoys(decoys=1))


def test_decoys_are_refused_where_a_value_must_occur_twice():
    with pytest.raises(Infeasible):
        publish(people(["a"] * 6 + ["b"] * 2 + ["c"] * 2), FPrivacy(offset="2/3"), method=Decoys(decoys=1))


def test_the_walk_reaches_every_choice_of_decoys_equally_often():
    # Three buckets showing {0,1,2}; one decoy per bucket and per value: the six permutation matrices (false alarm about 1e-6).
    value = np.repeat(np.arange(3), 3)
    bucket = np.tile(np.arange(3), 3)
    rows = np.lexsort((value, bucket)).reshape(3, 3)
    start = np.array([0, 3, 6, 9])
    coins = SeededRandomness(9)
    seen = Counter()
    for _ in range(3000):
        decoy = value == bucket
        mix(decoy, value, bucket, start, rows, coins.words(3 * 60))
        seen[tuple(decoy.tolist())] += 1
    # Exchanges of two buckets change the sign of the permutation, so all six are reached.
    assert len(seen) == 6
    assert max(abs(count - 500) for count in seen.values()) < 5.5 * np.sqrt(500 * 5 / 6)


def test_the_receipt_measures_a_guessing_adversary_beside_the_promise():
    result = publication(zipf(rows=2000), LDiversity(5), method=Decoys(decoys=1), random=5)
    figures = result.private["decoys"]["guessing"]
    assert [line["known"] for line in figures] == [0, 2, 4]
    for line in figures:
        assert line["promised"] <= line["right"] + 0.1
    assert figures[-1]["promised"] == pytest.approx(0.5)
    assert 0.4 < figures[-1]["right"] < 0.75


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoys": 0}, r"Decoys\(decoys=…\): expected.*got 0"),
        ({"decoys": -1}, "decoys=….*from 1 on"),
        ({"guard": 1}, "guard=….*true or false"),
        ({"max_size": 0}, "max_size=….*from 1 on"),
        ({"gap": -1}, "gap=….*from 0 on"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(options, message):
    with pytest.raises(PolicyError, match=message):
        Decoys(**options)


def test_guarding_decoys_holds_against_a_reader_only():
    with pytest.raises(NotProvable):
        publish(zipf(), LDiversity(5), method=Decoys(decoys=1, guard=True))
    reader = LDiversity(5, against="reader")
    assert publish(zipf(), reader, method=Decoys(decoys=1, guard=True), random=1).manifest.basis == "tight"
    assert publish(zipf(), LDiversity(5), method=Decoys(decoys=1), random=1).manifest.basis == "blind"


def test_a_guard_leaves_no_decoy_that_an_association_rules_out_for_everybody():
    # Men never have v0 and women never v1; both are frequent, so the release itself teaches it.
    coins = np.random.default_rng(2)
    sex = np.where(coins.random(6000) < 0.5, "f", "m")
    drawn = coins.integers(2, 9, 6000)
    value = np.where(coins.random(6000) < 0.25, np.where(sex == "f", 0, 1), drawn)
    table = people([f"v{k}" for k in value], sex=sex.tolist())
    requirement = LDiversity(3, against="reader")
    guarded = publication(table, requirement, method=Decoys(decoys=2, guard=True), random=3).private["decoys"]
    assert guarded["excludable_before_exchange"] > 100
    assert guarded["excludable_for_everybody_in_their_bucket"] < guarded["excludable_before_exchange"] / 10
    assert guarded["exchanged"] > 0


def test_counts_take_decoys_out_without_bias():
    # Mean over releases of the estimate of a count that is known exactly: all people with v0.
    table = zipf(rows=1500)
    truth = table.sensitive.histogram()["v0"]
    found = [
        publish(table, LDiversity(4), method=Decoys(decoys=1), random=seed).count("value = 'v0'", estimator="paper").value
        for seed in range(6)
    ]
    assert np.mean(found) == pytest.approx(truth, rel=0.02)
