"""What an audit says: each claim, whether it holds, and — apart from the claims — what stronger adversaries would reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato import notebook
from sfumato.errors import ClaimBroken
from sfumato.exact import percent
from sfumato.release.manifest import Claim


def allowance_used(belief: Fraction, bound: Fraction) -> Fraction:
    """Return which share of its bound a belief takes, exactly: above 1 where the bound is broken."""
    return belief / bound if bound > 0 else 1 + belief


def nearest_first(belief: Fraction, bound: Fraction) -> tuple[bool, Fraction]:
    """Return by what beliefs are ranked: the share of the allowance used, values without a bound after all others.

    No belief can exceed 1, so a value without a bound is the worst only where no value has one.
    """
    return bound < 1, allowance_used(belief, bound)


@dataclass(frozen=True)
class ClaimResult:
    """One claim; `holds` is None when only the table could tell.

    `worst` is the belief that uses the largest share of its bound, more than all of it where the claim is broken.
    """

    claim: Claim
    holds: bool | None
    worst: Fraction | None = None
    bound: Fraction | None = None
    value: str | None = None
    note: str = ""
    reader: Fraction | None = None
    """Where an engineer may believe more than a reader: the reader's belief, the one nearest to or furthest above its bound."""
    reader_value: str | None = None
    """The value that the reader's belief is about."""
    stronger: tuple[str, str] | None = None
    """The next stronger attack than what is claimed, which nothing is claimed against, and whose it is."""

    @property
    def adversary(self) -> str:
        """Against whom the claim is made."""
        return self.claim.adversary

    @property
    def used(self) -> Fraction | None:
        """The share of the allowance that the worst belief uses, at most 10⁹; None where there is none."""
        if self.worst is None or self.bound is None:
            return None
        used = allowance_used(self.worst, self.bound)
        return min(used, Fraction(10**9))  # a stranger's bound may be too near to 0 for a float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; fractions exact."""
        return {
            "kind": self.claim.kind,
            "adversary": self.claim.adversary,
            "statement": self.claim.statement,
            "holds": self.holds,
            "worst": None if self.worst is None else str(self.worst),
            "bound": None if self.bound is None else str(self.bound),
            "used": None if self.used is None else float(self.used),
            "value": self.value,
            "note": self.note,
            "next_stronger_attack": None if self.stronger is None else self.stronger[0],
            **({} if self.reader is None else {"reader": str(self.reader), "reader_value": self.reader_value}),
        }


@dataclass(frozen=True)
class Finding:
    """What an adversary beyond the claims would reach. Reported, never part of a claim."""

    text: str
    figure: float


_VERDICT = {True: "holds", False: "does not hold", None: "needs the table to tell"}


@dataclass(frozen=True, repr=False)
class Audit:
    """The report of an audit.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> sf.audit(sf.publish(people, sf.LDiversity(2), quasi=["age"], sensitive="illness", random=1))
    Audit(holds: 1 claims, 0 problems)

    `problems` are faults of the files or tables; any of them means that the release is not what it says."""

    claims: tuple[ClaimResult, ...]
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stronger: Mapping[str, Finding] = field(default_factory=dict)
    exposure: float | None = None
    exposed: str | None = None
    """Of several sensitive columns that are protected each by itself, the one whose exposure it is: the largest."""
    with_table: bool = False
    notice: str = ""
    """Whose word it is how the release was made, which no audit can see."""

    @property
    def holds(self) -> bool | None:
        """True if nothing is wrong and every claim holds; None if a claim cannot be judged without the table."""
        if self.problems or any(result.holds is False for result in self.claims):
            return False
        return None if any(result.holds is None for result in self.claims) else True

    def require_holds(self) -> None:
        """Raise `ClaimBroken`, which says why and carries the report, unless everything holds."""
        if self.holds is True:
            return
        broken = [f"the claim against {result.adversary}: {_VERDICT[result.holds]}" for result in self.claims if not result.holds]
        why = "; ".join([*self.problems, *broken])
        raise ClaimBroken(f"the release does not pass its own audit, so it is not published: {why}", audit=self)

    def __repr__(self) -> str:
        return f"Audit({_VERDICT[self.holds]}: {len(self.claims)} claims, {len(self.problems)} problems)"

    def _repr_html_(self) -> str:
        """Return each claim with the value closest to its bound, then problems and warnings."""
        rows = [
            (
                claim.adversary,
                claim.claim.kind,
                _VERDICT[claim.holds],
                claim.value or "",
                "" if claim.worst is None else percent(claim.worst),
                "" if claim.bound is None else percent(claim.bound),
                "" if claim.used is None else percent(claim.used, 0),
            )
            for claim in self.claims
        ]
        headings = ("against", "claim", "", "closest to its bound", "belief", "bound", "used")
        remarks = [*(f"problem: {line}" for line in self.problems), *(f"warning: {line}" for line in self.warnings)]
        shown = notebook.table(headings, rows, right=(4, 5, 6))
        return notebook.card(f"Audit: {_VERDICT[self.holds]}", shown, notebook.paragraphs([*remarks, self.notice]))

    def __str__(self) -> str:
        lines = [
            f"{_VERDICT[self.holds]}: {len(self.claims)} claims, {len(self.problems)} problems, {len(self.warnings)} warnings"
        ]
        lines += [f"against {claim.adversary}: {_VERDICT[claim.holds]}" for claim in self.claims]
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
            "exposed": self.exposed,
            "stronger": {name: {"text": finding.text, "figure": finding.figure} for name, finding in self.stronger.items()},
        }
