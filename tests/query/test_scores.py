"""Sums of scores: against brute force, against counts, and on tables drawn anew."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.query.buckets import BucketsEngine
from sfumato.query.count import engine_of
from sfumato.query.models import _score_kernels as kernels
from sfumato.query.models.inside import Inside
from sfumato.query.models.scores import Weighed, _laid_out, mean_of, sum_of
from sfumato.query.rows import BucketIndex
from sfumato.query.sums import add_as_papers, shift_of
from tests.query._releases import people, release_of
from tests.query.test_inside import asking, small
from tests.query.test_trend import planted


@pytest.fixture(scope="module")
def inside() -> Inside:
    release = small()
    model = Inside.fit(BucketsEngine.of(release))
    start, entry, place = model.cells.start, model.goals.entry, model.place
    for b in range(model.index.groups):  # kept in 16 bits, a person's chances add up to one up to rounding; here they do
        own = model.chances[place[b] : place[b + 1]].reshape(entry[b + 1] - entry[b], start[b + 1] - start[b])
        own /= own.sum(axis=0)
    return model


def by_hand(inside: Inside, terms: list[Weighed]) -> tuple[float, float, np.ndarray]:
    """Mean, placement variance and D of a sum, person by person from the definition."""
    index, cells, goals = inside.index, inside.cells, inside.goals
    mean = placed = 0.0
    differ = np.zeros((len(inside.directions.matrix), index.values))
    scores = np.unique(np.stack([term.scores for term in terms]), axis=0)
    for box in range(index.groups):
        first, last = cells.start[box], cells.start[box + 1]
        shown = goals.value[goals.entry[box] : goals.entry[box + 1]]
        flat = inside.chances[inside.place[box] : inside.place[box + 1]].astype(float)
        chances = flat.reshape(len(shown), last - first)
        each = []
        for person in np.flatnonzero(index.group == box):
            p = np.zeros(index.values)
            p[shown] = chances[:, cells.cell[person] - first]
            own = np.zeros(index.values)
            for term in terms:
                own += term.scores * term.weight[term.rows == person].sum()
            each.append((person, p, own, np.diag(p) - np.outer(p, p)))
            mean += p @ own
        together = sum(scores @ cov @ scores.T for *_, cov in each)
        pull = sum(scores @ cov @ own for _, _, own, cov in each)
        part = np.linalg.pinv(together, rcond=1e-9) @ pull
        for person, p, own, cov in each:
            placed += own @ cov @ (own - part @ scores)
            left = own - part @ scores
            for column, level in enumerate(cells.levels[cells.cell[person]]):
                if cells.varies[box, column]:
                    differ[level] += p * (left - p @ left)
    return mean, placed, differ


def test_a_sum_of_two_overlapping_terms_is_that_of_its_people_one_by_one(inside: Inside) -> None:
    random = np.random.default_rng(2)
    rows = [np.sort(random.permutation(300)[:many]).astype(np.int32) for many in (120, 90)]
    scores = [np.array([1.0, 0.0, 1.0, 0.0]), np.array([3.0, -1.0, 0.5, 2.0])]
    terms = [Weighed(r, random.normal(size=len(r)), s, 1.0) for r, s in zip(rows, scores, strict=True)]
    mean, placed, differ = by_hand(inside, terms)
    of, distinct, weight = _laid_out(inside, terms)
    both = np.zeros((2, 2, len(inside.cells.weight)))
    full = np.zeros((2, 300))
    for t, term in enumerate(terms):
        full[t, term.rows] = term.weight
    for t, u in itertools.product(range(2), repeat=2):
        both[t, u] = np.bincount(inside.cells.cell, full[t] * full[u], len(inside.cells.weight))
    found = np.zeros_like(differ)
    laid_out = kernels.Terms(of, distinct, np.ones(2), weight, both)
    raked = kernels.Raked(inside.cells, inside.goals, inside.place, inside.chances)
    got = kernels.spread(raked, laid_out, found)
    assert mean_of(inside, terms) == pytest.approx(mean, rel=1e-5)
    assert got.placement == pytest.approx(placed, rel=1e-5)
    assert np.allclose(found, differ, atol=1e-5)


@pytest.mark.parametrize("values", [[0], [1, 3], [0, 1, 2]])
def test_a_count_is_a_sum_of_ones(inside: Inside, values: list[int]) -> None:
    wanted = np.isin(np.arange(4), values)
    rows = np.flatnonzero(inside.index.table.codes[0] < 12).astype(np.int32)
    counted = inside.estimate(asking(inside, wanted, rows))
    summed = sum_of(inside, [Weighed(rows, np.ones(len(rows)), wanted.astype(float), 1.0)])
    assert summed.value == pytest.approx(counted.value, rel=1e-5)
    assert summed.variance == pytest.approx(counted.variance, rel=0.5)  # single values in place of the set as a whole


def test_scores_and_units_scale_together(inside: Inside) -> None:
    rows = np.arange(0, 300, 3, dtype=np.int32)
    scores = np.array([1.0, 2.0, 5.0, 7.0])
    one = sum_of(inside, [Weighed(rows, np.ones(100), scores)])
    ten = sum_of(inside, [Weighed(rows, np.full(100, 2.0), 5 * scores + 3)])
    assert ten.variance == pytest.approx(100 * one.variance, rel=1e-4)
    assert ten.value == pytest.approx(10 * one.value + 3 * 200, rel=1e-5)


def test_what_two_halves_of_boxes_have_in_common_is_known(inside: Inside) -> None:
    rows = np.arange(0, 300, 2, dtype=np.int32)
    others = np.setdiff1d(np.arange(300), rows).astype(np.int32)
    scores = np.array([0.0, 1.0, 1.0, 0.0])
    terms = [Weighed(one, np.ones(150), scores, 1.0) for one in (rows, others)]
    assert sum_of(inside, terms).variance == pytest.approx(0.0, abs=1e-6)  # together they are what the boxes show
    apart = [terms[0], Weighed(others, -np.ones(150), scores, 1.0)]
    alone = sum_of(inside, terms[:1]).variance
    assert 4 * alone <= sum_of(inside, apart).variance * (1 + 1e-6) < 6 * alone  # 2·(one half) less what the boxes show


def test_the_papers_variance_is_that_of_all_placements() -> None:
    table = people(pa.table({"age": [1, 2, 3, 4, 5], "pay": [10, 20, 20, 40, 70]}), ["pay"])
    index = BucketIndex.of(release_of(table, np.zeros(5, np.int64)))
    terms = [
        Weighed(np.array([0, 1, 2], np.int32), np.array([1.0, 1.0, 2.0]), np.array([10.0, 20.0, 40.0, 70.0]), 1.0),
        Weighed(np.array([2, 4], np.int32), np.array([1.0, -1.0]), np.array([0.0, 1.0, 1.0, 0.0]), 1.0),
    ]
    outcomes = []
    for placed in itertools.permutations(table.sensitive.codes):
        outcomes.append(
            sum(float(w * term.scores[placed[i]]) for term in terms for i, w in zip(term.rows, term.weight, strict=True))
        )
    value, variance = add_as_papers(index, terms)
    assert value == pytest.approx(np.mean(outcomes))
    assert variance == pytest.approx(np.var(outcomes))


def test_the_adding_model_moves_a_sum_as_it_moves_its_counts() -> None:
    _, release = planted(rows=4_000, boxes=60)
    engine: Any = engine_of(release)
    rows = np.flatnonzero(engine.index.table.codes[1] == 1).astype(np.int32)
    wanted = np.array([True, False])
    hits = engine.index.count(rows, len(rows))
    from sfumato.query.language.compile import Piece, RowCondition

    shift, _ = engine.trend.shift(Piece(wanted, RowCondition({})), rows, len(rows), hits)
    moved, _ = shift_of(engine.trend, [Weighed(rows, np.full(len(rows), 3.0), wanted.astype(float), 1.0)])
    assert moved == pytest.approx(3 * shift)
    assert math.isfinite(moved)
