"""`sfumato complete` and `sfumato query --duckdb`: files that ordinary tools open."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.release import Release
from tests.cli.conftest import POLICY, Run, people
from tests.makers import encounters, visits


@pytest.fixture
def release(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_CACHE", str(place / "cache"))
    (place / "people.csv").write_text(people(3000))
    (place / "boxes.toml").write_text(POLICY.replace('HIV = "0.2"', 'HIV = "0.5"') + '[method]\nname = "boxes"\nfloor = 40\n')
    assert run("publish", "people.csv", "-p", "boxes.toml", "-o", "release", "--seed", "1").code == 0
    return place / "release"


def test_completed_tables_are_written_and_can_be_repeated(place: Path, release: Path, run: Run) -> None:
    done = run("complete", "release", "--tables", "2", "--out", "done", "--seed", "4")
    assert done.code == 0
    assert "2 completed tables of 3,000 people" in done.out
    assert sorted(path.name for path in (place / "done").iterdir()) == ["completed-01.parquet", "completed-02.parquet"]
    first = pq.read_table(place / "done" / "completed-01.parquet")
    assert first.column_names == ["age", "sex", "illness"]
    assert first["illness"].to_pylist().count("HIV") == 150
    assert run("complete", "release", "-m", "1", "-o", "csv", "--format", "csv", "--seed", "4").code == 0
    assert (place / "csv" / "completed-01.csv").read_text().count("HIV") == 150
    assert run("complete", "release", "-m", "1", "-o", "again", "--seed", "4").code == 0
    assert pq.read_table(place / "again" / "completed-01.parquet").equals(first)


def test_a_directory_is_not_called_like_a_file(place: Path, release: Path, run: Run) -> None:
    for tables in ("1", "3"):
        done = run("complete", "release", "-m", tables, "-o", "comp.csv")
        assert done.code == 2
        assert "called like a file" in done.err
        assert not (place / "comp.csv").exists()


def test_wrong_numbers_and_directories_that_exist_are_refused(place: Path, release: Path, run: Run) -> None:
    done = run("complete", "release", "--tables", "0", "--out", "done")
    assert done.code == 2
    assert "--tables: expected a whole number" in done.err
    done = run("complete", "release", "--out", "release")
    assert done.code == 2
    assert "exists already" in done.err
    assert not (place / "done").exists()


def test_a_database_has_the_published_tables_the_completed_ones_and_macros(place: Path, release: Path, run: Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    assert run("query", "release", "--duckdb", "r.duckdb").code == 0
    with duckdb.connect(str(place / "r.duckdb"), read_only=True) as database:
        assert database.execute("SELECT count(*) FROM qit").fetchone() == (3000,)
        assert database.execute("SELECT sum(count) FROM st WHERE illness = 'HIV'").fetchone() == (150,)
        assert database.execute("SELECT count(DISTINCT imputation), count(*) FROM completed").fetchone() == (10, 30_000)
        counts = database.execute(
            "SELECT count(*) FROM completed WHERE sex = 'f' AND illness = 'Flu' GROUP BY imputation"
        ).fetchall()
        mean = sum(n for (n,) in counts) / 10
        asked = "SELECT weighted_count(weight) FROM completed WHERE sex = 'f' AND illness = 'Flu'"
        assert database.execute(asked).fetchone()[0] == pytest.approx(mean)
        count, error, low, high = database.execute("FROM count_where('sex = ''f'' AND illness = ''Flu''')").fetchone()
        assert count == pytest.approx(mean)
        assert error**2 == pytest.approx(1.1 * sum((n - mean) ** 2 for (n,) in counts) / 9)
        assert (low, high) == pytest.approx((count - 2.262157 * error, count + 2.262157 * error), abs=1e-4)  # t of 9 degrees
        assert database.execute("SELECT count(*) FROM completed_10").fetchone() == (3000,)
        asked = "SELECT sum(count), max(high) FROM cross_sex_illness WHERE sex = 'f' AND illness = 'Flu'"
        total, most = database.execute(asked).fetchone()
        told = Release.load("release").crosstab("sex", "illness").counts[0][1]
        assert (total, most) == pytest.approx((told.value, told.high))
        told = database.execute("SELECT table_name, comment FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
        assert {name for name, comment in told if comment} == {
            "counts_age", "counts_sex", "counts_illness", "cross_age_illness", "cross_sex_illness", "cross_age_sex"
        }  # fmt: skip
    again = run("query", "release", "--duckdb", "r.duckdb")
    assert again.code == 2
    assert "exists already" in again.err
    both = run("query", "release", "sex = 'f'", "--duckdb", "other.duckdb")
    assert both.code == 2
    assert "there is a question too" in both.err


def test_a_release_that_cannot_be_completed_has_its_published_tables_in_the_database(place: Path, run: Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    (place / "blind.toml").write_text(POLICY + '[method]\nname = "multi-size"\n')
    assert run("publish", "people.csv", "-p", "blind.toml", "-o", "blind", "--seed", "1").code == 0
    done = run("query", "blind", "--duckdb", "r.duckdb")
    assert done.code == 0
    assert "published tables and counts only" in done.err.replace("\n", " ")
    with duckdb.connect(str(place / "r.duckdb"), read_only=True) as database:
        assert database.execute("SELECT count(*) FROM qit").fetchone() == (200,)
    refused = run("complete", "blind", "--out", "done")
    assert refused.code == 2
    assert "cannot be completed" in refused.err


FULL = """
import resource, signal, sys
from sfumato.errors import OutputError
from sfumato.query.complete import Completion
from sfumato.query.database import write_database
from sfumato.release import Release
release = Release.load("release")
Completion.of(release).tell()  # what is compiled is kept in files too
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
try:
    write_database(release, "r.duckdb", random=1)
except OutputError as error:
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize("room", [100, 100_000])
def test_a_database_that_the_disk_has_no_room_for_is_refused_and_leaves_nothing(place: Path, release: Path, room: int) -> None:
    pytest.importorskip("duckdb")
    done = subprocess.run([sys.executable, "-c", FULL, str(room)], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert not list(place.glob("*.duckdb*"))


def test_a_database_may_have_any_name_but_that_of_its_schema(place: Path, release: Path, run: Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    for name in ("md:r.duckdb", "it's [1]*.duckdb", "temp.duckdb", "main.duckdb"):
        assert run("query", "release", "--duckdb", name).code == 0
        with duckdb.connect(str(place / name), read_only=True) as database:
            assert database.execute("SELECT count(*) FROM completed_1").fetchone() == (3000,)
    refused = run("query", "release", "--duckdb", "stored.duckdb")
    assert refused.code == 2
    assert "a schema inside" in refused.err


def test_people_with_several_values_are_completed_long_or_wide_and_rows_of_a_table_overlap(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_CACHE", str(place / "cache"))
    table = visits(encounters(1200, seed=4), secrets={"diagnosis": ["diag_1", "diag_2", "diag_3"]}, other=["day", "ward"])
    sf.publish(table, sf.FPrivacy(theta=2, offset="0.3"), seed=1).save(place / "visits")
    done = run("complete", "visits", "-m", "1", "-o", "long", "--shape", "long", "--seed", "4")
    assert done.code == 0
    assert "which values one person has together is not published" in done.err
    long = pq.read_table(place / "long" / "completed-01.parquet")
    assert long.column_names == ["person", "age", "sex", "rows", "diagnosis"]
    assert run("complete", "visits", "-m", "1", "-o", "wide", "--seed", "4").code == 0
    wide = pq.read_table(place / "wide" / "completed-01.parquet")
    assert sum(wide["diagnosis = i3"].to_pylist()) == long["diagnosis"].to_pylist().count("i3")
    asked = run("query", "visits", "SELECT diagnosis, COUNT(*) GROUP BY diagnosis", "--json")
    assert asked.out.count("the rows overlap") == 9
    refused = run("query", "visits", "diagnosis <> 'i3'")
    assert refused.code == 2
    assert "NOT diagnosis = …" in refused.err


def test_one_value_a_person_has_no_other_shape(release: Path, run: Run) -> None:
    done = run("complete", "release", "-m", "1", "-o", "long", "--shape", "long")
    assert done.code == 2
    assert "only for releases with several values of a secret" in " ".join(done.err.split())
