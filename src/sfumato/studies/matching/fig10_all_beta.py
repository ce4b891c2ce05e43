"""Does the schemes' advantage last over the whole range of β, and for prefix questions as census staff ask them?

Prefixes: education up to a level, single values of age, gender, marital status and race, and half of the occupations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.matching._figures import CAPPED, FULL, NOISE, OURS, PRINTED, QUICK, SCHEMES, measured
from sfumato.studies.matching.measured import PREFIX, USUAL
from sfumato.studies.matching.tables import CENSUS, INSURANCE
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict


def measure(source: Source, *, ways: Sequence[str], seed: int, **settings: Any) -> Rows:
    """Return errors against β: ranges on both tables, prefixes on the census."""
    rows: list[dict[str, Any]] = []
    for place in (CENSUS, INSURANCE) if source is CENSUS else (source,):
        for way in ways:
            for one in measured(place, way, seed=seed, **settings):
                for kind in (USUAL, PREFIX):
                    if kind in one["errors"]:
                        same = {"panel": f"{one['table']}, {kind}", "theorem4": one["theorem4"], "alone": one["alone"][kind]}
                        exact = one["exact"].get(kind) if one["exact"] else None
                        rows.append({**same, "way": way, "beta": one["beta"], "error": one["errors"][kind], "exact": exact})
    return rows


def draw(rows: Rows) -> Chart:
    """Return errors against β, a panel for each table and kind of question; what is above 100 % is drawn there."""
    shown = [{**row, "y": min(row["error"], 1.0)} for row in rows]
    return lines(shown, x="beta", y="y", series="way", panel="panel", x_title="β", y_title=CAPPED, steps=True, same_y=True)


def judge(rows: Rows) -> Verdict:
    """Return whether the best scheme errs less than PrivBayes everywhere, and for prefixes."""
    by = {(row["panel"], row["beta"], row["way"]): row for row in rows}
    cases = [(panel, beta) for panel, beta, way in by if way == NOISE]
    won = {
        case: min(by[(*case, way)]["error"] for way in SCHEMES if (*case, way) in by) < by[(*case, NOISE)]["error"]
        for case in cases
    }
    prefixes = [one for (panel, _), one in won.items() if panel.endswith(PREFIX)]
    claims = {
        f"{panel}: the best scheme errs less than PrivBayes at every β": [one for case, one in won.items() if case[0] == panel]
        for panel in dict.fromkeys(panel for panel, _ in cases)
        if not panel.startswith(INSURANCE.name)
    }
    census = next(row["theorem4"] for row in rows)
    ours = sum(by[(*case, OURS)]["error"] < by[(*case, NOISE)]["error"] for case in cases)
    why = f"The best of HG, SG and GR errs less than PrivBayes in {sum(won.values())} of {len(won)} cases, for prefixes in "
    why += f"{sum(prefixes)} of {len(prefixes)} (the paper: in all); soft boxes do in {ours}. ℓ-diversity keeps β-likeness by "
    why += f"Theorem 4 from β = {census:.0f} on in this census (the paper: 49)."
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the errors in percent, a line for each way and panel."""
    lined: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        for words, error in ((row["way"], row["error"]), (f"{row['way']}, exact quasi counts", row["exact"])):
            if error is not None:
                line = lined.setdefault((row["panel"], words), {"questions": row["panel"], "median error in %": words})
                line[f"β = {row['beta']}"] = f"{100 * error:.0f}"
        alone = {"questions": row["panel"], "median error in %": "independence"}
        lined.setdefault((row["panel"], "independence"), alone)[f"β = {row['beta']}"] = f"{100 * row['alone']:.0f}"
    return [line for _, line in sorted(lined.items(), key=lambda one: one[0][0])]


STUDY = Study(
    paper="003",
    figure="Figure 10",
    says="over the full range of ε the schemes keep their advantage over PrivBayes, by ℓ-diversity from β = 49 on (Theorem 4), "
    "and for prefix questions too.",
    printed=PRINTED,
    full=FULL,
    quick=QUICK,
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED, "nothing is claimed of the generated insurance table, which is no stand-in for COIL 2000"),
)
