"""What a release says of itself: which columns it can tell about, and errors near those that are made."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query import Estimate, true_answers
from sfumato.query.quality import Quality
from sfumato.query.typical import Typical
from sfumato.release import Release
from sfumato.table.generators import census
from tests.query._releases import people, release_of
from tests.query.test_trend import boxed

QUASI = ["age", "gender", "education", "marital", "race", "workclass"]


@pytest.fixture(scope="module")
def made() -> tuple[sf.Table, Release]:
    data = census(12_000, 3).select([*QUASI, "occupation"])
    own = sf.Table.from_frame(data, sf.Schema(quasi=QUASI, sensitive=("occupation",), types={"occupation": "categorical"}))
    return own, sf.Boxes().run(own, sf.FPrivacy(theta=8, offset="0.02"), random=1).release


def test_expected_errors_are_near_those_that_are_made(made: tuple[sf.Table, Release]) -> None:
    own, release = made
    typical = Typical(release)
    for j in range(len(QUASI)):
        typical.column(j)
    for queries in (typical.cells(), typical.sets()):
        answers = [release.count(query) for query in queries]
        truth = true_answers(own, queries)
        off = sum(abs(one.value - t) for one, t in zip(answers, truth, strict=True) if isinstance(one, Estimate))
        judged = typical.judge(queries)
        assert judged.error is not None
        assert 0.3 < (off / truth.sum()) / judged.error < 1.5


def test_the_same_release_says_the_same_of_itself(made: tuple[sf.Table, Release]) -> None:
    _, release = made
    first, again = release.quality(), release.quality()
    assert isinstance(first, Quality)
    assert first.to_dict() == again.to_dict()
    assert [one.name for one in first.columns] == QUASI
    assert "learned" in str(first)
    assert "occupation" not in first._repr_html_()


def test_a_column_that_boxes_keep_apart_is_told_and_one_that_they_mix_is_less_so() -> None:
    random = np.random.default_rng(1)
    rows, boxes = 6000, 120
    bucket = np.arange(rows) * boxes // rows
    apart, mixed = bucket % 3, random.integers(0, 3, rows)
    ill = (apart + random.integers(0, 3, rows)) % 4
    data = {"apart": np.array(list("abc"))[apart], "mixed": np.array(list("xyz"))[mixed], "ill": np.array(list("pqrs"))[ill]}
    found = boxed(people(pa.table(data), ["ill"]), bucket).quality()
    of = {one.name: one for one in found.columns}
    assert of["apart"].settled == 1.0
    assert of["apart"].error == 0.0
    assert of["mixed"].settled < 0.1
    assert of["mixed"].learned < of["apart"].learned
    assert of["mixed"].error > 0.02


def test_a_numeric_secret_has_an_expected_error_of_its_averages() -> None:
    random = np.random.default_rng(2)
    age = random.integers(20, 60, 3000)
    bucket = np.empty(3000, np.int64)
    bucket[np.argsort(age + random.random(3000))] = np.arange(3000) * 60 // 3000
    data = {"age": age, "sex": np.array(list("fm"))[random.integers(0, 2, 3000)], "visits": random.integers(0, 6, 3000)}
    found = boxed(people(pa.table(data), ["visits"]), bucket).quality()
    averages = [one for one in found.questions if "averages" in one.name]
    assert len(averages) == 1
    assert 0 < averages[0].error < 0.5


def test_where_no_interval_is_honest_no_error_is_expected() -> None:
    table = people(pa.table({"a": ["x", "y"] * 100, "s": ["p", "q", "q", "p"] * 50}), ["s"])
    release = release_of(table, np.repeat(np.arange(20), 10), basis="annealed")
    found = release.quality()
    assert found.columns[0].error is None
    assert found.columns[0].interval == 0
    assert "no interval" in found.note
