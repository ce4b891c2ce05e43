"""The verbs, end to end: what they print, what they write, and their exit codes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sfumato.auditor import audit_release
from sfumato.cli import demo as demo_verb
from sfumato.release import Release
from sfumato.release.manifest import Claim
from tests.cli.conftest import POLICY, Done, Run, listing, people
from tests.release._forge import forge


def words(text: str) -> str:
    """Return text without line breaks and runs of blanks."""
    return " ".join(text.split())


@pytest.fixture
def published(place: Path, run: Run) -> Done:
    done = run("publish", "people.csv", "--policy", "p.toml", "--out", "release")
    assert done.code == 0
    return done


def test_publish_writes_a_release_and_a_private_receipt(place: Path, published: Done) -> None:
    assert listing(place) == {
        "people.csv",
        "p.toml",
        "release",
        "release/groups.parquet",
        "release/manifest.json",
        "release/qit.parquet",
        "release/st.parquet",
        "release.receipt.json",
    }
    assert Release.load(place / "release").rows == 200
    assert stat.S_IMODE((place / "release.receipt.json").stat().st_mode) == 0o600
    assert "Published 200 people to release" in published.out
    assert re.search(r"Engineer +the claim holds; closest to its bound: '.* % of", words(published.out))
    # 0.4² + 0.3² + 0.2² + 2 · 0.05² = 0.295
    assert "29.5 % by how frequent each value is" in words(published.out)
    assert published.err == ""


def test_publish_as_json_prints_json_only(place: Path, run: Run) -> None:
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--json", "--seed", "5")
    told = json.loads(done.out)
    assert (told["rows"], told["dropped"], told["release"], told["reproducible"]) == (200, 0, "release", True)
    assert told["audit"]["holds"] is True
    assert told["receipt"].endswith("release.receipt.json")
    assert done.err == ""


def test_publish_as_csv_can_be_loaded_again(place: Path, run: Run) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--format", "csv").code == 0
    assert {"release/qit.csv", "release/st.csv"} <= listing(place)
    assert audit_release(Release.load(place / "release")).holds is True


def test_the_same_seed_gives_the_same_release_and_no_seed_another(place: Path, run: Run) -> None:
    (place / "blind.toml").write_text(POLICY + '[method]\nname = "multi-size"\n')
    for name, seed in (("a", ["--seed", "1"]), ("b", ["--seed", "1"]), ("c", []), ("d", [])):
        assert run("publish", "people.csv", "-p", "blind.toml", "-o", name, *seed).code == 0
    rows = {name: pq.read_table(place / name / "qit.parquet").to_pydict() for name in "abcd"}
    assert rows["a"] == rows["b"]
    assert rows["c"] != rows["d"]


def test_a_second_release_of_the_same_table_is_warned_of(place: Path, published: Done, run: Run) -> None:
    again = run("publish", "people.csv", "-p", "p.toml", "-o", "again")
    assert again.code == 0
    assert "This very table was already published" in words(again.err)
    assert "no claim covers that" in words(again.err)
    told = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "third", "--json").out)
    assert len([warning for warning in told["warnings"] if "This very table was already published 2 times" in warning]) == 1
    assert {one["release"] for one in told["earlier"]} == {str(place / "release"), str(place / "again")}


def test_without_receipts_they_go_to_the_users_register_and_the_same_people_are_found_from_anywhere(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SFUMATO_RECEIPTS")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    for name in ("one", "two"):
        (place / name).mkdir()
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "one/release").code == 0
    register = place / "data" / "sfumato" / "receipts"
    assert [path.name for path in register.iterdir()] == ["release.receipt.json"]
    assert stat.S_IMODE((register / "release.receipt.json").stat().st_mode) == 0o600
    assert not (place / "one" / "release.receipt.json").exists()
    (place / "moved").mkdir()
    (place / "people.csv").rename(place / "moved" / "others.csv")
    again = run("publish", "moved/others.csv", "-p", "p.toml", "-o", "two/other")
    assert again.err.count("warning:") == 1
    assert "This very table was already published on" in words(again.err)
    audited = run("audit", "one/release", "--table", "moved/others.csv")
    assert "read as the policy in" in words(audited.out)


def test_without_a_writable_home_the_receipt_lies_beside_the_release_and_that_is_told(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SFUMATO_RECEIPTS")
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "people.csv"))
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 0
    assert "lies beside the release" in words(done.err)
    assert (place / "release.receipt.json").is_file()


def test_the_warning_also_finds_receipts_in_the_receipts_directory(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_RECEIPTS", str(place / "receipts"))
    for name in ("one", "two"):
        (place / name).mkdir()
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "one/release").code == 0
    assert "receipts/release.receipt.json" in listing(place)
    again = run("publish", "people.csv", "-p", "p.toml", "-o", "two/release")
    assert "This very table was already published" in words(again.err)
    assert "receipts/release.2.receipt.json" in listing(place)


def test_audit_holds_with_and_without_the_table(place: Path, published: Done, run: Run) -> None:
    alone, full = run("audit", "release"), run("audit", "release", "--table", "people.csv")
    assert (alone.code, full.code) == (0, 0)
    assert "every claim holds" in alone.out
    assert "release.receipt.json says" in words(full.out)
    assert "Exposure" in full.out
    assert "Exposure" not in alone.out


def test_audit_reads_the_table_by_policy_receipt_or_manifest(place: Path, published: Done, run: Run) -> None:
    given = run("audit", "release", "--table", "people.csv", "--policy", "p.toml")
    assert (given.code, "read as p.toml says" in given.out) == (0, True)
    (place / "release.receipt.json").unlink()
    (place / "p.toml").unlink()
    found = run("audit", "release", "--table", "people.csv")
    assert (found.code, "read as the manifest says" in found.out) == (0, True)


def test_a_receipt_of_another_release_is_not_used(place: Path, published: Done, run: Run) -> None:
    path = place / "release.receipt.json"
    document = json.loads(path.read_text())
    document["release"] = {"directory": str(place / "another"), "manifest_sha256": "0" * 64}
    path.write_text(json.dumps(document))
    done = run("audit", "release", "--table", "people.csv")
    assert (done.code, "read as the manifest says" in done.out) == (0, True)


def test_a_manifest_that_is_not_the_one_in_the_receipt_is_a_problem(place: Path, published: Done, run: Run) -> None:
    path = place / "release" / "manifest.json"
    path.write_text(path.read_text().replace('"engineer"', '"reader"').replace("An engineer", "A reader"))
    done = run("audit", "release")
    assert done.code == 1
    assert "Problem the manifest is not the one that was published: release.receipt.json" in words(done.out)
    (place / "release.receipt.json").unlink()
    assert "not the one that was published" not in words(run("audit", "release").out)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("theta  = 2", "theta  = 3", "another requirement than the policy has: theta is 2, the policy says 3"),
        (
            'HIV = "0.2"',
            'HIV = "0.15"',
            "another requirement than the policy has: bounds is {HIV = 1/5}, the policy says {HIV = 3/20}",
        ),
        ("[requirement]", '[requirement]\nagainst = "reader"', "against is engineer, the policy says reader"),
        ("[requirement]", "[method]\nfloor = 40\n[requirement]", "another method than the policy has: floor is 20"),
        (
            "[requirement]",
            '[method]\nname = "multi-size"\n[requirement]',
            "another method than the policy has: name is boxes, the policy says multi-size",
        ),
    ],
)
def test_a_release_made_under_another_policy_is_exit_code_1(
    place: Path, published: Done, run: Run, old: str, new: str, told: str
) -> None:
    assert run("audit", "release", "--policy", "p.toml").code == 0
    (place / "other.toml").write_text(POLICY.replace(old, new))
    done = run("audit", "release", "--policy", "other.toml")
    assert done.code == 1
    assert told in words(done.out)
    assert run("audit", "release", "--policy", "other.toml", "--table", "people.csv").code == 1
    problems = json.loads(run("audit", "release", "--policy", "other.toml", "--json").out)["problems"]
    assert len(problems) == 1


def test_many_problems_are_folded_and_a_broken_claim_gives_its_reason(place: Path, run: Run, published: Done) -> None:
    (place / "release.receipt.json").unlink()

    def change(document: dict[str, Any]) -> None:
        for value in document["values"][0]["values"]:
            value["count"] += 1
            value["bound"] = "1/7"
        document["claims"][0].update(vars(Claim.association("insider")))

    forge(place / "release", change)
    done = run("audit", "release")
    assert done.code == 1
    problems = json.loads(run("audit", "release", "--json").out)["problems"]
    assert len(problems) > 6
    assert done.out.count("Problem") == 5
    assert f"… and {len(problems) - 5} more" in done.out
    assert "this form cannot support such a claim" in words(done.out)


def test_open_values_are_warned_of_once_and_by_name(place: Path, run: Run) -> None:
    (place / "p.toml").write_text(POLICY.replace("HIV =", "Flu = 1\nAsthma = 1\nHIV ="))
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 0
    assert words(done.err) == "warning: 70 % of people have values without a bound and may be shown openly: 'Flu', 'Asthma'"
    told = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "again", "--json").out)
    assert len([warning for warning in told["warnings"] if "without a bound" in warning]) == 1


def test_the_audits_own_warnings_are_printed_by_publish(place: Path, run: Run) -> None:
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--seed", "3")
    assert "warning: the release was made with a seed" in words(done.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "release"],
        ["audit", "release", "--json"],
        ["query", "release", "SELECT COUNT(*) GROUP BY age"],
        ["explain", "people.csv", "-p", "p.toml", "--all"],
        ["policy", "init", "people.csv"],
        ["publish", "people.csv", "-p", "p.toml", "-o", "again"],
        ["--help"],
        ["publish", "--help"],
    ],
)
def test_a_reader_who_goes_away_is_no_failure(place: Path, published: Done, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sfumato", *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert "Broken" not in done.stderr
    assert "Traceback" not in done.stderr
    if "publish" in arguments[0] and "-o" in arguments:
        assert Release.load(place / "again").rows == 200


def test_a_broken_claim_keeps_its_exit_code_when_the_reader_goes_away(place: Path, published: Done) -> None:
    (place / "release" / "extra").write_text("x")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([sys.executable, "-m", "sfumato", "audit", "release"], stdout=writing, check=False)
    finally:
        os.close(writing)
    assert done.returncode == 1


def test_audit_against_another_table_finds_the_difference(place: Path, published: Done, run: Run) -> None:
    (place / "other.csv").write_text(people().replace(",f,Flu", ",m,Flu", 1))
    done = run("audit", "release", "--table", "other.csv")
    assert done.code == 1
    assert "Problem" in done.out


def test_an_edited_release_is_exit_code_1(place: Path, published: Done, run: Run) -> None:
    table = pq.read_table(place / "release" / "st.parquet")
    column = table.column_names.index("count")
    counts = [2 * count for count in table["count"].to_pylist()]
    pq.write_table(table.set_column(column, "count", pa.array(counts, pa.int64())), place / "release" / "st.parquet")
    done = run("audit", "release")
    assert done.code == 1
    assert "sha-256" in done.out
    told = json.loads(run("audit", "release", "--json").out)
    assert told["holds"] is False


def test_a_claim_that_fails_its_own_audit_is_not_published(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.methods.people.require_bounds", lambda *given: None)
    monkeypatch.setattr("sfumato.auditor.claims.bounds_of", lambda requirement, counts, values: dict.fromkeys(values, 0))
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 1
    assert "does not pass its own audit" in done.err
    assert listing(place) == before


def test_a_damaged_manifest_is_bad_input(place: Path, published: Done, run: Run) -> None:
    (place / "release" / "manifest.json").write_text("{")
    assert run("audit", "release").code == 2
    assert run("query", "release", "age > 30").code == 2
    assert run("audit", "nowhere").code == 2


def test_query_prints_an_estimate_with_its_interval(place: Path, run: Run) -> None:
    (place / "p.toml").write_text(POLICY + '[method]\nname = "multi-size"\n')
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    done = run("query", "release", "sex = 'f' AND illness IN ('Flu', 'Asthma')")
    assert done.code == 0
    assert "±" in done.out
    told = json.loads(run("query", "release", "sex = 'f' AND illness IN ('Flu', 'Asthma')", "--json").out)
    assert set(told) == {"value", "std_error", "low", "high", "confidence", "estimator", "note"}
    assert 0 <= told["value"] <= 100


def test_a_question_about_quasi_columns_alone_is_answered_exactly(place: Path, published: Done, run: Run) -> None:
    told = json.loads(run("query", "release", "SELECT COUNT(*) WHERE sex = 'f'", "--json").out)
    assert (told["value"], told["std_error"]) == (100.0, 0.0)


@pytest.mark.parametrize("selected", ["COUNT(*)", "sex, COUNT(*)"])
def test_query_prints_a_table_for_group_by(place: Path, published: Done, run: Run, selected: str) -> None:
    sql = f"SELECT {selected} WHERE illness = 'Flu' GROUP BY sex"
    done = run("query", "release", sql)
    assert done.code == 0
    assert "sex" in done.out.splitlines()[1]
    cells = json.loads(run("query", "release", sql, "--json").out)
    assert [cell["group"] for cell in cells] == [{"sex": "f"}, {"sex": "m"}]
    assert sum(cell["value"] for cell in cells) == pytest.approx(80, abs=1e-6)


@pytest.mark.parametrize("sql", ["agee > 3", "SELECT MAX(age)", "age >", "sex > 3 AND", "", "  "])
def test_a_question_that_is_not_understood_is_bad_input(place: Path, published: Done, run: Run, sql: str) -> None:
    done = run("query", "release", sql)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert run("query", "release", "age > 3", "--confidence", "2").code == 2


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
def test_the_estimator_can_be_chosen(place: Path, run: Run, estimator: str) -> None:
    (place / "p.toml").write_text(POLICY + '[method]\nname = "multi-size"\n')
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    told = json.loads(run("query", "release", "illness = 'Flu' AND sex = 'f'", "--json", "--estimator", estimator).out)
    assert told["estimator"] == estimator


def test_explain_speaks_in_sentences_and_in_json(place: Path, run: Run) -> None:
    done = run("explain", "people.csv", "--policy", "p.toml")
    assert done.code == 0
    assert done.out.startswith("The bounds can be kept")
    # The odds of gout may grow least: 0.5 · 0.8 / (0.5 · 0.2) = 4; those of HIV 4.75-fold
    assert "'Gout': 20 % of people now; a reader may become at most 50 % sure (odds 4 times those before)" in words(done.out)
    told = json.loads(run("explain", "people.csv", "-p", "p.toml", "--json").out)
    bounds = {value["value"]: value["bound"] for value in told["values"]}
    assert bounds == {"HIV": "0.2", "Lupus": "0.2", "Gout": "0.5", "Asthma": "0.7", "Flu": "0.9"}
    assert told["feasible"] is True
    assert listing(place) == {"people.csv", "p.toml"}


def test_explain_begins_with_the_answer_fits_a_screen_and_shows_every_value_on_request(place: Path, run: Run) -> None:
    rows = "\n".join(f"N{i},{20 + i % 60},{'fm'[i % 2]},v{i % 25}" for i in range(200))
    (place / "people.csv").write_text(f"name,age,sex,illness\n{rows}\nN200,99,f,v7\n")
    (place / "p.toml").write_text(POLICY.replace("HIV", "v7"))
    few, every = (run("explain", "people.csv", "-p", "p.toml", *more).out for more in ([], ["--all"]))
    lines = few.splitlines()
    assert lines[0].startswith("The bounds can be kept")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert sum(re.match(r"\s*v\d+ ", line) is not None for line in few.splitlines()) == 0
    assert words(few).index("The bounds can be kept") < words(few).index("Median error") < words(few).index("Promised")
    assert "k: how many people" not in few
    assert "k: how many people" in words(every)
    assert "Every quasi column, and one step coarser; now 0.5 % unique" in words(every)
    assert sum(re.match(r"\s*v\d+ ", line) is not None for line in every.splitlines()) == 25
    assert "exit code is 0" in words(run("explain", "--help").out)


def test_one_person_is_told_in_the_singular(place: Path, run: Run) -> None:
    assert "Wrote 1 made-up person to" in run("sample", "hospital", "--rows", "1", "--out", "one.csv").out


def test_sample_writes_all_visits_of_a_hospital(place: Path, run: Run) -> None:
    visits = run("sample", "hospital", "--encounters", "--rows", "50", "--out", "visits.csv").out
    assert re.search(r"Wrote \d+ visits of 50 made-up people to", visits)
    assert run("sample", "census", "--encounters", "--out", "no.csv").code == 2


@pytest.mark.parametrize(("name", "ending"), [("hospital", "csv"), ("census", "parquet")])
def test_sample_writes_a_table_and_does_not_overwrite(place: Path, run: Run, name: str, ending: str) -> None:
    out = f"made.{ending}"
    assert run("sample", name, "--rows", "50", "--out", out).code == 0
    table = pa.csv.read_csv(place / out) if ending == "csv" else pq.read_table(place / out)
    assert table.num_rows == 50
    again = run("sample", name, "--rows", "50", "--out", out)
    assert (again.code, "exists already" in again.err) == (2, True)


def test_policy_init_prints_or_writes_a_draft(place: Path, run: Run) -> None:
    done = run("policy", "init", "people.csv")
    assert tomllib.loads(done.out)["columns"]["sensitive"] == ["illness"]
    assert run("policy", "init", "people.csv", "--out", "draft.toml").code == 0
    assert (place / "draft.toml").read_text() == done.out
    assert run("policy", "init", "people.csv", "--out", "draft.toml").code == 2
    assert run("policy", "init", "people.csv", "--out", "nowhere/draft.toml").code == 2


def test_policy_init_takes_how_the_file_is_read(place: Path, run: Run) -> None:
    text = people().replace(",", "\t").replace("Gout", "Röteln")
    (place / "people.csv").write_bytes(text.encode("cp1252"))
    for delimiter in ("tab", "\\t", "\t"):
        done = run("policy", "init", "people.csv", "--delimiter", delimiter, "--encoding", "cp1252", "--decimal", ".")
        assert tomllib.loads(done.out)["input"] == {"delimiter": "\t", "decimal": ".", "encoding": "cp1252"}
    assert tomllib.loads(run("policy", "init", "people.csv").out)["input"] == {"encoding": "cp1252"}
    refused = run("policy", "init", "people.csv", "--encoding", "utf-8")
    assert (refused.code, "--encoding" in refused.err) == (2, True)


def test_demo_does_the_whole_job(place: Path, run: Run) -> None:
    done = run("demo", "--rows", "3000")
    assert done.code == 0
    assert {
        f"sfumato-demo/{name}" for name in ("patients.csv", "policy.toml", "release/manifest.json", "release.receipt.json")
    } <= listing(place)
    assert re.search(r"Engineer +the claim holds", done.out)
    for question, _, _ in demo_verb.QUESTIONS:
        assert question.split()[0] in done.out
    for command in demo_verb.WALK:
        assert command.split()[1] in done.out
    assert "already published" not in run("demo", "--rows", "3000").err


def test_demo_counts_the_truth_it_shows(place: Path, run: Run) -> None:
    assert run("demo", "--rows", "3000").code == 0
    from sfumato.policy import Policy

    home = place / "sfumato-demo"
    table = Policy.load(home / "policy.toml").read_table(home / "patients.csv")
    raw = pa.csv.read_csv(home / "patients.csv").to_pylist()
    meets = {
        "ward = 'Cardiology'": lambda row: row["ward"] == "Cardiology",
        "age < 15": lambda row: row["age"] < 15,
        "sex = 'female' AND age >= 60": lambda row: row["sex"] == "female" and row["age"] >= 60,
    }
    for _, condition, values in demo_verb.QUESTIONS:
        expected = sum(meets[condition](row) and row["diagnosis"] in values for row in raw)
        assert demo_verb.true_count(table, condition, values) == expected


def test_demo_replaces_its_own_directory_and_no_other(place: Path, run: Run) -> None:
    (place / "mine").mkdir()
    (place / "mine" / "precious").write_text("x")
    assert demo_verb.fresh_directory(Path("mine")) == Path("mine-2")
    assert (place / "mine" / "precious").read_text() == "x"
    (place / "mine-2" / "old").write_text("x")
    assert demo_verb.fresh_directory(Path("mine")) == Path("mine-2")
    assert listing(place / "mine-2") == {demo_verb.MARKER}


def test_help_and_version_import_nothing_heavy(place: Path) -> None:
    code = (
        "import sys\n"
        "from sfumato.cli.app import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'pyarrow', 'numba', 'scipy', 'sqlglot', 'narwhals', 'pandas', 'polars'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for verb in ("explain", "publish", "audit", "query", "sample", "demo", "policy"):
        assert verb in done.stdout


def test_the_console_script_knows_its_version(run: Run) -> None:
    from importlib.metadata import version

    assert run("--version").out == f"sfumato {version('sfumato')}\n"


def test_the_policy_of_the_tests_is_the_one_they_speak_of() -> None:
    assert tomllib.loads(POLICY)["requirement"] == {"model": "f-privacy", "theta": 2, "offset": "0.1", "bounds": {"HIV": "0.2"}}
