"""BuReL's perturbation (Cao and Karras, PVLDB 2012): each value has the retention that its own bound allows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.randomize.partition import Retentions
from sfumato.randomize.per_value import FLOOR, GRID, on_grid


def likeness_retentions(cap: Fraction | None = None) -> Retentions:
    """Return the rule of the paper: P[i→v] ≤ γ_i·P[j→v] for all j and v, γ_i being what takes a share to its bound."""

    def rule(counts: Sequence[int], limits: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], Fraction | None]:
        kept = exact_retentions(amplifications(counts, limits, cap))
        return tuple(Fraction(on_grid(p), GRID) for p in kept), None  # less retention never raises a belief above its bound

    return rule


def amplifications(counts: Sequence[int], limits: Sequence[Fraction], cap: Fraction | None = None) -> list[Fraction]:
    """Return γ_i = (f_i/p_i)(1−p_i)/(1−f_i), at most `cap`, and so that nothing is kept less often than `FLOOR` allows.

    α_i = (mγ_i/(m−1+γ_max) − 1)/(m−1) is negative where γ_max exceeds 1 + m(γ_min − 1); so large γ are cut, a little more than
    that demands, because a value that is hardly kept cannot be reconstructed. A value without a bound has the largest γ.
    """
    total, size = sum(counts), len(counts)
    gammas = [
        None if limit == 1 else limit / (1 - limit) * Fraction(total - count, count)
        for count, limit in zip(counts, limits, strict=True)
    ]
    least = min(gamma for gamma in [*gammas, cap] if gamma is not None)
    alike = (least - 1) / (size - 1 + least)
    most = size * least / (1 + (size - 1) * FLOOR * alike) - (size - 1)
    most = most if cap is None else min(most, cap)
    return [most if gamma is None else min(gamma, most) for gamma in gammas]


def exact_retentions(gammas: Sequence[Fraction]) -> list[Fraction]:
    """Return α_i = (mγ_iC − 1)/(m−1) with C = 1/(m−1+γ_max)."""
    size = len(gammas)
    scale = 1 / (size - 1 + max(gammas))
    return [(size * gamma * scale - 1) / (size - 1) for gamma in gammas]
