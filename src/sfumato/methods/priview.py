"""`PriView`: two tables, most quasi columns in one, and one of them beside the sensitive values in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import Infeasible, PolicyError, did_you_mean
from sfumato.methods.fragmenting import Fragmented, Fragmenting
from sfumato.methods.show_fragments import Terms
from sfumato.methods.show_views import show_as_views
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class PriView(Fragmenting):
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
    accept_weaker_claim
        Must be true for ``"paper"``, whose release states the paper's claim per group and none about a reader.

    Notes
    -----
    The published theorem takes a group of 1/α people for enough. It is not where a joined value repeats (presence is higher), or
    is alone in its group (it tells its sensitive value). α holds against a stranger only, who knows neither who else is in the
    table nor how the program cuts boxes: which cuts were not made rules out some of the matchings. `Ambiguity` has a grouping
    that holds against one who knows.
    """

    column: str | Sequence[str] | None = None

    name: ClassVar[str] = "priview"
    form: ClassVar[str] = "views"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.column is not None and not isinstance(self.column, str):
            given = self.column if isinstance(self.column, Sequence) else ()
            if not given or not all(isinstance(name, str) for name in given) or len(set(given)) != len(given):
                raise PolicyError(f"PriView(column=…): expected a quasi column or a list of different ones, got {self.column!r}")
            object.__setattr__(self, "column", tuple(given))

    def proves(self) -> tuple[Against, ...]:
        """Return reader for boxes, whose cuts look at who has which value; nobody for groups as published."""
        return ("reader",) if self.grouping == "boxes" else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values."""
        document = super().to_dict()
        if isinstance(self.column, tuple):
            document["column"] = list(self.column)
        return document

    def fragment(
        self, table: Table, requirement: Requirement, bounds: Bounds, alpha: Fraction, random: Randomness, progress: Progress
    ) -> Fragmented:
        """Return the groups and the moved columns."""
        from sfumato.papers.overlapping.views import published_groups

        choices = self._choices(table)
        if self.grouping == "boxes":
            return self._boxes(table, choices, bounds, alpha, progress)
        codes, moved = table.sensitive.codes, choices[0]
        found = published_groups(table.quasi, moved, codes, bounds, alpha, suppress=self.suppress, progress=progress)
        return Fragmented(found.grouping, {}, moved)

    def show(self, table: Table, found: Fragmented, terms: Terms) -> Release:
        """Return the two views."""
        return show_as_views(table, found.grouping, found.moved, terms)

    def _boxes(
        self,
        table: Table,
        choices: Sequence[tuple[str, ...]],
        bounds: Bounds,
        alpha: Fraction,
        progress: Progress,
    ) -> Fragmented:
        """Return the boxes of the columns that give the most; those of the first of equal ones."""
        from sfumato.groups.fragments.views import view_boxes

        found, refused = [], []
        for done, moved in enumerate(choices):
            progress(f"cutting quasi space, {' and '.join(moved)} moved", done / len(choices))
            try:
                boxes = view_boxes(table.quasi, moved, table.sensitive.codes, bounds, alpha, others=self.column is not None)
            except Infeasible as error:
                refused.append(error)
            else:
                found.append((-boxes.groups, done, boxes))
        if not found:
            raise next((error for error in refused if error.nearest), refused[0])
        _, best, grouping = min(found, key=lambda one: one[:2])
        return Fragmented(grouping, {}, choices[best])

    def _choices(self, table: Table) -> list[tuple[str, ...]]:
        """Return the columns that may be moved: those asked for, or each of them, the one of the paper's rule first."""
        from sfumato.groups.fragments.views import smallest_first

        names = [column.name for column in table.quasi]
        if len(names) < 2:
            raise PolicyError("PriView: one quasi column is moved and others stay, and the table has only one", hint=_OTHER)
        if self.column is None:
            return [(name,) for name in smallest_first(table.quasi, table.sensitive.codes)]
        moved = (self.column,) if isinstance(self.column, str) else tuple(self.column)
        for name in moved:
            if name not in names:
                raise PolicyError(f"PriView(column=…): {name!r} is not a quasi column", hint=did_you_mean(name, names))
        if len(moved) == len(names):
            raise PolicyError("PriView(column=…): all quasi columns would be moved", hint="leave out one at least")
        return [moved]


_OTHER = 'name = "ambiguity"'
