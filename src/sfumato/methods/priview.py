"""`PriView`: two tables, most quasi columns in one, and one of them beside the sensitive values in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.errors import Infeasible, PolicyError, did_you_mean
from sfumato.groups.fragments.views import ViewRows, smallest_first, view_boxes
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method, Task
from sfumato.parameters import TEXT, Json, Takes, choice, flag, parameter
from sfumato.plugins import grouping, require_grouping
from sfumato.privacy.requirement import Against
from sfumato.release.views import MOVED
from sfumato.table.table import Table


def _column(where: str, value: Any) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    given = tuple(value) if isinstance(value, Sequence) else ()
    if not given or not all(isinstance(name, str) for name in given) or len(set(given)) != len(given):
        raise PolicyError(f"{where}: expected a quasi column or a list of different ones, got {value!r}")
    return given


_COLUMNS: Json = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1, "uniqueItems": True}]}


@dataclass(frozen=True, kw_only=True)
class PriView(Method):
    """Publish two views of the table, joined by groups only: one quasi column moves to the sensitive values.

    Parameters
    ----------
    column
        The quasi column that is moved, or several, but not all. By default the one that lets groups be smallest.
    grouping
        ``"boxes"``: disjoint boxes of quasi space in which every matching of the two views' rows keeps α and the bounds. It
        needs about 1/α joined values of 1/β rows each in every box, and refuses a table without them. ``"paper"``: groups as
        published, of 1/α people in which no value has more than its bound.
    suppress
        For ``"paper"``: leave out people whom no group can take, instead of refusing; the release says how many. Everybody
        together is such a group as soon as there are 1/α people. Boxes have no such choice: who was left out is known to be
        where nobody is shown, which no bound on presence covers.
    pick
        For ``"paper"``, how people are picked for a group: ``"sampled"``, at random within a sensitive value, and the best of 32
        to extend it; or ``"pairs"``, the paper's own (its §8.3), one from each of the largest buckets of people alike in moved
        columns and sensitive value.
    accept_weaker_claim
        Must be true for ``"paper"``, whose release states the paper's claim per group and none about a reader.

    Notes
    -----
    The published theorem takes a group of 1/α people for enough. It is not where a joined value repeats (presence is higher), or
    is alone in its group (it tells its sensitive value). α holds against a stranger only, who knows neither who else is in the
    table nor how the program cuts boxes: which cuts were not made rules out some of the matchings. `Ambiguity` has a grouping
    that holds against one who knows.
    """

    column: str | tuple[str, ...] | None = parameter(None, Takes(_column, _COLUMNS))
    grouping: Literal["boxes", "paper"] = parameter("boxes", choice("boxes", "paper"))
    suppress: bool = parameter(False, flag, only={"grouping": ("paper",)})
    pick: Literal["sampled", "pairs"] = parameter("sampled", choice("sampled", "pairs"), only={"grouping": ("paper",)})
    accept_weaker_claim: bool = parameter(False, flag, only={"grouping": ("paper",)})

    name: ClassVar[str] = "priview"
    form: ClassVar[str] = "views"
    hides_presence: ClassVar[bool] = True
    unproven: ClassVar[str] = "it bounds what one group tells, and several may cover a person"
    instead: ClassVar[str] = 'grouping = "boxes"'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grouping == "paper":
            require_grouping(self.name)

    def proves(self) -> tuple[Against, ...]:
        """Return reader for boxes, which look at values; nobody for groups as published."""
        return () if self.grouping == "paper" else ("reader",)

    def group(self, task: Task) -> Grouping:
        """Return the groups, with the moved columns as a public parameter."""
        choices = self._choices(task.table)
        alpha = Fraction(task.requirement.presence or 1)
        if self.grouping == "boxes":
            return self._boxes(task, choices, alpha)
        made: Grouping = grouping(self.name)(
            ViewRows.of(task.quasi, choices[0]),
            task.codes,
            task.bounds,
            alpha,
            suppress=self.suppress,
            pairs=self.pick == "pairs",
            progress=task.part(0.0, 0.8),
        )
        return replace(made, public={MOVED: _listed(task.table, choices[0])})

    def _boxes(self, task: Task, choices: Sequence[tuple[str, ...]], alpha: Fraction) -> Grouping:
        """Return the boxes of the columns that give the most; those of the first of equal ones."""
        groupings, refused = [], []
        for done, moved in enumerate(choices):
            task.progress(f"cutting quasi space, {' and '.join(moved)} moved", 0.8 * done / len(choices))
            try:
                boxes = view_boxes(task.quasi, moved, task.codes, task.bounds, alpha, others=self.column is not None)
            except Infeasible as error:
                refused.append(error)
            else:
                groupings.append((-boxes.groups, done, boxes))
        if not groupings:
            raise next((error for error in refused if error.nearest), refused[0])
        _, best, made = min(groupings, key=lambda entry: entry[:2])
        return replace(made, public={MOVED: _listed(task.table, choices[best])})

    def _choices(self, table: Table) -> list[tuple[str, ...]]:
        """Return the columns that may be moved: those asked for, or each of them, the one of the paper's rule first."""
        names = [column.name for column in table.quasi]
        if len(names) < 2:
            raise PolicyError(
                "PriView: one quasi column is moved and others stay, and the table has only one", hint='name = "ambiguity"'
            )
        if self.column is None:
            return [(name,) for name in smallest_first(table.quasi, table.sensitive.codes)]
        moved = (self.column,) if isinstance(self.column, str) else tuple(self.column)
        for name in moved:
            if name not in names:
                raise PolicyError(f"PriView(column=…): {name!r} is not a quasi column", hint=did_you_mean(name, names))
        if len(moved) == len(names):
            raise PolicyError("PriView(column=…): all quasi columns would be moved", hint="leave out one at least")
        return [moved]


def _listed(table: Table, moved: Sequence[str]) -> list[str]:
    return [column.name for column in table.quasi if column.name in moved]
