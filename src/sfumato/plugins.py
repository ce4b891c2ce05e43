"""What is installed beside the core: methods, models, estimators and verbs, found by their entry points.

They are other packages', or sfumato's own *guests*: parts of its wheel (`papers`, `synthetic`, `studio`) that nothing else
imports, and that an installation may leave out. Both register in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from sfumato.errors import PolicyError, did_you_mean

Plugged = TypeVar("Plugged")

GROUPINGS = "sfumato.groupings"
"""Groupings of sfumato's own methods that a guest makes. Nobody else can: a manifest names the method alone, as sfumato's."""


class LeftOutError(PolicyError, ModuleNotFoundError):
    """Something is asked of a part of sfumato that this installation leaves out."""

    def __init__(self, what: str, part: str, hint: str) -> None:
        super().__init__(f"{what} is in the part {part}, which this installation leaves out", hint=hint)
        self.part = part


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, guests first, as they were when the process began to ask.

    No package can take the name of a guest, present or left out.
    """
    guests, others = _registered(group)
    return {name: entry for name, entry in guests.items() if _is_there(entry)} | {
        name: entry for name, entry in others.items() if name not in guests
    }


def is_guest(entry: EntryPoint) -> bool:
    """Return whether an entry point is one of sfumato's own."""
    return entry.value.startswith("sfumato.") and (entry.dist is None or entry.dist.name == "sfumato")


def left_out(group: str, name: str) -> str:
    """Return the part of sfumato that has the guest of this name, where this installation leaves it out; else nothing."""
    entry = _registered(group)[0].get(name)
    return "" if entry is None or _is_there(entry) else part_of(entry.module)


def parts_left_out() -> tuple[str, ...]:
    """Return the parts of sfumato that this installation does not have, such as "sfumato.papers"."""
    groups = ("sfumato.methods", GROUPINGS, "sfumato.verbs")
    guests = [entry for group in groups for entry in _registered(group)[0].values()]
    return tuple(sorted({part_of(entry.module) for entry in guests if not _is_there(entry)}))


def part_of(module: str) -> str:
    """Return the part of sfumato that a module is in."""
    return ".".join(module.split(".")[:2])


def unknown(where: str, name: str, known: Registry[Any]) -> PolicyError:
    """Return the error for a name that none of those known has."""
    part = left_out(known.group, name)
    if part:
        return LeftOutError(f"{where}: {name!r}", part, "install all of sfumato, or choose another")
    return PolicyError(f"{where}: unknown {name!r}", hint=did_you_mean(name, known))


def grouping(method: str) -> Any:
    """Return the grouping of one of sfumato's methods that a guest makes, or raise that it is left out."""
    require_grouping(method)
    return _registered(GROUPINGS)[0][method].load()


def require_grouping(method: str) -> None:
    """Raise `LeftOutError` where the guest that makes a grouping of this method is left out."""
    part = left_out(GROUPINGS, method)
    if part:
        raise LeftOutError(f'grouping = "paper" of {method!r}', part, "install all of sfumato, or choose another grouping")


@cache
def _registered(group: str) -> tuple[dict[str, EntryPoint], dict[str, EntryPoint]]:
    """Return the entry points of sfumato's guests by name, present or not, and those of other packages.

    In a checkout guests are those of its pyproject.toml: what an editable install remembers may be older.
    """
    every = sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))
    stated = _of_checkout()
    guests = [entry for entry in every if is_guest(entry)]
    if stated is not None:
        guests = [EntryPoint(name, value, group) for name, value in sorted(stated.get(group, {}).items())]
    others = {entry.name: entry for entry in every if not is_guest(entry)}
    return {entry.name: entry for entry in guests}, others


@cache
def _of_checkout() -> Mapping[str, Mapping[str, str]] | None:
    """Return the entry points that sfumato's own pyproject.toml states, by group; None where it does not run from a checkout."""
    import tomllib

    try:
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, KeyError, ValueError):
        return None
    return project.get("entry-points", {}) if project.get("name") == "sfumato" else None


def _is_there(guest: EntryPoint) -> bool:
    """Return whether this installation has the module of a guest."""
    try:
        return find_spec(guest.module) is not None
    except ImportError:
        return False


class Registry(Mapping[str, type[Plugged]]):
    """Classes by the name that they have in a policy file: sfumato's own, and those of installed packages, loaded when asked for.

    A package cannot take a name of sfumato's own.
    """

    def __init__(self, own: Mapping[str, type[Plugged]], group: str, kind: Any) -> None:
        self._own, self.group, self._kind = own, group, kind

    def __getitem__(self, name: str) -> type[Plugged]:
        if name in self._own:
            return self._own[name]
        entry = installed(self.group)[name]
        plugin = entry.load()
        if not (isinstance(plugin, type) and issubclass(plugin, self._kind)):
            raise PolicyError(f"{package_of_entry(entry)} gives {entry.value} as {name!r}, which is no {self._kind.__name__}")
        return cast("type[Plugged]", plugin)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in installed(self.group) if name not in self._own)

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
