"""Banded numbers in completed tables: middles in place of lower edges, edges beside them, open bands by a convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query.bands import Band, OpenBandWarning, with_middles
from sfumato.query.complete import Completion
from sfumato.query.language.vocabulary import Vocabulary, declared_in

ROWS = 4000


def released(**schema: Any) -> tuple[pa.Table, sf.Release]:
    """People of all ages whose pay follows age; boxes with room for cuts."""
    random = np.random.default_rng(1)
    age = random.integers(18, 96, ROWS)
    pay = np.round(10 + age / 10 + random.gamma(2, 4, ROWS), 1)
    table = pa.table(
        {"age": age, "town": random.integers(0, 4, ROWS), "pay": pay, "ill": np.array(list("abcd"))[random.integers(0, 4, ROWS)]}
    )
    declared = sf.Schema(**schema)
    table = table.select([*declared.quasi, *declared.sensitive])
    release = (
        sf.Boxes(floor=40).run(sf.Table.from_frame(table, declared), sf.FPrivacy(theta=3, against="reader"), random=1).release
    )
    return table, release


def test_the_average_of_a_banded_column_is_that_of_the_people() -> None:
    table, release = released(quasi=["age", "town"], sensitive=("ill",), recode={"age": {"width": 10}})
    truth = np.mean(table["age"].to_numpy())
    published = release.tables()["qit"]["age"].to_numpy().mean()
    (one,) = release.impute(1, random=1)
    assert one.column_names == ["age", "age_low", "age_high", "town", "ill"]
    assert published < truth - 4
    assert one["age"].to_numpy().mean() == pytest.approx(truth, abs=0.5)
    assert set(one["age"].to_pylist()) == {10 * band + 4.5 for band in range(1, 10)}
    low, high = one["age_low"].to_numpy(), one["age_high"].to_numpy()
    assert (high - low == 9).all()
    assert one.schema.field("age_low").type == pa.int64()
    assert (low + 4.5 == one["age"].to_numpy()).all()
    assert release.probabilities("pyarrow").column_names[:4] == ["age", "age_low", "age_high", "town"]


def test_a_band_without_an_end_is_its_edge_and_half_of_the_usual_width_and_a_warning_says_so() -> None:
    _, release = released(quasi=["age", "town"], sensitive=("ill",), recode={"age": {"width": 5, "top": 80, "bottom": 30}})
    with pytest.warns(OpenBandWarning, match="80 .*82 .*34 .*32"):
        (one,) = release.impute(1, random=1)
    rows = {(row["age_low"], row["age_high"], row["age"]) for row in one.to_pylist()}
    assert {(80, None, 82.0), (None, 34, 32.0), (50, 54, 52.0)} <= rows


def test_top_coded_single_numbers_have_no_width() -> None:
    _, release = released(quasi=["age", "town"], sensitive=("ill",), recode={"age": {"top": 80}})
    with pytest.warns(OpenBandWarning, match="80 and more as 80"):
        (one,) = release.impute(1, random=1)
    assert {(row["age_low"], row["age_high"], row["age"]) for row in one.to_pylist()} >= {(80, None, 80.0), (40, 40, 40.0)}


def test_bins_of_a_secret_stay_texts_beside_their_numbers() -> None:
    table, release = released(quasi=["age", "town"], sensitive=("pay",), bins={"pay": [0, 15, 20, 25, 30, 100]})
    (one,) = release.impute(1, random=1)
    assert one.column_names == ["age", "town", "pay", "pay_middle", "pay_low", "pay_high"]
    found = {tuple(row[name] for name in one.column_names[2:]) for row in one.to_pylist()}
    assert ("[20, 25)", 22.5, 20.0, 25.0) in found
    assert one["age"].to_pylist() == [
        value for column in release.quasi if column.name == "age" for value in column.arrow().to_pylist()
    ]
    assert len(table) == one.num_rows


def test_missing_values_stay_missing_and_taken_names_are_left_alone() -> None:
    table = pa.table({"age": pa.array([31, None, 47] * 100), "age_low": ["x", "y"] * 150, "ill": ["a", "b", "c", "d"] * 75})
    schema = sf.Schema(quasi=["age", "age_low"], sensitive=("ill",), recode={"age": {"width": 10}}, missing={"age": "value"})
    release = sf.Boxes(floor=40).run(sf.Table.from_frame(table, schema), sf.LDiversity(2), random=1).release
    vocabulary = Vocabulary.of(release.quasi, release.domain, declared_in(release.manifest.schema))
    shown = {column.name: column.arrow() for column in release.quasi}
    found = with_middles(shown, vocabulary, tuple(shown))
    assert list(found) == ["age", "age_low_", "age_high", "age_low"]
    assert {(row["age"], row["age_low_"]) for row in pa.table(found).to_pylist()} == {(34.5, 30), (None, None), (44.5, 40)}
    assert Band.of(vocabulary, "age_low") is None


def test_a_database_has_middles_and_edges_in_its_completed_tables(tmp_path: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    from sfumato.query.database import write_database

    table, release = released(
        quasi=["age", "town"], sensitive=("pay",), recode={"age": {"width": 10}}, bins={"pay": [0, 15, 20, 100]}
    )
    assert write_database(release, tmp_path / "r.duckdb", tables=2, random=1) == ""
    with duckdb.connect(str(tmp_path / "r.duckdb"), read_only=True) as database:
        mean, low = database.execute("SELECT avg(age), avg(age_low) FROM completed").fetchone()
        assert mean == pytest.approx(np.mean(table["age"].to_numpy()), abs=0.5)
        assert low == mean - 4.5
        assert database.execute("SELECT DISTINCT pay_middle FROM completed_1 WHERE pay = '[15, 20)'").fetchall() == [(17.5,)]
    assert Completion.of(release).names == ("pay",)
