"""Crosstabs: margins, lift, and a test of association that gives few false alarms and finds what is there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from sfumato.errors import QueryError
from sfumato.query.crosstab import LOOSE, between_groups, crosstab
from sfumato.release import Release
from tests.query._releases import people, release_of
from tests.query.test_trend import boxed


def drawn(seed: int, link: float, other: float, rows: int = 2500) -> Release:
    """Boxes by age, every second cut by sex too; illness depends on sex by `link`, on age by `other`, in log-odds."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(20, 80, rows), random.integers(0, 2, rows)
    town = random.integers(0, 3, rows)
    score = (
        random.gumbel(size=(rows, 4))
        + np.outer(sex - 0.5, [link, 0, 0, -link])
        + np.outer((age - 50) / 30, [0, other, -other, 0])
    )
    stretch = (age - 20) * 2 // 3
    bucket = np.unique(2 * stretch + sex * (stretch % 2), return_inverse=True)[1]
    data = {"age": age, "sex": np.where(sex == 1, "m", "f"), "town": np.array(list("xyz"))[town]}
    return boxed(people(pa.table({**data, "ill": np.array(list("abcd"))[score.argmax(axis=1)]}), ["ill"]), bucket)


def test_margins_are_those_of_the_release_and_lift_is_count_over_expected() -> None:
    found = drawn(1, 1.0, 0.5).crosstab("ill", "sex")
    counts = np.array([[one.value for one in row] for row in found.counts])
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    assert np.allclose(found.expected, expected, rtol=1e-6)
    lifts = np.array([[one.value for one in row if one is not None] for row in found.lift])
    assert np.allclose(lifts, counts / expected)
    for row, lift_row in zip(found.counts, found.lift, strict=True):
        for count, lift in zip(row, lift_row, strict=True):
            assert lift is not None
            assert lift.low == pytest.approx(count.low * lift.value / count.value)
    assert found.to_arrow().num_rows == 8
    assert found.to_arrow().column_names == [
        "ill", "sex", "count", "std_error", "low", "high", "expected", "lift", "lift_low", "lift_high",
    ]  # fmt: skip
    assert "ill" in found._repr_html_()
    assert "associated" in str(found)


def test_where_nothing_is_hidden_the_test_is_pearsons() -> None:
    table = pa.table({"a": ["x"] * 30 + ["y"] * 70, "b": ["u"] * 20 + ["v"] * 10 + ["u"] * 20 + ["v"] * 50, "s": ["p", "q"] * 50})
    release = release_of(people(table, ["s"]), np.zeros(100, np.int64))
    test = crosstab(release, "a", "b").test
    by_hand = sum((c - e) ** 2 / e for c, e in ((20, 12), (10, 18), (20, 28), (50, 42)))
    assert test.statistic == pytest.approx(by_hand)
    assert test.mean == pytest.approx(100 / 99)
    assert test.p == pytest.approx(chi2.sf(by_hand, 1), rel=0.5)
    assert test.verdict == "associated"


@pytest.mark.parametrize("other", [0.0, 2.0])
def test_false_alarms_are_rare_whether_or_not_other_columns_are_linked(other: float) -> None:
    """Sixteen tables in which sex tells nothing; at 5 % each, four false alarms have a probability below 1 in 100."""
    found = [between_groups(drawn(seed, 0.0, other), "ill", "sex") for seed in range(16)]
    assert all(one is not None and one.p is not None for one in found)
    assert sum(one.p < 0.05 for one in found) <= 3  # type: ignore[union-attr, operator]
    assert {one.verdict for one in found if one is not None} <= {"no association seen", "cannot decide", "associated"}


def test_an_association_is_found() -> None:
    assert all(drawn(seed, 1.5, 1.0).crosstab("ill", "sex").test.p < 0.01 for seed in range(4))


def test_the_test_does_not_depend_on_the_estimator_of_cells() -> None:
    release = drawn(3, 1.0, 1.0)
    assert release.crosstab("ill", "sex", estimator="paper").test == release.crosstab("ill", "sex").test


def test_a_condition_leaves_the_errors_of_cells_and_one_value_leaves_no_test() -> None:
    release = drawn(3, 0.0, 1.0)
    test = release.crosstab("ill", "sex", where="age < 37").test
    assert test.verdict == "cannot decide"
    assert "cannot decide" in str(test)
    assert LOOSE in str(test)
    assert release.crosstab("ill", "sex", where="sex = 'm'").test.p is None
    assert "no test" in str(release.crosstab("ill", "sex", where="age < 37", estimator="paper").test)


def test_groups_that_overlap_are_not_compared() -> None:
    """Stretches of age in which men lie higher: groups differ in sex and in age at once, and illness follows age alone."""
    random = np.random.default_rng(1)
    age, sex = random.integers(20, 80, 2500), random.integers(0, 2, 2500)
    score = random.gumbel(size=(2500, 4)) + np.outer((age - 50) / 30, [0, 2, -2, 0])
    order, bucket = np.argsort(age + 40 * random.random(2500) * sex, kind="stable"), np.empty(2500, np.int64)
    bucket[order] = np.arange(2500) * 62 // 2500
    table = pa.table({"age": age, "sex": np.where(sex == 1, "m", "f"), "ill": np.array(list("abcd"))[score.argmax(axis=1)]})
    release = boxed(people(table, ["ill"]), bucket)
    assert between_groups(release, "ill", "sex") is None
    assert release.crosstab("ill", "sex").test.verdict == "cannot decide"


def test_columns_named_like_figures_have_their_place_in_frames() -> None:
    """A crosstab of `count` and `lift` failed; several figures of each `count_low` lost the grouped column."""
    random = np.random.default_rng(1)
    table = pa.table({"count": random.integers(0, 2, 200), "size": random.integers(0, 2, 200), "lift": ["p", "q"] * 100})
    release = release_of(people(table, ["lift"]), np.zeros(200, np.int64))
    found = release.crosstab("lift", "count").to_arrow()
    assert found.column_names[:4] == ["lift", "count", "count_", "std_error"]
    assert found.column_names[-3:] == ["lift_", "lift_low", "lift_high"]
    assert sum(found["count_"].to_pylist()) == pytest.approx(200)
    other = release_of(people(table.rename_columns(["count_low", "size", "lift"]), ["lift"]), np.zeros(200, np.int64))
    both = other.count("SELECT count_low, COUNT(*), AVG(size) GROUP BY count_low").to_arrow()
    assert both["count_low"].to_pylist() == [0, 1]
    assert sum(both["count_low_"].to_pylist()) == pytest.approx(200)


def test_a_crosstab_of_one_column_or_an_unknown_one_is_refused() -> None:
    release = drawn(1, 0.0, 0.0)
    with pytest.raises(QueryError, match="two different"):
        release.crosstab("sex", "sex")
    with pytest.raises(QueryError, match="there is no column"):
        release.crosstab("ill", "sx")


def test_values_with_markup_are_shown_as_text() -> None:
    table = pa.table({"a": ["<b>", "y"] * 50, "s": ["p", "q", "q", "p"] * 25})
    release = release_of(people(table, ["s"]), np.zeros(100, np.int64))
    assert "<b>" not in release.crosstab("s", "a")._repr_html_()
