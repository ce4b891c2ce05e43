"""A path names one file, whatever signs are in it: an engine publishes the people who were named, and no others."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.scale.duck import Duck
from sfumato.scale.verb import audit_directory, publish_source
from tests.scale._large import content

NAMED = [
    "x[1].parquet", "x*.parquet", "x?.parquet", "x[!a].parquet", "x[[]1].parquet", "x{a,b}.parquet", "x,y.parquet",
    "x'y.parquet", 'x"y.parquet', "x\\y.parquet", "x%20y.parquet", "d[1]/x.parquet", "d*/x.parquet", "k=v/x.parquet",
]  # fmt: skip
OTHERS = ["x1.parquet", "xa.parquet", "xb.parquet", "xz.parquet", "x[.parquet", "x.parquet", "d1/x.parquet", "dz/x.parquet"]
SCHEMA = sf.Schema(quasi=["town", "age"], sensitive=["ill"], people={"rows": "people"})
ASKED = sf.BetaLikeness(3)


def crowd(town):
    return pa.table({"town": [town] * 60, "age": [k % 3 for k in range(60)], "ill": [f"ill {k % 5}" for k in range(60)]})


@pytest.fixture
def place(tmp_path):
    for name in OTHERS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(crowd(f"wrong {name}"), tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", NAMED)
def test_duckdb_reads_the_file_that_is_named(name, place):
    (place / name).parent.mkdir(exist_ok=True)
    pq.write_table(crowd("right"), place / name)
    duck = Duck(place / "spill", memory=1 << 28, threads=1)
    assert duck.table(f"SELECT DISTINCT town FROM {duck.scan([place / name])}")["town"].to_pylist() == ["right"]
    duck.close()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_release_and_its_audit_are_of_the_file_that_is_named(ending, tmp_path):
    write = pq.write_table if ending == "parquet" else pa_csv.write_csv
    write(crowd("wrong"), tmp_path / f"x1.{ending}")
    write(crowd("right"), tmp_path / f"x[1].{ending}")
    made = publish_source(tmp_path / f"x[1].{ending}", SCHEMA, ASKED, tmp_path / "it's [1]*", random=1)  # also this name
    assert made.rows == 60
    shown = sf.Release.load(tmp_path / "it's [1]*").tables()
    assert set(next(iter(shown.values()))["town"].to_pylist()) == {"right"}
    audit, table = audit_directory(tmp_path / "it's [1]*", tmp_path / f"x[1].{ending}", SCHEMA)
    assert audit.holds
    assert table.column("town").values.to_pylist() == ["right"]
    other, _ = audit_directory(tmp_path / "it's [1]*", tmp_path / f"x1.{ending}", SCHEMA)
    assert not other.holds


def test_frames_pass_through_a_directory_of_any_name(tmp_path):
    found = []
    for k, source in enumerate([crowd("right"), pl.from_arrow(crowd("right")).lazy(), duckdb.sql("FROM frame")]):
        publish_source(source, SCHEMA, ASKED, tmp_path / f"it's [{k}]*?", random=1)
        found.append(content(tmp_path / f"it's [{k}]*?"))
    assert found[0] == found[1] == found[2]


frame = crowd("right")  # DuckDB finds it by its name


def test_a_path_that_duckdb_cannot_be_given_is_refused_by_its_name(tmp_path):
    pq.write_table(crowd("right"), tmp_path / "x\\*.parquet")
    pq.write_table(crowd("wrong"), tmp_path / "x*.parquet")
    with pytest.raises(InputError, match=r"DuckDB.*path"):
        publish_source(tmp_path / "x\\*.parquet", SCHEMA, ASKED, tmp_path / "out", random=1)
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_not_replaced_by_one_that_its_brackets_match(place):
    with pytest.raises(InputError, match="no such file"):
        publish_source(place / "x[1].parquet", SCHEMA, ASKED, place / "out", random=1)


TWO_OF_ONE_NAME = {
    "arrow": lambda: pa.table([pa.array(["a", "b"])] * 3, names=["town", "ill", "ill"]),
    "pandas": lambda: pd.DataFrame([["a", "b", "c"]] * 2, columns=["town", "ill", "ill"]),
    "duckdb": lambda: duckdb.sql("SELECT 'a' AS town, 'b' AS ill, 'c' AS ill"),
    "case": lambda: pa.table({"town": ["a", "b"], "ill": ["b", "c"], "Ill": ["d", "e"]}),
}


@pytest.mark.parametrize("kind", TWO_OF_ONE_NAME)
def test_two_columns_of_one_name_are_refused_by_duckdb(kind, tmp_path):
    """SQL does not tell upper from lower case: it would publish the first of both twice."""
    named = ["ill_1"] if kind == "duckdb" else ["Ill"] if kind == "case" else []
    schema = sf.Schema(quasi=["town"], sensitive=["ill"], other=named, people={"rows": "people"})
    with pytest.raises(InputError, match=r"columns 2(,| and) 3"):
        publish_source(TWO_OF_ONE_NAME[kind](), schema, ASKED, tmp_path / "out", random=1)


def test_two_spellings_of_one_name_in_files_are_refused_by_duckdb(tmp_path):
    schema = sf.Schema(quasi=["town"], sensitive=["Ill"], other=["ill"], people={"rows": "people"})
    both = TWO_OF_ONE_NAME["case"]()
    pq.write_table(both, tmp_path / "people.parquet")
    pa_csv.write_csv(both, tmp_path / "people.csv")
    for source in (tmp_path / "people.parquet", tmp_path / "people.csv"):
        with pytest.raises(InputError, match="upper and lower case"):
            publish_source(source, schema, ASKED, tmp_path / "out", random=1)


def test_a_declared_secret_of_another_type_in_a_frame_stops_no_engine(tmp_path):
    frame = crowd("right").to_pandas()
    frame["ill"] = [k % 2 for k in range(60)]
    frame["ill"] = frame["ill"].astype(object)
    frame.loc[59, "ill"] = "unknown"
    shares = {"0": "1/2", "1": "1/4", "x": "1/4"}
    schema = sf.Schema(
        quasi=["town", "age"], sensitive=["ill"], people={"rows": "people"}, closed={"values": list(shares), "otherwise": "x"}
    )
    method = sf.SmallDomain(parameters="declared", shares=shares, otherwise="x")
    asked = sf.RhoPrivacy("1/3", "2/3", against="insider")
    made = publish_source(frame, schema, asked, tmp_path / "out", method=method, random=1)
    assert made.rows == 60
    assert made.table.sensitive.domain.labels == sf.Table.from_frame(frame, schema).sensitive.domain.labels
