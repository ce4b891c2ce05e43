"""What DuckDB reads: tables of many kinds and many files, by the rules that memory reads them by."""

import os

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.api import publication
from sfumato.errors import InputError
from sfumato.release import files
from sfumato.scale.duckdb import DuckEngine
from sfumato.scale.engine import ResourceLimits
from sfumato.scale.verb import publish_source
from tests.scale._large import (
    ASKED,
    RULES,
    SCHEMA,
    content,
    marked,
    odd_table,
    ruled,
    visits,
)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 1700)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["frame", "parquet", "csv"])
def test_rules_mean_the_same_in_every_engine(rule, kind, tmp_path):
    frame = odd_table()
    schema, asked = ruled(rule, frame)
    source = frame
    if kind == "parquet":
        source = tmp_path / "rows.parquet"
        pq.write_table(frame, source, row_group_size=400)
    elif kind == "csv":
        source = tmp_path / "rows.csv"
        pa_csv.write_csv(frame, source)
    table = sf.Table.from_frame(frame, schema, random=2) if kind == "frame" else sf.Table.read(source, schema, random=2)
    made = publication(table, asked, method=sf.Boxes(floor=30), random=2)
    made.release.save(tmp_path / "memory")
    large = publish_source(
        source, schema, asked, tmp_path / "large", method=sf.Boxes(floor=30), random=2, limits=ResourceLimits(1 << 29, 2, 200),
        fingerprinted=True,
    )  # fmt: skip
    assert content(tmp_path / "memory") == content(tmp_path / "large")
    assert large.fingerprints == (table.fingerprint, table.people_fingerprint)
    assert large.table.dropped == table.dropped
    assert large.table.choice == table.choice


def test_sources_of_many_kinds_give_one_release(people, tmp_path):
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "many").mkdir()
    for k in range(50):
        pq.write_table(people.slice(k * 120, 120), tmp_path / "many" / f"{k}.parquet")
    connection = duckdb.connect()
    sources = {
        "file": tmp_path / "people.parquet",
        "directory": tmp_path / "many",
        "pattern": str(tmp_path / "many" / "*.parquet"),
        "relation": connection.sql(f"SELECT * FROM read_parquet('{tmp_path / 'people.parquet'}')"),
        "lazy": pl.scan_parquet(tmp_path / "people.parquet"),
        "polars": pl.read_parquet(tmp_path / "people.parquet"),
    }
    found = []
    for name, source in sources.items():
        made = sf.publish(source, ASKED, schema=SCHEMA, out=tmp_path / name, engine="duckdb", random=1, memory="512MB")
        assert made.rows == 6000
        found.append(content(tmp_path / name))
    assert all(one == found[0] for one in found)


def test_ten_thousand_small_files_are_one_table(people, tmp_path):
    """Two different rows in turn, so that a file costs one write; DuckDB and the check of schemas meet every one of them."""
    (tmp_path / "many").mkdir()
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    pq.write_table(people.slice(0, 1), first)
    salary = people["salary"].to_pylist()
    pq.write_table(people.slice(next(k for k, one in enumerate(salary) if one // 2 != salary[0] // 2), 1), second)
    for k in range(10_000):
        os.link((first, second)[k % 2], tmp_path / "many" / f"{k:05d}.parquet")
    asked = sf.LDiversity(2, against="reader")
    made = publish_source(tmp_path / "many", SCHEMA, asked, tmp_path / "out", method=sf.Boxes(floor=5000), random=1)
    assert made.rows == 10_000
    assert made.table.sensitive.counts.tolist() == [5000, 5000]


def test_a_file_with_another_schema_is_named(people, tmp_path):
    (tmp_path / "many").mkdir()
    for k in range(3):
        part = people.slice(k * 100, 100)
        if k == 1:
            part = part.set_column(0, "age", part["age"].cast(pa.string()))
        pq.write_table(part, tmp_path / "many" / f"part{k}.parquet")
    with pytest.raises(InputError, match=r"part1\.parquet: the column 'age'"):
        publish_source(tmp_path / "many", SCHEMA, ASKED, tmp_path / "out", random=1)
    assert not (tmp_path / "out").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many"]


def test_somebody_with_several_rows_is_noticed(people, tmp_path):
    several = people.append_column("patient_id", pa.array(np.arange(6000) // 2))
    schema = sf.Schema(
        quasi=list(SCHEMA.quasi), sensitive=["salary"], other=[*SCHEMA.other, "patient_id"], bins=dict(SCHEMA.bins)
    )
    with pytest.raises(InputError, match="key of people"):
        publish_source(several, schema, ASKED, tmp_path / "out", random=1)
    named = sf.Schema(quasi=["age"], sensitive=["salary"], identifier=["patient_id"],
                      other=[name for name in people.column_names if name not in ("age", "salary")],
                      bins=dict(SCHEMA.bins))  # fmt: skip
    with pytest.raises(InputError, match="3,000 people have several rows"):
        publish_source(several, named, ASKED, tmp_path / "out", random=1)


def test_people_are_told_by_the_hashes_that_memory_has(tmp_path):
    frame, schema = visits()
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=300)
    engine = DuckEngine(tmp_path / "rows.parquet", tmp_path, ResourceLimits(1 << 29, 1, 1200))
    engine.outline(schema)
    assert marked(engine.marks()) == marked(sf.Table.from_frame(frame, schema).marks)
    engine.close()
