"""What a policy says of people: by which columns they are told apart, and which of somebody's rows are kept, or shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sfumato.errors import PolicyError, did_you_mean

_KEEP = re.compile(r"\s*(first|last)\s+by\s+(.*\S)\s*", re.DOTALL)
SHOW = re.compile(r"\s*(first|last|least|greatest)\s+by\s+(.*\S)\s*", re.DOTALL)
OWN = ("least", "greatest")
_KEYS = ("key", "keep", "rows", "quasi", "alike", "shares", "without_key", "most", "unit", "several")
_UNIT_KEYS = ("household", "quasi", "alike", "shares", "without_key", "most")
LATE = ("last", "greatest")

BAND = "rows"
"""The quasi column that says how many rows a person has."""
SIZE = "members"
"""The quasi column that says how many members a household has."""

Alike = Literal["rows", "sizes", "exact"] | tuple[int, ...]
"""Which numbers of rows count as one: by public bands, none but equal ones, or bands that begin at these numbers. Of households
sizes, which are their numbers of members."""


@dataclass(frozen=True, kw_only=True)
class People:
    """What the policy says of people: the columns that tell them apart (`key`), and which of somebody's rows is kept.

    `keep` is "first by COLUMN", "last by COLUMN", or "error": several rows are refused. With "all" a person has all her rows:
    `quasi` says of which her quasi values are shown ("first by COLUMN", or by column, also its "least" or "greatest"), and
    `alike` which numbers of rows may share a group; with `shares = "band"` bounds follow from the shares among these, else from
    those of everybody. Rows without a key are an error, or dropped if `without_key` says so.
    `rows = "people"` states that every row is a person, whatever looks like a key of people. `most` is for noise on counts: of
    so many values of a secret, at most, a person is counted, by coins among hers; one number, or secret = number.

    A `unit` that is published in place of people, a household, is a person here: all rows of all members are its own. `member`
    says which rows are one member's, where members may have `several`.
    """

    key: Sequence[str] | str = ()
    keep: str = "error"
    rows: Literal["people"] | None = None
    quasi: str | Mapping[str, str] | None = None
    alike: Alike | Sequence[int] | None = None
    shares: Literal["table", "band"] = "table"
    without_key: Literal["error", "drop"] = "error"
    most: int | Mapping[str, int] | None = None
    unit: Literal["household"] | None = None
    member: Sequence[str] = ()
    several: bool = False

    def __post_init__(self) -> None:
        key = (self.key,) if isinstance(self.key, str) else self.key
        if not isinstance(key, Sequence) or not all(isinstance(name, str) and name for name in key) or len(set(key)) < len(key):
            raise PolicyError(
                f"people: key: expected a column or a list of columns, got {self.key!r}", hint='key = "patient_nbr"'
            )
        object.__setattr__(self, "key", tuple(key))
        if not isinstance(self.keep, str) or (self.keep not in ("error", "all") and not _KEEP.fullmatch(self.keep)):
            raise PolicyError(
                f"people: keep: expected first by …, last by … or error, or all, got {self.keep!r}",
                hint='keep = "first by admitted"',
            )
        if self.rows not in (None, "people"):
            raise PolicyError(
                f'people: rows: expected "people" (every row is a person), got {self.rows!r}',
                hint='key = "…" where somebody has several rows; one_row_per_person=False where claims speak of rows',
            )
        if self.keep not in ("error", "all") and not self.key:
            raise PolicyError("people: keep: it says which row of a person, so it needs a key", hint='key = "patient_nbr"')
        if self.without_key not in ("error", "drop"):
            raise PolicyError(
                f"people: without_key: expected error or drop, got {self.without_key!r}", hint='without_key = "drop"'
            )
        if self.unit not in (None, "household") or not isinstance(self.several, bool):
            raise PolicyError(f"people: unit: expected household, got {self.unit!r}", hint='unit={"household": "hh_id"}')
        self._check_most()
        self._check_all()

    def _check_most(self) -> None:
        """Refuse what is no number of values, or no such number of each secret."""
        given: Any = self.most
        numbers = list(given.values()) if isinstance(given, Mapping) else [given]
        for number in numbers or [0]:
            if (number is not None or isinstance(given, Mapping)) and (
                isinstance(number, bool) or not isinstance(number, int) or number < 1
            ):
                raise PolicyError(
                    f"people: most: expected a whole number of values from 1 on, or secret = number, got {given!r}",
                    hint="most = 5: of a person at most so many values of a secret are counted",
                )

    def _check_all(self) -> None:
        """Refuse what only a person with all her rows has, and what is not written as it must be."""
        if not self.all:
            for name in ("quasi", "alike", "shares", "without_key"):
                if getattr(self, name) not in (None, "error", "table"):
                    raise PolicyError(
                        f'people: {name}: it is for keep = "all", where a person has all her rows', hint='keep = "all"'
                    )
            return
        for name, rule in self.shown.items():
            if not isinstance(rule, str) or not (SHOW.fullmatch(rule) or (name and rule.strip() in OWN)):
                raise PolicyError(
                    f"people: quasi: expected first, last, least or greatest by …, got {rule!r}",
                    hint='quasi = "first by admitted", or quasi = { age = "least", zip = "last by admitted" }',
                )
        usual = "rows" if self.unit is None else "sizes"
        alike: Any = usual if self.alike is None else self.alike
        if not isinstance(alike, str):
            edges: tuple[Any, ...] = tuple(alike) if isinstance(alike, Sequence) else (0,)
            whole = all(isinstance(edge, int) and not isinstance(edge, bool) and edge > 1 for edge in edges)
            if not whole or list(edges) != sorted(set(edges)):
                raise PolicyError(
                    f"people: alike: expected ascending numbers of rows from 2 on, at which bands begin, got {alike!r}",
                    hint="alike = [2, 3, 5] has the bands 1, 2, 3 to 4, and 5 or more",
                )
            alike = edges
        elif alike not in (usual, "exact"):
            raise PolicyError(
                f"people: alike: expected {usual}, exact or edges, got {alike!r}", hint=f'alike = "{usual}" is usual'
            )
        object.__setattr__(self, "alike", alike)
        if self.shares not in ("table", "band") or (self.shares == "band" and not alike):
            raise PolicyError(
                f"people: shares: expected table, or band where only like people share groups, got {self.shares!r}",
                hint=f'shares = "band" with alike = "{usual}"',
            )

    @property
    def all(self) -> bool:
        """Whether a person has all her rows."""
        return self.keep == "all"

    @property
    def stratified(self) -> bool:
        """Whether people with different numbers of rows are kept apart."""
        return self.all and self.alike != ()

    @property
    def bands(self) -> tuple[str, ...]:
        """The quasi columns that say how many rows a person has, or members a household; none where any may share a group."""
        if not self.stratified:
            return ()
        return (BAND,) if self.unit is None else (SIZE, BAND) if self.several else (SIZE,)

    def of(self, secret: str) -> People:
        """Return what is said of people where this is the only secret."""
        return replace(self, most=self.most[secret]) if isinstance(self.most, Mapping) else self

    @property
    def household(self) -> str | None:
        """What households are told apart by: their number of members, and of rows where a member may have several."""
        return None if self.unit is None else "members and rows" if self.several else "members"

    @property
    def shown(self) -> Mapping[str, str]:
        """By which rule the row is chosen whose value of a quasi column is shown; under "" that of all others."""
        if self.quasi is None:
            return {}
        if isinstance(self.quasi, str):
            return {"": self.quasi}
        if not isinstance(self.quasi, Mapping):
            raise PolicyError(f"people: quasi: expected a rule, or column = rule, got {self.quasi!r}", hint='"first by admitted"')
        return self.quasi

    @property
    def orders(self) -> tuple[str, ...]:
        """The columns by whose order a row of somebody is kept, or shown."""
        rules = [SHOW.fullmatch(rule) for rule in self.shown.values()] if self.all else []
        return tuple(dict.fromkeys([*([] if self.by is None else [self.by]), *(rule[2] for rule in rules if rule)]))

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns that decide who a row is about, and which row of somebody is kept, or shown."""
        return tuple(dict.fromkeys([*self.key, *self.member, *self.orders]))

    @property
    def by(self) -> str | None:
        """The column whose first or last value decides, None where several rows are refused."""
        rule = _KEEP.fullmatch(self.keep)
        return None if rule is None else rule[2]

    @property
    def last(self) -> bool:
        """True where the last row is kept."""
        return self.keep.lstrip().startswith("last")


def people(spec: People | Mapping[str, Any]) -> People:
    """Return what `[people]` of a policy says."""
    if isinstance(spec, People):
        return spec
    if not isinstance(spec, Mapping):
        raise PolicyError(f"people: expected key, keep or rows, got {spec!r}", hint='{ key = "patient_nbr" }')
    for name in spec:
        if name not in _KEYS:
            raise PolicyError(f"people: {name}: unknown key", hint=did_you_mean(str(name), _KEYS))
    return People(**spec)


def household(spec: Mapping[str, Any], given: People | Mapping[str, Any] | None) -> People:
    """Return what `[unit]` of a policy says: whole households are published, and `[people]` may say which rows are a member's."""
    if not isinstance(spec, Mapping) or "household" not in spec:
        raise PolicyError(f"unit: expected household = column, got {spec!r}", hint='household = "hh_id"')
    for name in spec:
        if name not in _UNIT_KEYS:
            raise PolicyError(f"unit: {name}: unknown key", hint=did_you_mean(str(name), _UNIT_KEYS))
    members = people(given or {})
    if members != People(key=members.key, rows=members.rows):
        raise PolicyError(
            "people: with [unit] whole households are published, and people says only which rows are one member's",
            hint='key = "person_id"; quasi, alike, most and without_key belong to [unit]',
        )
    rest = {name: value for name, value in spec.items() if name != "household"}
    own = People(key=spec["household"]).key
    if not own:
        raise PolicyError("unit: household: no column is named", hint='household = "hh_id"')
    several = bool(members.key)
    return People(key=own, keep="all", unit="household", member=members.key, several=several, rows=members.rows, **rest)
