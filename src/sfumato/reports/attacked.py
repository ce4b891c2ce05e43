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
    done = [result for result in results if not result.refused and result.success is not None]
    broken = [result for result in results if result.verdict == "refuted"]
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
    tried = {result.attack for result in results}
    adversaries: dict[str, Any] = {**ATTACKS, **(HELD if case.release.manifest.bundled else {})}
    blocks.append(
        Definitions(
            [
                (f"{name} ({adversary.knows})", f"She {adversary.says}.")
                for name, adversary in adversaries.items()
                if name in tried
            ]
        )
    )
    left = [f"{result.name}: not done, {_plain(result.refused)}." for result in results if result.refused]
    blocks += [Prose(left)] if left else []
    return Section("attacks", "What attacks reach", blocks)


def _beyond(done: Sequence[AttackResult]) -> str:
    """Return what the best of those who learn links reaches, against whom nothing is promised; "" where none beats guessing."""
    best = max(
        (result for result in done if result.knows == "statistician"), key=lambda result: result.success or 0.0, default=None
    )
    counting = [result for result in done if result.knows == "counter" and result.over]
    if counting:
        most = max(counting, key=lambda result: result.over or 0.0)
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
    for result in done:
        shares = (result.success or 0.0, result.baseline, result.mean_belief, result.largest_belief)
        shown = ("" if share is None else percent(share, 1) for share in shares)
        rows.append((result.name, result.knows, *shown, VERDICTS[result.verdict]))
    headings = ("attack", "knows as much as a", "right for", "guessing", "mean belief", "largest belief", "promise")
    return Grid("The numbers", headings, rows, right=(2, 3, 4, 5))


def _drawn(done: Sequence[AttackResult]) -> str:
    alt = altair()
    data = [
        {"attack": result.name, "success": result.success, "baseline": result.baseline, "verdict": result.verdict}
        for result in done
    ]
    base = alt.Chart(alt.Data(values=data)).encode(
        y=alt.Y("attack:N", sort=[str(row["attack"]) for row in data], title=None, axis=alt.Axis(labelLimit=320))
    )
    x = alt.X(
        "success:Q", title="people whose value is named", axis=alt.Axis(format="~%", tickCount=6), scale=alt.Scale(zero=True)
    )
    shades = alt.Scale(domain=list(VERDICTS), range=[colour(0), colour(7), colour(4)])
    bars = base.mark_bar(height=11, opacity=0.85).encode(x=x, color=alt.Color("verdict:N", scale=shades, legend=None))
    marks = base.mark_tick(color=colour(1), thickness=3, size=20).encode(x="baseline:Q")
    chart = alt.layer(bars, marks).properties(width=400, height=26 * len(data))
    return picture_svg(chart, title="What each attack reaches, beside guessing", numbered="attacks")
