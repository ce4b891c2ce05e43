"""The conformance suite for models: a requirement of one's own, and the auditor's separate reading of it."""

from __future__ import annotations

import dataclasses
import inspect
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.auditor.bounds import bounds_of
from sfumato.errors import Infeasible, NotProvable
from sfumato.methods import MultiSize, SmallDomain
from sfumato.privacy import MODELS
from sfumato.privacy.requirement import Requirement
from sfumato.table import Schema, Table
from sfumato.testing.method import require, under_its_name

SHARES = (
    {"a": Fraction(1, 4), "b": Fraction(1, 4), "c": Fraction(1, 4), "d": Fraction(1, 4)},
    {"a": Fraction(5, 10), "b": Fraction(3, 10), "c": Fraction(2, 10)},
    {"a": Fraction(90, 100), "b": Fraction(9, 100), "c": Fraction(1, 100)},
    {f"v{k}": Fraction(k + 1, 5050) for k in range(100)},
)
"""Even, uneven, lopsided, and many."""


def check_model(requirement: Requirement) -> list[str]:
    """Check that a requirement bounds belief exactly, and return the names of the checks that ran.

    Bounds are rationals in (0, 1] that follow from shares alone; what is infeasible is refused with parameters that are feasible;
    a manifest can carry the model; the auditor's separate reading gives the same bounds; and a release that keeps it passes.
    """
    checks = (_is_a_value, _bounds_are_exact, _infeasible_says_what_is_feasible, _a_manifest_carries_it, _the_auditor_agrees)
    for check in (*checks, _a_release_passes):
        with under_its_name(check.__name__.strip("_")):
            check(requirement)
    return [check.__name__.strip("_") for check in (*checks, _a_release_passes)]


def _is_a_value(requirement: Requirement) -> None:
    require(dataclasses.is_dataclass(requirement), "a requirement is a dataclass of its parameters")
    require(requirement == _again(requirement), "two requirements with equal parameters are equal")
    require(MODELS.get(requirement.model) is type(requirement), f"the model {requirement.model!r} is found by its name")
    takes = inspect.signature(type(requirement)).parameters
    require({"against", "sets", "columns"} <= set(takes), "a constructor of its own takes against, sets and columns too")


def _again(requirement: Requirement, **changes: object) -> Requirement:
    parameters = {key: value for key, value in requirement.to_dict().items() if key not in ("model", "package")}
    return type(requirement)(**{**parameters, **changes})


def _bounds_are_exact(requirement: Requirement) -> None:
    for shares in SHARES:
        limits = requirement.limits(shares)
        require(limits.keys() == shares.keys(), "every value has a bound, in the order of the shares")
        require(
            all(isinstance(limit, Fraction) and 0 < limit <= 1 for limit in limits.values()), "bounds are rationals in (0, 1]"
        )
        backwards = dict(reversed(shares.items()))
        require(requirement.limits(backwards) == limits, "the order of the values changes no bound")


def _infeasible_says_what_is_feasible(requirement: Requirement) -> None:
    for shares in SHARES:
        counts = {value: int(share * 10_100) for value, share in shares.items()}
        try:
            requirement.bounds(counts)
        except Infeasible as error:
            require(bool(error.values), "an infeasible requirement names the values that break it")
            if "model" not in error.nearest:
                _again(requirement, **error.nearest).bounds(counts)


def _a_manifest_carries_it(requirement: Requirement) -> None:
    document = requirement.to_dict()
    require(json.loads(json.dumps(document)) == document, "the parameters are plain JSON values")


def _the_auditor_agrees(requirement: Requirement) -> None:
    for shares in SHARES:
        read = bounds_of(requirement.to_dict(), shares, list(shares))
        require(read == requirement.limits(shares), "the auditor's own reading of the model gives the same bounds")


def _a_release_passes(requirement: Requirement) -> None:
    coins = np.random.default_rng(3)
    values = np.array([f"v{k}" for k in range(20)])[np.arange(600) % 20]
    table = Table.from_frame(
        pa.table({"age": coins.integers(20, 60, 600), "value": values}), Schema(quasi=["age"], sensitive=["value"])
    )
    if requirement.presence is not None:
        return
    for method in (MultiSize(), SmallDomain()):
        try:
            made = method.run(table, requirement, random=1)
        except (Infeasible, NotProvable):
            continue
        require(made.audit.holds is True, "a release that keeps the bounds passes its audit")
