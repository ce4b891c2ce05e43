"""The audit of columns: claims judged from the tables alone, planted faults found, groups that overlap combined."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato
from sfumato.auditor import audit_release, audit_tables
from sfumato.auditor import fragments as fragments_module
from sfumato.auditor import presence as presence_module
from sfumato.auditor.presence import overlaps
from sfumato.errors import FormatError, InputError
from sfumato.methods import Ambiguity, Anatomy
from sfumato.privacy import LDiversity, PresenceAssociation
from sfumato.release.columns import ColumnsRelease
from sfumato.table import Schema, Table
from tests.auditor._columns import GROUPS, HALF, TABLE, honest, judged, with_rows
from tests.makers import people, skewed, tells
from tests.release._fragments import columns_of


def test_an_honest_release_of_disjoint_groups_holds_with_and_without_the_table():
    release = honest()
    for table in (None, TABLE):
        found = audit_release(release, table)
        assert found.holds is True
        assert [(one.claim.kind, one.adversary) for one in found.claims] == [("presence", "stranger"), ("association", "reader")]
        assert [one.worst for one in found.claims] == [Fraction(1, 2), Fraction(1, 2)]
    assert found.exposure == pytest.approx((4 + 4 + 4 + 1 + 1) / 4 / 8)


def test_a_smaller_alpha_is_broken_by_the_worst_group():
    found = audit_release(columns_of(TABLE, GROUPS, PresenceAssociation("0.49", "1/2", against="reader")))
    assert [one.holds for one in found.claims] == [False, True]
    assert found.claims[0].worst == Fraction(1, 2)


def test_a_smaller_beta_is_broken_by_the_worst_value():
    release = honest()
    manifest = replace(release.manifest, requirement={**release.manifest.requirement, "beta": "9/20"}, values=None)
    found = audit_tables(manifest, release.tables(), None)
    assert [one.holds for one in found.claims] == [True, False]


def test_a_value_moved_to_another_group_is_found_in_an_auxiliary_table():
    table = people(
        ["flu", "cold", "flu", "cold", "ache", "flu", "ache", "cold"], age=[20, 21, 22, 22, 60, 61, 62, 62], sex=list("fmfmfmmf")
    )
    release = columns_of(table, GROUPS, PresenceAssociation(1, "1/2", against="reader"))
    tables = release.tables()
    rows = tables["at_age"].to_pylist()
    moved = next(row for row in rows if row["age"] == 20)
    wrong = [*(row for row in rows if row is not moved), {"age": 20, "group": 3 - moved["group"]}]
    found = judged(release, with_rows(tables, "at_age", wrong), table)
    # Her values now fit the other group, which shows one flu too few; her own shows one too many.
    assert tells(found.problems, "'st'", "2 rows")


def test_an_invented_value_is_found_in_an_auxiliary_table():
    release = honest()
    tables = release.tables()
    found = judged(release, with_rows(tables, "at_sex", [*tables["at_sex"].to_pylist(), {"sex": "x", "group": 1}]))
    assert tells(found.problems, "'at_sex'", "1 rows")


def test_a_group_that_shows_more_values_than_it_has_people_is_refused():
    release = honest()
    tables = release.tables()
    wrong = with_rows(tables, "at_age", [*tables["at_age"].to_pylist(), {"age": 99, "group": 1}])
    with pytest.raises(FormatError, match="'at_age': 1 groups"):
        ColumnsRelease.from_tables(release.manifest, wrong)
    for table in (None, TABLE):
        found = judged(release, wrong, table)
        assert found.holds is False
        assert tells(found.problems, "'at_age'", "1 groups")


def test_values_borrowed_from_other_groups_certify_no_alpha():
    """Each group keeps k ≤ n and n/V ≤ α once it shows the other group's values too; but then a combination is covered twice."""
    table = people(list("uvw" * 8), a=[k % 8 for k in range(24)], b=[k % 3 for k in range(24)])
    group = [int(k % 8 >= 4) for k in range(24)]
    asked = PresenceAssociation("1/2", "1/2", against="reader")
    release = columns_of(table, group, asked)
    assert audit_release(release, table).claims[0].worst == 1
    rows = [{"a": value, "group": g} for value in range(8) for g in (1, 2)]
    for original in (None, table):
        found = judged(release, with_rows(release.tables(), "at_a", rows), original)
        assert found.holds is False
        assert found.claims[0].holds is False
        assert presence_module.OVERLAP in found.problems


def test_a_value_that_is_lacking_is_found_in_an_auxiliary_table():
    release = honest()
    tables = release.tables()
    rows = [row for row in tables["at_age"].to_pylist() if row["age"] != 20]
    found = judged(release, with_rows(tables, "at_age", rows))
    assert "1 people of" in str(found.problems)


def test_counts_exchanged_between_groups_are_found_in_st():
    release = honest()
    tables = release.tables()
    rows = tables["st"].to_pylist()
    young = next(row["group"] for row in rows if row["value"] == "cold" and row["count"] == 2)
    for row in rows:
        if row["value"] in ("flu", "cold"):
            row["count"] += (1 if row["value"] == "flu" else -1) * (-1 if row["group"] == young else 1)
    found = judged(release, with_rows(tables, "st", [row for row in rows if row["count"]]))
    assert any("'st'" in problem for problem in found.problems)
    assert found.holds is False


def test_totals_that_are_not_the_tables_are_found_in_st():
    release = honest()
    tables = release.tables()
    rows = tables["st"].to_pylist()
    for row in rows:
        row["value"] = {"flu": "cold", "cold": "flu"}.get(row["value"], row["value"])
    other = people(["flu"] * 4 + ["cold"] * 2 + ["ache"] * 2, age=[20, 21, 22, 23, 60, 61, 62, 63], sex=list("fmfmfmmf"))
    found = judged(release, with_rows(tables, "st", rows), other)
    assert any("another number of times" in problem for problem in found.problems)


def test_two_groups_over_the_same_values_break_alpha_together():
    table = people(["s", "t", "s", "t"], age=[20, 30, 20, 30], sex=["M", "F", "F", "M"])
    release = columns_of(table, [0, 0, 1, 1], HALF)
    found = audit_release(release)
    presence = found.claims[0]
    assert presence.holds is False
    assert presence.bound == Fraction(1, 2)
    assert tells(presence.note, "overlap", "two")
    assert found.claims[1].holds is True
    warned = audit_release(release, table)
    assert any("100 % of the people" in warning for warning in warned.warnings)
    assert any("taken as independent" in warning for warning in warned.warnings)
    assert "groups taken as independent" in warned.stronger["presence of members, all covering groups combined"].text


def test_overlapping_groups_support_no_claim_of_presence_whatever_alpha():
    # 1 − (1 − 1/2)² = 3/4, but if no two people are alike, the four of them fill all four combinations.
    table = people(["s", "t", "s", "t"], age=[20, 30, 20, 30], sex=["M", "F", "F", "M"])
    for alpha in ("3/4", "1"):
        release = columns_of(table, [0, 0, 1, 1], PresenceAssociation(alpha, "1/2", against="reader"))
        for original in (None, table):
            found = audit_release(release, original)
            assert found.claims[0].holds is False
            assert tells(found.problems, "overlap", "two")
            assert found.holds is False


def test_overlapping_groups_as_published_are_no_fault_but_what_cannot_be_checked_is_said():
    table = people(["s", "t", "s", "t"], age=[20, 30, 20, 30], sex=["M", "F", "F", "M"])
    found = audit_release(columns_of(table, [0, 0, 1, 1], HALF, weaker=True), table)
    assert found.problems == ()
    assert fragments_module.BORROWED in found.warnings


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=14), st.booleans())
@settings(max_examples=60, deadline=None)
def test_pairs_of_groups_that_share_a_combination_are_those_found_by_enumeration(rows, listed):
    present = sorted({row[2] for row in rows})
    group = [present.index(row[2]) for row in rows]
    release = columns_of(people(["s"] * len(rows), a=[row[0] for row in rows], b=[row[1] for row in rows]), group)
    cells = []
    for g in range(len(present)):
        mine = [{int(release.codes[j][e]) for e in range(release.start[j][g], release.start[j][g + 1])} for j in range(2)]
        cells.append(set(product(*mine)))
    expected = {(g, h) for g in range(len(cells)) for h in range(g + 1, len(cells)) if cells[g] & cells[h]}
    room, presence_module.MOST_WORDS = presence_module.MOST_WORDS, 0 if listed else presence_module.MOST_WORDS
    try:
        found, first = overlaps(release.cover, 100), overlaps(release.cover)
    finally:
        presence_module.MOST_WORDS = room
    assert {tuple(pair) for pair in found.tolist()} == expected
    assert len(first) == min(len(expected), 1)


def test_outsiders_are_not_called_absent_where_people_were_left_out():
    table = people(["s", "t", "s", "t", "s"], age=[20, 30, 50, 60, 50], sex=["M", "F", "F", "M", "M"])
    found = sfumato.audit(columns_of(table, [0, 0, 1, 1, -1], suppress=True), outsiders=[{"age": 99, "sex": "M"}])
    assert "outsiders who are certainly absent" not in found.stronger
    assert "left out" in found.stronger["outsiders who are not published"].text


def test_tables_that_cannot_be_a_release_are_a_finding_of_the_audit():
    release = honest()
    tables = release.tables()
    found = judged(release, {**tables, "at_age": pa.concat_tables([tables["at_age"], tables["at_age"]])})
    assert tells(found.problems, "8 rows", "'at_age'", "twice")


def test_the_papers_grouping_states_its_claim_and_the_audit_combines_beside_it():
    table = skewed(200)
    groups = np.arange(200) % 50
    release = columns_of(table, groups, PresenceAssociation("3/4", 1, against="reader"), weaker=True)
    found = audit_release(release, table)
    assert found.claims == ()
    assert any("combines all groups" in warning for warning in found.warnings)
    assert found.stronger["presence of members, all covering groups combined"].figure > 0.75


def test_of_many_people_in_overlapping_groups_some_are_measured(monkeypatch):
    monkeypatch.setattr(fragments_module, "MEASURED", 50)
    table = skewed(200)
    overlapping = audit_release(columns_of(table, np.arange(200) % 20, weaker=True), table)
    assert overlapping.problems == ()
    assert "measured on 50 people" in overlapping.stronger["presence of members, all covering groups combined"].text
    apart = audit_release(columns_of(table, table.column("sex").codes), table)
    assert "measured on" not in apart.stronger["presence of members, all covering groups combined"].text


def test_the_papers_claim_is_judged_group_by_group():
    table = people(["s", "t", "s", "t"], age=[20, 30, 20, 30], sex=["M", "F", "F", "M"])
    fine = columns_of(table, [0, 0, 1, 1], HALF, weaker=True)
    assert audit_release(fine, table).problems == ()
    low = columns_of(table, [0, 0, 1, 1], PresenceAssociation("0.4", "1/2", against="reader"), weaker=True)
    assert tells(audit_release(low).problems, "2 groups", "alpha")
    same = columns_of(table, [0, 1, 0, 1], HALF, weaker=True)
    assert "2 counts of st" in str(audit_release(same).problems)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("at_age", {"age": 99, "group": 1}),
        ("at_sex", {"sex": "x", "group": 1}),
    ],
)
def test_an_invented_value_is_found_where_groups_overlap(name, row):
    table = people(["s", "t"] * 4, age=[20, 30] * 4, sex=["M", "F", "F", "M"] * 2)
    release = columns_of(table, [0] * 4 + [1] * 4, PresenceAssociation(1, "1/2", against="reader"), weaker=True)
    tables = release.tables()
    found = judged(release, with_rows(tables, name, [*tables[name].to_pylist(), row]), table)
    assert tells(found.problems, f"'{name}'", "1 rows", "nobody")


def test_a_count_that_nobody_fits_is_found_where_groups_overlap():
    table = people(["s", "t", "s", "t", "u"], age=[20, 30, 20, 30, 40], sex=["M", "F", "F", "M", "F"])
    release = columns_of(table, [0, 0, 1, 1, 1], weaker=True)
    tables = release.tables()
    rows = tables["st"].to_pylist()
    with_u = next(row for row in rows if row["value"] == "u")["group"]
    # The value u moves to the group that nobody of 40 fits, the s or t of that group comes here.
    for row in rows:
        if row["group"] != with_u and row["value"] == "s":
            row["value"] = "u"
        elif row["group"] == with_u and row["value"] == "u":
            row["value"] = "s"
    rows = [row for row in rows if not (row["group"] == with_u and row["value"] == "s")]
    rows.append({"group": with_u, "value": "s", "count": 2})
    found = judged(release, with_rows(tables, "st", rows), table)
    assert "1 people of the table fit" in str(found.problems)
    assert "table 'st': 1 rows" in str(found.problems)


def test_people_left_out_are_counted_against_what_the_release_says():
    table = people(["s", "t", "s", "t", "s"], age=[20, 30, 50, 60, 50], sex=["M", "F", "F", "M", "M"])
    release = columns_of(table, [0, 0, 1, 1, -1], suppress=True)
    assert audit_release(release, table).problems == ()
    larger = people(["s", "t", "s", "t", "s", "s"], age=[20, 30, 50, 60, 50, 50], sex=["M", "F", "F", "M", "M", "M"])
    found = audit_release(release, larger)
    assert "1 left out" in str(found.problems)


def test_outsiders_are_measured_and_their_certain_absence_is_no_claim():
    outsiders = [{"age": 20, "sex": "m"}, {"age": 63, "sex": "f"}, {"age": 99, "sex": "f"}, {"age": 20, "sex": "x"}]
    found = sfumato.audit(honest(), outsiders=pa.Table.from_pylist(outsiders))
    assert found.holds is True
    assert found.stronger["presence of outsiders, all covering groups combined"].figure == pytest.approx(1 / 4)
    absent = found.stronger["outsiders who are certainly absent"]
    assert absent.figure == pytest.approx(1 / 2)
    assert "no claim bounds this" in absent.text


def test_outsiders_may_be_a_table_and_are_refused_where_presence_is_not_spoken_of(tmp_path):
    found = sfumato.audit(honest(), TABLE, outsiders=TABLE)
    assert found.stronger["presence of outsiders, all covering groups combined"].figure == pytest.approx(1 / 2)
    with pytest.raises(InputError, match="quasi columns sex"):
        sfumato.audit(honest(), outsiders=[{"age": 20}])
    shown = Anatomy().run(TABLE, LDiversity(2), random=1).release
    shown.save(tmp_path / "out")
    for release in (shown, tmp_path / "out"):
        with pytest.raises(InputError, match="says nothing about presence"):
            sfumato.audit(release, outsiders=TABLE)


def test_another_table_is_recognised():
    found = audit_release(honest(), people(["s"], age=[1])).problems
    assert tells(found[0], "schema", "quasi, declared")
    assert "quasi and sensitive columns" in found[1]
    other = people(["flu"] * 8, age=list("abcdefgh"), sex=list("ffffmmmm"))
    assert "quasi and sensitive columns" in str(audit_release(honest(), other).problems)
    decimal = people(["flu"] * 8, age=[20.5, 21, 22, 23, 60, 61, 62, 63], sex=list("fmfmfmmf"))
    assert "1 columns are published" in str(audit_release(honest(), decimal).problems)


@pytest.mark.parametrize("against", ["reader", "engineer"])
def test_what_ambiguity_publishes_passes(against):
    table = skewed(600)
    release = sfumato.publish(table, PresenceAssociation(1, "1/2", against=against), method=Ambiguity(floor=20), random=4)
    assert audit_release(release, table).holds is True


def test_beliefs_in_values_are_combined_over_all_groups_that_cover_a_person():
    columns = {"age": [20, 30, 20, 30, 40], "sex": ["m", "f", "m", "f", "f"], "ill": ["a", "b", "a", "c", "a"]}
    table = Table.from_frame(pa.table(columns), Schema(quasi=["age", "sex"], sensitive=["ill"]))
    found = audit_release(columns_of(table, [0, 0, 1, 1, 1], weaker=True), table)
    # Group 1 covers 2·2 combinations with 2 people, group 2 3·2 with 3: presence is 1/2 in both, so that shares are averaged.
    both = {"a": (1 / 2 + 2 / 3) / 2, "b": (1 / 2) / 2, "c": (1 / 3) / 2}
    expected = [both["a"], both["b"], both["a"], both["c"], 2 / 3]  # the last is covered by one group alone
    combined = found.stronger["values of members, all covering groups combined"]
    assert combined.figure == pytest.approx(np.mean(expected))
    assert "the largest is 0.667" in combined.text
