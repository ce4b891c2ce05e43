"""Whom `beliefs` and `presence` are asked about: people in any frame, and frames that hold no people."""

from types import SimpleNamespace

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from sfumato import Ambiguity, LDiversity, Mondrian, MultiSize, PresenceAssociation, RhoPrivacy, UniformPerturbation, publish
from sfumato.attacks.judge import Judge
from sfumato.attacks.random_worlds import random_worlds
from sfumato.errors import SfumatoError
from tests.makers import people

TABLE = people(["x", "y", "z"] * 8, age=[20 + k % 7 for k in range(24)], sex=["f", "m"] * 12)
READER = LDiversity(2, against="reader")
MADE = {
    "buckets": (LDiversity(2), MultiSize()),
    "ranges": (READER, Mondrian()),
    "columns": (PresenceAssociation(1, READER, against="reader"), Ambiguity()),
    "randomized": (RhoPrivacy("2/5", "4/5"), UniformPerturbation()),
}
ASKED = TABLE.to_arrow().select(["age", "sex"]).slice(0, 5)


@pytest.fixture(scope="module", params=MADE)
def release(request):
    requirement, method = MADE[request.param]
    return publish(TABLE, requirement, method=method, random=1)


def test_the_same_people_are_believed_the_same_of_in_whatever_they_come(release):
    expected = release.beliefs(ASKED)
    assert expected.shape == (5, 3)
    frames = [ASKED.to_pylist(), ASKED.to_pydict(), ASKED.to_pandas(), polars.from_arrow(ASKED), TABLE]
    for frame in frames:
        assert release.beliefs(frame)[:5] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    "odd",
    [
        {"age": pa.array([[1]]), "sex": ["f"]},
        {"age": [True], "sex": [{"a": 1}]},
        {"age": pa.array([1], pa.time32("s")), "sex": ["f"]},
        {"age": ["x"], "sex": ["f"]},
        {"age": [1, 2], "sex": ["f"]},
        {"age": [2**70], "sex": ["f"]},
        pandas.DataFrame([[1, 2, "f"]], columns=["age", "age", "sex"]),
        pa.table([pa.array([1]), pa.array([1]), pa.array(["f"])], names=["age", "age", "sex"]),
        [None],
        [5],
        5,
        None,
    ],
)
def test_frames_that_hold_no_such_people_are_refused_without_showing_what_they_hold(release, odd):
    with pytest.raises(SfumatoError) as refusal:
        release.beliefs(odd)
    assert "1180591620717411303424" not in str(refusal.value)


def test_beliefs_are_the_largest_over_what_fits_a_person_and_mean_beliefs_add_up():
    """By hand: everybody is alike, so that every group fits her; the claim is about the worst of them."""
    alike = people(list("xxxyyyzzzwww"), age=[1] * 12)
    asked = [{"age": 1}, {"age": 2}]
    buckets = publish(alike, LDiversity(2), method=MultiSize(), random=1)
    shares = np.zeros((len(buckets.sizes), 4))
    shares[buckets.st_group, buckets.st_value] = buckets.st_count / buckets.sizes[buckets.st_group]
    assert len(shares) > 1
    assert buckets.beliefs(asked)[0] == pytest.approx(shares.max(axis=0))
    assert buckets.mean_beliefs(asked)[0] == pytest.approx([1 / 4] * 4)
    ranges = publish(alike, LDiversity(2), method=MultiSize(form="ranges"), random=1)
    assert ranges.beliefs(asked)[0] == pytest.approx(shares.max(axis=0))
    assert ranges.mean_beliefs(asked)[0] == pytest.approx([1 / 4] * 4)
    for release in (buckets, ranges):
        assert np.isnan([release.beliefs(asked)[1], release.mean_beliefs(asked)[1]]).all()


def test_no_mean_belief_lies_above_the_largest(release):
    largest, mean = release.beliefs(TABLE), release.mean_beliefs(TABLE)
    assert (largest >= mean - 1e-12).all()
    assert mean.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("release", ["randomized"], indirect=True)
def test_the_largest_belief_in_randomized_values_is_that_of_one_row(release):
    part = release.parts[0]
    rows = [k for k, row in enumerate(release.tables()["records"].to_pylist()) if (row["age"], row["sex"]) == (20, "f")]
    prior, kept = release.priors[0], part.kept
    each = []
    for row in rows:
        shown = part.values.tolist().index(release.value[row])
        likelihood = kept * (np.arange(len(part)) == shown) + (1 - kept) / len(part)
        each.append(likelihood * prior / (likelihood * prior).sum())
    assert release.beliefs([{"age": 20, "sex": "f"}])[0][part.values] == pytest.approx(np.max(each, axis=0))
    assert release.mean_beliefs([{"age": 20, "sex": "f"}])[0][part.values] == pytest.approx(np.mean(each, axis=0))


def test_an_attack_that_judges_a_claim_takes_the_largest_belief():
    """A bucket over its bound among others below it: the mean of all hides it from whoever looks at the mean."""
    release = publish(people(list("xxxyyyzzzwww"), age=[1] * 12), LDiversity(2), method=MultiSize(), random=1)
    table = people(list("xxxyyyzzzwww"), age=[1] * 12)
    guess = random_worlds(SimpleNamespace(release=release, reader=release.mean_beliefs(table), largest=release.beliefs(table)))
    judge = Judge.of(release, table, np.arange(12), None, None)
    found = judge.score(next(guess), attack="random-worlds", knows="reader", seconds=0.0)
    assert found.worst == pytest.approx(1 / 2)
    assert found.mean_belief == pytest.approx(1 / 4)
