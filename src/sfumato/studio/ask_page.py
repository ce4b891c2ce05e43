"""For a recipient: ask a release, in SQL or by choosing, and see answers with their intervals. Only the release is read."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from sfumato.query.answer import Estimate
from sfumato.studio.frame import page, quietly
from sfumato.studio.jobs import Job
from sfumato.studio.session import Session, names_of

SHOWN = 60


def add(session: Session, address: str) -> None:
    """Add the page to the server."""

    @ui.page(address)
    async def ask() -> None:
        asked = {"sql": ""}
        with page(session, address, "Ask the release", lambda: _command(session, asked["sql"])):
            if not (session.release_place() / "manifest.json").is_file():
                ui.label("There is no release yet: publish one first.").classes("verdict")
                return
            await ui.context.client.connected(timeout=60)
            release = await quietly(lambda: session.release)
            if release is None:
                return
            with ui.tabs().classes("w-full") as tabs:
                names = {name: ui.tab(name) for name in ("Ask", "Cross table", "Quality", "Completed tables", "Manifest")}
            with ui.tab_panels(tabs, value=names["Ask"]).classes("w-full"):
                with ui.tab_panel(names["Ask"]):
                    _question(release, asked)
                with ui.tab_panel(names["Cross table"]):
                    _cross(release)
                with ui.tab_panel(names["Quality"]):
                    await _quality(release)
                with ui.tab_panel(names["Completed tables"]):
                    _completed(session)
                with ui.tab_panel(names["Manifest"]):
                    _manifest(release)


def _command(session: Session, sql: str) -> str:
    place = session.release_place()
    shown = place.relative_to(session.root) if session.root in place.parents else place
    return f'sfumato query {shown} "{sql or "age >= 60"}"'


def _question(release: Any, asked: dict[str, str]) -> None:
    quasi, sensitive = names_of(release, "quasi"), names_of(release, "sensitive")
    names = [*quasi, *sensitive]
    with ui.row().classes("w-full items-end"):
        column = ui.select(names, value=sensitive[0], label="column").style("min-width: 12rem")
        value = (
            ui.select(_values(release, sensitive[0]), label="value", with_input=True)
            .style("min-width: 14rem")
            .props('data-mark="value"')
        )
        split = ui.select(["", *quasi], value="", label="for each").style("min-width: 10rem")
        compose = ui.button("Put into the question").props("outline").props('data-mark="compose"')
    column.on_value_change(lambda event: value.set_options(_values(release, event.value), value=None))
    words = [
        *names,
        *(f"'{text}'" for text in _values(release, sensitive[0])),
        "SELECT",
        "COUNT(*)",
        "WHERE",
        "AND",
        "GROUP BY",
        "BETWEEN",
    ]
    sql = ui.input("question", autocomplete=words).classes("w-full").props("outlined").props('data-mark="sql"')
    compose.on_click(lambda: _compose(sql, column.value, value.value, split.value))
    with ui.column().classes("w-full") as place:
        pass

    async def answer() -> None:
        asked["sql"] = sql.value or ""
        found = await quietly(lambda: release.count(sql.value or ""))
        place.clear()
        if found is not None:
            with place:
                _show(found)

    sql.on("keydown.enter", answer)
    ui.button("Ask", on_click=answer, icon="help_outline").props('data-mark="ask"')


def _values(release: Any, name: str) -> list[str]:
    for column in getattr(release, "quasi", ()):
        if getattr(column, "name", None) == name:
            return list(column.labels())
    return list(release.labels) if hasattr(release, "labels") else []


def _compose(sql: Any, column: str, value: str | None, split: str) -> None:
    condition = f"{column} = '{str(value).replace(chr(39), chr(39) * 2)}'" if value is not None else ""
    if split:
        sql.value = (
            f"SELECT {split}, COUNT(*) WHERE {condition} GROUP BY {split}"
            if condition
            else f"SELECT {split}, COUNT(*) GROUP BY {split}"
        )
    else:
        sql.value = condition


def _show(answer: Any) -> None:
    """Show one answer, or a row for each group, as points with bars."""
    if isinstance(answer, Estimate):
        ui.label(f"{answer.value:,.1f}").classes("verdict").props('role="status"').props('data-mark="answer"')
        span = "no interval" if answer.low is None else f"{answer.low:,.0f} to {answer.high:,.0f}"
        ui.label(f"{span} (standard error {answer.std_error:,.1f})" if answer.std_error is not None else span)
        for note in getattr(answer, "notes", ()) or ():
            ui.label(note).classes("quiet")
        return
    rows = answer.to_arrow().to_pylist()[:SHOWN]
    keys = [name for name in rows[0] if name not in ("count", "std_error", "low", "high")] if rows else []
    names = [", ".join(str(row[key]) for key in keys) for row in rows]
    ui.echart(_points(names, rows)).style(f"height: {80 + 26 * len(rows)}px; width: 100%").props(
        'role="img" aria-label="answers with intervals"'
    )
    columns = [{"name": name, "label": name, "field": name, "align": "left"} for name in (rows[0] if rows else ())]
    shown = [{**{key: _round(value) for key, value in row.items()}, "id": number} for number, row in enumerate(rows)]
    ui.table(columns=columns, rows=shown, row_key="id").classes("w-full").props("dense flat").props('data-mark="answer"')


def _round(value: Any) -> Any:
    return round(value, 1) if isinstance(value, float) else value


def _points(names: list[str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    bars = [[row["low"], k] for k, row in enumerate(rows) if row.get("low") is not None]
    lines = [
        {
            "type": "line",
            "data": [[row["low"], k], [row["high"], k]],
            "symbol": "none",
            "lineStyle": {"color": "#7a6f5d", "width": 3},
            "silent": True,
        }
        for k, row in enumerate(rows)
        if row.get("low") is not None
    ]
    measured = next((name for name in ("count", "value") if rows and name in rows[0]), "count")
    points = {
        "type": "scatter",
        "data": [[row[measured], k] for k, row in enumerate(rows)],
        "symbolSize": 10,
        "itemStyle": {"color": "#4a6a86"},
    }
    return {
        "animation": False,
        "grid": {"left": 160, "right": 30, "top": 10, "bottom": 40},
        "tooltip": {},
        "xAxis": {"type": "value", "min": 0 if bars else None},
        "yAxis": {"type": "category", "data": names, "inverse": True},
        "series": [*lines, points],
    }


def _cross(release: Any) -> None:
    quasi, sensitive = names_of(release, "quasi"), names_of(release, "sensitive")
    with ui.row().classes("items-end"):
        a = ui.select([*sensitive], value=sensitive[0], label="values of").style("min-width: 12rem")
        b = ui.select([*quasi], value=quasi[0], label="by").style("min-width: 12rem")
    with ui.column().classes("w-full") as place:
        pass

    async def make() -> None:
        found = await quietly(lambda: release.crosstab(a.value, b.value))
        place.clear()
        if found is not None:
            with place:
                ui.html(found._repr_html_(), sanitize=False).classes("w-full").style("overflow-x: auto")

    ui.button("Show", on_click=make).props('data-mark="crosstab"')


async def _quality(release: Any) -> None:
    with ui.column().classes("w-full") as place:
        pass

    async def make() -> None:
        found = await quietly(release.quality)
        place.clear()
        if found is not None:
            with place:
                ui.html(found._repr_html_(), sanitize=False).classes("w-full").style("overflow-x: auto")

    ui.button("How well can it tell about each column?", on_click=make).props('data-mark="quality"')


def _completed(session: Session) -> None:
    """Make completed tables by the command line, and offer them for download."""
    from sfumato.studio.frame import failure, show_job

    ui.label("Completed tables give every row a value, as the release makes it likely. Analyse each, and combine the results.")
    number = ui.number("how many", value=5, min=1, max=20, precision=0).props("outlined dense")
    place = session.workshop / "completed"

    def start() -> None:
        import shutil

        shutil.rmtree(place, ignore_errors=True)
        session.start(
            "complete", ["complete", str(session.release_place()), "--tables", str(int(number.value)), "--out", str(place)]
        )

    ui.button("Make them", on_click=start).props('data-mark="complete"')
    with ui.column() as shown:
        pass

    def finished(job: Job) -> None:
        shown.clear()
        with shown:
            if not job.succeeded:
                ui.label(failure(job))
                return
            for file in sorted(place.glob("*.parquet")):
                ui.button(file.name, icon="download", on_click=lambda file=file: ui.download(file)).props("flat")

    show_job(lambda: session.jobs.get("complete"), finished)


def _manifest(release: Any) -> None:
    manifest = release.manifest
    ui.label(f"{release.rows:,} people, in the form {release.form}.").classes("verdict")
    for claim in release.claims:
        ui.label(claim.statement)
    ui.label("What that does not promise: see “what is not promised” in the guide.").classes("quiet")
    ui.label(f"Made by the method {manifest.method['name']}; people were put together on the basis {manifest.basis}.")
    if manifest.reproducible:
        ui.label("It was made with a seed: whoever guesses the seed can undo it.").classes("text-negative")
