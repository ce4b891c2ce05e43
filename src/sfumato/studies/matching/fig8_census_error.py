"""How far are counts on the census from the truth: β-likeness, or differential privacy at ε = ln(1 + β)?"""

from __future__ import annotations

from sfumato.studies.census import GENERATED
from sfumato.studies.matching._figures import FULL, PRINTED, QUICK, drawn, errors, judge, table
from sfumato.studies.matching.tables import CENSUS
from sfumato.studies.study import Study

STUDY = Study(
    paper="003",
    figure="Figure 8",
    says="the schemes err up to 4 times less than BuReL and PrivBayes, less as β and selectivity grow, by up to 83 % over λ.",
    printed=PRINTED,
    full=FULL,
    quick=QUICK,
    measure=errors,
    draw=drawn,
    judge=judge("up to 4 times"),
    table=table,
    source=lambda: CENSUS,
    deviations=(GENERATED,),
)
