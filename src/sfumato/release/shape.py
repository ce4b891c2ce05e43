"""A manifest has the shape that its schema gives it, before anything else is read from it.

Of JSON Schema the part that the manifest's schema uses, and stricter in two ways, because what may be spelled in two ways can
tell something: 1.0 is no integer, and a pattern speaks of the whole text. General validators take a tenth of a second to load,
which is as long as a whole audit.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

from sfumato.errors import FormatError
from sfumato.release.document import ManifestDocument
from sfumato.schemas import schema_of

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

JsonSchema = Mapping[str, Any]


@cache
def manifest_schema() -> JsonSchema:
    """Return the schema of manifest.json."""
    return schema_of(
        ManifestDocument,
        title="The manifest of a sfumato release",
        description=(
            "Everything that manifest.json may hold. Beyond this schema: keys are sorted and the text is spelled in one way "
            "(docs/formats.md), fractions are in lowest terms, and claims are made in fixed words. The format exact, with above, "
            "below, at_least and at_most, is that of fractions."
        ),
    )


def require_shape(document: Any) -> None:
    """Raise `FormatError` with the place that is not as the schema says; nothing of the document but its keys is shown."""
    fault = fault_in(document, manifest_schema())
    if fault is not None:
        raise FormatError(
            f"manifest.json: {fault or 'it'} is not valid there",
            hint="the manifest was changed, or made by other software; get the release again",
        )


def fault_in(document: Any, schema: JsonSchema) -> str | None:
    """Return the place of the first fault in a document, empty for the whole of it; None where it is as the schema says."""
    fault = _Validator(schema["definitions"]).fault(document, schema, "")
    return None if fault is None else fault.lstrip(".")


@dataclass(frozen=True)
class _Validator:
    """Compares documents with the schemas that `sfumato.schemas` makes."""

    definitions: JsonSchema

    def fault(self, given: Any, schema: JsonSchema, where: str) -> str | None:
        """Return the place of the first fault, None if there is none."""
        schema = self._known(schema)
        if not _is_plain(given, schema):
            return where
        if isinstance(given, dict):
            fault = self._object_fault(given, schema, where)
        else:
            fault = self._array_fault(given, schema, where) if isinstance(given, list) else None
        return self._choice_fault(given, schema, where) if fault is None else fault

    def _known(self, schema: JsonSchema) -> JsonSchema:
        definition: JsonSchema = self.definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        return definition

    def _object_fault(self, given: Mapping[str, Any], schema: JsonSchema, where: str) -> str | None:
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
            if inside is False or (names is not None and self.fault(key, names, where) is not None):
                return where
            fault = None if inside is True else self.fault(value, inside, f"{where}.{key}" if key in known else where)
            if fault is not None:
                return fault
        return None

    def _array_fault(self, given: list[Any], schema: JsonSchema, where: str) -> str | None:
        if not schema.get("minItems", 0) <= len(given) <= schema.get("maxItems", len(given)):
            return where
        for place, item in enumerate(given):
            fault = self.fault(item, schema["items"], f"{where}[{place}]") if "items" in schema else None
            if fault is not None:
                return fault
        return where if schema.get("uniqueItems") and len(set(given)) < len(given) else None

    def _choice_fault(self, given: Any, schema: JsonSchema, where: str) -> str | None:
        """Return the fault in the choice whose name the document has, else in the one that goes furthest: where to look."""
        choices = [self._known(choice) for choice in schema.get("anyOf", ())]
        if not choices or any(self.fault(given, choice, where) is None for choice in choices):
            return None
        named = [choice for choice in choices if isinstance(given, dict) and _is_named(given, choice)]
        return max((self.fault(given, choice, where) or where for choice in named or choices), key=len)


def _is_plain(given: Any, schema: JsonSchema) -> bool:
    """Return whether a value has the type, is one of those listed, and lies within the limits that the schema gives."""
    if "type" in schema and not _TYPES[schema["type"]](given):
        return False
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if listed is not None and not any(type(given) is type(value) and given == value for value in listed):
        return False
    if isinstance(given, str):
        return _is_text(given, schema)
    if _TYPES["number"](given):
        above = given >= schema.get("minimum", given) and ("exclusiveMinimum" not in schema or given > schema["exclusiveMinimum"])
        return above and bool(given <= schema.get("maximum", given))
    return True


def _is_text(given: str, schema: JsonSchema) -> bool:
    if not schema.get("minLength", 0) <= len(given) <= schema.get("maxLength", len(given)):
        return False
    if schema.get("format") == "exact" and not _is_exact(given, schema):
        return False
    return "pattern" not in schema or re.fullmatch(schema["pattern"], given) is not None


def _is_exact(given: str, schema: JsonSchema) -> bool:
    """Return whether a text is a number in lowest terms, within the range that the schema gives exactly, as texts too."""
    if not _EXACT.fullmatch(given) or str(Fraction(given)) != given:
        return False
    return all(fits(Fraction(given), Fraction(schema[key])) for key, fits in _ENDS.items() if key in schema)


_ENDS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "above": operator.gt,
    "below": operator.lt,
    "at_least": operator.ge,
    "at_most": operator.le,
}
"""What the schema says of the range of an exact number, beside JSON Schema's own words."""


def _is_named(given: Mapping[str, Any], choice: JsonSchema) -> bool:
    """Return whether the document has every fixed text of the choice that it has a key for, such as the name of a method."""
    fixed = [
        rule["const"] == given[key] for key, rule in choice.get("properties", {}).items() if "const" in rule and key in given
    ]
    return bool(fixed) and all(fixed)
