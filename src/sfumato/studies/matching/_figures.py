"""What 003's Figures 8 to 11 share: β-likeness beside differential privacy at ε = ln(1 + β), every release made once for all.

Errors are the medians of |estimate − truth| / truth over range counts on λ quasi columns and the secret, by the paper's estimator
(people spread evenly within a range) and by ours. HG, SG and GR match the whole table, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.draw import lines
from sfumato.studies.matching.likeness import also, ways
from sfumato.studies.matching.measured import AT, USUAL, measure, studied
from sfumato.studies.results import kept
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Settings, Verdict

SCHEMES = ("HG", "SG", "GR")
BUREL, TUNED, NOISE, OURS = "BuReL", "BuReL, tuned", "PrivBayes", "soft boxes"
WAYS = (*SCHEMES, BUREL, TUNED, NOISE, "near groups", OURS)
CAPPED = "median error, cut at 1"

PRINTED: Settings = {"people": 10_000, "betas": (1, 3, 10, 20, 50, 100), "partition": None}
FULL: Settings = {
    "people": 10_000,
    "betas": (1, 3, 10, 20, 50, 100),
    "partition": None,
    "queries": 100,
    "ways": (*WAYS, "noisy boxes"),
    "seeds": SEEDS,
}
QUICK: Settings = {"people": 1_000, "betas": (1, 3, 10, 50), "partition": None, "queries": 30, "ways": WAYS, "seeds": 1}


def measured(
    source: Source, way: str, *, people: int, betas: Sequence[int], partition: int | None, queries: int, seed: int
) -> Rows:
    """Return what is found of one way on one table: a row for every β that it keeps."""
    case = {"table": source.name, "way": way, "people": people, "betas": list(betas), "partition": partition, "queries": queries}
    work = partial(_measured, source, way, people, betas, partition, queries, seed)
    return kept(case, work, shared=True)


def _measured(
    source: Source, way: str, people: int, betas: Sequence[int], partition: int | None, queries: int, seed: int
) -> Rows:
    study = studied(source, people, queries, 6, "education")
    counts = study.asked.table.sensitive.counts
    same: dict[str, Any] = {"table": study.name, "way": way, "largest": float(counts.max() / counts.sum())}
    same["theorem4"] = float(counts.max() / counts[counts > 0].min() - 1)
    same["alone"] = {name: questions.alone for name, questions in study.always.items()}
    made = measure(lambda words: None, study, way, ways(partition).get(way) or also(way), betas, seed)
    return [{**same, "beta": beta, **asdict(row)} for beta, row in zip(betas, made, strict=True) if row is not None]


def errors(source: Source, *, ways: Sequence[str], seed: int, **settings: Any) -> Rows:
    """Return the errors of range counts against β, λ and Θ, by the paper's estimator and by ours."""
    rows: list[dict[str, Any]] = []
    for way in ways:
        for found in measured(source, way, seed=seed, **settings):
            same = {"table": found["table"], "way": way}
            both = found["errors"], found["ours"]
            rows.append({**same, "axis": "β", "at": float(found["beta"]), "error": both[0][USUAL], "ours": both[1][USUAL]})
            if found["beta"] == AT:
                swept = [name for name in both[0] if name[0] in "λΘ"]
                rows += [
                    {**same, "axis": name[0], "at": float(name[1:]), "error": both[0][name], "ours": both[1][name]}
                    for name in swept
                ]
    return rows


def drawn(rows: Rows) -> Chart:
    """Return the errors against each axis, a panel each; what is above 100 % is drawn there."""
    titles = {"β": "β (λ = 3, Θ = 0.1)", "λ": f"λ, quasi columns asked (β = {AT})", "Θ": f"Θ, selectivity (β = {AT})"}
    shown = [{**row, "y": min(row["error"], 1.0), "panel": f"against {titles[row['axis']]}"} for row in rows]
    return lines(shown, x="at", y="y", series="way", panel="panel", x_title="", y_title=CAPPED, steps=True, same_y=True)


def judge(most: str) -> Callable[[Rows], Verdict]:
    """Return how to judge: the schemes err less than BuReL and PrivBayes, less as β grows and less as selectivity does."""

    def judged(rows: Rows) -> Verdict:
        by, ours = ({(row["axis"], row["at"], row["way"]): row[estimator] for row in rows} for estimator in ("error", "ours"))
        ratio, ends = _beside(by), _ends(by)
        why = f"By the paper's estimator {_told(by)} (the paper: {most} less than either). By ours, which learns where in their "
        why += f"ranges people are, {_told(ours)}."
        claims: Claims = {
            "the best scheme errs less than BuReL": [times > 1 for times in ratio[BUREL]],
            "the best scheme errs less than PrivBayes": [times > 1 for times in ratio[NOISE]],
            "HG errs less as β grows": ends["β"][-1] < ends["β"][0],
            "HG errs less as selectivity grows": ends["Θ"][-1] < ends["Θ"][0],
        }
        return Verdict(claims, why)

    return judged


def _ends(by: Mapping[tuple[str, float, str], float]) -> dict[str, list[float]]:
    """Return HG's errors along β and along Θ."""
    return {axis: [error for key, error in by.items() if key[0] == axis and key[2] == "HG"] for axis in ("β", "Θ")}


def _told(by: Mapping[tuple[str, float, str], float]) -> str:
    """Return how the best scheme stands beside the others, and where HG's error goes."""
    ratio, ends = _beside(by), _ends(by)
    beside = " and ".join(
        f"less than {other} in {sum(times > 1 for times in found)} of {len(found)} cases ({max(found):.2g} times at most)"
        for other, found in ratio.items()
    )
    goes = " and ".join(
        f"from {_percent(ends[axis][0])} to {_percent(ends[axis][-1])} as {words}"
        for axis, words in (("β", "β grows"), ("Θ", "selectivity does"))
    )
    return f"the best of HG, SG and GR errs {beside}, and HG's error goes {goes}"


def _beside(by: Mapping[tuple[str, float, str], float]) -> dict[str, list[float]]:
    """Return how many times the best scheme's error BuReL's and PrivBayes' is, case by case."""
    cases = [key[:2] for key in by if key[2] == "HG"]
    best = {case: min(by[(*case, way)] for way in SCHEMES if (*case, way) in by) for case in cases}
    return {other: [by[(*case, other)] / best[case] for case in cases if (*case, other) in by] for other in (BUREL, NOISE)}


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the errors in percent, by the paper's estimator and by ours, a line for each way."""
    lined: dict[str, dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault(row["way"], {"median error in %, paper's estimator / ours": row["way"]})
        line[f"{row['axis']} = {row['at']:g}"] = f"{100 * row['error']:.0f} / {100 * row['ours']:.0f}"
    columns = sorted({name for line in lined.values() for name in list(line)[1:]}, key=_in_order)
    return [{next(iter(line)): way, **{name: line.get(name) for name in columns}} for way, line in lined.items()]


def _in_order(name: str) -> tuple[int, float]:
    axis, _, at = name.partition(" = ")
    return "βλΘ".index(axis), float(at)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
