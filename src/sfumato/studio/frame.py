"""What every page has: the way from table to release, the policy and the command, and how errors and running work look."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from nicegui import run, ui

from sfumato.charts.look import BETWEEN, BETWEEN_LINE, BETWEEN_TEXT, DARK, LIGHT
from sfumato.charts.svg import colours
from sfumato.studio.jobs import Job
from sfumato.studio.session import POLICY, Session, message

STEPS = (("/", "1 Table"), ("/rule", "2 How sure"), ("/trade", "3 Trade"), ("/publish", "4 Publish"), ("/ask", "Ask"))

_STYLE = """
body { LIGHT; font-size: 16px; line-height: 1.5; color: var(--sf-ink); background: var(--sf-paper) }
body.body--dark { DARK; color: var(--sf-ink); background: var(--sf-paper); --q-primary: var(--sf-link) !important }
.page { max-width: 1120px; margin: 0 auto; width: 100%; display: flex; flex-direction: column; gap: 16px; padding: 8px 0 48px }
.page .q-btn { align-self: flex-start }
.page h1 { font-size: 1.75rem; line-height: 2.25rem; margin: 8px 0 0; font-weight: 600; letter-spacing: 0 }
.page h2 { font-size: 1.15rem; line-height: 1.5rem; margin: 16px 0 0; font-weight: 600; letter-spacing: 0 }
.lane h2, .same h2 { margin: 0 }
.page a { color: var(--sf-link) }
.quiet { color: var(--sf-soft) }
.good { color: var(--sf-good) } .careful { color: var(--sf-careful) } .bad { color: var(--sf-bad) }
.verdict { font-size: 1.15rem; font-weight: 600 }
.verdict.bad { border-left: 4px solid var(--sf-bad); background: var(--sf-bad-bg); padding: 8px 12px; align-self: stretch }
.note { border-left: 4px solid var(--sf-line); background: var(--sf-card); padding: 8px 16px; align-self: stretch }
.note ol { margin: 4px 0; padding-left: 1.4rem; list-style: decimal }
.command { font-family: ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
.same { border-top: 1px solid var(--sf-line); padding-top: 16px; margin-top: 16px; display: flex; flex-direction: column;
  gap: 8px }
.people-picture { align-self: stretch; display: flex; flex-direction: column; gap: 8px }
.q-field__focusable-action { opacity: 1; color: var(--sf-soft) }
.q-table__bottom, .q-table__bottom .q-btn, .q-table__bottom .q-btn .q-icon, .q-table__bottom .q-field__native {
  color: var(--sf-ink) !important }
td .q-field--error { padding-bottom: 44px } td .q-field__messages { white-space: normal; line-height: 1.3 }
.onwards { align-self: flex-end; font-weight: 600 }
.q-card, .q-table__card, .q-expansion-item { background: var(--sf-card) !important; color: inherit !important }
.nowhere { color: var(--sf-soft); border: 1px dashed var(--sf-line); border-radius: 8px; padding: 24px; text-align: center;
  align-self: stretch }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--sf-1); outline-offset: 2px }
@media print {
  .q-header, .q-btn, .same, .onwards, .q-linear-progress, .q-field, .q-slider, .unprinted { display: none !important }
  .q-page-container { padding: 0 !important } .page { max-width: none; gap: 8px } .code, .nicegui-code { white-space: pre-wrap }
  body { font-size: 11pt }
}
"""

BLUE = "#24507a"
MAIN = f"background-color: {BLUE} !important; color: white !important"
"""What is filled with colour has this one in the light and in the dark, so that its text can be read."""

LONG = 20_000
"""Milliseconds in which a mistake can be read before it makes room."""

TEXT = {"color": BETWEEN_TEXT}
LINES = {"lineStyle": {"color": BETWEEN_LINE}}
COLORS = BETWEEN

E = TypeVar("E", bound=Any)
T = TypeVar("T")

_FOCUS = """<script>
document.documentElement.lang = "en";
window.studioAt = {
  of: mark => [mark, ...mark.querySelectorAll('*')].filter(one => one.tabIndex >= 0),
  again() {
    const mark = this.mark && document.querySelector(`[data-mark="${CSS.escape(this.mark)}"]`);
    if (mark && document.activeElement === document.body) (this.of(mark)[this.place] ?? this.of(mark)[0])?.focus();
  },
};
addEventListener('focusin', event => {
  const mark = event.target.closest('[data-mark]');
  studioAt.mark = mark?.dataset.mark;
  studioAt.place = mark ? studioAt.of(mark).indexOf(event.target) : -1;
});
</script>"""
"""Remembers what somebody was at, so that it can be found again after a part of the page was drawn anew."""


@contextmanager
def page(session: Session, here: str, title: str, command: Callable[[], str]) -> Iterator[None]:
    """Lay out a page; inside it comes its content, below it the policy and the command that do the same."""
    ui.add_css(_STYLE.replace("LIGHT;", colours(LIGHT)).replace("DARK;", colours(DARK)))
    ui.add_head_html(_FOCUS)
    ui.colors(primary=BLUE)
    ui.dark_mode(None)
    ui.page_title(f"{title} · sfumato studio")
    with (
        ui.header().classes("items-center q-px-md").style(MAIN),
        marked(ui.element("nav"), label="Steps").classes("row items-center q-gutter-md"),
    ):
        ui.label("sfumato studio").classes("text-weight-bold")
        steps = STEPS if session.data is not None else (("/", "Ask"),)
        for address, name in steps:
            link = ui.link(name, address).classes("text-white")
            if address == here:
                link.classes("text-weight-bold").props('aria-current="page"')
    with ui.element("main").classes("page"):
        heading(title, 1)
        yield
        if session.data is None or session.opened:
            _onwards(session, here)
            same_by_command(session, command)


def _onwards(session: Session, here: str) -> None:
    """Lead to the next step."""
    addresses = [address for address, _ in STEPS]
    if session.data is not None and here != addresses[-1]:
        address, name = STEPS[addresses.index(here) + 1]
        marked(ui.link(f"Next: {name} →", address).classes("onwards"), mark="next")


async def opened(session: Session) -> bool:
    """Wait until the table was read, with words about how far that is; False where it cannot be, which is told."""
    await ui.context.client.connected(timeout=60)  # the page first, then what takes a moment
    if session.opened:
        return True
    with ui.column().classes("w-full") as place:
        words = marked(ui.label(f"Opening {session.data_name}: {session.stage[0]} …"), mark="opening", role="status")
        bar = marked(
            ui.linear_progress(session.stage[1], show_value=False).props("animation-speed=200"), label="opening the table"
        )

    def look() -> None:
        words.set_text(f"Opening {session.data_name}: {session.stage[0]} …")
        bar.set_value(session.stage[1])

    with place:
        ui.timer(0.2, look)
    _, wrong = await attempt(session.open)
    if wrong is None:
        place.delete()
        return True
    place.clear()
    with place:
        marked(ui.label(message(wrong)).classes("verdict bad").style("white-space: pre-wrap"), mark="unreadable", role="alert")
        marked(ui.button("Try again", on_click=ui.navigate.reload).props("outline"), mark="again")
    return False


def refocus() -> None:
    """Go back to what somebody was at before it was drawn anew."""
    ui.run_javascript("setTimeout(() => studioAt.again(), 50)")


def heading(words: str, level: int = 2) -> None:
    """Write a heading, as one for screen readers too."""
    with ui.element(f"h{level}"):
        ui.label(words)


def main_button(words: str, *, mark: str, icon: str | None = None, on_click: Callable[[], Any] | None = None) -> ui.button:
    """Return the button that does what the page is for."""
    return marked(ui.button(words, icon=icon, on_click=on_click).style(MAIN), mark=mark)


def marked(element: E, *, mark: str = "", label: str = "", role: str = "") -> E:
    """Return an element with what screen readers say of it, and the mark by which tests find it."""
    for name, value in (("data-mark", mark), ("aria-label", label), ("role", role)):
        if value:
            element.props[name] = value
    return element


def same_by_command(session: Session, command: Callable[[], str]) -> None:
    """Show the policy file and the command line that do what the page does, as they stand."""
    with marked(ui.element("section"), label="The same on the command line").classes("same"):
        heading("The same on the command line")
        shown = marked(ui.label(command()).classes("command"), mark="command")
        if session.data is not None:
            with ui.row().classes("items-center"):
                save = marked(ui.button(f"Save {POLICY}", icon="save").props("outline"), mark="save")
                undo = marked(ui.button("Undo", icon="undo", on_click=session.undo).props("outline"), mark="undo")
                state = marked(ui.label().classes("quiet"), mark="saved", role="status")
            with ui.expansion(f"{POLICY} as it stands").classes("w-full"):
                policy = marked(ui.code(session.policy.text, language="toml").classes("w-full"), mark="policy")

    def keep() -> None:
        try:
            session.save_policy()
        except OSError as error:
            ui.notify(f"{POLICY} cannot be written: {error.strerror}", type="negative")
        refresh()

    def refresh() -> None:
        shown.set_text(command())
        if session.data is not None:
            if policy.content != session.policy.text:
                policy.set_content(session.policy.text)
            undo.set_enabled(session.remember())
            saved = session.saved
            save.set_enabled(not saved)
            state.set_text(
                f"{POLICY} is the policy of this page." if saved else f"{POLICY} does not have these settings yet; save it first."
            )

    if session.data is not None:
        save.on_click(keep)
    refresh()
    ui.timer(1.0, refresh)


def say(error: Exception) -> None:
    """Tell of an error, in a place that screen readers announce."""
    ui.notify(message(error), type="negative", multi_line=True, actions=[{"label": "OK", "color": "white"}], timeout=LONG)


async def attempt(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Do some work in a thread, so that the page stays alive; return what came out, or what went wrong."""
    client = ui.context.client
    found: T | None = None
    wrong: Exception | None = None
    try:
        found = await run.io_bound(work)
    except Exception as error:
        wrong = error
    if client.id not in client.instances:  # the page was left meanwhile: there is nobody to show anything to
        raise asyncio.CancelledError
    return found, wrong


async def quietly(work: Callable[[], Any]) -> Any:
    """Do some work in a thread; an error is told and gives None."""
    found, wrong = await attempt(work)
    if wrong is not None:
        say(wrong)
    return found


def show_job(job_of: Callable[[], Job | None], done: Callable[[Job], Awaitable[None] | None]) -> None:
    """Show how far a piece of work is, with a button that stops it; when it ends, show what came out, on every tab."""
    state: dict[str, Any] = {"shown": None}
    with ui.row().classes("items-center w-full no-wrap") as row:
        bar = marked(ui.linear_progress(0.0, show_value=False).classes("col"), label="progress")
        words = marked(ui.label(), role="status")
        marked(ui.button("Stop", on_click=lambda: _stop(job_of()), icon="stop").props("flat"), mark="stop")
    row.set_visibility(False)

    async def look() -> None:
        job = job_of()
        row.set_visibility(job is not None and job.running)
        if job is not None and job.running:
            bar.set_value(job.done)
            words.set_text("stopping" if job.cancelled else f"{job.stage}{_left(job)}")
        elif job is not None and state["shown"] is not job:
            state["shown"] = job
            shown = done(job)
            if shown is not None:
                await shown

    ui.timer(0.5, look)


def _left(job: Job) -> str:
    """Return how long work will take, where it does not say so itself."""
    seconds = job.seconds_left
    if seconds is None or " left" in job.stage:
        return ""
    return f", about {round(seconds / 60)} min left" if seconds > 90 else f", about {max(1, round(seconds))} s left"


def _stop(job: Job | None) -> None:
    if job is not None:
        job.cancel()


def failure(job: Job) -> str:
    """Return why a piece of work gave nothing: in the words of the command line."""
    if job.cancelled:
        return "Stopped. Nothing was written."
    return job.message or "It ended without a word."
