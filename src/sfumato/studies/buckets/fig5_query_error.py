"""How far are count answers from the truth?

The papers' workload (conditions on 1 to 7 random quasi columns and the secret, expected selectivity 1 %) and estimator; beside
them our estimator on the optimum's buckets, and the error of assuming independence, which needs no release at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import sfumato
from sfumato.charts import Chart
from sfumato.errors import Infeasible
from sfumato.groups.settings.feasible import Strategy
from sfumato.query import Estimator, anatomy_workload
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED, MAX_SIZE, OFFSET, THETAS
from sfumato.studies.draw import lines
from sfumato.studies.results import kept
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict
from sfumato.utility.query_error import TrueAnswers, asked_of, error_of

LINEUP: tuple[tuple[str, Strategy, Estimator], ...] = (
    ("two-size", "two-size", "paper"),
    ("top-down", "top-down", "paper"),
    ("optimal", "optimal", "paper"),
    ("optimal, likelihood", "optimal", "likelihood"),
)
PRINTED = {"OCC": 0.125, "EDU": 0.10}
"""The largest errors that the papers tell: slightly over 10 %, and 10 %."""
INDEPENDENCE = "independence"
CLOSE = 1.25


def measure(source: Source, *, people: int, queries: int, thetas: Sequence[int], seed: int) -> Rows:
    """Return mean and median relative error per table, θ and buckets."""
    rows: list[Mapping[str, Any]] = []
    for secret in source.secrets:
        for theta in thetas:
            case = {"people": people, "queries": queries, "table": secret, "theta": theta}
            rows += kept(case, partial(_errors, source, secret, people, queries, theta, seed))
    return rows


@lru_cache(maxsize=1)
def _asked(source: Source, secret: str, people: int, queries: int, seed: int) -> TrueAnswers:
    data = source.table(secret, people)
    return asked_of(data, anatomy_workload(data, queries=queries, seed=seed))


def _errors(source: Source, secret: str, people: int, queries: int, theta: int, seed: int) -> Rows:
    data, asked = source.table(secret, people), _asked(source, secret, people, queries, seed)
    needed = sfumato.FPrivacy(theta=theta, offset=OFFSET, against="reader")
    releases: dict[Strategy, sfumato.Release] = {}
    rows = []
    for name, strategy, estimator in LINEUP:
        try:
            if strategy not in releases:
                method = sfumato.MultiSize(strategy=strategy, max_size=MAX_SIZE)
                releases[strategy] = method.run(data, needed, random=seed).release
        except Infeasible:
            continue
        error = error_of(releases[strategy], asked, estimator=estimator)
        rows.append({"table": secret, "θ": theta, "buckets": name, "mean": error.mean, "median": error.median})
    alone = {"mean": error.independence_mean, "median": error.independence_median}
    return [*rows, {"table": secret, "θ": theta, "buckets": INDEPENDENCE, **alone}]


def draw(rows: Rows) -> Chart:
    """Return the mean error against θ."""
    drawn = [{**row, "percent": 100 * row["mean"]} for row in rows]
    return lines(drawn, x="θ", y="percent", series="buckets", panel="table", steps=True, y_title="mean relative error, %")


def judge(rows: Rows) -> Verdict:
    """Return whether errors are as small as printed, and the three ways close."""
    mean = {(row["table"], row["θ"], row["buckets"]): row["mean"] for row in rows}
    papers = [name for name, _, estimator in LINEUP if estimator == "paper"]
    claims, told = {}, []
    for attribute in dict.fromkeys(key[0] for key in mean):
        worst = max(value for key, value in mean.items() if key[0] == attribute and key[2] in papers)
        alone = max(value for key, value in mean.items() if key[0] == attribute and key[2] == INDEPENDENCE)
        most = PRINTED.get(attribute, max(PRINTED.values()))
        claims[f"{attribute}: the mean error is {100 * most:.1f} % at most"] = worst <= most
        told.append(f"{attribute} at most {100 * worst:.0f} % (independence {100 * alone:.0f} %)")
    cases = [key[:2] for key in mean if key[2] == "optimal"]
    apart = max(mean[(*case, "two-size")] / mean[(*case, "optimal")] for case in cases if (*case, "two-size") in mean)
    beats = [mean[(*case, "optimal")] < 0.9 * mean[(*case, INDEPENDENCE)] for case in cases]
    why = (
        f"Mean errors with the papers' estimator: {'; '.join(told)}; two sizes err up to {apart:.2f} times as much "
        f"as the optimum. "
        f"The errors are near those of assuming independence, which needs no release: the optimum is a tenth or more better in "
        f"{sum(beats)} of {len(beats)} cases."
    )
    claims[f"the three ways are close (two sizes at most {CLOSE:g} times the optimum)"] = apart <= CLOSE
    return Verdict(claims, why)


def shown(rows: Rows) -> list[dict[str, Cell]]:
    """Return mean / median error in percent, a line for each θ."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["table"], row["θ"]), {"table": row["table"], "θ": row["θ"]})
        line[row["buckets"]] = f"{100 * row['mean']:.1f} / {100 * row['median']:.1f}"
    return list(lined.values())


STUDY = Study(
    paper="001",
    figure="Figure 5",
    says="the mean relative error is slightly over 10 % at most for OCC and no more than 10 % for EDU; the three ways are close.",
    printed={"people": 300_000, "queries": 5_000, "thetas": THETAS},
    full={"people": 300_000, "queries": 5_000, "thetas": THETAS, "seeds": SEEDS},
    quick={"people": 50_000, "queries": 300, "thetas": (2, 8, 32), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=shown,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
