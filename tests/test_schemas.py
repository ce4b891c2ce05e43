"""JSON Schemas follow from types: what a structure holds, what may lack, and what holds itself."""

from typing import Annotated, Literal, NotRequired, TypedDict

import pytest

from sfumato.release.shape import fault_in
from sfumato.schemas import Extra, limits, schema_of


class Leaf(TypedDict):
    kind: Literal["leaf"]
    size: Annotated[int, limits(minimum=1)]


class Branch(TypedDict):
    kind: Literal["branch"]
    inside: "list[Leaf | Branch]"
    note: NotRequired[str | None]


class _Open(TypedDict):
    name: str


def made(kind):
    return schema_of(kind, title="t", description="d")


def test_a_structure_that_holds_itself_has_a_finite_schema():
    schema = made(Branch)
    assert schema["required"] == ["inside", "kind"]
    assert schema["definitions"]["Leaf"]["properties"]["size"] == {"type": "integer", "minimum": 1}
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"kind": "branch", "inside": []}, None),
        ({"kind": "branch", "inside": [{"kind": "leaf", "size": 1}], "note": None}, None),
        ({"kind": "branch", "inside": [{"kind": "leaf", "size": 0}]}, "inside[0].size"),
        ({"kind": "branch", "inside": [{"kind": "branch", "inside": [{"kind": "leaf"}]}]}, "inside[0].inside[0].size"),
        ({"kind": "branch", "inside": [], "diary": "x"}, ""),
        ({"kind": "leaf", "inside": []}, "kind"),
        ([], ""),
    ],
)
def test_a_document_is_compared_with_it_and_the_place_of_a_fault_is_told(document, fault):
    assert fault_in(document, made(Branch)) == fault


def test_further_keys_have_types_of_their_own():
    schema = made(Annotated[_Open, Extra(Annotated[str, limits(pattern="^[a-z]+$")], int, 2)])
    assert fault_in({"name": "x", "size": 3}, schema) is None
    assert fault_in({"name": "x", "size": "3"}, schema) == ""
    assert fault_in({"name": "x", "SIZE": 3}, schema) == ""
    assert fault_in({"name": "x", "a": 3, "b": 3}, schema) == ""


def test_a_type_without_a_schema_is_an_error():
    with pytest.raises(TypeError, match="no schema"):
        made(set[int])
