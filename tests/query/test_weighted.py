"""Weighted figures: those of the population, with what the release leaves open and what another sample would change."""

import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import FormatError, QueryError
from sfumato.methods import Boxes, Mondrian
from sfumato.query.models.protocol import Moments
from sfumato.query.weighted import apart

ROWS = 1500
RNG = np.random.default_rng(3)
AGE, REGION = RNG.integers(20, 60, ROWS), RNG.integers(0, 4, ROWS)
WEIGHT = np.array([10.0, 20.0, 40.0, 80.0])[REGION]
ILL = np.where(RNG.random(ROWS) < 0.2 + 0.1 * REGION, "x", np.where(RNG.random(ROWS) < 0.5, "y", "z"))
FRAME = pa.table(
    {"age": AGE, "sex": RNG.choice(["f", "m"], ROWS), "region": np.array(list("abcd"))[REGION], "wt": WEIGHT, "ill": ILL}
)
BINS = {"column": "wt", "made_without_secrets": True, "bins": [0, 15, 30, 60, 100], "values": [10, 20, 40, 80]}


def released(**design):
    return sf.publish(
        FRAME, sf.FPrivacy(theta="1.5", offset="0.1"), quasi=["age", "sex", "region"], sensitive="ill",
        weight={**BINS, **design}, method=Boxes(floor=40), random=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def release():
    return released()


def designed(z, strata=None, cluster=None):
    """Return the standard error of Σ z over samples, person by person, as textbooks have it."""
    strata = np.zeros(len(z), int) if strata is None else strata
    total = 0.0
    for h in np.unique(strata):
        own = (
            z[strata == h]
            if cluster is None
            else np.array([z[(strata == h) & (cluster == c)].sum() for c in np.unique(cluster[strata == h])])
        )
        total += len(own) / (len(own) - 1) * ((own - own.mean()) ** 2).sum()
    return math.sqrt(total)


def test_what_quasi_columns_decide_is_known_but_for_sampling(release):
    old = AGE >= 40
    found = release.count("age >= 40", weighted=True)
    assert found.value == pytest.approx(WEIGHT[old].sum())
    assert (found.sampling_error, found.release_error) == (pytest.approx(designed(WEIGHT * old)), 0.0)
    assert found.high - found.value == pytest.approx(1.959964 * found.std_error)
    average = release.count("AVG(age) WHERE sex = 'f'", weighted=True)
    women = np.asarray(FRAME["sex"]) == "f"
    mean = (WEIGHT * AGE)[women].sum() / WEIGHT[women].sum()
    assert average.value == pytest.approx(mean)
    assert average.sampling_error == pytest.approx(designed(WEIGHT * women * (AGE - mean) / WEIGHT[women].sum()))
    share = release.count("SHARE(age < 30) WHERE sex = 'f'", weighted=True)
    part = WEIGHT[women & (AGE < 30)].sum() / WEIGHT[women].sum()
    assert share.value == pytest.approx(part)
    assert share.sampling_error == pytest.approx(designed(WEIGHT * women * ((AGE < 30) - part) / WEIGHT[women].sum()))
    assert release.count("SELECT COUNT(*)").value == ROWS


def test_a_median_is_that_of_the_weighted_people(release):
    order = np.argsort(AGE)
    middle = AGE[order][np.searchsorted(np.cumsum(WEIGHT[order]), WEIGHT.sum() / 2)]
    found = release.count("MEDIAN(age)", weighted=True)
    assert found.value == middle
    assert found.low <= middle <= found.high
    assert found.release_error == 0


def test_a_secret_has_both_errors_and_its_weighted_total_is_near(release):
    found = release.count("ill = 'x'", weighted=True)
    assert found.value == pytest.approx(WEIGHT[ILL == "x"].sum(), rel=0.06)
    assert found.sampling_error == pytest.approx(designed(WEIGHT * (ILL == "x")), rel=0.1)
    assert found.release_error > 0
    assert found.std_error == pytest.approx(math.hypot(found.sampling_error, found.release_error))
    assert set(found.to_arrow().column_names) >= {"sampling_error", "release_error"}
    assert "by sampling" in str(found)
    cells = release.count("SELECT region, COUNT(*) WHERE ill = 'x' GROUP BY region", weighted=True)
    assert sum(one.value for _, one in cells) == pytest.approx(found.value)


def test_strata_and_clusters_are_those_of_published_columns():
    stratum = designed(WEIGHT * (AGE >= 40), strata=REGION)
    assert released(strata="region").count("age >= 40", weighted=True).sampling_error == pytest.approx(stratum)
    clustered = designed(WEIGHT * (AGE >= 40), cluster=AGE)
    assert released(cluster="age").count("age >= 40", weighted=True).sampling_error == pytest.approx(clustered)
    both = designed(WEIGHT * (ILL == "x"), strata=REGION, cluster=AGE)
    found = released(strata="region", cluster="age").count("ill = 'x'", weighted=True)
    assert found.sampling_error == pytest.approx(both, rel=0.25)


def test_crosstabs_and_quality_are_weighted(release):
    table = release.crosstab("ill", "region", weighted=True)
    cells = {(row, column): estimate for row, column, estimate, _ in table.named()}
    assert sum(one.value for one in cells.values()) == pytest.approx(WEIGHT.sum())
    assert all(one.sampling_error > 0 for one in cells.values())
    assert "sampling_error" in table.to_arrow().column_names
    assert table.test.mean > 0
    found = release.quality(weighted=True)
    assert all(0 < one.sampling <= one.error for one in found.questions)
    assert "sampling" not in release.quality().to_dict()["questions"][0]


def test_quality_is_weighted_where_columns_are_recoded():
    release = sf.publish(
        FRAME, sf.FPrivacy(theta="1.5", offset="0.1"), quasi=["age", "sex", "region"], sensitive="ill",
        weight=BINS, recode={"age": {"width": 5}}, method=Boxes(floor=40), random=1,
    )  # fmt: skip
    assert all(0 < one.sampling <= one.error for one in release.quality(weighted=True).questions)
    assert release.count(sf.Query(terms="published"), weighted=True).value == pytest.approx(WEIGHT.sum())


def test_chance_that_the_estimate_averages_out_is_in_no_error():
    """Every sample of four people of weight 1 or 3, of whom one box tells weights and how many are ill, enumerated.

    What is told is Σ weight·(share of ill). Its variance over samples is what both errors are on average.
    """
    people = [(weight, ill) for weight in (1, 3) for ill in (0, 1)]
    chance = {(1, 0): 0.28, (1, 1): 0.12, (3, 0): 0.42, (3, 1): 0.18}
    told, truth, placed, times = [], [], [], []
    for sample in product(people, repeat=4):
        weights, ill = np.array(sample, float).T
        told.append(weights.sum() * ill.mean())
        truth.append(weights @ ill)
        placed.append(weights.var() * ill.var() * 16 / 3)  # n²/(n − 1)·var·var: a random placement of the ill
        times.append(math.prod(chance[one] for one in sample))
    over = np.array(times)

    def variance(x):
        return float(over @ np.square(x) - (over @ np.array(x)) ** 2)

    both = [sum(apart(Moments(t, p, placed=p), variance(truth))) for t, p in zip(told, placed, strict=True)]
    assert over @ np.array(both) == pytest.approx(variance(told))
    assert variance(told) < 0.9 * variance(truth)


def test_errors_of_people_nobody_tells_apart_are_not_added_twice(release):
    """Ages that no box can tell apart: chance in who of a box is ill is in neither error."""
    every_other = f"ill = 'x' AND age IN ({', '.join(map(str, range(20, 60, 2)))})"
    found = release.count(every_other, weighted=True)
    drawn = designed(WEIGHT * (ILL == "x") * (AGE % 2 == 0))
    assert found.sampling_error < 0.9 * drawn
    assert abs(found.value - WEIGHT[(ILL == "x") & (AGE % 2 == 0)].sum()) < 3 * found.std_error


def test_completed_tables_keep_the_weight(release):
    for table in release.impute(2, seed=1):
        assert sorted(table["wt"].to_pylist()) == sorted(WEIGHT.tolist())


def test_what_shows_no_weights_of_people_is_not_weighted():
    plain = sf.publish(FRAME, sf.LDiversity(2), quasi=["age", "sex", "region"], sensitive="ill", method=Boxes(), random=1)
    with pytest.raises(QueryError, match="no survey weight"):
        plain.count("ill = 'x'", weighted=True)
    ranges = sf.publish(
        FRAME, sf.LDiversity(2, against="reader"), quasi=["age", "sex", "region"], sensitive="ill", weight=BINS,
        method=Mondrian(), random=1,
    )  # fmt: skip
    with pytest.raises(QueryError, match="each person's weight"):
        ranges.count("ill = 'x'", weighted=True)


def test_a_manifest_that_calls_another_column_the_weight_is_not_loaded(tmp_path):
    release = sf.publish(
        FRAME.append_column("rooms", pa.array(AGE % 7)), sf.FPrivacy(theta="1.5", offset="0.1"), quasi=["age", "sex", "rooms"],
        sensitive="ill", weight=BINS, method=Boxes(floor=40), random=1,
    )  # fmt: skip
    release.save(tmp_path / "release")
    manifest = tmp_path / "release" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"column": "wt"', '"column": "rooms"'))
    with pytest.raises(FormatError, match="7 numbers are shown that stand for no bin"):
        sf.Release.load(tmp_path / "release")
    assert [problem for problem in sf.audit(tmp_path / "release").problems if "stand for no bin" in problem]
