"""The sections of an explanation: the table, the rule, the method, and the cost by kind of method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from sfumato.basis import BasisName
from sfumato.exact import ceil_inverse
from sfumato.explanation.cost import StrategyLoss
from sfumato.explanation.forecast import Forecast
from sfumato.explanation.odds import Odds
from sfumato.explanation.presence import Presence
from sfumato.explanation.risk import Risk, risk_of
from sfumato.explanation.room import NoRoom
from sfumato.explanation.tightness import Tightness, growth
from sfumato.form import FORMS, Form
from sfumato.methods import Method
from sfumato.release.manifest import shared_by
from sfumato.release.paper_claims import weaker_claim
from sfumato.release.weights import uncovered
from sfumato.table import Table


@dataclass(frozen=True)
class ValueBound:
    """One sensitive value: how many people have it, how sure a reader may become, and the smallest group that may hold it.

    Or a set of values, whose name is `value` and whose values are `members`.
    """

    value: str
    count: int
    share: Fraction
    bound: Fraction
    members: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """How many times as sure as before a reader may become."""
        return float(self.bound / self.share) if self.share else float("inf")

    @property
    def growth(self) -> float:
        """By how much the odds of having it may grow at most; infinite without a bound."""
        return float(growth(self.share, self.bound)) if self.bound < 1 and self.share else float("inf")

    @property
    def needs(self) -> int:
        """⌈1/bound⌉: the smallest group in which one person may have the value."""
        return ceil_inverse(self.bound)

    @property
    def feasible(self) -> bool:
        """False when more people have the value than its bound allows in any group."""
        return self.bound >= self.share


@dataclass(frozen=True)
class BoxSizes:
    """The boxes into which near people are put: by which cuts, how many, and how large; for soft cuts also their patience κ."""

    basis: BasisName
    number: int
    sizes: tuple[int, int]
    patience: int | None = None


@dataclass(frozen=True)
class AboutTable:
    """The people: how many, by which columns they are known and protected, and how easily they are found.

    `protects_each` says that several sensitive columns are protected each by itself: then values have the names of their columns
    before them. `notes` are sentences about who a row is, and about values that may mean "missing".
    """

    rows: int
    dropped: int
    roles: Mapping[str, tuple[str, ...]]
    one_row_per_person: bool
    protects_each: bool
    unique_share: Fraction
    risk: Risk | None
    notes: tuple[str, ...]
    facts: int | None = None
    """Where people may have several values: how many pairs of a person and a value there are."""
    alike: str | None = None
    """Who may share a group, where a person has all her rows."""
    household: str | None = None
    """By what households are told apart, where these are published."""
    by_band: bool = False
    """Whether bounds follow from the shares among those who may share a group."""
    uncovered: str = ""
    """What no claim covers, where secrets may have gone into making the weight."""

    @classmethod
    def of(cls, table: Table) -> AboutTable:
        """Return what there is to know of a table, whatever the policy."""
        return cls(
            rows=table.rows,
            dropped=table.dropped,
            roles={role: tuple(getattr(table.schema, role)) for role in ("identifier", "quasi", "sensitive", "other")},
            one_row_per_person=table.schema.one_row_per_person,
            protects_each=table.schema.protects_each,
            unique_share=table.unique_share(),
            risk=risk_of(table),
            notes=table.about_people(),
            facts=None if table.bundles is None else table.bundles.facts,
            alike=shared_by(table.schema.people_rule.alike) if table.schema.people_rule.all else None,
            household=table.schema.people_rule.household,
            by_band=table.schema.people_rule.shares == "band",
            uncovered=uncovered(table.schema.to_dict()),
        )

    @property
    def compound(self) -> bool:
        """True when several sensitive columns form one attribute."""
        return len(self.roles["sensitive"]) > 1 and not self.protects_each


@dataclass(frozen=True)
class AboutRule:
    """What is asked: the requirement, its adversary, and the bound of every value and set of values.

    `tightness` says which bounds leave groups too little room to tell much, by counts alone. `declared` are, where records are
    randomized by declared shares, the values whose true share lies above their bound.
    """

    requirement: Mapping[str, Any]
    against: str
    values: tuple[ValueBound, ...]
    sets: tuple[ValueBound, ...] = ()
    tightness: Tightness | None = None
    declared: tuple[str, ...] | None = None

    @property
    def unbounded(self) -> tuple[ValueBound, ...]:
        """The values without a bound, the most frequent first: a release may show openly who has them."""
        held = {value for one in self.sets if one.bound < 1 for value in one.members}
        return tuple(value for value in reversed(self.values) if value.bound == 1 and value.value not in held)

    def tightest(self, number: int) -> tuple[ValueBound, ...]:
        """Return so many values whose odds may grow least, the least first and of equal ones the most frequent."""
        return tuple(sorted(self.values, key=lambda value: (value.growth, -value.count, value.value))[:number])


@dataclass(frozen=True)
class AboutMethod:
    """The method that would publish.

    `either_form` says that it shows its groups as ranges or as buckets. `paper_claim` is what it claims in place of a bound on
    belief, in the words of the release; None where it claims the bounds.
    """

    name: str
    form: str
    either_form: bool
    max_size: int | None
    decoys: int
    paper_claim: str | None

    @property
    def shown_as(self) -> Form:
        """What follows from the form."""
        return FORMS[self.form]

    @classmethod
    def of(cls, method: Method) -> AboutMethod:
        """Return what an explanation tells of a method."""
        return cls(
            name=method.name,
            form=method.form,
            either_form=any(parameter.name == "form" for parameter in fields(method)),
            max_size=getattr(method, "max_size", None),
            decoys=getattr(method, "decoys", 0),
            paper_claim=None if method.proves() else weaker_claim(method.to_dict()),
        )


@dataclass(frozen=True)
class GroupCost:
    """What groups would lose: blind ones by strategy, near ones by the boxes they are cut into, and why there is no room."""

    strategies: tuple[StrategyLoss, ...] = ()
    near: bool = False
    boxes: BoxSizes | None = None
    room: NoRoom | None = None


@dataclass(frozen=True)
class Cost:
    """What a release would cost, one section a kind of method: groups, randomized records, hidden presence, noise on counts."""

    groups: GroupCost = GroupCost()
    randomization: Forecast | None = None
    presence: Presence | None = None
    odds: Odds | None = None

    @property
    def measurable(self) -> bool:
        """Whether releases are made in memory to measure their error."""
        return bool(self.groups.strategies or self.groups.boxes or self.presence or self.odds)
