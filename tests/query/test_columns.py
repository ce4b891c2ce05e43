"""Count questions on columns, against answers worked out by hand or by looking at every combination of values."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table
from sfumato.errors import QueryError
from sfumato.query import Query, anatomy_workload, range_workload, true_answers
from sfumato.query.models import classes as classes_module
from sfumato.release.base import Release
from sfumato.table.generators import census
from tests.makers import people, skewed
from tests.query._conditions import CELLS, CONDITIONS, meets
from tests.query._fragments import columns_of

BOXES = {"name": "ambiguity", "grouping": "boxes"}


@pytest.fixture
def few_boxes_will_do(monkeypatch):
    monkeypatch.setattr(classes_module, "FEWEST_GROUPS", 1)


def paper(release, query):
    return release.count(query, estimator="paper")


def sets_of(release):
    """Return per group the values of every column, and how often each sensitive value occurs."""
    tables = release.tables()
    sets, shown = {}, Counter()
    for name, table in tables.items():
        for row in table.to_pylist():
            if name == "st":
                shown[row["group"], row["value"]] += row["count"]
            else:
                sets.setdefault(row["group"], {}).setdefault(name[3:], []).append(row[name[3:]])
    return sets, shown


@settings(max_examples=60, deadline=None)
@given(CONDITIONS, st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_the_estimate_is_the_share_of_all_combinations_of_a_group(condition, drawn):
    release = columns_of(CELLS, np.unique(drawn, return_inverse=True)[1])
    sets, shown = sets_of(release)
    expected = variance = 0.0
    for (group, value), people_ in shown.items():
        cells = list(itertools.product(sets[group]["age"], sets[group]["town"]))
        share = sum(meets(condition, age, town, value) is True for age, town in cells) / len(cells)
        expected += people_ * share
        variance += people_ * share * (1 - share)
    found = paper(release, Query(condition))
    assert found.value == pytest.approx(expected)
    if found.low is None:
        assert found.std_error == pytest.approx(variance**0.5)
        assert "no interval" in found.note


@pytest.mark.parametrize("method", [None, BOXES])
@pytest.mark.usefixtures("few_boxes_will_do")
def test_what_the_tables_make_certain_has_an_exact_answer(method):
    release = columns_of(people(list("aabb"), age=[20, 29, 30, 40], sex=list("fmfm")), [0, 0, 1, 1], method=method)
    for estimator in ("paper", "likelihood"):
        found = release.count("age < 30 AND value = 'a'", estimator=estimator)
        assert (found.value, found.low, found.high, found.std_error) == (2.0, 2.0, 2.0, 0.0)
        assert release.count("age > 99", estimator=estimator).high == 0.0
        assert release.count("", estimator=estimator).value == 4.0


def test_a_missing_value_is_a_value_of_its_own():
    release = columns_of(people(list("abc"), age=[20, 22, None], town=["x", None, "y"]), [0, 0, 0])
    assert paper(release, "age IS NULL").value == pytest.approx(1)
    assert paper(release, "age >= 21 AND town IS NOT NULL").value == pytest.approx(3 * 1 / 3 * 2 / 3)


def test_recoded_columns_are_understood_in_original_terms():
    data = pa.table({"age": [21, 24, 33, 34], "sex": list("fmfm"), "value": list("abab")})
    declared = Schema(quasi=["age", "sex"], sensitive=["value"], recode={"age": {"width": 5}})
    release = columns_of(Table.from_frame(data, declared), [0] * 4, declared=declared.to_dict())
    assert paper(release, "age BETWEEN 20 AND 24").value == pytest.approx(2)
    partly = paper(release, "age BETWEEN 20 AND 21 AND value = 'a'")
    assert partly.value == pytest.approx(2 * 1 / 2 * 2 / 5)
    assert "in bands of 5" in partly.note


def test_parts_of_a_compound_sensitive_value_can_be_asked():
    data = pa.table({"age": [1, 2, 3], "ill": ["flu", "flu", "cold"], "smokes": ["y", "n", "y"]})
    release = columns_of(
        Table.from_frame(data, Schema(quasi=["age"], sensitive=["ill", "smokes"], protect="combination")), [0] * 3
    )
    assert paper(release, "ill = 'flu' AND age <= 2").value == pytest.approx(2 * 2 / 3)
    assert paper(release, "smokes = 'y' AND age = 1").value == pytest.approx(2 * 1 / 3)


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
@pytest.mark.parametrize("method", [None, BOXES])
@pytest.mark.usefixtures("few_boxes_will_do")
def test_the_cells_of_a_group_by_add_up(estimator, method):
    table = skewed()
    release = columns_of(table, np.argsort(np.argsort(table.quasi[0].codes, kind="stable")) // 20, method=method)
    grouped = release.count("SELECT sex, value, COUNT(*) WHERE age < 40 GROUP BY sex, value", estimator=estimator)
    assert grouped.columns == ("sex", "value")
    assert {key["sex"] for key, _ in grouped} == {"f", "m"}
    assert sum(estimate.value for _, estimate in grouped) == pytest.approx(grouped.total.value)
    assert grouped.total.value == pytest.approx(release.count("age < 40", estimator=estimator).value)
    ages = release.count("SELECT age, COUNT(*) WHERE age < 40 GROUP BY age", estimator=estimator)
    assert [key["age"] for key, _ in ages] == list(range(20, 40))
    assert sum(estimate.value for _, estimate in ages) == pytest.approx(grouped.total.value)


@pytest.mark.parametrize("estimator", ["em", "best", 1])
def test_unknown_estimators_are_refused(estimator):
    release = columns_of(people(list("ab"), age=[1, 2]), [0, 0])
    with pytest.raises(QueryError, match="'paper' or 'likelihood'"):
        release.count("age = 1", estimator=estimator)


def test_the_likelihood_knows_that_every_value_shown_is_somebodys():
    # Three people and three towns: one each, however frequent the towns are elsewhere.
    town = ["x"] * 20 + ["x", "y", "z"]
    release = columns_of(people(["a"] * 20 + ["b"] * 3, town=town, age=[1] * 20 + [2] * 3), [0] * 20 + [1] * 3)
    assert release.count("town = 'z' AND value = 'b'").value == pytest.approx(1.0)


def test_the_likelihood_learns_how_frequent_a_value_is_from_the_other_groups():
    # Everybody is x but one; the mixed group of five is then taken as four x and one y, not half and half.
    table = people(["a"] * 25, age=[1] * 20 + [2] * 5, town=["x"] * 24 + ["y"])
    release = columns_of(table, [0] * 20 + [1] * 5)
    assert release.count("age = 2 AND town = 'y'").value == pytest.approx(1.0, abs=0.15)
    assert paper(release, "age = 2 AND town = 'y'").value == pytest.approx(2.5)


def related(rows):
    """Return people whose two columns say nearly the same, in boxes of which some mix both kinds."""
    coins = np.random.default_rng(4)
    kind = coins.integers(0, 2, rows)
    other = np.where(coins.random(rows) < 0.9, kind, 1 - kind)
    place = coins.integers(0, 60, rows)
    value = coins.integers(0, 4, rows)
    table = people(
        [f"v{k}" for k in value], left=np.array(["a", "b"])[kind].tolist(), right=np.array(["c", "d"])[other].tolist(),
        place=place.tolist(),
    )  # fmt: skip
    split = np.where(place % 3 == 0, 1 + 2 * kind + other, 0)
    return table, np.unique(place * 5 + split, return_inverse=True)[1]


@pytest.mark.usefixtures("few_boxes_will_do")
def test_boxes_also_teach_how_columns_go_together():
    # In two thirds of the places a group mixes both kinds: one column at a time, half of its people would be b among the c.
    table, groups = related(30_000)
    truth = float(((table.quasi[0].codes == 1) & (table.quasi[1].codes == 0)).sum())
    query = "left = 'b' AND right = 'c'"
    alone = columns_of(table, groups).count(query).value
    together = columns_of(table, groups, method=BOXES).count(query).value
    assert abs(alone - truth) > truth
    assert abs(together - truth) < 0.25 * truth


def test_few_boxes_are_learned_column_by_column():
    table, groups = related(600)
    query = "left = 'b' AND right = 'c'"
    assert columns_of(table, groups, method=BOXES).count(query) == columns_of(table, groups).count(query)


@pytest.mark.usefixtures("few_boxes_will_do")
def test_one_class_is_the_same_as_learning_every_column_alone(monkeypatch):
    monkeypatch.setattr(classes_module, "CLASSES", 1)
    monkeypatch.setattr(classes_module, "ROUNDS", 300)
    table = skewed()
    groups = np.argsort(np.argsort(table.quasi[0].codes, kind="stable")) // 20
    for query in ("age < 33 AND value = 'v0'", "sex = 'f' AND age BETWEEN 31 AND 50", "age > 44 OR sex = 'm'"):
        alone, one = (columns_of(table, groups, method=method).count(query) for method in (None, BOXES))
        assert one.value == pytest.approx(alone.value, rel=2e-3)
        assert one.std_error == pytest.approx(alone.std_error, rel=2e-2)


@pytest.mark.parametrize("method", [None, BOXES])
@pytest.mark.usefixtures("few_boxes_will_do")
def test_answers_survive_the_disk(tmp_path, method):
    table, groups = related(600)
    release = columns_of(table, groups, method=method)
    release.save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    for query in ("left = 'a' AND place < 20 AND value IN ('v1', 'v2')", "left = 'b' OR right = 'c'"):
        assert loaded.count(query) == release.count(query)


def halved(columns, rows, depth=0):
    """Return boxes of at most 40 people: people are halved by one column after the other, equal values staying together."""
    if len(rows) <= 40:
        return [rows]
    for turn in range(len(columns)):
        codes = columns[(depth + turn) % len(columns)].codes[rows]
        low = codes < max(np.median(codes), codes.min() + 1)
        if not low.all():
            return [*halved(columns, rows[low], depth + turn + 1), *halved(columns, rows[~low], depth + turn + 1)]
    return [rows]


@pytest.fixture(scope="module")
def outcomes():
    """Per query and release: truth, the papers' estimate and error, ours. Fresh censuses in boxes."""
    rows = []
    for seed in range(6):
        frame = census(3_000, seed).select(["age", "gender", "education", "marital", "occupation"])
        table = Table.from_frame(frame, Schema(quasi=frame.column_names[:4], sensitive=["occupation"]))
        groups = np.empty(table.rows, int)
        for number, box in enumerate(halved(table.quasi, np.arange(table.rows))):
            groups[box] = number
        release = columns_of(table, groups, method=BOXES)
        for workload in (
            anatomy_workload(table, queries=60, selectivity=0.1, seed=seed),
            range_workload(table, queries=60, seed=seed),
        ):
            for query, actual in zip(workload, true_answers(table, workload), strict=True):
                papers, ours = paper(release, query), release.count(query)
                rows.append((actual, papers.value, papers.std_error, ours.value, ours.std_error))
    found = np.array(rows)
    return found[found[:, 0] > 0]


def test_the_default_errs_less_than_the_papers_estimator(outcomes):
    truth = outcomes[:, 0]
    papers, ours = (np.abs(outcomes[:, column] - truth) / truth for column in (1, 3))
    assert np.median(ours) < 0.8 * np.median(papers)
    assert np.mean(ours) < np.mean(papers)


def test_intervals_from_the_standard_errors_would_be_wrong(outcomes):
    for value, error in ((1, 2), (3, 4)):
        inside = np.abs(outcomes[:, value] - outcomes[:, 0]) <= 1.96 * outcomes[:, error]
        assert inside.mean() < 0.88
