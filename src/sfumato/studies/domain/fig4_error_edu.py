"""Which answers counts best on skewed data: PP, UP or Anatomy?

Education, where only the rare values are protected. Anatomy, as in the paper, suppresses people of frequent values until
ℓ-diversity is possible; its answers are compared with the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.studies.census import GENERATED, Census
from sfumato.studies.domain._error import chart, compared, shown, study
from sfumato.studies.domain.perturbation import LEVELS
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict


def measure(source: Source, *, people: int, levels: Sequence[int], sizes: Sequence[int], seed: int) -> Rows:
    """Return errors against L and people."""
    return study(source, source.secrets[0], levels, people, sizes, seed)


def judge(rows: Rows) -> Verdict:
    """Return whether PP is no worse than UP, and both are better than Anatomy."""
    up, anatomy = compared(rows, "PP", "UP"), compared(rows, "PP", "Anatomy")
    alike = all(0.9 <= one <= 1.1 for one in up)
    why = (
        f"PP errs {min(up):.2f} to {max(up):.2f} times as much as UP"
        f"{', that is, it degenerates into it as the paper says' if alike else ' (the paper: the same)'}, and "
        f"{min(anatomy):.2f} to "
        f"{max(anatomy):.2f} times as much as Anatomy after suppression (less in {sum(one < 1 for one in anatomy)} of "
        f"{len(anatomy)} cases)."
    )
    claims: Claims = {
        "PP degenerates into UP: their errors are the same to a tenth": alike,
        "Anatomy errs more than PP": [one < 1 for one in anatomy],
    }
    return Verdict(claims, why)


STUDY = Study(
    paper="002",
    figure="Figure 4",
    says="PP degenerates into UP, and Anatomy, which has to suppress people first, errs significantly more than both.",
    printed={"people": 300_000, "levels": LEVELS["EDU"], "sizes": (100_000, 200_000, 300_000, 400_000, 500_000)},
    full={"people": 300_000, "levels": LEVELS["EDU"], "sizes": (100_000, 200_000, 300_000, 400_000, 500_000), "seeds": SEEDS},
    quick={"people": 100_000, "levels": (10, 4), "sizes": (20_000, 100_000), "seeds": 1},
    measure=measure,
    draw=chart,
    judge=judge,
    table=shown,
    source=lambda: Census(secrets=("EDU",)),
    stand_in=(GENERATED,),
)
