"""Page 4, publish: once, with progress and a way to stop; then the audit, attacks and the report, and a look at the boxes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from sfumato.studio.frame import failure, page, quietly, say, show_job
from sfumato.studio.jobs import Job
from sfumato.studio.places import below
from sfumato.studio.session import POLICY, Session, names_of


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/publish")
    def publish() -> None:
        with page(session, "/publish", "Publish once", lambda: "sfumato " + " ".join(_words(session))):
            _start(session)
            with ui.column().classes("w-full") as outcome:
                pass

            async def finished(job: Job) -> None:
                outcome.clear()
                with outcome:
                    await _outcome(session, job)

            show_job(lambda: session.jobs.get("publish"), finished)


def _words(session: Session) -> list[str]:
    assert session.data is not None
    return ["publish", str(session.data.relative_to(session.root)), "--policy", POLICY, "--out", session.out]


def _start(session: Session) -> None:
    if not session.policy.reviewed:
        ui.label(
            "Nothing is published while a column has not been looked at: go back to the table, and say that you have."
        ).classes("verdict text-negative").props('role="status"')
    ui.label(
        "Publish once. Whatever you change after you have seen a release is a choice made on the data, and two "
        "releases can be laid over each other."
    )
    name = ui.input("new directory for the release", value=session.out).props("outlined dense").props('data-mark="out"')

    def start() -> None:
        try:
            below(session.root, name.value)
            session.parsed()
        except Exception as error:
            say(error)
            return
        session.out = name.value.strip()
        session.save_policy()
        session.start("publish", [*_words(session), "--json"])

    ui.button("Publish", on_click=start, icon="publish").props('data-mark="publish"')


async def _outcome(session: Session, job: Job) -> None:
    if not job.succeeded:
        ui.label(failure(job)).classes("verdict text-negative").props('role="status"').style("white-space: pre-wrap").props(
            'data-mark="outcome"'
        )
        return
    document = job.document
    ui.label(
        f"Published {document['rows']:,} {'people' if document['one_row_per_person'] else 'rows'} to {document['release']}"
    ).classes("verdict").props('role="status"').props('data-mark="outcome"')
    for sentence in document["made"]:
        ui.label(sentence)
    for claim in document["audit"]["claims"]:
        state = "holds" if claim["holds"] else "does not hold"
        ui.label(f"Claim against {claim['adversary']}: {state}.").props('data-mark="claim"')
    for warning in document["warnings"]:
        ui.label(warning).classes("text-warning")
    ui.label("The receipt lies in your own register, outside the release. It is private.").classes("quiet")
    _checks(session)
    await _picture(session)


def _checks(session: Session) -> None:
    """Offer what may be done with a release and the table: audit, attacks, report."""
    assert session.data is not None
    data, out = str(session.data.relative_to(session.root)), session.out
    given = [out, "--table", data, "--policy", POLICY]
    offers = {
        "Audit": ("audit", ["audit", *given]),
        "Attacks": ("attack", ["attack", *given]),
        "Report": ("report", ["report", *given, "--out", f"{out}-report.html"]),
    }
    for label, (key, words) in offers.items():
        with ui.row().classes("items-center w-full"):
            ui.button(label, on_click=lambda key=key, words=words: _begin(session, key, words)).props("outline").props(
                f'data-mark="{key}"'
            )
            ui.label("sfumato " + " ".join(words)).classes("command quiet")
        with ui.column().classes("w-full") as place:
            pass

        def finished(job: Job, place: Any = place) -> None:
            place.clear()
            with place:
                text = job.output if job.code in (0, 1) else failure(job)
                ui.code(text.strip() or "done", language="text").classes("w-full")

        show_job(partial(session.jobs.get, key), finished)


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
    if release is None or release.form != "buckets":
        return
    names = names_of(release, "quasi")
    if len(names) < 2:
        return
    ui.label("The boxes, over two columns: each rectangle is one group of people.")
    with ui.row():
        across = ui.select(names, value=names[0], label="across").style("min-width: 10rem")
        up = ui.select(names, value=names[1], label="up").style("min-width: 10rem")

    @ui.refreshable
    async def drawn() -> None:
        from sfumato.studio.box_chart import box_chart

        options = await quietly(lambda: box_chart(release, across.value, up.value))
        if options is not None:
            ui.echart(options).style("height: 420px; width: 100%").props(
                f'role="img" aria-label="boxes over {across.value} and {up.value}"'
            )

    await drawn()
    across.on_value_change(drawn.refresh)
    up.on_value_change(drawn.refresh)
