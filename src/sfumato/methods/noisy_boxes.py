"""`NoisyBoxes`: boxes by quasi values alone, and counts with exact noise; the default against an insider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.groups.grouping import Grouping
from sfumato.groups.noisy import cut_evenly, join_boxes, shown_together, usual_floor, with_sets
from sfumato.groups.streams import Step
from sfumato.methods.base import Made, Method, Task, about_values
from sfumato.methods.randomizing import checked_shares, checked_text, checked_values, closed_domain, declared_codes
from sfumato.methods.show.noisy import show_noisy
from sfumato.parameters import choice, flag, parameter, weights, whole
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.randomize.declared import declared_counts, require_otherwise
from sfumato.randomize.noise import largest_odds, noise_ratio, two_sided
from sfumato.table.closed import closed
from sfumato.table.schema import Schema
from sfumato.table.table import Table


@dataclass(frozen=True, kw_only=True)
class NoisyBoxes(Method):
    """Cut quasi space into boxes by quasi values alone, and show how often each declared value occurs in each, with noise.

    Parameters
    ----------
    shares
        Value = share, or value = count, of every value that somebody may have, stated beforehand (last year's figures, a design);
        only proportions matter. With them a requirement's bounds become γ, how much anybody's odds may grow.
    values
        In place of shares under the model `differential`, which needs none: the values that somebody may have.
    otherwise
        The declared value of whoever has another one, or none. So nothing is refused for what a person has; the table is read
        with `close(schema)`.
    floor
        No box holds fewer people. Without it a public rule in γ, the number of values and the number of people decides.
    merge
        Join boxes whose noisy shares lie over a bound, so that the shares *shown* keep the bounds too. Without it that is done,
        except under `differential`, where what a population has may be told.
    weights
        Columns with larger weights are cut first, 1 being usual; fixed in advance.

    Notes
    -----
    Noise is two-sided geometric, drawn exactly, on every count of every box. Nothing in the release or in a refusal depends on
    one person's sensitive value beyond γ: no total, no observed domain, no type. Several releases of the same people multiply
    their γ.
    """

    parameters: Literal["declared"] = parameter("declared", choice("declared"))
    shares: Mapping[str, Number] | None = parameter(None, checked_shares)
    values: Sequence[str] | None = parameter(None, checked_values)
    otherwise: str | None = parameter(None, checked_text)
    floor: int | None = parameter(None, whole(1))
    merge: bool | None = parameter(None, flag)
    weights: Mapping[str, float] | None = parameter(None, weights())

    name: ClassVar[str] = "noisy-boxes"
    keeps_odds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        caller = type(self).__name__
        if (self.shares is None) == (self.values is None):
            raise PolicyError(
                f"{caller} needs shares: what is published may not depend on which values people turn out to have",
                hint='shares = { flu = "0.4", … }, from last year\'s figures or a design; values for the model "differential"',
            )
        if self.shares is not None:
            declared_counts(self.declared)
        require_otherwise(caller, self.otherwise, self.declared)

    @property
    def declared(self) -> dict[str, Fraction]:
        """The declared share of each value; equal ones where only values were declared."""
        if self.shares is None:
            return {value: Fraction(1, len(self.values or ())) for value in self.values or ()}
        return {value: Fraction(share) for value, share in self.shares.items()}

    def sets_refused(self, against: Against) -> str:
        """Return nothing: sets have counts as values have."""
        return ""

    def proves(self) -> tuple[Against, ...]:
        """Return insider: what noise bounds is what anybody learns of one person, whoever else is known."""
        return ("insider",)

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read: each person's value follows from her own cells alone."""
        return replace(schema, closed=closed({"values": list(self.declared), "otherwise": self.otherwise}))

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds on the declared shares, in the order of the declared values."""
        if self.shares is None and not requirement.bounds_odds:
            raise PolicyError(
                f"the bounds of {requirement.model} follow from shares, and only values were declared",
                hint='shares = { flu = "0.4", … } in place of values; or model = "differential"',
            )
        counts = declared_counts(self.declared)
        domain = closed_domain(table, self.close(table.schema))
        return requirement.bounds({label: counts[label] for label in domain.labels}, about_values(table, domain))

    def odds(self, table: Table, requirement: Requirement) -> Fraction:
        """Return γ: how much the odds of any value grow at most."""
        self.require_provable(table, requirement)
        bounds = self.bounds(table, requirement)
        self.require_something_to_keep(bounds, requirement)
        return largest_odds(bounds)

    def joins(self, requirement: Requirement) -> bool:
        """Return whether boxes are joined where a noisy share lies over its bound."""
        return not requirement.bounds_odds if self.merge is None else self.merge

    def floor_for(self, gamma: Fraction, people: int) -> int:
        """Return the floor: the one given, else by the public rule."""
        return usual_floor(gamma, len(self.declared), people) if self.floor is None else self.floor

    def group(self, task: Task) -> Grouping:
        """What is shown together follows from noisy counts, so it is made with them."""
        raise NotImplementedError

    def make(self, task: Task) -> Made:
        """Return the release; the private figures are the floor, γ and ε, and how many boxes were cut and shown."""
        task.progress("cutting quasi space by quasi values alone", 0.0)
        domain = closed_domain(task.table, self.close(task.table.schema))
        gamma = largest_odds(task.bounds)
        ratio = noise_ratio(gamma)
        floor = self.floor_for(gamma, task.table.rows)
        tree = cut_evenly(task.quasi, floor, self.weights)
        task.progress("adding noise to every count", 0.6)
        counts = tree.counts(declared_codes(task.table, domain), len(domain))
        counts += two_sided(ratio, counts.size, task.random.spawn(Step.NOISE)).reshape(counts.shape)
        joined = (
            join_boxes(tree, with_sets(counts, task.bounds), task.bounds.event_limits) if self.joins(task.requirement) else None
        )
        grouping = shown_together(tree, joined)
        draws = None
        if joined is not None:
            draws = np.bincount(joined.of, minlength=grouping.groups).astype(np.int64)
            added = np.zeros((grouping.groups, len(domain)), np.int64)
            np.add.at(added, joined.of, counts)
            counts = added
        task.progress("writing the release", 0.8)
        release = show_noisy(task, self, grouping, domain, counts, draws, gamma=gamma, ratio=ratio)
        figures = {"gamma": str(gamma), "epsilon": float(np.log(float(gamma))), "floor": floor, "boxes": tree.boxes}
        figures |= {"groups": grouping.groups, "kept": joined is None or joined.kept}
        return Made(release, figures)
