"""Shares, averages, sums, quantiles and comparisons: exact where the release is, by hand where it is small, and coverage."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query import Estimate, GroupedAnswer, SeveralAnswers
from sfumato.release import Release
from tests.query._releases import blind_buckets, people, release_of

EDGES = [0, 1000, 2000, 4000, 8000]


def staff(rows: int = 3000, seed: int = 1) -> pa.Table:
    """People whose pay follows age and sex."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(20, 60, rows), random.integers(0, 2, rows)
    town = random.integers(0, 6, rows)
    pay = np.clip(800 + 40 * (age - 20) + 500 * sex + 300 * random.normal(size=rows) + 150 * (town == 2), 10, 7990).astype(int)
    return pa.table({"age": age, "sex": np.where(sex == 1, "m", "f"), "town": np.array(list("abcdef"))[town], "pay": pay})


def published(table: pa.Table, edges: list[float] | None = None, seed: int = 1) -> Release:
    schema = sf.Schema(quasi=["age", "sex", "town"], sensitive=("pay",), bins={"pay": edges or EDGES})
    own = sf.Table.from_frame(table, schema)
    return sf.Boxes(floor=30).run(own, sf.FPrivacy(theta=8, offset="0.3"), random=seed).release


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return staff()


@pytest.fixture(scope="module")
def release(table: pa.Table) -> Release:
    return published(table)


def one(release: Release, sql: str) -> Estimate:
    found = release.count(sql)
    assert isinstance(found, Estimate)
    return found


def test_figures_of_quasi_columns_alone_are_exact(release: Release, table: pa.Table) -> None:
    age, sex = table["age"].to_numpy(), table["sex"].to_numpy(zero_copy_only=False)
    women = age[sex == "f"]
    assert one(release, "AVG(age) WHERE sex = 'f'").value == pytest.approx(women.mean())
    assert one(release, "SUM(age) WHERE sex = 'f'").value == pytest.approx(women.sum())
    assert one(release, "MEDIAN(age) WHERE sex = 'f'").value == np.sort(women)[(len(women) + 1) // 2 - 1]
    assert one(release, "QUANTILE(age, 0.9)").value == np.sort(age)[int(np.ceil(0.9 * len(age))) - 1]
    share = one(release, "SHARE(age < 30) WHERE sex = 'f'")
    assert share.value == share.low == share.high == pytest.approx((women < 30).mean())


def test_a_share_is_a_count_of_its_people(release: Release) -> None:
    share = one(release, "SHARE(pay = '[1000, 2000)') WHERE age BETWEEN 30 AND 34")
    count = one(release, "age BETWEEN 30 AND 34 AND pay = '[1000, 2000)'")
    people_there = one(release, "age BETWEEN 30 AND 34").value
    assert share.value == pytest.approx(count.value / people_there, rel=1e-4)
    assert share.std_error == pytest.approx(count.std_error / people_there, rel=0.3)
    assert share.low is not None
    assert 0 <= share.low <= share.value <= share.high <= 1


def test_a_share_of_nobody_is_nothing(release: Release) -> None:
    found = one(release, "SHARE(age > 100) WHERE pay = '[1000, 2000)'")
    assert found.value == found.low == 0


def test_the_shares_of_all_cells_add_up(release: Release) -> None:
    found = release.count("SELECT pay, SHARE() WHERE age < 40 GROUP BY pay")
    assert isinstance(found, GroupedAnswer)
    assert sum(estimate.value for _, estimate in found) == pytest.approx(1.0, rel=1e-3)
    assert found.to_arrow().column_names[:2] == ["pay", "share"]


def test_an_average_of_everybody_is_that_of_the_bins_middles_and_lies_between_their_edges(
    release: Release, table: pa.Table
) -> None:
    pay = table["pay"].to_numpy()
    middles = np.array([500, 1500, 3000, 6000])[np.searchsorted(EDGES, pay, side="right") - 1]
    found = one(release, "AVG(pay)")
    assert found.value == pytest.approx(middles.mean())
    low, high = np.array(EDGES[:-1]), np.array(EDGES[1:])
    place = np.searchsorted(EDGES, pay, side="right") - 1
    assert (found.low, found.high) == pytest.approx((low[place].mean(), high[place].mean()))
    assert found.low <= pay.mean() <= found.high
    assert "middles" in found.note
    assert one(release, "SUM(pay)").value == pytest.approx(middles.sum())


def test_a_difference_of_averages_of_bins_holds_wherever_numbers_lie_in_them(release: Release, table: pa.Table) -> None:
    """Women at the low ends and men at the high ends of their bins, or the other way round: both are within."""
    pay, women = table["pay"].to_numpy(), np.array(table["sex"].to_pylist()) == "f"
    place = np.searchsorted(EDGES, pay, side="right") - 1
    low, high = np.array(EDGES[:-1])[place], np.array(EDGES[1:])[place]
    found = release.compare("sex = 'f'", "sex = 'm'", of="AVG(pay)")
    assert found.difference.low <= low[women].mean() - high[~women].mean()
    assert found.difference.high >= high[women].mean() - low[~women].mean()
    assert found.ratio.low <= low[women].mean() / high[~women].mean()
    assert found.ratio.high >= high[women].mean() / low[~women].mean()


def test_numbers_that_were_clipped_have_an_average_without_an_interval(table: pa.Table) -> None:
    release = published(table, {"edges": [500, 1000, 2000, 4000], "clip": True})
    found = one(release, "AVG(pay)")
    assert found.low is found.high is None
    assert "beyond their ends" in found.note
    assert release.compare("sex = 'f'", "sex = 'm'", of="AVG(pay)").difference.low is None
    inside = one(release, "AVG(pay) WHERE pay >= 1000 AND pay < 2000")
    assert (inside.value, inside.low, inside.high) == (1500, 1000, 2000)
    assert one(release, "QUANTILE(pay, 0.99)").low is None


def test_numbers_beyond_clipped_bins_may_be_anybody_s_of_the_bins_there(table: pa.Table) -> None:
    """They were put there: a certain 0 would be wrong."""
    release = published(table, {"edges": [500, 1000, 2000, 4000], "clip": True})
    pay = table["pay"].to_numpy()
    assert one(release, "COUNT(*) WHERE pay > 5000").value == 0
    assert one(release, "COUNT(*) WHERE pay > 5000").high == (pay >= 2000).sum()
    assert one(release, "COUNT(*) WHERE pay < 300").high == (pay < 1000).sum()


def test_an_average_that_depends_on_the_secret_has_an_error_on_both_sides_of_the_ratio(release: Release) -> None:
    found = one(release, "AVG(age) WHERE pay = '[2000, 4000)'")
    assert found.std_error > 0
    assert 20 <= found.value <= 59


def test_open_bins_have_no_average_but_a_median(table: pa.Table) -> None:
    release = published(table, [float("-inf"), 1000, 2000, float("inf")])
    with pytest.raises(QueryError, match="open-ended"):
        release.count("AVG(pay)")
    assert one(release, "AVG(pay) WHERE pay >= 1000 AND pay < 2000").value == 1500
    median = one(release, "MEDIAN(pay)")
    assert (median.value, median.low, median.high) == (1500, 1000, 2000)
    with pytest.raises(QueryError, match="without an end"):
        release.count("QUANTILE(pay, 0.99)")


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("AVG(sex)", "AVG needs numbers.*'sex'"),
        ("AVG(wage)", "there is no column"),
        ("SHARE()", "SHARE needs a condition"),
        ("AVG(age) WHERE age > 200", "nobody meets"),
        ("QUANTILE(age, 3)", "between 0 and 1"),
        ("AVG(DISTINCT age)", "DISTINCT"),
        ("SELECT sex, AVG(age) GROUP BY sex HAVING SUM(age) > 3", "not selected"),
        ("SELECT sex, AVG(age) GROUP BY sex ORDER BY town", "neither grouped"),
        ("SELECT sex, AVG(age) GROUP BY sex ORDER BY 3", "2 selected columns"),
        ("SELECT sex, AVG(age) GROUP BY sex LIMIT -1", "LIMIT needs"),
        ("SELECT sex, COUNT(*) GROUP BY sex HAVING sex LIKE 'f%'", "HAVING compares"),
        ("SHARE(age > 3, sex = 'f')", "one condition"),
    ],
)
def test_what_has_no_such_figure_is_refused_by_name(release: Release, sql: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        release.count(sql)


def test_cells_are_kept_sorted_and_limited_by_their_figures(release: Release) -> None:
    every = release.count("SELECT town, AVG(pay) a, COUNT(*) GROUP BY town")
    assert isinstance(every, SeveralAnswers)
    averages = every["a"]
    assert isinstance(averages, GroupedAnswer)
    by_town = {key["town"]: estimate.value for key, estimate in averages}
    some = release.count(
        f"SELECT town, AVG(pay) a, COUNT(*) GROUP BY town HAVING a > {min(by_town.values())} ORDER BY a DESC LIMIT 3"
    )
    assert isinstance(some, SeveralAnswers)
    kept = [key["town"] for key, _ in some["a"]]
    assert kept == sorted(by_town, key=by_town.__getitem__, reverse=True)[:3]
    assert [key["town"] for key, _ in some["count"]] == kept
    assert some.to_arrow().column_names[:3] == ["town", "a", "a_std_error"]
    two = release.count("SELECT sex, town, COUNT(*) GROUP BY sex, town ORDER BY town, sex DESC LIMIT 2")
    assert [tuple(key.values()) for key, _ in two] == [("m", "a"), ("f", "a")]


def test_a_figure_less_itself_is_nothing(release: Release) -> None:
    same = release.compare("age < 40", "age < 40", of="AVG(age)")
    assert same.difference.value == same.difference.std_error == 0
    assert same.ratio.value == same.ratio.low == same.ratio.high == 1


def test_a_difference_is_that_of_its_sides_and_knows_what_they_share(release: Release) -> None:
    found = release.compare("AVG(pay) WHERE age BETWEEN 30 AND 34", "age BETWEEN 35 AND 39")
    assert found.difference.value == pytest.approx(found.a.value - found.b.value)
    assert found.ratio.value == pytest.approx(found.a.value / found.b.value)
    apart = np.hypot(found.a.std_error, found.b.std_error)
    assert found.difference.std_error != pytest.approx(apart, rel=1e-3)  # boxes hold people of both sides
    assert found.ratio.low < found.ratio.value < found.ratio.high
    with pytest.raises(QueryError, match="quantiles"):
        release.compare("age < 40", "age > 40", of="MEDIAN(pay)")
    with pytest.raises(QueryError, match="GROUP BY"):
        release.compare("SELECT sex, COUNT(*) GROUP BY sex", "age > 40")


def test_a_condition_that_cuts_through_bins_has_an_average_without_an_interval(release: Release) -> None:
    found = one(release, "AVG(age) WHERE pay < 1500")
    assert found.low is None
    assert "cuts through" in found.note


def test_intervals_hold_averages_shares_and_differences() -> None:
    """Six tables, 180 figures, nominal 95 %: as few as .9 have a probability below .01, and intervals are rather too wide."""
    held = []
    for seed in range(6):
        table = staff(3000, seed + 10)
        release = published(table, seed=seed)
        pay = np.array([500, 1500, 3000, 6000])[np.searchsorted(EDGES, table["pay"].to_numpy(), side="right") - 1]
        age, town = table["age"].to_numpy(), table["town"].to_numpy(zero_copy_only=False)
        for low in range(20, 60, 8):
            here = (age >= low) & (age < low + 8)
            for name in "abcde":
                group = here & (town == name)
                sql = f"age BETWEEN {low} AND {low + 7} AND town = '{name}'"
                estimate = one(release, f"AVG(pay) WHERE {sql}")
                held.append(estimate.low is None or estimate.low <= pay[group].mean() <= estimate.high)
            gap = pay[here & (town == "c")].mean() - pay[here & (town != "c")].mean()
            within = f"age BETWEEN {low} AND {low + 7} AND town"
            difference = release.compare(f"{within} = 'c'", f"{within} <> 'c'", of="AVG(pay)").difference
            held.append(difference.low is None or difference.low <= gap <= difference.high)
    assert np.mean(held) > 0.9


def test_blind_buckets_have_intervals_that_hold_averages() -> None:
    held = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        age = random.integers(20, 60, 4000)
        visits = np.minimum(random.poisson(1 + (age - 20) / 20), 7)
        table = people(pa.table({"age": age, "visits": visits}), ["visits"])
        release = release_of(table, blind_buckets(table.sensitive.codes, [5], random))
        for low in range(20, 60, 5):
            here = (age >= low) & (age < low + 5)
            estimate = one(release, f"AVG(visits) WHERE age BETWEEN {low} AND {low + 4}")
            assert estimate.low is not None
            held.append(estimate.low <= visits[here].mean() <= estimate.high)
    assert np.mean(held) >= 0.85  # 40 figures; the chance of less with 95 % each is 1 in 100


def test_randomized_releases_reconstruct_sums_without_bias() -> None:
    random = np.random.default_rng(4)
    visits = np.minimum(random.poisson(2, 4000), 5)
    table = pa.table({"age": random.integers(20, 30, 4000), "visits": visits})
    own = sf.Table.from_frame(table, sf.Schema(quasi=["age"], sensitive=("visits",)))
    release = sf.UniformPerturbation().run(own, sf.LDiversity(2), random=3).release
    found = one(release, "SUM(visits) WHERE age < 25")
    each = release.count("SELECT visits, COUNT(*) WHERE age < 25 GROUP BY visits", estimator="paper")
    assert found.value == pytest.approx(sum(key["visits"] * estimate.raw for key, estimate in each), rel=1e-9)
    truth = visits[table["age"].to_numpy() < 25].sum()
    assert abs(found.value - truth) < 4 * found.std_error


def test_ranges_have_averages_of_the_secret_but_none_of_what_they_hide(table: pa.Table) -> None:
    schema = sf.Schema(quasi=["age", "sex", "town"], sensitive=("pay",), bins={"pay": EDGES})
    own = sf.Table.from_frame(table, schema)
    release = sf.Boxes(floor=30, form="ranges").run(own, sf.FPrivacy(theta=8, offset="0.3"), random=1).release
    found = one(release, "AVG(pay) WHERE age < 37")
    assert found.low is None
    assert 500 < found.value < 3000
    with pytest.raises(QueryError, match="own quasi values"):
        release.count("AVG(age) WHERE pay < 2000")
