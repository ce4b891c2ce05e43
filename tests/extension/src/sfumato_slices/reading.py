"""The auditor's reading of `odds`, written apart from the model."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def bounds(requirement: Mapping[str, Any], counts: Mapping[str, int | Fraction]) -> dict[str, Fraction]:
    """Return the bound of every value from how often each occurs."""
    times, people = Fraction(requirement["times"]), Fraction(sum(counts.values()))
    return {value: 1 / (1 + (people - count) / (times * count)) if count else Fraction(0) for value, count in counts.items()}
