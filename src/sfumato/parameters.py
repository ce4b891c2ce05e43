"""Parameters that say themselves what they take: a dataclass field with a check, run when the object is made."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from fractions import Fraction
from typing import Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import MOST_BITS, Number, exact, typed

_LONGEST_TEXT = 100_000

Check = Callable[[str, Any], Any]
"""Takes "Method(name=…)" and the value given; returns the value to keep, or raises `PolicyError`."""


REQUIRED: Any = MISSING
"""The default of a parameter that must be given."""


def parameter(default: Any, check: Check, *, only: Mapping[str, tuple[str, ...]] | None = None) -> Any:
    """Return a field with a default and a check. None is checked only where it is not the default.

    `only` names another parameter and the values of it that use this one: with others it must be left at its default.
    """
    return field(default=default, metadata={"check": check, "only": only or {}})


def require_known(cls: type, given: Mapping[str, Any]) -> None:
    """Raise `PolicyError` for a parameter that a class does not take, and name the nearest that it does."""
    takes = [name for name in inspect.signature(cls.__init__).parameters if name != "self"]  # type: ignore[misc]
    for name in given:
        if name not in takes:
            raise PolicyError(f"{cls.__name__}({name}=…): unknown parameter", hint=did_you_mean(name, takes))


def check_parameters(owner: Any) -> None:
    """Check every declared parameter of a dataclass, and keep what its check returns."""
    caller = type(owner).__name__
    for one in fields(owner):
        check, value = one.metadata.get("check"), getattr(owner, one.name)
        if check is None or (value is None and one.default is None):
            continue
        object.__setattr__(owner, one.name, check(f"{caller}({one.name}=…)", value))
    for one in fields(owner):
        for other, users in one.metadata.get("only", {}).items():
            chosen, value = getattr(owner, other), getattr(owner, one.name)
            if chosen not in users and one.default is not MISSING and value != one.default:
                raise PolicyError(
                    f"{caller}({one.name}=…): {other} = {chosen!r} does not use it, got {_plain(value)!r}",
                    hint=f"leave it out, or set {other} = {' or '.join(map(repr, users))}",
                )


def choice(*known: str) -> Check:
    """Take one of these texts."""

    def check(where: str, value: Any) -> Any:
        if value not in known:
            expected = ", ".join(map(repr, known))
            raise PolicyError(f"{where}: expected one of {expected}, got {value!r}", hint=did_you_mean(str(value), known))
        return value

    return check


def whole(least: int, most: int | None = None) -> Check:
    """Take a whole number from `least` on, up to `most` where there is one."""

    def check(where: str, value: Any) -> Any:
        number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
        if number is None or number < least or (most is not None and number > most):
            upto = "on" if most is None else f"to {most:,}"
            raise PolicyError(f"{where}: expected a whole number from {least} {upto}, got {value!r}")
        return number

    return check


def flag(where: str, value: Any) -> Any:
    """Take true or false."""
    if not isinstance(value, bool):
        raise PolicyError(f"{where}: expected true or false, got {value!r}")
    return value


def seconds(where: str, value: Any) -> Any:
    """Take a finite number from 0 on, kept as it is: no privacy decision rests on it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise PolicyError(f"{where}: expected a number from 0 on, got {value!r}")
    return value


def rational(expected: str, fits: Callable[[Fraction], bool], hint: str | None = None) -> Check:
    """Take a number exactly, such as ``rational("a number above 1", lambda number: number > 1)``."""

    def check(where: str, value: Number) -> Fraction:
        found = exact(value, where)
        if not fits(found):
            raise PolicyError(f"{where}: expected {expected}, got {found}", hint=hint)
        return found

    return check


def weights(*words: str) -> Check:
    """Take column = weight pairs, or one of these words."""

    def check(where: str, value: Any) -> Any:
        if not isinstance(value, Mapping) and value not in words:
            more = "".join(f" or {word!r}" for word in words)
            raise PolicyError(f"{where}: expected column = weight pairs{more}, got {value!r}")
        return dict(value) or None if isinstance(value, Mapping) else value

    return check


def plain(owner: Any) -> dict[str, Any]:
    """Return the parameters of a dataclass as plain JSON values, rationals as text."""
    return {one.name: _plain(getattr(owner, one.name)) for one in fields(owner)}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def require_short(caller: str, parameters: Mapping[str, object]) -> None:
    """Raise `PolicyError` for a parameter that takes long to write out or to compute with, before anything does either.

    Whole numbers need at most 53 bits: more people than there are, and few enough for every kernel and every reader of JSON.
    """
    for name, value in parameters.items():
        inside = (
            [*value.keys(), *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
        )
        for one in (value, *inside):
            long = isinstance(one, str) and len(one) > _LONGEST_TEXT
            large = isinstance(one, int) and abs(one) >= 1 << 53
            fine = isinstance(one, Fraction) and max(one.numerator.bit_length(), one.denominator.bit_length()) > MOST_BITS
            if long or large or fine:
                raise PolicyError(f"{caller}({name}=…): {typed(one)} is too {'long' if long else 'large or too fine'} to be used")
