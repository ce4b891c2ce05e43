"""What 003's Figures 8 to 11 share: β-likeness beside differential privacy at ε = ln(1 + β), every release made once for all.

Errors are the medians of |estimate − truth| / truth over range counts on λ quasi columns and the secret, by each release's own
estimator; HG, SG and GR match blocks of 2,000 people. What is drawn with noise is drawn `draws` times, and the mean taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks._show import Cell
from benchmarks.attack_study import AT, USUAL, both
from benchmarks.attack_study import measure as found_of
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Claims, Rows, Verdict, kept
from sfumato.charts import Chart

SCHEMES = ("HG", "SG", "GR")
BUREL, TUNED, NOISE, OURS = "BuReL", "BuReL, tuned", "PrivBayes", "soft boxes"
WAYS = (*SCHEMES, BUREL, TUNED, NOISE, "near groups", OURS)
CENSUS, COIL = 0, 1
CAPPED = "median error, cut at 1"
FIRST = "matching_figure_08_census_error"
"""The study whose cases these are: `--again` for it measures anew, and the others take what is there."""

QUICK = {"people": 1_000, "betas": (1, 3, 10, 50), "draws": 1, "ways": WAYS}
FULL = {"people": 10_000, "betas": (1, 3, 10, 20, 50, 100), "draws": 3, "ways": (*WAYS, "noisy boxes")}


def found(place: int, way: str, *, people: int, betas: Sequence[int], draws: int) -> Rows:
    """Return what was found of one way on one table, of 10,000 people or of 1,000: a row for every β that it keeps."""
    small = people < 10_000
    case = {"table": place, "way": way, "small": small, "betas": list(betas), "draws": draws}
    return kept(FIRST, case, partial(_found, place, way, small, betas, draws))


def _found(place: int, way: str, small: bool, betas: Sequence[int], draws: int) -> Rows:
    studied = both(small)[place]
    counts = studied.asked.table.sensitive.counts
    known = {"table": studied.name, "way": way, "largest": float(counts.max() / counts.sum()), "theorem4": _theorem4(counts)}
    known["alone"] = {name: one.alone for name, one in studied.always.items()}
    made = zip(betas, found_of(print, studied, way, betas, draws), strict=True)
    return [{**known, "beta": beta, **asdict(one)} for beta, one in made if one is not None]


def _theorem4(counts: Any) -> float:
    """Return from which β on ℓ-diversity keeps β-likeness (003, Theorem 4)."""
    return float(counts.max() / counts[counts > 0].min() - 1)


def errors(place: int, *, people: int, betas: Sequence[int], draws: int, ways: Sequence[str]) -> Rows:
    """Return the errors of range counts against β, λ and Θ."""
    rows: list[dict[str, Any]] = []
    for way in ways:
        for one in found(place, way, people=people, betas=betas, draws=draws):
            same = {"table": one["table"], "way": way}
            rows.append({**same, "axis": "β", "at": one["beta"], "error": one["errors"][USUAL]})
            if one["beta"] == AT:
                swept = [(key[0], key[1:], value) for key, value in one["errors"].items() if key[0] in "λΘ"]
                rows += [{**same, "axis": axis, "at": float(at), "error": value} for axis, at, value in swept]
    return rows


def drawn(rows: Rows) -> Chart:
    """Return the errors against each axis, a panel each; what is above 100 % is drawn there."""
    told = {"β": "β (λ = 3, Θ = 0.1)", "λ": f"λ, quasi columns asked (β = {AT})", "Θ": f"Θ, selectivity (β = {AT})"}
    shown = [{**row, "y": min(row["error"], 1.0), "panel": f"against {told[row['axis']]}"} for row in rows]
    return lines(shown, x="at", y="y", series="way", panel="panel", x_title="", y_title=CAPPED, steps=True, same_y=True)


def judge(most: str) -> Any:
    """Return how to judge: the schemes err less than BuReL and PrivBayes, less as β grows and less as selectivity does."""

    def judged(rows: Rows) -> Verdict:
        by = {(row["axis"], row["at"], row["way"]): row["error"] for row in rows}
        cases = [(axis, at) for axis, at, way in by if way == "HG"]
        best = {case: min(by[(*case, way)] for way in SCHEMES if (*case, way) in by) for case in cases}
        ratio = {
            other: [by[(*case, other)] / best[case] for case in cases if (*case, other) in by] for other in (BUREL, TUNED, NOISE)
        }
        burel, noise = (sum(one > 1 for one in ratio[other]) for other in (BUREL, NOISE))
        ends = {axis: [by[(axis, at, "HG")] for a, at in cases if a == axis] for axis in ("β", "Θ")}
        ours = [by[(*case, OURS)] for case in cases if (*case, OURS) in by]
        why = f"The best of HG, SG and GR errs less than published BuReL in {burel} of {len(ratio[BUREL])} cases, up to "
        why += f"{max(ratio[BUREL]):.1f} times less, and less than PrivBayes in {noise} of {len(ratio[NOISE])}, up to "
        why += f"{max(ratio[NOISE]):.1f} times less (the paper: {most}); tuned BuReL errs {min(ratio[TUNED]):.2g} to "
        why += f"{max(ratio[TUNED]):.2g} times as much as that best. HG's error goes from {_percent(ends['β'][0])} to "
        why += f"{_percent(ends['β'][-1])} as β grows and from {_percent(ends['Θ'][0])} to {_percent(ends['Θ'][-1])} as "
        why += f"selectivity does; soft boxes err {_percent(min(ours))} to {_percent(max(ours))}."
        claims: Claims = {
            "the best scheme errs less than BuReL": [one > 1 for one in ratio[BUREL]],
            "the best scheme errs less than PrivBayes": [one > 1 for one in ratio[NOISE]],
            "HG errs less as β grows": ends["β"][-1] < ends["β"][0],
            "HG errs less as selectivity grows": ends["Θ"][-1] < ends["Θ"][0],
        }
        return Verdict(claims, why)

    return judged


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the errors in percent, a line for each way."""
    lined: dict[str, dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault(row["way"], {"median error in %": row["way"]})
        line[f"{row['axis']} = {row['at']:g}"] = f"{100 * row['error']:.0f}"
    columns = sorted({name for line in lined.values() for name in list(line)[1:]}, key=_in_order)
    return [
        {"median error in %": line["median error in %"], **{name: line.get(name) for name in columns}} for line in lined.values()
    ]


def _in_order(name: str) -> tuple[int, float]:
    axis, _, at = name.partition(" = ")
    return "βλΘ".index(axis), float(at)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
