"""Tables that leave little to cut: every way of cutting gives a release that holds, or says what is in the way."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Boxes, FPrivacy, Mondrian, Schema, Table, publication
from sfumato.errors import Infeasible
from sfumato.explanation import no_room
from tests.makers import people, tells

ROWS = 240
VALUES = [f"v{k % 8}" for k in range(ROWS)]
WAYS = {
    "safe": (Boxes(floor=10, patience=0), "engineer"),
    "soft": (Boxes(floor=10), "engineer"),
    "soft, ranges": (Boxes(floor=10, form="ranges"), "engineer"),
    "tight": (Boxes(floor=10), "reader"),
    "tight, association": (Boxes(floor=10, weights="association"), "reader"),
    "strict": (Mondrian(k=10, form="buckets"), "reader"),
    "relaxed": (Mondrian(k=10, partition="relaxed", form="buckets"), "reader"),
    "ranges": (Mondrian(k=10), "reader"),
}


def made(table, way):
    """The release, which has passed its audit, and its number of groups."""
    method, against = WAYS[way]
    result = publication(table, FPrivacy(offset="1/2", against=against), method=method, random=1)
    assert result.audit.holds is True
    assert result.release.rows == table.rows
    return result


def groups(result):
    parameters = result.release.manifest.parameters
    return parameters["groups"]


@pytest.mark.parametrize("way", WAYS)
def test_a_single_quasi_column_is_enough_to_cut(way):
    for column in (list(range(ROWS)), [f"town {k // 30}" for k in range(ROWS)]):
        result = made(people(VALUES, only=column), way)
        assert groups(result) > 1
        assert result.release.manifest.basis == (way[:4] if way[:4] in ("safe", "soft") else "tight")


@pytest.mark.parametrize("way", WAYS)
def test_a_constant_column_is_left_alone(way):
    ages = [k // 5 for k in range(ROWS)]
    alone, beside = (made(people(VALUES, **more, age=ages), way) for more in ({}, {"sex": ["f"] * ROWS, "year": [2020] * ROWS}))
    assert groups(beside) == groups(alone) > 1


def alike(rows=ROWS):
    return people(VALUES[:rows], sex=["f"] * rows, age=[30] * rows)


@pytest.mark.parametrize("way", ["safe", "soft", "soft, ranges", "tight", "tight, association"])
def test_where_all_people_are_alike_there_is_one_box_and_the_reason_is_told(way):
    assert groups(made(alike(), way)) == 1
    method, against = WAYS[way]
    assert no_room(alike(), FPrivacy(offset="1/2", against=against), method).reason == (
        "everybody has the same quasi values as published"
    )


@pytest.mark.parametrize(("way", "expected"), [("strict", 1), ("relaxed", 1), ("ranges", 1)])
def test_where_all_people_are_alike_mondrian_makes_one_group(way, expected):
    assert groups(made(alike(), way)) == expected


@pytest.mark.parametrize("way", WAYS)
def test_columns_with_more_categories_than_people_are_cut_like_others(way):
    names = [f"n{k}" for k in range(ROWS)]
    frame = pa.table({"name": names, "age": np.arange(ROWS) % 7, "value": VALUES})
    domains = {"name": [f"n{k}" for k in range(3 * ROWS)]}
    table = Table.from_frame(frame, Schema(quasi=["name", "age"], sensitive=["value"], domains=domains, allow_unique=["name"]))
    assert groups(made(table, way)) > 1


@pytest.mark.parametrize("against", ["engineer", "reader"])
def test_a_floor_larger_than_the_table_leaves_one_box_and_says_which_floor_would_do(against):
    table = people(VALUES, age=list(range(ROWS)))
    requirement, method = FPrivacy(offset="1/2", against=against), Boxes(floor=10 * ROWS)
    result = publication(table, requirement, method=method, random=1)
    assert groups(result) == 1
    assert result.audit.holds is True
    told = no_room(table, requirement, method)
    assert tells(told.reason, "floor of 2400", 4800, 240)
    assert "floor = 60" in told.helps


@pytest.mark.parametrize("partition", ["strict", "relaxed"])
def test_a_k_larger_than_the_table_is_refused_with_the_largest_that_works(partition):
    with pytest.raises(Infeasible, match="k = 241") as caught:
        publication(
            people(VALUES), FPrivacy(offset="1/2", against="reader"), method=Mondrian(k=ROWS + 1, partition=partition), random=1
        )
    assert caught.value.nearest == {"k": ROWS}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_of_two_people_is_published_whole(way):
    table = people(["a", "b"], age=[1, 2])
    if way in ("strict", "relaxed", "ranges"):
        with pytest.raises(Infeasible, match="the table has 2"):
            made(table, way)
    else:
        assert groups(made(table, way)) == 1
