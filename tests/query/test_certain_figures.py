"""Below ten boxes averages, sums and shares are said to lie between those of the least and the greatest placement, as such."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query.buckets import CERTAIN


def released(ages: list[int], values: list[object], *, floor: int, bins: object = None) -> tuple[sf.Table, sf.Release]:
    frame = pa.table({"age": ages, "sex": [("f", "m", "m")[i % 3] for i in range(len(ages))], "visits": values})
    given = {} if bins is None else {"bins": {"visits": bins}}
    table = sf.Table.from_frame(frame, sf.Schema(quasi=["age", "sex"], sensitive=["visits"], **given))
    rule = sf.LDiversity(2, against="reader")
    release = sf.publish(table, rule, method=sf.Boxes(floor=floor), random=1)
    assert 1 < len(set(release.group)) < 10
    return table, release


def placements(group: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Every way to give the values of each group to its people."""
    places = [np.flatnonzero(group == one) for one in np.unique(group)]
    ways = [sorted({*itertools.permutations(values[rows].tolist())}) for rows in places]
    found = []
    for chosen in itertools.product(*ways):
        one = np.zeros(len(values))
        for rows, given in zip(places, chosen, strict=True):
            one[rows] = given
        found.append(one)
    return found


@pytest.mark.parametrize("asked", ["AVG(visits) WHERE sex = 'f'", "SUM(visits) WHERE sex = 'f'", "AVG(age) WHERE visits = 4",
                                   "SHARE(visits > 3) WHERE sex = 'f'", "AVG(visits) WHERE sex = 'f' AND age < 40"])  # fmt: skip
def test_limits_are_reached_by_placements_and_by_no_more(asked: str) -> None:
    ages = [20, 21, 22, 23, 24, 50, 51, 52, 53, 54]
    table, release = released(ages, [1, 2, 4, 7, 9, 2, 3, 4, 8, 8], floor=5)
    found = release.count(asked)
    assert (found.confidence, found.note) == (1.0, CERTAIN)
    group = np.asarray(release.group)
    age, sex = (np.array(table.quasi[k].values.take(pa.array(table.quasi[k].codes)).to_pylist()) for k in (0, 1))
    of = np.array([float(text) for text in table.sensitive.labels])[table.sensitive.codes]
    women = (sex == "f") & ((age < 40) if "age <" in asked else True)
    figures = {
        "AVG(visits)": lambda one: one[women].mean(),
        "SUM(visits)": lambda one: one[women].sum(),
        "AVG(age)": lambda one: age[one == 4].mean(),
        "SHARE(visits > 3)": lambda one: (one[women] > 3).mean(),
    }
    told = [figures[asked.partition(" WHERE")[0]](one) for one in placements(group, of)]
    assert (found.low, found.high) == pytest.approx((min(told), max(told)))
    assert found.low <= found.value <= found.high


def test_limits_of_binned_numbers_hold_wherever_these_lie_in_their_bins() -> None:
    coins = np.random.default_rng(5)
    ages, visits = coins.integers(20, 80, 900).tolist(), coins.integers(0, 40, 900)
    _, release = released(ages, visits.tolist(), floor=150, bins={"edges": [0, 5, 10, 20, 40]})
    found = release.count("SELECT sex, AVG(visits) GROUP BY sex")
    for key, one in found:
        true = visits[[("f", "m", "m")[i % 3] == key["sex"] for i in range(900)]].mean()
        assert one.confidence == 1.0
        assert one.low <= true <= one.high
        assert one.note.startswith(CERTAIN)


def test_where_it_is_not_certain_whom_a_figure_is_about_there_are_no_limits() -> None:
    _, release = released([20, 21, 22, 23, 24, 50, 51, 52, 53, 54], [1, 2, 4, 7, 9, 2, 3, 4, 8, 8], floor=5)
    for asked in ("AVG(visits) WHERE sex = 'f' AND visits > 3", "MEDIAN(visits) WHERE sex = 'f'"):
        found = release.count(asked)
        assert (found.low, found.high) == (None, None)
        assert not found.note.startswith("what is certain")
