import json

import pytest

from sfumato import LDiversity, RhoPrivacy, SmallDomain, UniformPerturbation
from sfumato.explanation import explain
from sfumato.randomize.forecast import expected_relative_error
from tests.makers import people

COUNTS = {"a": 120, "b": 80, "c": 60, "d": 50, "e": 40, "f": 30, "g": 10, "h": 10, "i": 10, "j": 10}
TABLE = people([value for value, count in COUNTS.items() for _ in range(count)])
RHO = RhoPrivacy("1/3", "2/3")


def test_explain_tells_retention_per_part_and_the_expected_error():
    told = explain(TABLE, RHO, method=SmallDomain(), quick=True)
    # Example 1 of the paper, ten times: 360 people with p = 1/3 and 60 with p = 3/5.
    figures = told.to_dict()["randomization"]
    assert figures["retention"] == pytest.approx((360 / 3 + 60 * 0.6) / 420)
    assert sorted((part["values"], round(part["weight"] * 420), round(part["mean"], 4)) for part in figures["parts"]) == [
        (6, 60, 0.6),
        (6, 360, 0.3333),
    ]
    method = SmallDomain()
    plan = method.planned(RHO, method.bounds(TABLE, RHO), TABLE.rows)
    assert figures["expected_relative_error"] == {100: expected_relative_error(plan, 100)}
    json.dumps(told.to_dict())
    words = " ".join(told.sentences())
    assert "Randomization keeps 37.1 %" in words
    assert "There are 2 parts" in words
    assert "at 100 people" in words
    assert "each part" in words
    assert "in a bucket of fewer" not in words


def test_explain_says_why_randomization_cannot_keep_a_bound():
    table = people(["a"] * 50 + ["b"] * 30 + ["c"] * 20)
    told = explain(table, LDiversity(2), method=UniformPerturbation(), quick=True)
    assert not told.feasible
    assert "equals a value's share" in told.verdict()[0]
    assert told.cost.randomization is None


def test_explain_speaks_of_randomization_only_where_it_is_the_method():
    assert explain(TABLE, RHO, quick=True).cost.randomization is None
