import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import Anatomy, Decoys, FPrivacy, LDiversity, MultiSize, Schema, Table, publish
from tests.makers import people, skewed

BLIND = MultiSize()


def test_parquet_files_carry_no_metadata_of_pandas_or_arrow(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"age": [1, 2, 3, 4], "value": list("abab")}, index=[9, 8, 7, 6])
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["value"]))
    publish(table, LDiversity(2)).save(tmp_path / "release")
    for path in (tmp_path / "release").glob("*.parquet"):
        assert pq.read_metadata(path).metadata is None
        assert b"pandas" not in path.read_bytes()
        assert "__index_level_0__" not in pq.read_schema(path).names


def test_suppressed_people_leave_no_trace_in_dictionaries(tmp_path):
    # Twenty people with "often" and quasi values of their own; most are suppressed.
    values = ["often"] * 20 + list("abcd")
    table = people(values, town=[f"town{k}" for k in range(24)])
    release = Anatomy(l=3, suppress=True).run(table, FPrivacy(offset="6/7", against="reader"), random=2).release
    release.save(tmp_path / "release")
    published = set(release.tables()["qit"]["town"].to_pylist())
    assert len(published) == release.rows < 24
    stored = pq.read_table(tmp_path / "release" / "qit.parquet", read_dictionary=["town"])["town"].combine_chunks()
    assert set(stored.dictionary.to_pylist()) == published
    assert all(f'"town{k}"' not in (tmp_path / "release" / "manifest.json").read_text() for k in range(24))


def test_the_manifest_shows_bounds_only_where_the_tables_show_the_counts():
    table = people(list("aabbccdd") * 4)
    assert len(publish(table, LDiversity(2)).manifest.values) == 4
    assert publish(table, LDiversity(2), method=Decoys(decoys=1)).manifest.values is None
    frequent = people(["x"] * 9 + list("abcd") * 2)
    suppressed = Anatomy(l=2, suppress=True).run(frequent, FPrivacy(offset="3/4", against="reader")).release
    assert suppressed.manifest.values is None


def test_identifiers_and_other_columns_are_nowhere(tmp_path):
    frame = pa.table(
        {"kartei": [f"ana-{k}" for k in range(8)], "age": list(range(8)), "memo": ["hush"] * 8, "value": list("abababab")}
    )
    table = Table.from_frame(frame, Schema(identifier=["kartei"], quasi=["age"], sensitive=["value"], other=["memo"]))
    publish(table, LDiversity(2), random=31_415).save(tmp_path / "release")
    content = b"".join(path.read_bytes() for path in (tmp_path / "release").iterdir())
    for secret in (b"ana-", b"hush", b"memo", b"kartei", b"31415", str(tmp_path).encode()):
        assert secret not in content


def test_st_is_in_an_order_that_follows_from_its_content():
    release = publish(people([f"v{k % 4}" for k in range(400)]), LDiversity(4))
    st = release.tables()["st"].to_pylist()
    assert st == sorted(st, key=lambda row: (row["group"], row["value"]))


def test_rows_stand_by_bucket_and_quasi_values_and_buckets_by_what_they_show():
    tables = publish(people([f"v{k % 4}" for k in range(400)]), LDiversity(4), method=BLIND).tables()
    names = {"qit": ("group", "number"), "st": ("group", "value", "count")}
    listed = {name: [tuple(row[key] for key in keys) for row in tables[name].to_pylist()] for name, keys in names.items()}
    assert all(rows == sorted(rows) for rows in listed.values())
    shown = [[[row[1:] for row in rows if row[0] == bucket] for rows in listed.values()] for bucket in range(1, 101)]
    assert shown == sorted(shown)


def test_two_runs_without_a_seed_differ_in_who_shares_a_bucket():
    table = people([f"v{k % 4}" for k in range(400)])
    one, two = publish(table, LDiversity(4), method=BLIND), publish(table, LDiversity(4), method=BLIND)
    mates = [frozenset(np.asarray(r.tables()["qit"]["number"])[r.group == r.group[0]].tolist()) for r in (one, two)]
    assert all(0 in people_of for people_of in mates)
    assert mates[0] != mates[1]


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_same_people_and_seed_give_the_same_bytes_in_whatever_order_they_come(tmp_path, format):
    table = skewed(300)
    by_value = np.argsort(table.sensitive.codes, kind="stable")
    orders = [np.arange(300), by_value, by_value[::-1], np.random.default_rng(1).permutation(300)]
    contents = set()
    for k, order in enumerate(orders):
        publish(table.take(order), LDiversity(2), random=8).save(tmp_path / str(k), format=format)
        contents.add(tuple(path.read_bytes() for path in sorted((tmp_path / str(k)).iterdir())))
    assert len(contents) == 1
