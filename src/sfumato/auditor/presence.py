"""Presence judged: how sure a stranger becomes that a person is in the table, in one group and over all that cover her."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.auditor._group_kernels import PartValues, shared_cover
from sfumato.auditor.bounds import presence_bound
from sfumato.auditor.claims import misworded
from sfumato.auditor.result import ClaimResult, Finding
from sfumato.exact import percent
from sfumato.release._covering_kernels import Holders
from sfumato.release.columns import ColumnsRelease
from sfumato.release.covering import Cover
from sfumato.release.manifest import Claim
from sfumato.release.programs import by_halves
from sfumato.release.views import ViewsRelease

MOST_WORDS = 1 << 24

STRANGER = (
    "it holds for somebody to whom every combination is as likely as any other, and who knows neither how the program cuts boxes "
    "nor who else is in the table; against whoever knows the program, a list of the population, known numbers of people, or how "
    "columns go together, nothing is bounded"
)

WITH_PROGRAM = (
    "it holds for somebody to whom every combination is as likely as any other, and who knows nothing of who else is in the "
    "table, also if she knows the program; against a list of the population, known numbers of people, or whoever knows how "
    "columns go together, nothing is bounded. That no other cut was tried than the manifest's method tries cannot be seen in "
    "the tables"
)

MATCHINGS = (
    "it holds for somebody to whom all matchings of a group's rows are equally likely; whoever knows how the program cuts boxes, "
    "that no two people are alike, who else is in the table, or how columns go together may believe more"
)

OVERLAP = "groups overlap: a combination is covered by two of them"


def overlaps(cover: Cover, most: int = 1) -> Integers:
    """Return pairs of groups that cover a common combination, sharing a value in every part: the first `most` of them."""
    parts = sorted(cover.parts, key=lambda part: -part.size)
    words = -(-cover.groups // 64)
    offsets = np.concatenate(([0], np.cumsum([part.size for part in parts]))).astype(np.int64)
    entries = np.concatenate(([0], np.cumsum([len(part.codes) for part in parts])))
    begin = np.stack([part.start + first for part, first in zip(parts, entries[:-1], strict=True)])
    row = np.concatenate([part.codes + offset for part, offset in zip(parts, offsets[:-1], strict=True)])
    group = np.concatenate([part.group for part in parts])
    # The parts with the fewest values have rows of bits, as many as there is room for; the others have lists of groups.
    base = int(offsets[np.flatnonzero((offsets[-1] - offsets) * words <= MOST_WORDS)[0]])
    bits = np.zeros((int(offsets[-1]) - base, words), np.uint64)
    held = row >= base
    np.bitwise_or.at(bits, (row[held] - base, group[held] >> 6), np.uint64(1) << (group[held] & 63).astype(np.uint64))
    order = np.argsort(row, kind="stable")
    start = np.searchsorted(row[order], np.arange(base + 1))
    covers = np.empty((most, 2), np.int64)
    holders = Holders(bits, start, group[order].astype(np.int32))
    many = shared_cover(PartValues(begin, row), base, holders, covers)
    return covers[:many]


def judge_presence(
    claim: Claim,
    release: ColumnsRelease | ViewsRelease,
    presence: Sequence[Fraction],
    *,
    overlapping: bool,
    dropped: int,
    uncut: str,
) -> ClaimResult:
    """Judge a claim of presence: everybody is published, no combination is covered twice, and every group keeps alpha.

    `presence[g]` is the largest belief in presence that group g gives to a combination it covers. Where groups overlap, that is
    not all that is known about a combination, and no formula for them together is a bound: their people need not be independent.
    `dropped` people were left out of the table before it was published; `uncut` says why the groups are not those that the
    method's rule of cutting gives.
    """
    manifest = release.manifest
    alpha = presence_bound(manifest.requirement)
    fault = _unfounded(claim, release, alpha, dropped)
    if fault or alpha is None:
        return ClaimResult(claim, False, note=fault)
    if overlapping or uncut:
        return ClaimResult(claim, False, None, alpha, note=OVERLAP if overlapping else uncut)
    worst = max(presence)
    note = MATCHINGS if manifest.shown_as.by_matchings else WITH_PROGRAM if by_halves(manifest.method) else STRANGER
    return ClaimResult(claim, worst <= alpha, worst, alpha, note=note if worst <= alpha else "")


def _unfounded(claim: Claim, release: ColumnsRelease | ViewsRelease, alpha: Fraction | None, dropped: int) -> str:
    if alpha is None:
        return "the requirement does not bound presence"
    if claim.adversary != "stranger":
        return "presence can only be hidden from a stranger"
    if misworded(claim, release):
        return misworded(claim, release)
    if "suppression" in release.manifest.parameters:
        return "people were left out, and where they are not shown may tell where they are"
    if dropped:
        return "people were left out because a value is missing, and whoever has such a value is certainly not published"
    return ""


class PresenceBeliefs(NamedTuple):
    """Beliefs in the presence of so many people: their mean, the largest, and the share of those above alpha."""

    people: int
    mean: float
    largest: float
    over: float

    @classmethod
    def of(cls, belief: Floats, alpha: Fraction | None, weight: Integers | None = None) -> PresenceBeliefs:
        """Return the summary of these beliefs; `weight` says how many people each stands for."""
        # Only a measure: figures that differ from alpha by rounding alone are taken as equal.
        above = np.zeros(len(belief), bool) if alpha is None else belief > float(alpha) * (1 + 1e-9)
        people = len(belief) if weight is None else int(weight.sum())
        if weight is None:
            return cls(people, float(belief.mean()), float(belief.max()), float(above.mean()))
        return cls(people, float(belief @ weight) / people, float(belief.max()), float(above @ weight) / people)

    def and_(self, other: PresenceBeliefs) -> PresenceBeliefs:
        """Return the summary of both."""
        people = self.people + other.people
        mean, over = (
            (mine * self.people + theirs * other.people) / people
            for mine, theirs in ((self.mean, other.mean), (self.over, other.over))
        )
        return PresenceBeliefs(people, mean, max(self.largest, other.largest), over)


def presence_findings(
    members: PresenceBeliefs | None, outsiders: Floats | None, alpha: Fraction | None, *, people: int, left_out: bool
) -> dict[str, Finding]:
    """Return how sure a reader becomes of presence who combines all groups that cover a person, taken as independent.

    Measured, never claimed. With people `left_out`, whom no group covers may be one of them.
    """
    findings: dict[str, Finding] = {}
    if members is not None:
        part = f", measured on {members.people} people" if members.people < people else ""
        findings["presence of members, all covering groups combined"] = Finding(
            f"mean belief that a person of the table is in it, groups taken as independent; {_spread(members, alpha)}{part}",
            members.mean,
        )
    if outsiders is not None and len(outsiders):
        away = PresenceBeliefs.of(outsiders, alpha)
        findings["presence of outsiders, all covering groups combined"] = Finding(
            f"mean belief that one of {len(outsiders)} given outsiders is in the table, groups taken as independent; "
            f"{_spread(away, alpha)}",
            away.mean,
        )
        absent = float((outsiders == 0).mean())
        name = "outsiders who are not published" if left_out else "outsiders who are certainly absent"
        known = "not to be published, though they may have been left out" if left_out else "not to be in the table"
        findings[name] = Finding(
            f"share of the given outsiders ({percent(absent, 1)}) whom no group covers, so that they are known {known}; no claim "
            "bounds this",
            absent,
        )
    return findings


def combined_warning(members: PresenceBeliefs | None, alpha: Fraction | None) -> list[str]:
    """Return how many people of the table are believed to be in it with more than alpha, in a sentence; nothing if nobody is."""
    over = 0.0 if members is None or alpha is None else members.over
    if not over:
        return []
    return [
        "combining all groups that cover a person, taken as independent, "
        f"{percent(over, 1)} of the people are believed present with more than alpha"
    ]


def _spread(belief: PresenceBeliefs, alpha: Fraction | None) -> str:
    text = f"the largest is {belief.largest:.3g}"
    if alpha is None:
        return text
    return f"{text}, and {percent(belief.over, 1)} exceed alpha"
