"""Estimates from buckets: against every possible placement by brute force, and the identities the model promises."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import QueryError
from sfumato.query import Estimate, GroupedAnswer, Query, count, count_many
from sfumato.query.buckets import BucketsEngine
from sfumato.query.models.likelihood import GRID, Association
from sfumato.query.rows import BucketIndex
from tests.query._releases import People, blind_buckets, people, release_of

SEX = ["f", "m", "f", "f", "m", "m", "f"]
AGE = [20, 30, 40, 20, 50, 30, 30]
ILL = ["Flu", "HIV", "Flu", "Cold", "Cold", "Flu", "HIV"]
BUCKET = np.array([0, 0, 0, 1, 1, 1, 1])


def small(bucket: Any = BUCKET, **options: Any) -> Any:
    return release_of(people(pa.table({"sex": SEX, "age": AGE, "ill": ILL}), ["ill"]), bucket, **options)


def placements(shown: list[list[str]], bucket: Any) -> list[list[str | None]]:
    """Return, equally likely, what each person may have: every assignment of a bucket's values to its people."""
    choices = []
    for g, values in enumerate(shown):
        size = int((bucket == g).sum())
        choices.append(list(itertools.permutations(values, size)))
    result = []
    for combination in itertools.product(*choices):
        turn = [iter(values) for values in combination]
        result.append([next(turn[g]) for g in bucket])
    return result


CONDITIONS = {
    "sex = 'f' AND ill = 'Flu'": lambda s, a, i: s == "f" and i == "Flu",
    "age >= 30 AND ill IN ('Flu', 'HIV')": lambda s, a, i: a >= 30 and i in ("Flu", "HIV"),
    "sex = 'f' AND ill = 'Flu' OR age > 30 AND ill = 'Cold'": lambda s, a, i: (
        (s == "f" and i == "Flu") or (a > 30 and i == "Cold")
    ),
    "NOT (sex = 'm' OR ill = 'HIV')": lambda s, a, i: s != "m" and i != "HIV",
    "sex = 'm' OR ill = 'HIV'": lambda s, a, i: s == "m" or i == "HIV",
    "(sex = 'm' OR age = 20) AND ill <> 'Flu'": lambda s, a, i: (s == "m" or a == 20) and i != "Flu",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_papers_estimate_and_error_are_those_of_all_placements(condition: str) -> None:
    worlds = placements([["Flu", "HIV", "Flu"], ["Cold", "Cold", "Flu", "HIV"]], BUCKET)
    holds = CONDITIONS[condition]
    counts = [sum(holds(s, a, i) for s, a, i in zip(SEX, AGE, world, strict=True)) for world in worlds]
    answer = small().count(condition, estimator="paper")
    assert isinstance(answer, Estimate)
    assert answer.value == pytest.approx(np.mean(counts))
    assert answer.std_error == pytest.approx(np.std(counts))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_decoys_leave_the_papers_estimate_unbiased(condition: str) -> None:
    release = small(decoys=[(0, 0), (1, 1)])  # Cold in the first bucket, Flu in the second
    worlds = placements([["Flu", "HIV", "Flu", "Cold"], ["Cold", "Cold", "Flu", "HIV", "Flu"]], BUCKET)
    holds = CONDITIONS[condition]
    counts = [sum(holds(s, a, i) for s, a, i in zip(SEX, AGE, world, strict=True)) for world in worlds]
    answer = release.count(condition, estimator="paper")
    assert answer.value == pytest.approx(np.mean(counts))
    assert answer.std_error == pytest.approx(np.std(counts))


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_no_interval_leaves_what_the_release_makes_certain(condition: str, estimator: Any) -> None:
    worlds = placements([["Flu", "HIV", "Flu"], ["Cold", "Cold", "Flu", "HIV"]], BUCKET)
    holds = CONDITIONS[condition]
    counts = [sum(holds(s, a, i) for s, a, i in zip(SEX, AGE, world, strict=True)) for world in worlds]
    answer = small().count(condition, estimator=estimator)
    if len(set(counts)) > 1 and estimator != "likelihood":
        assert answer.low is None
        assert "no interval" in answer.note
    else:
        assert 0 <= answer.low <= answer.value <= answer.high <= 7


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
@pytest.mark.parametrize(
    ("condition", "exact"), [("", 7), ("sex = 'f'", 4), ("ill = 'HIV'", 2), ("ill IN ('Flu', 'Cold')", 5), ("age > 90", 0)]
)
def test_questions_about_one_side_alone_are_answered_exactly(condition: str, exact: int, estimator: Any) -> None:
    answer = small().count(condition, estimator=estimator)
    assert (answer.value, answer.std_error, answer.low, answer.high) == (exact, 0, exact, exact)


def associated(rows: int, seed: int) -> People:
    """A table in which illness depends on age and sex, with values of very different frequency."""
    random = np.random.default_rng(seed)
    age, sex, area = random.integers(0, 30, rows), random.integers(0, 2, rows), random.integers(0, 12, rows)
    strength = random.normal(size=(3, 14))
    score = np.linspace(0, 2.5, 14) + np.outer(age / 15 - 1, strength[0]) + np.outer(sex, strength[1])
    ill = (score + random.gumbel(size=score.shape)).argmax(1)
    data = {"age": age, "sex": np.array(["f", "m"])[sex], "area": area, "ill": np.array([f"v{v:02}" for v in ill])}
    return people(pa.table(data), ["ill"])


@pytest.mark.parametrize("sizes", [[4], [3, 9]])
def test_without_association_the_likelihood_is_the_papers_estimate_and_its_exact_error(sizes: list[int]) -> None:
    table = associated(3000, 1)
    release = release_of(table, blind_buckets(table.sensitive.codes, sizes, np.random.default_rng(2)))
    index = BucketIndex.of(release)
    model = Association.fit(BucketsEngine.of(release))
    wanted = np.zeros(14, bool)
    wanted[[2, 3, 9, 13]] = True
    hits = index.hits(__rows(table, "age", 10))
    uniform = index.weigh(hits, wanted)
    value, each = uniform.value, uniform.each
    share = hits.sum() / index.rows
    t = model.coordinates(each, np.full(14, share))
    only_chance = np.where(GRID == 0, 1.0, 0.0)
    shift, variance = model._functional(t, model.root * wanted, share * (1 - share), only_chance)
    assert share * model.totals[wanted].sum() + shift == pytest.approx(value)
    counts = index.wanted(wanted)
    by_bucket = share * (1 - share) * (counts * (index.sizes - counts) / index.sizes).sum()
    assert variance == pytest.approx(by_bucket)
    assert variance == pytest.approx(model.chance_variance(wanted, share))


def __rows(table: People, column: str, below: int) -> Any:
    from sfumato.query.language.compile import RowCondition

    j = [c.name for c in table.quasi].index(column)
    return RowCondition({j: np.array([v < below for v in table.quasi[j].values.to_pylist()])})


def test_a_strong_association_is_found_where_the_papers_estimate_misses_it() -> None:
    random = np.random.default_rng(3)
    sex = random.integers(0, 2, 20_000)
    ill = np.where(random.random(20_000) < 0.9, sex * 5 + random.integers(0, 5, 20_000), random.integers(0, 10, 20_000))
    table = people(pa.table({"sex": sex, "ill": ill}), ["ill"])
    release = release_of(table, blind_buckets(table.sensitive.codes, [4], random))
    truth = int(((sex == 1) & (ill >= 5)).sum())
    paper = release.count("sex = 1 AND ill >= 5", estimator="paper")
    better = release.count("sex = 1 AND ill >= 5")
    assert better.estimator == "likelihood"
    assert abs(paper.value - truth) > 0.2 * truth
    assert abs(better.value - truth) < 0.03 * truth
    assert better.low <= truth <= better.high


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["paper", "likelihood"]), st.lists(st.sampled_from(["sex", "area", "ill"]), min_size=1, unique=True))
def test_the_cells_of_a_group_by_add_up_to_the_whole(estimator: Any, columns: list[str]) -> None:
    answer = SHARED.count(Query.where(age=(3, 20), ill=["v03", "v09", "v12"], group_by=columns), estimator=estimator)
    whole = SHARED.count(Query.where(age=(3, 20), ill=["v03", "v09", "v12"]), estimator=estimator)
    assert isinstance(answer, GroupedAnswer)
    assert sum(cell.value for _, cell in answer) == pytest.approx(whole.value, rel=1e-6)
    assert answer.total == whole
    assert len({tuple(key.items()) for key, _ in answer}) == len(answer) > 1


_TABLE = associated(4000, 5)
SHARED = release_of(_TABLE, blind_buckets(_TABLE.sensitive.codes, [5], np.random.default_rng(6)))


def test_a_grouped_answer_is_a_table_in_the_callers_kind_of_frame() -> None:
    answer = SHARED.count("SELECT sex, COUNT(*) WHERE ill = 'v03' GROUP BY sex")
    assert answer.to_arrow().column_names == ["sex", "count", "std_error", "low", "high"]
    assert answer.to_arrow()["sex"].to_pylist() == ["f", "m"]
    assert answer.frame("pandas")["count"].tolist() == [cell.value for _, cell in answer]
    assert answer.frame("polars")["sex"].to_list() == ["f", "m"]


def test_grouping_by_a_quasi_column_alone_counts_exactly() -> None:
    answer = small().count("SELECT sex, COUNT(*) GROUP BY sex")
    assert [(key, cell.value, cell.low, cell.high) for key, cell in answer] == [({"sex": "f"}, 4, 4, 4), ({"sex": "m"}, 3, 3, 3)]


def test_missing_values_are_a_cell_of_their_own() -> None:
    table = people(pa.table({"q": ["a", None, None], "x": ["u", "v", "u"]}), ["x"])
    answer = release_of(table, np.array([0, 0, 0])).count("GROUP BY q")
    assert [(key["q"], cell.value) for key, cell in answer] == [("a", 1), (None, 2)]


def test_too_many_cells_are_refused() -> None:
    table = people(pa.table({"q": np.arange(20_000), "x": np.arange(20_000) % 3}), ["x"])
    with pytest.raises(QueryError, match="cells"):
        release_of(table, np.arange(20_000) // 4).count("GROUP BY q")


def test_parts_of_a_compound_attribute_can_be_asked_for() -> None:
    data = pa.table({"q": [1, 1, 2, 2], "ill": ["Flu", "HIV", "Flu", "HIV"], "smoker": ["y", "n", "n", "y"]})
    release = release_of(people(data, ["ill", "smoker"]), np.array([0, 0, 1, 1]))
    answer = release.count("q = 1 AND ill = 'HIV'", estimator="paper")
    assert (answer.value, answer.low, answer.high) == (1, 1, 1)
    assert release.count("ill = 'HIV' AND smoker = 'y'").value == 1
    assert release.count("q = 2 AND (ill = 'HIV' OR smoker = 'n')").value == 2


def test_values_that_do_not_occur_are_noted_on_the_answer() -> None:
    assert "did you mean 'Flu'?" in small().count("sex = 'f' AND ill IN ('Flue', 'HIV')").note


def test_many_answers_are_those_of_one_at_a_time() -> None:
    queries = [Query.where(age=(a, a + 9), ill=[f"v{v:02}" for v in range(a % 5, 14, 3)]) for a in range(20)]
    alone = [count(SHARED, query) for query in queries]
    assert count_many(SHARED, queries, workers=2) == alone == count_many(SHARED, queries, workers=1)


def test_a_release_that_is_not_blind_gets_the_papers_estimator() -> None:
    boxes = small(basis="tight")
    answer = boxes.count("sex = 'f' AND ill = 'Flu'")
    assert (answer.estimator, answer.confidence) == ("paper", 1.0)  # what is certain
    with pytest.raises(QueryError, match="of their quasi values"):
        boxes.count("sex = 'f' AND ill = 'Flu'", estimator="likelihood")


def test_guarded_decoys_are_not_blind() -> None:
    # Guarding looks at quasi values, but does not put near people together: neither model holds, however many buckets.
    bucket = np.arange(60) // 3
    table = people(pa.table({"sex": ["f", "m"] * 30, "ill": ["Flu", "HIV", "Cold"] * 20}), ["ill"])
    decoys = [(g, 0) for g in range(20)]
    for basis, estimator in (("tight", "paper"), ("blind", "likelihood")):
        made = release_of(table, bucket, decoys=decoys, basis=basis)  # type: ignore[arg-type]
        assert made.count("sex = 'f' AND ill = 'Flu'").estimator == estimator
    assert release_of(table, bucket, basis="tight").count("sex = 'f' AND ill = 'Flu'").estimator == "likelihood"


def test_a_grouped_answer_reads_as_a_small_table() -> None:
    text = str(small().count("SELECT sex, COUNT(*) GROUP BY sex"))
    assert text == repr(small().count("GROUP BY sex"))
    assert text.splitlines() == [
        "sex  count  std. error  95 % interval",
        "f      4.0         0.0     4.0 to 4.0",
        "m      3.0         0.0     3.0 to 3.0",
        "in all: 7.0 (7.0 to 7.0 with 95 % confidence)",
    ]
    table = people(pa.table({"q": np.arange(30), "x": np.arange(30) % 3}), ["x"])
    assert "… and 10 more" in str(release_of(table, np.arange(30) // 3).count("GROUP BY q"))


def test_a_release_of_very_many_values_gets_the_papers_estimator() -> None:
    table = people(pa.table({"q": np.arange(1400) % 2, "x": np.arange(1400) % 700}), ["x"])
    release = release_of(table, np.arange(1400) // 2)
    assert release.count("q = 1 AND x < 350").estimator == "paper"
    with pytest.raises(QueryError, match="600"):
        release.count("q = 1", estimator="likelihood")


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, "x", True])
def test_a_confidence_outside_0_and_1_is_refused(confidence: Any) -> None:
    with pytest.raises(QueryError, match="between 0 and 1"):
        small().count("", confidence=confidence)


def test_an_unknown_estimator_is_refused() -> None:
    for name in ("magic", "em"):
        with pytest.raises(QueryError, match="'paper' or 'likelihood'"):
            small().count("", estimator=name)


def test_more_confidence_means_a_wider_interval() -> None:
    narrow, wide = (SHARED.count("age < 10 AND ill = 'v09'", confidence=c) for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
