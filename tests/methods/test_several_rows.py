"""Rows of one person who is known to have one diagnosis: what a reader then believes, before and after."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.api import publish
from sfumato.errors import InputError
from sfumato.methods import MultiSize
from sfumato.privacy import FPrivacy
from sfumato.release import Release
from sfumato.table import Schema, Table

BOUND = Fraction(1, 5)


def visits(people: int = 160, each: int = 4) -> pa.Table:
    """Return visits of patients, each with one diagnosis at all of them; everybody is unique by birth."""
    coins = np.random.default_rng(2)
    rows = [(f"P{100 + p}", day, 1900 + p, f"d{p % 10}") for p in range(people) for day in range(1 + p % each)]
    coins.shuffle(rows)
    return pa.table(dict(zip(["patient_nbr", "day", "born", "ill"], map(list, zip(*rows, strict=True)), strict=True)))


def read(**said: Any) -> Table:
    return Table.from_frame(visits(), Schema(quasi=["born"], sensitive=["ill"], other=["patient_nbr", "day"], **said), random=1)


def largest_belief(release: Release) -> Fraction:
    """Return how sure somebody becomes who knows that all rows of a person show one diagnosis: Π count/size over her buckets."""
    tables = release.tables()
    shown: dict[int, dict[str, int]] = defaultdict(dict)
    for bucket, ill, count in zip(*(tables["st"][name].to_pylist() for name in ("group", "ill", "count")), strict=True):
        shown[bucket][ill] = count
    buckets = defaultdict(list)
    for born, bucket in zip(*(tables["qit"][name].to_pylist() for name in ("born", "group")), strict=True):
        buckets[born].append(bucket)
    most = Fraction(0)
    for mine in buckets.values():
        weight = {ill: Fraction(1) for ill in shown[mine[0]]}
        for bucket in mine:
            size = sum(shown[bucket].values())
            weight = {ill: one * Fraction(shown[bucket].get(ill, 0), size) for ill, one in weight.items()}
        most = max(most, max(weight.values()) / sum(weight.values()))
    return most


RULE = FPrivacy(theta=1, offset="0.1")  # ten diagnoses of a tenth each: nobody may become surer than a fifth


def test_rows_of_one_person_break_a_bound_per_row_and_one_row_a_person_keeps_it() -> None:
    rows = publish(read(one_row_per_person=False), RULE, method=MultiSize(), random=1)
    assert largest_belief(rows) > 3 * BOUND
    assert "one person may have several" in rows.claims[0].statement
    with pytest.raises(InputError, match=r"'patient_nbr'.*key of people"):
        publish(read(), RULE, method=MultiSize(), random=1)
    people = publish(read(people={"key": "patient_nbr", "keep": "first by day"}), RULE, method=MultiSize(), random=1)
    assert people.rows == 160
    assert largest_belief(people) <= BOUND
    assert "a given published person has" in people.claims[0].statement


def test_the_same_people_and_seed_give_the_same_release_in_any_order_of_rows() -> None:
    data = visits().append_column("same", pa.array([1] * visits().num_rows))
    schema = Schema(
        quasi=["born"],
        sensitive=["ill"],
        other=["patient_nbr", "day", "same"],
        people={"key": "patient_nbr", "keep": "last by same"},
    )
    data = data.set_column(3, "ill", pa.array([f"d{i % 10}" for i in range(data.num_rows)]))  # now every visit differs
    found = []
    for order in (np.arange(data.num_rows), np.random.default_rng(1).permutation(data.num_rows)):
        table = Table.from_frame(data.take(pa.array(order)), schema, random=5)
        release = publish(table, RULE, method=MultiSize(), random=5)
        found.append([part.to_pydict() for part in release.tables().values()])
    assert found[0] == found[1]
