"""Completed tables of people with several values: bundles that keep the counts and the numbers of values of every group."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.completed import design, logistic

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query.complete import Completion, UnlinkedWarning
from sfumato.query.database import write_database
from sfumato.query.models import _bundle_kernels as kernels
from sfumato.randomness import SeededRandomness
from tests.makers import encounters, visits
from tests.methods.test_bundles import asked


@pytest.fixture(scope="module")
def both():
    table = visits(encounters(3000, seed=9))
    return table, sf.publish(table, asked(), seed=2)


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlinkedWarning)
        yield


def test_bundles_keep_every_count_and_every_number_of_values(both):
    _, release = both
    for place, secret in enumerate(Completion.of(release).bundles):
        part = release.each[place]
        drawn = secret.draw(SeededRandomness(3))
        for value in range(len(part.labels)):
            shown = np.zeros(len(release.sizes), int)
            mine = part.st_value == value
            shown[part.st_group[mine]] = part.st_count[mine]
            assert (np.bincount(release.group[drawn.has(value)], minlength=len(shown)) == shown).all()
        many = np.diff(drawn.start)
        held = part.held
        for group, values, people in zip(held.group, held.values, held.people, strict=True):
            assert ((release.group == group) & (many == values)).sum() == people


def test_wide_and_long_tables_say_the_same(both, quiet):
    _, release = both
    (wide,), (long,) = release.impute(1, seed=5), release.impute(1, seed=5, shape="long")
    assert wide.num_rows == release.rows
    assert long.column_names == ["person", "age", "sex", "rows", "secret", "value"]
    for name in ("diagnosis = i3", "ward = ward 1"):
        secret, value = name.split(" = ")
        rows = [one for one in long.to_pylist() if one["secret"] == secret and one["value"] == value]
        assert sorted(one["person"] for one in rows) == np.flatnonzero(wide[name].to_numpy()).tolist()
    assert len(set(long["person"].to_pylist())) == release.rows


def test_one_secret_has_a_column_of_its_name_and_who_has_none_a_row(quiet):
    frame = encounters(1500, seed=4)
    empty = frame["patient"].to_numpy() % 5 == 0
    for name in ("diag_1", "diag_2", "diag_3"):
        given = frame[name].to_pylist()
        column = [None if gone else one for gone, one in zip(empty, given, strict=True)]
        frame = frame.set_column(frame.column_names.index(name), name, [column])
    table = visits(frame, secrets={"diagnosis": ["diag_1", "diag_2", "diag_3"]}, other=["day", "ward"])
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.3"), seed=1)
    (long,) = release.impute(1, seed=5, shape="long")
    assert long.column_names == ["person", "age", "sex", "rows", "diagnosis"]
    assert long["diagnosis"].null_count == 300
    assert set(long["person"].to_pylist()) == set(range(1500))


def test_several_tables_differ_and_a_seed_repeats_them(both, quiet):
    _, release = both
    one, other = release.impute(2, seed=1)
    assert not one.equals(other)
    assert one.equals(release.impute(1, seed=1)[0])


def test_that_links_between_values_are_lost_is_said(both):
    with pytest.warns(UnlinkedWarning, match="has together"):
        both[1].impute(1, seed=1)


def test_probabilities_of_having_a_value_add_up_to_the_counts_of_groups(both):
    _, release = both
    found = release.probabilities()
    part = release.each[0]
    for value, label in enumerate(part.labels):
        chance = found[f"diagnosis = {label}"].to_numpy().astype(float)
        assert chance.sum() == pytest.approx(part.st_count[part.st_value == value].sum(), rel=1e-3)


def test_regressions_on_having_a_value_hold(both):
    table, release = both
    (secret, _), bundles = Completion.of(release).bundles, table.bundles.each()[0]
    drawn = [secret.draw(SeededRandomness(1).spawn(k)) for k in range(5)]
    before, after = design(table.quasi), design(release.quasi)
    held = []
    for value, label in enumerate(release.each[0].labels):
        right, _ = logistic(before, bundles.any_of([bundles.labels.index(label)]))
        low, high = sf.combine([logistic(after, one.has(value)) for one in drawn]).intervals.T
        held += ((low <= right) & (right <= high))[1:].tolist()
    assert len(held) >= 30
    assert np.mean(held) >= 0.9


def test_numbers_of_values_are_met_where_a_value_must_go_through_others():
    # Person 0 has only what person 1 has too, and is to have nothing; person 1 is to have three: 2 has to hand on what she gets.
    has = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]], np.uint8)
    number = np.array([0, 1, 3])
    odds, words = np.ones(has.shape, np.float32), np.array([7], np.uint64)
    assert kernels.settle(np.array([0, 3]), number, odds, 5, words, has)
    assert sorted(has.sum(axis=1).tolist()) == [0, 1, 3]
    assert has.sum(axis=0).tolist() == [2, 1, 1, 0]
    impossible = np.array([[1, 0], [1, 0]], np.uint8)
    assert not kernels.settle(np.array([0, 2]), np.array([0, 2]), odds[:2, :2].copy(), 5, words, impossible)


def test_what_excludes_each_other_keeps_its_chances():
    # Everybody is to have one of two values, with chances .8 and .2; steps that went on would make .94 of it.
    random = np.random.default_rng(3)
    first = np.arange(0, 20_001, 100)
    has = np.zeros((20_000, 2), np.uint8)
    for low in first[:-1]:
        has[low + random.permutation(100)[:80], 0] = 1
        has[low + random.permutation(100)[:20], 1] = 1
    likely = np.arange(20_000) % 2 == 0
    odds = np.where(likely[:, None], [9.0, 1 / 9], [7 / 3, 3 / 7]).astype(np.float32)
    words = random.integers(1, 2**63, 200, dtype=np.uint64)
    assert kernels.settle(first, np.ones(20_000, np.int64), odds, 40, words, has)
    assert (has.sum(axis=1) == 1).all()
    assert has[:, 0].sum() == 16_000
    assert 0.79 < has[likely, 0].mean() < 0.9


def test_a_release_of_one_value_a_person_has_one_shape():
    frame = {"age": list(range(20, 80)) * 10, "ill": [f"v{k % 7}" for k in range(600)]}
    release = sf.publish(pa.table(frame), sf.FPrivacy(theta=2, offset="0.3"), quasi=["age"], sensitive="ill", seed=1)
    with pytest.raises(QueryError, match="one row a person"):
        release.impute(1, shape="long")


def test_a_database_has_lists_of_values(both, tmp_path, quiet):
    duckdb = pytest.importorskip("duckdb")
    _, release = both
    assert write_database(release, tmp_path / "r.duckdb", tables=2, random=1) == ""
    with duckdb.connect(str(tmp_path / "r.duckdb")) as database:
        found = database.sql("SELECT COUNT(*) FROM completed_1 WHERE list_contains(diagnosis, 'i3')").fetchall()
        assert found == [(release.count("diagnosis = 'i3'").value,)]
        assert database.sql("SELECT COUNT(*) FROM completed_1").fetchall() == [(release.rows,)]
        assert {"numbers", "sets"} <= {name for (name,) in database.sql("SHOW TABLES").fetchall()}
