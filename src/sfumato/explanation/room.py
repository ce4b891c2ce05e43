"""Whether a table leaves room to group near people, why not, and what would leave room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import decimal_text, percent
from sfumato.groups.boxes import cut_into_boxes, least_side, room_for_a_cut
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import soft_rule
from sfumato.methods import Boxes
from sfumato.methods.bands import incidence_of, strata_of
from sfumato.methods.base import MAKING, table_bounds
from sfumato.methods.task import secrets_of
from sfumato.privacy import MODELS, BetaLikeness, Bounds, FPrivacy, LDiversity, Requirement, RhoPrivacy
from sfumato.privacy.requirement import round_up
from sfumato.randomness import SeededRandomness
from sfumato.table import Table

_TIMES = tuple(Fraction(one) for one in ("1.25", "1.5", "2", "3", "4", "6", "8"))
"""By how much a parameter is loosened in the search for one that leaves room."""

MEASURE = "Whether another method tells more about this table, sfumato compare measures: no rule held on all tables tried."

_SEED = 0
"""Of the coins with which boxes are tried here: no release has them."""


@dataclass(frozen=True)
class NoRoom:
    """Why no cut is made, so that everybody is in one box, and what would help.

    No other method is named. Where there was no room, near groups as ranges erred 1.6 to 15 times as much as independence, as
    buckets .4 to 1.27 times, blind buckets .6 to 1.23 times (docs/explain.md): which tells more, a table has to say by itself.
    """

    reason: str
    helps: tuple[str, ...]

    def sentences(self, *, tight: bool = False, soft: bool = False) -> list[str]:
        """Return the reason, what would help, and how other methods are tried.

        Where bounds are found too `tight`, that says what would help, and of soft cuts also which value is the reason.
        """
        reason = [] if tight and soft else [f"No room for a first cut: {self.reason}."]
        helps = [f"What would leave room: {'; or '.join(self.helps)}."] if self.helps and not tight else []
        return [*reason, *helps, MEASURE]


def boxes_of(table: Table, bounds: Bounds, method: Boxes, *, tight: bool) -> Grouping:
    """Return the boxes that this method cuts; a single one where there is no room."""
    return cut_into_boxes(
        table.quasi,
        secrets_of(table) if table.bundles is None else incidence_of(table.bundles, bounds),
        bounds,
        tight=tight,
        floor=method.floor_for(table.rows),
        weights=method.weights,
        soft=None if tight else soft_rule(bounds, method.patience),
        random=SeededRandomness(_SEED).spawn(MAKING),
        strata=strata_of(table),
    )


def no_room(table: Table, requirement: Requirement, method: Boxes) -> NoRoom:
    """Return why a table without room for a first cut has none, and what would leave some: another reader, a looser bound."""
    bounds = table_bounds(table, requirement)
    tight = requirement.against == "reader"
    helps = []
    if not tight and boxes_of(table, bounds, method, tight=True).groups > 1:
        helps.append('against = "reader", with tight cuts')
    if table.rows < 2 * method.floor_for(table.rows):
        lower = max(table.rows // 4, 1)
        if boxes_of(table, bounds, replace(method, floor=lower), tight=tight).groups > 1:
            helps.append(f"floor = {lower}")
    else:
        looser = next((text for text, rule in _looser(requirement, bounds) if _has_room(table, rule, method, tight=tight)), None)
        helps += [] if looser is None else [looser]
    return NoRoom(_reason(table, bounds, method, tight=tight), tuple(helps))


def variant(requirement: Requirement, **changes: Any) -> Requirement:
    """Return the requirement with other parameters, under the names that they have in a policy file."""
    document = {**requirement.to_dict(), **changes}
    if "against" in changes and "columns" in document:
        document["columns"] = {name: {**own, "against": changes["against"]} for name, own in document["columns"].items()}
    return requirement_of(document)


def requirement_of(document: Mapping[str, Any]) -> Requirement:
    """Return the requirement that was written down as plain values."""
    given = {name: value for name, value in document.items() if name not in ("model", "package")}
    if "columns" in given:
        given["columns"] = {name: requirement_of(own) for name, own in given["columns"].items()}
    return MODELS[str(document["model"])](**given)


def _reason(table: Table, bounds: Bounds, method: Boxes, *, tight: bool) -> str:
    floor = method.floor_for(table.rows)
    if table.rows < 2 * floor:
        return f"with a floor of {floor} two buckets need {2 * floor} people, and the table has {table.rows:,}"
    if all(len(np.unique(column.codes)) == 1 for column in table.quasi):
        return "everybody has the same quasi values as published"
    if tight:
        return f"no cut leaves two sides of at least {floor} people that both keep the bounds"
    value, needed = least_side(bounds)
    place = bounds.labels.index(value)
    share, limit = Fraction(bounds.counts[place], bounds.people), bounds.limits[place]
    rule = soft_rule(bounds, method.patience)
    if rule is not None:
        if room_for_a_cut(bounds, floor=floor, tight=False, soft=rule):
            return f"no cut into two sides of at least {floor} people is safe or passed its test"
        return (
            f"'{value}' has {percent(share)} of people and a bound of {percent(limit)}, which leaves too little to spare for a "
            "test of where its people are"
        )
    if 2 * needed > table.rows:
        return (
            f"'{value}' has {percent(share)} of people and a bound of {percent(limit)}; a first safe cut needs bounds of at "
            "least twice the share, so that either half could hold all people with the value"
        )
    least = max(needed, floor)
    return f"no column can be cut so evenly that the smaller side has {least:,} of {table.rows:,} people, which a safe cut needs"


def _has_room(table: Table, requirement: Requirement, method: Boxes, *, tight: bool) -> bool:
    try:
        bounds = table_bounds(table, requirement)
    except (Infeasible, PolicyError):
        return False
    rule = None if tight else soft_rule(bounds, method.patience)
    if not bounds.protects or not room_for_a_cut(bounds, floor=method.floor_for(table.rows), tight=tight, soft=rule):
        return False
    return boxes_of(table, bounds, method, tight=tight).groups > 1


def _looser(requirement: Requirement, bounds: Bounds) -> Iterator[tuple[str, Requirement]]:
    """Give looser requirements of the same model, the least loose first, each as a policy would write it."""
    if len(bounds.secrets) > 1:
        return  # which of several columns should have looser bounds is for the owner to say
    if isinstance(requirement, FPrivacy):
        value, _ = least_side(bounds)
        if value not in bounds.values:
            return  # a set, which has a bound of its own
        if value in requirement.own_bounds:
            own = round_up(2 * bounds.shares[bounds.values.index(value)], 3)
            if own < 1:
                changed = {**requirement.own_bounds, value: own}
                yield f"a bound of {decimal_text(own)} for '{value}'", variant(requirement, bounds=changed)
            return
        name = "theta" if requirement.theta else "offset"
        for times in _TIMES:
            number = round_up(times * getattr(requirement, name), 2)
            if name == "theta" or number < 1:
                yield f"{name} = {decimal_text(number)}", variant(requirement, **{name: number})
    elif isinstance(requirement, BetaLikeness):
        for times in _TIMES:
            number = round_up(times * max(requirement.beta, Fraction(1, 4)), 2)
            yield f"beta = {decimal_text(number)}", variant(requirement, beta=number)
    elif isinstance(requirement, LDiversity):
        for ell in range(requirement.l - 1, 1, -1):
            yield f"l = {ell}", variant(requirement, l=ell)
    elif isinstance(requirement, RhoPrivacy):
        for part in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            number = round_up(requirement.rho2 + part * (1 - requirement.rho2), 2)
            if number < 1:
                yield f"rho2 = {decimal_text(number)}", variant(requirement, rho2=number)
