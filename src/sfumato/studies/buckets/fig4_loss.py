"""What does each way of choosing bucket sizes lose?

Anatomy's loss is computed, as the papers do, from buckets of ℓ and ℓ + 1 although no such release exists where ℓ exceeds 1/max f.
MSE = loss/(|T| − 1) is the article's measure, IL = √loss/(|T| − 1) the thesis's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfumato.charts import Chart
from sfumato.errors import Infeasible
from sfumato.groups.settings.plan import STRATEGIES, plan
from sfumato.privacy.bounds import Bounds
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED, MAX_SIZE, THETAS
from sfumato.studies.draw import lines
from sfumato.studies.source import Source, bounds
from sfumato.studies.study import Rows, Study, Verdict

ANATOMY = "Anatomy (no such release)"
SLIGHTLY = 1.1
SIGNIFICANTLY = 1.5


def measure(source: Source, *, people: int, thetas: Sequence[int]) -> Rows:
    """Return per table, θ and strategy the loss, MSE, IL, and how many times the proven least loss that is."""
    rows = []
    for secret in source.secrets:
        for theta in thetas:
            given = bounds(source, secret, people, theta)
            losses: dict[str, int | None] = {ANATOMY: anatomy_loss(given)}
            least = None
            for strategy in STRATEGIES:
                try:
                    found = plan(given, strategy=strategy, max_size=MAX_SIZE)
                except Infeasible:
                    losses[strategy] = None
                else:
                    losses[strategy] = found.loss
                    least = found.lower_bound or least
            for name, loss in losses.items():
                row = {"table": secret, "θ": theta, "strategy": name, "loss": loss}
                if loss is not None:
                    row |= {
                        "MSE": loss / (given.people - 1),
                        "IL": loss**0.5 / (given.people - 1),
                        "times least": loss / (least or loss),
                    }
                rows.append(row)
    return rows


def anatomy_loss(given: Bounds) -> int:
    """Return the loss of buckets of ℓ and ℓ + 1 people, whether they exist or not."""
    size = max(given.needs)
    groups, rest = divmod(given.people, size)
    return (groups - rest) * (size - 1) ** 2 + rest * size**2


def draw(rows: Rows) -> Chart:
    """Return MSE against θ."""
    return lines(rows, x="θ", y="MSE", series="strategy", panel="table", steps=True, log_y=True, y_title="MSE (logarithmic)")


def judge(rows: Rows) -> Verdict:
    """Return whether Anatomy is far above, and two sizes and top-down only slightly above the optimum."""
    found = {(row["table"], row["θ"], row["strategy"]): row["times least"] for row in rows if row["loss"] is not None}
    cases = sorted({key[:2] for key in found})

    def ratios(one: str, other: str) -> list[float]:
        return [
            found[(*case, one)] / found[(*case, other)] for case in cases if (*case, one) in found and (*case, other) in found
        ]

    anatomy, two, down = ratios(ANATOMY, "two-size"), ratios("two-size", "top-down"), ratios("top-down", "optimal")
    claims = {
        f"Anatomy loses significantly more at every θ ({SIGNIFICANTLY:g} times or more)": min(anatomy) >= SIGNIFICANTLY,
        f"two sizes lose only slightly more than top-down ({SLIGHTLY:g} times at most)": max(two) <= SLIGHTLY,
        f"top-down loses only slightly more than the optimum ({SLIGHTLY:g} times at most)": max(down) <= SLIGHTLY,
    }
    why = (
        f"Anatomy loses {_span(anatomy)} times what two sizes lose; but two sizes lose {_span(two)} times what the "
        f"top-down search "
        f"loses, and that {_span(down)} times the optimum: {'slightly' if max(*two, *down) <= SLIGHTLY else 'not slightly'} more."
    )
    return Verdict(claims, why)


def _span(figures: list[float]) -> str:
    return f"{min(figures):.2f}–{max(figures):.2f}"


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return MSE, IL and times the least, a line for each θ."""
    show: dict[str, Callable[[float], str]] = {"MSE": lambda v: f"{v:.2f}", "times least": lambda v: f"{v:.2f}"}
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["table"], row["θ"]), {"table": row["table"], "θ": row["θ"]})
        known = row["loss"] is not None
        cells = (
            " / ".join([show["MSE"](row["MSE"]), f"{row['IL']:.4f}", show["times least"](row["times least"])]) if known else None
        )
        line[f"{row['strategy']}: MSE / IL / × least"] = cells
    return list(lined.values())


STUDY = Study(
    paper="001",
    figure="Figure 4",
    says="Anatomy loses significantly more at every θ; two sizes lose only slightly more than top-down, and that "
    "only slightly more "
    "than the optimum.",
    printed={"people": 300_000, "thetas": THETAS},
    full={"people": 300_000, "thetas": THETAS},
    quick={"people": 50_000, "thetas": THETAS},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
