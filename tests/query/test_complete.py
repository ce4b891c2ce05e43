"""Probabilities of people and completed tables: they keep what is published, are proper draws, and combine honestly."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import sfumato
from sfumato.errors import QueryError
from sfumato.query.complete import Completion
from sfumato.query.models import _placing_kernels as kernels
from sfumato.query.models import placing
from sfumato.query.models.cells import Cells
from sfumato.query.models.softmax import Goals
from sfumato.query.models.trend import FEWEST_BOXES
from sfumato.randomness import SeededRandomness
from tests.query._releases import people, release_of
from tests.query.test_inside import small
from tests.query.test_trend import boxed, planted, truth
from tests.release._one_way import honest


def test_probabilities_add_up_to_one_for_a_person_and_to_the_counts_of_her_box() -> None:
    release = small(3, rows=900, boxes=60)
    frame = release.probabilities()
    assert frame.column_names == ["age", "sex", "town", "ill = w", "ill = x", "ill = y", "ill = z"]
    assert frame.select(["age", "sex", "town"]).equals(pa.table({c.name: c.arrow() for c in release.quasi}))
    found = np.stack([frame[name].to_numpy() for name in frame.column_names[3:]], axis=1).astype(float)
    assert np.allclose(found.sum(axis=1), 1.0, atol=1e-5)
    for b in range(60):
        shown = np.zeros(4)
        own = release.st_group == b
        shown[release.st_value[own]] = release.st_count[own]
        assert np.allclose(found[release.group == b].sum(axis=0), shown, atol=0.05)


def test_completed_tables_hold_the_published_people_and_the_counts_of_every_box() -> None:
    release = small(3, rows=900, boxes=60)
    tables = release.impute(3, random=1)
    entries = zip(release.st_group.tolist(), release.st_value.tolist(), release.st_count.tolist(), strict=True)
    shown = Counter({(b, v): n for b, v, n in entries})
    for table in tables:
        assert table.column_names == ["age", "sex", "town", "ill"]
        drawn = [release.labels.index(label) for label in table["ill"].to_pylist()]
        assert Counter(zip(map(int, release.group), drawn, strict=True)) == shown
        assert table.drop_columns(["ill"]).equals(pa.table({c.name: c.arrow() for c in release.quasi}))
    assert not tables[0].equals(tables[1])
    again = release.impute(3, random=1)
    assert all(one.equals(other) for one, other in zip(tables, again, strict=True))
    assert not release.impute(1)[0].equals(release.impute(1)[0])


def test_placements_of_a_small_box_have_the_chances_that_the_model_gives_them_by_enumeration() -> None:
    chances = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4], [0.25, 0.5, 0.25]])  # [people × values]
    count = np.array([2.0, 1.0, 1.0])
    exact = Counter()
    for world in set(itertools.permutations([0, 0, 1, 2])):
        exact[world] = math.prod(chances[i, v] for i, v in enumerate(world))
    whole = sum(exact.values())
    flat = np.ascontiguousarray(chances.T).ravel().astype(np.float32)
    first, start = np.array([0, 4]), np.array([0, 4])
    cell, place = np.arange(4, dtype=np.int32), np.array([0, 12])
    cells = Cells(np.zeros((4, 1), np.int32), np.ones(4, np.int64), start, np.ones((1, 1), bool), cell)
    goals = Goals(np.array([0, 3]), np.arange(3, dtype=np.int32), count, np.zeros(3), np.zeros(3))
    coins, found, rounds = SeededRandomness(1), Counter(), 8000
    for _ in range(rounds):
        out = np.zeros(4, np.int64)
        kernels.deal(first, cells, goals, place, flat, coins.words(4), out)
        for _ in range(6):
            kernels.exchange(first, cell, start, place, flat, coins.words(4), out)
        found[tuple(map(int, out))] += 1
    assert set(found) <= set(exact)
    for world, weight in exact.items():
        share = weight / whole
        assert abs(found[world] / rounds - share) < 4.5 * math.sqrt(share * (1 - share) / rounds)


def test_a_planted_link_is_in_completed_tables_and_their_spread_says_how_well_it_is_known() -> None:
    table, release = planted()
    actual = truth(table, "smokes = 'yes' AND illness = 'lung'")
    counts = []
    for one in release.impute(8, random=3):
        smokes, ill = (np.array(one[name].to_pylist()) for name in ("smokes", "illness"))
        counts.append(int(((smokes == "yes") & (ill == "lung")).sum()))
    error = math.sqrt((1 + 1 / 8) * np.var(counts, ddof=1))
    assert abs(np.mean(counts) - actual) < 3 * error
    answer = release.count("smokes = 'yes' AND illness = 'lung'")
    assert 0.4 < error / answer.std_error < 2


def test_weights_are_drawn_with_the_covariance_that_answers_have() -> None:
    _, release = planted(rows=4_000, boxes=60)
    model = Completion.of(release).secrets[0].model
    fit = model.softmax
    logs = [np.log(placing._draw_tables(model, SeededRandomness(k))) for k in range(300)]
    # A level's factors are known up to what all values share: compare the difference of two levels of `smokes` between values.
    no, yes = len(model.directions.matrix) - 2, len(model.directions.matrix) - 1
    drawn = [(one[yes, 0] - one[no, 0]) - (one[yes, 1] - one[no, 1]) for one in logs]
    along = model.directions.matrix[yes] - model.directions.matrix[no]
    wanted = model.model_error[1] * float(along[1:] @ along[1:])  # of two values, whose shares add up to one
    for value in (0, 1):
        precision = fit.information(np.array([value])) + np.diag(1 / (4 * fit.tau2[:, value]))
        known = along[1:] @ np.linalg.inv(precision)[1:, 1:] @ along[1:]
        wanted += (1 - model.share[value]) * max(1.0, fit.chi2[value]) * known
    assert np.var(drawn) == pytest.approx(wanted, rel=0.25)


def test_whole_numbers_add_up_to_the_box_and_are_right_on_average() -> None:
    counts, entry = np.array([0.25, 1.5, 1.25, 0.0, 2.5, 0.5]), np.array([0, 3, 6])
    drawn = np.array([placing._rounded(counts, entry, SeededRandomness(k)) for k in range(3000)])
    assert (drawn == np.floor(drawn)).all()
    assert (drawn[:, :3].sum(axis=1) == 3).all()
    assert (drawn[:, 3:].sum(axis=1) == 3).all()
    assert (np.abs(drawn - counts) < 1).all()
    assert np.allclose(drawn.mean(axis=0), counts, atol=0.05)


def test_noisy_boxes_are_completed_with_as_many_people_as_they_have() -> None:
    random = np.random.default_rng(4)
    age, sex = random.integers(20, 60, 6000), random.integers(0, 2, 6000)
    ill = np.where(random.random(6000) < 0.2 + 0.3 * sex, "Flu", np.where(random.random(6000) < 0.5, "Gout", "None"))
    shares = {"Flu": "0.35", "Gout": "0.325", "None": "0.325"}
    method = sfumato.NoisyBoxes(shares=shares, otherwise="None")
    frame = pa.table({"age": age, "sex": np.array(["f", "m"])[sex], "ill": ill})
    table = sfumato.Table.from_frame(frame, method.close(sfumato.Schema(quasi=["age", "sex"], sensitive=("ill",))))
    release = method.run(table, sfumato.FPrivacy(theta=2, offset="0.02", against="insider"), random=1).release
    drawn = release.impute(2, random=5)
    counts = [Counter(zip(one["sex"].to_pylist(), one["ill"].to_pylist(), strict=True)) for one in drawn]
    assert all(sum(one.values()) == 6000 for one in counts)
    actual = Counter(zip(frame["sex"].to_pylist(), frame["ill"].to_pylist(), strict=True))
    assert counts[0] != counts[1]  # the counts themselves are not known
    assert all(abs(one["m", "Flu"] - actual["m", "Flu"]) < 0.25 * actual["m", "Flu"] for one in counts)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("ranges", "ranges instead"),
        ("columns", "one person's"),
        ("views", "one person's"),
        ("synthetic", "synthetic table"),
    ],
)
def test_forms_that_cannot_be_completed_say_why(form: str, reason: str) -> None:
    with pytest.raises(QueryError, match=reason):
        honest(form).impute(5)


def randomized(seed: int, rows: int = 6_000) -> tuple[pa.Table, sfumato.Release]:
    """People whose illness depends on sex and town, randomized."""
    random = np.random.default_rng(seed)
    sex, town = random.integers(0, 2, rows), random.integers(0, 4, rows)
    weight = np.exp(1.2 * np.outer(sex, np.arange(6) == 0) + np.outer(town == 1, np.arange(6) == 3) - 0.1 * np.arange(6))
    ill = (random.random((rows, 1)) > np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    frame = pa.table(
        {"sex": np.array(["f", "m"])[sex], "town": np.array(list("abcd"))[town], "ill": np.array(list("uvwxyz"))[ill]}
    )
    table = sfumato.Table.from_frame(frame, sfumato.Schema(quasi=["sex", "town"], sensitive=("ill",)))
    return frame, sfumato.SmallDomain().run(table, sfumato.RhoPrivacy("1/3", "1/2"), random=seed).release


def test_completed_tables_of_randomized_records_hold_the_cells_of_the_original_table() -> None:
    held, narrow = [], []
    for seed in range(4):
        frame, release = randomized(seed)
        tables = release.impute(10, random=seed)
        quasi = [Counter(zip(*(one[name].to_pylist() for name in ("sex", "town")), strict=True)) for one in (frame, *tables)]
        assert all(one == quasi[0] for one in quasi)
        for column in ("sex", "town"):
            pairs = [Counter(zip(one[column].to_pylist(), one["ill"].to_pylist(), strict=True)) for one in (frame, *tables)]
            for cell, actual in pairs[0].items():
                drawn = np.array([one[cell] for one in pairs[1:]], float)
                off, error = abs(drawn.mean() - actual), math.sqrt(1.1 * drawn.var(ddof=1))
                held.append(off <= 2.26 * error)  # Student's t with nine degrees of freedom
                narrow.append(off <= 0.5 * error)
    assert len(held) == 4 * (12 + 24)
    assert np.mean(held) >= 0.9
    assert np.mean(narrow) < 0.6  # nor are they far too wide


def test_randomized_records_are_completed_repeatably_and_their_probabilities_add_up() -> None:
    frame, release = randomized(9)
    tables, again = release.impute(2, random=3), release.impute(2, random=3)
    assert all(one.equals(other) for one, other in zip(tables, again, strict=True))
    assert not tables[0].equals(tables[1])
    found = release.probabilities()
    assert found.column_names == ["sex", "town", *(f"ill = {value}" for value in "uvwxyz")]
    chances = np.stack([found[name].to_numpy() for name in found.column_names[2:]], axis=1).astype(float)
    assert np.allclose(chances.sum(axis=1), 1.0, atol=1e-5)
    men = np.array(found["sex"].to_pylist()) == "m"
    actual = Counter(zip(frame["sex"].to_pylist(), frame["ill"].to_pylist(), strict=True))["m", "u"]
    assert abs(chances[men, 0].sum() - actual) < 0.2 * actual


def test_a_release_that_tells_too_little_of_how_many_have_each_value_is_not_completed() -> None:
    random = np.random.default_rng(3)
    values = [f"v{k:02}" for k in random.integers(0, 60, 1_500)]
    frame = pa.table({"age": random.integers(20, 60, 1_500), "ill": values})
    table = sfumato.Table.from_frame(frame, sfumato.Schema(quasi=["age"], sensitive=("ill",)))
    release = sfumato.UniformPerturbation().run(table, sfumato.RhoPrivacy("1/20", "1/10"), random=1).release
    with pytest.raises(QueryError, match="too little"):
        release.impute(2)


def test_what_cannot_be_completed_is_refused_with_a_reason() -> None:
    table, release = planted(rows=400, boxes=5)
    with pytest.raises(QueryError, match="cannot be completed"):
        release.impute(2)
    blind = release_of(table, np.arange(400) // 4)
    with pytest.raises(QueryError, match="boxes of near people"):
        blind.probabilities()
    for wrong in (0, True, 2.5, 10_000):
        with pytest.raises(QueryError, match="m: expected a whole number"):
            release.impute(wrong)
    frame = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    ranges = sfumato.publish(
        frame, sfumato.LDiversity(2, against="reader"), quasi=["age"], sensitive="illness", random=1, method=sfumato.Mondrian()
    )
    with pytest.raises(QueryError, match="form 'ranges'"):
        ranges.impute(2)


def test_from_as_many_boxes_as_intervals_need_tables_are_completed_without_a_warning() -> None:
    _, release = planted(rows=1_000, boxes=FEWEST_BOXES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release.impute(1, random=1)
    _, few = planted(rows=1_000, boxes=FEWEST_BOXES - 1)
    with pytest.raises(QueryError, match="10"):
        few.impute(1, random=1)


def test_several_secrets_and_missing_values_come_back_as_columns() -> None:
    random = np.random.default_rng(2)
    rows = 2_000
    age = np.sort(random.integers(0, 100, rows))
    data = {
        "age": age,
        "illness": np.array(["Flu", "Gout"])[random.integers(0, 2, rows)],
        "drug": pa.array([None if coin else "A" for coin in random.integers(0, 2, rows)]),
    }
    release = boxed(people(pa.table(data), ["illness", "drug"]), np.arange(rows) * 60 // rows)
    (one,) = release.impute(1, random=1)
    assert one.column_names == ["age", "illness", "drug"]
    pairs = Counter(zip(data["illness"].tolist(), data["drug"].to_pylist(), strict=True))
    assert Counter(zip(one["illness"].to_pylist(), one["drug"].to_pylist(), strict=True)) == pairs
