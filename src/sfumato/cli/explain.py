"""`sfumato explain`: what a policy means for a table; no release is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.cli._options import Data, Json, PolicyFile
from sfumato.cli._run import verb
from sfumato.cli._show import bullets, console, grid, print_json, progress_bar

if TYPE_CHECKING:
    from sfumato.explain import Explanation


@verb
def explain(data: Data, policy: PolicyFile, *, as_json: Json = False) -> None:
    """Tell what a policy means for a table: bounds, feasibility, cost, and what is not promised.

    Nothing is published. What is shown tells figures of the original table, so keep it private.
    """
    from sfumato.explain import explain as make
    from sfumato.policy import Policy

    chosen = Policy.load(policy)
    with progress_bar() as tell:
        tell("reading the table", 0.0)
        table = chosen.read(data)
        told = make(table, chosen.requirement, method=chosen.method, progress=tell)
    if as_json:
        print_json(told.to_dict())
    else:
        _show(told)


def _show(told: Explanation) -> None:
    from rich.markup import escape

    screen = console()
    words = bullets()
    for paragraph in told.sentences():
        words.add_row("•", escape(paragraph))
    screen.print(words)
    table = grid("value", "people", "share", "bound", "factor", "smallest bucket", title="Every value", right=(1, 2, 3, 4, 5))
    for value in told.values:
        bound = "none" if value.bound == 1 else f"{float(value.bound):.4f}"
        factor = "" if value.bound == 1 else f"{value.factor:.3g}×"
        mark = "" if value.feasible else " (below its share)"
        table.add_row(
            escape(value.value), f"{value.count:,}", f"{float(value.share):.4f}", bound + mark, factor, str(value.needs)
        )
    screen.print(table)
