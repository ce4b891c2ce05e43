"""The form views: what its two tables show, what is refused on the way in, and what a recipient reads from it."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import FormatError
from sfumato.release import Release, ViewsRelease
from sfumato.release import covering as covering_module
from tests.makers import people, skewed
from tests.release._forge import with_rows
from tests.release._fragments import views_of


@pytest.fixture
def table():
    return people(
        ["flu", "flu", "cold", "ache", "ache", "cold"],
        age=[20, 30, 30, 50, 60, 60],
        sex=["f", "f", "m", "m", "m", None],
        town=["a", "a", "b", "b", "b", "b"],
    )


GROUPS = [0, 0, 0, 1, 1, 1]


def rows(table):
    return Counter(tuple(row.values()) for row in table.to_pylist())


def test_the_moved_columns_stand_with_the_sensitive_ones_and_all_others_apart(table):
    release = views_of(table, GROUPS, ["town"])
    tables = release.tables()
    first = next(row["group"] for row in tables["at"].to_pylist() if row["age"] == 20)
    second = 3 - first
    assert release.moved == ("town",)
    assert rows(tables["at"]) == Counter(
        [(20, "f", first), (30, "f", first), (30, "m", first), (50, "m", second), (60, "m", second), (60, None, second)]
    )
    assert rows(tables["st"]) == Counter(
        [(first, "a", "flu", 2), (first, "b", "cold", 1), (second, "b", "ache", 2), (second, "b", "cold", 1)]
    )


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("moved", [["town"], ["sex", "town"]])
def test_a_saved_release_is_read_back_row_by_row(table, tmp_path, format, moved):
    release = views_of(table, GROUPS, moved)
    release.save(tmp_path / "out", format=format)
    back = Release.load(tmp_path / "out")
    assert isinstance(back, ViewsRelease)
    assert {name: one.to_pylist() for name, one in back.tables().items()} == {
        name: one.to_pylist() for name, one in release.tables().items()
    }
    assert back.presence(table.to_arrow()) == pytest.approx(release.presence(table.to_arrow()))
    assert back.beliefs(table.to_arrow()) == pytest.approx(release.beliefs(table.to_arrow()))


def test_the_order_of_both_tables_follows_from_their_content_alone():
    table = skewed(400)
    groups = np.arange(400) % 9
    shuffled, renumbered = np.random.default_rng(1).permutation(400), np.random.default_rng(2).permutation(9)
    one, other = (
        views_of(table, groups, ["sex"], seed=5),
        views_of(table.take(shuffled), renumbered[groups[shuffled]], ["sex"], seed=6),
    )
    assert {n: t.to_pylist() for n, t in one.tables().items()} == {n: t.to_pylist() for n, t in other.tables().items()}


def test_rows_stand_by_group_and_what_they_show_and_groups_by_their_rows():
    tables = views_of(skewed(400), np.arange(400) % 9, ["sex"]).tables()
    names = {"at": ("group", "age"), "st": ("group", "sex", "value", "count")}
    listed = {name: [tuple(row[key] for key in keys) for row in tables[name].to_pylist()] for name, keys in names.items()}
    assert all(rows == sorted(rows) for rows in listed.values())
    shown = [[[row[1:] for row in rows if row[0] == group] for rows in listed.values()] for group in range(1, 10)]
    assert shown == sorted(shown)


@pytest.mark.parametrize("name", ["at", "st"])
def test_rows_in_another_order_are_refused(table, name):
    release = views_of(table, GROUPS, ["town"])
    tables = release.tables()
    other = tables[name].take([1, 0, *range(2, tables[name].num_rows)])
    with pytest.raises(FormatError, match=f"'{name}'.*canonical order"):
        ViewsRelease.from_tables(release.manifest, {**tables, name: other})


def test_other_numbers_of_groups_are_refused(table):
    release = views_of(table, GROUPS, ["town"])
    tables = {
        name: with_rows(
            one, sorted(({**row, "group": 3 - row["group"]} for row in one.to_pylist()), key=lambda row: row["group"])
        )
        for name, one in release.tables().items()
    }
    with pytest.raises(FormatError, match="canonical order"):
        ViewsRelease.from_tables(release.manifest, tables)
    again = ViewsRelease.from_tables(release.manifest, tables, in_any_order=True)
    assert {n: t.to_pylist() for n, t in again.tables().items()} == {n: t.to_pylist() for n, t in release.tables().items()}


@pytest.mark.parametrize("moved", [[], ["age", "sex", "town"], ["agee"]])
def test_some_but_not_all_quasi_columns_move(table, moved):
    release = views_of(table, GROUPS, ["town"])
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, "moved": moved})
    with pytest.raises(FormatError, match="some of the quasi"):
        ViewsRelease.from_tables(manifest, release.tables())


def changed(tables, name, column, row, value):
    rows = tables[name].to_pylist()
    rows[row][column] = value
    return {**tables, name: with_rows(tables[name], rows)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: changed(t, "at", "group", 0, 3 - t["at"]["group"].to_pylist()[0]), "same number"),
        (lambda t: changed(t, "at", "group", 0, 7), "'at': groups"),
        (lambda t: changed(t, "st", "count", 0, 0), "start at 1"),
        (lambda t: changed(t, "st", "count", 0, 50), "the 6 people"),
        (lambda t: {**t, "at": t["at"].slice(1)}, "same number"),
        (lambda t: {**t, "st": t["st"].append_column("name", pa.array(["x"] * 4))}, "columns group, town"),
        (lambda t: {"at": t["at"]}, "tables at, st"),
    ],
)
def test_tables_that_cannot_be_a_release_are_refused(table, change, words):
    release = views_of(table, GROUPS, ["town"])
    with pytest.raises(FormatError, match=words):
        ViewsRelease.from_tables(release.manifest, change(release.tables()))


def test_an_entry_of_st_that_occurs_twice_is_refused(table):
    release = views_of(table, GROUPS, ["town"])
    tables = release.tables()
    data = tables["st"].to_pylist()
    place = next(k for k, row in enumerate(data) if row["count"] == 2)
    split = [*data[:place], {**data[place], "count": 1}, {**data[place], "count": 1}, *data[place + 1 :]]
    with pytest.raises(FormatError, match="1 rows of table 'st'"):
        ViewsRelease.from_tables(release.manifest, {**tables, "st": with_rows(tables["st"], split)})


@pytest.mark.parametrize("moved", [None, [], ["age", "sex", "town"], ["nobody"], ["town", "town"], "town"])
def test_a_manifest_that_moves_no_proper_part_of_the_columns_is_refused(table, moved):
    release = views_of(table, GROUPS, ["town"])
    release.manifest.parameters["moved"] = moved
    with pytest.raises(FormatError, match="moved"):
        ViewsRelease.from_tables(release.manifest, release.tables())


def test_presence_and_beliefs_follow_from_matchings(table):
    release = views_of(table, GROUPS, ["town"])
    asked = [
        {"age": 20, "sex": "f", "town": "a"},
        {"age": 30, "sex": "m", "town": "b"},
        {"age": 60, "sex": None, "town": "b"},
        {"age": 60, "sex": "m", "town": "a"},
        {"age": 61, "sex": "m", "town": "b"},
        {"age": 60, "sex": "m", "town": "c"},
    ]
    assert release.presence(asked) == pytest.approx([2 / 3, 1 / 3, 1, 0, 0, 0])
    assert release.domain.labels == ("ache", "cold", "flu")
    beliefs = release.mean_beliefs(asked)
    assert beliefs[:3] == pytest.approx(np.array([[0, 0, 1], [0, 1, 0], [2 / 3, 1 / 3, 0]]))
    assert np.isnan(beliefs[3:]).all()
    assert release.beliefs(asked) == pytest.approx(beliefs, nan_ok=True)  # one group each


def test_lists_of_groups_answer_as_rows_of_bits_do(monkeypatch):
    table = skewed(300)
    groups = np.random.default_rng(3).integers(0, 40, 300)
    asked = table.to_arrow()
    plain = views_of(table, groups, ["sex"])
    dense = plain.presence(asked), plain.mean_beliefs(asked), plain.beliefs(asked)
    monkeypatch.setattr(covering_module, "MOST_WORDS", 0)
    release = views_of(table, groups, ["sex"])
    assert release.presence(asked) == pytest.approx(dense[0])
    assert release.mean_beliefs(asked) == pytest.approx(dense[1])
    assert release.beliefs(asked) == pytest.approx(dense[2])


@pytest.mark.parametrize("moved", [[{}], [["sex"]], [3], "sex", None])
def test_moved_columns_are_named_by_words(moved):
    release = views_of(people(list("abab"), age=[1, 2, 3, 4], sex=list("fmfm")), [0] * 4, ["sex"])
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, "moved": moved})
    with pytest.raises(FormatError, match="'moved', some of"):
        ViewsRelease.from_tables(manifest, release.tables())
