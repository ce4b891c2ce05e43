"""Whom `beliefs` and `presence` are asked about: people in any frame, and frames that hold no people."""

import pandas
import polars
import pyarrow as pa
import pytest

from sfumato import Ambiguity, LDiversity, Mondrian, MultiSize, PresenceAssociation, RhoPrivacy, UniformPerturbation, publish
from sfumato.errors import SfumatoError
from tests.makers import people

TABLE = people(["x", "y", "z"] * 8, age=[20 + k % 7 for k in range(24)], sex=["f", "m"] * 12)
READER = LDiversity(2, against="reader")
RELEASES = [
    publish(TABLE, LDiversity(2), method=MultiSize(), random=1),
    publish(TABLE, READER, method=Mondrian(), random=1),
    publish(TABLE, PresenceAssociation(1, READER, against="reader"), method=Ambiguity(), random=1),
    publish(TABLE, RhoPrivacy("2/5", "4/5"), method=UniformPerturbation(), random=1),
]
ASKED = TABLE.to_arrow().select(["age", "sex"]).slice(0, 5)


@pytest.mark.parametrize("release", RELEASES, ids=lambda one: one.form)
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
@pytest.mark.parametrize("release", RELEASES, ids=lambda one: one.form)
def test_frames_that_hold_no_such_people_are_refused_without_showing_what_they_hold(release, odd):
    with pytest.raises(SfumatoError) as refusal:
        release.beliefs(odd)
    assert "1180591620717411303424" not in str(refusal.value)
