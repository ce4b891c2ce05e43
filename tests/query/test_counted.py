"""A large release is read by counting equal rows: every answer is the one that its rows give."""

import warnings

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FormatError
from sfumato.release import files
from sfumato.release.buckets import BucketsRelease
from sfumato.release.counted import CountedBuckets, counts_rows
from sfumato.table.generators import sample

QUESTIONS = (
    "salary < 20",
    "age BETWEEN 30 AND 50 AND salary >= 10",
    "gender = 1 OR salary = 12",
    "(age < 40 AND salary < 10) OR (age >= 60 AND salary >= 30)",
    "education > 5 AND NOT (age < 30 AND gender = 2) AND salary BETWEEN 5 AND 25",
    "SELECT AVG(salary) WHERE age < 50",
    "SELECT AVG(age) WHERE salary < 20",
    "SELECT SHARE(salary < 20) WHERE gender = 1",
    "SELECT COUNT(*) WHERE salary < 15 GROUP BY gender",
    "age > 200",
)


def released(method, requirement, place, monkeypatch):
    """Return one release twice, read row by row and read by counting."""
    table = sf.Table.from_frame(
        sample("census", rows=4000, seed=5).select(["age", "gender", "education", "salary"]),
        sf.Schema(
            quasi=["age", "gender", "education"], sensitive=["salary"], people={"rows": "people"}, **method.pop("words", {})
        ),
    )
    whole = sf.publish(table, requirement, method=method["method"], random=1)
    monkeypatch.setattr(files, "PART_ROWS", 950)
    whole.save(place / "release")
    return table, whole, sf.Release.load(place / "release")


def noisy():
    return sf.NoisyBoxes(values=[str(value) for value in range(50)], otherwise="0")


KINDS = {
    "soft": (lambda: sf.Boxes(floor=40), lambda: sf.FPrivacy(theta=8, offset="0.02"), {}),
    "tight": (lambda: sf.Boxes(floor=20), lambda: sf.LDiversity(5, against="reader"), {}),
    "noisy": (noisy, lambda: sf.Differential(epsilon="2"), {"closed": {"values": [str(v) for v in range(50)], "otherwise": "0"}}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_the_rows(kind, tmp_path, monkeypatch):
    make, ask, words = KINDS[kind]
    _, _, counted = released({"method": make(), "words": words}, ask(), tmp_path, monkeypatch)
    rows = BucketsRelease.from_tables(counted.manifest, files.read_release(tmp_path / "release").tables)
    assert type(counted) is CountedBuckets
    assert len(counted.runs().group) < 4000 / 2
    for question in QUESTIONS:
        for estimator in ("paper", "likelihood"):
            one, other = (release.count(question, estimator=estimator) for release in (rows, counted))
            if hasattr(one, "value"):
                np.testing.assert_allclose(
                    [other.value, other.std_error], [one.value, one.std_error], rtol=1e-6, atol=1e-6, err_msg=question
                )
                assert (one.low is None) == (other.low is None)
            else:
                assert [key for key, _ in one] == [key for key, _ in other]
                np.testing.assert_allclose([cell.value for _, cell in other], [cell.value for _, cell in one], rtol=1e-6)
    assert "group" not in vars(counted)  # nobody needed the rows
    assert counted.quality().to_dict()["people"] == 4000


def test_rows_are_there_for_whoever_asks(tmp_path, monkeypatch):
    table, whole, counted = released({"method": sf.Boxes(floor=40)}, sf.FPrivacy(theta=8, offset="0.02"), tmp_path, monkeypatch)
    people = table.to_arrow().slice(0, 50)
    np.testing.assert_allclose(counted.beliefs(people), whole.beliefs(people), rtol=1e-12)
    assert (counted.sizes == whole.sizes).all()
    assert "group" not in vars(counted)
    assert {name: one.to_pylist() for name, one in counted.tables().items()} == {
        name: one.to_pylist() for name, one in whole.tables().items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert counted.impute(1, random=1)[0].equals(whole.impute(1, random=1)[0])
    monkeypatch.undo()
    counted.save(tmp_path / "again")
    whole.save(tmp_path / "whole")
    assert (tmp_path / "again" / "qit.parquet").read_bytes() == (tmp_path / "whole" / "qit.parquet").read_bytes()


def test_only_boxes_in_parts_are_counted(tmp_path, monkeypatch):
    _, whole, counted = released({"method": sf.Boxes(floor=40)}, sf.FPrivacy(theta=8, offset="0.02"), tmp_path, monkeypatch)
    assert counts_rows(counted.manifest)
    assert not counts_rows(whole.manifest)
    monkeypatch.undo()
    whole.save(tmp_path / "one")
    assert type(sf.Release.load(tmp_path / "one")) is BucketsRelease


def test_rows_in_another_order_are_refused(tmp_path, monkeypatch):
    _, whole, _ = released({"method": sf.Boxes(floor=40)}, sf.FPrivacy(theta=8, offset="0.02"), tmp_path, monkeypatch)
    tables = whole.tables()
    order = np.arange(4000)
    order[[10, 2000]] = order[[2000, 10]]
    files.write_release(tmp_path / "disorder", whole.manifest, {**tables, "qit": tables["qit"].take(order)}, "parquet")
    with pytest.raises(FormatError, match="canonical order"):
        sf.Release.load(tmp_path / "disorder")
    (tmp_path / "release" / "qit" / "part-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError):
        sf.Release.load(tmp_path / "release")
