"""What the form ranges shows, and what it refuses to read."""

import datetime
import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import LDiversity, Schema, Table
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.ranges import RangesRelease
from sfumato.testing import example_tables
from tests.makers import people, skewed
from tests.release._forge import with_rows
from tests.release._ranges import of_boxes, of_groups

GAPS = people(
    ["a", "b", "c", "d", "e"],
    age=[30, None, 20, None, None],
    town=["x", None, "z", "y", "y"],
    day=[datetime.date(2024, 5, 2), datetime.date(2024, 5, 1), datetime.date(2024, 6, 1), None, datetime.date(2024, 6, 3)],
)
GROUPS = [0, 0, 0, 1, 1]


def records(release):
    return release.tables()["records"]


def by_group(release):
    """Return what each group shows, without sensitive values, and the values it holds."""
    shown, values = {}, {}
    for row in records(release).to_pylist():
        value = row.pop("value")
        assert shown.setdefault(row["group"], row) == row
        values.setdefault(row["group"], []).append(value)
    return shown, values


def test_a_group_is_shown_by_its_smallest_ranges_and_sets():
    shown, values = by_group(of_groups(GAPS, GROUPS))
    assert shown[1] == {
        "age_min": 20,
        "age_max": 30,
        "age_missing": True,
        "town": ["x", "z", None],
        "day_min": datetime.date(2024, 5, 1),
        "day_max": datetime.date(2024, 6, 1),
        "day_missing": False,
        "group": 1,
    }
    assert shown[2] | {"group": 1} == {
        "age_min": None,
        "age_max": None,
        "age_missing": True,
        "town": ["y"],
        "day_min": datetime.date(2024, 6, 3),
        "day_max": datetime.date(2024, 6, 3),
        "day_missing": True,
        "group": 1,
    }
    assert {group: sorted(listed) for group, listed in values.items()} == {1: ["a", "b", "c"], 2: ["d", "e"]}


def test_a_flag_for_missing_values_is_only_published_where_some_are_missing():
    release = of_groups(people(["a", "b"], age=[1, 2]), [0, 0])
    assert records(release).column_names == ["age_min", "age_max", "value", "group"]


def test_the_order_of_values_inside_a_group_is_their_own_whoever_has_them():
    for values in itertools.permutations("abcd"):
        release = of_groups(people(list(values), age=[1, 2, 3, 4]), [0] * 4)
        assert records(release)["value"].to_pylist() == list("abcd")
        with pytest.raises(FormatError, match=r"'records'.*canonical order"):
            RangesRelease.from_tables(release.manifest, {"records": records(release).take([1, 0, 2, 3])})


def test_groups_stand_by_what_they_show_and_other_numbers_are_refused():
    release = of_groups(people(list("abcd"), age=[1, 1, 2, 2]), [1, 1, 0, 0])
    assert records(release)["age_min"].to_pylist() == [1, 1, 2, 2]
    rows = [{**row, "group": 3 - row["group"]} for row in records(release).to_pylist()]
    other = {"records": with_rows(records(release), [*rows[2:], *rows[:2]])}
    with pytest.raises(FormatError, match="canonical order"):
        RangesRelease.from_tables(release.manifest, other)
    assert records(RangesRelease.from_tables(release.manifest, other, in_any_order=True)).equals(records(release))


def test_only_published_values_are_in_the_dictionaries():
    release = of_groups(people(list("abcd"), age=[1, 2, 3, 4]), [0] * 4)
    assert release.boxes[0].values.to_pylist() == [1, 4]


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("name", [*example_tables(), "gaps"])
def test_what_is_loaded_is_what_was_saved(tmp_path, format, name):
    release = of_groups(GAPS, GROUPS) if name == "gaps" else of_boxes(example_tables()[name], LDiversity(2, against="reader"))
    release.save(tmp_path / "release", format=format)
    loaded = Release.load(tmp_path / "release")
    assert isinstance(loaded, RangesRelease)
    assert records(loaded).equals(records(release))
    assert json.loads((tmp_path / "release" / "manifest.json").read_text())["form"] == "ranges"


def test_sets_are_json_text_in_csv(tmp_path):
    release = of_groups(people(["a", "b"], town=['say "x"', None]), [0, 0])
    release.save(tmp_path / "release", format="csv")
    assert '"[""say \\""x\\"""", null]"' in (tmp_path / "release" / "records.csv").read_text()
    assert records(Release.load(tmp_path / "release"))["town"].to_pylist() == [['say "x"', None]] * 2


def test_a_belief_is_the_share_among_all_rows_that_fit():
    # Groups 20–40 {a, b}, 30–50 {a, a, c}; 35 fits both, 50 only the second, 99 none.
    table = people(list("abaac"), age=[20, 40, 30, 50, 30])
    release = of_groups(table, [0, 0, 1, 1, 1])
    found = release.mean_beliefs([{"age": 35}, {"age": 50}, {"age": 20}, {"age": 99}])
    np.testing.assert_allclose(found, [[3 / 5, 1 / 5, 1 / 5], [2 / 3, 0, 1 / 3], [1 / 2, 1 / 2, 0], [np.nan] * 3])


def test_missing_values_fit_groups_that_hold_missing_values():
    release = of_groups(GAPS, GROUPS)
    day = datetime.date(2024, 5, 7)
    found = release.mean_beliefs(
        pa.table({"age": pa.array([None, None], pa.int64()), "town": [None, "y"], "day": pa.array([day, None], pa.date32())})
    )
    np.testing.assert_allclose(found, [[1 / 3, 1 / 3, 1 / 3, 0, 0], [0, 0, 0, 1 / 2, 1 / 2]])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_beliefs_agree_with_looking_at_every_row(data):
    many = data.draw(st.integers(2, 12))
    ages = data.draw(st.lists(st.none() | st.integers(0, 6), min_size=many, max_size=many))
    towns = data.draw(st.lists(st.sampled_from([None, "x", "y", "z"]), min_size=many, max_size=many))
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=many, max_size=many))
    groups = np.unique(drawn, return_inverse=True)[1]
    values = data.draw(st.lists(st.sampled_from("abc"), min_size=many, max_size=many))
    if all(age is None for age in ages):
        ages[0] = 1
    table = Table.from_frame(
        pa.table({"age": pa.array(ages, pa.int64()), "town": pa.array(towns, pa.string()), "value": values}),
        Schema(quasi=["age", "town"], sensitive=["value"]),
    )
    release = of_groups(table, groups)
    labels = release.domain.labels
    found = release.mean_beliefs(table.to_arrow())
    for person, row in enumerate(table.to_arrow().to_pylist()):
        fits = []
        for other in records(release).to_pylist():
            if row["age"] is None:
                inside = other.get("age_missing", False)
            else:
                inside = other["age_min"] is not None and other["age_min"] <= row["age"] <= other["age_max"]
            if inside and row["town"] in other["town"]:
                fits.append(other["value"])
        assert fits
        np.testing.assert_allclose(found[person], [fits.count(label) / len(fits) for label in labels])


def change(release, name, edit):
    """Return the release's tables with one column edited as a list."""
    table = records(release)
    place = table.column_names.index(name)
    values = table[name].to_pylist()
    edit(values)
    return {"records": table.set_column(place, name, pa.array(values, table[name].type))}


@pytest.mark.parametrize("name", ["age_min", "age_missing", "town", "day_max"])
def test_a_row_that_shows_another_range_than_its_group_is_refused(name):
    release = of_groups(GAPS, GROUPS)
    home = records(release)["group"].to_pylist().index(1)
    other = {"age_min": 30, "age_missing": False, "town": ["x"], "day_max": datetime.date(2024, 5, 1)}[name]
    tables = change(release, name, lambda values: values.__setitem__(home, other))
    with pytest.raises(FormatError, match="different values"):
        RangesRelease.from_tables(release.manifest, tables)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("age_min", 31, "minimum above its maximum"),
        ("age_min", None, "one end"),
        ("town", ["z", "x", None], "sorted"),
        ("town", ["x", "x"], "without repetitions"),
        ("town", [], "never empty"),
        ("group", 7, "without gaps"),
        ("group", 0, "start at 1"),
    ],
)
def test_tables_that_no_release_has_are_refused(name, value, message):
    release = of_groups(GAPS, GROUPS)
    rows = [k for k, group in enumerate(records(release)["group"].to_pylist()) if group == 1]
    tables = change(release, name, lambda values: [values.__setitem__(row, value) for row in rows])
    with pytest.raises(FormatError, match=message):
        RangesRelease.from_tables(release.manifest, tables)


def test_columns_too_many_or_too_few_are_refused():
    release = of_groups(GAPS, GROUPS)
    table = records(release)
    for wrong in (
        table.append_column("secret", pa.array(["x"] * 5)),
        table.drop_columns(["day_missing"]).append_column("value_min", pa.array([1] * 5)),
        table.drop_columns(["town"]),
        table.drop_columns(["group"]),
    ):
        with pytest.raises(FormatError):
            RangesRelease.from_tables(release.manifest, {"records": wrong})
    with pytest.raises(FormatError, match="has the tables records"):
        RangesRelease.from_tables(release.manifest, {"records": table, "more": table})


def test_a_flag_that_says_nothing_is_refused():
    release = of_groups(people(["a", "b"], age=[1, 2]), [0, 0])
    table = records(release).add_column(2, "age_missing", pa.array([False, False]))
    with pytest.raises(FormatError, match="age_missing"):
        RangesRelease.from_tables(release.manifest, {"records": table})


@pytest.mark.parametrize("text", ["[1]", "not json", '{"x": 1}', '"x"', "[[]]"])
def test_text_that_is_no_list_of_texts_is_refused(text):
    release = of_groups(people(["a", "b"], town=["x", "y"]), [0, 0])
    table = records(release)
    forged = table.set_column(0, "town", pa.array([text] * 2))
    with pytest.raises(FormatError, match="lists of texts"):
        RangesRelease.from_tables(release.manifest, {"records": forged})


def test_frames_come_in_the_kind_asked_for():
    release = of_boxes(skewed(), LDiversity(2, against="reader"))
    assert len(release.frames("pandas")["records"]) == 600
    assert release.frames("polars")["records"]["sex"].to_list() == records(release)["sex"].to_pylist()
    assert repr(release).startswith("RangesRelease(600 people in ")
