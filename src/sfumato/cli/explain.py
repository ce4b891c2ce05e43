"""`sfumato explain`: what a policy means for a table; no release is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import Data, Json, PolicyFile
from sfumato.cli._run import verb
from sfumato.cli._show import bullets, console, grid, print_json, progress_bar, shown

if TYPE_CHECKING:
    from sfumato.explain import Explanation

ROWS = 10
"""How many values the table shows without --all."""


@verb
def explain(
    data: Data,
    policy: PolicyFile,
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every sensitive value, not only the tightest bounds.")] = False,
    as_json: Json = False,
) -> None:
    """Tell what a policy means for a table: can it be kept, who is unprotected, what does it cost, what is not promised.

    Nothing is published. A policy that cannot be kept is told, and is no error: the exit code is 0. What is shown tells figures
    of the original table, so keep it private.
    """
    from sfumato.explain import explain as make
    from sfumato.policy import Policy

    chosen = Policy.load(policy)
    with progress_bar() as tell:
        tell("reading the table", 0.0)
        table = chosen.read_table(data)
        told = make(table, chosen.requirement, method=chosen.method, progress=tell)
    if as_json:
        print_json(told.to_dict())
    else:
        _show(told, every=every)


def _show(told: Explanation, *, every: bool) -> None:
    screen = console()
    for number, sentence in enumerate(told.verdict()):
        text = shown(sentence)
        screen.print(f"[bold {'green' if told.feasible else 'red'}]{text}[/]" if number == 0 else text)
    screen.print()
    words = bullets()
    for paragraph in told.details():
        words.add_row("•", shown(paragraph))
    screen.print(words)
    values = told.values if every else told.tightest(ROWS)
    title = "Every value" if len(values) == len(told.values) else "The tightest bounds"
    table = grid("value", "people", "share", "bound", "factor", "smallest bucket", title=title, right=(1, 2, 3, 4, 5))
    for value in values:
        bound = "none" if value.bound == 1 else f"{float(value.bound):.4f}"
        factor = "" if value.bound == 1 else f"{value.factor:.3g}×"
        mark = "" if value.feasible else " (below its share)"
        table.add_row(shown(value.value), f"{value.count:,}", f"{float(value.share):.4f}", bound + mark, factor, str(value.needs))
    screen.print(table)
    if len(values) < len(told.values):
        screen.print(f"… and {len(told.values) - len(values)} more values; --all shows them.")
