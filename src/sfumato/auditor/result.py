"""What an audit says: each claim, whether it holds, and — apart from the claims — what stronger adversaries would reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.release.manifest import Claim


@dataclass(frozen=True)
class ClaimResult:
    """One claim; `holds` is None when only the table could tell, `worst` the belief nearest to or furthest above its bound."""

    claim: Claim
    holds: bool | None
    worst: Fraction | None = None
    bound: Fraction | None = None
    value: str | None = None
    note: str = ""
    reader: Fraction | None = None
    """Where an engineer may believe more than a reader: the reader's belief, the one nearest to or furthest above its bound."""

    @property
    def adversary(self) -> str:
        """Against whom the claim is made."""
        return self.claim.adversary

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; fractions exact."""
        return {
            "kind": self.claim.kind,
            "adversary": self.claim.adversary,
            "statement": self.claim.statement,
            "holds": self.holds,
            "worst": None if self.worst is None else str(self.worst),
            "bound": None if self.bound is None else str(self.bound),
            "value": self.value,
            "note": self.note,
            **({} if self.reader is None else {"reader": str(self.reader)}),
        }


@dataclass(frozen=True)
class Finding:
    """What an adversary beyond the claims would reach. Reported, never part of a claim."""

    text: str
    figure: float


@dataclass(frozen=True)
class Audit:
    """The report. `problems` are faults of the files or tables; any of them means that the release is not what it says."""

    claims: tuple[ClaimResult, ...]
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stronger: Mapping[str, Finding] = field(default_factory=dict)
    exposure: float | None = None
    with_table: bool = False
    notice: str = ""
    """Whose word it is how the release was made, which no audit can see."""

    @property
    def holds(self) -> bool | None:
        """True if nothing is wrong and every claim holds; None if a claim cannot be judged without the table."""
        if self.problems or any(result.holds is False for result in self.claims):
            return False
        return None if any(result.holds is None for result in self.claims) else True

    def __str__(self) -> str:
        verdict = {True: "holds", False: "does not hold", None: "needs the table to tell"}
        lines = [
            f"{verdict[self.holds]}: {len(self.claims)} claims, {len(self.problems)} problems, {len(self.warnings)} warnings"
        ]
        lines += [f"against {one.adversary}: {verdict[one.holds]}" for one in self.claims]
        return "\n".join([*lines, *self.problems, *self.warnings, *([self.notice] if self.notice else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "holds": self.holds,
            "checked_with_table": self.with_table,
            "claims": [result.to_dict() for result in self.claims],
            "problems": list(self.problems),
            "warnings": list(self.warnings),
            "notice": self.notice,
            "exposure": self.exposure,
            "stronger": {name: {"text": one.text, "figure": one.figure} for name, one in self.stronger.items()},
        }
