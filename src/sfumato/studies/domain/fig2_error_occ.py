"""Which answers counts best on balanced data: PP, UP or Anatomy?

The paper's pool of 200 conditions of 1 to 3 quasi columns × every occupation, and its estimators; beside them our default one
("likelihood").
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.studies.census import GENERATED, Census
from sfumato.studies.domain._error import chart, compared, gains, shown, study
from sfumato.studies.domain.perturbation import LEVELS
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict


def measure(source: Source, *, people: int, levels: Sequence[int], sizes: Sequence[int], seed: int) -> Rows:
    """Return errors against L and people."""
    return study(source, source.secrets[0], levels, people, sizes, seed)


def judge(rows: Rows) -> Verdict:
    """Return whether PP errs less than UP, and less than Anatomy."""
    up, anatomy, ours = (compared(rows, "PP", "UP"), compared(rows, "PP", "Anatomy"), compared(rows, "PP, likelihood", "PP"))
    why = (
        f"PP errs {min(up):.2f} to {max(up):.2f} times as much as UP, but {min(anatomy):.2f} to {max(anatomy):.2f} "
        f"times as much as "
        f"Anatomy (less in {sum(one < 1 for one in anatomy)} of {len(anatomy)} cases); our estimator of the same releases errs "
        f"{min(ours):.2f} to {max(ours):.2f} times as much as the paper's."
    )
    others = {"UP": up, "Anatomy": anatomy}
    claims: Claims = {f"PP errs less than {name}": [ratio < 1 for ratio in found] for name, found in others.items()}
    return Verdict(claims | gains(rows), why)


STUDY = Study(
    paper="002",
    figure="Figure 2",
    says="PP incurs less error than Anatomy and UP, and gains from a larger ρ2 and from larger answers.",
    printed={"people": 300_000, "levels": LEVELS["OCC"], "sizes": (100_000, 200_000, 300_000, 400_000, 500_000)},
    full={"people": 300_000, "levels": LEVELS["OCC"], "sizes": (100_000, 200_000, 300_000, 400_000, 500_000), "seeds": SEEDS},
    quick={"people": 100_000, "levels": (6, 3), "sizes": (20_000, 100_000), "seeds": 1},
    measure=measure,
    draw=chart,
    judge=judge,
    table=shown,
    source=lambda: Census(secrets=("OCC",)),
    stand_in=(GENERATED,),
)
