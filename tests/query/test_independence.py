"""Tests of independence: moments against simulation, boxes against groups that overlap, noise, blind buckets and coins."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query.crosstab import between_groups
from sfumato.query.independence import AssociationTest, Grouped, judge_cells, judge_groups, overlapping
from tests.query._releases import people, release_of


def cut(random: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """People of a column a that has to do with nothing, and a secret that follows x; boxes by x, some of them cut along a."""
    a, x = random.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05]), random.integers(0, 12, rows)
    secret = (random.gumbel(size=(rows, 5)) + np.outer(x, [0.3, 0, -0.2, 0.1, -0.4]) / 3).argmax(axis=1)
    group = 4 * x + np.where(x % 3 == 0, a, np.where(x % 3 == 1, a > 0, 0))
    return a, x, secret, np.unique(group, return_inverse=True)[1]


def grouped(a: np.ndarray, secret: np.ndarray, group: np.ndarray) -> Grouped:
    tables = [np.zeros((group.max() + 1, int(column.max()) + 1)) for column in (a, secret)]
    for table, column in zip(tables, (a, secret), strict=True):
        np.add.at(table, (group, column), 1)
    return Grouped(*tables)


def test_mean_and_variance_of_the_statistic_are_those_of_simulated_tables() -> None:
    """250 tables: a mean of X² off by a tenth would be more than five standard errors away."""
    random = np.random.default_rng(1)
    found = [judge_groups(grouped(a, s, g)) for a, _, s, g in (cut(random, 1500) for _ in range(250))]
    values, means = np.array([one.statistic for one in found]), np.array([one.mean for one in found])
    assert values.mean() == pytest.approx(means.mean(), rel=0.1)
    p = np.array([one.p for one in found])
    assert (p < 0.05).mean() <= 0.08  # at .05, 21 of 250 have a probability below 1 in 100
    assert 0.35 < (p < 0.5).mean() < 0.65


def test_haldanes_moments_are_those_of_shuffled_columns() -> None:
    random = np.random.default_rng(2)
    a, b = random.choice(6, 200, p=[0.6, 0.2, 0.08, 0.06, 0.04, 0.02]), random.choice(10, 200, p=[0.55] + [0.05] * 9)
    p, x = [], []
    for _ in range(800):
        table = np.zeros((6, 10))
        np.add.at(table, (a, random.permutation(b)), 1)
        one = judge_cells(table)
        p.append(one.p)
        x.append(one.statistic)
    assert np.mean(x) == pytest.approx(one.mean, rel=0.03)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.025)
    assert judge_cells(np.array([[3, 0], [0, 0]])).p is None


def test_groups_overlapping_if_some_column_keeps_any_two_apart() -> None:
    a, b = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    assert overlapping(np.array([0, 0, 1, 1, 2, 2]), [a, b], 3) == 0
    assert overlapping(np.array([0, 1, 0, 1, 2, 2]), [a, b], 3) == 0
    assert overlapping(np.array([0, 1, 1, 0, 2, 2]), [a, b], 3) == 1 / 3


def test_many_groups_are_judged_by_a_sample_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    a, _, secret, group = cut(np.random.default_rng(3), 3000)
    shown = grouped(a, secret, group)
    whole = judge_groups(shown)
    monkeypatch.setattr("sfumato.query.independence._SAMPLE", 12)
    part = judge_groups(shown)
    assert part.mean == whole.mean
    assert part.p == pytest.approx(whole.p, abs=0.15)


def test_noise_is_no_association_and_drowned_values_are_counted_with_the_most_frequent() -> None:
    random = np.random.default_rng(4)
    p = []
    for _ in range(150):
        a, _, secret, group = cut(random, 2000)
        shown = grouped(a, secret, group)
        noisy = shown.b + random.normal(0, 3, shown.b.shape)
        p.append(judge_groups(shown._replace(b=noisy, noise=np.full(len(noisy), 9.0))).p)
    assert np.mean(np.array(p) < 0.05) <= 0.1
    few = Grouped(np.array([[9.0, 1.0], [2.0, 8.0]]), np.array([[9.0, 1.0], [8.0, 2.0]]), np.full(2, 4.0))
    assert "one value only" in judge_groups(few).note


def test_blind_buckets_are_dealt_and_a_link_in_them_is_found() -> None:
    random = np.random.default_rng(5)

    def released(link: float) -> AssociationTest | None:
        sex, bucket = random.integers(0, 2, 4000), np.arange(4000) // 4
        ill = (random.gumbel(size=(4000, 4)) + np.outer(sex, [link, 0, 0, -link])).argmax(axis=1)
        table = pa.table({"sex": np.array(list("fm"))[sex], "ill": np.array(list("abcd"))[ill]})
        return between_groups(release_of(people(table, ["ill"]), bucket, basis="blind"), "ill", "sex")

    quiet = [released(0.0) for _ in range(20)]
    assert sum(one is not None and one.p is not None and one.p < 0.05 for one in quiet) <= 4
    found = released(1.0)
    assert found is not None
    assert found.p is not None
    assert found.p < 1e-4
    assert found.retained == pytest.approx(0.25, abs=0.02)


def test_randomized_records_are_tested_as_they_are_shown() -> None:
    random = np.random.default_rng(6)
    sex = random.integers(0, 2, 4000)
    ill = (random.gumbel(size=(4000, 4)) + np.outer(sex, [1.0, 0, 0, -1.0])).argmax(axis=1)
    table = pa.table({"sex": np.array(list("fm"))[sex], "town": random.integers(0, 3, 4000), "ill": np.array(list("abcd"))[ill]})
    schema = sf.Schema(quasi=["sex", "town"], sensitive=("ill",))
    release = sf.SmallDomain().run(sf.Table.from_frame(table, schema), sf.RhoPrivacy("2/5", "3/5"), random=1).release
    linked, unlinked = (release.crosstab("ill", name).test for name in ("sex", "town"))
    assert linked.verdict == "associated"
    assert unlinked.p is not None
    assert unlinked.p > 0.001
    assert unlinked.retained == 1.0
