"""Page 3, the trade: error against exposure for several methods and bounds, filled in as results arrive."""

from __future__ import annotations

import json
from typing import Any

from nicegui import ui

from sfumato.exact import percent
from sfumato.studio.frame import failure, page, show_job
from sfumato.studio.jobs import Job
from sfumato.studio.session import POLICY, Session

METHODS = "boxes,near-groups,multi-size,anatomy,mondrian"
THETAS = "2,4,8,16"
PEOPLE = 20_000
"""A study of so many people takes minutes, and shows the same trade."""


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/trade")
    def trade() -> None:
        with page(session, "/trade", "What a bound costs", lambda: "sfumato " + " ".join(_words(session))):
            ui.label(
                "Each point is a release that was made and measured, and thrown away: how wrong its answers are, and how sure "
                "its readers become."
            )
            ui.button("Compare", on_click=lambda: _start(session), icon="insights").props('data-mark="compare"')
            chart = ui.echart(_options([]), on_point_click=lambda event: _take(session, event)).style(
                "height: 420px; width: 100%"
            )
            chart.props('role="img" aria-label="error of counts against exposure, one line a method"')
            with ui.column().classes("w-full") as outcome:
                pass

            def arrive() -> None:
                job = session.jobs.get("compare")
                if job is not None and job.running:
                    _draw(chart, _so_far(session))

            def finished(job: Job) -> None:
                outcome.clear()
                with outcome:
                    if not job.succeeded:
                        ui.label(failure(job)).classes("verdict text-negative").props('role="status"').style(
                            "white-space: pre-wrap"
                        )
                        return
                    study = job.document
                    _draw(chart, study["runs"])
                    for sentence in study["about"]:
                        ui.label(sentence)
                    _table(study["runs"])

            ui.timer(1.0, arrive)
            show_job(lambda: session.jobs.get("compare"), finished)


def _words(session: Session) -> list[str]:
    assert session.data is not None
    words = [
        "compare",
        str(session.data.relative_to(session.root)),
        "--policy",
        POLICY,
        "--people",
        str(PEOPLE),
        "--out",
        str(_place(session)),
    ]
    if session.policy.requirement().get("model") == "f-privacy":
        words += ["--vary", f"theta={THETAS}"]
    if session.policy.requirement().get("against") != "insider":
        words += ["--methods", METHODS]
    return words


def _place(session: Session) -> Any:
    return session.workshop / "study"


def _start(session: Session) -> None:
    session.save_policy()
    session.start("compare", [*_words(session), "--json"])


def _so_far(session: Session) -> list[dict[str, Any]]:
    found = []
    for file in sorted((_place(session) / "runs").glob("*.json")):
        try:
            run = json.loads(file.read_text("utf-8"))
            found.append({**run, **run.get("of", {})})
        except (OSError, ValueError):
            continue
    return found


def _draw(chart: Any, runs: list[dict[str, Any]]) -> None:
    chart.options.clear()
    chart.options.update(_options(runs))
    chart.update()


def _options(runs: list[dict[str, Any]]) -> dict[str, Any]:
    lines: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        if run.get("error") is None or run.get("exposure") is None or not run.get("independence"):
            continue
        varied = run.get("varied") or {}
        words = ", ".join(f"{name} = {value}" for name, value in varied.items()) if isinstance(varied, dict) else str(varied)
        own = bool(run.get("own") and run.get("policy"))
        lines.setdefault(run.get("method", "measured"), []).append(
            {
                "value": [run["exposure"], run["error"] / run["independence"]],
                "name": f"{run.get('method', '')} {words}".strip(),
                "varied": varied if isinstance(varied, dict) else {},
                "symbolSize": 18 if own else 10,
                "itemStyle": {"borderColor": "#000", "borderWidth": 3 if own else 0},
            }
        )
    series = [{"type": "line", "name": name, "data": sorted(points, key=_exposure)} for name, points in sorted(lines.items())]
    return {
        "animation": False,
        "legend": {"top": 0},
        "tooltip": {"trigger": "item"},
        "grid": {"left": 70, "right": 20, "top": 40, "bottom": 55},
        "xAxis": {
            "type": "value",
            "name": "exposure: how sure readers become on average",
            "nameLocation": "middle",
            "nameGap": 30,
            "scale": True,
        },
        "yAxis": {
            "type": "value",
            "name": "error ÷ that of knowing only shares",
            "nameLocation": "middle",
            "nameGap": 45,
            "min": 0,
        },
        "series": series,
    }


def _exposure(point: Any) -> float:
    return float(point["value"][0])


def _take(session: Session, event: Any) -> None:
    """Take the bound of a point that was clicked."""
    varied = dict((event.data or {}).get("varied", {}))
    theta = varied.get("theta")
    if theta is None:
        return
    session.policy.require(theta=float(theta))
    ui.notify(f"theta is {theta} now. Choosing by results is a choice made on the data.", type="warning")


def _table(runs: list[dict[str, Any]]) -> None:
    columns = [
        {"name": name, "label": name, "field": name, "align": "left", "sortable": True}
        for name in ("method", "varied", "error", "exposure", "note")
    ]
    rows = [
        {
            "id": number,
            "method": run["method"],
            "varied": ", ".join(f"{name} = {value}" for name, value in (run.get("varied") or {}).items()),
            "error": "" if run.get("error") is None else percent(run["error"], 1),
            "exposure": "" if run.get("exposure") is None else percent(run["exposure"], 1),
            "note": run.get("note") or "",
        }
        for number, run in enumerate(runs)
    ]
    ui.table(columns=columns, rows=rows, row_key="id", pagination=20).classes("w-full").props("dense flat")
