"""A closed sensitive attribute: types follow from what is declared, and a person's value from her own cells."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato import Schema, Table
from sfumato.errors import PolicyError
from sfumato.table.cells import cell_column, cell_text
from sfumato.table.read import read_arrow

DAY = datetime.date(2024, 1, 1)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((1, 1.0, "1", " 1", "1.0", "+1", "1e0", decimal.Decimal("1.00"), np.int8(1), np.float32(1)), "1"),
        ((2.5, "2.5", "2.50", np.float32(2.5)), "2.5"),
        ((0, -0.0, "-0"), "0"),
        (("01", " 01 "), "01"),
        ((None, float("nan"), decimal.Decimal("NaN"), "(missing)", pd.NaT), None),
        ((True, "true", np.True_), "true"),
        (
            (DAY, datetime.datetime(2024, 1, 1), pd.Timestamp("2024-01-01", tz="Asia/Tokyo"), "2024-01-01T00:00", "1.1.2024"),
            "2024-01-01",
        ),
        ((datetime.datetime(2024, 1, 1, 12), "2024-01-01 12:00", "2024-01-01T12:00:00+05:00"), "2024-01-01 12:00:00"),
        (("flu", " flu "), "flu"),
        (("01/02/2024",), "01/02/2024"),
        (("2024-02-30",), "2024-02-30"),
        ((float("inf"), "1e999"), "inf"),
        ((b"flu", [1], datetime.time(1), "\ud800", 10**400, decimal.Decimal("sNaN")), "\0"),
    ],
)
def test_equal_values_have_one_text_however_they_are_stored(cells, text):
    assert [cell_text(cell) for cell in cells] == [text] * len(cells)


def test_the_decimal_sign_of_a_file_counts_in_its_cells():
    assert cell_text("1,50", ",") == "1.5"
    assert cell_text("1.500", ",") == "1.500"


def test_a_moment_that_no_calendar_has_is_nothing_known_and_spoils_no_other():
    column = cell_column("v", pa.chunked_array([pa.array([2**62, 0, None], pa.timestamp("us"))]), ".")
    assert column.arrow().to_pylist() == ["\0", "1970-01-01", None]


def closed(values, otherwise, **more):
    return Schema(quasi=["q"], sensitive=["v"], closed={"values": values, "otherwise": otherwise}, **more)


def labels_of(table):
    return [table.sensitive.labels[code] for code in table.sensitive.codes]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "(missing)"], pa.int64()),
        (["1", "2.5", "(missing)"], pa.float64()),
        (["1", "2", "other"], pa.string()),
        (["01", "02"], pa.string()),
        (["2024-01-01", "2024-01-02", "(missing)"], pa.date32()),
        (["2024-01-01 00:00:00", "2024-01-02 12:00:00"], pa.timestamp("us")),
        (["flu", "(missing)"], pa.string()),
    ],
)
def test_the_type_follows_from_the_declared_values_whatever_somebody_has(values, kind):
    for cell in (None, 1, 2.5, "x", DAY, datetime.datetime(2024, 1, 2, 12)):
        table = Table.from_frame(pd.DataFrame({"q": [1, 2], "v": [cell, values[0]]}), closed(values, values[-1]))
        assert table.sensitive.domain.table.schema.field("v").type == kind
        assert set(labels_of(table)) <= set(values)


def test_equal_moments_in_different_zones_keep_their_own_wall_clock():
    utc, later = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))
    moments = [datetime.datetime(2024, 1, 1, 12, tzinfo=utc), datetime.datetime(2024, 1, 1, 14, tzinfo=later)]
    schema = closed(["2024-01-01 12:00:00", "2024-01-01 14:00:00", "(missing)"], "(missing)")
    for order in (moments, moments[::-1]):
        table = Table.from_frame(pd.DataFrame({"q": [1, 2], "v": pd.Series(order, dtype=object)}), schema)
        assert labels_of(table) == [str(moment.replace(tzinfo=None)) for moment in order]


def test_a_declared_type_is_kept_and_refused_where_a_declared_value_is_not_of_it():
    table = Table.from_frame(pa.table({"q": [1], "v": [1]}), closed(["1", "2"], "2", types={"v": "categorical"}))
    assert table.sensitive.domain.table["v"].to_pylist() == ["1"]
    for kind in ("numeric", "date"):
        with pytest.raises(PolicyError, match=f"is {kind}, but not all"):
            closed(["1", "x"], "x", types={"v": kind})


def test_whoever_has_no_declared_value_has_otherwise_and_a_missing_one_is_missing_where_that_is_declared():
    frame = pd.DataFrame({"q": range(5), "v": ["flu", "gout", None, 7, ""]})
    assert labels_of(Table.from_frame(frame, closed(["flu", "other"], "other"))) == ["flu", *["other"] * 4]
    told = Table.from_frame(frame, closed(["flu", "other", "(missing)"], "other"))
    assert labels_of(told) == ["flu", "other", "(missing)", "other", "other"]


def test_numbers_fall_into_bins_and_everything_else_into_otherwise():
    schema = closed(["[0, 10)", "[10, 100]", "(missing)"], "(missing)", bins={"v": [0, 10, 100]})
    table = Table.from_frame(pd.DataFrame({"q": range(6), "v": [5, "50", None, "x", -1, 100.0]}), schema)
    assert labels_of(table) == ["[0, 10)", "[10, 100]", "(missing)", "(missing)", "(missing)", "[10, 100]"]
    with pytest.raises(PolicyError, match="'other' is none"):
        closed(["[0, 10)", "other"], "other", bins={"v": [0, 10, 100]})


def test_combinations_that_are_not_declared_have_otherwise():
    values = ["HIV / yes", "flu / no", "flu / (missing)"]
    schema = Schema(quasi=["q"], sensitive=["v", "w"], protect="combination", closed={"values": values, "otherwise": "flu / no"})
    frame = pl.DataFrame({"q": range(5), "v": ["HIV", "HIV", "flu", "flu", None], "w": ["yes", "no", None, "no", "yes"]})
    assert labels_of(Table.from_frame(frame, schema)) == ["HIV / yes", "flu / no", "flu / (missing)", "flu / no", "flu / no"]


@pytest.mark.parametrize(
    ("values", "otherwise", "more", "message"),
    [
        (["a", "b"], "c", {}, "'c' is none"),
        (["a", "a"], "a", {}, "listed twice"),
        ("ab", "a", {}, "a list of texts"),
        (["1.0", "2"], "2", {}, "'1.0'"),
        ([" a", "b"], "b", {}, "' a'"),
        (["2024-01-01", "2024-01-02 12:00:00"], "2024-01-01", {}, "'2024-01-01'"),
        (["1", "1.0", "x"], "x", {}, "are one value"),
        (["a", "b"], "b", {"missing": {"v": "error"}}, "would reveal it"),
        (["a", "b"], "b", {"missing": {"v": "drop"}}, "would reveal it"),
        (["a", "b"], "b", {"domains": {"v": ["a", "b"]}}, "would reveal them"),
    ],
)
def test_what_could_tell_or_cannot_be_told_apart_is_refused_before_a_table_is_read(values, otherwise, more, message):
    with pytest.raises(PolicyError, match=message):
        closed(values, otherwise, **more)


def test_a_label_with_another_number_of_parts_than_columns_is_refused():
    with pytest.raises(PolicyError, match="should have 2 parts"):
        Schema(quasi=["q"], sensitive=["v", "w"], protect="combination", closed={"values": ["a", "b / c"], "otherwise": "b / c"})


def test_the_schema_of_a_closed_attribute_survives_json():
    schema = closed(["b", "a"], "b")
    assert schema.to_dict()["closed"] == {"values": ["a", "b"], "otherwise": "b"}
    assert Schema.from_dict(schema.to_dict()) == schema
    assert "closed" not in Schema(quasi=["q"], sensitive=["v"]).to_dict()


def test_cells_of_a_file_stay_the_text_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("q,v\n1,01\n2,1\n")
    read = read_arrow(tmp_path / "t.csv", schema=closed(["1", "2"], "2"))
    assert read["v"].to_pylist() == ["01", "1"]
