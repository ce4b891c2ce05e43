"""Questions about people who may have several values: who has one, who has not, one of several, and what is refused."""

import gc
import weakref

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query.count import having, words_of
from sfumato.query.held import APART, OVERLAP, TOGETHER
from sfumato.query.models.inside import learn_model_error
from tests.makers import encounters, visits
from tests.methods.test_bundles import asked


@pytest.fixture(scope="module")
def both():
    table = visits(encounters(4000, seed=7))
    return table, sf.publish(table, asked(), seed=1)


def people(table, condition):
    return sum(bool(condition(one)) for one in table.to_arrow().to_pylist())


@pytest.mark.parametrize(
    ("asked_for", "condition"),
    [
        ("diagnosis = 'i3'", lambda one: "i3" in one["diagnosis"]),
        ("NOT diagnosis = 'i3'", lambda one: "i3" not in one["diagnosis"]),
        ("diagnosis NOT IN ('i0', 'i1', 'i2')", lambda one: not {"i0", "i1", "i2"} & set(one["diagnosis"])),
        ("diagnosis IN ('i0', 'i1', 'i2')", lambda one: {"i0", "i1", "i2"} & set(one["diagnosis"])),
        ("diagnosis = 'i0' OR diagnosis IN ('i2', 'i1')", lambda one: {"i0", "i1", "i2"} & set(one["diagnosis"])),
        ("rows = '2' AND ward = 'ward 1'", lambda one: one["rows"] == "2" and "ward 1" in one["ward"]),
        ("ward IS NULL", lambda one: not one["ward"]),
    ],
)
def test_what_boxes_show_is_answered_exactly(both, asked_for, condition):
    table, release = both
    found = release.count(asked_for)
    assert found.value == found.low == found.high == people(table, condition)


def test_counts_are_of_people(both):
    table, release = both
    assert release.count("SELECT COUNT(*)").value == table.rows == release.rows


def test_intervals_of_who_has_a_value_hold(both):
    table, release = both
    rows, hits, tried = table.to_arrow().to_pylist(), 0, 0
    for low in range(20, 80, 10):
        for value in ("i0", "i3", "i6", "i8"):
            found = release.count(f"diagnosis = '{value}' AND age BETWEEN {low} AND {low + 12} AND sex = 'f'")
            true = sum(value in one["diagnosis"] and low <= one["age"] <= low + 12 and one["sex"] == "f" for one in rows)
            hits, tried = hits + (found.low - 1e-9 <= true <= found.high + 1e-9), tried + 1
    assert hits >= 0.85 * tried


def test_the_complement_is_the_rest_of_the_people(both):
    _, release = both
    where = "age < 45"
    yes, no, all_ = (
        release.count(one).value for one in (f"diagnosis = 'i3' AND {where}", f"NOT diagnosis = 'i3' AND {where}", where)
    )
    assert yes + no == pytest.approx(all_)


def test_one_of_several_values_that_no_set_names_lies_between_the_most_frequent_and_the_sum(both):
    table, release = both
    found = release.count("diagnosis IN ('i3', 'i5')")
    single = [release.count(f"diagnosis = '{value}'").value for value in ("i3", "i5")]
    assert max(single) <= found.value <= sum(single)
    assert (found.low, found.high) == (None, None)
    assert APART in found.note
    true = people(table, lambda one: {"i3", "i5"} & set(one["diagnosis"]))
    assert found.value == pytest.approx(true, rel=0.1)


def test_rows_of_a_group_by_overlap_and_say_so(both):
    table, release = both
    found = release.count("SELECT diagnosis, COUNT(*) GROUP BY diagnosis ORDER BY count DESC LIMIT 4")
    assert len(found) == 4
    assert OVERLAP in found.total.note
    assert found.total.value == table.rows
    values = [cell.value for _, cell in found]
    assert values == sorted(values, reverse=True)
    for key, cell in found:
        assert cell.value == people(table, lambda one, key=key: key["diagnosis"] in one["diagnosis"])
    by_sex = release.count("SELECT sex, diagnosis, COUNT(*) WHERE age < 50 GROUP BY sex, diagnosis")
    assert set(by_sex.to_arrow().column_names[:2]) == {"sex", "diagnosis"}
    assert len(by_sex) == 18


def test_other_figures_of_who_has_a_value(both):
    table, release = both
    ages = [one["age"] for one in table.to_arrow().to_pylist() if "i3" in one["diagnosis"]]
    assert release.count("SELECT AVG(age) WHERE diagnosis = 'i3'").value == pytest.approx(np.mean(ages), rel=0.02)


@pytest.mark.parametrize(
    ("asked_for", "said"),
    [
        ("diagnosis <> 'i3'", "may mean two things"),
        ("diagnosis IS NULL AND diagnosis = 'i4'", "not published"),
        ("SELECT diagnosis, ward, COUNT(*) GROUP BY diagnosis, ward", "two secrets"),
        ("SELECT COUNT(*), SHARE(diagnosis = 'i3') WHERE diagnosis = 'i4'", "more than one such figure"),
        ("SELECT SUM(rows)", "not counted here"),
        ("SELECT AVG(diagnosis)", "several values of 'diagnosis'"),
        ("SELECT diagnosis, AVG(age) GROUP BY diagnosis", "only COUNT"),
        ("encounters = 3", "no column 'encounters'"),
    ],
)
def test_what_is_not_published_is_refused(both, asked_for, said):
    with pytest.raises(QueryError, match=said):
        both[1].count(asked_for)


@pytest.mark.parametrize(
    ("asked_for", "condition", "off"),
    [
        ("diagnosis = 'i3' AND diagnosis = 'i4'", lambda one: {"i3", "i4"} <= set(one["diagnosis"]), 0.2),
        ("diagnosis = 'i3' AND NOT diagnosis = 'i4'", lambda one: "i3" in one["diagnosis"] and "i4" not in one["diagnosis"], 0.2),
        ("diagnosis = 'i3' AND ward = 'ward 1'", lambda one: "i3" in one["diagnosis"] and "ward 1" in one["ward"], 0.2),
        ("diagnosis = 'i3' OR ward = 'ward 1'", lambda one: "i3" in one["diagnosis"] or "ward 1" in one["ward"], 0.1),
        (
            "NOT (diagnosis = 'i3' OR NOT diagnosis = 'i4')",
            lambda one: "i4" in (own := one["diagnosis"]) and "i3" not in own,
            0.2,
        ),
    ],
)
def test_what_one_person_has_together_is_estimated_without_an_interval(both, asked_for, condition, off):
    table, release = both
    found = release.count(asked_for)
    assert found.value == pytest.approx(people(table, condition), rel=off)
    assert (found.low, found.high, TOGETHER in found.note) == (None, None, True)


def test_parts_of_what_is_asked_together_add_up(both):
    _, release = both
    asked_for = ("diagnosis = 'i3' AND diagnosis = 'i4'", "diagnosis = 'i3' AND NOT diagnosis = 'i4'", "diagnosis = 'i3'")
    yes, no, whole = (release.count(one).value for one in asked_for)
    assert yes + no == pytest.approx(whole, abs=2)


def test_people_with_one_value_never_have_two(both):
    engine = having(both[1])
    alone = engine.secrets[0].numbers[:, 2:].sum(axis=1) == 0
    expected = engine.together(((engine.value(0, 3), True), (engine.value(0, 4), True)))
    assert np.abs(expected[alone]).max(initial=0.0) < 1e-6
    assert expected.sum() > 0


def test_shares_of_people_with_each_value_and_their_note(both):
    table, release = both
    found = release.count("SELECT diagnosis, SHARE() GROUP BY diagnosis")
    for key, cell in found:
        assert cell.value == pytest.approx(people(table, lambda one, key=key: key["diagnosis"] in one["diagnosis"]) / table.rows)
        assert OVERLAP in cell.note


def test_models_of_one_secret_share_the_trend_of_all_its_values(both):
    _, release = both
    engine = having(release)
    one, other = (engine.engine(((engine.value(0, value), True),))[0] for value in (1, 2))
    assert one.trend.sums is other.trend.sums is engine.groups[0].trend.sums
    assert not np.allclose(one.trend.posterior.score, other.trend.posterior.score)
    whole = engine.groups[0].trend.posterior.score
    assert np.allclose(one.trend.posterior.score, [whole[1], -whole[1]])


def test_what_models_miss_is_learned_from_the_frequent_values_of_a_secret_together(both):
    _, release = both
    secret = having(release).groups[0]
    one, other = (having(release).boxes(0, value).inside for value in (1, 2))
    assert one.model_error is other.model_error is secret.missed
    assert secret.missed[1] >= 0.1**2  # b, which boxes do not tell
    counts = np.zeros((secret.index.groups, secret.index.values))
    counts[np.repeat(np.arange(len(counts)), np.diff(secret.index.st_start)), secret.index.st_value] = secret.index.st_count
    often = np.argsort(-counts.sum(axis=0))[:8]
    pairs = [np.stack([counts[:, v], secret.index.sizes - counts[:, v]], axis=1) for v in often]
    alone = [learn_model_error(*secret.cells, [pair], secret.noise_variance, 0.1)[0] for pair in pairs]
    assert min(alone) < secret.missed[0] < max(alone)
    assert np.mean(alone) > secret.missed[0]  # of few pairs one value alone rules less out


def test_asking_keeps_no_release_alive():
    table = visits(encounters(600, seed=3))
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.3"), seed=1)
    release.count("diagnosis = 'i3' AND age < 50")
    kept = weakref.ref(release)
    del release
    gc.collect()
    assert kept() is None


def test_a_crosstab_keeps_the_counts_of_values_and_tests_each(both):
    table, release = both
    found = release.crosstab("sex", "diagnosis")
    for column, label in enumerate(found.columns):
        total = sum(found.counts[row][column].value for row in range(len(found.rows)))
        assert total == pytest.approx(people(table, lambda one, label=label: label in one["diagnosis"]))
    assert "the clearest of 9 values" in found.test.note
    assert found.test.p is not None
    assert release.crosstab("diagnosis", "rows").test.verdict == "associated"
    with pytest.raises(QueryError, match="two secrets"):
        release.crosstab("diagnosis", "ward")


def test_two_groups_are_compared_by_who_has_a_value(both):
    table, release = both
    found = release.compare("sex = 'f'", "sex = 'm'", of="SHARE(diagnosis = 'i3')")
    rows = table.to_arrow().to_pylist()
    for side, sex in ((found.a, "f"), (found.b, "m")):
        mine = ["i3" in one["diagnosis"] for one in rows if one["sex"] == sex]
        assert side.low <= np.mean(mine) <= side.high
    guessed = release.compare("sex = 'f'", "sex = 'm'", of="SHARE(diagnosis IN ('i3', 'i4'))")
    assert guessed.difference.low is None
    assert APART in guessed.difference.note
    with pytest.raises(QueryError, match="more than one such figure"):
        release.compare("diagnosis = 'i3'", "diagnosis = 'i4'")


def test_quality_is_told_of_each_secret(both):
    found = both[1].quality()
    assert set(found.each) == {"diagnosis", "ward"}
    assert [one.name for one in found["diagnosis"].columns] == ["age", "sex", "rows"]
    assert found["diagnosis"].columns[2].settled == 1.0
    assert all(one.error is not None and one.error < 0.2 for one in found["diagnosis"].questions)


def test_words_for_a_prompt_have_every_secret(both):
    words = words_of(both[1])
    assert [one.name for one in words.parts] == ["diagnosis", "ward"]
    assert "i3" in words.parts[0].values


def test_a_recoded_secret_is_asked_for_in_its_own_words():
    frame = encounters(900, seed=3)
    table = visits(frame, recode={"diagnosis": {"map": {"i0": "low", "i1": "low", "i2": "low"}, "other": "high"}})
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.3"), seed=1)
    found = release.count("SELECT diagnosis, COUNT(*) GROUP BY diagnosis")
    assert {key["diagnosis"]: cell.value for key, cell in found} == table.bundles.each()[0].histogram()


def test_ranges_answer_the_same_questions_without_intervals(both):
    table = both[0]
    release = sf.publish(table, asked(), method=sf.Boxes(form="ranges"), seed=1)
    whole = release.count("diagnosis IN ('i0', 'i1', 'i2')")
    assert whole.value == people(table, lambda one: {"i0", "i1", "i2"} & set(one["diagnosis"]))
    some = release.count("diagnosis = 'i3' AND age < 45")
    assert some.low is None
    assert some.value == pytest.approx(people(table, lambda one: "i3" in one["diagnosis"] and one["age"] < 45), rel=0.1)
    assert len(release.count("SELECT ward, COUNT(*) GROUP BY ward")) == 6
    assert set(release.quality().each) == {"diagnosis", "ward"}
    assert release.crosstab("sex", "ward").test.p is None
    assert [one.name for one in words_of(release).quasi] == ["age", "sex", "rows"]
    with pytest.raises(QueryError, match="'ranges' cannot be completed"):
        release.impute(1)


def test_to_have_none_has_a_count_and_a_bound_where_the_policy_says_so():
    frame = encounters(2000, seed=3)
    first = frame["diag_1"].to_pylist()
    none = [None if patient % 3 == 0 else one for patient, one in zip(frame["patient"].to_pylist(), first, strict=True)]
    frame = frame.set_column(frame.column_names.index("diag_1"), "diag_1", [none])
    schema = {
        "identifier": ["patient"],
        "quasi": ["age", "sex"],
        "other": ["day", "ward", "diag_2", "diag_3"],
        "secrets": {"diagnosis": ["diag_1"]},
        "missing": {"diagnosis": "value"},
        "people": {"key": "patient", "keep": "all", "quasi": "first by day"},
    }
    table = sf.Table.from_frame(frame, sf.Schema(**schema), seed=1)
    absent = table.sensitive.histogram()["(missing)"]
    assert absent == sum(one == ["(missing)"] for one in table.to_arrow()["diagnosis"].to_pylist()) > 600
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.1", bounds={"(missing)": "0.5"}), seed=1)
    assert next(one["bound"] for one in release.manifest.values if one["value"] == "(missing)") == "1/2"
    assert sf.audit(release, table).holds
    assert release.count("diagnosis IS NULL").value == absent
    assert release.count("NOT diagnosis IS NULL").value == table.rows - absent
