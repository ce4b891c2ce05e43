"""`NearGroups`: people near each other in groups that keep any per-value bounds, shown as ranges or as buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.groups.near.anneal import annealed_groups
from sfumato.groups.near.matched import matched_groups
from sfumato.groups.near.result import Near
from sfumato.groups.near.widths import domain_widths
from sfumato.methods.base import Method, Outcome, require_choice
from sfumato.methods.grouped import FORMS, Form, group_figures, require_names_for, require_something_to_keep, show_groups
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.table.table import Table

MOST_EFFORT = 1000
"""In multiples of the usual effort: a larger number would be a search without an end."""


@dataclass(frozen=True, kw_only=True)
class NearGroups(Method):
    """Put near people together so that ranges are narrow: groups of any size, nobody left out, nobody invented.

    Parameters
    ----------
    form
        ``"ranges"``: every group by its smallest ranges and value sets. ``"buckets"``: the same groups with exact quasi values,
        which answer count queries far better.
    effort
        Multiplies the steps of the search for annealed groups, 1 by default: time grows with it, ranges get narrower. It is for
        claims against a reader; matched groups have no such search.

    Notes
    -----
    The requirement's adversary decides how groups are made. Against a reader they are *annealed*: people are exchanged, moved,
    pushed out and regrouped by simulated annealing of Σ size·NCP [003], counts kept at most ⌊bound·size⌋ at every step. Who is
    together depends on who has which value, so a reader who reruns the program would learn something. Against an engineer they
    are *pure matched groups*, made after safe cuts by matching on quasi values alone.
    """

    form: Form = "ranges"
    effort: float | None = None

    name: ClassVar[str] = "near-groups"

    def __post_init__(self) -> None:
        require_choice("NearGroups", "form", self.form, FORMS)
        effort = self.effort
        if effort is not None and (
            isinstance(effort, bool) or not isinstance(effort, (int, float)) or not 0 < effort <= MOST_EFFORT
        ):
            raise PolicyError(
                f"NearGroups(effort=…): expected a number above 0 and at most {MOST_EFFORT}, got {effort!r}",
                hint="1 is the usual effort",
            )

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer: the groups are made differently for each."""
        return ("reader", "engineer")

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures are numbers and sizes of groups, and those of their making."""
        require_names_for(table, self.form)
        bounds = requirement.bounds(table.sensitive.histogram())
        require_something_to_keep(bounds)
        found = self._group(table, requirement, bounds, random, lambda stage, done: progress(stage, 0.9 * done))
        progress("checking every group", 0.9)
        release = show_groups(
            table,
            found.grouping,
            self.form,
            bounds=bounds,
            requirement=requirement,
            method=self,
            random=random,
            locality="annealed" if requirement.against == "reader" else "near",
        )
        progress("done", 1.0)
        return Outcome(release, {**group_figures(found.grouping), **found.figures})

    def _group(self, table: Table, requirement: Requirement, bounds: Bounds, coins: Randomness, tell: Progress) -> Near:
        """Return the groups that the requirement's adversary allows."""
        widths = domain_widths(table.quasi, table.schema)
        codes = table.sensitive.codes
        if requirement.against == "reader":
            return annealed_groups(
                table.quasi, codes, bounds, widths=widths, effort=self.effort or 1.0, random=coins, progress=tell
            )
        if self.effort is not None:
            raise PolicyError(
                f"NearGroups(effort={self.effort}): groups against an engineer are matched, and there is no search to extend",
                hint='leave it out, or set against = "reader"',
            )
        return matched_groups(table.quasi, codes, bounds, widths=widths, random=coins, progress=tell)
