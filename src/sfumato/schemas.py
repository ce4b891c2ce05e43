"""JSON Schemas of typed structures: a `TypedDict` with annotated types says what a document holds, and its schema follows.

What types cannot say stands beside them: `Annotated[str, limits(maxLength=100)]`, in JSON Schema's own words. A `TypedDict`
becomes a definition of its own name, so that structures may hold themselves.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The name of the language that schemas are written in."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """Words of JSON Schema beside those that follow from the type."""

    words: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Extra:
    """What a `TypedDict` holds beside its own keys: how many keys in all, and of which types keys and values are."""

    key: Any
    value: Any
    most: int


def limits(**words: Any) -> Limits:
    """Return further words for a type: `limits(minimum=1)`."""
    return Limits(tuple(words.items()))


_PLAIN: dict[Any, Json] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    Any: {},
}


def schema_of(kind: Any, *, title: str, description: str) -> Json:
    """Return the JSON Schema of a type."""
    definitions: Json = {}
    schema = _schema(kind, definitions)
    if "$ref" in schema:  # beside a reference nothing else counts
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    about = {"$schema": DRAFT, "title": title, "description": description}
    return {**about, **schema, "definitions": dict(sorted(definitions.items()))}


def object_of(properties: Json, required: list[str], **words: Any) -> Json:
    """Return the schema of an object that has these keys and no others."""
    return {"type": "object", "properties": properties, "required": sorted(required), "additionalProperties": False, **words}


def any_of(choices: list[Json]) -> Json:
    """Return the schema of what fits one of several."""
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _schema(kind: Any, definitions: Json) -> Json:
    if is_typeddict(kind):
        return _reference(kind, definitions)
    maker = _MAKERS.get(get_origin(kind))
    if maker is not None:
        return maker(get_args(kind), definitions)
    if kind not in _PLAIN:
        raise TypeError(f"no schema is known for {kind!r}")
    return dict(_PLAIN[kind])


def _reference(kind: Any, definitions: Json, extra: Extra | None = None) -> Json:
    name = kind.__name__.lstrip("_")
    if name not in definitions:
        definitions[name] = {}  # a structure that holds itself meets its own name here
        definitions[name] = _object(kind, definitions, extra)
    return {"$ref": f"#/definitions/{name}"}


def _object(kind: Any, definitions: Json, extra: Extra | None) -> Json:
    hints = get_type_hints(kind, include_extras=True)
    # Of annotations that are texts a class does not know which ones are not required.
    required = [key for key, hint in hints.items() if key in kind.__required_keys__ and get_origin(hint) is not NotRequired]
    schema = object_of({key: _schema(hint, definitions) for key, hint in hints.items()}, required)
    if extra is not None:
        keys, values = (_schema(kind, definitions) for kind in (extra.key, extra.value))
        schema |= {"propertyNames": keys, "additionalProperties": values, "maxProperties": extra.most}
    return schema


def _annotated(given: tuple[Any, ...], definitions: Json) -> Json:
    kind, *beside = given
    extra = next((note for note in beside if isinstance(note, Extra)), None)
    schema = _schema(kind, definitions) if extra is None else _reference(kind, definitions, extra)
    for note in beside:
        schema |= dict(note.words) if isinstance(note, Limits) else {}
    return schema


def _literal(given: tuple[Any, ...], definitions: Json) -> Json:
    return {"const": given[0]} if len(given) == 1 else {"enum": list(given)}


def _list(given: tuple[Any, ...], definitions: Json) -> Json:
    return {"type": "array", "items": _schema(given[0], definitions)}


def _mapping(given: tuple[Any, ...], definitions: Json) -> Json:
    keys, values = (_schema(kind, definitions) for kind in given)
    return {"type": "object", "propertyNames": keys, "additionalProperties": values}


def _inside(given: tuple[Any, ...], definitions: Json) -> Json:
    return _schema(given[0], definitions)


def _union(given: tuple[Any, ...], definitions: Json) -> Json:
    return any_of([_schema(kind, definitions) for kind in given])


_MAKERS: dict[Any, Callable[[tuple[Any, ...], Json], Json]] = {
    Annotated: _annotated,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
    list: _list,
    dict: _mapping,
    NotRequired: _inside,
    Required: _inside,
}
