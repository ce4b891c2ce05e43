"""Page 2, how sure is too sure: against whom, one rule for all values, and values with a bound of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fractions import Fraction
from typing import Any

from nicegui import ui

from sfumato.errors import SfumatoError
from sfumato.exact import percent
from sfumato.policy.verdict import verdict_of
from sfumato.policy.words import most_sensitive
from sfumato.privacy.bounds import labelled
from sfumato.studio.frame import heading, marked, opened, page, quietly
from sfumato.studio.jobs import shell
from sfumato.studio.people_picture import people_svg, people_words
from sfumato.studio.session import POLICY, Session

READERS = {
    "reader": ("Reader", "visibility", "has the release, and knows everybody's quasi values"),
    "engineer": ("Engineer", "engineering", "also knows this program, and reruns it"),
    "insider": (
        "Insider",
        "groups",
        "also knows what others have; noise bounds what a row adds, not what a reader believes; shares are declared",
    ),
}
MOST = 2_000
"""So many values are sent to the page, the rarest ones."""

Refresh = Callable[[], Awaitable[None]]


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/rule")
    async def rule() -> None:
        words = ["sfumato", "explain", session.data_name, "--policy", POLICY, "--quick"]
        with page(session, "/rule", "How sure is too sure", lambda: shell(words)):
            if not await opened(session):
                return
            if await quietly(session.table) is None:
                marked(ui.label("The table cannot be read as the policy stands.").classes("verdict bad"), mark="verdict")
                return
            shown = _Verdict(session)
            _adversary(session, shown.refresh)
            _sliders(session, shown.refresh)
            shown.draw()
            await shown.refresh()
            ui.timer(1.0, shown.follow)


def _adversary(session: Session, refresh: Refresh) -> None:
    heading("Who must not become too sure?")
    now = str(session.policy.requirement().get("against", "engineer"))
    cards: dict[str, Any] = {}
    with ui.row().classes("w-full items-stretch"):
        for key, (name, icon, what) in READERS.items():
            with ui.card().classes("col cursor-pointer").style("min-width: 200px; gap: 4px").props("flat bordered") as card:
                ui.icon(icon, size="2.5rem").props('aria-hidden="true"')
                ui.label(name).classes("text-weight-bold")
                ui.label(what).classes("quiet")
            cards[key] = card
    choice = ui.radio({key: name for key, (name, _, _) in READERS.items()}, value=now).props("inline")
    for key, card in cards.items():
        card.on("click", lambda key=key: choice.set_value(key))
    marked(choice, mark="against", label="Who must not become too sure?")

    def mark() -> None:
        for key, card in cards.items():
            card.style("outline: 2px solid var(--sf-1)" if key == choice.value else "outline: none")

    async def choose() -> None:
        session.policy.require(against=choice.value)
        mark()
        await refresh()

    mark()
    choice.on_value_change(choose)


def _sliders(session: Session, refresh: Refresh) -> None:
    heading("How many times surer than before may somebody become?")
    secrets: list[str | None] = [*session.policy.secrets()]
    for secret in secrets or [None]:
        _slider(session, secret, refresh)


def _slider(session: Session, secret: str | None, refresh: Refresh) -> None:
    rule = session.policy.rule(secret)
    of = "" if secret is None else f" of {secret}"
    if rule.get("model") != "f-privacy":
        ui.label(f"The rule{of} has a model other than f-privacy: change its parameters in the file.").classes("quiet")
        return
    theta = float(Fraction(str(rule.get("theta", 8))))
    always = percent(Fraction(str(rule.get("offset", 0))), 2)
    ui.label(f"theta{of}: times the share of people who have a value; {always} are always allowed on top.").classes("quiet")
    with ui.row().classes("w-full items-center no-wrap"):
        slider = ui.slider(min=1, max=max(32.0, theta), step=0.1, value=theta).classes("col").props("label")
        marked(slider, mark=f"theta{of}", label=f"theta{of}")
        number = ui.number(f"theta{of}", value=theta, min=1, step=0.1, format="%.4g").props("dense outlined").style("width: 9rem")
        marked(number.bind_value(slider, "value"), mark=f"number of theta{of}")

    given = rule.get("odds")
    empty = "no such limit" if secret is None else "that of all secrets, if there is one"
    ui.label(f"odds{of}: how many times the odds of what many people have may grow; empty for {empty}.").classes("quiet")
    odds = ui.number(f"odds{of}", value=None if given is None else float(Fraction(str(given))), min=1, step=1, format="%.4g")
    marked(odds.props("dense outlined clearable").style("width: 9rem"), mark=f"odds{of}", label=f"odds{of}")

    async def moved() -> None:
        if slider.value is not None:
            session.policy.set_rule("theta", round(float(slider.value), 2), secret)
            await refresh()

    async def limited() -> None:
        if odds.value is None or float(odds.value) >= 1:
            session.policy.set_rule("odds", None if odds.value is None else round(float(odds.value), 4), secret)
            await refresh()

    slider.on_value_change(moved)
    odds.on_value_change(limited)


class _Verdict:
    """Whether the bounds can be kept, in words, and every value with its share, its allowance and its own bound."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.asked = 0
        self.shown = ""
        self.wrong: dict[str, str] = {}
        self.found: dict[str, tuple[Fraction, Fraction]] = {}

    def draw(self) -> None:
        """Draw the places that are filled whenever the rule changes; a field that somebody types in stays."""
        self.words = marked(ui.label().classes("verdict"), mark="verdict", role="status")
        self.more = ui.column().style("gap: 4px")
        with marked(ui.element("section"), label="A bound as people", mark="people").classes("people-picture"):
            with ui.row().classes("w-full items-baseline"):
                heading("A bound as people")
                self.whose = marked(ui.select([], on_change=self.people).props("dense outlined"), mark="whose", label="the value")
            self.told = marked(ui.label(), mark="people-told", role="status")
            self.dots = marked(ui.html("", sanitize=False).classes("w-full"), role="img", mark="dots", label="1,000 people")
        heading("Values")
        ui.label("A bound of your own, such as 0.03, or 1 for what is no secret, goes before the rule.").classes("quiet")
        find = ui.input("find a value").props("dense outlined clearable").style("width: 16rem")
        columns: list[dict[str, Any]] = [
            {"name": "value", "label": "value", "field": "value", "align": "left", "sortable": True},
            {"name": "share", "label": "have it", "field": "share"},
            {"name": "bound", "label": "at most so sure", "field": "bound"},
            {"name": "own", "label": "own bound", "field": "own", "align": "left"},
        ]
        self.table = ui.table(columns=columns, rows=[], row_key="value", pagination=15).classes("w-full").props("dense flat")
        marked(self.table, mark="values")
        self.table.bind_filter_from(marked(find, mark="find"), "value")
        self.table.add_slot(
            "body-cell-own",
            """<q-td :props="props"><q-input dense outlined v-model="props.row.own" style="min-width: 6rem"
            :aria-label="'own bound of ' + props.row.value" :data-mark="'own-' + props.row.value"
            :error="!!props.row.wrong" :error-message="props.row.wrong" :hide-bottom-space="!props.row.wrong"
            @change="() => $parent.$emit('own', {value: props.row.value, own: props.row.own})" /></q-td>""",
        )
        self.table.on("own", self.bound)

    async def refresh(self) -> None:
        """Fill in what follows from the rule as it stands; an answer that was overtaken by a later move is not shown."""
        self.asked += 1
        mine = self.asked
        self.shown = self.session.policy.text
        found = await quietly(lambda: verdict_of(self.session.parsed(), self.session.table()))
        if found is None or mine != self.asked:
            return
        self.words.set_text(found.sentences[0])
        self.words.classes(remove="bad") if found.can else self.words.classes("bad")
        self.more.clear()
        with self.more:
            for sentence in found.sentences[1:]:
                ui.label(sentence)
        self.table.rows[:] = [
            {
                "value": value,
                "share": percent(share, 2),
                "bound": percent(bound, 2),
                "own": self._own(value),
                "wrong": self.wrong.get(value, ""),
            }
            for value, share, bound in found.values[:MOST]
        ]
        self.table.update()
        self.found = {value: (share, bound) for value, share, bound in found.values}
        kept = self.whose.value if self.whose.value in self.found else None
        first = next(iter(most_sensitive({value: share for value, share, _ in found.values})), None)
        self.whose.set_options([value for value, _, _ in found.values[:MOST]], value=kept or first)
        self.people()

    def people(self) -> None:
        """Draw what the bound of the chosen value means of 1,000 people."""
        value = self.whose.value
        if value in self.found:
            words = people_words(value, *self.found[value])
            self.told.set_text(words)
            self.dots.set_content(people_svg(value, *self.found[value]))
            marked(self.dots, label=words)
            self.dots.update()

    def follow(self) -> None:
        """Show what was changed on another tab."""
        if self.shown != self.session.policy.text:
            ui.navigate.reload()

    async def bound(self, event: Any) -> None:
        """Give one value a bound of its own; one that cannot be read is told and not taken."""
        shown, given = str(event.args["value"]), str(event.args["own"] or "").strip()
        before = self._own(shown)
        secret, value = self._place(shown)
        try:
            self.session.policy.bound(value, given or None, secret)
            self.session.parsed()
            self.wrong.pop(shown, None)
        except SfumatoError as error:
            self.session.policy.bound(value, before or None, secret)
            self.wrong[shown] = error.sentence
        await self.refresh()

    def _place(self, shown: str) -> tuple[str | None, str]:
        """Return the secret and the value that a row shows; no secret where there is one rule."""
        for secret in self.session.policy.secrets():
            if shown.startswith(labelled(secret, "")):
                return secret, shown.removeprefix(labelled(secret, ""))
        return None, shown

    def _own(self, shown: str) -> str:
        secret, value = self._place(shown)
        return str(self.session.policy.rule(secret).get("bounds", {}).get(value, ""))
