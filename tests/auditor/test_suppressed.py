"""Suppression excuses nobody but the suppressed."""

import pyarrow as pa

from sfumato import Anatomy, FPrivacy, audit
from tests.makers import people, tells


def test_only_people_with_the_quasi_values_of_somebody_suppressed_may_show_no_value_of_theirs():
    table = people(["x"] * 8 + ["y", "z"] * 2)
    release = Anatomy(l=2, suppress=True).run(table, FPrivacy(offset="3/4", against="reader"), random=1).release
    assert audit(release, table).holds
    there = {row["number"] for row in release.tables()["qit"].to_pylist()}
    truth = table.to_arrow().to_pylist()
    one, two = (next(row["number"] for row in truth if row["number"] in there and row["value"] == value) for value in "yz")
    tables = release.tables()
    qit = tables["qit"].to_pylist()
    bucket = {row["number"]: row["group"] for row in qit}
    for row in qit:
        row["group"] = {one: bucket[two], two: bucket[one]}.get(row["number"], row["group"])
    moved = {**tables, "qit": pa.Table.from_pylist(qit, schema=pa.schema([("number", pa.int64()), ("group", pa.int32())]))}
    report = audit(type(release).from_tables(release.manifest, moved, in_any_order=True), table)
    assert tells(report.problems, "2 people", "no group")
