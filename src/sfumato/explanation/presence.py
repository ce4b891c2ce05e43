"""What a bound on presence means for a table: what could be kept, which groups keep it, and against whom it holds at all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.exact import decimal_text, percent
from sfumato.explanation.cost import people_text, range_text
from sfumato.groups.fragments.cover import combinations
from sfumato.methods import Method
from sfumato.privacy import Requirement
from sfumato.release.manifest import KNOWS, STRANGER_WITH_PROGRAM
from sfumato.table import Table

PROGRAM = (
    "Not promised: anything about presence against somebody who knows how this program forms groups. Which cuts it did not make "
    'rules out some of the tables that fit a release, and she may become certain. method "ambiguity" with grouping = "halves" '
    "holds against her too."
)
"""What a bound on presence leaves open first of all, unless groups were made by halves."""

NOT_PROMISED = (
    "Not promised: anything about presence against somebody who knows how quasi values go together. The bound takes every "
    "combination as equally likely, also impossible ones (age 5, widowed); whoever can rule some out believes more of the rest.",
    "Not promised: that presence stays hidden from anybody who knows who else is in the table.",
    "Not promised: that a person who is not in the table cannot be known to be absent. Whoever has values that no group shows "
    "together is certainly absent.",
)
"""What a bound on presence leaves open."""

_SEED = 0


@dataclass(frozen=True)
class Presence:
    """The bound on presence, how many combinations the table covers, and the groups that the method makes."""

    alpha: Fraction
    people: int
    combinations: int
    groups: int
    sizes: tuple[int, int]
    suppressed: int
    moved: tuple[str, ...]
    as_published: bool
    program: bool

    @classmethod
    def of(cls, table: Table, requirement: Requirement, method: Method) -> Presence | None:
        """Return the figures for a method that hides presence, None for others; raises what publishing would raise."""
        if requirement.presence is None or not method.hides_presence:
            return None
        made = method.run(table, requirement, random=_SEED)
        parameters = made.release.manifest.parameters
        return cls(
            alpha=requirement.presence,
            people=table.rows,
            combinations=combinations(table.quasi),
            groups=made.private["groups"],
            sizes=(made.private["smallest"], made.private["largest"]),
            suppressed=made.private.get("suppressed", 0),
            moved=tuple(parameters.get("moved", ())),
            as_published="weaker_claim" in parameters,
            program=method.to_dict().get("grouping") == "halves",
        )

    @property
    def least(self) -> Fraction:
        """The smallest α that disjoint groups could keep: people by combinations, at most 1."""
        return min(Fraction(1), Fraction(self.people, self.combinations))

    def made(self) -> list[str]:
        """Return which groups there are, and what few of them mean."""
        number = "one group" if self.groups == 1 else f"{self.groups:,} groups"
        apart = f", with {' and '.join(self.moved)} beside the sensitive values" if self.moved else ""
        lines = [f"{number} of {range_text(self.sizes)}{apart}."]
        if self.suppressed:
            are = "is" if self.suppressed == 1 else "are"
            lines.append(
                f"{people_text(self.suppressed)} {are} left out, because no group can take them; the release says how many."
            )
        if self.groups == 1:
            lines.append(
                "Everybody is in one group, so a release says only which quasi values there are and how frequent each sensitive "
                "value is. A larger "
                'alpha, looser bounds, a smaller floor or against = "reader" may leave room for more groups.'
            )
        return lines

    def promise(self) -> list[str]:
        """Return what is promised about presence, and what α the table could keep."""
        if self.as_published:
            return [
                f"Every group by itself keeps {percent(self.alpha)} for presence and the bounds below for values, by the paper's "
                "count. Many groups may cover a person, and what they tell together is not bounded: a reader may become surer of "
                "both. The release makes no claim about a reader; it states the paper's."
            ]
        knows = STRANGER_WITH_PROGRAM if self.program else KNOWS["stranger"]
        covered = f"{self.combinations:,}" if self.combinations < 10**15 else f"{float(self.combinations):.1e}"
        return [
            f"Presence: a stranger, {knows}, becomes at most {percent(self.alpha)} sure that a given person is in the table.",
            f"The table's quasi values make up {covered} combinations for {people_text(self.people)}; in disjoint groups of "
            f"columns no alpha below {percent(self.least)} could be kept.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {**vars(self), "alpha": decimal_text(self.alpha), "least_alpha": float(self.least), "moved": list(self.moved)}
