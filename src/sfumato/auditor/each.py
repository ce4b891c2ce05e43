"""Audit of a release by that of each of its secrets: where there are several, what holds for each is said of all together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.auditor.claims import Case, misworded
from sfumato.auditor.noisy import wrong_split
from sfumato.auditor.result import Audit, ClaimResult, Finding, nearest_first
from sfumato.release.manifest import Claim

UNLINKED = (
    "each sensitive column is protected by itself, and how they go together is not shown: nothing is claimed of somebody who "
    "knows one secret of a person and sees a link to another, nor of a statement about two secrets together"
)


def audit_each(case: Case[Any], audit_one: Callable[[Case[Any]], Audit]) -> Audit:
    """Return every claim judged on the tables of each secret; the secret nearest to its bound speaks for all."""
    release = case.release
    if len(release.each) == 1:
        return audit_one(case)
    tables = (None,) * len(release.each) if case.table is None else case.table.each()
    audits = [audit_one(replace(case, release=secret, table=table)) for secret, table in zip(release.each, tables, strict=True)]
    named = list(zip(release.secrets, audits, strict=True))
    exposures = {name: audit.exposure for name, audit in named if audit.exposure is not None}
    stronger = {f"{key} ({name})": finding for name, audit in named for key, finding in audit.stronger.items()}
    for name, exposure in exposures.items():
        stronger[f"exposure of {name}"] = Finding("mean belief of a reader in the true value of this column", exposure)
    return Audit(
        claims=tuple(_together(claim, case, named, k) for k, claim in enumerate(release.manifest.claims)),
        problems=(
            *(f"{name}: {problem}" for name, audit in named for problem in audit.problems),
            *(wrong_split(release.manifest, release.each) if release.manifest.rests_on.noisy else ()),
        ),
        warnings=(UNLINKED, *(f"{name}: {warning}" for name, audit in named for warning in audit.warnings)),
        stronger=stronger,
        exposure=max(exposures.values()) if exposures else None,
        exposed=max(exposures, key=exposures.__getitem__) if exposures else None,
    )


def _together(claim: Claim, case: Case[Any], audits: list[tuple[str, Audit]], place: int) -> ClaimResult:
    """Return the judgement on one claim: it holds if it does for every column."""
    fault = misworded(claim, case.release)
    if fault:
        return ClaimResult(claim, False, note=fault)
    judged = [(name, audit.claims[place]) for name, audit in audits]
    broken = [(name, claim) for name, claim in judged if claim.holds is False]
    unknown = [(name, claim) for name, claim in judged if claim.holds is None]
    name, worst = max(broken or unknown or judged, key=_nearness)
    value = worst.value if claim.kind == "presence" or worst.value is None else f"{name}: {worst.value}"
    return replace(worst, claim=claim, value=value)


def _nearness(judged: tuple[str, ClaimResult]) -> Any:
    claim = judged[1]
    return (
        claim.worst is not None,
        nearest_first(claim.worst or Fraction(0), Fraction(1) if claim.bound is None else claim.bound),
    )
