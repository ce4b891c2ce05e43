"""What an audit is given: the release as it was read from its tables, and what else is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sfumato.arrays import Integers
from sfumato.release.base import Release
from sfumato.release.links import Links
from sfumato.release.manifest import Manifest
from sfumato.table.table import Table

Form_co = TypeVar("Form_co", bound=Release, covariant=True)


@dataclass(frozen=True, eq=False)
class Case(Generic[Form_co]):
    """A release, the original table if it is at hand and has the release's columns, and what only some forms can use.

    `parts` and `links` are what only the publisher knows: in which part of a randomized release each row of the table is,
    from 0 on, and with which people each record with ranges of its own was matched. `outsiders` are quasi rows of people who are
    not in the table. Without `draw` nothing is looked at that depends on how the coins of a randomized release fell.
    """

    release: Form_co
    table: Table | None = None
    parts: Integers | None = None
    links: Links | None = None
    outsiders: Any = None
    draw: bool = True

    @property
    def dropped(self) -> int:
        """How many people were left out of the table before it was published, because a value is missing; 0 if not known."""
        return 0 if self.table is None else self.table.dropped

    @property
    def manifest(self) -> Manifest:
        """What the release says about itself."""
        return self.release.manifest
