"""For a recipient: ask a release, in SQL or by choosing, and see answers with their intervals. Only the release is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from sfumato.studio.frame import failure, main_button, marked, opened, page, quietly, show_job
from sfumato.studio.jobs import Job, shell
from sfumato.studio.session import Session, names_of

if TYPE_CHECKING:
    from sfumato.release import Release

TABS = ("Ask", "Cross table", "Quality", "Completed tables", "Manifest")


def add(session: Session, address: str) -> None:
    """Add the page to the server."""

    @ui.page(address)
    async def ask() -> None:
        asked = _LastQuestions(session)
        with page(session, address, "Ask the release", asked.command):
            if not session.published:
                marked(ui.label("There is no release yet: publish one first.").classes("verdict"), mark="nothing")
                return
            if session.data is not None and not await opened(session):
                return
            await ui.context.client.connected(timeout=60)
            release = await quietly(session.release)
            if release is None:
                return
            with ui.tabs().classes("w-full") as tabs:
                names = {name: marked(ui.tab(name), mark=f"tab-{name}") for name in TABS}
            tabs.on_value_change(lambda event: asked.look(event.value))
            with ui.tab_panels(tabs, value=names["Ask"], animated=False).classes("w-full"):
                with ui.tab_panel(names["Ask"]):
                    await _question(release, asked)
                with ui.tab_panel(names["Cross table"]):
                    _cross(release, asked)
                with ui.tab_panel(names["Quality"]):
                    _quality(release, asked)
                with ui.tab_panel(names["Completed tables"]):
                    _completed(session, asked)
                with ui.tab_panel(names["Manifest"]):
                    _manifest(session, release)


class _LastQuestions:
    """What was asked last on each part of the page, as words of the command line."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.part = "Ask"
        self.words: dict[str, list[str]] = {"Quality": ["--quality"]}

    def look(self, part: Any) -> None:
        """Remember which part is looked at."""
        self.part = str(part)

    def command(self) -> str:
        """Return the command that does what this part of the page did, or would do."""
        release = self.session.release_name
        if self.part == "Completed tables":
            return shell(["sfumato", "complete", release, *self.words.get(self.part, ["--tables", "5"]), "--out", "completed"])
        if self.part == "Manifest":
            return shell(["sfumato", "audit", release])
        return shell(["sfumato", "query", release, *self.words.get(self.part, [])])


async def _question(release: Release, asked: _LastQuestions) -> None:
    # What answers questions is imported by those who ask: a publisher's first page need not wait for it.
    from sfumato.studio.answer_view import show_answer
    from sfumato.studio.question_form import QuestionForm

    form = await quietly(lambda: QuestionForm(release))
    if form is None:
        return

    async def answer(question: str) -> None:
        asked.words["Ask"] = [question]
        await _fill(place, lambda: release.count(question), show_answer)

    form.draw(answer)
    place = ui.column().classes("w-full q-mt-md")


async def _fill(place: Any, work: Callable[[], Any], show: Callable[[Any], None]) -> None:
    """Show in a place what some work gives; an error is told, and leaves it empty."""
    found = await quietly(work)
    place.clear()
    if found is not None:
        with place:
            show(found)


def _cross(release: Release, asked: _LastQuestions) -> None:
    from sfumato.studio.answer_view import show_crosstab

    quasi, sensitive = names_of(release, "quasi"), names_of(release, "sensitive")
    every = [*sensitive, *quasi]
    with ui.row().classes("items-end"):
        a = marked(ui.select(every, value=sensitive[0], label="values of").style("min-width: 12rem"), mark="cross-a")
        b = marked(ui.select(every, value=quasi[0], label="by").style("min-width: 12rem"), mark="cross-b")
        button = main_button("Show", mark="crosstab")
    place = ui.column().classes("w-full")

    async def make() -> None:
        asked.words["Cross table"] = ["--crosstab", f"{a.value},{b.value}"]
        await _fill(place, lambda: release.crosstab(a.value, b.value), show_crosstab)

    button.on_click(make)


def _quality(release: Release, asked: _LastQuestions) -> None:
    secrets = [str(name) for name in getattr(release, "secrets", ())]
    ui.label(
        "Learned: which part of a column's links with the secret the release tells. Settled: people whose group is alike in the "
        "column, so that nothing is guessed. Expected error: of a typical count, as part of it."
    ).classes("quiet")
    with ui.row().classes("items-end"):
        if secrets:
            secret = marked(ui.select(secrets, value=secrets[0], label="about").style("min-width: 12rem"), mark="quality-of")
        button = main_button("How well can it tell about each column?", mark="quality")
    place = ui.column().classes("w-full")

    def show(found: Any) -> None:
        shown = ui.html(found._repr_html_(), sanitize=False).classes("w-full").style("overflow-x: auto")
        marked(shown, mark="quality-shown")

    async def make() -> None:
        one: Any = release.of(secret.value) if secrets else release
        await _fill(place, one.quality, show)

    button.on_click(make)


def _completed(session: Session, asked: _LastQuestions) -> None:
    """Make completed tables by the command line, and offer them for download."""
    ui.label("Completed tables give every row a value, as the release makes it likely. Analyse each, and combine the results.")
    number = ui.number("how many", value=5, min=1, max=20, precision=0).props("outlined dense").style("width: 8rem")
    marked(number, mark="tables")
    place = session.workshop / "completed"

    def start() -> None:
        words = ["--tables", str(int(number.value or 5))]
        asked.words["Completed tables"] = words
        running = session.jobs.get("complete")
        if running is None or not running.running:
            shutil.rmtree(place, ignore_errors=True)
        session.start("complete", ["complete", str(session.release_place()), *words, "--out", str(place)])

    main_button("Make them", on_click=start, mark="complete")
    shown = ui.column()

    def finished(job: Job) -> None:
        shown.clear()
        with shown:
            if not job.succeeded:
                marked(ui.label(failure(job)).classes("bad"), role="status")
                return
            for file in sorted(place.glob("*.parquet")):
                load = ui.button(file.name, icon="download", on_click=lambda file=file: ui.download.file(file)).props(
                    "flat no-caps"
                )
                marked(load, mark="download")

    show_job(lambda: session.jobs.get("complete"), finished)


def _manifest(session: Session, release: Release) -> None:
    manifest = release.manifest
    ui.label(f"{release.rows:,} people, in the form {release.form}.").classes("verdict")
    for claim in release.claims:
        marked(ui.label(claim.statement), mark="claim")
    if not release.claims:
        ui.label("It claims no bound on what a reader may believe.").classes("bad")
    ui.label("What that does not promise stands in the guide under “what is not promised”.").classes("quiet")
    basis = f"; records were grouped on the basis {manifest.basis}" if manifest.basis else ""
    ui.label(f"Made by the method {manifest.method['name']}{basis}, with {manifest.software or 'an unknown version'}.")
    if manifest.reproducible:
        ui.label("It was made with a seed: whoever guesses the seed can undo it.").classes("bad")
    listed = [
        (role, column["name"], column.get("kind", "")) for role in ("quasi", "sensitive") for column in manifest.schema[role]
    ]
    rows = [{"column": name, "role": role, "kind": kind, "published": _published(manifest, name)} for role, name, kind in listed]
    columns = [{"name": name, "label": name, "field": name, "align": "left"} for name in rows[0]]
    marked(ui.table(columns=columns, rows=rows, row_key="column").classes("w-full").props("dense flat"), mark="columns")
    with ui.expansion("manifest.json").classes("w-full"):
        text = json.dumps(
            json.loads((session.release_place() / "manifest.json").read_text("utf-8")), indent=2, ensure_ascii=False
        )
        ui.code(text[:200_000], language="json").classes("w-full")


def _published(manifest: Any, name: str) -> str:
    """Return how a column is coarser than it came."""
    for section in ("recode", "bins"):
        rule = (manifest.schema.get("declared", {}).get(section) or {}).get(name)
        if rule is not None:
            words = rule if isinstance(rule, dict) else {"edges": rule}
            if "map" in words:
                return f"{len(words['map'])} values put together"
            return ", ".join(f"{key} = {value}" for key, value in words.items())
    return "as it came"
