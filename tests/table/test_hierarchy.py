"""Hierarchies of ARX: read from their files, published like any grouping of categories, asked about at every level."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.api import audit, publish
from sfumato.errors import InputError, PolicyError
from sfumato.methods import MultiSize
from sfumato.policy import Policy
from sfumato.privacy import LDiversity
from sfumato.table import Hierarchy, Schema, Table

ICD = "A00;A00-A09;A00-B99;*\nA01;A00-A09;A00-B99;*\nB20;B20-B24;A00-B99;*\nC50;C50-C50;C00-D49;*\n"
POLICY = """\
[columns]
quasi = ["icd"]
sensitive = ["ill"]
[recode]
icd = { hierarchy = "lists/icd.csv", level = 2 }
[requirement]
model = "l-diversity"
l = 3
"""


def people(codes: list[str]) -> pa.Table:
    return pa.table({"icd": codes, "ill": [f"v{i % 4}" for i in range(len(codes))]})


def test_a_level_is_a_map_from_values_to_groups() -> None:
    assert Hierarchy.parse(ICD, level=1).map == {"A00": "A00-A09", "A01": "A00-A09", "B20": "B20-B24", "C50": "C50-C50"}
    assert Hierarchy.parse(ICD.replace(";", ","), level=2).map["C50"] == "C00-D49"
    assert Hierarchy.parse(ICD, level=2).to_dict() == {"map": dict(Hierarchy.parse(ICD, level=2).map)}


@pytest.mark.parametrize(
    ("text", "level", "message"),
    [
        (ICD, 4, "has 3 levels, got 4"),
        (ICD, 0, "from 1 on"),
        (ICD, None, "from 1 on"),
        ("A00\nA01\n", 1, "no lines of values"),
        ("", 1, "no lines of values"),
        ("A00;x;y\nA01;x\n", 1, "line 1 has 2 levels, and line 2"),
        ("A00;x\nA00;y\n", 1, "stands twice"),
    ],
)
def test_files_that_are_no_hierarchy_are_refused(text: str, level: int, message: str) -> None:
    with pytest.raises(PolicyError) as problem:
        Hierarchy.parse(text, level=level)
    assert message in problem.value.message


def test_a_value_that_is_not_in_the_hierarchy_is_never_published_as_it_is() -> None:
    data = people(["A00", "A01", "Z99", "C50"])
    with pytest.raises(InputError, match="1 of its 4 different") as problem:
        Table.from_frame(data, Schema(quasi=["icd"], sensitive=["ill"], recode={"icd": Hierarchy.parse(ICD, level=2)}))
    assert "Z99" not in str(problem.value)
    rest = Schema(quasi=["icd"], sensitive=["ill"], recode={"icd": Hierarchy.parse(ICD, level=2, other="rest")})
    assert Table.from_frame(data, rest).column("icd").values.to_pylist() == ["A00-B99", "C00-D49", "rest"]


def test_a_policy_names_the_file_from_where_it_lies_and_the_receipt_needs_it_no_more(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "icd.csv").write_text(ICD)
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "t.csv").write_text(
        "icd,ill\n" + "".join(f"{code},v{i % 4}\n" for i, code in enumerate(["A00", "B20", "C50"] * 8))
    )
    policy = Policy.load(tmp_path / "p.toml")
    table = policy.read_table(tmp_path / "t.csv")
    assert table.column("icd").values.to_pylist() == ["A00-B99", "C00-D49"]
    kept = policy.kept_text(table)
    (tmp_path / "lists" / "icd.csv").unlink()
    assert Policy.parse(kept).read_table(tmp_path / "t.csv").fingerprint == table.fingerprint
    with pytest.raises(PolicyError, match="no such file"):
        Policy.load(tmp_path / "p.toml")
    release = publish(table, LDiversity(3), method=MultiSize(), random=1)
    assert "lists" not in release.manifest.to_json()
    assert audit(release, table).holds


def test_questions_understand_values_and_levels() -> None:
    """16 people of 24 lie under A00-B99; 8 of these have A00, which the release no longer tells from B20."""
    schema = Schema(quasi=["icd"], sensitive=["ill"], recode={"icd": Hierarchy.parse(ICD, level=2)})
    table = Table.from_frame(people(["A00", "B20", "C50"] * 8), schema)
    release = publish(table, LDiversity(3), method=MultiSize(), random=1)
    assert release.count("icd = 'A00-B99'").value == pytest.approx(16)
    assert release.count("icd = 'C50'").value == pytest.approx(8)
    asked = release.count("icd IN ('A00', 'A01', 'B20')")
    assert asked.value == pytest.approx(16)
