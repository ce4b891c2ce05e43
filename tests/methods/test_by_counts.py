"""Methods that say `by_counts` may see people in the order of their values: which order it is decides nothing."""

from __future__ import annotations

import dataclasses

import pytest

import sfumato as sf
from sfumato.methods.base import Method
from sfumato.table.generators import hospital

PEOPLE = 3_000


def table(*sensitive: str, protect: str | None = None) -> sf.Table:
    frame = hospital(PEOPLE, 3)
    quasi = ["age", "sex", "ward"]
    return sf.Table.from_frame(
        frame.select([*quasi, *sensitive]), sf.Schema(quasi=quasi, sensitive=list(sensitive), protect=protect)
    )


def shuffled(method: Method) -> Method:
    """Return the same method, that sees people in an order of coins."""
    kind = type(method)
    again = type(kind.__name__, (kind,), {"by_counts": False, "__module__": kind.__module__, "__annotations__": {}})
    return dataclasses.dataclass(frozen=True, kw_only=True)(again)(
        **{f.name: getattr(method, f.name) for f in dataclasses.fields(method)}
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("requirement", "method"),
    [
        (sf.FPrivacy(theta=8, offset="0.02"), sf.Boxes(floor=20)),
        (sf.FPrivacy(theta=8, offset="0.02"), sf.Boxes(floor=20, patience=0)),
        (sf.FPrivacy(theta=8, offset="0.02", against="reader"), sf.Boxes(floor=20)),
    ],
    ids=["soft", "safe", "tight"],
)
def test_a_release_of_boxes_is_the_same_in_whatever_order_people_stand(requirement, method, seed):
    people = table("diagnosis")
    assert method.by_counts
    one = method.run(people, requirement, random=seed).release
    other = shuffled(method).run(people, requirement, random=seed).release
    assert {name: t.to_pydict() for name, t in one.tables().items()} == {
        name: t.to_pydict() for name, t in other.tables().items()
    }
