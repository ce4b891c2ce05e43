"""How much more often does partitioning (PP) keep a value than uniform perturbation of the whole (UP)?

Retention is p, averaged over records. "Per value" is ours: each value with the retention that its own bound allows.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.charts import Chart
from sfumato.methods.base import Method
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED, Census
from sfumato.studies.domain.perturbation import mean_retention, published, rho
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict

PRINTED = {"UP": {6: 2.9, 5: 4.0, 4: 5.9, 3: 9.4}, "PP": {6: 9.0, 5: 12.3, 4: 17.3, 3: 25.7}}
METHODS: dict[str, Method] = {
    "UP": UniformPerturbation(),
    "PP": SmallDomain(order="paper"),
    "PP, improved order": SmallDomain(),
    "PP, per value": SmallDomain(retention="per-value"),
}


def measure(source: Source, *, people: int, levels: Sequence[int], seed: int) -> Rows:
    """Return the mean retention per method and L."""
    secret = source.secrets[0]
    table = source.table(secret, people)
    return [
        {"method": name, "L": level, "retention": 100 * mean_retention(release, table)}
        for name, method in METHODS.items()
        for level in levels
        for release in (published(method, table, rho(secret, level), seed=seed),)
    ]


def draw(rows: Rows) -> Chart:
    """Return retention against L, ours and the paper's."""
    told = [
        {"method": f"{name}, the paper", "L": level, "retention": p} for name, row in PRINTED.items() for level, p in row.items()
    ]
    return lines(
        [*rows, *told], x="L", y="retention", series="method", steps=True, x_title="L = 1/ρ2", y_title="retention, %", width=460
    )


def judge(rows: Rows) -> Verdict:
    """Return whether PP at least doubles retention, and both are near the printed figures."""
    found = {(row["method"], row["L"]): row["retention"] for row in rows}
    levels = list(dict.fromkeys(row["L"] for row in rows))
    times = [found["PP", level] / found["UP", level] for level in levels]
    apart = max(abs(found[name, level] / PRINTED[name][level] - 1) for name in PRINTED for level in levels)
    why = (
        f"Partitioning keeps values {min(times):.1f} to {max(times):.1f} times as often as uniform perturbation; "
        f"figures are within "
        f"{100 * apart:.0f} % of those printed."
    )
    claims = {"partitioning at least doubles retention": min(times) >= 2, "figures are as printed, to a tenth": apart <= 0.1}
    return Verdict(claims, why)


def shown(rows: Rows) -> list[dict[str, Cell]]:
    """Return the table beside the paper's."""
    lined: dict[str, dict[str, Cell]] = {}
    for row in rows:
        name = row["method"]
        lined.setdefault(name, {"": name})[f"L = {row['L']}"] = f"{row['retention']:.1f} %"
        if name in PRINTED:
            lined.setdefault(f"{name}*", {"": f"{name}, the paper"})[f"L = {row['L']}"] = f"{PRINTED[name][row['L']]:.1f} %"
    return list(lined.values())


STUDY = Study(
    paper="002",
    figure="Table 2",
    says="retention of 9.0 to 25.7 % instead of 2.9 to 9.4 %: an increase of over 100 %.",
    printed={"people": 300_000, "levels": (6, 5, 4, 3)},
    full={"people": 300_000, "levels": (6, 5, 4, 3), "seeds": SEEDS},
    quick={"people": 100_000, "levels": (6, 5, 4, 3), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=shown,
    source=lambda: Census(secrets=("OCC",)),
    stand_in=(GENERATED,),
)
