"""The audit must find what is planted."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import Anatomy, Decoys, FPrivacy, LDiversity, MultiSize, Release, Schema, Table, audit, publish
from sfumato.auditor import audit_tables
from sfumato.auditor.result import allowance_used
from sfumato.errors import FormatError
from sfumato.groups.grouping import Grouping
from sfumato.methods.show import show
from sfumato.release.files import sha256
from sfumato.release.manifest import Claim
from tests.makers import people, skewed, tells
from tests.release._forge import edited, forge, refusal, with_rows
from tests.release._task import task_of, with_histograms

REQUIREMENT = FPrivacy(theta=3, offset="0.05")
BLIND = MultiSize()


@pytest.fixture(scope="module")
def table():
    return skewed()


@pytest.fixture
def saved(tmp_path, table):
    publish(table, REQUIREMENT, method=BLIND, random=1).save(tmp_path / "release")
    return tmp_path / "release"


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
        sizes[row["group"]] = sizes.get(row["group"], 0) + 1
    limits = dict(zip(table.sensitive.labels, REQUIREMENT.bounds(table.sensitive.histogram()).limits, strict=True))
    bounded = [row for row in tables["st"] if limits[row["value"]] < 1]
    used = max(Fraction(row["count"], sizes[row["group"]]) / limits[row["value"]] for row in bounded)
    assert result.used == result.worst / result.bound == used
    assert limits[result.value] == result.bound


def test_the_worst_belief_is_one_that_is_bounded_where_any_is():
    table = people(["flu"] * 4 + ["a", "b", "c", "d"])
    result = audit(publish(table, FPrivacy(offset="1/4", bounds={"flu": 1}), random=1), table).claims[0]
    assert result.value != "flu"
    assert (result.worst, result.bound) == (Fraction(1, 4), Fraction(1, 4))


def test_closest_to_its_bound_is_who_uses_the_largest_share_of_it_not_who_has_the_least_room():
    """Of 10,000 people 10 have the rare value: 0.1 % where 2.1 % is allowed leaves 2 points; 40 % of 50 % leaves 10."""
    values = ["often"] * 4000 + ["rare"] * 10 + ["open"] * 5990
    table = people(values)
    requirement = FPrivacy(offset="0.021", theta=0, bounds={"often": "0.5", "open": 1})
    task = task_of(table, requirement)
    together = with_histograms(task, Grouping(np.zeros(len(values), np.int32), 1, "blind"))
    result = audit(show(task, together, BLIND)).claims[0]
    assert (result.value, result.used) == ("often", Fraction(4, 5))
    assert allowance_used(Fraction(1, 3), Fraction(1, 4)) > 1
    assert allowance_used(Fraction(1, 9), Fraction(0)) > 1


def test_a_record_moved_between_buckets_is_found(saved):
    def move(rows):
        rows[0]["group"] = next(row["group"] for row in rows if row["group"] != rows[0]["group"])

    forge(saved, tables=edited("qit", move))
    report = audit(saved)
    assert report.holds is False
    assert "2 groups show" in report.problems[0]


def test_two_records_exchanged_between_buckets_are_found_with_the_table(tmp_path):
    table = people([f"v{k}" for k in range(6)] * 5)
    publish(table, LDiversity(3), method=BLIND, random=1).save(tmp_path / "release")

    def exchange(rows):
        one = rows[0]
        two = next(row for row in rows if row["group"] != one["group"] and row["number"] % 6 != one["number"] % 6)
        one["group"], two["group"] = two["group"], one["group"]

    forge(tmp_path / "release", tables=edited("qit", exchange))
    report = audit(tmp_path / "release", table)
    assert report.holds is False
    assert any("their quasi values shows" in problem for problem in report.problems)


def test_a_changed_count_is_found(saved):
    forge(saved, tables=edited("st", lambda rows: rows[0].update(count=rows[0]["count"] + 1)))
    report = audit(saved)
    assert report.holds is False
    assert tells(report.problems, "counts", "'st'", 600)


def test_a_dropped_row_is_found(saved):
    forge(saved, tables=edited("qit", lambda rows: rows[1:]))
    report = audit(saved)
    assert report.holds is False
    assert "'qit' has 599 rows" in str(report.problems)


def test_a_person_replaced_by_another_is_found_with_the_table(saved, table):
    forge(saved, tables=edited("qit", lambda rows: rows[0].update(age=99)))
    assert audit(saved).holds is True
    report = audit(saved, table)
    assert report.holds is False
    assert "1 published rows" in str(report.problems)
    assert "1 rows of the table" in str(report.problems)


def test_a_concentrated_value_breaks_the_claim_itself(saved):
    def concentrate(rows):
        """Exchange single values between two buckets until one holds a value twice as often, totals unchanged."""
        by_bucket: dict[int, list[dict]] = {}
        for row in rows:
            by_bucket.setdefault(row["group"], []).append(row)
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
            rows.append({"group": second, "value": other["value"], "count": 1})
        assert extra == 1

    forge(saved, tables=edited("st", concentrate))
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
    digest = document["tables"]["qit"]["files"][0]["sha256"]
    (saved / "manifest.json").write_text(text.replace(digest, digest[::-1]))
    report = audit(saved)
    assert report.holds is False
    assert "qit.parquet: its content" in str(report.problems)


@pytest.mark.parametrize("name", ["qit", "st"])
def test_a_column_too_many_is_found(saved, name):
    def add(tables):
        return {**tables, name: tables[name].append_column("diagnosis", pa.array(["a secret"] * tables[name].num_rows))}

    forge(saved, tables=add)
    report = audit(saved)
    assert report.holds is False
    assert any("should have the columns" in problem for problem in report.problems)


def test_a_table_too_many_is_found(saved):
    forge(saved, tables=lambda tables: {**tables, "more": tables["qit"]})
    report = audit(saved)
    assert report.holds is False
    assert any("tables qit, st" in problem for problem in report.problems)


def test_a_file_too_many_and_metadata_in_a_footer_are_found(saved):
    (saved / "notes.txt").write_text("who is who")
    assert tells(audit(saved).problems, 1, "files", "not list")
    (saved / "notes.txt").unlink()
    assert audit(saved).holds is True
    path = saved / "st.parquet"
    # Written by another program, but with an honest hash.
    pq.write_table(pq.read_table(path).replace_schema_metadata({"secret": "x"}), path)
    forge(saved, lambda document: document["tables"]["st"]["files"][0].update(sha256=sha256(path)))
    report = audit(saved)
    assert report.holds is False
    assert any(problem.startswith("st.parquet: ") for problem in report.problems)


def test_people_behind_other_values_than_st_shows_are_found_with_the_table():
    # Everybody is unique. Four people with "a" are put into one bucket whose histogram still shows four different values.
    table = people(["a", "b", "c", "d"] * 4)
    release = publish(table, LDiversity(4), method=BLIND, random=1)
    numbers = np.asarray(release.tables()["qit"]["number"])
    bucket = release.group.copy()
    for k, holder in enumerate(np.flatnonzero(numbers % 4 == 0)):
        mate = np.flatnonzero(bucket == 0)[k]
        bucket[holder], bucket[mate] = bucket[mate], bucket[holder]
    forged = dataclasses.replace(release, group=bucket).canonical()
    assert audit(forged).holds is True
    report = audit(forged, table)
    assert report.holds is False
    assert any("smaller than the number" in problem for problem in report.problems)


def test_suppression_is_no_excuse_for_a_method_that_has_none(saved, table):
    release = Release.load(saved)
    told = dataclasses.replace(release.manifest, parameters={**release.manifest.parameters, "suppression": True})
    report = audit(dataclasses.replace(release, manifest=told))
    assert report.holds is False
    assert any("suppressed people" in problem for problem in report.problems)
    forge(saved, lambda document: document["parameters"].update(suppression=True))
    assert "(rule suppression)" in refusal(saved)


def test_misplaced_people_are_found_although_others_were_suppressed():
    table = people(["flu"] * 6 + list("abcd"))
    release = Anatomy(l=2, suppress=True).run(table, FPrivacy(offset="2/3", against="reader"), random=1).release
    shuffled = dataclasses.replace(release, group=release.group[::-1].copy()).canonical()
    assert audit(shuffled, table).holds is False


def test_people_dropped_for_a_missing_value_leave_no_claim_against_an_engineer():
    frame = pa.table({"age": [1, 2, 3, 4, None], "value": list("ababa")})
    plain = Table.from_frame(frame.slice(0, 4), Schema(quasi=["age"], sensitive=["value"], missing={"age": "drop"}))
    dropped = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["value"], missing={"age": "drop"}))
    release = publish(plain, LDiversity(2), random=1)
    assert audit(release, plain).holds is True
    assert "a value is missing" in audit(release, dropped).claims[0].note
    assert audit(release, dropped).holds is False


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_values_that_are_written_alike_do_not_hide_behind_each_other(tmp_path, format):
    table = people([0.5, 0.0, 1.0, 2.0] * 3)
    publish(table, LDiversity(4), random=1).save(tmp_path / "release", format=format)
    assert audit(tmp_path / "release").holds is True
    path = tmp_path / "release" / f"st.{format}"
    if format == "csv":
        path.write_bytes(path.read_bytes().replace(b"\n1,1,1\n", b"\n1,-0,1\n"))
    else:  # our own writer refuses a negative zero
        rows = pq.read_table(path).to_pylist()
        next(row for row in rows if row["value"] == 1.0)["value"] = -0.0
        pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(path)), path, store_schema=False)
    forge(tmp_path / "release", lambda document: document["tables"]["st"]["files"][0].update(sha256=sha256(path)))
    report = audit(tmp_path / "release")
    assert report.holds is False
    assert any("st" in problem and "sha-256" not in problem for problem in report.problems)


@pytest.mark.parametrize("column", ["quasi", "sensitive"])
@pytest.mark.parametrize("number", [-0.0, float("nan"), float("inf")])
def test_numbers_that_no_table_has_are_refused_in_every_column(column, number):
    zeros = [0.0, 1.0, 2.0, 3.0] * 3
    release = publish(people(zeros, weight=zeros), LDiversity(4), method=BLIND, random=1)
    name, place = ("qit", "weight") if column == "quasi" else ("st", "value")
    rows = release.tables()[name].to_pylist()
    next(row for row in rows if row[place] == 0.0)[place] = number
    with pytest.raises(FormatError, match=f"column '{place}'.*not finite"):
        type(release).from_tables(release.manifest, {**release.tables(), name: with_rows(release.tables()[name], rows)})


def test_a_row_of_st_split_in_two_is_found(saved):
    def split(rows):
        twice = next(row for row in rows if row["count"] > 1)
        twice["count"] -= 1
        rows.append({**twice, "count": 1})

    forge(saved, tables=edited("st", split))
    assert tells(audit(saved).problems, 1, "'st'", "twice")


def test_a_value_twice_in_a_bucket_with_decoys_is_found():
    table = people([f"v{k % 12}" for k in range(240)])
    release = publish(table, LDiversity(4), method=Decoys(decoys=1), random=1)
    kept = np.arange(len(release.st_count)) != 1
    count = release.st_count.copy()
    count[0] = 2
    twice = dataclasses.replace(
        release, st_group=release.st_group[kept], st_value=release.st_value[kept], st_count=count[kept]
    ).canonical()
    assert tells(audit(twice).problems, "decoys", "more often")


def test_rows_that_are_not_people_are_warned_about():
    schema = Schema(quasi=["age"], sensitive=["value"], one_row_per_person=False)
    table = Table.from_frame(pa.table({"age": [1, 2, 3, 4], "value": list("abab")}), schema)
    release = publish(table, LDiversity(2), random=1)
    assert "one person may have several" in release.claims[0].statement
    report = audit(release, table)
    assert report.holds is True
    assert any("not about a person" in warning for warning in report.warnings)


def test_exposure_under_suppression_is_a_mean_over_published_people_in_their_own_buckets():
    # Twelve flu and a, b, c, d, all with the same quasi values; eight are published in four groups {flu, one of a … d}.
    table = people(["flu"] * 12 + list("abcd"), sex=["f"] * 16)
    release = Anatomy(l=2, suppress=True).run(table, FPrivacy(offset="4/5", against="reader"), random=1).release
    assert audit(release, table).exposure == pytest.approx(0.5)


def test_what_the_tables_cannot_show_is_said(saved):
    assert "tables cannot verify" in audit(saved).claims[0].note


def test_a_claim_that_buckets_cannot_make_is_not_confirmed(saved):
    forge(saved, lambda document: document["claims"][0].update(vars(Claim.association("insider"))))
    assert audit(saved).claims[0].holds is False
    forge(saved, lambda document: document["claims"][0].update(vars(Claim.association("engineer")), adversary="insider"))
    assert audit(saved).holds is False


def test_the_exposure_is_the_mean_belief_in_the_truth():
    table = people(["a", "a", "b", "b"], sex=["f", "f", "m", "m"])
    release = publish(table, LDiversity(2), random=1)
    assert audit(release, table).exposure == pytest.approx(0.5)
    three = people(["a", "b", "c"])
    task = task_of(three, FPrivacy(offset=1))
    alone = show(task, with_histograms(task, Grouping(np.arange(3, dtype=np.int32), 3, "blind")), BLIND)
    assert audit(alone, three).exposure == pytest.approx(1.0)


def test_people_whose_value_is_left_open_are_counted():
    table = people(["flu"] * 4 + ["a", "b", "c", "d"])
    report = audit(publish(table, FPrivacy(offset="1/4", bounds={"flu": 1})), table)
    assert report.holds is True
    assert tells(report.warnings, "50 %", "without a bound", 1)


def test_a_missing_or_cut_table_is_a_finding(saved):
    content = (saved / "st.parquet").read_bytes()
    (saved / "st.parquet").write_bytes(content[: len(content) // 2])
    report = audit(saved)
    assert report.holds is False
    assert "st.parquet: its content" in str(report.problems)
    assert any(problem.startswith("st.parquet: ") and "sha-256" not in problem for problem in report.problems)
    (saved / "st.parquet").unlink()
    assert "st.parquet is not" in str(audit(saved).problems)


def test_a_seeded_release_is_warned_about(table):
    assert "made with a seed" in audit(publish(table, REQUIREMENT, random=1)).warnings[0]
    assert audit(publish(table, REQUIREMENT)).warnings == ()


def test_single_parts_of_a_compound_value_are_reported_apart_from_the_claim():
    rows = {"age": list(range(12)), "illness": ["HIV"] * 4 + ["flu"] * 8, "smoker": ["y", "n"] * 6}
    table = Table.from_frame(pa.table(rows), Schema(quasi=["age"], sensitive=["illness", "smoker"], protect="combination"))
    report = audit(publish(table, LDiversity(3), random=1), table)
    assert report.holds is True
    assert report.claims[0].worst <= Fraction(1, 3)
    assert report.stronger["belief in illness alone"].figure >= 2 / 3
    assert any("single part" in warning for warning in report.warnings)


def test_an_insider_is_reported_as_stronger_never_as_a_claim(table):
    report = audit(publish(table, REQUIREMENT, random=1), table)
    assert [result.adversary for result in report.claims] == ["engineer"]
    assert report.stronger["insider who knows everybody else in the group"].figure == 1.0
    assert report.stronger["insider who knows one other person of the group"].figure > float(report.claims[0].worst)


def test_decoys_hide_the_shares_so_only_the_table_can_settle_share_dependent_bounds():
    table = people([f"v{k % 12}" for k in range(240)])
    release = publish(table, FPrivacy(theta=1, offset="0.15"), method=Decoys(decoys=1), random=1)
    alone = audit(release)
    assert alone.holds is None
    assert "with the table" in alone.claims[0].note
    assert audit(release, table).holds is True
    fixed = publish(table, LDiversity(4), method=Decoys(decoys=1), random=1)
    assert audit(fixed).holds is True


def test_suppressed_people_are_told_with_the_table_and_invented_ones_are_a_problem():
    table = people(["flu"] * 6 + list("abcd"))
    release = Anatomy(l=2, suppress=True).run(table, FPrivacy(offset="2/3", against="reader"), random=1).release
    report = audit(release, table)
    assert report.holds is True
    assert "2 people of" in str(report.warnings)
    assert audit(release, people(["flu"] * 6 + list("abc") + ["z"])).holds is False


def test_the_audit_works_on_tables_alone(table):
    release = publish(table, REQUIREMENT, random=1)
    assert audit_tables(release.manifest, release.tables(), None).holds is True


def test_a_report_is_plain_json(table):
    report = audit(publish(table, REQUIREMENT, random=1), table)
    document = json.loads(json.dumps(report.to_dict()))
    assert document["holds"] is True
    assert document["checked_with_table"] is True
    assert Fraction(document["claims"][0]["worst"]) == report.claims[0].worst
