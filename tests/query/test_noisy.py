"""Counts from noisy boxes: what is certain, what noise adds to the error, and that intervals hold."""

import numpy as np
import pytest

from sfumato import Differential, FPrivacy, LDiversity, NoisyBoxes, Schema, Table
from sfumato.methods import noisy_boxes
from sfumato.query import anatomy_workload, count_many, range_workload, true_answers
from sfumato.release.accounts import noise_variance
from sfumato.table.generators import census, hospital
from tests.makers import closed_for, skewed

SHARES = {f"v{k}": 9 - k for k in range(9)}
METHOD = NoisyBoxes(shares=SHARES, otherwise="v8", floor=40)
TABLE = closed_for(METHOD, skewed(4000))
RELEASE = METHOD.run(TABLE, Differential("1"), random=1).release


def test_everybody_is_counted_exactly_and_nobody_too():
    everybody = RELEASE.count("")
    assert (everybody.value, everybody.std_error, everybody.low, everybody.high) == (4000, 0, 4000, 4000)
    women = RELEASE.count("sex = 'f'")
    assert women.value == women.low == women.high == TABLE.to_arrow()["sex"].to_pylist().count("f")
    assert RELEASE.count("age > 300").value == 0


def test_a_single_value_of_everybody_has_the_noise_of_all_boxes_in_its_error():
    estimate = RELEASE.count("value = 'v0'", estimator="paper")
    boxes = len(RELEASE.sizes)
    assert estimate.std_error == pytest.approx((noise_variance(RELEASE.manifest) * boxes * 8 / 9) ** 0.5)
    assert estimate.low is None  # as of any spread that takes the people of a box as alike
    others = RELEASE.count("value <> 'v0'", estimator="paper")
    assert estimate.value + others.value == pytest.approx(4000)
    assert others.std_error == pytest.approx(estimate.std_error)


def test_without_noise_the_plain_spread_is_that_of_exact_counts(monkeypatch):
    monkeypatch.setattr(noisy_boxes, "two_sided", lambda ratio, count, random: np.zeros(count, np.int64))
    release = METHOD.run(TABLE, Differential("1"), random=1).release
    truth = TABLE.sensitive.histogram()
    for value in SHARES:
        assert release.count(f"value = '{value}'", estimator="paper").value == pytest.approx(truth[value])


def test_cells_of_a_group_by_add_up():
    answer = RELEASE.count("SELECT COUNT(*) WHERE age > 40 GROUP BY value, sex")
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
    for seed in (1, 2, 3):
        for requirement in (EIGHT, LDiversity(5, against="insider") if joined else Differential("1")):
            plain, table, method = table_of(census(30_000, seed), CENSUS, "occupation")
            method = NoisyBoxes(**{**vars(method), "merge": joined})
            release = method.run(table, requirement, random=seed).release
            for name, make in (("sets", anatomy_workload), ("ranges", range_workload)):
                asked = make(plain, queries=200, seed=seed)
                truth = true_answers(plain, asked)
                answers = count_many(release, asked.queries)
                assert np.mean([estimate.low is None for estimate in answers]) < 0.05  # mostly prior
                for estimate, true in zip(answers, truth, strict=True):
                    if estimate.low is not None:
                        held[name].append(estimate.low <= true <= estimate.high)
    assert sum(map(len, held.values())) >= 2_000
    for name, found in held.items():
        assert np.mean(found) > 0.94, name


def test_few_buckets_have_no_interval():
    plain, table, method = table_of(hospital(3_000, 1), ("age", "sex"), "diagnosis")
    release = method.run(table, Differential("3"), random=1).release
    assert 10 <= len(release.sizes) < 50
    answer = release.count(f"age > 50 AND diagnosis = '{plain.sensitive.labels[0]}'")
    assert answer.low is None
    assert "fewer than 50 buckets" in answer.note
