"""`NoisyBoxes`: boxes by quasi values alone, and counts with exact noise; the default against an insider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError
from sfumato.groups.noisy import cut_evenly, join_boxes, shown_together, usual_floor, with_sets
from sfumato.groups.streams import Step
from sfumato.methods.base import Made, Task, Ungrouped, about_values
from sfumato.methods.randomizing import checked_shares, checked_text, checked_values, closed_domain, declared_codes
from sfumato.methods.show.noisy import show_noisy
from sfumato.parameters import Check, choice, flag, parameter, weights, whole
from sfumato.privacy.each import stacked, unstacked
from sfumato.privacy.requirement import Against, Bounds, Requirement
from sfumato.randomize.declared import declared_counts, require_otherwise
from sfumato.randomize.noise import largest_odds, noise_ratio, two_sided
from sfumato.table.closed import closed
from sfumato.table.schema import Schema
from sfumato.table.table import Table


def _each(check: Check) -> Check:
    """Take what the check takes, or column = such a value, for each of several columns."""

    def checked(where: str, value: Any) -> Any:
        nested = isinstance(value, Mapping) and value and (check is not checked_shares or _nested(value))
        if not nested:
            return check(where, value)
        return MappingProxyType({str(name): check(f"{where} {name}", value[name]) for name in sorted(value)})

    return checked


def _nested(value: Mapping[str, Any]) -> bool:
    return all(isinstance(one, Mapping) for one in value.values())


@dataclass(frozen=True, kw_only=True)
class NoisyBoxes(Ungrouped):
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
    Where each of several columns is protected by itself, shares or values, and otherwise, are given for each: column = ….
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
    shares: Mapping[str, Any] | None = parameter(None, _each(checked_shares))
    values: Sequence[str] | Mapping[str, Sequence[str]] | None = parameter(None, _each(checked_values))
    otherwise: str | Mapping[str, str] | None = parameter(None, _each(checked_text))
    floor: int | None = parameter(None, whole(1))
    merge: bool | None = parameter(None, flag)
    weights: Mapping[str, float] | None = parameter(None, weights())

    name: ClassVar[str] = "noisy-boxes"
    by_counts: ClassVar[bool] = True
    keeps_odds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        caller = type(self).__name__
        if (self.shares is None) == (self.values is None):
            raise PolicyError(
                f"{caller} needs shares: what is published may not depend on which values people turn out to have",
                hint='shares = { flu = "0.4", … }, from last year\'s figures or a design; values for the model "differential"',
            )
        if self.apart:
            given = self.shares if self.shares is not None else self.values
            if not isinstance(self.otherwise, Mapping) or not isinstance(given, Mapping) or set(self.otherwise) != set(given):
                raise PolicyError(
                    f"{caller}(otherwise=…): every column with declared values needs its own",
                    hint='otherwise = { illness = "other" }',
                )
            for name in given:
                self.of(name)
            return
        if self.shares is not None:
            declared_counts(self.declared)
        require_otherwise(caller, self.otherwise, self.declared)

    @property
    def apart(self) -> bool:
        """Whether values are declared for each of several columns."""
        return isinstance(self.values, Mapping) or (self.shares is not None and _nested(self.shares))

    def of(self, column: str) -> NoisyBoxes:
        """Return the method with what is declared of one of several columns."""
        given: dict[str, Any] = {key: getattr(self, key) for key in ("shares", "values", "otherwise")}
        if any(one is not None and column not in one for one in given.values()):
            raise PolicyError(f"{type(self).__name__}: nothing is declared of {column!r}", hint="declare values of every secret")
        own: dict[str, Any] = {key: None if one is None else one[column] for key, one in given.items()}
        return replace(self, **own)

    @property
    def declared(self) -> dict[str, Any]:
        """The declared share of each value; equal ones where only values were declared. Or those of each column."""
        if self.apart:
            return {name: self.of(name).declared for name in (self.shares if self.shares is not None else self.values) or ()}
        if self.shares is None:
            return {value: Fraction(1, len(self.values or ())) for value in self.values or ()}
        return {value: Fraction(share) for value, share in self.shares.items()}

    def sets_refused(self, against: Against) -> str:
        """Return nothing: sets have counts as values have."""
        return ""

    def each_refused(self, against: Against) -> str:
        """Return nothing, where values are declared for each column."""
        return (
            "" if self.apart else "its values are declared of one attribute; shares = { illness = { … }, income = { … } } does it"
        )

    def proves(self) -> tuple[Against, ...]:
        """Return insider: what noise bounds is what anybody learns of one person, whoever else is known."""
        return ("insider",)

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read: each person's value follows from her own cells alone."""
        if self.apart:
            others: Mapping[str, str] = self.otherwise  # type: ignore[assignment]
            given = {name: {"values": list(own), "otherwise": others[name]} for name, own in self.declared.items()}
            return replace(schema, closed=closed(given))
        return replace(schema, closed=closed({"values": list(self.declared), "otherwise": self.otherwise}))

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds on the declared shares, in the order of the declared values."""
        if table.schema.apart:
            names = table.sensitive.domain.names
            parts = zip(names, table.apart(), strict=True)
            return stacked({name: self.of(name).bounds(one, requirement.of(name)) for name, one in parts})
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
        return odds_within(bounds)

    def joins(self, requirement: Requirement) -> bool:
        """Return whether boxes are joined where a noisy share lies over its bound."""
        return not requirement.bounds_odds if self.merge is None else self.merge

    def floor_for(self, gamma: Fraction, people: int) -> int:
        """Return the floor: the one given, else by the public rule; each of several columns has a part of the odds."""
        if self.floor is not None:
            return self.floor
        if not self.apart:
            return usual_floor(gamma, len(self.declared), people)
        return usual_floor(gamma, max(map(len, self.declared.values())), people, columns=len(self.declared))

    def make(self, task: Task) -> Made:
        """Return the release; the private figures are the floor, γ and ε, and how many boxes were cut and shown."""
        task.progress("cutting quasi space by quasi values alone", 0.0)
        parts = task.parts()
        own = [self.of(one.table.schema.sensitive[0]) for one in parts] if self.apart else [self]
        domains = [closed_domain(one.table, method.close(one.table.schema)) for one, method in zip(parts, own, strict=True)]
        gamma = odds_within(task.bounds)
        ratio = noise_ratio(gamma, len(parts))
        floor = self.floor_for(gamma, task.table.rows)
        tree = cut_evenly(task.quasi, floor, self.weights)
        task.progress("adding noise to every count", 0.6)
        counted = zip(parts, domains, strict=True)
        counts = np.hstack([tree.counts(declared_codes(one.table, domain), len(domain)) for one, domain in counted])
        counts += two_sided(ratio, counts.size, task.random.spawn(Step.NOISE)).reshape(counts.shape)
        joined = (
            join_boxes(tree, with_sets(counts, task.bounds), task.bounds.event_limits) if self.joins(task.requirement) else None
        )
        grouping = shown_together(tree, joined)
        draws = None
        if joined is not None:
            draws = np.bincount(joined.of, minlength=grouping.groups).astype(np.int64)
            added = np.zeros((grouping.groups, counts.shape[1]), np.int64)
            np.add.at(added, joined.of, counts)
            counts = added
        task.progress("writing the release", 0.8)
        release = show_noisy(task, self, grouping, domains, counts, draws, gamma=gamma, ratio=ratio)
        figures = {"gamma": str(gamma), "epsilon": float(np.log(float(gamma))), "floor": floor, "boxes": tree.boxes}
        figures |= {"groups": grouping.groups, "kept": joined is None or joined.kept}
        return Made(release, figures)


def odds_within(bounds: Bounds) -> Fraction:
    """Return how much odds may grow so that no belief in a value of any column exceeds its bound."""
    return min(largest_odds(one) for one in unstacked(bounds) if one.protects)
