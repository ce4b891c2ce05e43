"""Counts from randomized releases: unbiased reconstruction with its closed-form error, and the likelihood estimator."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import FPrivacy, Schema, Table
from sfumato.errors import QueryError
from sfumato.privacy import RhoPrivacy
from sfumato.query import Query, count, count_many
from sfumato.query.randomized import RandomizedEngine
from sfumato.release.randomized import RandomizedRelease
from tests.makers import people, skewed
from tests.release._randomized import balanced_parts, one_part, release_of

RHO = RhoPrivacy("2/5", "3/5")
TABLE = skewed(2000, values=8)
PER_VALUE = {f"v{k}": Fraction(1 + k, 12) for k in range(8)}


def release(seed=1, retention=None, merged=1, table=TABLE):
    return release_of(table, balanced_parts(table, merged), requirement=RHO, seed=seed, retention=retention)


def rows_of(release):
    return release.tables()["records"].to_pylist()


@pytest.mark.parametrize("retention", [None, PER_VALUE], ids=["uniform", "per value"])
def test_the_papers_estimate_is_the_reconstruction_on_the_matching_records_part_by_part(retention):
    made = release(retention=retention)
    expected = 0.0
    for number, part in enumerate(made.parts, 1):
        labels = [made.domain.labels[v] for v in part.values]
        counts = np.zeros(len(part))
        for row in rows_of(made):
            if row["part"] == number and row["age"] < 40:
                counts[labels.index(row["value"])] += 1
        matrix = np.array([[float(part.chance(x, y)) for x in range(len(part))] for y in range(len(part))])
        solved = np.linalg.solve(matrix, counts)
        expected += sum(n for label, n in zip(labels, solved, strict=True) if label in ("v1", "v5"))
    assert made.count("age < 40 AND value IN ('v1', 'v5')", estimator="paper").raw == pytest.approx(expected)


@pytest.mark.parametrize("retention", [None, PER_VALUE], ids=["uniform", "per value"])
def test_mean_and_error_are_those_of_every_outcome_enumerated(retention):
    table = people(["a", "b", "c", "a"], sex=["f"] * 4)
    kept = {"a": "1/2", "b": "1/3", "c": "1/4"} if retention else "2/5"
    made = release_of(table, one_part(table), requirement=RhoPrivacy("1/2", "4/5"), retention=kept)
    part = made.parts[0]
    mean = variance = estimated = 0.0
    for outcome in itertools.product(range(3), repeat=4):
        chance = float(np.prod([float(part.chance(x, y)) for x, y in zip((0, 1, 2, 0), outcome, strict=True)]))
        shown = RandomizedRelease(made.manifest, made.quasi, made.domain, made.part, np.array(outcome, dtype=np.int32))
        found = RandomizedEngine.of(shown)
        weights = found.weights(np.array([True, False, True]))
        value = float(found.published @ weights)
        mean += chance * value
        variance += chance * value**2
        estimated += chance * float(found.published @ weights**2 - value)
    assert mean == pytest.approx(3.0)
    assert estimated == pytest.approx(variance - mean**2)


def test_the_raw_estimate_may_be_negative_and_the_value_never_is():
    found = [release(seed).count("age = 30 AND value = 'v7'", estimator="paper") for seed in range(12)]
    assert min(answer.raw for answer in found) < 0
    assert all(answer.value >= 0 for answer in found)
    assert all(answer.low <= answer.value <= answer.high for answer in found)


def test_estimates_are_unbiased_and_their_errors_are_right():
    # 400 releases of one table; false alarm below 0.1 %, and a mean that is off by half a standard error is rejected.
    truth = int(((np.array(TABLE.to_arrow()["age"]) < 40) & (TABLE.sensitive.codes == 2)).sum())
    answers = [release(seed).count("age < 40 AND value = 'v2'", estimator="paper") for seed in range(400)]
    raw, error = np.array([a.raw for a in answers]), np.array([a.std_error for a in answers])
    standard = raw.std() / 20
    assert abs(raw.mean() - truth) < 3.3 * standard
    assert abs(raw.mean() - (truth + 0.5 * raw.std())) > 3.3 * standard
    assert 0.9 < raw.std() / np.sqrt((error**2).mean()) < 1.1


def test_what_is_certain_is_known_without_error():
    table = people(["a", "b"] * 50 + ["c", "d"] * 50, sex=["f"] * 100 + ["m"] * 100)
    made = release_of(table, [{0: 50, 1: 50}, {2: 50, 3: 50}], requirement=RhoPrivacy("1/4", "3/5"))
    for estimator in ("paper", "likelihood"):
        sure = made.count("value IN ('a', 'b')", estimator=estimator)
        assert (sure.value, sure.low, sure.high, sure.std_error) == (100, 100, 100, 0)
        assert made.count("sex = 'm' AND value = 'a'", estimator=estimator).value == 0
        assert made.count("", estimator=estimator).value == 200
    assert made.count("value = 'c'", estimator="paper", confidence=0.999999).high == 100


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
@pytest.mark.parametrize("group", ["sex", "value", "sex, value"])
def test_cells_of_a_group_by_add_up(estimator, group):
    answer = release().count(f"SELECT {group}, COUNT(*) FROM t WHERE age < 50 GROUP BY {group}", estimator=estimator)
    assert sum(cell.value for _, cell in answer) == pytest.approx(answer.total.value)
    assert sum(cell.raw for _, cell in answer) == pytest.approx(answer.total.raw)
    assert all(cell.value >= 0 for _, cell in answer)


def test_conditions_that_mix_columns_are_answered_in_disjoint_pieces():
    made = release()
    mixed = made.count("(sex = 'f' AND value = 'v0') OR (age < 40 AND value = 'v1')", estimator="paper")
    parts = [made.count(q, estimator="paper") for q in ("sex = 'f' AND value = 'v0'", "age < 40 AND value = 'v1'")]
    assert mixed.raw == pytest.approx(sum(part.raw for part in parts))
    assert mixed.std_error < sum(part.std_error for part in parts)
    likely = made.count("(sex = 'f' AND value = 'v0') OR (age < 40 AND value = 'v1')", estimator="likelihood")
    assert abs(likely.value - mixed.value) < 2 * mixed.std_error


def compound(rows=4000):
    coins = np.random.default_rng(8)
    illness, smoker = coins.choice(["flu", "hiv", "none"], rows, p=[0.3, 0.1, 0.6]), coins.choice(["yes", "no"], rows)
    frame = pa.table({"age": coins.integers(20, 60, rows), "illness": illness, "smoker": smoker})
    return Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness", "smoker"], protect="combination"))


@pytest.mark.parametrize("estimator", ["paper", "likelihood"])
def test_one_column_of_a_compound_attribute_can_be_asked_for(estimator):
    table = compound()
    made = release_of(table, one_part(table), requirement=RhoPrivacy("1/3", "3/4"))
    both = made.count("age < 40 AND illness = 'hiv'", estimator=estimator)
    each = [made.count(f"age < 40 AND illness = 'hiv' AND smoker = '{s}'", estimator=estimator) for s in ("yes", "no")]
    assert both.raw == pytest.approx(sum(one.raw for one in each))
    whole = table.to_arrow()
    truth = sum(a < 40 and i == "hiv" for a, i in zip(whole["age"].to_pylist(), whole["illness"].to_pylist(), strict=True))
    assert abs(both.value - truth) < 4 * both.std_error
    by = made.count("SELECT smoker, COUNT(*) FROM t GROUP BY smoker", estimator=estimator)
    assert sum(cell.value for _, cell in by) == pytest.approx(4000)


def test_recoded_columns_are_asked_for_in_original_terms():
    frame = pa.table({"age": np.arange(20, 60).repeat(50), "value": ["a", "b", "c", "d"] * 500})
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["value"], recode={"age": {"width": 10}}))
    made = release_of(table, one_part(table), requirement=RHO)
    exact = made.count("age BETWEEN 30 AND 39 AND value = 'a'", estimator="paper")
    cut = made.count("age BETWEEN 30 AND 34 AND value = 'a'", estimator="paper")
    assert cut.value < exact.value
    assert cut.low <= max(0, exact.low)
    assert cut.high >= exact.high
    assert "30" in cut.note


def test_the_likelihood_solution_is_that_of_the_full_matrices():
    made = release(retention=PER_VALUE)
    found = RandomizedEngine.of(made)
    rates, slots = found.rates, found.slots
    values = np.array([True, False, False, True] + [False] * 4)
    shown = found.find(next(iter(_pieces(found, "age < 40"))).rows)
    share = shown.sum() / 2000
    a = np.zeros((len(slots.value), 8))
    for i, part in enumerate(made.parts):
        for x, y in itertools.product(range(len(part)), repeat=2):
            a[slots.start[i] + y, part.values[x]] = rates.counts.mean[slots.start[i] + x] * float(part.chance(x, y))
    mu = a.sum(1)
    belief = a[:, values].sum(1) / mu
    rest = shown - share * found.published
    sigma = share * (1 - share)
    totals = a.sum(0)
    lever = totals * values - a.T @ belief
    shifts, spreads, logs = [], [], []
    for kappa in rates.kappa * 4.0 ** np.arange(-5, 3):  # a normal law of what is published for every strength
        precision = np.eye(8) / (kappa * sigma * sigma) + a.T @ (a / (sigma * mu)[:, None])
        shifts.append(lever @ np.linalg.solve(precision, a.T @ (rest / (sigma * mu))))
        spreads.append(lever @ np.linalg.solve(precision, lever))
        covariance = np.diag(sigma * mu) + kappa * sigma * sigma * a @ a.T
        fit = -0.5 * (np.linalg.slogdet(covariance)[1] + rest @ np.linalg.solve(covariance, rest))
        logs.append(fit - 0.5 * (np.log(kappa / rates.kappa) / 1.5) ** 2)
    shifts, spreads, weight = np.array(shifts), np.array(spreads), np.exp(np.array(logs[:-1]) - max(logs[:-1]))
    weight /= weight.sum()
    mean = weight @ shifts[:-1]
    value, variance = rates.count(shown, values)
    assert value == pytest.approx(share * totals[values].sum() + belief @ rest + mean)
    chance = (1 - share) * (shown @ (belief * (1 - belief)))
    spread = rates.counts.sum_variance(slots, values[slots.value])
    own = (spreads[:-1] + 3 * spreads[1:]) / 4
    unknown = weight @ (own + (shifts[:-1] - mean) ** 2) + (weight @ shifts[1:] - mean) ** 2
    assert variance == pytest.approx(share**2 * spread + chance + unknown)


def _pieces(index, text):
    from sfumato.query import parse_sql
    from sfumato.query.language.compile import compile_condition

    return compile_condition(parse_sql(text).condition, index.vocabulary).pieces


def test_the_likelihood_estimator_is_the_default_while_it_is_quick(monkeypatch):
    assert release().count("age < 30 AND value = 'v1'").estimator == "likelihood"
    monkeypatch.setattr("sfumato.query.randomized.MAX_WORK", 10)
    assert release().count("age < 30 AND value = 'v1'").estimator == "paper"
    with pytest.raises(QueryError, match="works up to 600 values") as caught:
        release().count("age < 30", estimator="likelihood")
    assert "paper" in caught.value.hint


def test_where_shares_are_hardly_known_the_likelihood_estimator_gives_no_interval():
    noisy = release_of(TABLE, one_part(TABLE), requirement=RHO, retention="1/50")
    answer = noisy.count("age < 40 AND value = 'v1'")
    assert (answer.low, answer.high) == (None, None)
    assert "no interval" in answer.note
    assert noisy.count("age < 40 AND value = 'v1'", estimator="paper").low is not None


def test_an_estimator_of_another_form_is_refused():
    with pytest.raises(QueryError, match="expected 'paper' or 'likelihood'"):
        count(release(), Query(), estimator="best")


def test_a_value_outside_its_part_is_an_error():
    made = release()
    wrong = RandomizedRelease(made.manifest, made.quasi, made.domain, np.zeros_like(made.part), made.value)
    other = next(v for v in range(8) if v not in made.parts[0].values) if len(made.parts[0]) < 8 else None
    assert other is not None
    with pytest.raises(QueryError, match="their part"):
        wrong.count("age < 30")


def zipf(most, rows=40_000):
    coins = np.random.default_rng(2)
    codes = np.minimum(coins.zipf(1.3, rows), most)
    table = people([f"c{k:05d}" for k in codes], sex=coins.choice(["f", "m"], rows).tolist())
    return codes, table, release_of(table, one_part(table), requirement=FPrivacy(offset="0.9"), retention="1/3")


@pytest.mark.parametrize(("most", "estimator"), [(15_000, "paper"), (300, "likelihood")])
def test_many_skewed_values_are_answered_by_the_estimator_that_suits_them(most, estimator):
    codes, table, made = zipf(most)
    women = table.quasi[0].codes == 0
    asked = ["sex = 'f' AND value = 'c00001'", "sex = 'f' AND value LIKE 'c0000%'"]
    for answer, truth in zip(count_many(made, asked), ((codes == 1) & women, (codes < 10) & women), strict=True):
        assert answer.estimator == estimator
        assert abs(answer.value - truth.sum()) < 4 * answer.std_error
        assert answer.std_error < 0.05 * truth.sum()
