"""What is installed beside sfumato: methods, models and estimators of other packages, found by their entry points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, cast

from sfumato.errors import PolicyError

Plugged = TypeVar("Plugged")


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, as they were when the process began to ask."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))}


class Registry(Mapping[str, type[Plugged]]):
    """Classes by the name that they have in a policy file: sfumato's own, and those of installed packages, loaded when asked for.

    A package cannot take a name of sfumato's own.
    """

    def __init__(self, own: Mapping[str, type[Plugged]], group: str, kind: Any) -> None:
        self._own, self._group, self._kind = own, group, kind

    def __getitem__(self, name: str) -> type[Plugged]:
        if name in self._own:
            return self._own[name]
        entry = installed(self._group)[name]
        plugin = entry.load()
        if not (isinstance(plugin, type) and issubclass(plugin, self._kind)):
            raise PolicyError(f"{package_of_entry(entry)} gives {entry.value} as {name!r}, which is no {self._kind.__name__}")
        return cast("type[Plugged]", plugin)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in installed(self._group) if name not in self._own)

    def __len__(self) -> int:
        return len(list(iter(self)))


def package_of(kind: type) -> str | None:
    """Return the package, with its version, of the class that gave a method or model its name; None for sfumato's own."""
    owner = next(base for base in kind.__mro__ if "name" in vars(base) or "model" in vars(base))
    package = owner.__module__.split(".")[0]
    if package == "sfumato":
        return None
    for group in ("sfumato.methods", "sfumato.models"):
        for entry in installed(group).values():
            if entry.value == f"{owner.__module__}:{owner.__qualname__}":
                return package_of_entry(entry)
    return package


def package_of_entry(entry: EntryPoint) -> str:
    """Return the package that gives an entry point, with its version where that is known."""
    return entry.value.split(".")[0] if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
