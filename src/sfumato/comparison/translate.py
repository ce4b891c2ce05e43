"""The nearest requirement that a method can keep where it cannot keep the owner's, and what was changed, in words."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from sfumato.exact import decimal_text
from sfumato.explanation.room import requirement_of, variant
from sfumato.methods import Method
from sfumato.methods.base import table_bounds
from sfumato.privacy import FPrivacy, Requirement
from sfumato.privacy.growth import grown
from sfumato.randomize.noise import largest_odds
from sfumato.table import Table

Translated = tuple[Method, Requirement, tuple[str, ...]]

NOBODY = "only the paper's claim, which bounds no belief"


def translated(method: Method, requirement: Requirement, table: Table) -> Translated:
    """Return the method, the requirement nearest to the owner's that it may keep, and what that changes."""
    sentences: list[str] = []
    for step in (_presence, _sets, _odds, _paper_claim, _against):
        method, requirement, words = step(method, requirement, table)
        sentences += words
    return method, requirement, tuple(sentences)


def declared_from(table: Table) -> dict[str, Any]:
    """Return the table's own shares as if they had been declared: for a comparison, never for a publication."""
    counts = table.sensitive.histogram()
    return {
        "shares": {value: count for value, count in counts.items() if count},
        "otherwise": max(counts, key=counts.__getitem__),
    }


def _presence(method: Method, requirement: Requirement, table: Table) -> tuple[Method, Requirement, list[str]]:
    document = requirement.to_dict()
    sets = {"sets": document.pop("sets")} if "sets" in document else {}
    if method.hides_presence and requirement.presence is None:
        against = document.pop("against")
        asked = {"model": "presence-association", "alpha": 1, "beta": document, "against": against, **sets}
        return method, requirement_of(asked), ["α = 1: how sure a stranger is of presence is not bounded"]
    if requirement.presence is not None and not method.hides_presence:
        beta = document["beta"]
        inner = beta if isinstance(beta, dict) else {"model": FPrivacy.model, "theta": 0, "offset": beta}
        return method, requirement_of({**inner, "against": requirement.against, **sets}), ["no α: who is in the table is shown"]
    return method, requirement, []


def _sets(method: Method, requirement: Requirement, table: Table) -> tuple[Method, Requirement, list[str]]:
    if requirement.sets and method.sets_refused(requirement.against):
        return method, variant(requirement, sets={}), ["no bounds on sets of values"]
    return method, requirement, []


def _allowed(table: Table, requirement: Requirement) -> Fraction:
    """Return how much odds may grow so that no belief in a value of any sensitive column exceeds its bound."""
    return min(largest_odds(bounds) for bounds in table_bounds(table, requirement).each if bounds.protects)


def _odds(method: Method, requirement: Requirement, table: Table) -> tuple[Method, Requirement, list[str]]:
    """Bounds on belief become odds, or odds bounds on belief: γ = (bound/share)·(1−share)/(1−bound), ε = ln γ."""
    if method.bounds_declared and requirement.against != "insider":
        words = f"ε = ln γ = {math.log(_allowed(table, requirement)):.2f}, the largest that keeps every bound"
        return method, variant(requirement, against="insider"), [words, "shares as the table has them"]
    if "epsilon" in {field.name for field in fields(method)} and not requirement.bounds_odds:
        epsilon = _epsilon(_allowed(table, requirement))
        changes: dict[str, Any] = {"epsilon": epsilon}
        words = f"ε = ln γ = {decimal_text(epsilon)[:5]}, to which the bounds come"
        return replace(method, **changes), requirement, [words, "values as the table has them"]
    if requirement.bounds_odds and not method.bounds_odds and method.proves():
        gamma: Fraction = getattr(requirement, "gamma")  # noqa: B009  (of models that bound odds)
        counts = table.sensitive.histogram()
        limits = {value: grown(Fraction(count, table.rows), gamma) for value, count in counts.items() if count}
        words = f"bounds to which each share's odds grow {decimal_text(gamma)[:6]}-fold, in place of ε"
        return method, FPrivacy(offset=1, bounds=limits, against="insider"), [words]
    return method, requirement, []


def _paper_claim(method: Method, requirement: Requirement, table: Table) -> tuple[Method, Requirement, list[str]]:
    if not method.proves() and "accept_weaker_claim" in {field.name for field in fields(method)}:
        changes: dict[str, Any] = {"accept_weaker_claim": True}
        return replace(method, **changes), variant(requirement, against="reader"), [NOBODY]
    return method, requirement, []


def _against(method: Method, requirement: Requirement, table: Table) -> tuple[Method, Requirement, list[str]]:
    proven = method.proves()
    strongest = "reader" if table.dropped else proven[-1] if proven else "reader"
    if not proven or (requirement.against in proven and not (table.dropped and requirement.against != "reader")):
        return method, requirement, []
    return method, variant(requirement, against=strongest), [f"against {_WITH[strongest]} only"]


def _epsilon(gamma: Fraction) -> Fraction:
    """Return ln γ rounded down to four digits, within what a method takes."""
    return Fraction(min(max(math.floor(10_000 * math.log(gamma)), 10), 200_000), 10_000)


_WITH = {"reader": "a reader", "engineer": "an engineer", "insider": "an insider"}
