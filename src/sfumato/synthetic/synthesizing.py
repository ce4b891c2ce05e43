"""What the methods that draw synthetic records have in common: γ, declared domains, one form, and no claim on belief."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import PolicyError
from sfumato.exact import Number, decimal_text
from sfumato.methods.base import Made, Task, Ungrouped
from sfumato.methods.randomizing import checked_text, checked_values
from sfumato.methods.show.synthetic import Drawn, show_synthetic
from sfumato.parameters import flag, parameter, rational
from sfumato.privacy.beta_likeness import BetaLikeness
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.differential import Differential, power_below
from sfumato.privacy.requirement import Against, Requirement
from sfumato.randomize.declared import require_otherwise
from sfumato.randomness import Randomness
from sfumato.synthetic.network import CodedPeople
from sfumato.synthetic.records import Given, draw_records
from sfumato.synthetic.spending import Spending
from sfumato.synthetic.universe import declared_quasi, declared_values, universe_of
from sfumato.table.closed import closed
from sfumato.table.column import code_type
from sfumato.table.schema import Schema
from sfumato.table.table import Table

_LEAST = Fraction(1, 1000)
_EPSILON = rational("a number from 0.001 to 20", hint='"1" is usual', least=_LEAST, most=20)

LAW, RECORDS = 0, 1
"""The streams of coins that what is told draws from, and that the records do."""


@dataclass(frozen=True, eq=False)
class FittedRecords:
    """What records are drawn from, which columns were measured together, private figures, and what the manifest states too."""

    law: Sequence[Given]
    measured: Sequence[Sequence[int]]
    figures: Mapping[str, Any]
    public: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Synthesizing(Ungrouped):
    """Publish synthetic records, drawn from noisy counts; that bounds how much anybody's odds grow, and no belief by itself."""

    epsilon: Number | None = parameter(None, _EPSILON)
    values: Sequence[str] | None = parameter(None, checked_values)
    otherwise: str | None = parameter(None, checked_text)
    accept_weaker_claim: bool = parameter(False, flag)

    form: ClassVar[str] = "synthetic"
    bounds_odds: ClassVar[bool] = True
    unproven: ClassVar[str] = "it bounds only how much one person's record changes the release, by e^ε"
    instead: ClassVar[str] = 'model = "differential", which asks for just that; or name = "noisy-boxes"'

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.values is None) != (self.otherwise is None):
            raise PolicyError(
                f"{type(self).__name__}: values and otherwise must be given together",
                hint='values = ["flu", "other"], otherwise = "other"',
            )
        if self.values is not None:
            require_otherwise(type(self).__name__, self.otherwise, dict.fromkeys(self.values, Fraction(1)))

    def proves(self) -> tuple[Against, ...]:
        """Return nobody: how much odds grow is bounded, not what somebody believes."""
        return ()

    def sets_refused(self, against: Against) -> str:
        """Return why sets have no bounds of their own."""
        return "the odds of every set grow at most e^ε-fold, whichever set it is"

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read: what there may be is declared, and read from each cell by itself.

        What would follow from somebody's values is refused here, before any table is read.
        """
        if self.values is not None:
            schema = replace(schema, closed=closed({"values": list(self.values), "otherwise": self.otherwise}))
        schema = replace(schema, by_cell=True)
        declared_quasi(schema)
        declared_values(schema)
        return schema

    def require_provable(self, table: Table, requirement: Requirement) -> None:
        """Raise unless the requirement asks for no more than odds, or a weaker claim than its own is accepted."""
        if requirement.bounds_odds:
            self.gamma(requirement)
            return
        super().require_provable(table, requirement)

    def require_something_to_keep(self, bounds: Bounds, requirement: Requirement) -> None:
        """Refuse nothing: how much odds grow is bounded whatever the bounds are."""

    def gamma(self, requirement: Requirement) -> Fraction:
        """Return how much odds may grow: what `differential` says, e^ε of the method, or 1 + β ([003 §5]: ε = ln(1+β))."""
        own = None if self.epsilon is None else power_below(Fraction(self.epsilon))
        if isinstance(requirement, Differential):
            if own not in (None, requirement.gamma):
                raise PolicyError(
                    f"epsilon: odds may grow {float(requirement.gamma):.6g}-fold by the requirement, and not as the method says",
                    hint="leave epsilon of the method out",
                )
            return requirement.gamma
        if own is None and isinstance(requirement, BetaLikeness) and requirement.beta > 0:
            return 1 + requirement.beta
        if own is None:
            raise PolicyError(
                f"{type(self).__name__} needs epsilon: {requirement.model} does not say how much odds may grow",
                hint='epsilon = "1"; or model = "differential"',
            )
        return own

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the requirement's bounds for equal shares of the declared values: the table's own counts decide nothing."""
        return requirement.bounds(dict.fromkeys(universe_of(table).domain.labels, 1))

    def odds_bound(self, requirement: Requirement, bounds: Bounds) -> Fraction:
        """Return γ, which does not follow from bounds here."""
        return self.gamma(requirement)

    @abstractmethod
    def learn(self, people: CodedPeople, epsilon: Fraction, random: Randomness) -> FittedRecords:
        """Return what records are drawn from, having spent ε."""

    def make(self, task: Task) -> Made:
        """Return the release; the private figures are ε, γ, how many cells have noise, and how much."""
        task.progress("counting", 0.0)
        universe, spending = universe_of(task.table), Spending(self.gamma(task.requirement))
        people = CodedPeople(universe.columns, universe.sizes, task.table.rows)
        learned = self.learn(people, spending.epsilon, task.random.spawn(LAW))
        task.progress("drawing records", 0.7)
        drawn = draw_records(learned.law, len(universe.sizes), task.table.rows, task.random.spawn(RECORDS))
        names = [(column.name,) for column in universe.quasi] + [universe.domain.names]
        together = sorted(sorted(set(columns)) for columns in learned.measured)
        records = Drawn(
            quasi=[
                replace(column, codes=codes.astype(code_type(column.size)))
                for column, codes in zip(universe.quasi, drawn[:-1], strict=True)
            ],
            domain=universe.domain,
            value=drawn[-1],
            epsilon=spending.stated,
            gamma=spending.gamma,
            measured=[[name for column in columns for name in names[column]] for columns in together],
            public=learned.public,
        )
        figures = {"epsilon": decimal_text(spending.stated), "gamma": str(spending.gamma), **learned.figures}
        return Made(show_synthetic(task, self, records), figures)
