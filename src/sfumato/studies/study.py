"""A study: a figure or table of a paper, with the paper's settings, what is measured, and how its verdict follows from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from sfumato.charts import Chart
from sfumato.studies.cells import Cell, text
from sfumato.studies.source import Source

Paper = Literal["001", "002", "003", "004"]
"""[000] and [001] are one: a thesis and the article of it."""

Size = Literal["quick", "full"]
Rows = Sequence[Mapping[str, Any]]
"""What was measured: cells by the name of their column."""

Claims = dict[str, bool | Sequence[bool]]
"""What a paper claims, each in a sentence, and whether it is found again: as a whole, or case by case."""

Settings = Mapping[str, Any]
NEARLY = Fraction(9, 10)
"""A claim that holds in so many of its cases holds nearly."""

SEEDS = 5


@dataclass(frozen=True)
class Verdict:
    """What a paper claims with a figure, each in a sentence and whether it is found again, and the figures that say so.

    One rule for all studies. What is claimed of every case is one claim, given case by case: it holds (✓) if it does in all of
    them, nearly (≈) in nine of ten or more, and otherwise does not (✗). Where a method draws, a case is the mean over seeds.
    """

    claims: Mapping[str, bool | Sequence[bool]]
    why: str

    def marked(self) -> dict[str, str]:
        """Return each claim, with the number of cases in which it holds where it is about several, and its mark."""
        return {
            f"{claim}: {sum(cases)} of {len(cases)}" if isinstance(cases, Sequence) else claim: mark(cases)
            for claim, cases in self.claims.items()
        }

    @property
    def word(self) -> str:
        """All claims hold, some of them and how many, or none; those that nearly hold are counted apart."""
        marks = list(self.marked().values())
        held, nearly = marks.count("✓"), marks.count("≈")
        if held == len(marks):
            return "holds"
        if held + nearly == 0:
            return "does not hold"
        return f"holds in part ({held} of {len(marks)} claims{f', {nearly} nearly' if nearly else ''})"


def mark(cases: bool | Sequence[bool]) -> str:
    """Return ✓ where a claim holds in every case, ≈ in nine of ten or more, ✗ otherwise."""
    many = list(cases) if isinstance(cases, Sequence) else [cases]
    return "✓" if all(many) else "≈" if Fraction(sum(many), len(many)) >= NEARLY else "✗"


@dataclass(frozen=True)
class Study:
    """A figure or table of a paper, asked again. All that is told of it is computed from the rows that `measure` returns."""

    paper: Paper
    figure: str
    says: str
    """What the paper says, in a sentence."""
    printed: Settings
    """The paper's own settings, as far as it states them, by the names of `full`."""
    full: Settings
    quick: Settings
    """What `measure` is called with beside a source and a seed; JSON has to be able to hold them."""
    measure: Callable[..., Rows]
    draw: Callable[[Rows], Chart]
    judge: Callable[[Rows], Verdict]
    source: Callable[[], Source]
    """Where its tables come from if no other is named."""
    table: Callable[[Rows], Sequence[Mapping[str, Cell]]] | None = None
    """Lines of a table under the picture: the paper's figures beside ours where it prints any."""
    deviations: Sequence[str] = ()
    """What differs from the paper beside settings, whatever the table."""
    stand_in: Sequence[str] = ()
    """What differs because the paper's own table is not here: of the table that stands in for it."""
    judged: str = ""
    """Why nothing is judged by it, where that is so."""
    own: bool = True
    """Whether it can be asked of a table of one's own."""
    pooled: bool = False
    """Whether rows of all seeds stand side by side: those of estimates, whose mean would err less than any of them."""

    def settings(self, size: Size) -> Settings:
        """Return what `measure` is called with."""
        return self.quick if size == "quick" else self.full

    def departures(self, settings: Settings, table: str) -> list[str]:
        """Return what differs from the paper in a run on a table of this name, settings first."""
        tables = self.stand_in if table == self.source().name else [f"{table}, in place of the paper's table"]
        changed = [
            f"{name} {told(settings[name])} (the paper: {told(value)})"
            for name, value in self.printed.items()
            if name in settings and _plain(settings[name]) != _plain(value)
        ]
        return [*changed, *tables, *self.deviations]


@dataclass(frozen=True)
class Result:
    """What one run of a study found: rows of every seed, and processor seconds."""

    name: str
    size: Size
    source: str
    """What the table is called."""
    settings: Settings
    seconds: float
    by_seed: Sequence[Rows]
    pooled: bool = False
    rows: Rows = field(init=False)
    """The mean over seeds, or the rows of all."""

    def __post_init__(self) -> None:
        rows = [row for seed in self.by_seed for row in seed] if self.pooled else averaged(self.by_seed)
        object.__setattr__(self, "rows", rows)

    def spread(self, study: Study) -> dict[str, tuple[int, int]]:
        """Return for every claim in how many of the seeds it would hold by itself."""
        if len(self.by_seed) == 1:
            return {}
        verdicts = [study.judge(rows).claims for rows in self.by_seed]
        return {claim: (sum(mark(one[claim]) == "✓" for one in verdicts if claim in one), len(verdicts)) for claim in verdicts[0]}


def averaged(by_seed: Sequence[Rows]) -> Rows:
    """Return rows with the mean over seeds of every figure that differs between them; what names a case does not differ."""
    if len(by_seed) == 1:
        return by_seed[0]
    return [{name: _mean(name, [row.get(name) for row in same]) for name in same[0]} for same in zip(*by_seed, strict=True)]


def _mean(name: str, cells: Sequence[Any]) -> Any:
    first = cells[0]
    if isinstance(first, Mapping):
        return {key: _mean(key, [cell[key] for cell in cells]) for key in first}
    if all(cell == first for cell in cells):
        return first
    if any(cell is None for cell in cells):
        return None
    if not all(isinstance(cell, int | float) for cell in cells):
        raise TypeError(f"{name}: {cells} names a case, and differs between seeds")
    return sum(cells) / len(cells)


def told(value: object) -> str:
    """Return a setting as people read it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " · ".join(told(part) for part in value)
    return text(value) if isinstance(value, str | int | float) else str(value)


def _plain(value: object) -> object:
    return [_plain(part) for part in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
