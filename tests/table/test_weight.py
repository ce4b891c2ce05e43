"""Weights of surveys: public bins with enough people, and numbers that follow from weights alone."""

import contextlib
import json
import math
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import LDiversity, Schema, Table
from sfumato.errors import FormatError, InputError, NotProvable, PolicyError
from sfumato.methods import Boxes, NoisyBoxes
from sfumato.privacy import Differential
from sfumato.table.weight import Weight


def sample(rows: int = 2000, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "region": rng.choice(list("abcd"), rows),
            "wt": np.exp(rng.normal(4, 0.5, rows)).round(3),
            "ill": rng.choice(list("xyzuv"), rows),
        }
    )


def schema(**weight: Any) -> Schema:
    return Schema(quasi=["age", "region"], sensitive=["ill"], weight={"column": "wt", **weight})


def test_steps_leave_no_bin_below_the_floor_and_stand_for_their_mean() -> None:
    data = sample()
    table = Table.from_frame(data, schema(floor=50))
    own = table.schema.to_dict()["weight"]
    edges, numbers = [float(edge) for edge in own["bins"]], np.asarray(data["wt"])
    place = np.searchsorted(edges, numbers, side="right") - 1
    assert edges[0] == 0
    assert edges[-1] == float("inf")
    assert np.bincount(place).min() >= 50
    means = [numbers[place == k].mean() for k in range(len(edges) - 1)]
    assert own["values"] == pytest.approx(means, rel=6e-4)
    assert np.asarray(table.column("wt").arrow()) == pytest.approx(np.array(own["values"])[place])
    assert 15 < len(own["values"]) < 30
    assert all(isinstance(edge, int) for edge in own["bins"][1:-1])  # multiples of 1: a tenth of the 1 % point is 1.7
    assert all(10 * high >= 11 * low for low, high in pairwise(edges))


def test_the_order_of_rows_decides_nothing() -> None:
    data = sample()
    shuffled = data.take(pa.array(np.random.default_rng(2).permutation(data.num_rows)))
    assert Table.from_frame(data, schema()).schema == Table.from_frame(shuffled, schema()).schema


def test_declared_edges_are_kept_and_a_small_bin_is_refused() -> None:
    table = Table.from_frame(sample(), schema(bins=[0, 50, 100, 2000], values="middle"))
    assert table.column("wt").values.to_pylist() == [25.0, 75.0, 1050.0]
    assert not table.schema.weight.from_table
    few = schema(bins=[0, 50, 100, 240, 2000])
    with pytest.raises(InputError, match=r"1 bins of 'wt'.* 20"):
        sf.publish(sample(), LDiversity(3), schema=few)
    with pytest.raises(InputError, match="lie outside the bins"):
        Table.from_frame(sample(), schema(bins=[0, 50]))


@pytest.mark.parametrize(("rule", "fault"), [
    ({"bins": [0, 50, 40]}, "edges must ascend"), ({"bins": [-1, 50]}, "ascend from 0"), ({"bins": "2-3"}, "expected edges"),
    ({"bins": [0, 50], "values": [60]}, "inside each"), ({"bins": [0, 5, 9], "values": [5, 5]}, "inside each"),
    ({"bins": [0, "inf"], "values": "middle"}, "no \"middle\""), ({"values": "middle"}, "where edges follow"),
    ({"floor": 1}, "from 2 on"), ({"strata": "zip"}, "no quasi column"), ({"cluster": "wt"}, "no quasi column"),
    ({"made_without_secrets": "yes"}, "true or false"), ({"colunm": "x"}, "unknown key"), ({"column": 3}, "expected a column"),
    ({"column": "ill"}, "and as weight"),
])  # fmt: skip
def test_what_is_no_weight_is_refused(rule: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        schema(**rule)


def test_weights_are_above_zero_and_everybody_has_one() -> None:
    data = sample(100)
    zero = data.set_column(2, "wt", pa.array([0.0] + [2.0] * 99))
    with pytest.raises(InputError, match="above 0"):
        Table.from_frame(zero, schema())
    with pytest.raises(PolicyError, match="'wt' is categorical, and weights are numbers"):
        Table.from_frame(data.set_column(2, "wt", pa.array(["much"] * 100)), schema())
    missing = data.set_column(2, "wt", pa.array([None] + [2.0] * 99))
    with pytest.raises(InputError, match="1 of 100 values are missing"):
        Table.from_frame(missing, schema())


def test_without_the_statement_claims_name_the_weight_and_those_on_odds_are_refused() -> None:
    rule = {"bins": [0, 60, 2000]}
    made = sf.publish(sample(), LDiversity(3), schema=schema(**rule), method=Boxes(), seed=1)
    assert "The weight 'wt' may have been made with secrets" in made.claims[0].statement
    assert sf.audit(made).holds
    told = sf.explain(Table.from_frame(sample(), schema(**rule)), LDiversity(3), method=Boxes(), quick=True).highlights()
    assert told[-1].startswith("The weight 'wt' may have been made with secrets")
    noisy = NoisyBoxes(values=list("xyzuv"), otherwise="x")
    odds = Differential(epsilon=3, against="insider")
    with pytest.raises(NotProvable, match="no secret went"):
        sf.publish(sample(), odds, schema=noisy.close(schema(**rule)), method=noisy, seed=1)
    stated = schema(**rule, made_without_secrets=True)
    release = sf.publish(sample(), odds, schema=noisy.close(stated), method=noisy, seed=1)
    assert "secrets" not in release.claims[0].statement
    assert "secrets" not in sf.publish(sample(), LDiversity(3), schema=stated, method=Boxes(), seed=1).claims[0].statement


def test_a_forged_weight_is_a_finding() -> None:
    made = sf.publish(sample(), LDiversity(3), schema=schema(made_without_secrets=True), method=Boxes(), seed=1)
    assert sf.audit(made).holds
    stated = made.manifest.schema["declared"]["weight"]
    for forged, found in (
        ({"floor": 1500}, "fewer people than the floor"),
        ({"column": "age"}, "no bin"),
        ({"values": [value + 1 for value in stated["values"]]}, "no bin"),
    ):
        declared = {**made.manifest.schema["declared"], "weight": {**stated, **forged}}
        manifest = replace(made.manifest, schema={**made.manifest.schema, "declared": declared})
        problems = sf.audit(replace(made, manifest=manifest)).problems
        assert any(found in problem for problem in problems), problems


def test_a_settled_weight_reads_back_as_it_was_written() -> None:
    own = Table.from_frame(sample(), schema()).schema
    assert Schema.from_dict(own.to_dict()) == Schema(**{**own.to_dict()})
    assert Schema.from_dict(own.to_dict()).to_dict() == own.to_dict()
    assert isinstance(own.weight, Weight)
    assert own.weight.from_table


FORGED = (
    {"values": []}, {"values": "mean"}, {"values": [1, 2, 3]}, {"bins": [0]}, {"bins": "1-2-5"}, {"bins": ["inf", 0]},
    {"bins": [0, 1e308], "values": [math.inf]}, {"bins": ["1/0", 5], "values": [3]}, {"column": 3},
    {"column": "ill"}, {"floor": -1}, {"floor": 10**40}, {"strata": "ill"}, {"cluster": ""}, {"from_table": "yes"},
    {"made_without_secrets": None}, {"more": 1}, {"values": ["9" * 300 + "/7"]},
)  # fmt: skip


@pytest.mark.parametrize("forged", [*FORGED, None])
def test_a_forged_manifest_is_refused_and_audited_without_harm(
    forged: dict[str, Any] | None, saved: Path, tmp_path: Path
) -> None:
    shutil.copytree(saved, tmp_path / "release")
    place = tmp_path / "release" / "manifest.json"
    document = json.loads(place.read_text())
    declared = document["schema"]["declared"]
    declared["weight"] = [] if forged is None else {**declared["weight"], **forged}
    place.write_text(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    with pytest.raises(FormatError):
        sf.Release.load(tmp_path / "release")
    with contextlib.suppress(FormatError):
        assert not sf.audit(tmp_path / "release").holds


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("weights") / "release"
    sf.publish(sample(600), LDiversity(3), schema=schema(made_without_secrets=True), method=Boxes(), seed=1).save(place)
    return place
