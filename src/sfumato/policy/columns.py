"""The columns of a policy beside those of the table: which of two spellings is the wrong one."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Sequence
from typing import Any

from sfumato.errors import PolicyError, SfumatoError, did_you_mean
from sfumato.table.read import Place, column_names
from sfumato.table.schema import Schema
from sfumato.table.textfile import ReadOptions

_ROLES = ("identifier", "quasi", "sensitive", "other")


def by_header(problems: Sequence[PolicyError], content: str, data: Place) -> list[PolicyError]:
    """Return the problems of a policy, those about names of columns judged by the table's own names where it has a header.

    A name under [columns] that the table does not have is the wrong one, and not what [recode] says of the right one. The
    policy's problems stay as they are where the table cannot be read, or its first line may be a person.
    """
    roles = _roles(content)
    names = _names(content, data) if roles else None
    if names is None or not _accepted(roles, names):
        return list(problems)
    free = [name for name in names if name not in roles]
    wrong = [
        PolicyError(f"[columns] {role}: the table has no column {name!r}", hint=did_you_mean(name, free or names), column=name)
        for name, role in roles.items()
        if name not in names
    ]
    if not wrong:
        return list(problems)
    return [*wrong, *(one for one in problems if one.column is None or one.column not in names)]


def _roles(content: str) -> dict[str, str]:
    """Return the role of every column that is written as a policy writes it."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError, ValueError):
        columns: Any = tomllib.loads(content).get("columns", {})
        if isinstance(columns, dict):
            lists = {role: columns.get(role, []) for role in _ROLES}
            if all(isinstance(one, list) for one in lists.values()):
                return {name: role for role, one in lists.items() for name in one if isinstance(name, str)}
    return {}


def _names(content: str, data: Place) -> list[str] | None:
    with contextlib.suppress(SfumatoError, OSError, TypeError, ValueError):
        found: Any = tomllib.loads(content).get("input", {})
        known = {key: found[key] for key in ("delimiter", "decimal", "encoding", "header", "names", "sheet") if key in found}
        return column_names(data, ReadOptions(**known))
    return None


def _accepted(roles: dict[str, str], names: Sequence[str]) -> bool:
    by_role: dict[str, Any] = {role: [name for name, one in roles.items() if one == role] for role in _ROLES}
    with contextlib.suppress(PolicyError):
        return Schema(**by_role).accepts(names)
    return False
