"""The likelihood of all columns of a randomized release: what it computes, what it recovers, and whether its errors are right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato import RhoPrivacy, SmallDomain
from sfumato.query.models import _record_kernels as kernels
from sfumato.query.models import records as model
from sfumato.query.randomized import RandomizedEngine
from tests.makers import closed_for, people, skewed
from tests.query.test_coverage import coverage
from tests.release._randomized import balanced_parts, one_part, release_of

RHO = RhoPrivacy("2/5", "3/5")
PER_VALUE = {f"v{k}": Fraction(1 + k, 12) for k in range(8)}


def linked(rows: int, seed: int, values: int = 6) -> tuple[Any, np.ndarray]:
    """Return people whose values follow a law of the model, and everybody's chances under it."""
    coins = np.random.default_rng(seed)
    town, job, sex = coins.integers(0, 6, rows), coins.integers(0, 8, rows), coins.integers(0, 2, rows)
    laws = np.random.default_rng(7)
    logs = np.log(1.0 / np.arange(2, values + 2)) + np.zeros((rows, 1))
    for column, levels in ((town, 6), (job, 8), (sex, 2)):
        strength = laws.standard_t(2, (levels, values)) * 0.4
        logs = logs + strength[column]
    chances = np.exp(logs)
    chances /= chances.sum(axis=1, keepdims=True)
    drawn = (chances.cumsum(axis=1) < coins.random((rows, 1))).sum(axis=1)
    named = {"town": [f"t{k}" for k in town], "job": [f"j{k}" for k in job], "sex": ["fm"[k] for k in sex]}
    return people([f"v{k}" for k in drawn], **named), chances


def seen_by_hand(engine: RandomizedEngine, seen: model._Seen, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return [cells × values] chances, and [slots × values] what each slot tells."""
    slots = engine.slots
    logs = (seen.matrix @ weights)[seen.levels].sum(axis=1)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    told = seen.spread[slots.part].copy()
    told[np.arange(len(slots.value)), slots.value] += seen.kept
    return chances / chances.sum(axis=1, keepdims=True), told


def caught(release: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[RandomizedEngine, model._Seen, Any]:
    """Return the engine of a release, the slots that its model was fitted to, and the model."""
    kept: list[model._Seen] = []
    real = model._learn_weights
    monkeypatch.setattr(model, "_learn_weights", lambda seen, *rest: kept.append(seen) or real(seen, *rest))
    engine = RandomizedEngine.of(release)
    fitted = engine.records
    return engine, kept[0], fitted


@pytest.mark.parametrize("retention", [None, PER_VALUE], ids=["uniform", "per value"])
def test_likelihood_gradient_and_information_are_those_of_the_full_matrices(
    retention: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = skewed(400, values=8)
    made = release_of(table, balanced_parts(table, 1), requirement=RHO, retention=retention)
    engine, seen, _ = caught(made, monkeypatch)
    assert engine.slots.parts > 1
    weights = np.random.default_rng(1).normal(0, 0.3, (seen.matrix.shape[1], 8))
    chances, told = seen_by_hand(engine, seen, weights)
    assert told.sum(axis=0) == pytest.approx(np.ones(8))
    cell = np.repeat(np.arange(len(seen.levels)), np.diff(seen.start))
    shown = (chances[cell] * told[seen.slot]).sum(axis=1)
    likely, totals, gradient = seen.score(weights)
    assert likely == pytest.approx(np.log(shown).sum())
    assert totals == pytest.approx(chances[cell].sum(axis=0))
    after = chances[cell] * told[seen.slot] / shown[:, None]
    features = np.zeros((len(seen.levels), seen.matrix.shape[1]))
    for column in seen.levels.T:
        features += seen.matrix[column]
    assert gradient == pytest.approx(features[cell].T @ (after - chances[cell]), abs=1e-9)
    which = np.arange(8)
    for alone in (False, True):
        expected = np.zeros((len(seen.levels), 8))
        for c, own in enumerate(chances):
            slot = told @ own
            after = told * own / slot[:, None]
            if not alone:
                expected[c] = slot @ (after - own) ** 2
                continue
            for t in range(engine.slots.parts):
                mine = engine.slots.part == t
                part = slot[mine].sum()
                given = (slot[mine] @ after[mine]) / part
                expected[c] += slot[mine] @ (after[mine] - given) ** 2 + part * (given - own) ** 2 * given
        expected *= np.diff(seen.start)[:, None]
        precision, lean = seen.information(weights, which, alone=alone)
        for v in range(8):
            full = features.T @ (features * expected[:, v, None])
            along = full[:, 0] / full[0, 0]
            assert lean[v] == pytest.approx(along, abs=1e-4)
            known = full - full[0, 0] * np.outer(along, along)
            known[0, 0] = full[0, 0]
            assert precision[v] == pytest.approx(known, rel=1e-3, abs=1e-3 * np.abs(full).max())


def test_numpy_twin_and_kernel_agree_about_a_question() -> None:
    table, _ = linked(3000, 1)
    engine = RandomizedEngine.of(release_of(table, balanced_parts(table, 1), requirement=RHO))
    fitted = engine.records
    rows = np.random.default_rng(1).permutation(3000)[:900].astype(np.int32)
    wanted = np.array([True, False, True, False, False, False])
    given = (rows, 700, fitted.everybody, wanted, len(fitted.matrix))
    for one, other in zip(kernels._ask(*given), kernels.ask(*given), strict=True):
        assert one == pytest.approx(other, rel=1e-5)


@pytest.mark.parametrize("parts", [False, True], ids=["one part", "several parts"])
def test_a_known_law_is_recovered_much_better_than_by_independence(parts: bool) -> None:
    table, chances = linked(30_000, 2)
    made = release_of(table, balanced_parts(table, 1) if parts else one_part(table), requirement=RHO, retention="1/4")
    engine = RandomizedEngine.of(made)
    fitted = engine.records
    order = np.lexsort([column.codes for column in table.quasi])
    there = np.lexsort([column.codes for column in made.quasi])
    found = fitted.chances[fitted.cell[there]]
    truth = chances[order]
    off = np.abs(found - truth).mean()
    assert off < 0.35 * np.abs(truth - truth.mean(axis=0)).mean()
    assert found.sum(axis=1) == pytest.approx(np.ones(30_000), abs=1e-4)
    assert found.sum(axis=0) == pytest.approx(fitted.rates.totals, rel=0.05)
    wrong = np.abs(found[:, ::-1] - truth).mean()
    assert wrong > np.abs(truth - truth.mean(axis=0)).mean()


def cells_of(table: Any, made: Any, pairs: bool) -> list[tuple[float, ...]]:
    """Return truth, estimate, standard error, what independence says and the people of one-way cells, or of two-way ones."""
    engine = RandomizedEngine.of(made)
    values, found = len(table.sensitive.domain), []
    share = table.sensitive.counts / table.rows
    conditions = [(j, code) for j, column in enumerate(table.quasi) for code in range(column.size)]
    for j, code in conditions:
        for k, other in conditions if pairs else [(j, code)]:
            if k < j or (k == j) == pairs:
                continue
            here = (table.quasi[j].codes == code) & (table.quasi[k].codes == other)
            rows = np.flatnonzero((made.quasi[j].codes == code) & (made.quasi[k].codes == other)).astype(np.int32)
            truth = np.bincount(table.sensitive.codes[here], minlength=values)
            for v in np.flatnonzero(truth):
                value, variance, _ = engine.records.count(np.arange(values) == v, rows, len(rows))
                found.append((truth[v], value, np.sqrt(variance), here.sum() * share[v], len(rows)))
    return found


@pytest.mark.parametrize("kind", ["one part", "several parts", "per value"])
def test_errors_are_those_that_it_tells_and_smaller_than_those_of_independence(kind: str) -> None:
    # 7 fresh tables, the unit of sampling; false alarm below 0.3 %. Errors told too small by a third would be found.
    rows = []
    for seed in range(7):
        table, _ = linked(5000, 20 + seed)
        plan = one_part(table) if kind == "one part" else balanced_parts(table, 1)
        retention = PER_VALUE if kind == "per value" else "1/4"
        made = release_of(table, plan, requirement=RHO, retention=retention, seed=seed)
        for pairs in (False, True):
            rows += [(*one, pairs, seed) for one in cells_of(table, made, pairs)]
    truth, value, error, alone, _, pairs, table_number = np.array(rows).T
    for chosen in (pairs == 0, pairs == 1):
        away = np.abs(value - truth)[chosen] / error[chosen]
        mean, spread = coverage(away < 1.96, table_number[chosen])
        assert 0.92 - 3 * spread <= mean <= 0.99 + 3 * spread
        assert coverage(away < 1.96 / 1.6, table_number[chosen])[0] < 0.92
        assert np.abs(value - truth)[chosen].sum() < 0.7 * np.abs(alone - truth)[chosen].sum()


def test_with_hardly_any_value_kept_the_answer_is_that_of_independence_and_with_nearly_all_the_truth() -> None:
    table, _ = linked(6000, 3)
    little = release_of(table, one_part(table), requirement=RHO, retention="1/1000000")
    rates = RandomizedEngine.of(little).rates
    assert rates.totals == pytest.approx(np.full(6, 1000.0), rel=0.1)  # nothing is told: equal shares
    assert rates.too_noisy
    for _, value, error, _, asked in cells_of(table, little, pairs=False):
        assert value == pytest.approx(asked / 6, rel=0.1)
        assert np.isfinite(error)
    nearly = release_of(table, one_part(table), requirement=RHO, retention="999/1000")
    for truth, value, error, _, _ in cells_of(table, nearly, pairs=False):
        assert value == pytest.approx(truth, abs=5 * max(error, 1.0))
        assert error < 0.05 * truth + 4


def test_declared_parts_are_drawn_with_declared_chances() -> None:
    table = skewed(3000, values=6)
    shares = {label: int(n) for label, n in zip(table.sensitive.domain.labels, table.sensitive.counts, strict=True)}
    method = SmallDomain(parameters="declared", shares=shares, otherwise=next(iter(shares)))
    release = method.run(closed_for(method, table), RhoPrivacy("2/5", "3/5", against="insider"), random=1).release
    engine = RandomizedEngine.of(release)
    assert engine.drawn is not None
    assert engine.slots.by_value(engine.drawn) == pytest.approx(np.ones(engine.slots.values))
    answer = release.count("age < 45 AND value = 'v1'")
    codes, age = table.sensitive.codes, np.array(table.to_arrow()["age"])
    assert abs(answer.value - ((age < 45) & (codes == 1)).sum()) < 4 * answer.std_error


def test_a_release_that_is_too_large_is_answered_question_by_question(monkeypatch: pytest.MonkeyPatch) -> None:
    table = skewed(2000, values=8)
    made = release_of(table, one_part(table), requirement=RHO)
    engine = RandomizedEngine.of(made)
    shown = engine.shown(np.flatnonzero(made.quasi[1].codes == 0).astype(np.int32), int((made.quasi[1].codes == 0).sum()))
    wanted = np.arange(8) == 1
    monkeypatch.setattr(model, "MOST_CHANCES", 2000 * 8 - 1)
    sex = made.quasi[1].dictionary()[0].as_py()
    answer = made.count(f"sex = '{sex}' AND value = 'v1'")
    assert answer.value == pytest.approx(engine.rates.count(shown, wanted)[0])
