"""`publish` and `audit` by an engine, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run

ROWS = '\n[people]\nrows = "people"\n'


@pytest.fixture
def many(place: Path) -> Path:
    """The people in three Parquet files."""
    table = csv.read_csv(place / "people.csv")
    (place / "many").mkdir()
    for k in range(3):
        pq.write_table(table.slice(k * 70, 70), place / "many" / f"{k}.parquet")
    (place / "p.toml").write_text((place / "p.toml").read_text() + ROWS)
    return place / "many"


def test_an_engine_publishes_and_audits_what_memory_does(place: Path, many: Path, run: Run) -> None:
    pq.write_table(pq.read_table(many), place / "people.parquet")
    assert run("publish", "many", "--policy", "p.toml", "--out", "large", "--seed", "1", "--engine", "duckdb").code == 0
    assert run("publish", "people.parquet", "--policy", "p.toml", "--out", "small", "--seed", "1").code == 0
    for file in ("manifest.json", "qit.parquet", "st.parquet"):
        assert (place / "large" / file).read_bytes() == (place / "small" / file).read_bytes()
    large = run("audit", "large", "--table", "many", "--engine", "duckdb", "--json")
    small = run("audit", "small", "--table", "people.parquet", "--json")
    assert large.code == small.code == 0
    assert json.loads(large.out) == json.loads(small.out)
    told = run("audit", "large", "--table", "many")  # a directory is read by an engine without being asked
    assert "every claim holds" in told.out
    assert json.loads(run("audit", "large", "--table", "many", "--json").out) == json.loads(large.out)


def test_a_table_of_other_people_is_found_by_an_engine(place: Path, many: Path, run: Run) -> None:
    assert run("publish", "many", "--policy", "p.toml", "--out", "large", "--seed", "1").code == 0
    other = pq.read_table(many / "0.parquet")
    pq.write_table(other.set_column(1, "age", other["age"].take([*range(1, 70), 0])), many / "0.parquet")
    found = run("audit", "large", "--table", "many")
    assert found.code == 1
    assert "not rows of" in found.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--engine", "duckdb", "--links", "people.csv"), "are read in memory"),
        (("--memory", "4GB"), "--memory: it limits what an engine uses"),
        (("--engine", "duckdb", "--memory", "much"), "no amount of memory"),
    ],
)
def test_what_does_not_go_together_is_said(many: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    assert run("publish", "many", "--policy", "p.toml", "--out", "large", "--seed", "1").code == 0
    found = run("audit", "large", "--table", "many/0.parquet", *words)
    assert found.code == 2
    assert said in found.err


def test_spark_reads_parquet_files_only(place: Path, run: Run) -> None:
    (place / "p.toml").write_text((place / "p.toml").read_text() + ROWS)
    found = run("publish", "people.csv", "--policy", "p.toml", "--out", "large", "--engine", "spark")
    assert found.code == 2
    assert "Spark engine reads Parquet" in found.err
    assert not (place / "large").exists()
