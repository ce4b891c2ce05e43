"""Spark gives the release that memory gives, also when an executor is killed while it works."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.api import publication
from sfumato.errors import InputError
from sfumato.release import files
from sfumato.scale.engine import ResourceLimits
from sfumato.scale.spark import SparkEngine, frame_of_files
from sfumato.scale.verb import publish_source
from tests.scale._large import (
    ASKED,
    CLOSED,
    EACH,
    ODD,
    RANDOMIZED,
    RULES,
    SCHEMA,
    VALUES,
    content,
    marked,
    odd_table,
    ruled,
    visits,
)
from tests.scale.test_gather import ASKED as GATHERED
from tests.scale.test_gather import HOMES, UNIT, homes
from tests.scale.test_gather import data as gathered_data
from tests.scale.test_gather import schema as gathered_schema
from tests.scale.test_source_names import NAMED, OTHERS, crowd

pyspark = pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sfumato[spark]'")
pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17, which is not found")


@pytest.fixture(scope="module")
def spark():
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(files, "PART_ROWS", 1700)
    monkeypatch.setattr("sfumato.scale.spark._PIECE", 5000)  # codes and hashes come to the driver in several pieces


def written(source, place, **given):
    limits = ResourceLimits(1 << 29, 1, given.pop("shard", 1200))
    return publish_source(source, given.pop("schema", SCHEMA), given.pop("asked", ASKED), place, random=1, limits=limits, **given)


def executors(session):
    """Return the process ids of the executors, found by tasks that run in them."""

    def above(_):
        import pathlib

        found, pid = [], os.getpid()
        while pid > 1:
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
        return found

    return sorted({pid for one in session.sparkContext.parallelize(range(8), 8).map(above).collect() for pid in one})


@pytest.mark.parametrize("against", ["engineer", "reader"])
def test_spark_writes_the_bytes_that_memory_writes(people, spark, tmp_path, against):
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=1000)
    asked = sf.FPrivacy(theta=4, offset="0.02", against=against)
    table = sf.Table.from_frame(people, SCHEMA)
    made = publication(table, asked, method=sf.Boxes(floor=40), random=1)
    made.release.save(tmp_path / "memory")
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(5)
    large = written(frame, tmp_path / "spark", asked=asked, method=sf.Boxes(floor=40), fingerprinted=True)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    assert large.audit.to_dict() == made.audit.to_dict()
    assert large.fingerprints == (table.fingerprint, table.people_fingerprint)


PRESENT = sf.PresenceAssociation("1/4", "1/2")
AS_IN_MEMORY = {
    "ranges": (SCHEMA, ASKED, sf.Boxes(floor=40, form="ranges")),
    "tight ranges": (SCHEMA, sf.FPrivacy(theta=4, offset="0.05", against="reader"), sf.Mondrian(k=20)),
    "near groups": (SCHEMA, sf.LDiversity(4), sf.NearGroups(floor=20)),
    "columns": (ODD, PRESENT, sf.Ambiguity(floor=15)),
    "each": (EACH, sf.FPrivacy(theta=3, offset="0.1"), sf.Boxes(floor=30)),
    "each as ranges": (EACH, sf.FPrivacy(theta=3, offset="0.1"), sf.Boxes(floor=30, form="ranges")),
}
AS_BY_DUCKDB = {
    "near groups in several shards": (SCHEMA, sf.LDiversity(4), sf.NearGroups(floor=20, form="buckets")),
    "multi-size": (SCHEMA, ASKED, sf.MultiSize()),
    "anatomy": (SCHEMA, sf.LDiversity(5), sf.Anatomy()),
    "small-domain": (SCHEMA, sf.RhoPrivacy("1/10", "1/4"), sf.SmallDomain()),
    "declared": RANDOMIZED["declared parts"],
}


@pytest.mark.parametrize("kind", [*AS_IN_MEMORY, *AS_BY_DUCKDB])
def test_every_method_that_scales_gives_the_same_bytes(people, spark, tmp_path, kind):
    """The bytes of memory where coins are drawn by box, those of DuckDB where they are drawn by place."""
    schema, asked, method = {**AS_IN_MEMORY, **AS_BY_DUCKDB}[kind]
    schema = method.close(schema)
    rows = odd_table() if schema.quasi == ODD.quasi else people
    pq.write_table(rows, tmp_path / "people.parquet", row_group_size=700)
    shard = 10_000 if kind == "near groups" else 1500 if rows is people else 400
    if kind in AS_IN_MEMORY:
        sf.publish(sf.Table.from_frame(rows, schema), asked, method=method, random=1).save(tmp_path / "expected")
    else:
        publish_source(
            rows, schema, asked, tmp_path / "expected", method=method, random=1, limits=ResourceLimits(1 << 29, 2, shard)
        )
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(3)
    large = written(frame, tmp_path / "spark", schema=schema, asked=asked, method=method, shard=shard)
    assert content(tmp_path / "expected") == content(tmp_path / "spark")
    assert large.audit.holds


def test_noisy_boxes_are_joined_as_in_memory(people, spark, tmp_path):
    shares = dict.fromkeys(VALUES, "1/50")
    method = sf.NoisyBoxes(shares=shares, otherwise="0", floor=60, merge=True)
    schema, asked = method.close(CLOSED), sf.FPrivacy(theta=8, offset="0.02", against="insider")
    sf.publish(sf.Table.from_frame(people, schema), asked, method=method, random=1).save(tmp_path / "memory")
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=1000)
    frame = spark.read.parquet(str(tmp_path / "people.parquet"))
    made = written(frame, tmp_path / "spark", schema=schema, asked=asked, method=method)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    assert made.private["groups"] < made.private["boxes"]


@pytest.mark.parametrize("rule", ["bands", "quasi by column", "rows without a key are dropped"])
def test_people_with_several_values_are_gathered_as_in_memory(spark, tmp_path, rule):
    declared, rows = gathered_schema(rule), gathered_data(rule)
    table = sf.Table.from_frame(rows, declared, random=1)
    made = publication(table, GATHERED, random=1)
    made.release.save(tmp_path / "memory")
    pq.write_table(rows, tmp_path / "visits.parquet", row_group_size=700)
    frame = spark.read.parquet(str(tmp_path / "visits.parquet")).repartition(3)
    large = written(frame, tmp_path / "spark", schema=declared, asked=GATHERED, fingerprinted=True)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    assert large.audit.to_dict() == made.audit.to_dict()
    assert large.fingerprints == (table.fingerprint, table.people_fingerprint)
    assert large.table.choice == table.choice


def test_households_are_gathered_as_in_memory(spark, tmp_path):
    declared, rows = sf.Schema(**HOMES, unit=UNIT, people={"key": "member"}), homes(several=True)
    table, asked = sf.Table.from_frame(rows, declared, random=1), sf.FPrivacy(theta=6, offset="0.2")
    publication(table, asked, random=1).release.save(tmp_path / "memory")
    pq.write_table(rows, tmp_path / "homes.parquet", row_group_size=300)
    frame = spark.read.parquet(str(tmp_path / "homes.parquet")).repartition(3)
    large = written(frame, tmp_path / "spark", schema=declared, asked=asked, fingerprinted=True)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    assert large.table.choice == table.choice


def test_files_are_read_by_the_session_that_there_is(people, spark, tmp_path):
    (tmp_path / "many").mkdir()
    for k in range(3):
        pq.write_table(people.slice(k * 2000, 2000), tmp_path / "many" / f"{k}.parquet")
    sf.publish(sf.Table.from_frame(people, SCHEMA), ASKED, random=1).save(tmp_path / "memory")
    sf.publish(tmp_path / "many", ASKED, schema=SCHEMA, out=tmp_path / "spark", engine="spark", random=1)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    other = people.set_column(0, "age", people["age"].cast("string"))
    pq.write_table(other.slice(0, 10), tmp_path / "many" / "3.parquet")
    with pytest.raises(InputError, match=r"3\.parquet: the column 'age'"):
        sf.publish(tmp_path / "many", ASKED, schema=SCHEMA, out=tmp_path / "other", engine="spark", random=1)


@pytest.mark.parametrize("rule", RULES)
def test_rules_mean_the_same_in_every_engine(rule, spark, tmp_path):
    frame = odd_table(800)
    schema, asked = ruled(rule, frame)
    table = sf.Table.from_frame(frame, schema, random=1)
    sf.publish(table, asked, method=sf.Boxes(floor=30), random=1).save(tmp_path / "memory")
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=300)
    source = spark.read.parquet(str(tmp_path / "rows.parquet")).repartition(3)
    large = written(source, tmp_path / "spark", schema=schema, asked=asked, method=sf.Boxes(floor=30), shard=150)
    assert content(tmp_path / "memory") == content(tmp_path / "spark")
    assert large.table.dropped == table.dropped
    assert large.table.choice == table.choice
    assert not [one for one in spark.catalog.listTables() if one.name.startswith("sfumato")]


def test_people_are_told_by_the_hashes_that_memory_has(spark, tmp_path):
    frame, schema = visits()
    engine = SparkEngine(spark.createDataFrame(frame), tmp_path, ResourceLimits(1 << 29, 1, 1200))
    engine.outline(schema)
    assert marked(engine.marks()) == marked(sf.Table.from_frame(frame, schema).marks)
    engine.close()


def test_somebody_with_several_rows_is_noticed(people, spark, tmp_path):
    several = people.append_column("patient_id", pa.array(np.arange(people.num_rows) // 2))
    words = {"quasi": list(SCHEMA.quasi), "sensitive": ["salary"], "bins": dict(SCHEMA.bins)}
    with pytest.raises(InputError, match="key of people"):
        written(spark.createDataFrame(several), tmp_path / "out", schema=sf.Schema(other=[*SCHEMA.other, "patient_id"], **words))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_skewed_boxes_and_one_huge_box(spark, tmp_path, form):
    """Nine of ten people have the same quasi values; and nobody may be cut off."""
    coins = np.random.default_rng(1)
    age = np.where(coins.random(3000) < 0.9, 40, coins.integers(20, 80, 3000))
    frame = pa.table({"age": age, "sex": coins.choice(["f", "m"], 3000), "ill": coins.choice(list("abcdefgh"), 3000)})
    schema = sf.Schema(quasi=["age", "sex"], sensitive=["ill"], people={"rows": "people"})
    for floor in (20, 2000):
        method = sf.Boxes(floor=floor, form=form)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sf.errors.OneBox)
            made = sf.publish(sf.Table.from_frame(frame, schema), sf.LDiversity(4), method=method, random=1)
        made.save(tmp_path / f"memory{floor}")
        place = tmp_path / f"spark{floor}"
        written(spark.createDataFrame(frame), place, schema=schema, asked=sf.LDiversity(4), method=method, shard=200)
        assert content(tmp_path / f"memory{floor}") == content(place)


@pytest.mark.parametrize("method", [sf.Boxes(floor=40), sf.Boxes(floor=40, form="ranges"), sf.MultiSize()])
def test_a_killed_executor_changes_nothing(people, spark, tmp_path, method):
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=500)
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(6)
    written(frame, tmp_path / "quiet", method=method)
    victims = executors(spark)
    assert victims
    killed = []

    def kill():
        os.kill(victims[0], signal.SIGKILL)
        killed.append(time.monotonic())

    def heard(stage, done):
        if stage in ("cutting quasi space", "assigning people to groups") and done >= 0.35 and not killed:
            killer = threading.Thread(target=kill)
            killer.start()
            killer.join()

    written(frame, tmp_path / "killed", method=method, progress=heard)
    assert killed
    assert victims[0] not in executors(spark)
    assert content(tmp_path / "quiet") == content(tmp_path / "killed")


def test_a_killed_job_leaves_nothing_that_loads(people, tmp_path):
    """A driver of its own, which dies by its own hand while it audits what its executors made."""
    pq.write_table(people, tmp_path / "people.parquet")
    code = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from pyspark.sql import SparkSession\n"
        "import sfumato.scale.counted as counted\n"
        "from tests.scale._large import ASKED, SCHEMA\n"
        "from sfumato.scale.verb import publish_source\n"
        "given = {'spark.driver.host': '127.0.0.1', 'spark.driver.bindAddress': '127.0.0.1', 'spark.ui.enabled': 'false'}\n"
        "SparkSession.builder.master('local[1]').config(map=given).getOrCreate()\n"
        "counted.audit_parts = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"publish_source(Path({str(tmp_path / 'people.parquet')!r}), SCHEMA, ASKED, Path({str(tmp_path / 'out')!r}), random=1,\n"
        "               engine='spark')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.returncode == -9
    assert not (tmp_path / "out").exists()
    publish_source(tmp_path / "people.parquet", SCHEMA, ASKED, tmp_path / "out", random=1)
    assert not list(tmp_path.glob(".out.*.partial"))


def test_spark_reads_the_files_that_are_named(spark, tmp_path):
    for name in OTHERS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(crowd(f"wrong {name}"), tmp_path / name)
    for name in NAMED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(crowd("right"), tmp_path / name)
        assert {row["town"] for row in frame_of_files(tmp_path / name).select("town").distinct().collect()} == {"right"}, name
    pq.write_table(crowd("left out"), tmp_path / "_x.parquet")
    for wrong in (tmp_path / "_x.parquet", [tmp_path / "_x.parquet", tmp_path / "x1.parquet"]):
        with pytest.raises(InputError, match=r"other files|cannot read"):
            frame_of_files(wrong)


def test_two_spellings_of_one_name_are_refused_by_spark(spark, tmp_path):
    both = pa.table({"town": ["a", "b"], "ill": ["b", "c"], "Ill": ["d", "e"]})
    pq.write_table(both, tmp_path / "people.parquet")
    schema = sf.Schema(quasi=["town"], sensitive=["Ill"], other=["ill"], people={"rows": "people"})
    for source in (tmp_path / "people.parquet", spark.createDataFrame(both)):
        with pytest.raises(InputError, match="upper and lower case"):
            publish_source(source, schema, ASKED, tmp_path / "out", engine="spark", random=1)
