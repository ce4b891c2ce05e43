"""How far are counts on a table like COIL 2000 from the truth: β-likeness, or differential privacy at ε = ln(1 + β)?"""

from __future__ import annotations

from functools import partial

from benchmarks.studies._likeness_study import COIL, FULL, QUICK, drawn, errors, judge, table
from benchmarks.studies._study import Study

STUDY = Study(
    paper="matching",
    figure="Figure 9",
    says="the schemes err up to 10 times less than BuReL and PrivBayes, less as β and as selectivity grow.",
    quick=QUICK,
    full=FULL,
    measure=partial(errors, COIL),
    draw=drawn,
    judge=judge("up to 10 times"),
    table=table,
)
