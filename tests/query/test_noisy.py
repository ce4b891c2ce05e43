"""Counts from noisy boxes: what is certain, what noise adds to the error, and that intervals hold."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Differential, FPrivacy, LDiversity, NoisyBoxes, Schema, Table
from sfumato.methods import noisy_boxes
from sfumato.query import anatomy_workload, count_many, parse_sql, range_workload, true_answers
from sfumato.query.count import engine_of
from sfumato.release.accounts import noise_variance
from sfumato.table.generators import census, hospital
from tests.makers import closed_for, skewed

SHARES = {f"v{k}": 9 - k for k in range(9)}
METHOD = NoisyBoxes(shares=SHARES, otherwise="v8", floor=40)
TABLE = closed_for(METHOD, skewed(4000))


@pytest.fixture(scope="module")
def noisy():
    return METHOD.run(TABLE, Differential("1"), random=1).release


def test_everybody_is_counted_exactly_and_nobody_too(noisy):
    everybody = noisy.count("")
    assert (everybody.value, everybody.std_error, everybody.low, everybody.high) == (4000, 0, 4000, 4000)
    women = noisy.count("sex = 'f'")
    assert women.value == women.low == women.high == TABLE.to_arrow()["sex"].to_pylist().count("f")
    assert noisy.count("age > 300").value == 0


def test_a_single_value_of_everybody_has_the_noise_of_all_boxes_in_its_error(noisy):
    estimate = noisy.count("value = 'v0'", estimator="paper")
    boxes = len(noisy.sizes)
    assert estimate.std_error == pytest.approx((noise_variance(noisy.manifest) * boxes * 8 / 9) ** 0.5)
    assert estimate.low is None  # as of any spread that takes the people of a box as alike
    others = noisy.count("value <> 'v0'", estimator="paper")
    assert estimate.value + others.value == pytest.approx(4000)
    assert others.std_error == pytest.approx(estimate.std_error)


def test_without_noise_the_plain_spread_is_that_of_exact_counts(monkeypatch):
    monkeypatch.setattr(noisy_boxes, "two_sided", lambda ratio, count, random: np.zeros(count, np.int64))
    release = METHOD.run(TABLE, Differential("1"), random=1).release
    truth = TABLE.sensitive.histogram()
    for value in SHARES:
        assert release.count(f"value = '{value}'", estimator="paper").value == pytest.approx(truth[value])


def test_cells_of_a_group_by_add_up(noisy):
    answer = noisy.count("SELECT COUNT(*) WHERE age > 40 GROUP BY value, sex")
    assert sum(estimate.value for _, estimate in answer) == pytest.approx(answer.total.value)
    assert len(answer) == 18


def table_of(data, quasi, secret):
    schema = Schema(quasi=quasi, sensitive=[secret], types={secret: "categorical"})
    data = data.select([*quasi, secret])
    shares = dict(zip(*np.unique(np.array(list(map(str, data[secret].to_pylist()))), return_counts=True), strict=True))
    shares = {str(value): int(count) for value, count in shares.items()}
    method = NoisyBoxes(shares=shares, otherwise=next(iter(shares)))
    return Table.from_frame(data, schema), Table.from_frame(data, method.close(schema)), method


EIGHT = FPrivacy(theta=8, offset="0.02", against="insider")
CENSUS = ("age", "gender", "education", "marital", "race", "workclass", "country")


@pytest.mark.parametrize("joined", [False, True])
def test_intervals_hold_on_generated_tables(joined):
    held = {"sets": [], "ranges": []}
    for seed in (1, 2):
        plain, table, method = table_of(census(15_000, seed), CENSUS, "occupation")
        method = NoisyBoxes(**{**vars(method), "merge": joined})
        workloads = {
            "sets": anatomy_workload(plain, queries=150, seed=seed),
            "ranges": range_workload(plain, queries=150, seed=seed),
        }
        for requirement in (EIGHT, LDiversity(5, against="insider") if joined else Differential("1")):
            release = method.run(table, requirement, random=seed).release
            for name, asked in workloads.items():
                truth = true_answers(plain, asked)
                answers = count_many(release, asked.queries)
                assert np.mean([estimate.low is None for estimate in answers]) < 0.05  # mostly prior
                for estimate, true in zip(answers, truth, strict=True):
                    if estimate.low is not None:
                        held[name].append(estimate.low <= true <= estimate.high)
    assert sum(map(len, held.values())) >= 1_100
    for name, found in held.items():
        assert np.mean(found) > 0.94, name


def test_few_buckets_have_an_interval_and_below_ten_what_is_certain():
    plain, table, method = table_of(hospital(3_000, 1), ("age", "sex"), "diagnosis")
    asked = f"age > 50 AND diagnosis = '{plain.sensitive.labels[0]}'"
    release = method.run(table, Differential("3"), random=1).release
    assert 10 <= len(release.sizes) < 50
    answer = release.count(asked)
    assert (answer.estimator, answer.confidence) == ("likelihood", 0.95)
    assert answer.low < answer.high
    release = NoisyBoxes(**{**vars(method), "floor": 500}).run(table, Differential("3"), random=1).release
    assert len(release.sizes) < 10
    answer = release.count(asked)
    assert (answer.estimator, answer.low, answer.confidence) == ("paper", 0.0, 1.0)
    assert answer.high == int((np.array(plain.to_arrow()["age"].to_pylist()) > 50).sum())
    assert "what is certain" in answer.note


def rare_people(seed):
    """Return people of whom twelve and thirty have rare values, the latter mostly women."""
    coins = np.random.default_rng(seed)
    age, sex, town = coins.integers(20, 80, 3_000), coins.integers(0, 2, 3_000), coins.integers(0, 5, 3_000)
    value = np.array([f"v{k}" for k in range(6)], dtype=object)[np.minimum(coins.poisson(1 + age / 40), 5)]
    women = np.flatnonzero(sex == 1)
    rare = coins.permutation(3_000)[:12], coins.permutation(women)[:30]
    for name, own in zip(("twelve", "thirty"), rare, strict=True):
        value[own] = name
    return pa.table({"age": age, "sex": np.array(["m", "f"])[sex], "town": town, "value": value.tolist()})


def test_intervals_of_rare_values_hold_also_where_noise_has_made_their_sum_nothing():
    held, below = [], []
    for seed in range(14):
        plain, table, method = table_of(rare_people(seed), ("age", "sex", "town"), "value")
        release = NoisyBoxes(**{**vars(method), "floor": 30}).run(table, Differential("1"), random=seed).release
        labels, sums = plain.sensitive.labels, engine_of(release).index.totals
        for name in ("twelve", "thirty"):
            conditions = [f"value = '{name}'" + more for more in ("", " AND sex = 'f'", " AND age < 50", " AND town = 1")]
            truth = true_answers(plain, [parse_sql(one) for one in conditions])
            for one, right in zip(conditions, truth, strict=True):
                answer = release.count(one)
                held.append(answer.low <= right <= answer.high)
                below += held[-1:] if sums[labels.index(name)] <= 0 else []
    assert len(held) == 14 * 8
    assert np.mean(held) > 0.92
    assert len(below) > 20
    assert np.mean(below) > 0.92  # .71 where a sum of 0 or less is taken as known
