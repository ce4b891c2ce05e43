"""Studies of a table of one's own: by the verb, with the policy's secrets, and with a method of another package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("altair")

from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.policy import Policy
from sfumato.studies.matching.likeness import Asked, also
from sfumato.studies.matching.measured import measure, studied
from sfumato.studies.source import OwnTable
from sfumato.table.generators import hospital
from sfumato.table.write import write_table

POLICY = """
[columns]
identifier = ["patient"]
quasi      = ["age", "sex", "ward"]
sensitive  = ["diagnosis"]
[requirement]
model  = "f-privacy"
theta  = 8
offset = "0.02"
"""


@pytest.fixture
def own(tmp_path: Path) -> tuple[Path, Path]:
    table, policy = tmp_path / "mine.csv", tmp_path / "policy.toml"
    frame = hospital(600, 3).select(["patient", "age", "sex", "ward", "diagnosis"])
    write_table(frame, table)
    policy.write_text(POLICY, encoding="utf-8")
    return table, policy


def test_the_verb_asks_a_study_of_a_table_of_ones_own_and_writes_its_page(own: tuple[Path, Path], tmp_path: Path) -> None:
    table, policy = own
    out = tmp_path / "out"
    command = ["study", "001-fig3", "--quick", "--table", str(table), "--policy", str(policy), "--out", str(out), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)
    assert told["source"].startswith("mine.csv (600 people")
    assert told["departures"][-1] == f"{told['source']}, in place of the paper's table"
    assert {row["table"] for row in told["rows"]} == {"diagnosis"}
    assert (out / "studies.md").exists()
    assert (out / "pictures" / "studies" / "001-fig3.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["003-fig88"], "003-fig8"),
        (["001-fig3", "--table", "t.csv"], "--policy"),
        (["003", "--workers", "0"], "0"),
        (["lst"], "did you mean 'list'?"),
        (["rings"], "sfumato study list"),
        (["001-fig3", "--also", "mondrian"], "003-fig8"),
        (["003-fig8", "--also", "mondrain"], "mondrian"),
    ],
)
def test_what_cannot_be_asked_is_told(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["study", *arguments, "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert said in result.output


def test_results_go_into_a_directory(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["study", "001-fig3", "--quick", "--out", str(taken)])
    assert result.exit_code == 2
    assert "is a file" in result.output


def test_another_table_of_the_same_name_is_measured_anew(own: tuple[Path, Path], tmp_path: Path) -> None:
    table, policy = own
    command = ["study", "001-fig3", "--quick", "--table", str(table), "--policy", str(policy), "--out", str(tmp_path), "--json"]
    sources = []
    for rows in (600, 300):
        write_table(hospital(rows, 3).select(["patient", "age", "sex", "ward", "diagnosis"]), table)
        (told,) = json.loads(CliRunner().invoke(app, command).stdout)
        sources.append(told["source"])
    assert len(set(sources)) == 2
    assert [name.split(" people")[0].split("(")[1] for name in sources] == ["600", "300"]


def test_the_list_names_every_study_with_its_figure() -> None:
    from sfumato.studies.catalogue import names

    result = CliRunner().invoke(app, ["study", "list", "--json"])
    listed = json.loads(result.stdout)
    assert [line["name"] for line in listed] == names()
    assert next(line for line in listed if line["name"] == "003-fig8")["settings"]["paper"]["people"] == 10_000
    assert [line["name"] for line in listed if line["also"]] == ["003-fig8", "003-fig9", "003-fig10", "003-fig11"]


def test_a_method_by_its_name_stands_beside_the_papers(own: tuple[Path, Path]) -> None:
    table, policy = own
    source = OwnTable(Policy.load(policy, data=table).read_table(table), "mine.csv")
    assert Asked.of(source, 250).table.rows == 250
    study = studied(source, 250, 5, 2)
    (found,) = measure(print, study, "mondrian", also("mondrian"), [20], 1)
    assert found is not None
    assert set(found.errors) == set(found.ours) == {"ranges"}
