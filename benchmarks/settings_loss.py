"""What does each way of choosing bucket sizes lose, and which ℓ would ℓ-diversity need for the same bounds?

The papers' Figures 3 and 4 on OCC-300K and EDU-300K. They print no losses; the ℓ beside ours follows from the smallest shares
they give (0.18 % and 0.44 %). Anatomy's loss is computed, as theirs, from groups of ℓ and ℓ+1 although no such release exists
where ℓ exceeds 1/max f.
"""

from __future__ import annotations

from fractions import Fraction

from benchmarks._census import MAX_SIZE, OFFSET, THETAS, bounds
from benchmarks._show import Cell, Show
from sfumato.errors import Infeasible
from sfumato.exact import ceil_inverse
from sfumato.groups.settings.plan import STRATEGIES, plan
from sfumato.privacy.bounds import Bounds

PEOPLE = 300_000
PAPER_SMALLEST = {"OCC": Fraction("0.0018"), "EDU": Fraction("0.0044")}
PAPER_LARGEST_L = {"OCC": 13, "EDU": 3}


def run(show: Show, quick: bool) -> None:
    """Show ℓ against θ, then loss and MSE of every strategy against θ."""
    people = 50_000 if quick else PEOPLE
    _needed_l(show, people)
    for attribute in PAPER_SMALLEST:
        _losses(show, attribute, people)


def _needed_l(show: Show, people: int) -> None:
    table: list[list[Cell]] = []
    for attribute, smallest in PAPER_SMALLEST.items():
        for theta in THETAS:
            given = bounds(attribute, people, theta)
            paper = ceil_inverse(theta * smallest + Fraction(OFFSET))
            largest = int(1 / max(given.shares))
            needed = max(given.needs)
            possible = "yes" if needed <= largest else "no"
            table.append([attribute, theta, paper, needed, PAPER_LARGEST_L[attribute], largest, possible])
    columns = ["table", "θ", "ℓ needed, paper", "ℓ needed", "largest ℓ, paper", "largest ℓ", "ℓ-diversity possible"]
    show.table(f"ℓ = ⌈1/min bound⌉ against θ ({people:,} people; paper: Figure 3)", columns, table)


def _losses(show: Show, attribute: str, people: int) -> None:
    table: list[list[Cell]] = []
    for theta in THETAS:
        given = bounds(attribute, people, theta)
        losses: dict[str, int | None] = {"Anatomy (ignoring eligibility)": _anatomy_loss(given)}
        lower = 0
        for strategy in reversed(STRATEGIES):
            try:
                found = plan(given, strategy=strategy, max_size=MAX_SIZE)
            except Infeasible:
                losses[strategy] = None
            else:
                losses[strategy] = found.loss
                lower = found.lower_bound or lower
        for name, loss in losses.items():
            mse = None if loss is None else loss / (people - 1)
            table.append([theta, name, loss, mse, None if loss is None else loss / lower])
    columns = ["θ", "strategy", "loss", "MSE", "times the proven bound"]
    show.table(f"Loss against θ ({attribute}, {people:,} people, M' = {MAX_SIZE}; paper: Figure 4)", columns, table)


def _anatomy_loss(given: Bounds) -> int:
    size = max(given.needs)
    groups, rest = divmod(given.total, size)
    return (groups - rest) * (size - 1) ** 2 + rest * size**2
