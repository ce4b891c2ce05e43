"""Bins of a sensitive column of numbers: by edges, names, widths and equal numbers of people; and a bin with its neighbours."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.policy import Policy
from sfumato.table import Schema, Table
from sfumato.table.bins import bins


def incomes(rows=4000, seed=1):
    coins = np.random.default_rng(seed)
    return pa.table(
        {
            "age": coins.integers(18, 80, rows),
            "town": [f"t{k}" for k in coins.integers(0, 9, rows)],
            "income": coins.lognormal(7.5, 0.7, rows).round(2),
        }
    )


def schema(rule):
    return Schema(quasi=["age", "town"], sensitive=["income"], bins={"income": rule})


def test_bins_of_equal_people_have_round_edges_that_do_not_depend_on_the_order_of_rows():
    data = incomes()
    table = Table.from_frame(data, schema({"people": 10}))
    counts = table.sensitive.histogram()
    assert len(counts) == 10
    assert max(counts.values()) < 2 * 400
    edges = table.schema.bins_of("income").edges[1:-1]
    assert all(Fraction(f"{float(edge):.2g}") == edge for edge in edges)
    exact = np.quantile(data["income"].to_numpy(), np.arange(1, 10) / 10)
    assert all(abs(float(edge) - cut) <= 0.05 * cut for edge, cut in zip(edges, exact, strict=True))
    turned = Table.from_frame(data.take(pa.array(np.arange(4000)[::-1])), schema({"people": 10}))
    assert turned.schema.to_dict() == table.schema.to_dict()
    assert table.schema.to_dict()["bins"]["income"][0] == "-inf"  # a release says edges, not the rule


def test_equal_widths_have_open_ends_and_names_stand_for_bins():
    found = bins({"width": 1000, "from": 0, "to": 3000}, "income")
    assert found.labels == ("(-inf, 0)", "[0, 1000)", "[1000, 2000)", "[2000, 3000)", "[3000, inf)")
    assert bins({"width": "0.5", "from": 0, "to": 1}, "x").edges[1:-1] == (0, Fraction(1, 2), 1)
    named = bins({"edges": [0, 1000, "inf"], "labels": ["low", "high"]}, "income")
    assert named.place(np.array([0.0, 999.9, 1000.0, -1.0])).tolist() == [0, 0, 1, -1]
    assert named.labels == ("low", "high")
    table = Table.from_frame(incomes(), schema(named))
    assert set(table.sensitive.histogram()) == {"low", "high"}
    assert Schema.from_dict(table.schema.to_dict()).bins_of("income") == named


def test_an_edge_that_stands_twice_is_a_bin_of_that_number_alone():
    found = bins({"edges": [-5, 0, 0, 10, 10], "clip": "above"}, "income")
    assert found.labels == ("[-5, 0)", "0", "(0, 10)", "10")
    assert found.place(np.array([-6, -5, -0.1, 0, 0.1, 9.9, 10, 11])).tolist() == [-1, 0, 0, 1, 2, 2, 3, 3]
    assert Schema.from_dict(schema(found).to_dict()).bins_of("income") == found


def test_a_bin_from_0_to_at_most_1_is_taken_as_nothing_there_when_0_is_told_from_the_rest():
    visits = np.arange(900) % 3
    table = pa.table({"age": np.arange(900) % 50, "visits": visits})
    for rule in ([0, 1, 2, 3], {"edges": [0, 1, 2, 3], "clip": True}):
        release = sf.publish(table, sf.LDiversity(2), quasi=["age"], sensitive="visits", bins={"visits": rule}, random=1)
        some, none = release.count("visits > 0"), release.count("visits = 0")
        assert (some.value, some.low, some.high) == (600, 600, 900)  # as far as the release tells, all may be above 0
        assert (none.value, none.low, none.high) == (300, 0, 300)
        assert "[0, 1) is taken as 0" in some.note
        assert release.count("visits >= 0.5").value == pytest.approx(750)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"people": 1}, "number of bins from 2"),
        ({"people": 10, "width": 5}, "cannot be combined"),
        ({"width": 1000, "from": 0}, "cannot be combined"),
        ({"width": 1000, "from": 0, "to": 1500}, "whole number of widths"),
        ({"width": 0, "from": 0, "to": 1500}, "whole number of widths"),
        ({"edges": [0, 1, 2], "labels": ["a"]}, "2 different texts"),
        ({"edges": [0, 1, 2], "labels": ["a", "a"]}, "2 different texts"),
        ({"quantiles": 10}, "unknown key"),
        ({"edges": [0, 0, 0, 1]}, "edges must ascend"),
        ({"edges": [0, 0]}, "edges must ascend"),
        ({"edges": [0, "inf", "inf"]}, "edges must ascend"),
        ({"edges": [0, 1], "clip": "below"}, "clip is true"),
    ],
)
def test_other_bins_are_refused(rule, words):
    with pytest.raises(PolicyError, match=words):
        bins(rule, "income")


def test_edges_that_follow_from_the_table_are_refused_where_nothing_may():
    method = sf.NoisyBoxes(shares={"low": "0.5", "high": "0.5"}, otherwise="low")
    with pytest.raises(PolicyError, match="from the table"):
        method.close(schema({"people": 10}))
    method.close(schema({"edges": [0, 1000, "inf"], "labels": ["low", "high"]}))


def test_near_bounds_a_bin_together_with_its_neighbours(tmp_path):
    table = Table.from_frame(incomes(), schema({"people": 10}))
    labels = table.schema.bins_in_order()
    asked = sf.FPrivacy(theta=4, offset="0.02", sets={"income": {"near": 1, "theta": 2, "offset": "0.02"}})
    made = sf.Boxes(floor=20).run(table, asked, random=1)
    counts = table.sensitive.histogram()
    sets = {one["set"]: one for one in made.release.manifest.sets}
    assert list(sets) == [f"income: around {label}" for label in labels]
    for place, label in enumerate(labels):
        around = labels[max(place - 1, 0) : place + 2]
        together = sum(counts[one] for one in around)
        assert sets[f"income: around {label}"]["count"] == together
        limit = 2 * Fraction(together, 4000) + Fraction(1, 50)
        assert sets[f"income: around {label}"]["bound"] == str(limit)
        inside, st = {}, made.release.tables()["st"].to_pydict()
        for bucket, value, count in zip(st["group"], st["income"], st["count"], strict=True):
            inside[bucket] = inside.get(bucket, 0) + count * (value in around)
        sizes = dict(enumerate(made.release.sizes.tolist(), 1))
        assert max(Fraction(inside[one], sizes[one]) for one in sizes) <= limit
    assert len(made.release.sizes) > 1
    made.release.save(tmp_path / "release")
    assert sf.audit(tmp_path / "release").holds
    answer = sf.Release.load(tmp_path / "release").count(f"SELECT COUNT(*) FROM t WHERE income = '{labels[3]}'")
    assert answer.value == counts[labels[3]]


def test_near_needs_bins():
    table = Table.from_frame(incomes(), Schema(quasi=["age"], sensitive=["town"], other=["income"]))
    with pytest.raises(PolicyError, match="near is for bins"):
        sf.Boxes().run(table, sf.FPrivacy(offset="0.9", sets={"x": {"near": 1, "bound": "0.5"}}))


POLICY = """
[columns]
quasi = ["age", "town"]
sensitive = ["income"]
[bins]
income = { people = 8 }
[requirement]
model = "l-diversity"
l = 3
[requirement.sets]
within = { near = 1, bound = "0.7" }
"""


def test_a_policy_says_it_in_toml(tmp_path):
    import pyarrow.csv

    pyarrow.csv.write_csv(incomes(), tmp_path / "people.csv")
    policy = Policy.parse(POLICY)
    table = policy.read_table(tmp_path / "people.csv")
    made = sf.Boxes(floor=50).run(table, policy.requirement, random=1)
    assert len(made.release.manifest.sets) == len(table.sensitive.histogram()) == 8
    assert made.audit.holds
