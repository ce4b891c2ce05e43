"""A request to publish, in memory or by an engine: requirement, method, coins and budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sfumato.budget import book_draw
from sfumato.methods import Method, Publication, choose_method
from sfumato.methods.people import Memory, People
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
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

    def decided(self, people: People) -> tuple[Method, Bounds]:
        """Return the method and the bounds that it keeps; raise where the table may not be published, or they cannot be kept."""
        table = people.table
        table.require_people()
        require_shared_texts(table, people.counts)
        require_crowded_bins(table, people.counts)
        named, known = (self.method, None) if self.method is not None else choose_method(self.requirement, table)
        chosen = named.settled(table.rows)
        people.require_makes(chosen, self.requirement.against)
        return chosen, chosen.kept_bounds(table, self.requirement, known)

    def made(self, people: Table | People) -> Publication:
        """Return the publication of a table in memory, or of people whom an engine holds; a draw is booked before it is made."""
        held = Memory(people) if isinstance(people, Table) else people
        method, bounds = self.decided(held)
        drawn = book_draw(method, self.requirement, bounds, held.marks, register=self.register, budget=self.budget)
        made = method.run(held, self.requirement, bounds=bounds, random=self.random, progress=self.progress)
        return made if drawn is None else replace(made, spent=drawn.to_dict())
