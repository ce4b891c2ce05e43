"""From every kind of source to a release and its audit, by the commands a person types."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import ILLNESSES, Run

POLICY = """\
[columns]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
[requirement]
model  = "f-privacy"
theta  = 2
offset = "0.1"
"""
HEADERLESS = '[input]\nheader = false\nnames = ["age", "sex", "illness"]\n'
PEOPLE = [(20 + 7 * i % 60, "fm"[i % 2], ILLNESSES[i % 20]) for i in range(200)]


@pytest.fixture
def policy(place: Path) -> Path:
    (place / "q.toml").write_text(POLICY)
    (place / "h.toml").write_text(HEADERLESS + POLICY)
    return place


def published(run: Run, *source: str, policy: str = "q.toml") -> None:
    done = run("publish", *source, "--policy", policy, "--out", "release")
    assert done.code == 0, done.err
    assert "Published 200 people" in done.out
    table = ("--table", *source) if not source[0].startswith("--") else source
    assert run("audit", "release", *table).code == 0


def test_a_file_as_it_first_came(policy: Path, run: Run) -> None:
    Path("people.data").write_text("".join(f"{a}, {s}, {i}\n" for a, s, i in PEOPLE))
    refused = run("publish", "people.data", "--policy", "q.toml", "--out", "release")
    assert (refused.code, "first line" in refused.err) == (2, True)
    assert "header = false" in refused.err
    published(run, "people.data", policy="h.toml")


def test_an_archive(policy: Path, run: Run) -> None:
    with zipfile.ZipFile("people.zip", "w") as packed:
        packed.writestr("people.csv", "age,sex,illness\n" + "".join(f"{a},{s},{i}\n" for a, s, i in PEOPLE))
    published(run, "people.zip")


def test_a_query_of_a_database_whose_address_stands_nowhere(policy: Path, run: Run) -> None:
    with sqlite3.connect("people-of-ward-9.db") as base:
        base.execute("CREATE TABLE people (age INTEGER, sex TEXT, illness TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)
    base.close()
    published(run, "--from", "people-of-ward-9.db", "--sql", "SELECT * FROM people")
    for file in policy.glob("**/*.json"):
        assert "ward-9" not in file.read_text()
        assert "SELECT" not in file.read_text()
    assert "give a file" in run("publish", "--policy", "q.toml", "--out", "other").err
    assert "both" in run("publish", "people.csv", "--sql", "SELECT 1", "--policy", "q.toml", "--out", "other").err


def test_a_workbook_and_a_file_with_labels(policy: Path, run: Run) -> None:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    frame = pandas.DataFrame(PEOPLE, columns=["age", "sex", "illness"])
    frame.to_excel("people.xlsx", index=False)
    published(run, "people.xlsx")
    numbered = frame.assign(sex=(frame["sex"] == "m").astype(int))
    pyreadstat.write_sav(numbered, "people.sav", variable_value_labels={"sex": {0: "f", 1: "m"}})
    done = run("publish", "people.sav", "--policy", "q.toml", "--out", "labelled")
    assert done.code == 0
    kinds = {one["name"]: one["kind"] for one in json.loads(Path("labelled/manifest.json").read_text())["schema"]["quasi"]}
    assert kinds == {"age": "numeric", "sex": "categorical"}


VISITS = """\
[people]
key  = "patient"
keep = "first by day"
[columns]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
other      = ["patient", "day"]
[requirement]
model  = "f-privacy"
theta  = 2
offset = "0.1"
"""


def test_visits_are_refused_until_the_policy_says_who_a_row_is_and_then_are_one_row_a_person(place: Path, run: Run) -> None:
    rows = [(f"P{i}", v // 2, a, s, ILLNESSES[(i + 3 * v) % 20]) for i, (a, s, _) in enumerate(PEOPLE) for v in range(1 + i % 4)]
    Path("visits.csv").write_text("patient,day,age,sex,illness\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    Path("v.toml").write_text(VISITS)
    Path("silent.toml").write_text(VISITS.partition("[columns]")[1] + VISITS.partition("[columns]")[2])
    Path("rows.toml").write_text("[input]\none_row_per_person = false\n" + Path("silent.toml").read_text())
    refused = run("publish", "visits.csv", "--policy", "silent.toml", "--out", "release")
    assert refused.code == 2
    assert "'patient'" in refused.err
    assert '[people] key = "patient"' in refused.err
    assert '[people] rows = "people"' in refused.err
    told = run("explain", "visits.csv", "--policy", "silent.toml", "--quick")
    assert told.code == 0
    assert "a likely key of people" in " ".join(told.out.split())
    done = run("publish", "visits.csv", "--policy", "v.toml", "--out", "release")
    assert done.code == 0, done.err
    assert "Published 200 people" in done.out
    assert "500 rows of 200 people" in " ".join(done.out.split())
    # Of 150 people with two visits on the first day, 90 have another illness at the second.
    assert "for 90 of them" in " ".join(done.out.split())
    assert "Published 500 rows" in run("publish", "visits.csv", "--policy", "rows.toml", "--out", "by-row").out
    # The receipt remembers the coins; without it nobody knows which rows they chose.
    assert run("audit", "release", "--table", "visits.csv").code == 0
    assert run("audit", "release", "--table", "visits.csv", "--policy", "v.toml").code == 0
    next(place.glob("release*.receipt.json")).unlink()
    lost = run("audit", "release", "--table", "visits.csv", "--policy", "v.toml")
    assert (lost.code, "only the receipt knows" in lost.err) == (2, True)
