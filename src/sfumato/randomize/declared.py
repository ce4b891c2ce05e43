"""Declared parameters: shares that the owner states, so that nothing in a plan is computed from the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import lcm

from sfumato.errors import PolicyError
from sfumato.exact import Number, exact
from sfumato.randomize.plan import RandomizationPlan

LARGEST = 10**15
"""The shares' common denominator may not exceed this; twelve decimals are far below it."""

_FINE = 10**9


def declared_shares(shares: Mapping[str, Number]) -> dict[str, Fraction]:
    """Return exact shares that add up to 1, from shares or counts as the owner writes them: only their proportions matter."""
    if not isinstance(shares, Mapping) or len(shares) < 2:
        raise PolicyError(
            "shares: expected at least two value = share pairs",
            hint='such as { "flu" = "0.4", "asthma" = "0.6" }, or last year\'s counts',
        )
    numbers = {str(value): exact(share, f"shares[{value!r}]") for value, share in shares.items()}
    wrong = [value for value, number in numbers.items() if number <= 0]
    if wrong:
        raise PolicyError(
            f"shares: the share of {wrong[0]!r} must lie above 0, got {numbers[wrong[0]]}",
            hint="leave out values that nobody can have",
        )
    total = sum(numbers.values(), Fraction(0))
    return {value: number / total for value, number in numbers.items()}


def shares_of_people(shares: Mapping[str, Number]) -> dict[str, Fraction]:
    """Return the exact share of people who have each value, of which anybody may have several: they need not add up to 1."""
    if not isinstance(shares, Mapping) or len(shares) < 2:
        raise PolicyError(
            "has: expected at least two value = share of people pairs", hint='such as { "flu" = "0.4", "asthma" = "0.15" }'
        )
    numbers = {str(value): exact(share, f"has[{value!r}]") for value, share in shares.items()}
    wrong = [value for value, number in numbers.items() if not 0 < number < 1]
    if wrong:
        raise PolicyError(
            f"has: the share of people who have {wrong[0]!r} must lie between 0 and 1, got {numbers[wrong[0]]}",
            hint="of last year's figures, how many people had the value, divided by how many people there were",
        )
    return numbers


def declared_counts(shares: Mapping[str, Fraction]) -> dict[str, int]:
    """Return whole numbers in exactly the proportions of the shares, large enough to be divided finely among parts."""
    return declared_people(shares)[0]


def declared_people(shares: Mapping[str, Fraction]) -> tuple[dict[str, int], int]:
    """Return the same, and of how many people they are the numbers who have each value."""
    common = lcm(*(share.denominator for share in shares.values()))
    if common > LARGEST:
        raise PolicyError(
            f"shares: their smallest common denominator has {len(str(common))} digits, more than {len(str(LARGEST)) - 1}",
            hint="write them as decimals with up to twelve places, or as whole counts",
        )
    counts = {value: int(share * common) for value, share in shares.items()}
    finer = max(1, _FINE // common)
    return {value: count * finer for value, count in counts.items()}, common * finer


def require_otherwise(caller: str, otherwise: object, shares: Mapping[str, Fraction]) -> None:
    """Raise `PolicyError` unless one of the declared values is named for whoever has another value, or none."""
    if otherwise is None:
        raise PolicyError(
            f"{caller}(parameters='declared') needs otherwise: the declared value of whoever has another one, or none",
            hint='declare a share for it too: otherwise = "other", shares = { flu = "0.4", …, other = "0.05" }',
        )
    if otherwise not in shares:
        raise PolicyError(f"{caller}(otherwise=…): {otherwise!r} has no declared share", hint="it is one of the values in shares")


def as_declared(plan: RandomizationPlan) -> RandomizationPlan:
    """Return the plan for coins instead of counts: where a record goes is drawn, so parts have shares and no counts."""
    return replace(plan, parts=tuple(replace(part, counts=()) for part in plan.parts), declared=True)
