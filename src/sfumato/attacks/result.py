"""What an attack found: the same figures for every adversary, beside what guessing reaches and what the release claims."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["claimed", "not claimed", "refuted"]
"""Whether the release claims its bounds against this adversary, and if so whether what she reached keeps them."""

Knows = Literal["reader", "engineer", "insider", "stranger", "statistician", "holder", "linker", "counter"]
"""Whose knowledge an attack uses: adversaries of docs/guarantees.md, the holder of two releases, who links or counts rows."""

CONFIDENCE = 1.959963984540054
"""The normal quantile of intervals of 95 %."""


@dataclass(frozen=True)
class AttackResult:
    """What one adversary reached on a release.

    `success` is the share of people whose value her best guess names, ties shared evenly, with an `interval` of 95 %;
    `mean_belief` and `largest_belief` are her beliefs in the truth. `worst` is the belief, in any value, that uses the largest
    share of its bound, and `bound` that bound; `over` is the share of people in whom some belief is above its bound. `baseline`
    is the success of guessing the most frequent value for everybody, `control` the success on people who are not in the table.
    For presence, "value" means being in the table. `refused` says why an attack makes no sense on such a release; it then has no
    figures. `secret` names the sensitive column, as its variant does, where several are attacked each by itself.
    """

    attack: str
    variant: str
    knows: Knows
    people: int = 0
    success: float | None = None
    interval: tuple[float, float] | None = None
    mean_belief: float | None = None
    largest_belief: float | None = None
    worst: float | None = None
    bound: float | None = None
    over: float | None = None
    verdict: Verdict = "not claimed"
    baseline: float | None = None
    control: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    warnings: tuple[str, ...] = ()
    refused: str = ""
    seconds: float = 0.0
    secret: str = ""

    @property
    def name(self) -> str:
        """The attack and its variant."""
        return f"{self.attack}, {self.variant}" if self.variant else self.attack

    def __str__(self) -> str:
        if self.refused:
            return f"{self.name}: not done, {self.refused}"
        shown = [f"{self.name}: {self.people:,} people"]
        if self.success is not None and self.interval is not None:
            low, high = self.interval
            shown.append(f"right for {self.success:.1%} ({low:.1%} to {high:.1%}), guessing {self.baseline or 0:.1%}")
        if self.mean_belief is not None and self.largest_belief is not None:
            shown.append(f"belief in the truth {self.mean_belief:.3f}, at most {self.largest_belief:.3f}")
        return "; ".join([*shown, self.verdict, *self.warnings])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        plain = {name: value for name, value in vars(self).items() if name not in ("interval", "figures", "warnings", "secret")}
        interval = None if self.interval is None else list(self.interval)
        return {**plain, "interval": interval, "figures": dict(self.figures), "warnings": list(self.warnings)}


def interval(successes: float, tries: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % for a share; successes may be shared by ties, which only makes it wider than needed.

    >>> low, high = interval(50, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    if tries == 0:
        return 0.0, 1.0
    share, z2 = successes / tries, CONFIDENCE**2
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    half = CONFIDENCE / (1 + z2 / tries) * math.sqrt(share * (1 - share) / tries + z2 / (4 * tries**2))
    return max(0.0, middle - half), min(1.0, middle + half)
