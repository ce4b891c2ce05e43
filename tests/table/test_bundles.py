"""A person is all her rows: who has which values, whose quasi values are shown, and which numbers of rows are alike."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Schema, Table
from sfumato.errors import InputError, PolicyError
from sfumato.table.gather import band_column, fewest
from sfumato.table.people_rule import BAND, People
from tests.makers import encounters, visits

ROWS = pa.table(
    {
        "patient": [1, 1, 2, 3, 3, 3],
        "day": [2, 1, 1, 1, 2, 3],
        "age": [31, 30, 44, 58, 58, 60],
        "diag_1": ["a", "b", "a", "c", "c", None],
        "diag_2": [None, "c", None, "a", "a", None],
    }
)


def small(frame=ROWS, quasi="first by day", **told):
    rule = {"key": "patient", "keep": "all", "quasi": quasi, **told}
    given = {name: value for name, value in rule.items() if value is not None}
    schema = Schema(identifier=["patient"], quasi=["age"], other=["day"], secrets={"illness": ["diag_1", "diag_2"]}, people=given)
    return Table.from_frame(frame, schema, seed=1)


def test_a_person_has_the_values_of_all_her_rows_and_columns_each_once():
    table = small()
    assert table.to_arrow().to_pydict() == {
        "age": [30, 44, 58],
        BAND: ["1 or more"] * 3,
        "illness": [["a", "b", "c"], ["a"], ["a", "c"]],
    }
    assert table.sensitive.histogram() == {"a": 3, "b": 1, "c": 2}
    assert table.choice.sentence == "6 rows of 3 people, 6 facts."


@pytest.mark.parametrize(
    ("quasi", "ages"),
    [
        ("last by day", [31, 44, 60]),
        ("least by age", [30, 44, 58]),
        ("greatest by age", [31, 44, 60]),
        ({"age": "greatest"}, [31, 44, 60]),
        ({"age": "last by day"}, [31, 44, 60]),
    ],
)
def test_which_row_is_shown_is_a_rule(quasi, ages):
    assert small(quasi=quasi).to_arrow()["age"].to_pylist() == ages


def test_a_quasi_column_that_differs_needs_a_rule_and_one_that_does_not_needs_none():
    with pytest.raises(InputError, match="'age': 2 people"):
        small(quasi=None)
    same = ROWS.set_column(2, "age", pa.array([30, 30, 44, 58, 58, 58]))
    assert small(same, quasi=None).to_arrow()["age"].to_pylist() == [30, 44, 58]


def test_rows_without_a_key_are_refused_or_dropped_by_rule():
    lost = ROWS.set_column(0, "patient", pa.array([1, 1, 2, None, 3, 3]))
    with pytest.raises(InputError, match="1 of 6 rows have no value"):
        small(lost)
    table = small(lost, without_key="drop")
    assert table.choice.sentence == "5 rows of 3 people, 6 facts; 1 rows without a key were left out."


def test_to_have_none_is_a_value_of_whoever_has_no_other_where_the_policy_says_so():
    rows = pa.table(
        {
            "patient": [1, 1, 2, 3],
            "age": [30, 30, 44, 58],
            "a": ["x", None, None, "y"],
            "b": ["y", None, None, None],
            "w": [*"uvuv"],
        }
    )

    def read(**rules):
        secrets = {"illness": ["a", "b"], "ward": "w"}
        people = {"key": "patient", "keep": "all"}
        return Table.from_frame(rows, Schema(identifier=["patient"], quasi=["age"], secrets=secrets, people=people, **rules))

    assert read(missing={"illness": "value"}).to_arrow()["illness"].to_pylist() == [["x", "y"], ["(missing)"], ["y"]]
    assert read().to_arrow()["illness"].to_pylist() == [["x", "y"], [], ["y"]]
    assert read(missing={"ward": "error"}).rows == 3  # it has a column less, and no cell of it is empty
    with pytest.raises(InputError, match="'illness': 5 of 8 values are missing"):
        read(missing={"illness": "error"})


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"keep": "all", "alike": [1, 2]}, "from 2 on"),
        ({"keep": "all", "alike": [3, 2]}, "ascending"),
        ({"keep": "all", "alike": "values"}, "rows, exact or edges"),
        ({"keep": "all", "quasi": "the first"}, "least or greatest"),
        ({"keep": "first by day", "alike": "exact"}, 'it is for keep = "all"'),
        ({"keep": "all", "without_key": "keep"}, "error or drop"),
        ({"keep": "all", "quasi": "first by diag_1"}, "on a secret"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rule, said):
    with pytest.raises(PolicyError, match=said):
        Schema(identifier=["p"], quasi=["a"], other=["day"], secrets={"x": ["diag_1"]}, people={"key": "p", **rule})


def test_several_columns_of_one_row_a_person_are_a_set_without_strata():
    frame = pa.table({"age": [1, 2, 3], "d1": ["a", "b", None], "d2": ["a", "a", None]})
    table = Table.from_frame(frame, Schema(quasi=["age"], secrets={"illness": ["d1", "d2"]}))
    assert table.to_arrow()["illness"].to_pylist() == [["a"], ["a", "b"], []]
    assert [column.name for column in table.quasi] == ["age"]
    assert "people" not in table.schema.to_dict()


def test_one_column_and_one_row_a_person_is_the_short_spelling():
    given = {"quasi": ["age"], "other": []}
    assert Schema(**given, secrets={"illness": "illness"}) == Schema(**given, sensitive=["illness"])
    assert not Schema(**given, secrets={"illness": ["illness"]}).bundled


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"secrets": {"x": ["d"]}, "sensitive": ["e"]}, "named twice"),
        ({"secrets": {"x": ["d", "d"]}}, "listed"),
        ({"secrets": {"x": ["d", "a"]}}, "listed"),
        ({"secrets": {"x": []}}, "mean the same"),
        ({"secrets": ["d"]}, "name = columns"),
        ({"secrets": {"x": ["d", "e"], "y": ["f", "g"]}, "protect": "combination"}, "protected by itself"),
        ({"secrets": {"x": ["d", "e"]}, "missing": {"x": "drop"}}, "an empty cell drops no person"),
    ],
)
def test_secrets_that_make_no_sense_are_refused(told, said):
    with pytest.raises(PolicyError, match=said):
        Schema(quasi=["a"], **told)


def test_a_column_called_rows_is_no_band():
    with pytest.raises(PolicyError, match="the table has a column"):
        Schema(quasi=["age", "rows"], sensitive=["x"], other=["rows"], people={"key": "age", "keep": "all"})


def test_bands_follow_from_numbers_of_rows_and_people_alone():
    times = np.repeat([1, 2, 3, 4, 5, 7, 9, 20], [900, 300, 100, 80, 40, 40, 60, 20])
    usual = band_column(times, People(key="p", keep="all"))  # at least 77 of 1,540
    assert Counter(usual.arrow().to_pylist()) == {"1": 900, "2": 300, "3": 100, "4": 80, "5 to 8": 80, "9 or more": 80}
    few = band_column(times[:1262], People(key="p", keep="all"))
    assert Counter(few.arrow().to_pylist()) == {"1": 900, "2 or more": 362}
    own = band_column(times, People(key="p", keep="all", alike=[3, 9]))
    assert Counter(own.arrow().to_pylist()) == {"1 to 2": 1200, "3 to 8": 260, "9 or more": 80}
    assert [fewest(many) for many in (300, 1_600, 20_000, 70_000, 1_000_000)] == [50, 80, 100, 350, 1_000]
    exact = band_column(times, People(key="p", keep="all", alike="exact"))
    assert exact.kind == "numeric"
    assert exact.arrow().to_pylist() == times.tolist()


def test_events_are_filled_in_once_a_person_and_sets_are_events():
    table = visits()
    bundles, frame = table.bundles, encounters()
    has = defaultdict(set)
    for row in frame.to_pylist():
        has[row["patient"]] |= {f"diagnosis: {row[name]}" for name in ("diag_1", "diag_2", "diag_3") if row[name]}
        has[row["patient"]].add(f"ward: {row['ward']}")
    sets = [[0, 1, 2], [3, 9]]
    begin, event = bundles.incidence(sets)
    for person in range(table.rows):
        own = [bundles.labels.index(label) for label in has[person]]
        expected = {*own, *(len(bundles.labels) + k for k, one in enumerate(sets) if set(one) & set(own))}
        mine = event[begin[person] : begin[person + 1]].tolist()
        assert len(mine) == len(set(mine))
        assert set(mine) == expected
    assert bundles.facts == sum(map(len, has.values()))


def test_the_order_of_rows_changes_nothing():
    one, other = visits(), visits(encounters(shuffled=3))
    assert one.fingerprint == other.fingerprint
    assert one.by_values().to_arrow() == other.by_values().to_arrow()


def test_a_text_file_and_a_frame_give_the_same_people(tmp_path):
    import pyarrow.csv as csv

    csv.write_csv(encounters(), tmp_path / "rows.csv")
    table = visits()
    again = Table.read(tmp_path / "rows.csv", table.schema, seed=1)
    assert again.by_values().to_arrow() == table.by_values().to_arrow()


def test_what_is_public_makes_the_same_public_schema():
    schema = visits(people={"alike": [2, 4]}).schema
    assert Schema.from_dict(schema.to_dict()).to_dict() == schema.to_dict()
    assert "patient" not in str(schema.to_dict())
    only = schema.only("ward")
    assert (only.sensitive, dict(only.secrets), only.protect) == (("ward",), {"ward": ("ward",)}, None)
