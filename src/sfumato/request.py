"""A request to publish, in memory or by an engine: requirement, method, coins and budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sfumato.arrays import Integers
from sfumato.budget import Spent, book_draw
from sfumato.methods import Method, Publication, choose_method
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.marks import Marks
from sfumato.table.people import require_shared_texts
from sfumato.table.table import Table
from sfumato.table.weight import require_crowded_bins


@dataclass(frozen=True)
class PublicationRequest:
    """A requirement, and how it is to be kept: the method if one is named, coins, and where draws are booked against a budget."""

    requirement: Requirement
    method: Method | None = None
    random: Randomness | int | None = None
    progress: Progress = silent
    register: Path | None = None
    budget: Fraction | None = None

    def decided(self, table: Table, counts: Sequence[Integers] | None = None) -> tuple[Method, Bounds]:
        """Return the method and the bounds that it keeps; raise where the table may not be published, or they cannot be kept.

        `counts` are those of the values of texts, where the table has no rows.
        """
        table.require_people()
        require_shared_texts(table, counts)
        require_crowded_bins(table, counts)
        named, known = (self.method, None) if self.method is not None else choose_method(self.requirement, table)
        chosen = named.settled(table.rows)
        return chosen, chosen.kept_bounds(table, self.requirement, known)

    def book(self, method: Method, bounds: Bounds, marks: Callable[[], Marks]) -> Spent | None:
        """Book the draw that the method is about to make; None where it makes none."""
        return book_draw(method, self.requirement, bounds, marks, register=self.register, budget=self.budget)

    def made(self, table: Table) -> Publication:
        """Return the publication of a table in memory."""
        method, bounds = self.decided(table)
        drawn = self.book(method, bounds, lambda: table.marks)
        made = method.run(table, self.requirement, bounds=bounds, random=self.random, progress=self.progress)
        return made if drawn is None else replace(made, spent=drawn.to_dict())
