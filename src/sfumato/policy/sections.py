"""Reading the tables of a policy file: each key is known and of the right type, or the error says where and what would work."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from sfumato.errors import PolicyError, Problems, did_you_mean, joined

PolicySection = Mapping[str, Any]

_NAMES: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    Decimal: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}

_FARTHEST = 307
"""A decimal lies between 1e-307 and 1e307, where every number is a float."""


def section(document: PolicySection, name: str) -> PolicySection:
    """Return the table `[name]` of the document, empty if it is not there."""
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise PolicyError(
            f"[{name}]: expected a table, got {described(value)}", hint=f"start a line with [{name}] and put its keys below it"
        )
    return value


def known_sections(document: PolicySection, known: Iterable[str]) -> None:
    """Refuse a table, or a key outside of all tables, that a policy does not have."""
    known, problems = list(known), Problems()
    for name, value in document.items():
        if name in known:
            continue
        with problems.noted():
            if not isinstance(value, dict):
                hint = "put it below its section, such as [columns] or [requirement]"
                raise PolicyError(
                    f"{name}: this key stands outside of all sections",
                    hint="did you mean reviewed?" if near(name, ["reviewed"]) else hint,
                )
            meant, sections = near(name, known), ", ".join(f"[{section}]" for section in known)
            raise PolicyError(
                f"unknown section [{name}]", hint=f"did you mean [{meant}]?" if meant else f"the sections are {sections}"
            )
    problems.stop()


def near(name: str, known: Iterable[str]) -> str | None:
    """Return the known word that a misspelt one may mean, whatever its case."""
    return next(iter(difflib.get_close_matches(name.casefold(), list(known), n=1)), None)


def known_keys(section: PolicySection, where: str, known: Iterable[str]) -> None:
    """Refuse a key that is not known."""
    known = list(known)
    wrong = [PolicyError(f"{where} {key}: unknown key", hint=did_you_mean(key, known)) for key in section if key not in known]
    if wrong:
        raise joined(wrong)


def text(section: PolicySection, key: str, where: str) -> str | None:
    """Return the text under `key`, None if it is not there."""
    value = section.get(key)
    if value is not None and not isinstance(value, str):
        raise PolicyError(f"{where} {key}: expected text, got {described(value)}", hint=f'write it in quotes: {key} = "…"')
    return value


def flag(section: PolicySection, key: str, where: str, *, default: bool) -> bool:
    """Return true or false under `key`."""
    value = section.get(key, default)
    if not isinstance(value, bool):
        place = f"{where} {key}".strip()
        raise PolicyError(f"{place}: expected true or false, got {described(value)}", hint=f"write {key} = true, unquoted")
    return value


def texts(section: PolicySection, key: str, where: str) -> tuple[str, ...] | None:
    """Return the list of texts under `key`, None if it is not there."""
    value = section.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        example = value if isinstance(value, str) else "…"
        raise PolicyError(
            f"{where} {key}: expected a list of texts, got {described(value)}",
            hint=f'write it in brackets: {key} = ["{example}"]',
        )
    return tuple(value)


def plain(value: Any) -> Any:
    """Return a TOML value with its decimals as floats, for options that no privacy decision rests on."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def check_numbers(value: Any, path: tuple[str, ...] = ()) -> None:
    """Refuse numbers that no column and no option can have: whole ones beyond 64 bits, as TOML does, NaN and 1e-999."""
    if isinstance(value, dict):
        for key, item in value.items():
            check_numbers(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            check_numbers(item, path)
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise PolicyError(
            f"{_place(path)}: a whole number lies within 64 bits", hint="write a smaller number, or a decimal in quotes"
        )
    elif isinstance(value, Decimal) and value.is_nan():
        raise PolicyError(f"{_place(path)}: expected a number, got nan", hint="leave the key out")
    elif isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _FARTHEST and value:
        raise PolicyError(f"{_place(path)}: {value} is out of range", hint="write a number nearer to 1")


def _place(path: tuple[str, ...]) -> str:
    """Return where a value stands, as the file says it: "[requirement.bounds] HIV"."""
    return f"[{'.'.join(path[:-1])}] {path[-1]}" if len(path) > 1 else path[0] if path else "the policy"


def parameters(section: PolicySection, where: str, cls: type[Any]) -> dict[str, Any]:
    """Return the arguments for `cls`; each must be one that it takes, and none that it needs may lack."""
    takes = inspect.signature(cls).parameters
    problems = Problems()
    with problems.noted():
        known_keys(section, where, takes)
    for name, parameter in takes.items():
        if parameter.default is parameter.empty and name not in section and not any(near(key, takes) == name for key in section):
            missing = PolicyError(f"{where} {name}: missing", hint=f"add a line {name} = …; the keys are {', '.join(takes)}")
            problems.listed.append(missing)
    problems.stop()
    return dict(section)


def described(value: Any) -> str:
    """Return what a TOML value is and, if it is short, the value."""
    kind = next((name for of, name in _NAMES.items() if isinstance(value, of)), type(value).__name__)
    shown = "" if isinstance(value, (list, dict)) else f" ({value!r})" if isinstance(value, str) else f" ({value})"
    return kind + (shown if len(shown) <= 40 else "")
