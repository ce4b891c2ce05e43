"""What adversaries reach who try: each attack beside what guessing reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sfumato.attacks import ATTACKS, AttackResult, attack
from sfumato.attacks.held import HELD
from sfumato.charts import altair, picture_svg
from sfumato.charts.svg import colour
from sfumato.errors import PolicyError
from sfumato.exact import percent
from sfumato.progress import Progress
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import ChartFigure, Definitions, Grid, Note, PageBlock, Prose, Section

CAPTION = "Share of people whose value an attack names. Blue: by somebody against whom there is a promise. Thick mark: guessing."

VERDICTS = {
    "claimed": "within what is promised",
    "not claimed": "nothing is promised against her",
    "refuted": "breaks a promise",
}


def attacked(case: ReportCase, names: Sequence[str] | None, progress: Progress) -> Section | None:
    """Return what each attack reaches; nothing without the table, which judges them."""
    if case.table is None or (names is not None and not names):
        return None
    try:
        results = attack(case.release, case.table, names, random=0, progress=progress)
    except PolicyError as error:
        if not case.several:
            raise
        return Section("attacks", "What attacks reach", [Prose([f"Not measured: {error.message}."])])
    done = [one for one in results if not one.refused and one.success is not None]
    broken = [one for one in results if one.verdict == "refuted"]
    blocks: list[PageBlock] = [
        Prose(
            [
                "Each attack was tried on the release and judged by the table. A guess means naming the most frequent value for "
                "everybody, which needs no release; only what an attack reaches above it comes from the release. An attack "
                "that learns links between columns reaches much the same for people who are not in the table. Somebody who knows "
                "the sensitive values of others in a group is an insider: groups without noise promise nothing against her."
            ]
        ),
        Note("An attack breaks a promise: this release must not stay published.", "bad")
        if broken
        else Note("No attack breaks a promise.", "good")
        if case.release.claims
        else Note("Nothing is promised that an attack could break.", "careful"),
    ]
    if beyond := _beyond(done):
        blocks.append(Note(beyond, "careful"))
    if done:
        blocks.append(ChartFigure(_drawn(done), CAPTION, _numbers(done)))
    tried = {one.attack for one in results}
    adversaries: dict[str, Any] = {**ATTACKS, **(HELD if case.release.manifest.bundled else {})}
    blocks.append(
        Definitions([(f"{name} ({one.knows})", f"She {one.says}.") for name, one in adversaries.items() if name in tried])
    )
    left = [f"{one.name}: not done, {_plain(one.refused)}." for one in results if one.refused]
    blocks += [Prose(left)] if left else []
    return Section("attacks", "What attacks reach", blocks)


def _beyond(done: Sequence[AttackResult]) -> str:
    """Return what the best of those who learn links reaches, against whom nothing is promised; "" where none beats guessing."""
    best = max((one for one in done if one.knows == "statistician"), key=lambda one: one.success or 0.0, default=None)
    counting = [one for one in done if one.knows == "counter" and one.over]
    if counting:
        most = max(counting, key=lambda one: one.over or 0.0)
        knows = most.attack.replace("number-of-", "how many ")
        return (
            f"Not promised, and reached: of {percent(most.over or 0.0, 1)} of people somebody who knows {knows} everybody has "
            "believes something more firmly than its bound."
        )
    if best is None or best.verdict != "not claimed" or best.baseline is None or (best.success or 0.0) <= best.baseline:
        return ""
    text = f"Not promised, and reached: somebody who learns how columns go together ({best.name}) names the value of "
    text += f"{percent(best.success or 0.0, 1)} of people; guessing names {percent(best.baseline, 1)}."
    if best.over:
        text += f" Of {percent(best.over, 1)} of people she believes something more firmly than its bound."
    return text


def _plain(why: str) -> str:
    """Return a reason without what to type instead."""
    return re.sub(r" \([^()]*(?:=…|--)[^()]*\)", "", why)


def _numbers(done: Sequence[AttackResult]) -> Grid:
    rows = []
    for one in done:
        shares = (one.success or 0.0, one.baseline, one.mean_belief, one.largest_belief)
        shown = ("" if share is None else percent(share, 1) for share in shares)
        rows.append((one.name, one.knows, *shown, VERDICTS[one.verdict]))
    headings = ("attack", "knows as much as a", "right for", "guessing", "mean belief", "largest belief", "promise")
    return Grid("The numbers", headings, rows, right=(2, 3, 4, 5))


def _drawn(done: Sequence[AttackResult]) -> str:
    alt = altair()
    data = [{"attack": one.name, "success": one.success, "baseline": one.baseline, "verdict": one.verdict} for one in done]
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("attack:N", sort=[str(one["attack"]) for one in data], title=None, axis=alt.Axis(labelLimit=320))
    )
    x = alt.X(
        "success:Q", title="people whose value is named", axis=alt.Axis(format="~%", tickCount=6), scale=alt.Scale(zero=True)
    )
    shades = alt.Scale(domain=list(VERDICTS), range=[colour(0), colour(7), colour(4)])
    bars = base.mark_bar(height=11, opacity=0.85).encode(x=x, color=alt.Color("verdict:N", scale=shades, legend=None))
    marks = base.mark_tick(color=colour(1), thickness=3, size=20).encode(x="baseline:Q")
    chart = alt.layer(bars, marks).properties(width=400, height=26 * len(data))
    return picture_svg(chart, title="What each attack reaches, beside guessing", numbered="attacks")
