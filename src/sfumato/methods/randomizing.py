"""What the methods that randomize have in common: computed or declared parameters, one plan, one form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.methods.base import Made, Task, Ungrouped
from sfumato.parameters import NUMBER, TEXT, Takes, choice, parameter, rational
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.randomize.declared import as_declared, declared_counts, declared_shares, require_otherwise
from sfumato.randomize.forecast import retention_per_part
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomize.problem import SortedValues
from sfumato.table.closed import closed
from sfumato.table.column import Domain
from sfumato.table.schema import Schema
from sfumato.table.table import Table


def _shares(where: str, value: Any) -> Any:
    """Take value = share pairs, as exact shares that add up to 1."""
    return MappingProxyType(declared_shares(value))


def _values(where: str, value: Any) -> tuple[str, ...]:
    """Take at least two different texts, in any order."""
    listed = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(name, str) for name in value)
    if not listed or len(set(value)) < max(2, len(value)):
        raise PolicyError(f"{where}: expected at least two different texts", hint='values = ["flu", "asthma", "other"]')
    return tuple(sorted(value))  # in one order: another could tell something


def _text(where: str, value: Any) -> str:
    """Take a text."""
    if not isinstance(value, str):
        raise PolicyError(f"{where}: expected a text, one of the declared values, got a {type(value).__name__}", hint='"other"')
    return value


checked_shares = Takes(_shares, {"type": "object", "additionalProperties": NUMBER, "minProperties": 2})
checked_values = Takes(_values, {"type": "array", "items": TEXT, "minItems": 2, "uniqueItems": True})
checked_text = Takes(_text, TEXT)

_ABOVE_ONE = rational("a number above 1", hint="1 would replace every value regardless of what it was", above=1)


@dataclass(frozen=True, kw_only=True)
class Randomizing(Ungrouped):
    """Keep each record's sensitive value with some probability, else replace it; what is decided is decided on counts alone."""

    parameters: Literal["computed", "declared"] = parameter("computed", choice("computed", "declared"))
    shares: Mapping[str, Number] | None = parameter(None, checked_shares, only={"parameters": ("declared",)})
    otherwise: str | None = parameter(None, Takes(lambda where, value: value, TEXT), only={"parameters": ("declared",)})
    amplification: Number | None = parameter(None, _ABOVE_ONE)

    form: ClassVar[str] = "randomized"
    by_counts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        caller = type(self).__name__
        if self.parameters == "declared" and self.shares is None:
            raise PolicyError(
                f"{caller}(parameters='declared') needs shares",
                hint='declare the share of every value, from last year\'s figures or a design: shares = { flu = "0.4", … }',
            )
        if self.shares is not None:
            declared_counts(self.declared)
            require_otherwise(caller, self.otherwise, self.declared)

    @property
    def cap(self) -> Fraction | None:
        """The largest amplification that the owner allows."""
        return None if self.amplification is None else Fraction(self.amplification)

    @property
    def declared(self) -> dict[str, Fraction]:
        """The declared share of each value; none where parameters are computed."""
        return {value: Fraction(share) for value, share in (self.shares or {}).items()}

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read for this method: with declared parameters, closed.

        Each person's value is then read from her own cells alone, as one of the declared values; whoever has another one, or
        none, has `otherwise` (none is "(missing)" where that is declared). What would look at sensitive values to refuse
        something is refused here, before any table is read.
        """
        if self.shares is None or self.otherwise is None:
            return schema
        return replace(schema, closed=closed({"values": list(self.shares), "otherwise": self.otherwise}))

    @abstractmethod
    def plan(self, problem: SortedValues, requirement: Requirement, people: int) -> RandomizationPlan:
        """Return parts and retentions for these counts and bounds."""

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; with declared parameters also insider, because no record's output depends on another's."""
        return ("reader", "engineer", "insider") if self.parameters == "declared" else ("reader", "engineer")

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds on the table's shares; with declared parameters those on the declared ones."""
        if self.parameters == "computed":
            return super().bounds(table, requirement)
        counts = declared_counts(self.declared)
        return requirement.bounds({label: counts[label] for label in self.published_domain(table).labels})

    def planned(self, requirement: Requirement, bounds: Bounds, people: int) -> RandomizationPlan:
        """Return the plan that publishing so many people under these bounds follows."""
        plan = self.plan(SortedValues.of(bounds), requirement, people)
        return as_declared(plan) if self.parameters == "declared" else plan

    def make(self, task: Task) -> Made:
        """Return the release; the private figures are retentions and error bounds."""
        task.progress("finding parts and retentions", 0.0)
        domain = self.published_domain(task.table)
        plan = self.planned(task.requirement, task.bounds, task.table.rows)
        task.progress("randomizing values", 0.3)
        made = task.people.randomized(task, self, domain, declared_places(task.table, domain), plan)
        return replace(made, figures=plan_figures(plan))

    def engines_refused(self, against: Against) -> None:
        """Return nothing: coins are drawn by place."""

    def published_domain(self, table: Table) -> Domain:
        """Return the values that may be published; with declared parameters the table decides none of them."""
        return table.sensitive.domain if self.parameters == "computed" else closed_domain(table, self.close(table.schema))


def closed_domain(table: Table, schema: Schema) -> Domain:
    """Return all declared values, after making sure that the table was read with this closed schema."""
    attribute = schema.closed_attribute()
    if attribute is None or table.schema.closed != attribute.spec:
        raise PolicyError(
            "the table was not read with the declared values: what is published of a person must depend on her own cells only",
            hint="Table.read(path, method.close(schema)), or Table.from_frame(frame, method.close(schema))",
        )
    return attribute.domain


def declared_places(table: Table, domain: Domain) -> Integers:
    """Return the code of each of the table's values in the release's domain."""
    place = {label: code for code, label in enumerate(domain.labels)}
    return np.array([place[label] for label in table.sensitive.labels], dtype=np.int64)


def plan_figures(plan: RandomizationPlan) -> dict[str, Any]:
    """Return what the receipt says of a plan: retentions and error bounds."""
    figures: dict[str, Any] = {
        "retention": float(plan.retention),
        "parts": retention_per_part(plan),
        "initial_groups": plan.groups,
        "error_bound": plan.error_bound,
        "error_bound_of_the_paper": plan.paper_bound,
        "error_bound_without_parts": plan.whole_bound,
        "delta": float(plan.delta),
    }
    if plan.groups > 1 and len(plan.parts) == 1:
        figures["note"] = "no partition has a smaller error bound than randomizing the whole table: there is one part"
    return figures
