"""Remarks on a finished publication: the command line prints them, Python warns of them."""

from __future__ import annotations

from sfumato.auditor.result import Audit
from sfumato.exact import percent
from sfumato.privacy.bounds import Bounds

_NAMED = 5
"""How many values are named one by one."""

_OPEN = "without a bound"
"""What the audit's own warning about open values says; here one that also names them stands in its place."""


def remarks(bounds: Bounds, audit: Audit) -> list[str]:
    """Return who is shown openly, and the warnings of the audit."""
    shown = [line for secret in bounds.each for line in _shown_openly(secret)]
    return [*shown, *(warning for warning in audit.warnings if _OPEN not in warning)]


def _shown_openly(bounds: Bounds) -> list[str]:
    """Return how many people have values without a bound, and which; nothing when nobody has."""
    counts = {bounds.values[place]: bounds.counts[place] for place in bounds.open_values}
    if not counts:
        return []
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    more = f" and {len(ranked) - _NAMED} more" if len(ranked) > _NAMED else ""
    names = ", ".join(f"'{value}'" for value in ranked[:_NAMED])
    if sum(bounds.counts[: len(bounds.values)]) != bounds.people:  # people have several values, or none: shares overlap
        return [f"who has a value {_OPEN} may be shown openly: {names}{more}"]
    return [f"{percent(bounds.open_share, 1)} of people have values {_OPEN} and may be shown openly: {names}{more}"]
