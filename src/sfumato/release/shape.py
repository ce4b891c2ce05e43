"""Whether a JSON document has the shape that manifest.schema.json gives it: the part of JSON Schema that the file uses, strictly.

Stricter than the standard in two ways, because what may be spelled in two ways can tell something: 1.0 is no integer, and a
pattern speaks of the whole text. General validators take a tenth of a second to load, which is as long as a whole audit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from sfumato.errors import FormatError

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda given: isinstance(given, dict),
    "array": lambda given: isinstance(given, list),
    "string": lambda given: isinstance(given, str),
    "boolean": lambda given: isinstance(given, bool),
    "null": lambda given: given is None,
    "integer": lambda given: isinstance(given, int) and not isinstance(given, bool),
    "number": lambda given: _TYPES["integer"](given) or (isinstance(given, float) and isfinite(given)),
}
_EXACT = re.compile(r"(0|[1-9][0-9]{0,399})(/[1-9][0-9]{0,399})?")

Schema = Mapping[str, Any]


@cache
def manifest_schema() -> Schema:
    """Return the schema of manifest.json."""
    given: Schema = json.loads(files("sfumato.release").joinpath("manifest.schema.json").read_text(encoding="utf-8"))
    return given


def require_shape(document: Any) -> None:
    """Raise `FormatError` with the place that is not as the schema says; nothing of the document but its keys is shown."""
    fault = _fault(document, manifest_schema(), "")
    if fault is not None:
        raise FormatError(
            f"manifest.json: {fault.lstrip('.') or 'it'} is not what a manifest holds there",
            hint="the manifest was made or edited by something else; get the release again",
        )


def _fault(given: Any, schema: Schema, where: str) -> str | None:
    """Return the place of the first fault, None if there is none."""
    if "$ref" in schema:
        return _fault(given, manifest_schema()["definitions"][schema["$ref"].rpartition("/")[2]], where)
    if not _is_plain(given, schema):
        return where
    for check in (_object_fault, _array_fault, _combined_fault):
        fault = check(given, schema, where)
        if fault is not None:
            return fault
    return None


def _is_plain(given: Any, schema: Schema) -> bool:
    """Return whether a value has the type, is one of those listed, and lies within the limits that the schema gives."""
    if "type" in schema and not _TYPES[schema["type"]](given):
        return False
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if listed is not None and not any(type(given) is type(one) and given == one for one in listed):
        return False
    if isinstance(given, str):
        return _is_text(given, schema)
    if _TYPES["number"](given):
        above = given >= schema.get("minimum", given) and ("exclusiveMinimum" not in schema or given > schema["exclusiveMinimum"])
        return above and bool(given <= schema.get("maximum", given))
    return True


def _is_text(given: str, schema: Schema) -> bool:
    if not schema.get("minLength", 0) <= len(given) <= schema.get("maxLength", len(given)):
        return False
    if schema.get("format") == "exact" and not (_EXACT.fullmatch(given) and str(Fraction(given)) == given):
        return False
    return "pattern" not in schema or re.fullmatch(schema["pattern"], given) is not None


def _object_fault(given: Any, schema: Schema, where: str) -> str | None:
    if not isinstance(given, dict):
        return None
    if not schema.get("minProperties", 0) <= len(given) <= schema.get("maxProperties", len(given)):
        return where
    lacking = [key for key in schema.get("required", ()) if key not in given]
    if lacking:
        return f"{where}.{lacking[0]}"
    known = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    names = schema.get("propertyNames")
    for key, value in given.items():
        inside = known.get(key, other)
        if inside is False or (names is not None and _fault(key, names, where) is not None):
            return where
        fault = None if inside is True else _fault(value, inside, f"{where}.{key}" if key in known else where)
        if fault is not None:
            return fault
    return None


def _array_fault(given: Any, schema: Schema, where: str) -> str | None:
    if not isinstance(given, list):
        return None
    if not schema.get("minItems", 0) <= len(given) <= schema.get("maxItems", len(given)):
        return where
    for place, item in enumerate(given):
        fault = _fault(item, schema["items"], f"{where}[{place}]") if "items" in schema else None
        if fault is not None:
            return fault
    return where if schema.get("uniqueItems") and len(set(given)) < len(given) else None


def _combined_fault(given: Any, schema: Schema, where: str) -> str | None:
    for key in ("anyOf", "oneOf"):
        if key in schema and not any(_fault(given, one, where) is None for one in schema[key]):
            return _nearest(given, schema[key], where)
    for one in schema.get("allOf", ()):
        if _fault(given, one["if"], where) is None:
            fault = _fault(given, one["then"], where)
            if fault is not None:
                return fault
    return None


def _nearest(given: Any, choices: list[Schema], where: str) -> str:
    """Return the fault in the choice whose name the document has, else in the one that goes furthest: the place to look at."""
    named = [one for one in choices if isinstance(given, dict) and _names(given, one)]
    return max((_fault(given, one, where) or where for one in named or choices), key=len)


def _names(given: Mapping[str, Any], choice: Schema) -> bool:
    """Return whether the choice fixes a text, such as the name of a method, that the document has."""
    rules = choice.get("properties", {}).items()
    return any("const" in rule and given.get(key) == rule["const"] for key, rule in rules)
