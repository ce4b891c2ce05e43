"""Count questions on ranges, against answers worked out by hand or by looking at every cell."""

import datetime
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import BetaLikeness, FPrivacy, Heterogeneous, LDiversity, Ring, Schema, Table
from sfumato.errors import QueryError
from sfumato.query import Between, In, Query, count_many, parse_sql, range_workload, true_answers
from sfumato.query.answering import answer
from sfumato.query.count import choose_estimator
from sfumato.query.language import disjoint as disjoint_module
from sfumato.query.language.compile import Accept, compile_condition
from sfumato.query.language.disjoint import disjoint
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary
from sfumato.query.models.spread import fitted, own_step
from sfumato.query.models.units import Ends, RangeColumn
from sfumato.query.ranges import ranges_engine
from sfumato.table.generators import census
from tests.makers import people, skewed
from tests.query._conditions import CELLS, CONDITIONS, meets
from tests.release._ranges import of_boxes, of_groups

REQUIREMENT = FPrivacy(theta=3, offset="0.05", against="reader")


def ask(release, query, estimator="paper", **options):
    engine = ranges_engine(release, **options)
    asked = parse_sql(query) if isinstance(query, str) else query
    return answer(engine, asked, choose_estimator(engine, estimator, release.form), 0.95, release.native)


def test_whole_numbers_and_sets_are_taken_in_cells():
    table = people(list("aabb"), age=[20, 29, 30, 30], town=["x", "y", "z", "z"])
    release = of_groups(table, [0, 0, 1, 1])
    assert ask(release, "age <= 24").value == pytest.approx(2 * 5 / 10)
    assert ask(release, "age IN (20, 30)").value == pytest.approx(2 / 10 + 2)
    assert ask(release, "town = 'x' AND age <= 24 AND value = 'a'").value == pytest.approx(2 * 1 / 2 * 5 / 10)
    assert ask(release, "value = 'b' AND town <> 'z'").value == 0.0


def test_a_standard_error_is_that_of_independent_coins():
    release = of_groups(people(list("aaab"), age=[20, 21, 22, 29]), [0] * 4)
    found = ask(release, "age <= 24 AND value = 'a'")
    assert (found.value, found.std_error) == (pytest.approx(1.5), pytest.approx((3 * 0.5 * 0.5) ** 0.5))
    assert (found.low, found.high) == (None, None)
    assert "no interval" in found.note


def test_what_the_ranges_make_certain_has_an_exact_answer():
    release = of_groups(people(list("aabb"), age=[20, 29, 30, 40]), [0, 0, 1, 1])
    for estimator in ("paper", "likelihood"):
        found = ask(release, "age < 30", estimator)
        assert (found.value, found.low, found.high, found.std_error) == (2.0, 2.0, 2.0, 0.0)
        assert ask(release, "", estimator).value == 4.0
        assert ask(release, "age > 99", estimator).high == 0.0


def test_days_have_a_cell_each():
    days = [datetime.date(2024, 1, 30), datetime.date(2024, 2, 2)]
    release = of_groups(people(list("ab"), day=days), [0, 0])
    assert ask(release, "day >= '2024-02-01'").value == pytest.approx(2 * 2 / 4)


def test_recoded_columns_have_a_cell_for_each_value_that_can_be_published():
    days = [datetime.date(2024, 1, 30), datetime.date(2024, 4, 2)]
    data = pa.table({"age": [21, 44], "day": days, "value": list("ab")})
    recode = {"age": {"width": 5}, "day": {"to": "month"}}
    table = Table.from_frame(data, Schema(quasi=["age", "day"], sensitive=["value"], recode=recode))
    release = of_groups(table, [0, 0])
    # Published: ages 20, 25, 30, 35, 40 and the first of January to April.
    assert ask(release, Query(In("age", (30,)), terms="published")).value == pytest.approx(2 / 5)
    assert ask(release, Query(Between("day", high=datetime.date(2024, 2, 1)), terms="published")).value == pytest.approx(2 / 2)
    assert ask(release, "age BETWEEN 30 AND 34").value == pytest.approx(2 / 5)
    partly = ask(release, "age BETWEEN 30 AND 31")
    assert partly.value == pytest.approx(2 / 5 * 2 / 5)
    assert "in bands of 5" in partly.note


def test_fractions_and_moments_are_a_continuum():
    release = of_groups(people(list("aab"), weight=[1.5, 2.5, 4.0]), [0, 0, 0])
    assert ask(release, "weight > 2").value == pytest.approx(3 * 2 / 2.5)
    assert ask(release, "weight BETWEEN 2 AND 3 AND value = 'b'").value == pytest.approx(1 / 2.5)
    single = ask(release, "weight = 2")
    assert single.value == 0.0
    assert single.low is None
    moments = [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 1, 2, 0)]
    clock = of_groups(people(list("ab"), at=moments), [0, 0])
    assert ask(clock, Query(Between("at", high=datetime.datetime(2024, 1, 1, 15)))).value == pytest.approx(2 * 3 / 12)
    point = of_groups(people(list("aab"), weight=[1.5, 1.5, 4.0]), [0, 0, 1])
    assert ask(point, "weight = 1.5").value == 2.0


def test_a_missing_value_is_one_more_cell():
    release = of_groups(people(list("abc"), age=[20, 22, None], town=["x", None, "y"]), [0, 0, 0])
    assert ask(release, "age IS NULL").value == pytest.approx(3 / 4)
    assert ask(release, "age >= 21").value == pytest.approx(3 * 2 / 4)
    assert ask(release, "town IS NULL").value == pytest.approx(1)
    assert ask(release, "NOT town = 'x'").value == pytest.approx(1)
    weights = of_groups(people(list("abc"), weight=[0.5, 1.5, None]), [0, 0, 0])
    assert ask(weights, "weight IS NULL").value == pytest.approx(1)
    assert ask(weights, "weight < 1").value == pytest.approx(1)
    nobody = of_groups(people(list("abc"), age=[20, None, None]), [0, 1, 1])
    assert ask(nobody, "age IS NULL").low == 2.0


def test_conditions_joined_by_or_count_nobody_twice():
    table = people(["a"] * 4, age=[20, 21, 22, 29], town=["x", "y", "x", "y"])
    release = of_groups(table, [0] * 4)
    # 1 − (1 − 1/2)(1 − 3/10) of four people.
    assert ask(release, "age <= 22 OR town = 'x'").value == pytest.approx(4 * (1 - 0.5 * 0.7))
    both = ask(release, "(age <= 22 OR town = 'x') AND NOT (age <= 22 AND town = 'x')")
    assert both.value == pytest.approx(4 * (0.3 * 0.5 + 0.7 * 0.5))


def test_a_condition_of_too_many_conjunctions_is_refused(monkeypatch):
    monkeypatch.setattr(disjoint_module, "MAX_CONJUNCTIONS", 1)
    release = of_groups(people(["a"] * 2, age=[1, 2], town=["x", "y"]), [0, 0])
    with pytest.raises(QueryError, match="more than 1 disjoint"):
        ask(release, "age = 1 OR town = 'x'")


@settings(max_examples=150, deadline=None)
@given(CONDITIONS)
def test_disjoint_conjunctions_are_disjoint_and_together_the_condition(condition):
    vocabulary = Vocabulary.of(CELLS.quasi, CELLS.sensitive.domain)
    for piece in compile_condition(condition, vocabulary).pieces:
        parts = disjoint(piece.rows)
        for age, town in itertools.product(range(6), range(4)):
            times = sum(all(part[c][code] for c, code in ((0, age), (1, town)) if c in part) for part in parts)
            wanted = all(mask[(age, town)[c]] for c, mask in piece.rows.tables.items())
            assert times == int(wanted and all(_true(node, (age, town)) for node in piece.rows.rest))


def _true(node, codes):
    if isinstance(node, Accept):
        return bool(node.accepted[codes[node.place.column]])
    return (all if node.kind == "and" else any)(_true(part, codes) for part in node.parts)


@settings(max_examples=60, deadline=None)
@given(CONDITIONS, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_the_estimate_is_the_sum_over_all_cells_of_all_groups(condition, drawn):
    groups = np.unique(drawn, return_inverse=True)[1]
    release = of_groups(CELLS, groups)
    expected, seen = 0.0, {}
    for row in release.tables()["records"].to_pylist():
        ages = range(row["age_min"], row["age_max"] + 1)
        cells = list(itertools.product(ages, row["town"]))
        key = (row["group"], row["value"])
        if key not in seen:
            seen[key] = sum(meets(condition, age, town, row["value"]) is True for age, town in cells) / len(cells)
        expected += seen[key]
    assert ask(release, Query(condition)).value == pytest.approx(expected)


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
def test_the_cells_of_a_group_by_add_up(estimator):
    release = of_boxes(skewed(), REQUIREMENT)
    grouped = ask(release, "SELECT sex, value, COUNT(*) WHERE age < 40 GROUP BY sex, value", estimator)
    assert grouped.columns == ("sex", "value")
    assert {key["sex"] for key, _ in grouped} == {"f", "m"}
    assert sum(estimate.value for _, estimate in grouped) == pytest.approx(grouped.total.value)
    assert grouped.total.value == pytest.approx(ask(release, "age < 40", estimator).value)
    ages = ask(release, "SELECT age, COUNT(*) WHERE age < 40 GROUP BY age", estimator)
    assert [key["age"] for key, _ in ages] == list(range(20, 40))
    assert sum(estimate.value for _, estimate in ages) == pytest.approx(grouped.total.value)


def test_group_by_needs_single_values_and_not_too_many():
    release = of_groups(people(list("ab"), weight=[0.5, 1.5], day=[1, 20_000]), [0, 0])
    with pytest.raises(QueryError, match="continuum"):
        ask(release, "SELECT weight, COUNT(*) GROUP BY weight")
    with pytest.raises(QueryError, match="more than 10000 cells"):
        ask(release, "SELECT day, COUNT(*) GROUP BY day")
    with pytest.raises(QueryError, match="twice"):
        ask(release, Query(group_by=("value", "value")))


@pytest.mark.parametrize("estimator", ["em", "best", 1])
def test_unknown_estimators_are_refused(estimator):
    release = of_groups(people(list("ab"), age=[1, 2]), [0, 0])
    with pytest.raises(QueryError, match="'paper' or 'likelihood'"):
        ask(release, "age = 1", estimator)
    with pytest.raises(QueryError, match="'discrete' or 'continuous'"):
        ask(release, "age = 1", units="round")


def test_unknown_columns_and_values_are_told():
    release = of_groups(people(list("ab"), town=["x", "y"]), [0, 0])
    with pytest.raises(QueryError, match="column 'twon'"):
        ask(release, "twon = 'x'")
    assert "town has no value 'q'" in ask(release, "town = 'q'").note


def test_the_likelihood_knows_that_ends_are_taken():
    # Two people 20–60: nobody is between, one is at each end. Three people in a set of three: one each.
    release = of_groups(people(list("ababc"), age=[20, 60, 30, 30, 30], town=["x", "y", "x", "y", "z"]), [0, 0, 1, 1, 1])
    assert ask(release, "age BETWEEN 31 AND 50", "likelihood").value == pytest.approx(0.0)
    assert ask(release, "age < 25", "likelihood").value == pytest.approx(1.0)
    assert ask(release, "town = 'z' AND value = 'c'", "likelihood").value == pytest.approx(1 / 3)


def test_the_likelihood_learns_one_column_from_the_other_groups():
    # Everybody is x but one; the mixed group of five is then taken as four x and one y, not half and half.
    town = ["x"] * 20 + ["x"] * 4 + ["y"]
    table = people(["a"] * 25, age=[1] * 20 + [2] * 5, town=town)
    release = of_groups(table, [0] * 20 + [1] * 5)
    assert ask(release, "age = 2 AND town = 'y'", "likelihood").value == pytest.approx(1.0, abs=0.15)
    assert ask(release, "age = 2 AND town = 'y'").value == pytest.approx(2.5)


def test_the_default_is_closer_to_the_truth_than_even_spreading():
    # Most people are young, live in x and have job 1: even spreading over ranges and sets then misses by far.
    coins = np.random.default_rng(5)
    age = 20 + np.minimum(coins.geometric(0.08, 4000), 60)
    town = np.array(list("xxxxxxyyzw"))[coins.integers(0, 10, 4000)]
    job = np.minimum(coins.geometric(0.3, 4000), 12)
    value = [f"v{k}" for k in (coins.integers(0, 6, 4000) + (age > 35)) % 6]
    table = people(value, age=age.tolist(), town=town.tolist(), job=job.tolist())
    release = of_boxes(table, REQUIREMENT, floor=40)
    workload = range_workload(table, queries=80, lambda_=2, theta=0.1, seed=3)
    truth = true_answers(table, workload)
    errors = {}
    for estimator in (None, "paper"):
        values = np.array([ask(release, query, estimator).value for query in workload])
        errors[estimator] = float(np.median(np.abs(values - truth) / truth))
    assert ask(release, "age < 40", None).estimator == "likelihood"
    assert errors[None] < 0.5 * errors["paper"]


def test_answers_survive_the_disk(tmp_path):
    from sfumato.release.base import Release

    release = of_boxes(skewed(), REQUIREMENT)
    release.save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    for query in ("age BETWEEN 25 AND 33 AND sex = 'f' AND value IN ('v1', 'v2')", "age > 44 OR sex = 'm'"):
        assert ask(loaded, query, "likelihood") == ask(release, query, "likelihood")


def test_a_record_with_ranges_of_its_own_is_one_person_somewhere_in_them():
    # The box of five matches: somebody of the five is at each end, so the record's own person is with about one in five.
    column = RangeColumn(
        ColumnValues("age", pa.int64(), tuple(range(41)), False),
        Ends(np.array([0], np.int32), np.array([40], np.int32), np.array([0], np.uint8)),
        np.ones(41),
        continuous=False,
    )
    shares = fitted(column, np.array([5]), own=True).shares
    assert 0.2 <= shares.at_low[0] == shares.at_high[0] < 0.25
    assert shares.at_low[0] + shares.at_high[0] + shares.inner[0] * shares.weight[1:40].sum() == pytest.approx(1)


@pytest.mark.parametrize("method", [Ring(accept_weaker_claim=True), Heterogeneous(matcher="greedy", accept_weaker_claim=True)])
def test_ranges_of_their_own_are_read_better_than_evenly_and_never_with_a_person_at_each_end(method):
    quasi = ["age", "gender", "education", "marital", "race", "workclass", "country"]
    frame = census(1_000, 5).select([*quasi, "occupation"])
    table = Table.from_frame(frame, Schema(quasi=quasi, sensitive=["occupation"]))
    release = method.run(table, LDiversity(5, against="reader"), random=1).release
    assert len(release.sizes) == 1_000  # every record a group of its own
    workload = range_workload(table, queries=80, lambda_=2, seed=3)
    truth = true_answers(table, workload)
    errors = {}
    for estimator in ("likelihood", "paper"):
        answers = count_many(release, workload, estimator=estimator)
        assert all(answer.low is None for answer in answers if answer.std_error)
        errors[estimator] = np.abs(np.array([answer.value for answer in answers]) - truth) / truth
    assert release.count("age < 40").estimator == "likelihood"
    assert np.mean(errors["likelihood"]) < 0.8 * np.mean(errors["paper"])
    assert np.median(errors["likelihood"]) < np.median(errors["paper"])
    for condition in ("age BETWEEN 30 AND 40", "age >= 60", "age < 25"):
        actual = int(true_answers(table, [parse_sql(condition)])[0])
        assert release.count(condition).value == pytest.approx(actual, rel=0.2)


def test_ages_alone_are_read_no_worse_than_evenly_from_ranges_of_their_own():
    """One whole round of learning draws everybody toward the middle: the mean error is then twice that of `paper`."""
    quasi = ["age", "gender", "education", "marital", "race", "workclass", "country"]
    asked = [parse_sql(f"age BETWEEN {low} AND {high}") for low, high in ((17, 29), (30, 39), (40, 49), (50, 64), (65, 99))]
    errors = {"likelihood": [], "paper": []}
    for seed in (1, 2, 3):
        table = Table.from_frame(
            census(2_000, seed).select([*quasi, "occupation"]), Schema(quasi=quasi, sensitive=["occupation"])
        )
        method = Heterogeneous(matcher="greedy", accept_weaker_claim=True)
        release = method.run(table, LDiversity(10, against="reader"), random=seed).release
        truth = true_answers(table, asked)
        for estimator, found in errors.items():
            found += [
                abs(ask(release, query, estimator).value - right) / right for query, right in zip(asked, truth, strict=True)
            ]
    assert np.mean(errors["likelihood"]) < 0.9 * np.mean(errors["paper"])


def test_the_more_people_a_record_is_matched_with_the_more_is_learned_of_where_they_are():
    quasi = ["age", "gender", "education", "marital", "race", "workclass", "country"]
    frame = census(2_000, 5).select([*quasi, "occupation"])
    table = Table.from_frame(frame, Schema(quasi=quasi, sensitive=["occupation"]))
    method = Heterogeneous(matcher="greedy", accept_weaker_claim=True)
    release = method.run(table, BetaLikeness(10, against="reader"), random=1).release
    assert release.manifest.parameters["matches"] >= 50
    workload = range_workload(table, queries=80, lambda_=3, seed=3)
    truth = true_answers(table, workload)
    off = {}
    for estimator in ("likelihood", "paper"):
        answers = count_many(release, workload, estimator=estimator)
        off[estimator] = np.median(np.abs(np.array([answer.value for answer in answers]) - truth) / truth)
    assert off["likelihood"] < 0.4 * off["paper"]  # .25; a quarter of a round, as for few matches, is at .75
    assert [own_step(np.array([many])) for many in (5, 25, 50, 157)] == [0.25, 0.5, 1, 1]
