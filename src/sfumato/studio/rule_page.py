"""Page 2, how sure is too sure: against whom, one rule for all values, and values with a bound of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nicegui import ui

from sfumato.errors import Infeasible, SfumatoError
from sfumato.exact import percent
from sfumato.methods import default_method
from sfumato.policy.words import most_sensitive, rule_in_words, value_in_words
from sfumato.studio.frame import page, quietly, say
from sfumato.studio.session import Session, message

if TYPE_CHECKING:
    from sfumato.policy import Policy
    from sfumato.table import Table

READERS = {
    "reader": ("Reader", "visibility", "has the release, and knows everybody's quasi values"),
    "engineer": ("Engineer", "engineering", "also knows this program, and reruns it"),
    "insider": ("Insider", "groups", "also knows what other people in the table have; shares have to be declared in the file"),
}
SHOWN = 40


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/rule")
    async def rule() -> None:
        with page(session, "/rule", "How sure is too sure", lambda: _command(session)):
            await ui.context.client.connected(timeout=60)
            if await quietly(session.table) is None:
                return

            @ui.refreshable
            async def shown() -> None:
                await _verdict(session, shown.refresh)

            _adversary(session, shown.refresh)
            _slider(session, shown.refresh)
            await shown()


def _command(session: Session) -> str:
    assert session.data is not None
    return f"sfumato explain {session.data.relative_to(session.root)} --policy policy.toml"


def _adversary(session: Session, refresh: Callable[[], object]) -> None:
    ui.label("Who must not become too sure?")
    now = session.policy.requirement().get("against", "engineer")
    with ui.row().classes("w-full"):
        for name, icon, what in READERS.values():
            with ui.card().classes("col").style("min-width: 220px"):
                ui.icon(icon, size="2.5rem").props('aria-hidden="true"')
                ui.label(name).classes("text-weight-bold")
                ui.label(what).classes("quiet")
    choice = ui.radio({key: name for key, (name, _, _) in READERS.items()}, value=now).props("inline")

    def choose() -> None:
        session.policy.require(against=choice.value)
        refresh()

    choice.on_value_change(choose)


def _slider(session: Session, refresh: Callable[[], object]) -> None:
    if session.policy.requirement().get("model") != "f-privacy":
        ui.label("The policy has a model other than f-privacy: change its parameters in the file.").classes("quiet")
        return
    theta = float(Fraction(str(session.policy.requirement().get("theta", 8))))
    ui.label("How many times surer than before may a reader become? (theta; 2 % are always allowed on top)")
    with ui.row().classes("w-full items-center no-wrap"):
        slider = (
            ui.slider(min=1, max=max(32.0, theta), step=0.1, value=theta)
            .classes("col")
            .props('label aria-label="theta"')
            .props('data-mark="theta"')
        )
        number = (
            ui.number("theta", value=theta, min=1, step=0.1, format="%.2f").props("dense outlined").bind_value(slider, "value")
        )
        number.style("width: 7rem")

    def moved() -> None:
        if slider.value is not None:
            session.policy.require(theta=round(float(slider.value), 2))
            refresh()

    slider.on_value_change(moved)


async def _verdict(session: Session, refresh: Callable[[], object]) -> None:
    """Show whether the bounds can be kept, in words, and every value with its share, its allowance and its own bound."""
    found = await quietly(lambda: verdict(session))
    if found is None:
        return
    sentences, values, feasible = found
    ui.label(sentences[0]).classes("verdict" + ("" if feasible else " text-negative")).props('role="status"').props(
        'data-mark="verdict"'
    )
    for sentence in sentences[1:]:
        ui.label(sentence)
    _values(session, values, refresh)


def verdict(session: Session) -> tuple[list[str], list[tuple[str, Fraction, Fraction]], bool]:
    """Return sentences about the policy, the values with share and bound, and whether they can be kept: from counts alone."""
    table, policy = session.table(), session.parsed()
    try:
        method = policy.method or default_method(policy.requirement, table)
        method.require_provable(table, policy.requirement)
        bounds = method.bounds(table, policy.requirement)
    except Infeasible as error:
        return ["It cannot be kept.", message(error)], _wanted(table, policy), False
    except SfumatoError as error:
        return ["This cannot be promised like this.", message(error)], _wanted(table, policy), False
    shares = {value: Fraction(count, table.rows) for value, count in zip(bounds.values, bounds.counts, strict=True) if count}
    limits = dict(zip(bounds.values, bounds.limits, strict=True))
    named = [f"{value}: {value_in_words(shares[value], limits[value])}." for value in most_sensitive(shares)]
    words = rule_in_words(shares, limits)
    return (
        [f"It can be kept, by the method {method.name}.", f"{words[0].upper()}{words[1:]}.", *named],
        _ranked(shares, limits),
        True,
    )


def _wanted(table: Table, policy: Policy) -> list[tuple[str, Fraction, Fraction]]:
    """Return the bounds that were asked for, also where they cannot be kept; of several secrets none."""
    if table.schema.apart:
        return []
    counts = {value: count for value, count in table.sensitive.histogram().items() if count}
    shares = {value: Fraction(count, table.rows) for value, count in counts.items()}
    return _ranked(shares, policy.requirement.limits(shares))


def _ranked(shares: Mapping[str, Fraction], limits: Mapping[str, Fraction]) -> list[tuple[str, Fraction, Fraction]]:
    return sorted(((value, share, limits[value]) for value, share in shares.items()), key=lambda one: (one[1], one[0]))


def _values(session: Session, values: list[tuple[str, Fraction, Fraction]], refresh: Callable[[], object]) -> None:
    own = session.policy.requirement().get("bounds", {})
    ui.label(
        f"The {min(SHOWN, len(values))} rarest values. A bound of your own, such as 0.03, or 1 for what is no secret:"
    ).classes("quiet")
    rows = [
        {"value": value, "share": percent(share, 2), "bound": percent(bound, 2), "own": str(own.get(value, ""))}
        for value, share, bound in values[:SHOWN]
    ]
    columns = [
        {"name": "value", "label": "value", "field": "value", "align": "left"},
        {"name": "share", "label": "have it", "field": "share"},
        {"name": "bound", "label": "at most so sure", "field": "bound"},
        {"name": "own", "label": "own bound", "field": "own", "align": "left"},
    ]
    table = ui.table(columns=columns, rows=rows, row_key="value", pagination=15).classes("w-full").props("dense flat")
    table.add_slot(
        "body-cell-own",
        """<q-td :props="props"><q-input dense outlined debounce="600" v-model="props.row.own"
        :aria-label="'own bound of ' + props.row.value"
        @update:model-value="() => $parent.$emit('own', props.row)" /></q-td>""",
    )

    def change(event: Any) -> None:
        row = event.args
        given = str(row["own"]).strip()
        try:
            session.policy.bound(row["value"], given or None)
            session.parsed()
        except SfumatoError as error:
            session.policy.bound(row["value"], None)
            say(error)
        refresh()

    table.on("own", change)
