"""How far are counts on the census from the truth: β-likeness, or differential privacy at ε = ln(1 + β)?"""

from __future__ import annotations

from functools import partial

from benchmarks.studies._likeness_study import CENSUS, FULL, QUICK, drawn, errors, judge, table
from benchmarks.studies._study import Study

STUDY = Study(
    paper="matching",
    figure="Figure 8",
    says="the schemes err up to 4 times less than BuReL and PrivBayes, less as β and selectivity grow, by up to 83 % over λ.",
    quick=QUICK,
    full=FULL,
    measure=partial(errors, CENSUS),
    draw=drawn,
    judge=judge("up to 4 times"),
    table=table,
)
