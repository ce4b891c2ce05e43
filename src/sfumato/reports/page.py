"""A report: all sections, put into one HTML file that loads nothing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from importlib.resources import files

from sfumato import __version__
from sfumato.charts import chart_library
from sfumato.charts.look import DARK, LIGHT
from sfumato.charts.svg import colours
from sfumato.exact import percent
from sfumato.progress import Progress, silent
from sfumato.reports.attacked import attacked
from sfumato.reports.beliefs import believed, unique
from sfumato.reports.boxes import boxes
from sfumato.reports.case import ReportCase
from sfumato.reports.evidence import KINDS, Audience, arranged
from sfumato.reports.parts import Card, Mood, Page, Section
from sfumato.reports.promise import audited, promised, published
from sfumato.reports.settings import glossary, settings
from sfumato.reports.useful import useful

TEMPLATE = "page.html.j2"

MARKS = {
    True: "PRIVATE: for whoever answers for the original table. Not to be handed out with the release.",
    False: "Public: made from the release alone, and may be handed out with it.",
}
"""What stands on every page."""


def page_of(
    case: ReportCase, *, attacks: Sequence[str] | None = None, audience: Audience | None = None, progress: Progress = silent
) -> Page:
    """Return the report of a case; `attacks` names those to try, all where it is None and none where it is empty.

    For an `audience` the same facts stand under the headings that it looks for.
    """
    return page_with(case, facts_of(case, attacks=attacks, progress=progress), audience)


def facts_of(case: ReportCase, *, attacks: Sequence[str] | None = None, progress: Progress = silent) -> list[Section]:
    """Return everything that is measured of a case, whoever reads it."""
    progress("the promise", 0.0)
    first = [published(case), promised(case), audited(case)]
    progress("beliefs", 0.1)
    middle = [believed(case), unique(case)]
    progress("attacks", 0.3)
    tried = None if case.public else attacked(case, attacks, lambda stage, done: progress(f"attack: {stage}", 0.3 + 0.4 * done))
    progress("usefulness", 0.7)
    last = [useful(case), boxes(case), settings(case), glossary()]
    return [section for section in (*first, *middle, tried, *last) if section is not None and section.blocks]


def page_with(case: ReportCase, facts: Sequence[Section], audience: Audience | None = None) -> Page:
    """Return the page that has these facts, in the order and under the headings for its readers."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    sensitive = ", ".join(str(column["name"]) for column in case.release.manifest.schema["sensitive"])
    kind = "Privacy report" if audience is None else KINDS[audience].title
    rows = "rows" if case.release.manifest.parameters.get("one_row_per_person") is False else "people"
    return Page(
        title=f"{kind}: {case.release.rows:,} {rows}, {sensitive}",
        private=not case.public,
        about=f"Made by sfumato {__version__} on {today}"
        + (", from the published files alone." if case.table is None else ", from the release and the original table."),
        cards=_cards(case),
        sections=facts if audience is None else arranged(case, audience, facts),
    )


def _cards(case: ReportCase) -> list[Card]:
    audit = case.audit
    verdicts: dict[bool | None, tuple[str, Mood]] = {True: ("holds", "good"), False: ("broken", "bad"), None: ("open", "careful")}
    if case.release.claims:
        figure, mood = verdicts[audit.holds]
        cards = [Card(figure, "every promise, as audited", mood)]
    else:
        figure, mood = ("none", "careful") if audit.holds else ("broken", "bad")
        cards = [Card(figure, "no bound is promised; files as audited", mood)]
    if case.covered and audit.holds:
        only, strongest = "whom it is promised against, and nobody else", "the strongest adversary it is promised against"
        cards.append(Card(case.covered[-1], only if case.by_prior else strongest))
    closest = max(
        (result for result in audit.claims if result.used is not None), key=lambda result: result.used or 0, default=None
    )
    if closest is not None and closest.used is not None:
        cards.append(Card(percent(closest.used, 0), "of its allowance is used by the belief closest to its bound"))
    if audit.exposure is not None and case.table is not None:
        of = "" if audit.exposed is None else f" of {audit.exposed}, the largest of all secrets"
        what = "what a person has, over all facts" if case.several else "a person's true value"
        cards.append(Card(percent(audit.exposure, 1), f"exposure: mean belief in {what}{of}"))
    if case.alike is not None and case.release.shown_as.of_people:
        alone = int((case.alike == 1).sum())
        cards.append(Card(percent(alone / int(case.alike.sum()), 1), "of people have quasi values of their own"))
    return cards


def html_of(page: Page) -> str:
    """Return the page as HTML; everything that is not a chart of ours is escaped."""
    jinja = chart_library("jinja2")
    environment = jinja.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja.StrictUndefined)
    template = environment.from_string(files("sfumato.reports").joinpath(TEMPLATE).read_text(encoding="utf-8"))
    shown: str = template.render(page=page, mark=MARKS[page.private], light=colours(LIGHT), dark=colours(DARK))
    return shown
