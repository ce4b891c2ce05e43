"""Releases of people with several values: what nobody could have is refused when they are read, and found by the audit."""

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import FormatError
from sfumato.release.buckets import BucketsRelease
from tests.makers import encounters, visits
from tests.methods.test_bundles import asked


@pytest.fixture(scope="module")
def release():
    return sf.publish(visits(), asked(), seed=1)


def changed(release, name, place=0, **values):
    """Return the tables with other values in one row of one of them."""
    tables = dict(release.tables())
    listed = tables[name].to_pylist()
    listed[place] |= values
    tables[name] = pa.Table.from_pylist(listed, schema=tables[name].schema)
    return tables


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("st", {"count": 100_000}, "have a value than"),
        ("numbers", {"count": 100_000}, "those of the groups"),
        ("numbers", {"values": -1}, "numbers of values"),
        ("numbers", {"values": 60}, "another number of facts"),
        ("numbers", {"secret": "income"}, "nothing else"),
        ("sets", {"count": 100_000}, "one of a set"),
        ("sets", {"set": "high"}, "other sets than"),
        ("sets", {"group": 100_000}, "numbered 1, 2, …"),
    ],
)
def test_what_nobody_could_have_is_refused(release, name, values, said):
    with pytest.raises(FormatError, match=said):
        BucketsRelease.from_tables(release.manifest, changed(release, name, **values), in_any_order=True)


def test_counts_of_one_more_fact_are_refused(release):
    row = release.tables()["st"].to_pylist()[0]
    with pytest.raises(FormatError, match="another number of facts"):
        BucketsRelease.from_tables(release.manifest, changed(release, "st", count=row["count"] - 1))


def test_tables_are_those_of_the_manifest(release):
    tables = {name: one for name, one in release.tables().items() if name != "numbers"}
    with pytest.raises(FormatError, match="has the tables"):
        BucketsRelease.from_tables(release.manifest, tables)


def test_a_manifest_of_another_method_or_without_secrets_contradicts(release):
    schema = {**release.manifest.schema, "declared": {**release.manifest.schema["declared"]}}
    del schema["declared"]["secrets"]
    other = replace(release.manifest, method={**release.manifest.method, "name": "mondrian"})
    assert any("rule bundles" in fault for fault in replace(release, manifest=other).contradictions())
    from sfumato.release.consistent import inconsistencies

    assert any("rule bundles" in fault for fault in inconsistencies(replace(release.manifest, schema=schema)))


def test_of_one_secret_there_are_its_own_values_sets_and_numbers(release):
    one = release.of("diagnosis")
    assert set(one.tables()) == {"qit", "st", "groups", "sets", "numbers"}
    assert one.tables()["st"].column_names == ["group", "diagnosis", "count"]
    assert set(one.tables()["numbers"]["secret"].to_pylist()) == {"diagnosis"}
    assert set(release.of("ward").tables()) == {"qit", "st", "groups", "numbers"}


def moved(frame, **cells):
    """Return the encounters with other values in the first row of a patient."""
    row = 0
    for name, value in cells.items():
        listed = frame[name].to_pylist()
        listed[row] = value
        frame = frame.set_column(frame.column_names.index(name), name, pa.array(listed, frame[name].type))
    return frame


def test_an_audit_with_the_table_finds_other_people_and_other_values(release):
    right = sf.audit(release, visits())
    assert right.holds
    assert not right.problems
    frame = encounters()
    had = {frame[name][0].as_py() for name in ("diag_1", "diag_2", "diag_3")}
    other = next(value for value in (f"i{k}" for k in range(9)) if value not in had)
    wrong = sf.audit(release, visits(moved(frame, diag_1=other)))
    assert wrong.holds is not True or wrong.problems
    assert any("counts of st" in one or "does not show" in one for one in wrong.problems)
    older = sf.audit(release, visits(moved(frame, age=111)))
    assert any("not rows of the table" in one or "are not published" in one for one in older.problems)


def test_an_audit_finds_groups_that_mix_bands(release):
    band = next(column for column in release.quasi if column.name == "rows")
    codes = band.codes.copy()
    place = int((codes == 0).nonzero()[0][0])
    codes[place] = 1
    quasi = tuple(replace(column, codes=codes) if column is band else column for column in release.quasi)
    audit = sf.audit(replace(release, quasi=quasi).canonical())
    assert any("different bands" in one for one in audit.problems)


def test_an_audit_finds_accounts_and_counts_that_no_coins_lead_to(release):
    tables = changed(release, "groups", account=1)
    from sfumato.auditor.audit import audit_tables

    found = audit_tables(release.manifest, tables)
    assert found.holds is False or found.problems


def test_the_audit_judges_sets_by_their_own_counts(release):
    """Where sets were added up from their values the claim would fail: people with two of them are counted once."""
    audit = sf.audit(release)
    assert audit.holds
    held, part = release.held, release.of("diagnosis")
    low = [part.labels.index(value) for value in ("i0", "i1", "i2")]
    added = sum(int(part.st_count[part.st_value == k].sum()) for k in low)
    assert added > held.set_count.sum() == release.manifest.sets[0]["count"]
