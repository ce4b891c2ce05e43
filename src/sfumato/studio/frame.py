"""What every page has: the way from table to release, the policy and the command, and how errors and running work look."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import run, ui

from sfumato.studio.jobs import Job
from sfumato.studio.session import Session, message

STEPS = (("/", "1 Table"), ("/rule", "2 How sure"), ("/trade", "3 Trade"), ("/publish", "4 Publish"), ("/ask", "Ask"))

_STYLE = """
body { font-size: 16px }
.page { max-width: 1180px; margin: 0 auto; width: 100% }
.quiet { opacity: .75 }
.verdict { font-size: 1.15rem; font-weight: 600 }
.command { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
"""


@contextmanager
def page(session: Session, here: str, title: str, command: Callable[[], str]) -> Iterator[None]:
    """Lay out a page; inside it comes its content, below it the command that does the same."""
    ui.add_css(_STYLE)
    ui.dark_mode(None)
    ui.page_title(f"{title} · sfumato studio")
    with (
        ui.header().classes("items-center q-px-md"),
        ui.element("nav").props('aria-label="Steps"').classes("row items-center q-gutter-md"),
    ):
        ui.label("sfumato studio").classes("text-weight-bold")
        steps = STEPS if session.data is not None else (("/", "Ask"),)
        for address, name in steps:
            link = ui.link(name, address).classes("text-white")
            if address == here:
                link.classes("text-weight-bold").props('aria-current="page"')
    with ui.element("main").classes("page column q-gutter-md q-pa-md"):
        ui.html(f"<h1 style='font-size:1.6rem;line-height:2rem;margin:0'>{title}</h1>", sanitize=False)
        yield
        same_by_command(session, command)


def same_by_command(session: Session, command: Callable[[], str]) -> None:
    """Show the policy file and the command line that do what the page does."""
    with ui.expansion("The same on the command line").classes("w-full") as opened:
        shown = ui.label(command()).classes("command").props('data-mark="command"')
        policy = ui.code(session.policy.text, language="toml").classes("w-full") if session.data is not None else None

    def refresh() -> None:
        shown.set_text(command())
        if policy is not None:
            policy.set_content(session.policy.text)

    opened.on_value_change(refresh)


def say(error: Exception) -> None:
    """Tell of an error, in a place that screen readers announce."""
    ui.notify(message(error), type="negative", multi_line=True, close_button="OK", timeout=0)


async def quietly(work: Callable[[], Any]) -> Any:
    """Do some work in a thread, so that the page stays alive; an error is told and gives None."""
    try:
        return await run.io_bound(work)
    except Exception as error:
        say(error)
        return None


def show_job(job_of: Callable[[], Job | None], done: Callable[[Job], Awaitable[None] | None]) -> None:
    """Show how far a piece of work is, with a button that stops it; when it ends, show what came out, on every tab."""
    state: dict[str, Any] = {"shown": None}
    with ui.row().classes("items-center w-full no-wrap") as row:
        bar = ui.linear_progress(0.0, show_value=False).classes("col").props('aria-label="progress"')
        words = ui.label().props('role="status"')
        ui.button("Stop", on_click=lambda: _stop(job_of()), icon="stop").props('flat data-mark="stop"')
    row.set_visibility(False)

    async def look() -> None:
        job = job_of()
        row.set_visibility(job is not None and job.running)
        if job is not None and job.running:
            left = "" if job.seconds_left is None else f", about {max(1, round(job.seconds_left))} s left"
            bar.set_value(job.done)
            words.set_text(f"{job.stage}{left}")
        elif job is not None and state["shown"] is not job:
            state["shown"] = job
            shown = done(job)
            if shown is not None:
                await shown

    ui.timer(0.5, look)


def _stop(job: Job | None) -> None:
    if job is not None:
        job.cancel()


def failure(job: Job) -> str:
    """Return why a piece of work gave nothing: in the words of the command line."""
    if job.cancelled:
        return "Stopped. Nothing was written."
    return job.message or "It ended without a word."
