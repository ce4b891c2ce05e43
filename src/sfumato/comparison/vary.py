"""What is varied in a study: parameters of the requirement or of methods, the adversary, or how a column is recoded."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from itertools import product
from typing import Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import decimal_text
from sfumato.explanation.room import variant
from sfumato.methods import METHODS, Method
from sfumato.privacy import Requirement

RECODE = "recode."
NONE = "none"
"""The value that leaves a column as it is."""

MOST = 64
"""So many values of one parameter are compared at most."""


@dataclass(frozen=True)
class Variation:
    """One choice of every varied parameter, by what it is a parameter of."""

    requirement: Mapping[str, Any] = field(default_factory=dict)
    method: Mapping[str, Any] = field(default_factory=dict)
    recode: Mapping[str, Any] = field(default_factory=dict)

    @property
    def varied(self) -> dict[str, Any]:
        """All choices under the names they were given by."""
        return {**self.requirement, **self.method, **{RECODE + name: value for name, value in self.recode.items()}}


def parse_vary(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Return name → values of options such as "theta=2,4,8,16"; numbers stay text, so that they are taken exactly."""
    varied: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not name.strip() or not listed:
            raise PolicyError(f"--vary {text}: expected a parameter and its values", hint="--vary theta=2,4,8,16")
        varied[name.strip()] = [_value(value) for value in listed]
    return varied


def variations(
    requirement: Requirement, own: Method, vary: Mapping[str, Sequence[Any]], columns: Sequence[str]
) -> list[Variation]:
    """Return every combination of the varied values, the first parameter varying slowest; one empty one where nothing varies.

    What the policy itself has is among them, last where no value is its own, so that it can be marked.
    """
    names, methods = _requirement_names(requirement), _method_names()
    kinds = {name: _kind(name, requirement, names, methods, columns) for name in vary}
    for name, values in vary.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
            raise PolicyError(f"vary: {name!r} needs a list of values, got {values!r}", hint='vary={"theta": [2, 4, 8]}')
        if len(values) > MOST:
            raise PolicyError(f"vary: {name!r} has {len(values)} values", hint=f"at most {MOST}")
    made = []
    for chosen in product(*vary.values()):
        parts: dict[str, dict[str, Any]] = {"requirement": {}, "method": {}, "recode": {}}
        for name, value in zip(vary, chosen, strict=True):
            parts[kinds[name]][name.removeprefix(RECODE)] = value
        made.append(Variation(**parts))
    home = _home(requirement, own, kinds)
    if not any(is_policy(other, requirement, own) for other in made):
        made.append(home)
    return made


def is_policy(variation: Variation, requirement: Requirement, own: Method) -> bool:
    """Return whether a variation asks for just what the policy has."""
    same = variant(requirement, **variation.requirement).to_dict() == requirement.to_dict()
    kept = all(getattr(own, name, value) == value for name, value in variation.method.items())
    return same and kept and not variation.recode


def _home(requirement: Requirement, own: Method, kinds: Mapping[str, str]) -> Variation:
    """Return the policy's own values of what is varied; a recoding stays as it is."""
    document = requirement.to_dict()
    asked = {name: _shown(document.get(name)) for name, kind in kinds.items() if kind == "requirement"}
    method = {name: getattr(own, name) for name, kind in kinds.items() if kind == "method" and hasattr(own, name)}
    return Variation(asked, method)


def _shown(value: Any) -> Any:
    """Return a parameter as somebody would type it: "161/25" as "6.44"."""
    if not isinstance(value, str) or "/" not in value:
        return int(value) if isinstance(value, str) and value.isdecimal() else value
    return decimal_text(Fraction(value))


def recoded(rule: Any) -> Mapping[str, Any] | None:
    """Return a recoding as a policy writes it: a number is the width of bands, "none" leaves the column as it is."""
    if rule in (None, NONE, ""):
        return None
    return rule if isinstance(rule, Mapping) else {"width": rule}


def _kind(name: str, requirement: Requirement, own: Sequence[str], methods: Sequence[str], columns: Sequence[str]) -> str:
    if name.startswith(RECODE):
        column = name.removeprefix(RECODE)
        if column not in columns:
            raise PolicyError(f"vary: no quasi column {column!r} to recode", hint=did_you_mean(column, columns))
        return "recode"
    if name in own:
        return "requirement"
    if name in methods:
        return "method"
    raise PolicyError(
        f"vary: neither {requirement.model} nor any method has a parameter {name!r}",
        hint=did_you_mean(name, [*own, *methods, *(RECODE + column for column in columns)]),
    )


def _requirement_names(requirement: Requirement) -> list[str]:
    return [name for name in inspect.signature(type(requirement)).parameters if name not in ("sets", "bounds", "columns")]


def _method_names() -> list[str]:
    return sorted(
        {field.name for kind in METHODS.values() for field in fields(kind)} - {"accept_weaker_claim", "shares", "values"}
    )


def _value(text: str) -> Any:
    """Return a whole number or true and false as such, all else as text."""
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)
