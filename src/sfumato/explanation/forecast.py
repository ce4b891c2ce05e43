"""What randomization would do to a table, before a coin is tossed: how often values are kept, and how far off counts will be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.exact import percent
from sfumato.randomize.forecast import expected_relative_error, retention_per_part
from sfumato.randomize.plan import RandomizationPlan

SIZES = (100, 1_000, 10_000)
"""The counts whose expected error is given."""

_LISTED = 12


@dataclass(frozen=True)
class Forecast:
    """Retention per part, and the expected relative error of counts of so many people with one sensitive value."""

    retention: float
    parts: tuple[dict[str, float], ...]
    errors: dict[int, float]
    whole: bool

    @classmethod
    def of(cls, plan: RandomizationPlan, people: int) -> Forecast:
        """Return the forecast of a plan for so many people."""
        sizes = [size for size in SIZES if size <= people] or [people]
        errors = {size: expected_relative_error(plan, size) for size in sizes}
        return cls(float(plan.retention), tuple(retention_per_part(plan)), errors, plan.groups > 1 and len(plan.parts) == 1)

    def sentences(self) -> list[str]:
        """Return the figures in words."""
        number = len(self.parts)
        lines = [f"Randomization keeps {percent(self.retention, 1)} of the values as they are and replaces the others by coin."]
        if number > 1:
            more = "." if number <= _LISTED else f"; and {number - _LISTED} more."
            lines.append(f"There are {number} parts: " + "; ".join(map(_part, self.parts[:_LISTED])) + more)
        elif self.whole:
            lines.append("There is one part: no partition would have a smaller error bound.")
        off = ", ".join(f"{percent(error, 0)} at {size:,} people" for size, error in self.errors.items())
        lines.append(
            f"A count with one sensitive value is expected to be off by {off}, where the other conditions have nothing to do "
            "with the value; that is the error of the coins."
        )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {"retention": self.retention, "parts": list(self.parts), "expected_relative_error": self.errors}


def _part(part: dict[str, float]) -> str:
    kept = percent(part["mean"], 1)
    return f"{percent(part['weight'], 1)} of people, {part['values']:.0f} values, of which {kept} are kept"
