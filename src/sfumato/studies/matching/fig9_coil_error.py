"""How far are counts on a table like COIL 2000 from the truth: β-likeness, or differential privacy at ε = ln(1 + β)?"""

from __future__ import annotations

from sfumato.studies.matching._figures import FULL, PRINTED, QUICK, drawn, errors, judge, table
from sfumato.studies.matching.tables import INSURANCE
from sfumato.studies.study import Study

STUDY = Study(
    paper="003",
    figure="Figure 9",
    says="the schemes err up to 10 times less than BuReL and PrivBayes, less as β and as selectivity grow.",
    printed=PRINTED,
    full=FULL,
    quick=QUICK,
    measure=errors,
    draw=drawn,
    judge=judge("up to 10 times"),
    table=table,
    source=lambda: INSURANCE,
    stand_in=("a generated table with COIL 2000's columns and sizes, not its links",),
    judged="the generated table is no stand-in for COIL 2000: on the real one HG errs about five times as much. Give that one by "
    "`--table`",
)
