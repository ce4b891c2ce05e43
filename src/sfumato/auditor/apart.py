"""Audit of a release that protects each of several sensitive columns by itself: of each of them alone, then of all together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.auditor.claims import Case, misworded
from sfumato.auditor.noisy import wrong_split
from sfumato.auditor.result import Audit, ClaimResult, Finding, nearest_first
from sfumato.release.apart import ApartRelease
from sfumato.release.manifest import Claim

UNLINKED = (
    "each sensitive column is protected by itself, and how they go together is not shown: nothing is claimed of somebody who "
    "knows one secret of a person and sees a link to another, nor of a statement about two secrets together"
)


def audit_apart(case: Case[Any], audit_one: Callable[[Case[Any]], Audit]) -> Audit:
    """Return every claim judged on the tables of each sensitive column; the column nearest to its bound speaks for all."""
    release: ApartRelease = case.release
    tables = (None,) * len(release.parts) if case.table is None else case.table.apart()
    audits = [audit_one(replace(case, release=part, table=table)) for part, table in zip(release.parts, tables, strict=True)]
    named = list(zip(release.secrets, audits, strict=True))
    exposures = {name: one.exposure for name, one in named if one.exposure is not None}
    stronger = {f"{key} ({name})": finding for name, one in named for key, finding in one.stronger.items()}
    for name, exposure in exposures.items():
        stronger[f"exposure of {name}"] = Finding("mean belief of a reader in the true value of this column", exposure)
    return Audit(
        claims=tuple(_together(claim, case, named, k) for k, claim in enumerate(release.manifest.claims)),
        problems=(
            *(f"{name}: {problem}" for name, one in named for problem in one.problems),
            *(wrong_split(release.parts) if release.manifest.basis == "noisy" else ()),
        ),
        warnings=(UNLINKED, *(f"{name}: {warning}" for name, one in named for warning in one.warnings)),
        stronger=stronger,
        exposure=max(exposures.values()) if exposures else None,
    )


def _together(claim: Claim, case: Case[Any], audits: list[tuple[str, Audit]], place: int) -> ClaimResult:
    """Return the judgement on one claim: it holds if it does for every column."""
    fault = misworded(claim, case.release)
    if fault:
        return ClaimResult(claim, False, note=fault)
    judged = [(name, audit.claims[place]) for name, audit in audits]
    broken = [(name, one) for name, one in judged if one.holds is False]
    unknown = [(name, one) for name, one in judged if one.holds is None]
    name, worst = max(broken or unknown or judged, key=_nearness)
    value = worst.value if claim.kind == "presence" or worst.value is None else f"{name}: {worst.value}"
    return replace(worst, claim=claim, value=value)


def _nearness(judged: tuple[str, ClaimResult]) -> Any:
    one = judged[1]
    return (one.worst is not None, nearest_first(one.worst or Fraction(0), Fraction(1) if one.bound is None else one.bound))
