"""The worked examples of heterogeneous generalization, as corrected where the print slips."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato.methods.base import Task
from sfumato.methods.show.own_ranges import show_own_ranges
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import match
from sfumato.papers.heterogeneous.method import Heterogeneous
from sfumato.papers.heterogeneous.packing import Packing, _pack_at, fill_in_order, in_paper_order, pack
from sfumato.papers.heterogeneous.scheme import deal
from sfumato.privacy import BetaLikeness, LDiversity
from sfumato.progress import silent
from sfumato.randomness import SeededRandomness
from sfumato.release.links import Links
from sfumato.table import Schema, Table

FIFTEEN = list("aaabbbcccddeeff")
SUPPORTS = (6, 7, 12)  # of a, b and d in section 4.4


def test_tables_4_to_6_put_fifteen_tuples_into_five_buckets_and_five_different_values():
    frame = pa.table({"number": list(range(15)), "value": FIFTEEN})
    table = Table.from_frame(frame, Schema(quasi=["number"], sensitive=["value"]))
    plan = pack(LDiversity(5).bounds(table.sensitive.histogram()), "paper")
    assert plan.held.tolist() == [
        [3, 0, 0, 0, 0, 0],
        [0, 3, 0, 0, 0, 0],
        [0, 0, 3, 0, 0, 0],
        [0, 0, 0, 2, 0, 1],
        [0, 0, 0, 0, 2, 1],
    ]
    codes, costs = table.sensitive.codes, Costs.of(table.quasi)
    for seed in range(8):
        slots = deal(plan, codes, SeededRandomness(seed))
        for matcher in ("hungarian", "sortgreedy", "greedy"):
            links = match(slots, codes, costs, once=True, starts=np.array([0, 3]), matcher=matcher)
            for b in range(5):
                # Table 5: in the x-th assignment bucket b is matched with bucket b + x; Table 6: no position repeats a value.
                for i in range(3):
                    met = "".join(sorted(FIFTEEN[slots[o, links[b, i, o]]] for o in range(5)))
                    assert met in ("abcde", "abcdf", "abcef")


@pytest.mark.parametrize(
    ("size", "buckets", "gain"),
    [
        (4, ["dddd", "dddd", "dddd", "aaaa", "aabb", "bbbb", "b"], Fraction(5, 7)),
        (5, ["aaaaa", "abbbb", "bbbdd", "ddddd", "ddddd"], Fraction(2, 3)),
        (6, ["aaaaaa", "dddddd", "dddddd", "bbbbbb", "b"], Fraction(5, 7)),
    ],
)
def test_tables_7_to_9_fill_one_bucket_after_the_other(size, buckets, gain):
    # The tables take values from the rarest on, which fill buckets exactly first; what lacks in the last bucket are dummies.
    order = in_paper_order(np.arange(3), np.array(SUPPORTS), size)
    plan = Packing(size, fill_in_order(SUPPORTS, size, order), False, "likeness")
    assert [[row.count(value) for value in "abd"] for row in buckets] == plan.held.tolist()
    # For c = 5 the formula prints 7/3 where the table has b in two buckets; 2/3 is right.
    assert plan.gain(SUPPORTS) == gain


def test_spreading_the_dummies_over_table_7_lowers_the_gain():
    held = _pack_at(SUPPORTS, np.array([2, 1, 0]), 4, 7, [2, 2, 3])
    plan = Packing(4, held, False, "remainders")
    assert plan.dummies.sum() == 3
    assert plan.gain(SUPPORTS) == Fraction(1, 3)
    assert plan.gain(SUPPORTS, with_dummies=False) == Fraction(4, 21)
    table_7 = Packing(4, fill_in_order(SUPPORTS, 4, np.array([2, 0, 1])), False, "likeness")
    assert table_7.gain(SUPPORTS, with_dummies=False) == Fraction(26, 49)


def test_algorithm_3_takes_the_largest_size_that_equation_7_allows():
    bounds = BetaLikeness("5/7").bounds({"a": 6, "b": 7, "d": 12})
    assert pack(bounds, "paper").size == 6
    assert pack(BetaLikeness("2/3").bounds({"a": 6, "b": 7, "d": 12}), "paper").size == 5
    assert pack(BetaLikeness(0).bounds({"a": 6, "b": 7, "d": 12}), "paper").pools == 25


def test_table_1_shows_the_ranges_of_its_matches_and_is_three_regular():
    age = [59, 57, 39, 28, 41, 37, 40, 53]
    salary = [25, 27, 47, 41, 20, 59, 35, 34]
    behind = [(0, 1, 7), (0, 1, 7), (2, 3, 5), (3, 4, 5), (0, 4, 6), (2, 3, 5), (2, 4, 6), (1, 6, 7)]
    frame = pa.table({"age": age, "salary": salary, "value": [f"v{k}" for k in range(8)]})
    table = Table.from_frame(frame, Schema(quasi=["age", "salary"], sensitive=["value"]))
    requirement = LDiversity(3, against="reader")
    release, links = show_own_ranges(
        Task(table, requirement, requirement.bounds(table.sensitive.histogram()), SeededRandomness(1), silent),
        Links(np.arange(0, 25, 3), np.array(behind, dtype=np.int32).reshape(-1), np.arange(8)),
        Heterogeneous(accept_weaker_claim=True),
        least=3,
        parameters={},
    )
    shown = {row["value"]: (row["age_min"], row["age_max"], row["salary_min"], row["salary_max"]) for row in _rows(release)}
    assert shown == {
        "v0": (53, 59, 25, 34),
        "v1": (53, 59, 25, 34),
        "v2": (28, 39, 41, 59),
        "v3": (28, 41, 20, 59),
        "v4": (40, 59, 20, 35),
        "v5": (28, 39, 41, 59),
        "v6": (39, 41, 20, 47),
        "v7": (40, 57, 27, 35),
    }
    matches = {t: {int(links.carried[r]) for r in range(8) if t in links.linked[3 * r : 3 * r + 3]} for t in range(8)}
    # The table prints t'1 among the matches of t6; its own right half says t'4.
    assert matches == {
        0: {0, 1, 4},
        1: {0, 1, 7},
        2: {2, 5, 6},
        3: {2, 3, 5},
        4: {3, 4, 6},
        5: {2, 3, 5},
        6: {4, 6, 7},
        7: {0, 1, 7},
    }


def _rows(release):
    return release.tables()["records"].to_pylist()
