"""The compiled loops do what plain Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.query import _kernels
from sfumato.query.rows import BucketIndex
from tests.query._releases import blind_buckets, release_of
from tests.query.test_buckets import associated


@st.composite
def releases(draw: Any) -> Any:
    table = associated(draw(st.integers(40, 120)), draw(st.integers(0, 1000)))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    return release_of(table, blind_buckets(table.sensitive.codes, draw(st.sampled_from([[3], [2, 7], [11]])), random))


@settings(max_examples=30, deadline=None)
@given(releases(), st.integers(0, 2**30))
def test_sums_over_buckets_are_those_of_plain_loops(release: Any, seed: int) -> None:
    index = BucketIndex.of(release)
    random = np.random.default_rng(seed)
    hits = random.integers(0, index.sizes + 1)
    wanted = random.random(index.values) < 0.5
    counts = np.zeros((index.groups, index.values))
    counts[release.st_group, release.st_value] = release.st_count
    value, variance, low, high, each, _ = index.weigh(hits, wanted)
    expected = [0.0, 0.0, 0, 0]
    for g in range(index.groups):
        k, s, n = int(hits[g]), int(counts[g, wanted].sum()), int(index.sizes[g])
        expected[0] += k * s / n
        expected[1] += k * (s / n) * (1 - s / n) * (n - k) / (n - 1) if n > 1 else 0
        expected[2] += max(0, k + s - n)
        expected[3] += min(k, s)
    assert [value, variance, low, high] == pytest.approx(expected)
    assert each == pytest.approx((hits / index.sizes) @ counts)
    assert index.spread(hits) == pytest.approx((hits / index.sizes) @ counts)
    assert index.wanted(wanted).tolist() == counts[:, wanted].sum(1).tolist()
    both = np.zeros((index.values, index.values))
    _kernels.together(1 / index.sizes, index.st_start, index.st_value, index.st_real, both)
    assert both == pytest.approx(counts.T @ (counts / index.sizes[:, None]))


@settings(max_examples=30, deadline=None)
@given(releases(), st.integers(0, 2))
def test_the_table_of_a_column_holds_the_estimate_of_every_code(release: Any, column: int) -> None:
    index = BucketIndex.of(release)
    codes = index.table.codes[column]
    out = np.zeros((len(index.table.counts[column]), index.values))
    _kernels.spread_codes(codes, index.group, index.shown, index.st_start, index.st_value, index.st_count, out)
    for code in range(len(out)):
        hits = np.bincount(index.group[codes == code], minlength=index.groups)
        assert out[code] == pytest.approx(index.spread(hits))


@given(st.lists(st.integers(0, 5), max_size=40), st.lists(st.booleans(), min_size=6, max_size=6))
def test_rows_are_kept_in_order_from_all_or_from_those_found(codes: list[int], accepted: list[bool]) -> None:
    column, table = np.array(codes, np.uint8), np.array(accepted).view(np.uint8)
    rows = np.empty(len(codes) + 1, np.int32)
    kept = _kernels.keep_rows(column, table, rows, len(codes), True)
    expected = [i for i, code in enumerate(codes) if accepted[code]]
    assert rows[:kept].tolist() == expected
    even = np.array([*range(0, len(codes), 2), 0], np.int32)
    kept = _kernels.keep_rows(column, table, even, len(codes[::2]), False)
    assert even[:kept].tolist() == [i for i in expected if i % 2 == 0]
    assert _kernels.count_wanted(column, table, np.arange(len(codes), dtype=np.int32), len(codes)) == len(expected)


@pytest.mark.parametrize("strength", [0.0, 0.01, 0.5])
def test_the_axes_give_the_posterior_of_the_full_gaussian_model(strength: float) -> None:
    table = associated(2000, 8)
    release = release_of(table, blind_buckets(table.sensitive.codes, [4], np.random.default_rng(9)))
    from sfumato.query.buckets import BucketsEngine
    from sfumato.query.models.likelihood import GRID, Association

    model = Association.fit(BucketsEngine.of(release))
    r = float(GRID[np.abs(GRID - strength).argmin()])
    a = model.g0 / np.outer(model.root, model.root)
    prior = np.eye(14) + r * model.axes.prior
    data = a @ prior @ a + a @ (np.eye(14) - a)  # covariance of the papers' estimates over √n
    seen = np.random.default_rng(10).normal(size=14)
    seen = a @ seen  # something the data could be
    gain = prior @ a @ np.linalg.pinv(data, rcond=1e-10)
    x = np.random.default_rng(11).normal(size=14)
    only = np.where(r == GRID, 1.0, 0.0)
    t = model.axes.to_t @ seen
    mean, variance = model._functional(t, x, 1 + r, only)
    assert mean == pytest.approx(x @ gain @ seen, rel=1e-5)
    assert variance == pytest.approx(x @ (prior - gain @ a @ prior) @ x, rel=1e-5)
    shares = _kernels.deviations(t, only, GRID, model.axes.mu, model.axes.f, model.axes.pf, model.root)
    assert shares == pytest.approx(gain @ seen / model.root, rel=1e-4, abs=1e-8)
    other = np.eye(14) + 0.1 * model.axes.prior
    wider = a @ other @ a + a @ (np.eye(14) - a)
    full = [
        -0.5 * (np.linalg.slogdet(c)[1] + 14 * np.log(s) + seen @ np.linalg.inv(c) @ seen / s)
        + 0.5 * np.log(s * (1 + q * model.axes.total_gain))
        for c, s, q in ((data, 1 / (1 + r), r), (wider, 1 / 1.1, 0.1))
    ]
    mine = _kernels.weigh(t, 1.0, np.array([r, 0.1]), model.axes.mu, model.axes.total_gain)
    assert mine[0] / mine[1] == pytest.approx(np.exp(full[0] - full[1]), rel=1e-3)
