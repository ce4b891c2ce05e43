"""What the methods that randomize have in common: computed or declared parameters, one plan, one form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import PolicyError
from sfumato.exact import Number, exact
from sfumato.methods.base import Method, Outcome, require_choice
from sfumato.methods.show_randomized import require_free_part_name, show_as_randomized
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomize.apply import randomize
from sfumato.randomize.declared import as_declared, declared_counts, declared_shares, require_otherwise
from sfumato.randomize.forecast import retention_per_part
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomize.problem import Problem
from sfumato.randomness import Randomness
from sfumato.table.closed import closed
from sfumato.table.schema import Schema
from sfumato.table.sensitive import Domain
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Randomizing(Method):
    """Keep each record's sensitive value with some probability, else replace it; what is decided is decided on counts alone."""

    parameters: Literal["computed", "declared"] = "computed"
    shares: Mapping[str, Number] | None = None
    otherwise: str | None = None
    amplification: Number | None = None

    form: ClassVar[str] = "randomized"

    def __post_init__(self) -> None:
        caller = type(self).__name__
        require_choice(caller, "parameters", self.parameters, ("computed", "declared"))
        if self.parameters == "declared" and self.shares is None:
            raise PolicyError(
                f"{caller}(parameters='declared') needs shares",
                hint='declare the share of every value, from last year\'s figures or a design: shares = { flu = "0.4", … }',
            )
        for name in ("shares", "otherwise"):
            if self.parameters == "computed" and getattr(self, name) is not None:
                raise PolicyError(f"{caller}({name}=…): computed parameters do not use them", hint='set parameters = "declared"')
        if self.shares is not None:
            object.__setattr__(self, "shares", MappingProxyType(declared_shares(self.shares)))
            declared_counts(self.declared)
            require_otherwise(caller, self.otherwise, self.declared)
        if self.amplification is not None:
            object.__setattr__(self, "amplification", exact(self.amplification, f"{caller}(amplification=…)"))
            if Fraction(self.amplification) <= 1:
                raise PolicyError(
                    f"{caller}(amplification=…): expected a number above 1, got {self.amplification}",
                    hint="1 would replace every value regardless of what it was",
                )

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
    def plan(self, problem: Problem, requirement: Requirement, people: int) -> RandomizationPlan:
        """Return parts and retentions for these counts and bounds."""

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer; with declared parameters also insider, because no record's output depends on another's."""
        return ("reader", "engineer", "insider") if self.parameters == "declared" else ("reader", "engineer")

    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and parameters as plain JSON values, rationals as text."""
        document = super().to_dict()
        if self.shares is not None:
            document["shares"] = {value: str(share) for value, share in self.shares.items()}
        return {name: str(value) if isinstance(value, Fraction) else value for name, value in document.items()}

    def plan_for(self, table: Table, requirement: Requirement) -> RandomizationPlan:
        """Return the plan that publishing this table would follow: what `explain` looks at."""
        return self._planned(table, requirement)[2]

    def make(self, table: Table, requirement: Requirement, *, random: Randomness, progress: Progress) -> Outcome:
        """Return the release; the private figures are retentions and error bounds."""
        require_free_part_name(table)
        progress("finding parts and retentions", 0.0)
        domain, bounds, plan = self._planned(table, requirement)
        progress("randomizing values", 0.3)
        made = randomize(_codes(table, domain), plan, len(domain), random)
        progress("writing the release", 0.8)
        release, number = show_as_randomized(
            table, domain, plan, made, bounds=bounds, requirement=requirement, method=self, random=random
        )
        progress("done", 1.0)
        return Outcome(release, _figures(plan), number[made.part].astype(np.int64))

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds on the table's shares; with declared parameters those on the declared ones."""
        return self._planned(table, requirement)[1] if self.parameters == "declared" else super().bounds(table, requirement)

    def _planned(self, table: Table, requirement: Requirement) -> tuple[Domain, Bounds, RandomizationPlan]:
        """Return the domain, the bounds and the plan; with declared parameters the table decides none of them."""
        if self.parameters == "computed":
            bounds = requirement.bounds(table.sensitive.histogram())
            return table.sensitive.domain, bounds, self.plan(Problem.of(bounds), requirement, table.rows)
        attribute = self.close(table.schema).closed_attribute()
        if attribute is None or table.schema.closed != attribute.spec:
            raise PolicyError(
                "the table was read without regard to the declared values: what is published of a person must follow from her "
                "own cells, whatever others have",
                hint="Table.read(path, method.close(schema)), or Table.from_frame(frame, method.close(schema))",
            )
        counts = declared_counts(self.declared)
        bounds = requirement.bounds({label: counts[label] for label in attribute.domain.labels})
        plan = as_declared(self.plan(Problem.of(bounds), requirement, table.rows))
        return attribute.domain, bounds, plan


def _codes(table: Table, domain: Domain) -> Array:
    """Return the table's sensitive codes as codes of the release's domain."""
    if domain is table.sensitive.domain:
        return table.sensitive.codes
    place = {label: code for code, label in enumerate(domain.labels)}
    return np.array([place[label] for label in table.sensitive.labels], dtype=np.int64)[table.sensitive.codes]


def _figures(plan: RandomizationPlan) -> dict[str, Any]:
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
        figures["note"] = "no partition has a smaller error bound than randomizing the whole table, so there is one part"
    return figures
