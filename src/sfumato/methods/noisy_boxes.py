"""`NoisyBoxes`: boxes by quasi values alone, and counts with exact noise; the default against an insider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import PolicyError
from sfumato.groups.cuts import Cuts
from sfumato.groups.noisy import join_boxes, usual_floor, with_sets
from sfumato.groups.streams import Step
from sfumato.methods.base import Made, Task, Ungrouped
from sfumato.methods.margins import MarginPlan, MarginRequest, checked_margins, noisy_margins, planned
from sfumato.methods.people import Declared
from sfumato.methods.randomizing import (
    checked_shares,
    checked_text,
    checked_values,
    closed_domain,
    declared_places,
)
from sfumato.methods.show.noisy import NoisyCounts
from sfumato.parameters import Check, Takes, choice, flag, parameter, weights, whole
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.privacy.sets import About
from sfumato.randomize.declared import declared_counts, declared_people, require_otherwise, shares_of_people
from sfumato.randomize.noise import largest_odds, noise_ratio, two_sided
from sfumato.table.closed import closed
from sfumato.table.schema import Schema
from sfumato.table.table import Table

checked_has = Takes(lambda where, value: MappingProxyType(shares_of_people(value)), checked_shares.schema)


def _each(check: Takes) -> Check:
    """Take what the check takes, or column = such a value, for each of several columns."""

    def checked(where: str, value: Any) -> Any:
        nested = isinstance(value, Mapping) and value and (check not in (checked_shares, checked_has) or _nested(value))
        if not nested:
            return check(where, value)
        return MappingProxyType({str(name): check(f"{where} {name}", value[name]) for name in sorted(value)})

    return Takes(checked, {"anyOf": [check.schema, {"type": "object", "additionalProperties": check.schema, "minProperties": 1}]})


def _nested(value: Mapping[str, Any]) -> bool:
    return all(isinstance(declared, Mapping) for declared in value.values())


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
    has
        In place of shares where a person may have several values of a secret: value = share of people who have it, stated
        beforehand. They need not add up to 1.
    otherwise
        The declared value of whoever has another one, or none. So nothing is refused for what a person has; the table is read
        with `close(schema)`.
    Where each of several columns is protected by itself, shares, values or has, and otherwise, are given for each: column = ….
    floor
        No box holds fewer people. Without it a public rule in γ, the number of values and the number of people decides.
    merge
        Join boxes whose noisy shares lie over a bound, so that the shares *shown* keep the bounds too. That is a fact about what
        is shown, no claim, and answers are worse for it.
    margins
        The part of ε for noisy tables of each quasi column beside the boxes, 0 for none; or pairs of columns that have tables
        too: [["age", "sex"]]. Without it 0 below 100,000 people, else 0.7.
    weights
        Columns with larger weights are cut first, 1 being usual; fixed in advance.

    Notes
    -----
    Noise is two-sided geometric, drawn exactly, on every count of every box. Nothing in the release or in a refusal depends on
    one person's sensitive value beyond γ: no total, no observed domain, no type. Several releases of the same people multiply
    their γ. Where a person may have several values of a secret, she is counted of at most k of hers (`most` of `[people]`), drawn
    by coins, and γ is divided among them: neither how many values people have nor sets of values are shown.
    """

    parameters: Literal["declared"] = parameter("declared", choice("declared"))
    shares: Mapping[str, Any] | None = parameter(None, _each(checked_shares))
    values: Sequence[str] | Mapping[str, Sequence[str]] | None = parameter(None, _each(checked_values))
    has: Mapping[str, Any] | None = parameter(None, _each(checked_has))
    otherwise: str | Mapping[str, str] | None = parameter(None, _each(checked_text))
    floor: int | None = parameter(None, whole(1))
    merge: bool = parameter(False, flag)
    margins: Fraction | tuple[tuple[str, ...], ...] | None = parameter(None, checked_margins)
    weights: Mapping[str, float] | None = parameter(None, weights())

    name: ClassVar[str] = "noisy-boxes"
    by_counts: ClassVar[bool] = True
    bounds_odds: ClassVar[bool] = True
    bounds_declared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        caller = type(self).__name__
        if sum(one is not None for one in (self.shares, self.values, self.has)) != 1:
            raise PolicyError(
                f"{caller} needs shares: the list of published values must not depend on the table",
                hint='shares = { flu = "0.4", … }, from last year\'s figures or a design; values for the model "differential"; '
                "has where a person may have several values",
            )
        if self.declares_each:
            given = self._given
            if not isinstance(self.otherwise, Mapping) or not isinstance(given, Mapping) or set(self.otherwise) != set(given):
                raise PolicyError(
                    f"{caller}(otherwise=…): every column with declared values needs its own",
                    hint='otherwise = { illness = "other" }',
                )
            for name in given:
                self.of(name)
            return
        if self.values is None:
            declared_counts(self.declared)
        require_otherwise(caller, self.otherwise, self.declared)

    @property
    def declares_each(self) -> bool:
        """Whether values are declared for each of several columns."""
        return isinstance(self.values, Mapping) or any(one is not None and _nested(one) for one in (self.shares, self.has))

    @property
    def _given(self) -> Any:
        """What is declared: shares, shares of people, or values alone."""
        return next(one for one in (self.shares, self.has, self.values) if one is not None)

    def of(self, column: str) -> NoisyBoxes:
        """Return the method with what is declared of one of several columns."""
        given: dict[str, Any] = {key: getattr(self, key) for key in ("shares", "values", "has", "otherwise")}
        if any(declared is not None and column not in declared for declared in given.values()):
            raise PolicyError(f"{type(self).__name__}: nothing is declared of {column!r}", hint="declare values of every secret")
        own: dict[str, Any] = {key: None if declared is None else declared[column] for key, declared in given.items()}
        return replace(self, **own)

    @property
    def declared(self) -> dict[str, Any]:
        """The declared share of each value; equal ones where only values were declared. Or those of each column."""
        if self.declares_each:
            return {name: self.of(name).declared for name in self._given}
        if self.values is not None:
            return {value: Fraction(1, len(self.values)) for value in self.values}
        return {value: Fraction(share) for value, share in self._given.items()}

    def bundles_refused(self, against: Against) -> str:
        """Return nothing: a person is counted of at most so many values, and noise is laid out for as many."""
        return ""

    def sets_refused(self, against: Against) -> str:
        """Return "": the counts of sets are checked like those of values."""
        return ""

    def each_refused(self, against: Against) -> str:
        """Return nothing, where values are declared for each column."""
        return (
            ""
            if self.declares_each
            else "its values are declared for a single secret; shares = { illness = { … }, income = { … } } does it"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters; shares of people only where there are any."""
        return {key: value for key, value in super().to_dict().items() if key != "has" or value is not None}

    def proves(self) -> tuple[Against, ...]:
        """Return insider: what noise bounds is what anybody learns of one person, whoever else is known."""
        return ("insider",)

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read: each person's value follows from her own cells alone."""
        self._require_declared(schema)
        if self.declares_each:
            others: Mapping[str, str] = self.otherwise  # type: ignore[assignment]
            given = {name: {"values": list(own), "otherwise": others[name]} for name, own in self.declared.items()}
            return replace(schema, closed=closed(given))
        return replace(schema, closed=closed({"values": list(self.declared), "otherwise": self.otherwise}))

    def bounds(self, table: Table, requirement: Requirement) -> Bounds:
        """Return the bounds on the declared shares, in the order of the declared values."""
        self._require_declared(table.schema)
        if table.schema.bundled and (requirement.sets or any(own.sets for _, own in requirement.columns)):
            raise PolicyError(
                "the share of people who have one of a set of values does not follow from those of its values where people may "
                "have several, and noisy counts of values show no set",
                hint="a requirement without sets; odds of any set of values grow at most as those of values",
            )
        if table.schema.protects_each:
            names = table.sensitive.domain.names
            parts = zip(names, table.each(), strict=True)
            return Bounds.together({name: self.of(name).bounds(part, requirement.of(name)) for name, part in parts})
        if self.values is not None and not requirement.bounds_odds:
            raise PolicyError(
                f"the bounds of {requirement.model} are computed from shares, and only values were declared",
                hint='shares = { flu = "0.4", … } in place of values; or model = "differential"',
            )
        counts, people = declared_people(self.declared)
        domain = closed_domain(table, self.close(table.schema))
        about = About(table.schema.bins_in_order(), domain.parts(), people if table.bundles is not None else None)
        return requirement.bounds({label: counts[label] for label in domain.labels}, about)

    def _require_declared(self, schema: Schema) -> None:
        """Raise `PolicyError` unless what is declared is for as many values a person as she may have; no value is looked at."""
        if (self.shares if schema.bundled else self.has) is not None:
            raise PolicyError(
                "shares must add up to 1, but people may have several values of a secret here"
                if schema.bundled
                else "has: everybody has one value of each secret here, so that shares add up to 1",
                hint='has = { flu = "0.4", … }: the share of people who have it'
                if schema.bundled
                else 'shares = { flu = "0.4", … }',
            )
        if schema.people_rule.shares == "band":
            raise PolicyError(
                "people: shares: bounds follow from declared shares here, one for everybody", hint='leave out shares = "band"'
            )
        if schema.bundled and schema.most is None:
            whom, where = ("person", "people") if schema.people_rule.unit is None else ("household", "unit")
            raise PolicyError(
                f"a {whom} may have any number of values of a secret, and noise must hide all that are "
                "counted: limit their number",
                hint=f'{where}={{"most": 5}}: of at most so many values of a secret, by coins among all; from figures that you '
                "had before, not from this table",
            )

    def odds_bound(self, requirement: Requirement, bounds: Bounds) -> Fraction:
        """Return γ: how much the odds of any value grow at most."""
        return odds_within(bounds)

    def floor_for(self, gamma: Fraction, people: int, schema: Schema | None = None) -> int:
        """Return the floor: the one given, else by the public rule; every value that a person is counted of has part of the odds.

        The `schema` says of how many, where people may have several values of a secret.
        """
        if self.floor is not None:
            return self.floor
        values, counted = self._counted(schema)
        return usual_floor(gamma, values, people, counted=counted)

    def _counted(self, schema: Schema | None) -> tuple[int, int]:
        """Return how many values a secret has at most, and of how many of all secrets together a person is counted."""
        each = list(self.declared.values()) if self.declares_each else [self.declared]
        many = len(each) if schema is None or schema.most is None else sum(schema.most.values()) or len(each)
        return max(map(len, each)), many

    def margin_plan(self, gamma: Fraction, people: int, schema: Schema) -> MarginPlan | None:
        """Return the margins, None for none; what is left of γ is for the boxes."""
        return planned(self.margins, gamma, MarginRequest(tuple(schema.quasi), people, *self._counted(schema), schema.bundled))

    def make(self, task: Task) -> Made:
        """Return the release; the private figures are the floor, γ and ε, and how many boxes were cut and shown."""
        task.progress("cutting quasi space by quasi values alone", 0.0)
        parts = task.parts()
        own = [self.of(part.table.schema.sensitive[0]) for part in parts] if self.declares_each else [self]
        domains = [closed_domain(part.table, method.close(part.table.schema)) for part, method in zip(parts, own, strict=True)]
        gamma = odds_within(task.bounds)
        most = list((task.table.schema.most or {}).values()) if task.table.bundles is not None else [1] * len(parts)
        plan = self.margin_plan(gamma, task.table.rows, task.table.schema)
        left = gamma if plan is None else gamma / plan.gamma
        ratio = noise_ratio(left, sum(most))
        floor = self.floor_for(left, task.table.rows, task.table.schema)
        places = [declared_places(part.table, domain) for part, domain in zip(parts, domains, strict=True)]
        declared = Declared(domains, places, most)
        tree = task.people.cut_evenly(task, Cuts("noisy", floor, self.weights))
        task.progress("adding noise to every count", 0.6)
        counts = task.people.counted(task, tree, declared)
        counts += two_sided(ratio, counts.size, task.random.spawn(Step.NOISE)).reshape(counts.shape)
        margins = None
        if plan is not None:
            times = task.people.code_counts()
            margins = noisy_margins(plan, task.quasi, times, lambda bands: task.people.banded(task, bands, declared), task.random)
        joined, draws = None, None
        if self.merge:
            joined = join_boxes(tree, with_sets(counts, task.bounds), task.bounds.limits)
            draws = np.bincount(joined.of).astype(np.int64)
            added = np.zeros((len(draws), counts.shape[1]), np.int64)
            np.add.at(added, joined.of, counts)
            counts = added
        task.progress("writing the release", 0.8)
        noisy = NoisyCounts(counts, draws, gamma, ratio, plan, margins)
        release = task.people.show_noisy(task, self, tree, joined, declared, noisy)
        figures = {"gamma": str(gamma), "epsilon": float(np.log(float(gamma))), "floor": floor, "boxes": tree.boxes}
        figures |= {"groups": len(counts), "kept": joined is None or joined.kept}
        return Made(release, figures)

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return nothing for one secret; the audit of noisy counts beyond memory reads those of one."""
        if self.declares_each:
            return "the audit of noisy counts beyond memory is of one secret", 'protect = "combination"'
        return None


def odds_within(bounds: Bounds) -> Fraction:
    """Return how much odds may grow so that no belief in a value of any column exceeds its bound."""
    return min(largest_odds(own) for own in bounds.each if own.protects)
