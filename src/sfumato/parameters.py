"""Parameters that say themselves what they take: a dataclass field with a check, run when the object is made."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import MOST_BITS, Number, exact, typed

_LONGEST_TEXT = 100_000

Check = Callable[[str, Any], Any]
"""Takes "Method(name=…)" and the value given; returns the value to keep, or raises `PolicyError`."""


Json = dict[str, Any]


@dataclass(frozen=True)
class Takes:
    """A check that also says, as a JSON Schema, what a policy may write for it: as much of it as such a schema can say."""

    check: Check
    schema: Json

    def __call__(self, where: str, value: Any) -> Any:
        """Return the value to keep."""
        return self.check(where, value)


TEXT: Json = {"type": "string"}
EXACT_TEXT: Json = {"type": "string", "pattern": "^.*[0-9].*$"}
"""A number that is taken as written: a decimal, a ratio or a percentage."""


REQUIRED: Any = MISSING
"""The default of a parameter that must be given."""


def parameter(default: Any, check: Check, *, only: Mapping[str, tuple[str, ...]] | None = None, called: str | None = None) -> Any:
    """Return a field with a default and a check. None is checked only where it is not the default.

    `only` names another parameter and the values of it that use this one: with others it must be left at its default. `called`
    is the name under which it is given, where that is not the field's.
    """
    return field(default=default, metadata={"check": check, "only": only or {}, "called": called})


def taken(cls: type) -> Json:
    """Return by name what a policy may write for each parameter of a class, as JSON Schemas; {} where its check does not say."""
    checks = {own.metadata.get("called") or own.name: own.metadata.get("check") for own in fields(cls)}
    taken = {name: checks.get(name) for name in inspect.signature(cls.__init__).parameters if name != "self"}  # type: ignore[misc]
    return {name: dict(check.schema) if isinstance(check, Takes) else {} for name, check in taken.items()}


def needed(cls: type) -> list[str]:
    """Return the parameters that must be given."""
    return [name for name, parameter in inspect.signature(cls).parameters.items() if parameter.default is parameter.empty]


def require_known(cls: type, given: Mapping[str, Any]) -> None:
    """Raise `PolicyError` for a parameter that a class does not take, and name the nearest that it does."""
    takes = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]  # type: ignore[misc]
    for name in given:
        if name not in takes:
            raise PolicyError(f"{cls.__name__}({name}=…): unknown parameter", hint=did_you_mean(name, takes))


def check_parameters(owner: Any) -> None:
    """Check every declared parameter of a dataclass, and keep what its check returns."""
    caller = type(owner).__name__
    for own in fields(owner):
        check, value = own.metadata.get("check"), getattr(owner, own.name)
        if check is None or (value is None and own.default is None):
            continue
        object.__setattr__(owner, own.name, check(f"{caller}({own.name}=…)", value))
    for own in fields(owner):
        for other, users in own.metadata.get("only", {}).items():
            chosen, value = getattr(owner, other), getattr(owner, own.name)
            if chosen not in users and own.default is not MISSING and value != own.default:
                raise PolicyError(
                    f"{caller}({own.name}=…): {other} = {chosen!r} does not use it, got {_plain(value)!r}",
                    hint=f"leave it out, or set {other} = {' or '.join(map(repr, users))}",
                )


def choice(*known: str) -> Check:
    """Take one of these texts."""

    def check(where: str, value: Any) -> Any:
        if value not in known:
            expected = ", ".join(map(repr, known))
            raise PolicyError(f"{where}: expected one of {expected}, got {value!r}", hint=did_you_mean(str(value), known))
        return value

    return Takes(check, {"enum": list(known)})


def whole(least: int, most: int | None = None) -> Check:
    """Take a whole number from `least` on, up to `most` where there is one."""

    def check(where: str, value: Any) -> Any:
        number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
        if number is None or number < least or (most is not None and number > most):
            upto = "on" if most is None else f"to {most:,}"
            raise PolicyError(f"{where}: expected a whole number from {least} {upto}, got {value!r}")
        return number

    ends = {"minimum": least} | ({} if most is None else {"maximum": most})
    return Takes(check, {"type": "integer", **ends})


def _flag(where: str, value: Any) -> Any:
    """Take true or false."""
    if not isinstance(value, bool):
        raise PolicyError(f"{where}: expected true or false, got {value!r}")
    return value


flag = Takes(_flag, {"type": "boolean"})
"""Take true or false."""


def _seconds(where: str, value: Any) -> Any:
    """Take a finite number from 0 on, kept as it is: no privacy decision rests on it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise PolicyError(f"{where}: expected a number from 0 on, got {value!r}")
    return value


seconds = Takes(_seconds, {"type": "number", "minimum": 0})
"""Take a finite number from 0 on, kept as it is: no privacy decision rests on it."""

_ENDS: dict[str, Callable[[Any, Any], bool]] = {
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
    "minimum": operator.ge,
    "maximum": operator.le,
}


def rational(
    expected: str,
    hint: str | None = None,
    *,
    above: Number | None = None,
    below: Number | None = None,
    least: Number | None = None,
    most: Number | None = None,
) -> Takes:
    """Take a number exactly, such as ``rational("a number above 1", above=1)``."""
    given = {"exclusiveMinimum": above, "exclusiveMaximum": below, "minimum": least, "maximum": most}
    ends = {key: exact(end) for key, end in given.items() if end is not None}

    def check(where: str, value: Number) -> Fraction:
        number = exact(value, where)
        if not all(_ENDS[key](number, end) for key, end in ends.items()):
            raise PolicyError(f"{where}: expected {expected}, got {number}", hint=hint)
        return number

    written = {key: int(end) if end.denominator == 1 else float(end) for key, end in ends.items()}
    return Takes(check, {"anyOf": [{"type": "number", **written}, EXACT_TEXT]})


NUMBER: Json = {"anyOf": [{"type": "number"}, EXACT_TEXT]}
"""A number that is taken as written."""


def weights(*words: str) -> Check:
    """Take column = weight pairs, or one of these words."""

    def check(where: str, value: Any) -> Any:
        if not isinstance(value, Mapping) and value not in words:
            more = "".join(f" or {word!r}" for word in words)
            raise PolicyError(f"{where}: expected column = weight pairs{more}, got {value!r}")
        return dict(value) or None if isinstance(value, Mapping) else value

    pairs: Json = {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}
    return Takes(check, {"anyOf": [pairs, {"enum": list(words)}]} if words else pairs)


def plain(owner: Any) -> dict[str, Any]:
    """Return the parameters of a dataclass as plain JSON values, rationals as text."""
    return {own.name: _plain(getattr(owner, own.name)) for own in fields(owner)}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def require_short(caller: str, parameters: Mapping[str, object]) -> None:
    """Raise `PolicyError` for a parameter that takes long to write out or to compute with, before anything does either.

    Whole numbers need at most 53 bits: more people than there are, and few enough for every kernel and every reader of JSON.
    """
    for name, value in parameters.items():
        inside = (
            [*value.keys(), *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
        )
        for item in (value, *inside):
            long = isinstance(item, str) and len(item) > _LONGEST_TEXT
            large = isinstance(item, int) and abs(item) >= 1 << 53
            fine = isinstance(item, Fraction) and max(item.numerator.bit_length(), item.denominator.bit_length()) > MOST_BITS
            if long or large or fine:
                raise PolicyError(
                    f"{caller}({name}=…): {typed(item)} is too {'long' if long else 'large or too fine'} to be used"
                )
