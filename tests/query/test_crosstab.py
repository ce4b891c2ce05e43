"""Crosstabs: margins, lift, and a test of association that gives few false alarms and finds what is there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

from sfumato.errors import QueryError
from sfumato.query.crosstab import crosstab
from sfumato.release import Release
from tests.query._releases import people, release_of
from tests.query.test_trend import boxed


def drawn(seed: int, link: float, other: float, rows: int = 2500) -> Release:
    """Boxes by age in which the share of men differs; illness depends on sex by `link`, on age by `other`, in log-odds."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(20, 80, rows), random.integers(0, 2, rows)
    town = random.integers(0, 3, rows)
    score = (
        random.gumbel(size=(rows, 4))
        + np.outer(sex - 0.5, [link, 0, 0, -link])
        + np.outer((age - 50) / 30, [0, other, -other, 0])
    )
    order = np.argsort(age + 40 * random.random(rows) * sex, kind="stable")
    bucket = np.empty(rows, np.int64)
    bucket[order] = np.arange(rows) * 62 // rows
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


def test_where_nothing_is_hidden_the_statistic_is_pearsons() -> None:
    table = pa.table({"a": ["x"] * 30 + ["y"] * 70, "b": ["u"] * 20 + ["v"] * 10 + ["u"] * 20 + ["v"] * 50, "s": ["p", "q"] * 50})
    release = release_of(people(table, ["s"]), np.zeros(100, np.int64))
    test = crosstab(release, "a", "b").test
    by_hand = sum((c - e) ** 2 / e for c, e in ((20, 12), (10, 18), (20, 28), (50, 42)))
    assert test.statistic == pytest.approx(by_hand)
    assert test.mean == 1
    assert test.p == pytest.approx(chi2.sf(by_hand, 1))


@pytest.mark.parametrize("other", [0.0, 2.0])
def test_false_alarms_are_rare_whether_or_not_other_columns_are_linked(other: float) -> None:
    """Sixteen tables in which sex tells nothing; at 5 % each, four false alarms have a probability below 1 in 100."""
    found = [drawn(seed, 0.0, other).crosstab("ill", "sex").test.p for seed in range(16)]
    assert sum(p is not None for p in found) >= 12
    assert sum(p is not None and p < 0.05 for p in found) <= 3


def test_an_association_is_found() -> None:
    assert all(drawn(seed, 1.5, 1.0).crosstab("ill", "sex").test.p < 0.01 for seed in range(4))


def test_without_intervals_there_is_no_test() -> None:
    release = drawn(3, 1.0, 1.0)
    test = release.crosstab("ill", "sex", estimator="paper").test
    assert test.p is None
    assert "leans toward independence" in str(test)
    assert release.crosstab("ill", "sex", where="sex = 'm'").test.p is None


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
