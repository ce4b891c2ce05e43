"""The verbs, end to end: what they print, what they write, and their exit codes."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sfumato.auditor import audit_release
from sfumato.cli import demo as demo_verb
from sfumato.release import Release
from tests.cli.conftest import POLICY, Done, Run, listing, people


def words(text: str) -> str:
    """Return text without line breaks and runs of blanks."""
    return " ".join(text.split())


@pytest.fixture
def published(place: Path, run: Run) -> Done:
    done = run("publish", "people.csv", "--policy", "p.toml", "--out", "release")
    assert done.code == 0
    return done


def test_publish_writes_a_release_and_a_private_receipt_beside_it(place: Path, published: Done) -> None:
    assert listing(place) == {
        "people.csv",
        "p.toml",
        "release",
        "release/manifest.json",
        "release/qit.parquet",
        "release/st.parquet",
        "release.receipt.json",
    }
    assert Release.load(place / "release").rows == 200
    assert stat.S_IMODE((place / "release.receipt.json").stat().st_mode) == 0o600
    assert "Published 200 people to release" in published.out
    assert "Claim against an engineer: holds" in published.out
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
    for name, seed in (("a", ["--seed", "1"]), ("b", ["--seed", "1"]), ("c", []), ("d", [])):
        assert run("publish", "people.csv", "-p", "p.toml", "-o", name, *seed).code == 0
    rows = {name: pq.read_table(place / name / "qit.parquet").to_pydict() for name in "abcd"}
    assert rows["a"] == rows["b"]
    assert rows["c"] != rows["d"]


def test_a_second_release_of_the_same_table_is_warned_of(place: Path, published: Done, run: Run) -> None:
    again = run("publish", "people.csv", "-p", "p.toml", "-o", "again")
    assert again.code == 0
    assert "This very table was already published" in words(again.err)
    assert "no claim covers that" in words(again.err)
    told = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "third", "--json").out)
    assert len([warning for warning in told["warnings"] if "This very table" in warning]) == 2


def test_the_warning_also_finds_receipts_in_the_receipts_directory(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_RECEIPTS", str(place / "receipts"))
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
    document["release"]["manifest_sha256"] = "0" * 64
    path.write_text(json.dumps(document))
    assert "read as the manifest says" in run("audit", "release", "--table", "people.csv").out


def test_audit_against_another_table_finds_the_difference(place: Path, published: Done, run: Run) -> None:
    (place / "other.csv").write_text(people().replace(",f,Flu", ",m,Flu", 1))
    done = run("audit", "release", "--table", "other.csv")
    assert done.code == 1
    assert "problem:" in done.out


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
    monkeypatch.setattr("sfumato.groups.grouping.require_bounds", lambda *given: None)
    monkeypatch.setattr("sfumato.methods.buckets.require_bounds", lambda *given: None)
    monkeypatch.setattr("sfumato.auditor.buckets.bounds_of", lambda requirement, shares, values: dict.fromkeys(values, 0))
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


def test_query_prints_an_estimate_with_its_interval(place: Path, published: Done, run: Run) -> None:
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


@pytest.mark.parametrize("sql", ["agee > 3", "SELECT SUM(age)", "age >", "sex > 3 AND"])
def test_a_question_that_is_not_understood_is_bad_input(place: Path, published: Done, run: Run, sql: str) -> None:
    done = run("query", "release", sql)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert run("query", "release", "age > 3", "--confidence", "2").code == 2


@pytest.mark.parametrize("estimator", ["paper", "likelihood", "em"])
def test_the_estimator_can_be_chosen(place: Path, published: Done, run: Run, estimator: str) -> None:
    told = json.loads(run("query", "release", "illness = 'Flu' AND sex = 'f'", "--json", "--estimator", estimator).out)
    assert told["estimator"] == estimator


def test_explain_speaks_in_sentences_and_in_json(place: Path, run: Run) -> None:
    done = run("explain", "people.csv", "--policy", "p.toml")
    assert done.code == 0
    assert "HIV: 5 % of people now; a reader may become at most 20 % sure (4 times as sure as before)" in words(done.out)
    told = json.loads(run("explain", "people.csv", "-p", "p.toml", "--json").out)
    bounds = {value["value"]: value["bound"] for value in told["values"]}
    assert bounds == {"HIV": "0.2", "Lupus": "0.2", "Gout": "0.5", "Asthma": "0.7", "Flu": "0.9"}
    assert told["feasible"] is True
    assert listing(place) == {"people.csv", "p.toml"}


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


def test_demo_does_the_whole_job(place: Path, run: Run) -> None:
    done = run("demo", "--rows", "3000")
    assert done.code == 0
    assert {
        f"sfumato-demo/{name}" for name in ("patients.csv", "policy.toml", "release/manifest.json", "release.receipt.json")
    } <= listing(place)
    assert "Claim against an engineer: holds" in done.out
    for question, _, _ in demo_verb.QUESTIONS:
        assert question.split()[0] in done.out
    manifest = Release.load(place / "sfumato-demo" / "release").manifest
    bounds = {value["value"]: value["bound"] for value in manifest.values or ()}
    assert (bounds["HIV"], bounds["Flu"]) == ("3/100", "1")


def test_demo_counts_the_truth_it_shows(place: Path, run: Run) -> None:
    assert run("demo", "--rows", "3000").code == 0
    from sfumato.policy import Policy

    home = place / "sfumato-demo"
    table = Policy.load(home / "policy.toml").read(home / "patients.csv")
    raw = pa.csv.read_csv(home / "patients.csv").to_pylist()
    of_age = {"age >= 65": (65, 200), "sex = 'female' AND age BETWEEN 20 AND 44": (20, 44), "age < 15": (0, 14)}
    for _, condition, values in demo_verb.QUESTIONS:
        low, high = of_age[condition]
        expected = sum(
            low <= row["age"] <= high and row["diagnosis"] in values and ("female" not in condition or row["sex"] == "female")
            for row in raw
        )
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
