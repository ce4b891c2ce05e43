"""Pictures of answers and releases, before any library draws them: their figures, a title, and in words what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, TypeAlias

from sfumato.charts.library import Chart
from sfumato.errors import InputError, SfumatoError

Library = Literal["altair", "matplotlib"]
LIBRARIES: tuple[Library, ...] = ("altair", "matplotlib")
"""What draws, the first that is installed by default."""


@dataclass(frozen=True)
class Picture:
    """What every picture has: a title, a line under it, and what it shows in words, for whoever does not see it."""

    title: str
    under: str
    words: str


@dataclass(frozen=True)
class Point:
    """A figure with its interval, or without one."""

    name: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Points(Picture):
    """A point with its interval for each name, in this order; `names` says what these are, "" where there is one point."""

    names: str
    measure: str
    rows: Sequence[Point]


@dataclass(frozen=True)
class Tile:
    """A cell of a heat map: the lift, and whether its interval leaves 1 out."""

    row: str
    column: str
    count: float
    lift: float
    low: float | None
    high: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 1 out."""
        return self.low is not None and self.high is not None and not self.low <= 1.0 <= self.high


@dataclass(frozen=True)
class HeatMap(Picture):
    """Lift by the values of two columns."""

    names: tuple[str, str]
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Allowance:
    """How frequent a value is in all, at most in a group (a reader's belief), and its bound; None for what is not published."""

    value: str
    share: float
    belief: float | None
    bound: float | None


@dataclass(frozen=True)
class Allowances(Picture):
    """How sure a reader can become of each value, beside its share and its bound."""

    rows: Sequence[Allowance]


Drawable: TypeAlias = Points | HeatMap | Allowances


def draw(picture: Drawable, library: Library | None = None) -> Chart:
    """Return the picture as a chart of altair or a figure of matplotlib: the one asked for, or the first that is installed."""
    if library is not None and library not in LIBRARIES:
        raise InputError(f"no library {library!r} draws here", hint=f"one of: {', '.join(LIBRARIES)}")
    for name in LIBRARIES if library is None else (library,):
        if _installed(name):
            return import_module(f"sfumato.charts.by_{name}").drawn(picture)
    wanted = library or "altair or matplotlib"
    hint = "pip install matplotlib" if library == "matplotlib" else "pip install 'sfumato[report]'"
    raise SfumatoError(f"pictures are drawn by {wanted}, which is not installed: {hint}", hint=hint)


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # Python's word for a module that was set to None
        return False
