"""What a manifest says of method, form and basis goes together: a statement that nothing else fixes could tell anything.

Before that it has the shape that manifest.schema.json gives it: of JSON Schema the part that the file uses, and stricter in two
ways, because what may be spelled in two ways can tell something: 1.0 is no integer, and a pattern speaks of the whole text.
General validators take a tenth of a second to load, which is as long as a whole audit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.basis import Basis
from sfumato.errors import FormatError

if TYPE_CHECKING:
    from sfumato.release.manifest import Manifest

Method = Mapping[str, Any]


def _cuts(method: Method, against: str) -> Basis:
    if method.get("grouping") == "paper":
        return "paper"
    if against == "reader":
        return "tight"
    return "safe" if method.get("patience") == 0 or method.get("grouping") == "halves" else "soft"


def _near(method: Method, against: str) -> Basis:
    return "annealed" if against == "reader" else "matched"


def _always(basis: Basis | None) -> Any:
    return lambda method, against: basis


MADE: dict[str, tuple[tuple[str, ...], Any]] = {
    "boxes": (("buckets", "ranges"), _cuts),
    "near-groups": (("buckets", "ranges"), _near),
    "multi-size": (("buckets", "ranges"), _always("blind")),
    "anatomy": (("buckets",), _always("blind")),
    "decoys": (("buckets",), lambda method, against: "tight" if method.get("guard") else "blind"),
    "mondrian": (("buckets", "ranges"), _always("tight")),
    "burel": (("buckets", "ranges"), _always("tight")),
    "heterogeneous": (("ranges",), _always("paper")),
    "ring": (("ranges",), _always("paper")),
    "ambiguity": (("columns",), _cuts),
    "priview": (("views",), lambda method, against: "paper" if method.get("grouping") == "paper" else "tight"),
    "noisy-boxes": (("buckets",), _always("noisy")),
    "small-domain": (("randomized",), _always(None)),
    "uniform": (("randomized",), _always(None)),
    "burel-perturbation": (("randomized",), _always(None)),
    "privbayes": (("synthetic",), _always(None)),
    "noisy-tables": (("synthetic",), _always(None)),
}
"""The forms that each of sfumato's own methods makes, and the basis of its groups for its parameters and an adversary."""

FOREIGN = ("buckets", "ranges")
"""The forms that methods of other packages make. Their basis is their package's word; `paper` needs words fixed here."""


def inconsistencies(manifest: Manifest) -> list[str]:
    """Return that form, method, adversary and public parameters are not those of one publication; nothing where they are."""
    method, public = manifest.method, manifest.parameters
    fits = (
        _made(manifest)
        and method.get("form", manifest.form) == manifest.form
        and public.get("decoys", 0) == method.get("decoys", 0)
        and (not public.get("suppression") or method.get("suppress") is True)
        and _own_parameters(manifest) == set(public) & {"weaker_claim", "matches", "dummies"}
        and set(public) & {"gamma", "ratio"} == _noise_parameters(manifest)
        and _drawn_noise(manifest)
        and ("note" not in public or _note(method) == public["note"])
        and (manifest.values is None)
        == bool(
            manifest.form in ("randomized", "synthetic")
            or manifest.basis == "noisy"
            or public.get("decoys")
            or public.get("suppression")
        )
        and (manifest.seeded or not manifest.reproducible)
        and _sets_fit(manifest)
        and _columns_fit(manifest)
    )
    return [] if fits else ["manifest.json: form, method, requirement and parameters do not go together"]


def _drawn_noise(manifest: Manifest) -> bool:
    """Return whether it is said who drew the noise where that may differ, as the method asked, and OpenDP's without a seed."""
    if manifest.method.get("name") != "noisy-tables":
        return "noise" not in manifest.parameters
    said = manifest.parameters.get("noise")
    return said is not None and manifest.method.get("noise") in (None, said) and not (said == "opendp" and manifest.seeded)


def _columns_fit(manifest: Manifest) -> bool:
    """Return whether columns have requirements of their own only where each is protected by itself, and the method does that."""
    asked, own = manifest.requirement, manifest.requirement.get("columns", {})
    if not manifest.apart:
        return not own
    method = manifest.method
    return (
        (_in_boxes(method) or (method["name"] == "near-groups" and manifest.basis == "matched"))
        and "package" not in method
        and "sets" not in asked
        and set(manifest.secrets).issuperset(own)
        and not any("columns" in one or one.get("model") == "presence-association" for one in own.values())
        and all(one.get("against") == asked.get("against") for one in own.values())
    )


def _sets_fit(manifest: Manifest) -> bool:
    """Return whether the method keeps bounds on sets, where the requirement has any, and the manifest lists some only then."""
    if manifest.apart and any("sets" in one for one in manifest.requirement.get("columns", {}).values()):
        return bool(manifest.sets) == (manifest.values is not None)
    if "sets" not in manifest.requirement:
        return not manifest.sets
    method = manifest.method
    kept = "package" in method or _in_boxes(method) or manifest.basis == "matched"
    return kept and (bool(manifest.sets) == (manifest.values is not None))


def _in_boxes(method: Method) -> bool:
    """Return whether groups are boxes that keep bounds of any kind, on sets of values and on every sensitive column."""
    return method["name"] in ("boxes", "noisy-boxes") or (method["name"] == "ambiguity" and method.get("grouping") != "paper")


def is_cut(manifest: Manifest) -> bool:
    """Return whether people were put together by cutting quasi space, which can be done again for any placement of the values."""
    return manifest.method.get("name") in ("boxes", "mondrian", "ambiguity")


def _made(manifest: Manifest) -> bool:
    """Return whether the method makes such a form, with groups on such a basis."""
    method, against = manifest.method, str(manifest.requirement.get("against"))
    if "package" in method:
        return method["name"] not in MADE and manifest.form in FOREIGN and manifest.basis not in (None, "paper", "noisy")
    made_forms, basis = MADE.get(method["name"], ((), _always(None)))
    return manifest.form in made_forms and bool(manifest.basis == basis(method, against))


def _own_parameters(manifest: Manifest) -> set[str]:
    """Return the parameters that say what is claimed in place of a bound on belief."""
    if manifest.form == "synthetic":
        return {"weaker_claim"}
    if manifest.basis != "paper":
        return set()
    own_ranges = {"matches", *(("dummies",) if manifest.method["name"] == "heterogeneous" else ())}
    return {"weaker_claim", *(own_ranges if manifest.form == "ranges" else ())}


def _noise_parameters(manifest: Manifest) -> set[str]:
    """Return the parameters that say how much odds may grow, and by which noise."""
    if manifest.form == "synthetic":
        return {"gamma"}
    return {"gamma", "ratio"} if manifest.basis == "noisy" else set()


def _note(method: Method) -> str | None:
    """Return what a release of Mondrian may say whose bounds are all 1."""
    if method["name"] != "mondrian":
        return None
    constraint = method.get("constraint")
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"


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
