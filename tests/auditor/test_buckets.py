"""The audit must find what is planted."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import Anatomy, Buckets, FPrivacy, LDiversity, Schema, Table, audit, publish
from sfumato.auditor.buckets import audit_buckets
from sfumato.release.files import sha256
from tests.makers import people, skewed

REQUIREMENT = FPrivacy(theta=3, offset="0.05")
BLIND = Buckets(locality="none")


@pytest.fixture(scope="module")
def table():
    return skewed()


@pytest.fixture
def saved(tmp_path, table):
    publish(table, REQUIREMENT, method=BLIND, random=1).save(tmp_path / "release")
    return tmp_path / "release"


def rewrite(directory, name, change, honest_hash=True):
    """Change a published table and, like a careful forger, its facts in the manifest too."""
    path = directory / f"{name}.parquet"
    rows = pq.read_table(path).to_pylist()
    rows = change(rows) or rows
    pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path, store_schema=False)
    if honest_hash:
        document = json.loads((directory / "manifest.json").read_text())
        document["tables"][name].update(sha256=sha256(path), rows=len(rows))
        (directory / "manifest.json").write_text(json.dumps(document))


def test_an_untouched_release_holds_with_and_without_the_table(saved, table):
    for report in (audit(saved), audit(saved, table)):
        assert report.holds is True
        assert report.problems == ()
        assert report.claims[0].adversary == "engineer"
        assert report.claims[0].worst <= report.claims[0].bound


def test_the_worst_belief_is_the_one_found_by_hand(saved, table):
    result = audit(saved).claims[0]
    tables = {name: pq.read_table(saved / f"{name}.parquet").to_pylist() for name in ("qit", "st")}
    sizes: dict[int, int] = {}
    for row in tables["qit"]:
        sizes[row["bucket"]] = sizes.get(row["bucket"], 0) + 1
    limits = dict(zip(table.sensitive.labels, REQUIREMENT.bounds(table.sensitive.histogram()).limits, strict=True))
    bounded = [row for row in tables["st"] if limits[row["value"]] < 1]
    excess = max(Fraction(row["count"], sizes[row["bucket"]]) - limits[row["value"]] for row in bounded)
    assert result.worst - result.bound == excess
    assert limits[result.value] == result.bound


def test_the_worst_belief_is_one_that_is_bounded_where_any_is():
    table = people(["flu"] * 4 + ["a", "b", "c", "d"])
    result = audit(publish(table, FPrivacy(offset="1/4", bounds={"flu": 1}), random=1), table).claims[0]
    assert result.value != "flu"
    assert (result.worst, result.bound) == (Fraction(1, 4), Fraction(1, 4))


def test_a_record_moved_between_buckets_is_found(saved):
    def move(rows):
        rows[0]["bucket"] = next(row["bucket"] for row in rows if row["bucket"] != rows[0]["bucket"])

    rewrite(saved, "qit", move)
    report = audit(saved)
    assert report.holds is False
    assert "2 buckets show another number of sensitive values" in report.problems[0]


def test_two_records_exchanged_between_buckets_are_found_with_the_table(tmp_path):
    table = people([f"v{k}" for k in range(6)] * 5)
    publish(table, LDiversity(3), method=BLIND, random=1).save(tmp_path / "release")

    def exchange(rows):
        one = rows[0]
        two = next(row for row in rows if row["bucket"] != one["bucket"] and row["number"] % 6 != one["number"] % 6)
        one["bucket"], two["bucket"] = two["bucket"], one["bucket"]

    rewrite(tmp_path / "release", "qit", exchange)
    report = audit(tmp_path / "release", table)
    assert report.holds is False
    assert any("no bucket with their quasi values shows" in problem for problem in report.problems)


def test_a_changed_count_is_found(saved):
    rewrite(saved, "st", lambda rows: rows[0].update(count=rows[0]["count"] + 1))
    report = audit(saved)
    assert report.holds is False
    assert report.problems


def test_a_dropped_row_is_found(saved):
    rewrite(saved, "qit", lambda rows: rows[1:])
    report = audit(saved)
    assert report.holds is False
    assert "qit has 599 rows, the manifest says 600" in report.problems


def test_a_person_replaced_by_another_is_found_with_the_table(saved, table):
    rewrite(saved, "qit", lambda rows: rows[0].update(age=99))
    assert audit(saved).holds is True
    report = audit(saved, table)
    assert report.holds is False
    assert "1 published rows are not rows of the table" in report.problems
    assert "1 rows of the table are not published" in report.problems


def test_a_concentrated_value_breaks_the_claim_itself(saved):
    def concentrate(rows):
        """Exchange single values between two buckets until one holds a value twice as often, totals unchanged."""
        by_bucket: dict[int, list[dict]] = {}
        for row in rows:
            by_bucket.setdefault(row["bucket"], []).append(row)
        rare = min({row["value"] for row in rows}, key=lambda v: sum(r["count"] for r in rows if r["value"] == v))
        first, second = [b for b, content in by_bucket.items() if any(r["value"] == rare for r in content)][:2]
        gain = next(r for r in by_bucket[first] if r["value"] == rare)
        lose = next(r for r in by_bucket[second] if r["value"] == rare)
        other = next(r for r in by_bucket[first] if r["value"] != rare and r["count"] == 1)
        gain["count"] += lose["count"]
        extra = lose["count"]
        rows.remove(lose)
        rows.remove(other)
        match = next((r for r in by_bucket[second] if r["value"] == other["value"]), None)
        if match is not None:
            match["count"] += 1
        else:
            rows.append({"bucket": second, "value": other["value"], "count": 1})
        assert extra == 1

    rewrite(saved, "st", concentrate)
    report = audit(saved)
    assert report.holds is False
    assert report.problems == ()
    assert report.claims[0].holds is False
    assert report.claims[0].worst > report.claims[0].bound


def test_a_swapped_file_and_an_edited_hash_are_found(saved, tmp_path, table):
    publish(table, REQUIREMENT, method=BLIND, random=2).save(tmp_path / "other")
    original = (saved / "st.parquet").read_bytes()
    (saved / "st.parquet").write_bytes((tmp_path / "other" / "st.parquet").read_bytes())
    assert audit(saved).holds is False
    (saved / "st.parquet").write_bytes(original)
    assert audit(saved).holds is True
    text = (saved / "manifest.json").read_text()
    document = json.loads(text)
    digest = document["tables"]["qit"]["sha256"]
    (saved / "manifest.json").write_text(text.replace(digest, digest[::-1]))
    report = audit(saved)
    assert report.holds is False
    assert "qit.parquet: its content does not have the sha-256 that the manifest gives" in report.problems


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["requirement"].update(theta="30"), "its bound follows as"),
        (lambda d: d["values"][0].update(bound="1"), "the manifest says 1"),
        (lambda d: d["values"][0].update(count=5), "the manifest says 5"),
        (lambda d: d["values"].pop(), "lists other sensitive values"),
        (lambda d: d["parameters"].update(buckets=3), "the manifest says 3"),
        (lambda d: d.update(claims=[]), "makes no claim"),
    ],
)
def test_a_manifest_that_promises_something_else_is_found(saved, change, message):
    document = json.loads((saved / "manifest.json").read_text())
    change(document)
    (saved / "manifest.json").write_text(json.dumps(document))
    report = audit(saved)
    assert report.holds is False
    assert any(message in problem for problem in report.problems)


def forge(directory, change):
    document = json.loads((directory / "manifest.json").read_text())
    change(document)
    (directory / "manifest.json").write_text(json.dumps(document))
    return audit(directory)


def add_column(directory, name, column, values):
    """Add a column to a published table, with honest facts about the file."""
    path = directory / f"{name}.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column(column, pa.array(values[: table.num_rows])), path, store_schema=False)
    document = json.loads((directory / "manifest.json").read_text())
    document["tables"][name].update(sha256=sha256(path))
    document["tables"][name]["columns"][column] = "string"
    (directory / "manifest.json").write_text(json.dumps(document))


@pytest.mark.parametrize("name", ["qit", "st"])
def test_a_column_too_many_is_found(saved, name):
    add_column(saved, name, "diagnosis", ["a secret"] * 10_000)
    report = audit(saved)
    assert report.holds is False
    assert any("should have the columns" in problem for problem in report.problems)


def test_a_table_too_many_is_found(saved):
    pq.write_table(pq.read_table(saved / "qit.parquet"), saved / "more.parquet", store_schema=False)

    def list_it(document):
        document["tables"]["more"] = {
            **document["tables"]["qit"],
            "file": "more.parquet",
            "sha256": sha256(saved / "more.parquet"),
        }

    report = forge(saved, list_it)
    assert report.holds is False
    assert any("has the tables qit and st" in problem for problem in report.problems)


def test_a_file_too_many_and_metadata_in_a_footer_are_found(saved):
    (saved / "notes.txt").write_text("who is who")
    assert any("does not list: notes.txt" in problem for problem in audit(saved).problems)
    (saved / "notes.txt").unlink()
    path = saved / "st.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({"secret": "x"}), path)
    report = forge(saved, lambda document: document["tables"]["st"].update(sha256=sha256(path)))
    assert any("footer carries metadata" in problem for problem in report.problems)


def test_people_behind_other_values_than_st_shows_are_found_with_the_table():
    # Everybody is unique. Four people with "a" are put into one bucket whose histogram still shows four different values.
    table = people(["a", "b", "c", "d"] * 4)
    release = publish(table, LDiversity(4), method=BLIND, random=1)
    numbers = np.asarray(release.tables()["qit"]["number"])
    bucket = release.bucket.copy()
    for k, holder in enumerate(np.flatnonzero(numbers % 4 == 0)):
        mate = np.flatnonzero(bucket == 0)[k]
        bucket[holder], bucket[mate] = bucket[mate], bucket[holder]
    forged = dataclasses.replace(release, bucket=bucket)
    assert audit(forged).holds is True
    report = audit(forged, table)
    assert report.holds is False
    assert any("smaller than the number of people" in problem for problem in report.problems)


def test_suppression_is_no_excuse_for_a_method_that_has_none(saved, table):
    report = forge(saved, lambda document: document["parameters"].update(suppression=True))
    assert report.holds is False
    assert any("suppressed people" in problem for problem in report.problems)


def test_misplaced_people_are_found_although_others_were_suppressed():
    table = people(["flu"] * 6 + list("abcd"))
    release = Anatomy(l=2, suppress=True).publish(table, LDiversity(1, against="reader"), random=1)
    shuffled = dataclasses.replace(release, bucket=release.bucket[::-1].copy())
    assert audit(shuffled, table).holds is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["schema"].update(quasi=[]), "needs quasi and sensitive columns"),
        (lambda d: d["schema"].update(sensitive=[]), "needs quasi and sensitive columns"),
        (lambda d: d["schema"]["quasi"].append(d["schema"]["sensitive"][0]), "each name once"),
        (lambda d: d["schema"]["quasi"].pop(), "should have the columns"),
        (lambda d: d["schema"]["quasi"][0].update(kind="secret"), "one of the kinds"),
        (lambda d: d["parameters"].update(decoys=2**70), "not a whole number"),
        (lambda d: d["requirement"].update(theta="1e9999999999"), "requirement"),
        (lambda d: d["requirement"].update(theta=[1]), "requirement"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_a_finding_not_a_crash(saved, change, message):
    report = forge(saved, change)
    assert report.holds is False
    assert any(message in problem for problem in report.problems)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda d: d["claims"][0].update(statement="Nobody can learn anything."), "not made in the words"),
        (lambda d: d["requirement"].update(against="reader"), "another adversary"),
        (lambda d: d["method"].update(name="tight-boxes"), "not known to hold"),
        (lambda d: d["parameters"].update(locality="tight"), "not known to hold"),
        (lambda d: d["method"].update(guard_decoys=True), "not known to hold"),
        (lambda d: d["parameters"].update(one_row_per_person=False), "not made in the words"),
    ],
)
def test_a_claim_is_only_confirmed_in_its_own_words_and_for_a_method_that_proves_it(saved, change, note):
    report = forge(saved, change)
    assert report.holds is False
    assert note in report.claims[0].note


def test_values_that_are_written_alike_do_not_hide_behind_each_other(tmp_path):
    table = people([0.5, 0.0, 1.0, 2.0] * 3)
    publish(table, LDiversity(4), random=1).save(tmp_path / "release")
    first: set[int] = set()

    def split(rows):
        for row in rows:
            if row["value"] == 1.0 and row["bucket"] not in first:
                first.add(row["bucket"])
                row["value"] = -0.0

    rewrite(tmp_path / "release", "st", split)
    report = audit(tmp_path / "release")
    assert report.holds is False


def test_a_row_of_st_split_in_two_is_found(saved):
    def split(rows):
        twice = next(row for row in rows if row["count"] > 1)
        twice["count"] -= 1
        rows.append({**twice, "count": 1})

    rewrite(saved, "st", split)
    assert any("repeat a bucket and value" in problem for problem in audit(saved).problems)


def test_a_value_twice_in_a_bucket_with_decoys_is_found():
    table = people([f"v{k % 12}" for k in range(240)])
    release = publish(table, LDiversity(4), method=Buckets(locality="none", decoys=1), random=1)
    count = release.st_count.copy()
    count[0] = 2
    assert any("at most once" in problem for problem in audit(dataclasses.replace(release, st_count=count)).problems)


def test_rows_that_are_not_people_are_warned_about():
    schema = Schema(quasi=["age"], sensitive=["value"], one_row_per_person=False)
    table = Table.from_frame(pa.table({"age": [1, 2, 3, 4], "value": list("abab")}), schema)
    release = publish(table, LDiversity(2), random=1)
    assert "published row (one person may have several)" in release.claims[0].statement
    report = audit(release, table)
    assert report.holds is True
    assert any("not about a person" in warning for warning in report.warnings)


def test_exposure_under_suppression_is_a_mean_over_published_people_in_their_own_buckets():
    # Twelve flu and a, b, c, d, all with the same quasi values; eight are published in four groups {flu, one of a … d}.
    table = people(["flu"] * 12 + list("abcd"), sex=["f"] * 16)
    release = Anatomy(l=2, suppress=True).publish(table, LDiversity(1, against="reader"), random=1)
    assert audit(release, table).exposure == pytest.approx(0.5)


def test_what_the_tables_cannot_show_is_said(saved):
    assert "cannot be seen in the tables" in audit(saved).claims[0].note


def test_a_claim_that_buckets_cannot_make_is_not_confirmed(saved):
    document = json.loads((saved / "manifest.json").read_text())
    document["claims"][0]["adversary"] = "insider"
    (saved / "manifest.json").write_text(json.dumps(document))
    assert audit(saved).claims[0].holds is False


def test_the_exposure_is_the_mean_belief_in_the_truth():
    table = people(["a", "a", "b", "b"], sex=["f", "f", "m", "m"])
    release = publish(table, LDiversity(2), random=1)
    assert audit(release, table).exposure == pytest.approx(0.5)
    alone = BLIND.publish(people(["a", "b", "c"]), FPrivacy(offset=1), random=1)
    assert audit(alone, people(["a", "b", "c"])).exposure == pytest.approx(1.0)


def test_people_whose_value_is_left_open_are_counted():
    table = people(["flu"] * 4 + ["a", "b", "c", "d"])
    report = audit(publish(table, FPrivacy(offset="1/4", bounds={"flu": 1})), table)
    assert report.holds is True
    assert report.warnings == ("50 % of people have a value without a bound (1 values), which may be shown openly",)


def test_a_missing_or_cut_table_is_a_finding(saved):
    content = (saved / "st.parquet").read_bytes()
    (saved / "st.parquet").write_bytes(content[: len(content) // 2])
    report = audit(saved)
    assert report.holds is False
    assert any("st.parquet cannot be read" in problem for problem in report.problems)
    (saved / "st.parquet").unlink()
    assert "st.parquet is not a file of this release" in audit(saved).problems


def test_a_seeded_release_is_warned_about(table):
    assert "made with a seed" in audit(publish(table, REQUIREMENT, random=1)).warnings[0]
    assert audit(publish(table, REQUIREMENT)).warnings == ()


def test_single_parts_of_a_compound_value_are_reported_apart_from_the_claim():
    rows = {"age": list(range(12)), "illness": ["HIV"] * 4 + ["flu"] * 8, "smoker": ["y", "n"] * 6}
    table = Table.from_frame(pa.table(rows), Schema(quasi=["age"], sensitive=["illness", "smoker"]))
    report = audit(publish(table, LDiversity(3), random=1), table)
    assert report.holds is True
    assert report.claims[0].worst <= Fraction(1, 3)
    assert report.stronger["belief in illness alone"].figure >= 2 / 3
    assert any("single part" in warning for warning in report.warnings)


def test_an_insider_is_reported_as_stronger_never_as_a_claim(table):
    report = audit(publish(table, REQUIREMENT, random=1), table)
    assert [result.adversary for result in report.claims] == ["engineer"]
    assert report.stronger["insider who knows everybody else in the bucket"].figure == 1.0
    assert report.stronger["insider who knows one other person of the bucket"].figure > float(report.claims[0].worst)


def test_decoys_hide_the_shares_so_only_the_table_can_settle_share_dependent_bounds():
    table = people([f"v{k % 12}" for k in range(240)])
    release = publish(table, FPrivacy(theta=1, offset="0.15"), method=Buckets(locality="none", decoys=1), random=1)
    alone = audit(release)
    assert alone.holds is None
    assert "audit it with the table" in alone.claims[0].note
    assert audit(release, table).holds is True
    fixed = publish(table, LDiversity(4), method=Buckets(locality="none", decoys=1), random=1)
    assert audit(fixed).holds is True


def test_suppressed_people_are_told_with_the_table_and_invented_ones_are_a_problem():
    table = people(["flu"] * 6 + list("abcd"))
    release = Anatomy(l=2, suppress=True).publish(table, LDiversity(1, against="reader"), random=1)
    report = audit(release, table)
    assert report.holds is True
    assert "2 people of the table were suppressed" in report.warnings
    assert audit(release, people(["flu"] * 6 + list("abc") + ["z"])).holds is False


def test_the_audit_works_on_tables_alone(table):
    release = publish(table, REQUIREMENT, random=1)
    assert audit_buckets(release.manifest, release.tables(), None).holds is True


def test_a_report_is_plain_json(table):
    report = audit(publish(table, REQUIREMENT, random=1), table)
    document = json.loads(json.dumps(report.to_dict()))
    assert document["holds"] is True
    assert document["checked_against_table"] is True
    assert Fraction(document["claims"][0]["worst"]) == report.claims[0].worst
