"""Page 3, the trade: error against exposure for several methods and bounds, filled in as results arrive."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.exact import percent
from sfumato.studio.frame import COLORS, LINES, TEXT, failure, heading, main_button, marked, opened, page, say, show_job
from sfumato.studio.jobs import Job, shell
from sfumato.studio.session import POLICY, Session

METHODS = "boxes,near-groups,multi-size,anatomy,mondrian"
THETAS = "2,4,8,16"
PEOPLE = 20_000
"""A study of so many people takes minutes, and shows the same trade."""


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/trade")
    async def trade() -> None:
        with page(session, "/trade", "What a bound costs", lambda: shell(["sfumato", *_words(session)])):
            if await opened(session):
                _Trade(session).show()


def _words(session: Session) -> list[str]:
    """Return the command without the place where results are kept meanwhile."""
    words = ["compare", session.data_name, "--policy", POLICY, "--people", str(PEOPLE)]
    if session.policy.requirement().get("model") == "f-privacy" and not session.policy.secrets():
        words += ["--vary", f"theta={THETAS}"]
    if session.policy.requirement().get("against") != "insider":
        words += ["--methods", METHODS]
    return words


LEAST = 1 / 64
"""The least relative error that is drawn: nothing is left of a logarithm at 0."""


class _Trade:
    """The picture, the table and the typical questions on one tab."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.place = session.workshop / "study"
        self.runs: list[dict[str, Any]] = []

    def show(self) -> None:
        """Draw the places, and fill them as results arrive."""
        ui.label(
            "Each point is a release that was made and measured, and thrown away. Lower: its answers are better. Further left: "
            "readers are less sure. The ringed one is your policy; click another, or take it in the table, to take its settings."
        )
        main_button("Compare", on_click=self.start, icon="insights", mark="compare")
        show_job(lambda: self.session.jobs.get("compare"), self.finished)
        self.chart = ui.echart(_options([]), on_point_click=self.clicked).style("height: 420px; width: 100%")
        marked(self.chart, role="img", mark="trade", label="error of counts against exposure, one line a method; a table follows")
        self.outcome = ui.column().classes("w-full").style("gap: 8px")
        self.taken = marked(ui.label().classes("verdict"), mark="taken", role="status")
        self.typical = ui.column().classes("w-full").style("gap: 8px")
        self.table = ui.column().classes("w-full")
        ui.timer(1.0, self.arrive)

    def start(self) -> None:
        """Save the policy and begin."""
        try:
            self.session.parsed()
            self.session.save_policy()
        except Exception as error:
            say(error)
            return
        self.outcome.clear()
        self.session.start("compare", [*_words(self.session), "--out", str(self.place), "--json"])

    def arrive(self) -> None:
        """Show what has arrived so far."""
        job = self.session.jobs.get("compare")
        if job is not None and job.running:
            found = _so_far(self.place)
            if len(found) != len(self.runs):
                self.draw(found)

    def finished(self, job: Job) -> None:
        """Show the whole study, or why there is none."""
        self.outcome.clear()
        if not job.succeeded:
            with self.outcome:
                marked(
                    ui.label(failure(job)).classes("verdict bad").style("white-space: pre-wrap"), mark="outcome", role="status"
                )
            return
        study = job.document
        with self.outcome:
            for sentence in study["about"]:
                ui.label(sentence)
        self.draw(study["runs"])

    def draw(self, runs: list[dict[str, Any]]) -> None:
        """Draw the runs, with one's own choice ringed, and its typical questions."""
        self.runs = runs
        mine = [self.is_choice(run) for run in runs]
        self.chart.options.clear()
        self.chart.options.update(_options([{**run, "mine": own} for run, own in zip(runs, mine, strict=True)]))
        self.chart.update()
        self.table.clear()
        with self.table:
            self._table(mine)
        self.typical.clear()
        with self.typical:
            for run, own in zip(runs, mine, strict=True):
                if own and run.get("typical"):
                    _typical(run)

    def is_choice(self, run: dict[str, Any]) -> bool:
        """Return whether a run is what the policy says now."""
        chosen = self.session.policy.method_name()
        if run.get("error") is None or (run.get("method") != chosen if chosen else not run.get("own")):
            return False
        now = self.session.policy.requirement()
        return all(name in now and _number(now[name]) == _number(value) for name, value in _varied(run).items())

    def clicked(self, event: Any) -> None:
        """Take the settings of the point that was clicked."""
        key = (event.data or {}).get("key") if isinstance(event.data, dict) else None
        if key is not None:
            self.take(str(key))

    def take(self, key: str) -> None:
        """Take the method and the bounds of a run into the policy: the one that was shown, wherever it stands by now."""
        run = next((one for one in self.runs if _key(one) == key), None)
        if run is None:
            return
        self.session.policy.require(**{name: _plain(value) for name, value in _varied(run).items()})
        if not (run.get("own") and self.session.policy.method_name() is None):
            self.session.policy.method(name=run["method"])
        self.taken.set_text(
            f"Your policy is now {_name(run)}. That is a choice made on the data: a claim does not cover what it tells."
        )
        self.draw(self.runs)

    def _table(self, mine: list[bool]) -> None:
        fields = {"method": "method", "varied": "bounds", "error": "error", "exposure": "exposure", "note": "", "take": ""}
        columns = [
            {"name": name, "label": label, "field": name, "align": "left", "sortable": name in ("method", "error", "exposure")}
            for name, label in fields.items()
        ]
        rows = [
            {
                "id": _key(run),
                "method": run["method"],
                "varied": ", ".join(f"{name} = {value}" for name, value in _varied(run).items()),
                "error": _share(run.get("error")),
                "exposure": _share(run.get("exposure")),
                "note": "your policy" if mine[number] else run.get("note") or "",
                "can": run.get("error") is not None and not mine[number] and _is_claim(run),
                "said": _name(run),
            }
            for number, run in enumerate(self.runs)
            if run.get("method")
        ]
        if not rows:
            return
        heading("Every release that was measured")
        table = ui.table(columns=columns, rows=rows, row_key="id", pagination=25).classes("w-full").props("dense flat wrap-cells")
        marked(table, mark="runs")
        table.add_slot(
            "body-cell-take",
            """<q-td :props="props"><q-btn v-if="props.row.can" dense flat no-caps label="Take"
            :aria-label="'take ' + props.row.said" :data-mark="'take ' + props.row.said"
            @click="() => $parent.$emit('take', props.row.id)" /></q-td>""",
        )
        table.on("take", lambda event: self.take(str(event.args)))


def _typical(run: dict[str, Any]) -> None:
    """Show the truth beside what this release would have answered."""
    heading(f"Typical questions, answered by {_name(run)}")
    columns = [
        {"name": name, "label": label, "field": name, "align": "left" if name == "question" else "right"}
        for name, label in {"question": "people with", "truth": "truth", "answer": "release", "ends": "95 % interval"}.items()
    ]
    rows = [
        {
            "question": one["question"],
            "truth": f"{one['truth']:,}",
            "answer": f"{one['answer']:,.0f}",
            "ends": "none" if one["low"] is None else f"{one['low']:,.0f} to {one['high']:,.0f}",
        }
        for one in run["typical"]
    ]
    marked(
        ui.table(columns=columns, rows=rows, row_key="question").classes("w-full").props("dense flat wrap-cells"), mark="typical"
    )


def _so_far(place: Path) -> list[dict[str, Any]]:
    """Return the runs that have ended, each with what it is of."""
    found = []
    for file in sorted((place / "runs").glob("*.json")):
        try:
            run = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            continue  # it is just being put there
        found.append({**run, **run.get("of", {})})
    return found


_INDEPENDENCE = {
    "silent": True,
    "symbol": "none",
    "lineStyle": {"color": TEXT["color"], "type": "dashed"},
    "label": {"formatter": "knowing only shares", "position": "insideEndTop", **TEXT},
    "data": [{"yAxis": 1}],
}
"""Above this line a release tells nothing about links."""


def _options(runs: list[dict[str, Any]]) -> dict[str, Any]:
    lines: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        if run.get("error") is None or run.get("exposure") is None or not run.get("independence"):
            continue
        lines.setdefault(run.get("method", "measured"), []).append(
            {
                "value": [round(run["exposure"], 5), max(LEAST, round(run["error"] / run["independence"], 4))],
                "name": _name(run),
                "key": _key(run),
                "symbolSize": 20 if run.get("mine") else 11,
                "itemStyle": {"borderColor": COLORS[1], "borderWidth": 4} if run.get("mine") else {},
            }
        )
    series = [
        {
            "type": "line",
            "name": name,
            "data": sorted(points, key=lambda point: float(point["value"][0])),
            "symbol": "circle",
            "showAllSymbol": True,
            "color": COLORS[place % len(COLORS)],
        }
        for place, (name, points) in enumerate(sorted(lines.items()))
    ]
    axis = {"nameLocation": "middle", "axisLabel": TEXT, "nameTextStyle": TEXT, "splitLine": LINES}
    if series:
        series[0]["markLine"] = _INDEPENDENCE
    heights = [float(point["value"][1]) for points in lines.values() for point in points]
    low, high = (
        2.0 ** round_to(math.log2(end))
        for round_to, end in ((math.floor, min(heights, default=0.5)), (math.ceil, max(heights, default=1.0)))
    )
    return {
        "animation": False,
        "legend": {"top": 0, "textStyle": TEXT},
        "tooltip": {"trigger": "item", "confine": True, "formatter": "{b}<br>exposure and relative error: {c}"},
        "grid": {"left": 64, "right": 24, "top": 40, "bottom": 50},
        "xAxis": {
            **axis,
            "type": "value",
            "scale": True,
            "name": "exposure: how sure readers become of the truth, on average",
            "nameGap": 30,
            "axisLabel": {**TEXT, ":formatter": "share => +(100 * share).toFixed(1) + ' %'"},
        },
        "yAxis": {  # each line twice the error of the one below: a method that errs much squeezes nobody
            **axis,
            "type": "log",
            "logBase": 2,
            "min": min(low, 0.5),
            "max": max(high, 2.0),
            "name": "error ÷ that of knowing only shares",
            "nameGap": 42,
        },
        "series": series,
    }


def _varied(run: dict[str, Any]) -> dict[str, Any]:
    varied = run.get("varied")
    return dict(varied) if isinstance(varied, dict) else {}


def _key(run: dict[str, Any]) -> str:
    """Return what tells a run from the others: results arrive in any order, so that its place does not."""
    return json.dumps([run.get(name) for name in ("method", "varied", "own", "policy")], sort_keys=True, default=str)


def _name(run: dict[str, Any]) -> str:
    words = ", ".join(f"{name} = {value}" for name, value in _varied(run).items())
    return f"{run.get('method', '')} {words}".strip()


def _is_claim(run: dict[str, Any]) -> bool:
    """Return whether a run kept the policy's own kind of bound, so that its settings can be taken."""
    return not run.get("translated") and run.get("form") != "synthetic"


def _share(value: float | None) -> str:
    return "" if value is None else percent(value, 1)


def _number(value: Any) -> Fraction | str:
    try:
        return Fraction(str(value))
    except ValueError:
        return str(value)


def _plain(value: Any) -> Any:
    """Return a parameter as people write it: numbers as numbers, but for fractions."""
    try:
        return value if isinstance(value, bool) else int(value) if float(value) == int(float(value)) else float(value)
    except ValueError:
        return str(value)
