"""What does putting near people together buy: how far are count answers from the truth, at the same bound, and at what exposure?

Bundled census, Occupation; blind buckets (the papers' optimum), safe and soft boxes (against an engineer) and tight boxes
(against a reader), read with each release's default estimator and with the papers'. Median relative error divided by that of
assuming independence: 1 tells nothing, 0 everything. Exposure is the mean belief of a reader in a person's true value. Beside
them differential privacy: noisy tables fitted together, at ε = 1 and at the ε that 8f+0.02 is for an insider, quasi counts exact.

`--table FILE` (Parquet) asks the same of a table of one's own: of five samples of 100,000 people, and of all of them with five
draws of coins. `--sensitive` names its secret, `occupation` if it does not. All other columns are quasi columns but those called
`<secret>_…`, which tell it.

A run also draws `error-against-exposure.svg` and `boxes.svg` beside its results; after a full run, copy both to `docs/pictures/`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._charts import Panel, Point, plan_of_boxes, scatter
from benchmarks._noisy_tables import noisy_tables, noisy_tables_error
from benchmarks._show import Cell, Show
from sfumato.errors import Infeasible
from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.cuts import Space, cut_boxes
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import soft_rule
from sfumato.methods import Method
from sfumato.privacy.requirement import Against, Requirement
from sfumato.query import anatomy_workload, range_workload
from sfumato.release.buckets import BucketsRelease
from sfumato.studies.timing import best_of
from sfumato.table.column import Kind
from sfumato.table.generators import census
from sfumato.utility import WorkloadError, gcp
from sfumato.utility.query_error import TrueAnswers, asked_of, error_of

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
CATEGORIES = ("gender", "marital", "race", "workclass", "country")
WORKLOADS = ("random sets", "ranges")
CLASSES = ("1–9", "10–99", "100–999", "≥ 1000")
PROTOTYPE = {
    ("safe", "8f+0.02"): "0.60 / 0.19",
    ("safe", "32f+0.02"): "0.26 / 0.04",
    ("safe", "1/5"): "0.76 / 0.35",
    ("tight", "8f+0.02"): "0.32 / 0.06",
    ("tight", "32f+0.02"): "0.13 / 0.02",
    ("tight", "1/5"): "0.35 / 0.08",
    ("tight", "β = 3"): "0.61 / 0.20",
}
"""What a first prototype reached with boxes of two people or more."""

METHODS: dict[str, tuple[Against, Method]] = {
    "blind": ("engineer", sfumato.MultiSize()),
    "safe": ("engineer", sfumato.Boxes(floor=2, patience=0)),
    "safe, ≥ 100": ("engineer", sfumato.Boxes(patience=0)),
    "soft": ("engineer", sfumato.Boxes(floor=2)),
    "soft, ≥ 100": ("engineer", sfumato.Boxes()),
    "tight": ("reader", sfumato.Boxes(floor=2)),
    "tight, ≥ 100": ("reader", sfumato.Boxes()),
}
USUAL = ("safe, ≥ 100", "soft, ≥ 100", "tight, ≥ 100")
SAMPLE = 100_000


@dataclass(frozen=True)
class Found:
    """What one release of one table tells, exposes and costs; errors by workload, coverage by workload and answer size."""

    default: Mapping[str, WorkloadError]
    paper: Mapping[str, WorkloadError]
    exposure: float
    worst: tuple[float, float]
    gcp: float
    groups: int
    smallest: int
    largest: int
    loss: float
    seconds: float
    one_box: bool


Study = dict[tuple[str, str], list[Found] | None]
"""By grouping and bound: one finding per table, None where no release keeps the bound."""


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = "occupation") -> None:
    """Show the study on the census as `Table` guesses it and with categories stated, draw the pictures, and time the cuts."""
    if table is not None:
        _show_own(show, pq.read_table(table), sensitive, quick=quick)
        return
    rows, runs, queries = (20_000, 1, 200) if quick else (100_000, 5, 500)
    tables = [_table(rows, seed) for seed in range(1, runs + 1)]
    study = _study(tables, queries, METHODS, requirements("reader"))
    _show_study(show, f"{rows:,} people, mean{' ± spread' if runs > 1 else ''} of {runs} tables", tables, study)
    _show_coverage(show, study)
    _show_differential(show, tables, queries)
    stated = [_table(rows, seed, categories=CATEGORIES) for seed in range(1, min(runs, 2) + 1)]
    smaller = _study(stated, queries, {name: METHODS[name] for name in ("blind", "soft", "tight")}, ("8f+0.02", "1/5"))
    _show_stated(show, f"Categories stated: {rows:,} people, mean of {len(stated)} tables", smaller)
    _draw(show, tables[0], study)
    _speed(show, [100_000] if quick else [100_000, 500_000])


def _show_own(show: Show, whole: pa.Table, sensitive: str, *, quick: bool) -> None:
    """Show what safe, soft and tight boxes tell of a table of one's own: of samples, and of everybody."""
    runs, queries = (1, 200) if quick else (5, 500)
    quasi = [name for name in whole.column_names if name != sensitive and not name.startswith(f"{sensitive}_")]
    schema = sfumato.Schema(quasi=quasi, sensitive=[sensitive], types={sensitive: "categorical"})
    methods = {name: METHODS[name] for name in USUAL}
    samples = [whole]
    if whole.num_rows > SAMPLE:
        drawn = [np.random.default_rng(seed).permutation(whole.num_rows)[:SAMPLE] for seed in range(1, runs + 1)]
        samples = [whole.take(np.sort(rows)) for rows in drawn]
    for tables in [samples] if samples[0] is whole or quick else [samples, [whole]]:
        read = [sfumato.Table.from_frame(one.select([*quasi, sensitive]), schema) for one in tables]
        drawn_again = len(read) == 1
        read *= runs if drawn_again else 1
        title = f"{read[0].rows:,} people, {sensitive}, mean of {len(read)} {'draws' if drawn_again else 'tables'}"
        _show_study(show, title, read, _study(read, queries, methods, requirements("reader")))
        _show_differential(show, read, queries)


def _table(rows: int, seed: int, categories: Sequence[str] = (), quasi: Sequence[str] = QUASI) -> sfumato.Table:
    """Return the census; columns that are not stated to be categories are numbers, as `Table` guesses."""
    types: dict[str, Kind] = dict.fromkeys([*categories, "occupation"], "categorical")
    schema = sfumato.Schema(quasi=quasi, sensitive=["occupation"], types=types)
    return sfumato.Table.from_frame(census(rows, seed).select([*quasi, "occupation"]), schema)


def requirements(against: Against) -> dict[str, Requirement]:
    """Return the bounds of the study."""
    linear = {f"{theta}f+0.02": sfumato.FPrivacy(theta=theta, offset="0.02", against=against) for theta in (2, 8, 32)}
    equal = {f"1/{ell}": sfumato.LDiversity(ell, against=against) for ell in (5, 10)}
    return {**linear, **equal, "β = 3": sfumato.BetaLikeness(3, against=against)}


def _show_differential(show: Show, tables: Sequence[sfumato.Table], queries: int) -> None:
    """Show what noisy tables of the secret with each quasi column answer under differential privacy."""
    lines: list[list[Cell]] = []
    questions = [_asked(table, queries, seed) for seed, table in enumerate(tables)]
    for epsilon in (1.0, 2.37):
        found = []
        for seed, (table, asked) in enumerate(zip(tables, questions, strict=True)):
            chances = noisy_tables(table, epsilon, seed)
            found.append([noisy_tables_error(table, one, chances) for one in asked.values()])
        lines.append([f"ε = {epsilon:g}", " / ".join(_spread(each) for each in zip(*found, strict=True))])
    show.table(f"Differential privacy: {tables[0].rows:,} people, noisy tables, quasi counts exact", ["noise", "error"], lines)


def _asked(table: sfumato.Table, queries: int, seed: int) -> dict[str, TrueAnswers]:
    drawn = anatomy_workload(table, queries=queries, seed=seed), range_workload(table, queries=queries, seed=seed)
    return {name: asked_of(table, workload) for name, workload in zip(WORKLOADS, drawn, strict=True)}


def _study(
    tables: Sequence[sfumato.Table],
    queries: int,
    methods: Mapping[str, tuple[Against, Method]],
    bounds: Sequence[str] | Mapping[str, Requirement],
) -> Study:
    questions = [_asked(table, queries, seed) for seed, table in enumerate(tables)]
    found: Study = {}
    for name, (against, method) in methods.items():
        for bound in bounds:
            requirement = requirements(against)[bound]
            try:
                each = [
                    _release(table, requirement, method, asked, seed)
                    for seed, (table, asked) in enumerate(zip(tables, questions, strict=True), 1)
                ]
            except Infeasible:
                found[name, bound] = None
            else:
                found[name, bound] = each
    return found


def _release(
    table: sfumato.Table, requirement: Requirement, method: Method, asked: Mapping[str, TrueAnswers], seed: int
) -> Found:
    start = time.perf_counter()
    result = sfumato.publication(table, requirement, method=method, random=seed)
    seconds = time.perf_counter() - start
    claim, release = result.audit.claims[0], result.release
    assert isinstance(release, BucketsRelease)
    assert claim.worst is not None
    assert claim.bound is not None
    return Found(
        default={name: error_of(release, one) for name, one in asked.items()},
        paper={name: error_of(release, one, estimator="paper") for name, one in asked.items()},
        exposure=result.audit.exposure or 0.0,
        worst=(float(claim.worst), float(claim.bound)),
        gcp=gcp(release).value,
        groups=len(release.sizes),
        smallest=int(release.sizes.min()),
        largest=int(release.sizes.max()),
        loss=float(result.private["loss"]),
        seconds=seconds,
        one_box=method.name == sfumato.Boxes.name and len(release.sizes) == 1,
    )


def _show_study(show: Show, title: str, tables: Sequence[sfumato.Table], study: Study) -> None:
    nothing: list[Cell] = ["independence", None, "1.00 / 1.00", "1.00 / 1.00", None, None, _independent(tables)[0]]
    lines: list[list[Cell]] = [[*nothing, *[None] * 7]]
    for (name, bound), found in study.items():
        if found is None:
            lines.append([name, bound, "no buckets of ≤ 50", *[None] * 11])
            continue
        worst, limit = min((one.worst for one in found), key=lambda pair: pair[1] - pair[0])
        lines.append(
            [
                f"{name} → one box" if any(one.one_box for one in found) else name,
                bound,
                " / ".join(_spread([_relative(one.default[w]) for one in found]) for w in WORKLOADS),
                " / ".join(_spread([_relative(one.paper[w]) for one in found]) for w in WORKLOADS),
                PROTOTYPE.get((name, bound)),
                _coverages(found),
                mean(one.exposure for one in found),
                f"{worst:.3f} / {limit:.3f}",
                mean(one.gcp for one in found),
                mean(one.groups for one in found),
                min(one.smallest for one in found),
                max(one.largest for one in found),
                mean(one.loss for one in found),
                mean(one.seconds for one in found),
            ]
        )
    columns = ["boxes", "bound", "default estimator", "papers' estimator", "prototype", "covered", "exposure", "worst / bound"]
    columns += ["GCP", "groups", "smallest", "largest", "loss", "s"]
    show.table(f"{title}; error / error of independence and 95 % intervals, random sets / ranges", columns, lines)
    show.note("Spread: standard deviation over tables. Worst / bound: the belief nearest its bound in any table's audit.")
    if any(one.one_box for found in study.values() if found is not None for one in found):
        show.note("→ one box: in some table there was no room for a first cut, and everybody is in one box.")


def _relative(error: WorkloadError) -> float:
    return error.median / error.independence_median


def _spread(figures: Sequence[float]) -> str:
    return f"{mean(figures):.2f}" + (f" ± {stdev(figures):.2f}" if len(figures) > 1 else "")


def _coverages(found: Sequence[Found]) -> str | None:
    """Return the mean coverage per workload, None where the default estimator gives no intervals."""
    known = [[one.default[name].coverage for one in found] for name in WORKLOADS]
    shares = [[share for share in each if share is not None] for each in known]
    return " / ".join(f"{mean(each):.3f}" for each in shares) if all(len(each) == len(found) for each in shares) else None


def _show_coverage(show: Show, study: Study) -> None:
    """Show how many 95 % intervals hold the truth, by the size of the true answer, where there are intervals."""
    lines: list[list[Cell]] = []
    for (name, bound), found in study.items():
        if found is not None and _coverages(found) is not None:
            lines.append([name, bound, *(_covered(found, w, size) for w in WORKLOADS for size in CLASSES)])
    if lines:
        columns = ["boxes", "bound", *(f"{workload}, {size}" for workload in WORKLOADS for size in CLASSES)]
        show.table("95 % intervals that hold the truth, of so many queries, by true answer", columns, lines)


def _covered(found: Sequence[Found], workload: str, size: str) -> str | None:
    classes = [one for each in found for one in each.default[workload].classes if one.name == size and one.coverage is not None]
    queries = sum(one.queries for one in classes)
    hit = sum((one.coverage or 0.0) * one.queries for one in classes)
    return f"{hit / queries:.3f} of {queries:,}" if queries else None


def _show_stated(show: Show, title: str, study: Study) -> None:
    lines: list[list[Cell]] = []
    for (name, bound), found in study.items():
        if found is None:
            continue
        errors = [" / ".join(f"{mean(_relative(one.default[w]) for one in found):.2f}" for w in WORKLOADS)]
        errors.append(" / ".join(f"{mean(_relative(one.paper[w]) for one in found):.2f}" for w in WORKLOADS))
        figures = [mean(getattr(one, figure) for one in found) for figure in ("exposure", "gcp", "groups")]
        lines.append([name, bound, *errors, *figures])
    columns = ["boxes", "bound", "default estimator", "papers' estimator", "exposure", "GCP", "groups"]
    show.table(title, columns, lines)


def _independent(tables: Sequence[sfumato.Table]) -> tuple[float, float, str]:
    """Return the exposure and the relative error of a release that shows no more than the shares of the sensitive values."""
    shares = [np.array(list(table.sensitive.histogram().values())) / table.rows for table in tables]
    return mean(float((each**2).sum()) for each in shares), 1.0, ""


def _draw(show: Show, table: sfumato.Table, study: Study) -> None:
    points: dict[str, list[Point]] = {"independence": [_independent([table])]}
    for name, label in (("blind", "blind buckets"), ("safe", "safe boxes"), ("soft", "soft boxes"), ("tight", "tight boxes")):
        points[label] = [
            (mean(one.exposure for one in found), mean(_relative(one.default["ranges"]) for one in found), bound)
            for (grouping, bound), found in study.items()
            if grouping == name and found is not None and not any(one.one_box for one in found)
        ]
    paths = [
        scatter(
            show.directory / "error-against-exposure.svg",
            points,
            title="What a release tells analysts, and what it tells about a person",
            note="a point per bound on belief, f being a value’s share · down: better answers · left: people less exposed",
            x="exposure: a reader's mean belief in a person's true value",
            y="median error of range queries ÷ that of independence",
        ),
        plan_of_boxes(
            show.directory / "boxes.svg",
            *_panels(),
            title="The same people, the same bound: safe cuts and tight cuts",
            note="2,000 people of the census, a dot each, age and education known · no belief above 8 × share + 2 %",
            x="age",
            y="education, from none to doctorate",
        ),
    ]
    show.note("Pictures: " + ", ".join(path.name for path in paths))


def _panels() -> tuple[Panel, Panel]:
    """Return safe and tight boxes of a small census with two quasi columns, and its people."""
    table = _table(2000, 1, quasi=("age", "education"))
    bounds = requirements("reader")["8f+0.02"].bounds(table.sensitive.histogram())
    space, weights = Space.of(table.quasi), np.ones(2)

    def cut(name: str, note: str, *, tight: bool) -> Panel:
        boxes = cut_boxes(space, table.sensitive.codes, bounds, tight=tight, floor=2, weights=weights)
        return _panel(f"{name}: {boxes.groups} boxes", note, table, boxes)

    return (
        cut("Safe", "a cut is harmless however the values fall on the people", tight=False),
        cut("Tight", "a cut is harmless as the values happen to have fallen", tight=True),
    )


def _panel(title: str, note: str, table: sfumato.Table, boxes: Grouping) -> Panel:
    """Return the smallest box of every group: by age in years, and by education in the order of its codes."""
    age, education = (column.codes.astype(np.int64) for column in table.quasi)
    places = (np.asarray(table.quasi[0].values)[age], education)
    ends = []
    for place in places:
        low, high = np.full(boxes.groups, place.max()), np.full(boxes.groups, place.min())
        np.minimum.at(low, boxes.group, place)
        np.maximum.at(high, boxes.group, place)
        ends += [low.tolist(), high.tolist()]
    return Panel(title, note, list(zip(*ends, strict=True)), np.stack(places, axis=1).tolist())


def _speed(show: Show, sizes: list[int]) -> None:
    lines: list[list[Cell]] = []
    for rows in sizes:
        table = _table(rows, 1)
        for cuts, limit in (("safe", 2.0), ("soft", 6.0), ("tight", 6.0)):
            slowest = 0.0
            for requirement in requirements("reader").values():
                bounds = requirement.bounds(table.sensitive.histogram())
                seconds, _ = best_of(
                    3,
                    lambda table=table, bounds=bounds, cuts=cuts: cut_into_boxes(  # type: ignore[misc]
                        table.quasi,
                        table.sensitive.codes,
                        bounds,
                        tight=cuts == "tight",
                        floor=2,
                        weights=None,
                        soft=soft_rule(bounds) if cuts == "soft" else None,
                    ),
                )
                slowest = max(slowest, seconds)
            lines.append([rows, cuts, slowest, limit])
    show.table(
        "Cutting quasi space into boxes of two people or more: seconds, the slowest of all bounds",
        ["people", "cuts", "s", "target at 500K"],
        lines,
    )
