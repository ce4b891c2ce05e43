"""Studies of generalization by matching: who stands in them, and loss and time along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import sfumato
from sfumato.charts import Chart
from sfumato.methods.base import Method
from sfumato.privacy.requirement import Requirement
from sfumato.studies.draw import lines
from sfumato.studies.matching.published import BUREL, PAPER, RING, Lineup, Needs, published
from sfumato.studies.matching.tables import census_table, first_columns, redrawn
from sfumato.studies.results import kept
from sfumato.studies.source import Source
from sfumato.studies.study import Rows
from sfumato.utility import gcp

HG, SG, GR = "HG (hungarian)", "SG (sortgreedy)", "GR (greedy)"
NH, TUNED_NH = "NH, published", "NH, tuned"
PUBLISHED, TUNED = "BuReL, published", "BuReL, tuned"
THRESHOLD = {HG: "HG, threshold", SG: "SG, threshold", GR: "GR, threshold"}
"""The paper's threshold mode, in which quasi and sensitive values decide together."""
MATCHED, ANNEALED = "near groups, engineer", "near groups, reader"

SCHEME: Lineup = {
    HG: (PAPER, "reader"),
    SG: (replace(PAPER, matcher="sortgreedy"), "reader"),
    GR: (replace(PAPER, matcher="greedy"), "reader"),
}


def diverse(effort: float) -> Lineup:
    """Return what stands in the figures of ℓ-diversity: the scheme, rings as published and as tuned here, and our groups."""
    rings: Lineup = {NH: (RING, "reader"), TUNED_NH: (sfumato.Ring(accept_weaker_claim=True), "reader")}
    return {**SCHEME, **rings, **_ours(effort)}


def likely(effort: float) -> Lineup:
    """Return what stands in the figures of β-likeness: the scheme, BuReL as published and as tuned here, and our groups."""
    return {**SCHEME, PUBLISHED: (BUREL, "reader"), TUNED: (sfumato.BuReL(), "reader"), **_ours(effort)}


def _ours(effort: float) -> Lineup:
    return {MATCHED: (sfumato.NearGroups(), "engineer"), ANNEALED: (sfumato.NearGroups(effort=effort), "reader")}


def thresholds() -> Lineup:
    """Return the schemes in threshold mode."""
    return {
        THRESHOLD[name]: (replace(method, fill="distant"), against)  # type: ignore[call-arg]
        for name, (method, against) in SCHEME.items()
    }


def tables(source: Source, people: int, skew: float) -> Mapping[str, sfumato.Table]:
    """Return the paper's three tables: the real one, and the same people with values drawn uniformly or by Zipf's law."""
    table = source.table(source.secrets[0], people)
    return {"census": table, "uniform": redrawn(table, 0), f"Zipf {skew:g}": redrawn(table, skew)}


def along(
    axis: str, cases: Mapping[Any, tuple[sfumato.Table, Needs]], lineup: Lineup, *, seed: int, **same: Any
) -> list[dict[str, Any]]:
    """Return a row for every method and case: GCP and processor seconds, none where a method cannot keep the bounds."""
    rows: list[dict[str, Any]] = []
    for name, (method, against) in lineup.items():
        for at, (table, needs) in cases.items():
            case = {**same, "axis": axis, "at": float(at), "method": name}
            told = {"program": repr(method), "people": table.rows, "bounds": repr(needs(against))}
            work = partial(_lost, method, table, needs(against), seed, compiled=name != ANNEALED)
            rows += [{**case, **row} for row in kept({**case, **told}, work)]
    return rows


def _lost(method: Method, table: sfumato.Table, requirement: Requirement, seed: int, *, compiled: bool) -> Rows:
    """Return GCP and processor seconds of one publication, after a small one that compiles."""
    published(method if compiled else sfumato.NearGroups(effort=0.001), census_table(1_000), requirement)
    made = published(method, table, requirement, seed=seed)
    return [{"loss": gcp(made[1]).value, "seconds": made[0]} if made else {"loss": None, "seconds": None}]


def narrower(table: sfumato.Table, many: Sequence[int], needs: Needs) -> dict[int, tuple[sfumato.Table, Needs]]:
    """Return the table with its first so many quasi columns."""
    return {d: (first_columns(table, d), needs) for d in many}


def drawn(panel: str, x_title: str, *, y: str = "loss", y_title: str = "GCP", **how: Any) -> Callable[[Rows], Chart]:
    """Return how to draw loss or seconds along an axis, in a panel each of `panel`."""
    return lambda rows: lines(rows, x="at", y=y, series="method", panel=panel, x_title=x_title, y_title=y_title, **how)


def at(rows: Rows, method: str, where: float | None = None, *, key: str = "loss", **same: Any) -> list[float]:
    """Return what a method has at a case, or at all of them, in order."""
    mine = [row for row in rows if row["method"] == method and all(row[name] == value for name, value in same.items())]
    return [row[key] for row in mine if row[key] is not None and (where is None or row["at"] == where)]


def ratio(rows: Rows, worse: str, better: str, where: float | None = None, **same: Any) -> str:
    """Return by how many times one method loses more than another, at a case or from least to most over all of them."""
    return times(at(rows, worse, where, **same), at(rows, better, where, **same))


def times(worse: Sequence[float], better: Sequence[float]) -> str:
    """Return by how many times the first are larger than the second, from least to most."""
    ratios = sorted(a / b for a, b in zip(worse, better, strict=True))
    return f"{ratios[0]:.2g}" if len(ratios) == 1 else f"{ratios[0]:.2g} to {ratios[-1]:.2g}"
