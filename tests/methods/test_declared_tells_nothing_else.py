"""With declared parameters nothing but a person's own coins answers to her value: one person's cell is changed in every way.

Every pair of tables that differ in one cell must give the same manifest, the same types and file names, and the same values of
the others; and none of them may be refused.
"""

import datetime
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import FPrivacy, LDiversity, Policy, Schema, SmallDomain, Table, UniformPerturbation, publication
from sfumato.errors import InputError, PolicyError
from sfumato.table.cells import cell_text
from tests.randomize.test_declared import releases_of

DAY, NOON = datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 2, 12)
DECLARED = {
    "whole numbers": (["1", "2", "3", "(missing)"], "(missing)"),
    "whole numbers, another one for the rest": (["1", "2", "3"], "3"),
    "numbers": (["1", "2.5", "3"], "3"),
    "days": (["2024-01-01", "2024-01-02", "2024-01-03"], "2024-01-03"),
    "moments": (["2024-01-01 00:00:00", "2024-01-02 12:00:00", "(missing)"], "(missing)"),
    "text": (["x", "y", "other"], "other"),
    "text and numbers": (["1", "x", "other"], "other"),
    "names of digits": (["01", "02", "03"], "03"),
}
TEXTS = ["1", "2", "2.5", "1.0", " 1", "01", "x", "", "NA", "inf", "1e999", "9" * 30, "-", '"a,b"', '"two\nlines"', "é", "true"]
TEXTS += ["2024-01-01", "2024-01-02 12:00", "31.12.2024", "01/02/2024"]
CELLS = [1, 2, 2.5, 3.0, True, None, float("nan"), float("inf"), "x", "1", "01", "", DAY, NOON, 2**53 + 1, 2**70, b"x", [1]]
OTHERS = [("1", "2"), ("x", "1"), ("2024-01-01", "")]


def method_for(name, kind=SmallDomain):
    values, otherwise = DECLARED[name]
    return kind(parameters="declared", shares=dict.fromkeys(values, 1), otherwise=otherwise)


def told(table, method, requirement):
    """Return everything that is published but for the drawn rows, and the declared values of everybody but the first."""
    made = publication(table, requirement, method=method, random=1)
    records = made.release.tables()["records"]
    others = [table.sensitive.labels[code] for code in table.sensitive.codes[1:]]
    types = [(field.name, str(field.type)) for field in records.schema if field.name != "q"]
    return made.release.manifest.to_json(), types, others, json.dumps(made.audit.to_dict()), json.dumps(made.private)


INSIDER = LDiversity(2, against="insider")


@pytest.mark.parametrize("name", DECLARED)
def test_a_cell_of_a_csv_file_decides_nothing_else(name, tmp_path):
    method = method_for(name)
    schema = method.close(Schema(quasi=["q"], sensitive=["v"]))
    for others in OTHERS:
        seen = set()
        for cell in TEXTS:
            (tmp_path / "t.csv").write_text("q,v\n" + "".join(f"{k},{v}\n" for k, v in enumerate((cell, *others))))
            seen.add(repr(told(Table.read(tmp_path / "t.csv", schema), method, INSIDER)))
        assert len(seen) == 1, others


def frames(cells):
    """Return the cells in every kind of frame that can hold them."""
    yield pd.DataFrame({"q": range(len(cells)), "v": cells})
    yield pd.DataFrame({"q": range(len(cells)), "v": pd.Series(cells, dtype=object)})
    for make in (pl.DataFrame, pa.table):
        try:
            frame = make({"q": list(range(len(cells))), "v": cells})
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            continue  # no frame of this kind has such a column
        if [cell_text(cell) for cell in list(frame["v"].to_pylist() if make is pa.table else frame["v"])] == [
            cell_text(cell) for cell in cells
        ]:  # and not 1 as a date
            yield frame


@pytest.mark.parametrize("name", DECLARED)
def test_a_cell_of_a_frame_decides_nothing_else(name):
    method = method_for(name, UniformPerturbation)
    schema = method.close(Schema(quasi=["q"], sensitive=["v"]))
    for others in [(1, 2), ("x", None), (DAY, DAY)]:
        seen = set()
        for cell in CELLS:
            for frame in frames([cell, *others]):
                try:
                    table = Table.from_frame(frame, schema)
                except InputError as error:  # a type of column that no release has; never for what a cell of it holds
                    assert "values of type" in str(error)  # noqa: PT017
                    assert not isinstance(frame, pd.DataFrame)
                    continue
                seen.add(repr(told(table, method, INSIDER)))
        assert len(seen) == 1, others


def test_parquet_columns_of_whole_and_other_numbers_are_read_alike(tmp_path):
    method = method_for("whole numbers")
    schema = method.close(Schema(quasi=["q"], sensitive=["v"]))
    seen = set()
    for column in (
        pa.array([1, 1, 2]),
        pa.array([None, 1, 2]),
        pa.array([2.5, 1, 2]),
        pa.array([9, 1, 2], pa.uint8()),
        pa.array(["x", "1", "2"]),
        pa.array(["x", "1", "2"]).dictionary_encode(),
        pa.array([1, 1, 2], pa.decimal128(5, 2)),
        pa.array([float("inf"), 1, 2], pa.float32()),
    ):
        pq.write_table(pa.table({"q": [0, 1, 2], "v": column}), tmp_path / "t.parquet")
        seen.add(repr(told(Table.read(tmp_path / "t.parquet", schema), method, INSIDER)))
    assert len(seen) == 1


def test_bins_and_bounds_that_follow_from_shares_come_from_the_declaration_too():
    shares = {"[0, 10)": "0.5", "[10, 100]": "0.3", "(missing)": "0.2"}
    method = SmallDomain(parameters="declared", shares=shares, otherwise="(missing)")
    schema = method.close(Schema(quasi=["q"], sensitive=["v"], bins={"v": [0, 10, 100]}))
    asked = FPrivacy(theta=1, offset="0.2", against="insider")
    seen = {
        repr(told(Table.from_frame(pd.DataFrame({"q": range(3), "v": [cell, 5, 50]}), schema), method, asked)) for cell in CELLS
    }
    assert len(seen) == 1


POLICY = """
[columns]
quasi = ["q"]
sensitive = ["v"]
{more}
[requirement]
model = "l-diversity"
l = 2
against = "insider"
[method]
name = "small-domain"
parameters = "declared"
otherwise = "3"
[method.shares]
1 = 1
2 = 1
3 = 1
"""


def test_a_policy_file_closes_the_sensitive_columns_and_refuses_rules_that_would_tell():
    assert Policy.parse(POLICY.format(more="")).schema.closed.otherwise == "3"
    for more, message in (
        ('[missing]\nv = "error"', "would reveal it"),
        ('[missing]\nv = "drop"', "would reveal it"),
        ("[domains]\nv = [1, 2]", "would reveal them"),
        ('[types]\nv = "date"', "is date, but not all"),
    ):
        with pytest.raises(PolicyError, match=message):
            Policy.parse(POLICY.format(more=more))
    with pytest.raises(PolicyError, match="needs otherwise"):
        Policy.parse(POLICY.format(more="").replace('otherwise = "3"', ""))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_command_writes_the_same_files_with_the_same_types_whatever_somebody_has(tmp_path, format):
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    (tmp_path / "p.toml").write_text(POLICY.format(more=""))
    seen = set()
    for k, cell in enumerate(["1", "2.5", "", "x", "2024-01-01"]):
        (tmp_path / "t.csv").write_text(f"q,v\n0,{cell}\n1,1\n2,2\n3,\n")
        out = tmp_path / str(k) / "release"
        arguments = ["publish", tmp_path / "t.csv", "--policy", tmp_path / "p.toml", "--out", out, "--format", format]
        assert CliRunner().invoke(app, [str(argument) for argument in arguments]).exit_code == 0
        manifest = json.loads((out / "manifest.json").read_text())
        for entry in manifest["tables"].values():
            del entry["files"][0]["sha256"]  # of the drawn rows
        seen.add(json.dumps([manifest, sorted(path.name for path in out.iterdir())]))
        audited = CliRunner().invoke(app, ["audit", str(out), "--table", str(tmp_path / "t.csv")])
        assert audited.exit_code == 0
    assert len(seen) == 1


@pytest.mark.parametrize("known", [(0,), (1,), (2,)])
def test_what_is_published_of_the_others_has_the_same_law_whatever_one_person_has(known):
    laws = []
    for value in range(3):
        law = {}
        for release, chance in releases_of((value, *known)).items():
            law[release[1:]] = law.get(release[1:], 0) + chance
        laws.append(law)
    assert laws[0] == laws[1] == laws[2]
