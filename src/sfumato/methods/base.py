"""What a method is: parameters, a claim, a grouping and a form — and no algorithm of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import NotProvable, PolicyError, did_you_mean
from sfumato.exact import require_short
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.release.base import Release
from sfumato.release.links import Links
from sfumato.table.table import Table


@dataclass(frozen=True)
class Outcome:
    """A release, and what only the publisher may see: figures about its making, and what an exact audit needs beside the table.

    `placed` is the part of each row of the table, for a randomized release; `links` says which people each record with ranges of
    its own was matched with. The audit checks both.
    """

    release: Release
    private: Mapping[str, Any]
    placed: Integers | None = None
    links: Links | None = None

    def at_rows(self, order: Integers) -> Outcome:
        """Return the outcome for the table whose row `order[i]` is row i of the one that was published."""
        placed = None if self.placed is None else self.placed[np.argsort(order)]
        links = None if self.links is None else self.links.at_rows(order)
        return replace(self, placed=placed, links=links)


PEOPLE, MAKING = 0, 1
"""The streams of coins that shuffle people, and that a method draws from."""


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to publish. Parameters are checked when the method is made; the same seed gives the same release."""

    name: ClassVar[str]
    hides_presence: ClassVar[bool] = False
    """Whether the method can keep a bound on the belief that a person is in the table at all."""

    def __new__(cls, **parameters: Any) -> Self:
        """Return an empty method, after refusing parameters that nothing should be done with."""
        require_short(cls.__name__, parameters)
        return super().__new__(cls)

    @abstractmethod
    def proves(self) -> tuple[Against, ...]:
        """Return the adversaries against whom these parameters keep the bounds, provably."""

    @abstractmethod
    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return a release of people who stand in an order of coins, with the private figures of its making.

        `run` calls it with a requirement that the method can prove. Rows of `placed` and `links` are those of this table.
        """

    def run(
        self,
        table: Table,
        requirement: Requirement,
        *,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Return a release that keeps the requirement, with the private figures of its making.

        People are brought into the order of their own values and shuffled by coins before anything is computed: the order of the
        input decides nothing, not even through the rounding of a sum, and the same people and seed give the same release.
        """
        self.require_provable(table, requirement)
        coins = randomness(random)
        shuffled, order = table.shuffled(coins.spawn(PEOPLE))
        return self.make(shuffled, requirement, random=coins.spawn(MAKING), progress=progress or silent).at_rows(order)

    def publish(
        self,
        table: Table,
        requirement: Requirement,
        *,
        random: Randomness | int | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Return a release that keeps the requirement; randomness is the operating system's unless given."""
        return self.run(table, requirement, random=random, progress=progress).release

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds that a release of this table keeps: the requirement's, on the table's own counts."""
        return requirement.bounds(table.sensitive.histogram())

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values."""
        return {"name": self.name, **{field.name: getattr(self, field.name) for field in fields(self)}}

    def require_presence(self, requirement: Requirement) -> None:
        """Raise unless the requirement speaks of presence if and only if this method can hide it."""
        if requirement.presence is not None and not self.hides_presence:
            raise NotProvable(
                f"method {self.name!r} cannot keep a bound on presence: it shows who is in the table",
                hint='name = "ambiguity" or "priview"; or a requirement without alpha',
                against=requirement.against,
            )
        if requirement.presence is None and self.hides_presence:
            raise PolicyError(
                f"method {self.name!r} hides who is in the table, and {requirement.model} does not say how well",
                hint='model = "presence-association" with alpha, and this model as beta; or name = "buckets"',
            )

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise `NotProvable` unless this method proves its claim against the requirement's adversary on this table."""
        against = requirement.against
        self.require_presence(requirement)
        if against not in self.proves():
            shown = " or ".join(f"'{one}'" for one in self.proves())
            raise NotProvable(
                f"method {self.name!r} with these parameters proves its claim against {shown}, not against {against!r}",
                hint=_who_can(against, self.proves()),
                against=against,
            )
        if requirement.presence is not None and table.dropped:
            raise NotProvable(
                f"{table.dropped} people were left out because a value is missing: whoever has such a value is certainly not "
                "published, and the claim about presence does not cover that",
                hint='use missing = "value" for those columns, or a requirement without alpha',
                against=against,
            )
        if against != "reader" and table.dropped:
            raise NotProvable(
                f"{table.dropped} people were left out because a value is missing; that says something about them, and the claim "
                f"against an {against} does not cover it",
                hint='use against = "reader", or missing = "value" for those columns',
                against=against,
            )


def _who_can(against: Against, proven: tuple[Against, ...]) -> str:
    if against == "insider":
        return (
            "groups cannot hold against people who know others of the same group; only randomization with declared parameters "
            f'can: method "small-domain" or "uniform" with parameters = "declared" and shares. Or choose against = "{proven[-1]}"'
        )
    return f'choose against = "{proven[-1]}"'


def require_choice(caller: str, name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise `PolicyError` unless the parameter has one of the known values."""
    if value not in known:
        raise PolicyError(
            f"{caller}({name}=…): expected one of {', '.join(map(repr, known))}, got {value!r}",
            hint=did_you_mean(str(value), known),
        )


def require_whole(caller: str, name: str, value: object, least: int, most: int | None = None) -> None:
    """Raise `PolicyError` unless the parameter is a whole number of at least `least`, and at most `most` where there is one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        upto = "on" if most is None else f"to {most:,}"
        raise PolicyError(f"{caller}({name}=…): expected a whole number from {least} {upto}, got {value!r}")
