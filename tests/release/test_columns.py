"""The form columns: what its tables show, what is refused on the way in, and what a recipient reads from it."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import FormatError, InputError
from sfumato.methods import Anatomy
from sfumato.methods.show import require_free_names
from sfumato.privacy import LDiversity
from sfumato.release import ColumnsRelease, Release
from sfumato.release import covering as covering_module
from sfumato.table import Schema, Table
from tests.makers import people, skewed
from tests.release._forge import with_rows
from tests.release._fragments import columns_of


@pytest.fixture
def table():
    return people(
        ["flu", "flu", "cold", "ache", "ache", "cold"],
        age=[20, 30, 30, 50, 60, 60],
        sex=["f", "f", "m", "m", "m", None],
    )


GROUPS = [0, 0, 0, 1, 1, 1]


def rows(table):
    return Counter(tuple(row.values()) for row in table.to_pylist())


def test_every_value_of_a_group_is_shown_once_per_column_and_counts_only_with_the_sensitive_ones(table):
    release = columns_of(table, GROUPS)
    tables = release.tables()
    assert set(tables) == {"at_age", "at_sex", "st"}
    young = next(row["group"] for row in tables["at_age"].to_pylist() if row["age"] == 20)
    old = 3 - young
    assert rows(tables["at_age"]) == Counter([(20, young), (30, young), (50, old), (60, old)])
    assert rows(tables["at_sex"]) == Counter([("f", young), ("m", young), ("m", old), (None, old)])
    assert rows(tables["st"]) == Counter([(young, "flu", 2), (young, "cold", 1), (old, "ache", 2), (old, "cold", 1)])


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_saved_release_is_read_back_row_by_row(table, tmp_path, format):
    release = columns_of(table, GROUPS)
    release.save(tmp_path / "out", format=format)
    back = Release.load(tmp_path / "out")
    assert isinstance(back, ColumnsRelease)
    assert {name: one.to_pylist() for name, one in back.tables().items()} == {
        name: one.to_pylist() for name, one in release.tables().items()
    }
    assert back.presence([{"age": 20, "sex": "m"}]) == release.presence([{"age": 20, "sex": "m"}])
    assert back.claims == release.claims


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_results_come_back_in_the_callers_kind_of_frame(table, kind):
    frames = columns_of(table, GROUPS).frames(kind)
    assert type(frames["at_age"]).__module__.startswith(kind)
    assert sorted(frames["at_age"]["age"].to_list() if kind == "polars" else frames["at_age"]["age"]) == [20, 30, 50, 60]


def test_the_order_of_every_table_follows_from_its_content_alone():
    table = skewed(400)
    groups = np.arange(400) % 9
    shuffled, renumbered = np.random.default_rng(1).permutation(400), np.random.default_rng(2).permutation(9)
    one, other = columns_of(table, groups, seed=5), columns_of(table.take(shuffled), renumbered[groups[shuffled]], seed=6)
    assert {n: t.to_pylist() for n, t in one.tables().items()} == {n: t.to_pylist() for n, t in other.tables().items()}


def test_rows_stand_by_group_and_value_and_groups_by_what_they_show():
    tables = columns_of(skewed(400), np.arange(400) % 9).tables()
    names = {"at_age": ("group", "age"), "at_sex": ("group", "sex"), "st": ("group", "value", "count")}
    listed = {name: [tuple(row[key] for key in keys) for row in tables[name].to_pylist()] for name, keys in names.items()}
    assert all(rows == sorted(rows) for rows in listed.values())
    shown = [[[row[1:] for row in rows if row[0] == group] for rows in listed.values()] for group in range(1, 10)]
    assert shown == sorted(shown)


@pytest.mark.parametrize("name", ["at_age", "at_sex", "st"])
def test_rows_in_another_order_are_refused(table, name):
    release = columns_of(table, GROUPS)
    tables = release.tables()
    with pytest.raises(FormatError, match=f"'{name}'.*canonical order"):
        ColumnsRelease.from_tables(release.manifest, {**tables, name: tables[name].take([1, 0, 2, 3])})


def test_other_numbers_of_groups_are_refused(table):
    release = columns_of(table, GROUPS)
    tables = {
        name: with_rows(
            one, sorted(({**row, "group": 3 - row["group"]} for row in one.to_pylist()), key=lambda row: row["group"])
        )
        for name, one in release.tables().items()
    }
    with pytest.raises(FormatError, match="canonical order"):
        ColumnsRelease.from_tables(release.manifest, tables)
    again = ColumnsRelease.from_tables(release.manifest, tables, in_any_order=True)
    assert {n: t.to_pylist() for n, t in again.tables().items()} == {n: t.to_pylist() for n, t in release.tables().items()}


def test_nothing_of_suppressed_people_is_left():
    table = people(["flu", "cold", "rare"], age=[20, 30, 99], sex=["f", "m", "x"])
    release = columns_of(table, [0, 0, -1], suppress=True)
    assert release.rows == 2
    assert release.manifest.values is None
    assert release.manifest.parameters["suppression"] == {"option": "suppress", "people": 1}
    assert release.domain.labels == ("cold", "flu")
    assert 99 not in release.columns[0].values.to_pylist()


def test_column_names_that_cannot_be_files_give_way_to_places(tmp_path):
    frame = pa.table({"a/b": [1, 2], "Sex": ["f", "m"], "sex": ["f", "m"], "value": ["s", "t"]})
    table = Table.from_frame(frame, Schema(quasi=["a/b", "Sex", "sex"], sensitive=["value"]))
    release = columns_of(table, [0, 0])
    assert set(release.tables()) == {"at_column_1", "at_column_2", "at_column_3", "st"}
    release.save(tmp_path / "out")
    assert Release.load(tmp_path / "out").tables()["at_column_1"].column_names == ["a/b", "group"]


def test_a_column_called_group_is_refused():
    with pytest.raises(InputError, match="two columns called 'group'"):
        require_free_names(people(["s", "t"], group=[1, 2]), "columns")


def changed(tables, name, column, row, value):
    rows = tables[name].to_pylist()
    rows[row][column] = value
    return {**tables, name: with_rows(tables[name], rows)}


def added(tables, name, row):
    return {**tables, name: with_rows(tables[name], [*tables[name].to_pylist(), row])}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: added(t, "at_age", t["at_age"].to_pylist()[0]), "1 rows.*'at_age'.*twice"),
        (lambda t: added(t, "st", {**t["st"].to_pylist()[0], "count": 1}), "the 6 people"),
        (lambda t: added(t, "at_age", {"age": 33, "group": 3}), "'at_age': groups"),
        (
            lambda t: {**t, "at_age": t["at_age"].filter(pa.compute.equal(t["at_age"]["group"], 1))},
            "'at_age': groups",
        ),
        (lambda t: changed(t, "at_age", "group", 0, 0), "start at 1"),
        (lambda t: changed(t, "at_age", "group", 0, None), "'group' has rows"),
        (lambda t: changed(t, "st", "count", 0, 0), "start at 1"),
        (lambda t: changed(t, "st", "count", 0, 99), "the 6 people"),
        (lambda t: {**t, "at_age": t["at_age"].append_column("name", pa.array(["x"] * 4))}, "columns age, group"),
        (lambda t: {**t, "at_name": t["at_age"]}, "at_age, at_sex, st"),
        (lambda t: {name: one for name, one in t.items() if name != "at_sex"}, "at_age, at_sex, st"),
        (
            lambda t: {**t, "at_age": t["at_age"].set_column(0, "age", pa.array([[1]] * 4))},
            "'age' holds list",
        ),
        (lambda t: {**t, "st": t["st"].slice(0, 0)}, "'st': groups"),
    ],
)
def test_tables_that_cannot_be_a_release_are_refused(table, change, words):
    release = columns_of(table, GROUPS)
    with pytest.raises(FormatError, match=words):
        ColumnsRelease.from_tables(release.manifest, change(release.tables()))


def test_a_value_counted_in_two_rows_of_a_group_is_refused(table):
    release = columns_of(table, GROUPS)
    tables = release.tables()
    place = tables["st"]["count"].to_pylist().index(2)
    twice = added(changed(tables, "st", "count", place, 1), "st", {**tables["st"].to_pylist()[place], "count": 1})
    with pytest.raises(FormatError, match="1 rows of table 'st'"):
        ColumnsRelease.from_tables(release.manifest, twice)


def test_presence_is_people_over_combinations_and_nothing_outside(table):
    release = columns_of(table, GROUPS)
    someone = [
        {"age": 20, "sex": "m"},
        {"age": 60, "sex": None},
        {"age": 20, "sex": None},
        {"age": 77, "sex": "m"},
        {"age": 50, "sex": "x"},
    ]
    assert release.presence(someone) == pytest.approx([3 / 4, 3 / 4, 0, 0, 0])


def test_beliefs_mix_the_covering_groups_by_their_presence():
    table = people(["s", "t", "t", "t", "u"], age=[1, 2, 1, 2, 2], sex=["f", "m", "f", "m", "x"])
    release = columns_of(table, [0, 0, 1, 1, 1])
    found = release.mean_beliefs([{"age": 1, "sex": "m"}, {"age": 9, "sex": "m"}])
    # Groups {1,2}×{f,m} of 2 and {1,2}×{f,m,x} of 3: presence 1/2 each.
    assert release.presence([{"age": 1, "sex": "m"}]) == pytest.approx([3 / 4])
    assert found[0] == pytest.approx([1 / 4, (1 / 2 + 2 / 3) / 2, 1 / 6])
    assert np.isnan(found[1]).all()
    largest = release.beliefs([{"age": 1, "sex": "m"}, {"age": 9, "sex": "m"}])
    assert largest[0] == pytest.approx([1 / 2, 2 / 3, 1 / 3])
    assert np.isnan(largest[1]).all()


def test_lists_of_groups_answer_as_rows_of_bits_do(monkeypatch):
    table = skewed(300)
    groups = np.random.default_rng(3).integers(0, 70, 300)
    asked = table.to_arrow()
    plain = columns_of(table, groups)
    dense = plain.presence(asked), plain.mean_beliefs(asked), plain.beliefs(asked)
    for words in (0, 200):
        monkeypatch.setattr(covering_module, "MOST_WORDS", words)
        release = columns_of(table, groups)
        assert release.presence(asked) == pytest.approx(dense[0])
        assert release.mean_beliefs(asked) == pytest.approx(dense[1])
        assert release.beliefs(asked) == pytest.approx(dense[2])


def test_many_pairs_are_walked_in_pieces(monkeypatch):
    table = skewed(300)
    groups = np.random.default_rng(3).integers(0, 70, 300)
    asked = table.to_arrow()
    expected = columns_of(table, groups).presence(asked)
    monkeypatch.setattr(covering_module, "_AT_ONCE", 100)
    assert columns_of(table, groups).presence(asked) == pytest.approx(expected)


def test_people_of_another_type_are_refused_with_the_type_that_is_expected(table):
    with pytest.raises(InputError, match="age"):
        columns_of(table, GROUPS).presence([{"age": "old", "sex": "m"}])
    with pytest.raises(FormatError, match="sex are missing"):
        columns_of(table, GROUPS).presence([{"age": 20}])


def test_other_forms_say_that_they_do_not_speak_of_presence(table):
    release = Anatomy().run(table, LDiversity(2), random=1).release
    with pytest.raises(FormatError, match="statement about presence"):
        release.presence([{"age": 20, "sex": "f"}])


def test_no_group_shows_more_values_of_a_column_than_it_has_people(table):
    release = columns_of(table, GROUPS)
    tables = release.tables()
    at_sex = pa.table({"sex": ["f", "m", "x", "y", "f", "m"], "group": pa.array([1, 1, 1, 1, 2, 2], pa.int32())})
    with pytest.raises(FormatError, match="'at_sex': 1 groups"):
        ColumnsRelease.from_tables(release.manifest, {**tables, "at_sex": at_sex})


def test_people_may_come_as_a_table_a_dictionary_or_a_list_and_anything_else_is_refused_in_plain_words(table):
    release = columns_of(table, GROUPS)
    asked = release.presence([{"age": 20, "sex": "f"}])
    assert release.presence({"age": [20], "sex": ["f"]}) == pytest.approx(asked)
    assert release.presence(table)[0] == pytest.approx(asked[0])
    with pytest.raises(FormatError, match=r"data frame.*got str"):
        release.presence("people.csv")
