"""The methods of 003 as published, what they are asked to keep, and one publication with its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import sfumato
from sfumato.errors import Infeasible
from sfumato.methods.base import Method
from sfumato.privacy.requirement import Against, Requirement

PAPER = sfumato.Heterogeneous(accept_weaker_claim=True)
BUREL = sfumato.BuReL(packing="fewest", fill="hilbert")
RING = sfumato.Ring(accept_weaker_claim=True, partition="merged", tries=0)
Needs = Callable[[Against], Requirement]
Lineup = Mapping[str, tuple[Method, Against]]


def diversity(least: int) -> Needs:
    """Return ℓ-diversity against whom a method holds."""
    return lambda against: sfumato.LDiversity(least, against=against)


def likeness(most: int) -> Needs:
    """Return β-likeness against whom a method holds."""
    return lambda against: sfumato.BetaLikeness(most, against=against)


def published(
    method: Method, table: sfumato.Table, needed: Requirement, *, seed: int = 1
) -> tuple[float, sfumato.Release] | None:
    """Return processor seconds and release, or None where the bounds cannot be kept."""
    start = time.process_time()
    try:
        release = method.run(table, needed, random=seed).release
    except Infeasible:
        return None
    return time.process_time() - start, release
