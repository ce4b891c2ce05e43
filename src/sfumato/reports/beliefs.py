"""How sure a reader becomes: of a person's true value, and of the values that come closest to their bounds; and who is unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.charts import altair, picture_svg
from sfumato.charts.look import FILL
from sfumato.charts.svg import colour
from sfumato.exact import percent
from sfumato.explanation.highlights import finding, in_terms
from sfumato.explanation.risk import STEPS, band_names, risk_of
from sfumato.reports.case import MOST_PEOPLE, ReportCase
from sfumato.reports.parts import ChartFigure, Grid, Note, PageBlock, Prose, Section

WIDTH = 560
NEAREST = 12
"""How many values closest to their bounds are shown."""

BINS = 24


def believed(case: ReportCase) -> Section | None:
    """Return the distribution of beliefs and the values closest to their allowance; nothing where beliefs are not known."""
    blocks: list[PageBlock] = []
    for number, part in enumerate(case.each):
        shown = _believed(part, f"-{number + 1}" if part.secret else "")
        blocks += [Prose([f"Of {part.secret}:"]), *shown] if part.secret and shown else shown
    if not blocks:
        return None
    if case.quasi and len(case.quasi[0].codes) > MOST_PEOPLE:
        blocks.append(Prose([f"Beliefs are those of {MOST_PEOPLE:,} people drawn from all."]))
    return Section("beliefs", "How sure a reader becomes", blocks)


def _believed(case: ReportCase, mark: str) -> list[PageBlock]:
    """Return beliefs in the values of one attribute; `mark` tells its pictures from those of others."""
    beliefs = case.beliefs
    if beliefs is None or not len(beliefs):
        return []
    known = ~np.isnan(beliefs).any(axis=1)
    blocks: list[PageBlock] = []
    if case.truth is not None and (case.truth[1] >= 0).any():
        who, value = case.truth
        seen = np.asarray(known)[who] & (value >= 0)
        blocks += _of_truth(case, beliefs[who[seen], value[seen]], mark)
    else:
        blocks += _of_any(beliefs[known].max(axis=1), mark)
    # Where nothing bounds these beliefs, or a reader has to estimate shares, no bound stands beside them.
    bounded = "reader" in case.covered and not case.release.shown_as.by_coin and len(case.release.labels) == beliefs.shape[1]
    if bounded and case.largest is not None and (nearest := _nearest(case, case.largest[known].max(axis=0))):
        blocks += _closest(nearest, mark)
    return blocks


def _of_truth(case: ReportCase, beliefs: Floats, mark: str) -> list[PageBlock]:
    assert case.table is not None  # else nobody knows the truth
    mean, before = float(beliefs.mean()), case.table.prior_exposure()
    half, most = (float(np.quantile(beliefs, part)) for part in (0.5, 0.99))
    whose = "a value that a person has" if case.several else "a person's true value"
    each, whom = ("Facts", "facts") if case.several else ("People", "people")
    title = "belief in a value that the person has" if case.several else "belief in the person’s true value"
    svg, rows = _histogram(beliefs, title, mean, mark, whom)
    their = "them" if case.several else "their true value"
    return [
        Prose(
            [
                f"Exposure: a reader is {percent(mean, 1)} sure of {whose}, on average. Without the release, "
                f"knowing only how frequent each value is, she would be {percent(before, 1)} sure. For half of the {whom} she is "
                f"at most {percent(half, 1)} sure, for one in a hundred more than {percent(most, 1)}."
            ]
        ),
        ChartFigure(svg, f"{each} by how sure a reader is of {their}. The line is the mean, the exposure.", rows),
    ]


def _of_any(largest: Floats, mark: str) -> list[PageBlock]:
    mean, most = float(largest.mean()), float(largest.max())
    svg, rows = _histogram(largest, "belief in the likeliest value", mean, mark)
    words = (
        f"Of the value she thinks likeliest for a person, right or wrong, a reader is {percent(mean, 1)} sure on average and "
        f"{percent(most, 1)} at most."
    )
    return [
        Prose([words]),
        ChartFigure(
            svg, "People by how sure a reader is of the value she thinks likeliest for them. The line is the mean.", rows
        ),
    ]


def _histogram(beliefs: Floats, title: str, mean: float, mark: str, whom: str = "people") -> tuple[str, Grid]:
    alt = altair()
    top = max(float(beliefs.max()), 0.01)
    edges = np.linspace(0.0, top, BINS + 1)
    counts = np.histogram(beliefs, edges)[0]
    data = [{"low": float(a), "high": float(b), "people": int(n)} for a, b, n in zip(edges, edges[1:], counts, strict=False)]
    x = alt.X(
        "low:Q", title=title, axis=alt.Axis(format="~%", tickCount=8), scale=alt.Scale(domain=[0, top], nice=False), bin="binned"
    )
    bars = (
        alt.Chart(alt.Data(values=data))
        .mark_bar(color=colour(0), opacity=0.85)
        .encode(x=x, x2="high:Q", y=alt.Y("people:Q", title=whom, axis=alt.Axis(format=",d", tickCount=5)))
    )
    rule = alt.Chart(alt.Data(values=[{"low": mean}])).mark_rule(color=colour(1), strokeWidth=2).encode(x=x)
    svg = picture_svg(
        alt.layer(bars, rule).properties(width=WIDTH, height=200),
        title=f"{whom.capitalize()} by {title}",
        numbered=f"beliefs{mark}",
    )
    rows = [(f"{percent(row['low'], 1)} to {percent(row['high'], 1)}", f"{row['people']:,}") for row in data]
    return svg, Grid("The numbers", (title, whom), rows, right=(1,))


def _nearest(case: ReportCase, largest: Floats) -> list[dict[str, Any]]:
    rows = []
    for label, belief in zip(case.release.labels, largest.tolist(), strict=True):
        bound = case.bounds.get(label)
        if bound is not None and bound < 1:
            share = case.shares.get(label)
            rows.append(
                {"value": label, "belief": belief, "bound": float(bound), "share": None if share is None else float(share)}
            )
    return sorted(rows, key=lambda row: -row["belief"] / row["bound"])[:NEAREST]


def _closest(nearest: list[dict[str, Any]], mark: str) -> list[PageBlock]:
    alt = altair()
    base = alt.Chart(alt.Data(values=nearest)).encode(
        y=alt.Y("value:N", sort=[row["value"] for row in nearest], title=None, axis=alt.Axis(labelLimit=220))
    )
    x = alt.X("belief:Q", title="belief", axis=alt.Axis(format="~%", tickCount=7))
    layers = [
        base.mark_bar(color=colour(0), height=9, opacity=FILL).encode(x=x),
        base.mark_tick(color=colour(1), thickness=3, size=18).encode(x=alt.X("bound:Q")),
    ]
    if all(row["share"] is not None for row in nearest):
        layers.append(base.mark_tick(color=colour("ink"), thickness=2, size=12).encode(x=alt.X("share:Q")))
    chart = alt.layer(*layers).properties(width=WIDTH - 130, height=22 * len(nearest))
    svg = picture_svg(chart, title="The values closest to their bounds", numbered=f"closest{mark}")
    rows = [
        (
            row["value"],
            "" if row["share"] is None else percent(row["share"]),
            percent(row["belief"]),
            percent(row["bound"]),
            percent(row["belief"] / row["bound"], 0),
        )
        for row in nearest
    ]
    headings = ("value", "everybody knows", "a reader's largest belief", "bound", "used")
    words = (
        "The values that come closest to their allowance. Bar: the largest belief a reader has in the value, for anybody. Thick "
        "mark: its bound. Thin mark: its share among all people, which everybody may know."
    )
    return [ChartFigure(svg, words, Grid("The numbers", headings, rows, right=(1, 2, 3, 4)))]


def unique(case: ReportCase) -> Section | None:
    """Return who can be told apart by quasi values, and what that means; nothing where nobody's are known."""
    sizes = case.alike
    if sizes is None or not case.release.shown_as.of_people:
        return None
    place = np.searchsorted(STEPS, sizes, side="right") - 1
    bands = np.bincount(place, weights=sizes, minlength=len(STEPS)).astype(int)
    total, alone = int(sizes.sum()), int(bands[0])
    alt = altair()
    data: list[dict[str, Any]] = [{"k": name, "people": int(number)} for name, number in zip(band_names(), bands, strict=True)]
    chart = (
        alt.Chart(alt.Data(values=data))
        .mark_bar(color=colour(0), opacity=0.85)
        .encode(
            x=alt.X("k:N", sort=None, title="people with the same quasi values", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("people:Q", title="people", axis=alt.Axis(format=",d", tickCount=5)),
        )
        .properties(width=WIDTH, height=190)
    )
    rows = [(row["k"], f"{row['people']:,}", percent(row["people"] / total, 1)) for row in data]
    shows = case.release.shown_as.exact_quasi
    means = (
        "That is no breach of the promise: the release shows everybody's quasi values, and a unique person's row is found by "
        "whoever knows her. What is then learned of her is her group, or a value that a coin may have replaced."
        if shows
        else "The release shows quasi values coarser than these, or apart, so that a row is not found as easily."
    )
    blocks: list[PageBlock] = [
        Prose([f"{alone:,} of {total:,} people ({percent(alone / total, 1)}) are the only one with their quasi values.", means]),
        ChartFigure(
            picture_svg(chart, title="People by how many share their quasi values", numbered="alike"),
            "People by how many have the same quasi values. On the left those who are alone.",
            Grid("The numbers", ("people alike", "people", "share"), rows, right=(1, 2)),
        ),
    ]
    if case.table is not None and case.table.bundles is None:
        risk = risk_of(case.table)
        blocks.append(Prose([*finding(risk, shown=shows), *([in_terms(risk)] if shows else [])]))
        blocks += [
            Note(f"{column.name} nearly determines the sensitive value: no bound covers such a link.", "careful")
            for column in risk.columns
            if column.determines
        ]
    return Section("unique", "Who is unique, and what that means", blocks)
