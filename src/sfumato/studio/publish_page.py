"""Page 4, publish: once, with progress and a way to stop; then the audit, attacks and the report, and a look at the boxes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.studio.frame import failure, heading, main_button, marked, opened, page, quietly, say, show_job
from sfumato.studio.jobs import Job, shell
from sfumato.studio.session import POLICY, Session, below, names_of

CHECKS = ("audit", "attack", "report")


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/publish")
    async def publish() -> None:
        with page(session, "/publish", "Publish once", lambda: shell(["sfumato", *_words(session)])):
            if not await opened(session):
                return
            _start(session)
            with ui.column().classes("w-full") as outcome:
                pass

            async def finished(job: Job) -> None:
                outcome.clear()
                with outcome:
                    await _outcome(session, job)

            show_job(lambda: session.jobs.get("publish"), finished)
            if session.jobs.get("publish") is None and session.published:
                with outcome:
                    ui.label(f"{session.release_name} was published before.").classes("verdict")
                    await _after(session)


def _words(session: Session) -> list[str]:
    return ["publish", session.data_name, "--policy", POLICY, "--out", session.out]


def _start(session: Session) -> None:
    if not session.policy.reviewed:
        words = "Nothing is published while a column has not been looked at: go back to the table, and say that you have."
        marked(ui.label(words).classes("verdict bad"), role="status")
        ui.link("To the table", "/")
    ui.label(
        "Whatever you change after you have seen a release is a choice made on the data, and two "
        "releases can be laid over each other."
    )
    name = ui.input("new directory for the release", value=session.out).props("outlined dense").style("width: 20rem")
    marked(name, mark="out")

    def start() -> None:
        try:
            below(session.root, name.value)
            session.parsed()
        except Exception as error:
            say(error)
            return
        session.out = name.value.strip()
        session.save_policy()
        running = session.jobs.get("publish")
        if running is None or not running.running:
            for key in CHECKS:  # they were about another release
                session.jobs.pop(key, None)
        session.start("publish", [*_words(session), "--json"])

    main_button("Publish", on_click=start, icon="publish", mark="publish")


async def _outcome(session: Session, job: Job) -> None:
    if not job.succeeded:
        marked(ui.label(failure(job)).classes("verdict bad").style("white-space: pre-wrap"), mark="outcome", role="status")
        if session.published:
            heading(f"The release that lies in {session.release_name}")
            await _after(session)
        return
    made = job.document
    whom = "people" if made["one_row_per_person"] else "rows"
    marked(ui.label(f"Published {made['rows']:,} {whom} to {made['release']}").classes("verdict"), mark="outcome", role="status")
    for sentence in made["made"]:
        ui.label(sentence)
    for claim in made["audit"]["claims"]:
        state = "holds" if claim["holds"] else "does not hold"
        looks = "good" if claim["holds"] else "bad"
        marked(ui.label(f"Claim against {claim['adversary']}: {state}.").classes(looks), mark="claim")
    for warning in made["warnings"]:
        ui.label(warning).classes("careful")
    print_it = ui.button("Print this summary", icon="print", on_click=lambda: ui.run_javascript("window.print()"))
    marked(print_it.props("outline no-caps"), mark="print")
    where = f": {made['receipt']}" if made.get("receipt") else ""
    ui.label(f"The receipt lies in your own register, outside the release. It is private{where}").classes("quiet")
    await _after(session)


async def _after(session: Session) -> None:
    """Offer what comes after a release: checks with the table, and a look at its boxes."""
    _checks(session)
    await _picture(session)


def _checks(session: Session) -> None:
    """Offer what may be done with a release and the table: audit, attacks, report."""
    out = session.out
    given = [out, "--table", session.data_name, "--policy", POLICY]
    offers = {
        "Audit": ("audit", ["audit", *given]),
        "Attacks": ("attack", ["attack", *given]),
        "Report": ("report", ["report", *given, "--out", f"{out}-report.html"]),
    }
    for label, (key, words) in offers.items():
        with ui.row().classes("items-center w-full"):
            button = ui.button(label, on_click=lambda key=key, words=words: _begin(session, key, words)).props("outline")
            marked(button, mark=key)
            ui.label(shell(["sfumato", *words])).classes("command quiet")
        show_job(partial(session.jobs.get, key), partial(_checked, session, key, ui.column().classes("w-full")))


def _checked(session: Session, key: str, place: Any, job: Job) -> None:
    """Show what a check found, in the words of the command line; a report can be taken away."""
    place.clear()
    with place:
        text = job.output if job.code in (0, 1) else failure(job)
        marked(ui.code(text.strip() or "done", language="text").classes("w-full"), mark=f"{key}-said")
        if key == "report" and job.succeeded:
            file = below(session.root, job.words[-1])
            load = ui.button("Open the report", icon="download", on_click=lambda: ui.download.file(file)).props("flat no-caps")
            marked(load, mark="download")


def _begin(session: Session, key: str, words: list[str]) -> None:
    report = Path(words[-1])
    if key == "report" and below(session.root, report).exists():
        ui.notify(f"{report} is there already; give it another name first", type="warning")
        return
    session.start(key, words)


async def _picture(session: Session) -> None:
    """Draw the boxes over two quasi columns that are chosen."""
    from sfumato.release import Release

    release = await quietly(lambda: Release.load(session.release_place()))
    if release is None or not (release.shown_as.exact_quasi and release.shown_as.has_groups):
        return
    names = names_of(release, "quasi")
    if len(names) < 2:
        return
    heading("The boxes, over two columns")
    ui.label("Each rectangle is one group of people, from its least to its largest value.").classes("quiet")
    with ui.row():
        across = marked(ui.select(names, value=names[0], label="across").style("min-width: 10rem"), mark="across")
        up = marked(ui.select(names, value=names[1], label="up").style("min-width: 10rem"), mark="up")

    @ui.refreshable
    async def drawn() -> None:
        from sfumato.studio.box_chart import box_chart

        options = await quietly(lambda: box_chart(release, across.value, up.value))
        if options is not None:
            chart = ui.echart(options).style("height: 420px; width: 100%")
            marked(chart, role="img", mark="boxes", label=f"boxes over {across.value} and {up.value}")

    await drawn()
    across.on_value_change(drawn.refresh)
    up.on_value_change(drawn.refresh)
