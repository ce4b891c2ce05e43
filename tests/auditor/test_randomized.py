"""The audit of randomized releases must find what is planted, and say on what its verdict depends."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from sfumato import FPrivacy, LDiversity
from sfumato.auditor import audit_release, audit_tables
from sfumato.auditor.part_beliefs import CONDITIONAL
from sfumato.auditor.plausible import FALSE_ALARM, surprising
from sfumato.privacy import RhoPrivacy
from sfumato.release.manifest import Claim
from sfumato.release.randomized import randomized_claim
from sfumato.table import Schema, Table
from tests.makers import people, skewed, tells
from tests.release._randomized import balanced_parts, gamma_for, one_part, release_of, uniform, with_parameters, with_part

RHO = RhoPrivacy("2/5", "3/5")


def distinct(rows=900, values=7, seed=5):
    """Return a table in which everybody has quasi values of her own, so that nothing about parts is in doubt."""
    coins = np.random.default_rng(seed)
    share = np.arange(values, 0, -1.0)
    drawn = coins.choice(values, rows, p=share / share.sum())
    return people([f"v{k}" for k in drawn], number=list(range(rows)))


TABLE = distinct()
PLAN = balanced_parts(TABLE, 1)


def only(report):
    assert len(report.claims) == 1
    return report.claims[0]


def test_an_honest_release_holds_against_its_table():
    report = audit_release(release_of(TABLE, PLAN, requirement=RHO), TABLE)
    assert (report.holds, report.problems) == (True, ())
    assert only(report).worst == only(report).bound == Fraction(3, 5)
    assert only(report).note == ""


def test_the_worst_belief_is_the_one_found_by_hand():
    release = release_of(TABLE, PLAN, requirement=RhoPrivacy("2/5", "3/5"), retention="1/5")
    worst = Fraction(0)
    for counts in PLAN:
        size, m = sum(counts.values()), len(counts)
        for n in counts.values():
            share = Fraction(n, size)
            worst = max(worst, share * (Fraction(1, 5) + Fraction(4, 5) / m) / (share / 5 + Fraction(4, 5) / m))
    assert only(audit_release(release, TABLE)).worst == worst


def test_with_retentions_per_value_the_belief_counts_what_every_value_loses():
    table = people(["a"] * 50 + ["b"] * 30 + ["c"] * 20)
    kept = {"a": Fraction(1, 10), "b": Fraction(1, 5), "c": Fraction(1, 2)}
    release = release_of(table, one_part(table), requirement=FPrivacy(offset="0.9"), retention=kept)
    spread = (Fraction(1, 2) * Fraction(9, 10) + Fraction(3, 10) * Fraction(4, 5) + Fraction(1, 5) * Fraction(1, 2)) / 3
    belief = {
        value: share * (kept[value] + (1 - kept[value]) / 3) / (share * kept[value] + spread)
        for value, share in (("a", Fraction(1, 2)), ("b", Fraction(3, 10)), ("c", Fraction(1, 5)))
    }
    found = only(audit_release(release, table))
    assert found.worst == max(belief.values())
    assert belief[found.value] == found.worst


def test_without_the_table_the_verdict_is_conditional():
    found = only(audit_release(release_of(TABLE, PLAN, requirement=RHO)))
    assert found.holds is None
    assert CONDITIONAL == "conditional on the declared largest share in the part"
    assert found.note == f"{CONDITIONAL}: with it, belief is at most 60 %, as promised"
    assert (found.worst, found.bound) == (Fraction(3, 5), None)


def test_without_the_table_retentions_per_value_need_it():
    release = release_of(TABLE, PLAN, requirement=RHO, retention={f"v{k}": "1/9" for k in range(7)})
    bare = with_parameters(
        release, parts=[{k: v for k, v in p.items() if k != "largest_share"} for p in release.manifest.parameters["parts"]]
    )
    assert only(audit_release(bare)).holds is None
    assert "with the table" in only(audit_release(bare)).note


@pytest.mark.parametrize("table", [TABLE, None], ids=["with the table", "without"])
def test_a_retention_beyond_the_bound_is_found(table):
    release = release_of(TABLE, PLAN, requirement=RHO, retention="9/10")
    found = only(audit_release(release, table))
    assert found.holds is False
    assert found.worst > found.bound


def test_a_retention_that_is_not_that_of_gamma_is_found():
    release = with_part(release_of(TABLE, PLAN, requirement=RHO), 1, retention="1/100")
    assert "is not that of γ" in audit_release(release).problems[0]


def test_values_kept_more_often_than_declared_are_found():
    table = distinct(6000)
    plan = one_part(table)
    gamma = gamma_for(Fraction(int(table.sensitive.counts.max()), table.rows), RHO.rho2)
    honest = release_of(table, plan, requirement=RHO)
    assert audit_release(honest, table).problems == ()
    for factor in ("3/2", "1/2"):
        made = release_of(table, plan, requirement=RHO, retention=uniform(len(plan[0]), gamma) * Fraction(factor))
        forged = with_parameters(made, parts=honest.manifest.parameters["parts"])
        assert any("more or less often" in problem for problem in audit_release(forged, table).problems)


def test_values_shown_openly_are_implausible_even_without_the_table():
    table = people(["a"] * 3000 + ["b"] * 3000 + ["c"] * 3000 + ["d"] * 5)
    made = release_of(table, one_part(table), requirement=RhoPrivacy("1/2", "3/5"), retention=1)
    told = [{"part": 1, "values": ["a", "b", "c", "d"], "gamma": "2", "retention": str(uniform(4, 2)), "largest_share": "3/7"}]
    report = audit_release(with_parameters(made, parts=told))
    assert any("false alarm at most 1e-06" in problem for problem in report.problems)
    assert report.holds is False


def test_a_value_outside_its_part_is_found():
    release = release_of(TABLE, PLAN, requirement=RHO)
    values = [f"v{k}" for k in sorted(PLAN[0])]
    report = audit_release(with_part(release, 1, values=values[:-1]), TABLE)
    assert "their part does not" in report.problems[0]
    assert report.holds is False


def test_a_person_in_a_part_without_her_value_is_found():
    table = people(["a", "b"] * 200 + ["c", "d"] * 200)
    plan = [{0: 200, 1: 200}, {2: 200, 3: 200}]
    release = release_of(table, plan, requirement=RhoPrivacy("1/4", "3/5"))
    rows = np.array([np.flatnonzero(release.part == k)[0] for k in (0, 1)])
    part, value = release.part.copy(), release.value.copy()
    part[rows], value[rows] = part[rows[::-1]], value[rows[::-1]]
    report = audit_release(dataclasses.replace(release, part=part, value=value).canonical()[0], table)
    assert "2 people have" in str(report.problems)


def test_rows_lost_or_invented_are_found():
    release = release_of(TABLE, PLAN, requirement=RHO)
    other = people([f"v{k % 7}" for k in range(900)], number=list(range(5, 905)))
    report = audit_release(release, other)
    assert "5 published rows" in str(report.problems)
    assert "5 rows of the table" in str(report.problems)


def test_a_value_that_no_part_has_is_found():
    fewer = people(
        ["v0" if v == "v6" else v for v in (TABLE.sensitive.labels[c] for c in TABLE.sensitive.codes)], number=list(range(900))
    )
    release = release_of(fewer, one_part(fewer), requirement=RHO)
    assert any("no part has" in problem for problem in audit_release(release, TABLE).problems)


def test_a_larger_share_than_declared_is_found():
    release = release_of(TABLE, PLAN, requirement=RHO)
    gamma = 4 * release.parts[0].gamma
    forged = with_part(release, 1, gamma=str(gamma), retention=str(uniform(len(PLAN[0]), gamma)), largest_share="1/100")
    assert "largest share" in audit_release(forged).problems[0]
    assert only(audit_release(forged, TABLE)).holds is False


def alike(rows=1200):
    return people([f"v{k % 6}" for k in range(rows)], sex=["f", "m"] * (rows // 2))


def test_where_every_placement_keeps_the_bounds_the_verdict_is_certain():
    table = alike()
    plan = [{0: 200, 1: 200, 2: 100}, {2: 100, 3: 200, 4: 200, 5: 200}]
    found = only(audit_release(release_of(table, plan, requirement=RHO), table))
    assert found.holds is True
    assert tells(found.note, "at most")


def test_people_with_equal_quasi_values_make_the_verdict_conditional():
    table = alike()
    plan = [{0: 100, 1: 100, 2: 100}, {0: 100, 1: 100, 2: 100, 3: 200, 4: 200, 5: 200}]
    found = only(audit_release(release_of(table, plan, requirement=RHO), table))
    assert found.holds is True
    assert found.note.startswith(CONDITIONAL)


def test_who_knows_where_people_are_gets_an_exact_verdict():
    table = alike()
    plan = [{0: 200, 1: 200, 2: 100}, {2: 100, 3: 200, 4: 200, 5: 200}]
    release = release_of(table, plan, requirement=RHO)
    placed = np.where(table.sensitive.codes < 2, 0, 1)
    placed[np.flatnonzero(table.sensitive.codes == 2)[:100]] = 0
    # Which of the 200 it was nobody can see, but how many is checked.
    sizes = [np.bincount(release.part[release.quasi[0].codes == k], minlength=2)[0] for k in (0, 1)]
    assert sum(sizes) == 500
    report = audit_tables(release.manifest, release.tables(), table, parts=placed)
    assert only(report).worst == Fraction(3, 5)
    wrong = audit_tables(release.manifest, release.tables(), table, parts=np.zeros(1200, np.int64))
    assert tells(wrong.problems, "not fit", "rows")


def test_no_placement_that_keeps_the_bounds_is_found():
    table = alike()
    plan = [{0: 200, 1: 200, 2: 100}, {2: 100, 3: 200, 4: 200, 5: 200}]
    release = release_of(table, plan, requirement=RHO, retention="3/4")
    assert only(audit_release(release, table)).holds is False


def declared(against="insider", shares=None):
    values = [f"v{k}" for k in range(7)]
    spec = {"values": values, "otherwise": "v0"}
    table = Table.from_frame(distinct().to_arrow(), Schema(quasi=["number"], sensitive=["value"], closed=spec))
    told = {v: Fraction(1, 7) for v in range(7)}
    release = release_of(
        table,
        one_part(table),
        requirement=RhoPrivacy("1/3", "3/5", against=against),
        retention=uniform(7, gamma_for(Fraction(1, 7), Fraction(3, 5))),
        parameters="declared",
        shares=[told],
    )
    method = {
        "name": "small-domain",
        "parameters": "declared",
        "shares": dict.fromkeys(values, "1/7"),
        "otherwise": "v0",
    }
    return dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, method=method)), table


def test_declared_parameters_are_judged_on_declared_shares_with_or_without_the_table():
    release, table = declared()
    for report in (audit_release(release), audit_release(release, table)):
        assert report.holds is True
        assert only(report).adversary == "insider"
        assert only(report).worst == Fraction(3, 5)
        assert "other prior inside" in only(report).note


def test_computed_parameters_cannot_claim_an_insider():
    release, _ = declared()
    claims = (randomized_claim("insider", declared=False),)
    parts = [{k: v for k, v in p.items() if k != "shares"} for p in release.manifest.parameters["parts"]]
    forged = with_parameters(release, parameters="computed", parts=parts)
    forged = dataclasses.replace(forged, manifest=dataclasses.replace(forged.manifest, claims=claims))
    assert only(audit_release(forged)).holds is False
    assert "hold against an insider" in only(audit_release(forged)).note


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        (Claim.association("engineer"), "worded"),
        (randomized_claim("reader", declared=False), "another adversary"),
        (Claim("presence", "stranger", "nobody is there"), "such a claim"),
    ],
)
def test_claims_in_other_words_or_about_others_do_not_hold(claim, note):
    release = release_of(TABLE, PLAN, requirement=RHO)
    forged = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, claims=(claim,)))
    assert only(audit_release(forged, TABLE)).holds is False
    assert note in only(audit_release(forged, TABLE)).note


def test_an_unknown_method_is_not_confirmed():
    release = release_of(TABLE, PLAN, requirement=RHO)
    forged = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, method={"name": "magic"}))
    report = audit_release(forged, TABLE)
    assert report.holds is False
    assert any("method 'magic'" in problem for problem in report.problems)


def test_a_basis_is_no_statement_of_this_form():
    release = release_of(TABLE, PLAN, requirement=RHO)
    forged = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, basis="blind"))
    assert "a basis" in only(audit_release(forged, TABLE)).note


@pytest.mark.parametrize(("share", "holds"), [("1/3", None), ("2/3", False)])
def test_bounds_that_do_not_depend_on_shares_are_judged_alone(share, holds):
    release = release_of(TABLE, PLAN, requirement=LDiversity(2), retention="1/10")
    told = [{**p, "largest_share": share} for p in release.manifest.parameters["parts"]]
    found = only(audit_release(with_parameters(release, parts=told)))
    assert found.holds is holds
    m, f = max(len(part) for part in release.parts), Fraction(share)
    assert found.worst == f * (Fraction(1, 10) + Fraction(9, 10) / m) / (f / 10 + Fraction(9, 10) / m)


def test_exposure_is_the_mean_belief_in_the_truth():
    release = release_of(TABLE, PLAN, requirement=RHO)
    true = [np.array([counts[v] for v in sorted(counts)]) / sum(counts.values()) for counts in PLAN]
    beliefs = release.mean_beliefs(TABLE.to_arrow(), shares=true)
    assert audit_release(release, TABLE).exposure == pytest.approx(beliefs[np.arange(900), TABLE.sensitive.codes].mean())


def test_exposure_averages_over_people_who_look_alike():
    table = skewed(500, values=6)
    release = release_of(table, one_part(table), requirement=RHO)
    beliefs = release.mean_beliefs(table.to_arrow(), shares=[table.sensitive.counts / table.rows])
    assert audit_release(release, table).exposure == pytest.approx(beliefs[np.arange(500), table.sensitive.codes].mean())


def test_an_honest_count_is_hardly_ever_surprising_and_a_wrong_one_is():
    coins = np.random.default_rng(3)
    counts = coins.binomial(5000, 0.1, 20_000)
    chance = np.full(20_000, 0.1)
    assert not surprising(counts, np.full(20_000, 5000), chance, chance, tests=20_000).any()
    for wrong in (0.07, 0.14):
        assert surprising(counts, np.full(20_000, 5000), np.full(20_000, wrong), np.full(20_000, wrong), tests=1).mean() > 0.9
    assert FALSE_ALARM == 1e-6


def test_belief_in_a_single_column_is_reported():
    from tests.release.test_randomized import compound

    table = compound()
    release = release_of(table, one_part(table), requirement=RHO)
    report = audit_release(release, table)
    part, shares = release.parts[0], table.sensitive.counts / table.rows
    matrix = np.array([[float(part.chance(x, y)) for y in range(len(part))] for x in range(len(part))])
    joint = shares[:, None] * matrix
    days = np.array(table.sensitive.domain.table["day"].to_pylist())
    worst = max((joint[days == day].sum(0) / joint.sum(0)).max() for day in set(days))
    assert report.stronger["belief in day alone"].figure == pytest.approx(worst)
