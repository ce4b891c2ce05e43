"""What do Ambiguity and PriView cost, what do they hide, and is anything learned from them that one-way marginals do not tell?

004's Figures 11 to 15 on the bundled census: seven quasi columns (age and education numeric), Occupation and Salary. α = 0.1 and
β = 0.2 where not said otherwise; the paper's β = 0.05 and 0.025 are impossible here, where one occupation has 7.8 % of people.
PriView moves the column of the paper's rule. Boxes are cut against a reader (tight). A density of d:
N people share the quasi values of N/d. Seconds are the processor's.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato
from benchmarks._questions import Question, draw_questions
from benchmarks._show import Cell, Show
from sfumato.errors import Infeasible
from sfumato.methods.base import Method
from sfumato.privacy.requirement import Against
from sfumato.query import Query, Workload, anatomy_workload, count_many, true_answers
from sfumato.query.answer import Estimate, Estimator
from sfumato.release.columns import ColumnsRelease
from sfumato.release.views import ViewsRelease
from sfumato.table.column import Kind
from sfumato.table.generators import census
from sfumato.utility import marginals

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
SENSITIVE = ("occupation", "salary")
ALPHA, BETA = "0.1", "0.2"
PAPER = sfumato.Ambiguity(grouping="paper", accept_weaker_claim=True)
PRIVIEW = sfumato.PriView(grouping="paper", accept_weaker_claim=True)
BOXES = sfumato.Ambiguity()
FRAGMENTS: Mapping[str, Method] = {
    "Ambiguity, boxes": BOXES,
    "Ambiguity, boxes of ≥ 100": sfumato.Ambiguity(floor=100),
    "Ambiguity, paper": PAPER,
    "Ambiguity, paper, greedy pick": replace(PAPER, pick="greedy"),
    "PriView, paper": PRIVIEW,
    "PriView, paper, pairs": replace(PRIVIEW, pick="pairs"),
}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How large a study is: people, sizes whose times are compared, questions, and fresh tables for coverage."""

    people: int
    sizes: tuple[int, int]
    repeats: int
    alphas: tuple[str, ...]
    betas: tuple[str, ...]
    densities: tuple[int, ...]
    sensitive: tuple[str, ...]
    queries: int
    grouped: int
    tables: int
    outsiders: int


QUICK = Scale(2_000, (2_000, 10_000), 1, ("0.1", "0.3"), ("0.1", "0.2"), (1, 3), ("occupation",), 40, 3, 2, 1_000)
FULL = Scale(
    100_000,
    (100_000, 500_000),
    2,
    ("0.02", "0.1", "0.3"),
    ("0.1", "0.2", "0.3"),
    (1, 2, 3, 4, 5),
    SENSITIVE,
    200,
    12,
    12,
    20_000,
)


def run(show: Show, quick: bool) -> None:
    """Show time and memory, groups, what strangers learn about presence, query error, and how wrong intervals would be."""
    scale = QUICK if quick else FULL
    for sensitive in scale.sensitive:
        _compile(sensitive)
        _times(show, scale, sensitive)
        _growth(show, scale, sensitive)
        table = census_table(scale.people, sensitive)
        _groups(show, scale, table, sensitive)
        _presence(show, scale, table, sensitive)
        _errors(show, scale, table, sensitive)
        _by_beta(show, scale, table, sensitive)
    _sound_priview(show, census_table(scale.people, "occupation"))
    _coverage(show, scale)


def census_table(people: int, sensitive: str, *, seed: int = 1, density: int = 1) -> sfumato.Table:
    """Return the census; with a density d, every one of N/d people's quasi values d times, and N sensitive values as they are."""
    frame = census(people, seed).select([*QUASI, sensitive])
    if density > 1:
        repeated = np.arange(people) % -(-people // density)
        frame = pa.table({**{name: frame[name].take(repeated) for name in QUASI}, sensitive: frame[sensitive]})
    types: dict[str, Kind] = dict.fromkeys(frame.column_names, "categorical")
    types |= {"age": "numeric", "education": "numeric"}
    return sfumato.Table.from_frame(frame, sfumato.Schema(quasi=QUASI, sensitive=[sensitive], types=types))


def _needs(alpha: str = ALPHA, beta: str = BETA, against: Against = "reader") -> sfumato.PresenceAssociation:
    return sfumato.PresenceAssociation(alpha, beta, against=against)


def _made(method: Method, table: sfumato.Table, needed: sfumato.PresenceAssociation) -> sfumato.Release | None:
    try:
        return method.run(table, needed, random=1).release
    except Infeasible:
        return None


def _compile(sensitive: str) -> None:
    table = census_table(2_000, sensitive)
    for method in FRAGMENTS.values():
        _made(method, table, _needs())
    _made(BOXES, table, _needs(against="engineer"))


def _times(show: Show, scale: Scale, sensitive: str) -> None:
    """Show seconds against α and β, and against density ([AMB, Fig. 11 and 12])."""
    table = census_table(scale.people, sensitive)
    lineup = {name: FRAGMENTS[name] for name in ("Ambiguity, boxes", "Ambiguity, paper", "PriView, paper")}
    rows: list[list[Cell]] = []
    for beta in scale.betas:
        for name, method in lineup.items():
            rows.append([f"β = {beta}", name, *(_seconds(scale, method, table, _needs(a, beta)) for a in scale.alphas)])
    show.table(f"{sensitive}, {scale.people:,} people, seconds", ["", "", *(f"α = {a}" for a in scale.alphas)], rows)
    rows = []
    tables = [census_table(scale.people, sensitive, density=d) for d in scale.densities]
    for beta in scale.betas[:2]:
        for name, method in lineup.items():
            rows.append([f"β = {beta}", name, *(_seconds(scale, method, dense, _needs(ALPHA, beta)) for dense in tables)])
    show.table(f"{sensitive}, density, α = {ALPHA}, seconds", ["", "", *(f"d = {d}" for d in scale.densities)], rows)


def _seconds(scale: Scale, method: Method, table: sfumato.Table, needed: sfumato.PresenceAssociation) -> float | None:
    """Return the least processor seconds of some runs, None where the bounds cannot be kept."""
    found = []
    for _ in range(scale.repeats):
        start = time.process_time()
        if _made(method, table, needed) is None:
            return None
        found.append(time.process_time() - start)
    return min(found)


def _growth(show: Show, scale: Scale, sensitive: str) -> None:
    """Show how time grows with people, and memory beyond the table, in coded tables."""
    small, large = (census_table(people, sensitive) for people in scale.sizes)
    rows: list[list[Cell]] = []
    limits = {"Ambiguity, boxes": 10.0, "Ambiguity, safe boxes": 10.0, "Ambiguity, paper": 5.0, "PriView, paper": 5.0}
    for name, limit in limits.items():
        method, needed = _growing(name)
        first, second = (_seconds(scale, method, table, needed) for table in (small, large))
        if first is None or second is None:
            continue
        with get_context("spawn").Pool(1) as fresh:
            memory = fresh.apply(_memory, (name, large.rows, sensitive))
        rows.append([name, first, second, second / first, memory])
        if large.rows == 500_000:
            show.target(f"{sensitive}, {name}, {large.rows:,} people, seconds", second, limit)
            show.target(f"{sensitive}, {name}, times the seconds of {small.rows:,}", second / first, 6.5)
            if memory is not None:
                show.target(f"{sensitive}, {name}, peak memory in coded tables", memory, 10)
    show.table(f"{sensitive}, growth", ["", *(f"{n:,}, s" for n in scale.sizes), "times", "memory / coded table"], rows)


def _growing(name: str) -> tuple[Method, sfumato.PresenceAssociation]:
    return FRAGMENTS.get(name, BOXES), _needs(against="engineer" if "safe" in name else "reader")


def _memory(name: str, people: int, sensitive: str) -> float | None:
    """Return by how many coded tables a run's peak memory exceeds what a fresh process had before; None off Linux."""
    method, needed = _growing(name)
    _made(method, census_table(2_000, sensitive), needed)
    table = census_table(people, sensitive)
    coded = sum(column.codes.nbytes for column in table.quasi) + table.sensitive.codes.nbytes
    gc.collect()
    pa.default_memory_pool().release_unused()
    before = _peak(reset=True)
    _made(method, table, needed)
    after = _peak()
    return None if before is None or after is None else (after - before) / coded


def _peak(*, reset: bool = False) -> float | None:
    """Return the process's peak resident bytes, or from now on after a reset, where the system tells (Linux); None elsewhere."""
    try:
        if reset:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except (OSError, AttributeError):
        return None
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)


def _groups(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    room = float(np.prod([float(column.size) for column in table.quasi]))
    rows: list[list[Cell]] = []
    for name, method in FRAGMENTS.items():
        for beta in scale.betas:
            release = _made(method, table, _needs(ALPHA, beta))
            if isinstance(release, ColumnsRelease):
                distinct = float(np.mean([np.diff(start).mean() for start in release.start]))
                rows.append([name, f"β = {beta}", *_sizes(release.sizes), distinct, float(release.group_presence.max())])
            elif isinstance(release, ViewsRelease):
                rows.append([f"{name}, {', '.join(release.moved)} moved", f"β = {beta}", *_sizes(release.sizes), None, None])
    columns = ["", "", "groups", "smallest", "median", "largest", "values a column", "worst n/V"]
    show.table(f"{sensitive}, groups, α = {ALPHA}, {table.rows:,} people", columns, rows)
    show.note(f"The smallest α that any boxes can reach here is N/V = {table.rows / room:.1e}.")


def _sizes(sizes: npt.NDArray[np.int64]) -> list[Cell]:
    return [len(sizes), int(sizes.min()), float(np.median(sizes)), int(sizes.max())]


def _presence(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    """Show what a stranger believes, combined over all groups that cover a person."""
    coins = np.random.default_rng(7)
    some = coins.permutation(table.rows)[: scale.outsiders]
    members = pa.table({column.name: column.take(some).arrow() for column in table.quasi})
    fresh = census(scale.outsiders, 2).select(QUASI)
    mixed = pa.table({name: fresh[name].take(coins.permutation(len(fresh))) for name in QUASI})
    rows: list[list[Cell]] = []
    for name, method in FRAGMENTS.items():
        release = _made(method, table, _needs())
        if release is None:
            continue
        for who, people in (("members", members), ("outsiders, real", fresh), ("outsiders, random", mixed)):
            found = release.presence(people)
            over = float((found > float(ALPHA) + 1e-12).mean())
            rows.append([name, who, float(found.mean()), float(found.max()), over, float((found == 0).mean())])
    columns = ["", "", "mean presence", "largest", f"share over α = {ALPHA}", "certainly absent"]
    show.table(f"{sensitive}, combined presence, β = {BETA}, {table.rows:,} people", columns, rows)


def _lineup(table: sfumato.Table, beta: str) -> dict[str, tuple[sfumato.Release, Estimator | None]]:
    """Return releases and the estimators they are asked with: the papers', and the default where it differs."""
    found: dict[str, tuple[sfumato.Release, Estimator | None]] = {}
    for name, method in FRAGMENTS.items():
        release = _made(method, table, _needs(ALPHA, beta))
        if release is not None:
            found[f"{name}; estimator paper"] = (release, "paper")
            if isinstance(release, ColumnsRelease):
                found[name] = (release, None)
    bound = sfumato.FPrivacy(theta=0, offset=beta, against="reader")
    generalized = sfumato.Mondrian().run(table, bound, random=1).release
    found["Mondrian, ranges; estimator paper"] = (generalized, "paper")
    found["Mondrian, ranges"] = (generalized, None)
    return found


def _errors(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    """Show query error against selectivity and number of columns ([AMB, Fig. 13])."""
    lineup = _lineup(table, BETA)
    asked = {f"{100 * s:g} %, 3": _Asked.draw(table, scale, 3, s) for s in (0.01, 0.05, 0.1)}
    asked |= {f"5 %, {columns}": _Asked.draw(table, scale, columns, 0.05) for columns in (4, 5)}
    _show_errors(show, f"{sensitive}, selectivity and columns, β = {BETA}, {table.rows:,} people", lineup, asked)


def _by_beta(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    """Show query error against β ([AMB, Fig. 14])."""
    asked = _Asked.draw(table, scale, 3, 0.05)
    found: dict[str, list[list[Cell]]] = {}
    for place, beta in enumerate(scale.betas):
        for name, entry in _lineup(table, beta).items():
            found.setdefault(name, [[None, None] for _ in scale.betas])[place] = asked.errors(*entry)
    found["one-way marginals"] = [asked.of_marginals()] * len(scale.betas)
    for place, what in enumerate(("conditions", "GROUP BY")):
        rows: list[list[Cell]] = [[name, *(pair[place] for pair in pairs)] for name, pairs in found.items()]
        columns = ["", *(f"β = {beta}" for beta in scale.betas)]
        show.table(f"{sensitive}, β, 5 %, 3 columns, {table.rows:,} people: {what}", columns, rows)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Conditions and GROUP BY questions of one kind, with their true answers."""

    workload: Workload
    truth: Floats
    alone: Floats
    grouped: list[Question]

    @classmethod
    def draw(cls, table: sfumato.Table, scale: Scale, columns: int, selectivity: float) -> _Asked:
        drawn = anatomy_workload(table, queries=scale.queries, qd=columns, selectivity=selectivity, seed=3)
        truth = true_answers(table, drawn).astype(np.float64)
        kept: list[Query] = [query for query, answer in zip(drawn, truth, strict=True) if answer > 0]
        workload = Workload(drawn.name, tuple(kept))
        grouped = draw_questions(table, count=scale.grouped, columns=columns, selectivity=selectivity, seed=4)
        return cls(workload, truth[truth > 0], marginals(table, workload), grouped)

    def errors(self, release: sfumato.Release, estimator: Estimator | None) -> list[Cell]:
        """Return the median relative error of conditions, and the mean error of GROUP BY answers."""
        answers = count_many(release, self.workload, estimator=estimator)
        values = np.array([answer.value for answer in answers if isinstance(answer, Estimate)])
        return [self._median(values), float(np.mean([question.error(release, estimator) for question in self.grouped]))]

    def of_marginals(self) -> list[Cell]:
        """Return the same for one-way marginals."""
        return [self._median(self.alone), float(np.mean([question.marginal_error for question in self.grouped]))]

    def _median(self, values: Floats) -> float:
        return float(np.median(np.abs(values - self.truth) / self.truth))


def _show_errors(
    show: Show, title: str, lineup: Mapping[str, tuple[sfumato.Release, Estimator | None]], asked: Mapping[str, _Asked]
) -> None:
    """Show one table for conditions and one for GROUP BY."""
    found = {name: [one.errors(*entry) for one in asked.values()] for name, entry in lineup.items()}
    found["one-way marginals"] = [one.of_marginals() for one in asked.values()]
    for place, what in enumerate(("conditions", "GROUP BY")):
        rows: list[list[Cell]] = [[name, *(pair[place] for pair in pairs)] for name, pairs in found.items()]
        show.table(f"{title}: {what}", ["", *asked], rows)
    show.note(
        "Median relative error of conditions; for GROUP BY the mean over answers of Σ|estimate − truth| / Σ truth of cells."
    )


def _sound_priview(show: Show, table: sfumato.Table) -> None:
    try:
        release = sfumato.PriView().run(table, _needs(), random=1).release
        show.note(f"PriView in boxes that keep (α, β): {release!r}.")
    except Infeasible as error:
        show.note(f"PriView in boxes that keep (α, β) is impossible on the census: {error.message}")


def _coverage(show: Show, scale: Scale) -> None:
    """Show how often a nominal 95 % interval from the standard error would hold the truth, on fresh tables."""
    hits: dict[str, list[bool]] = {}
    for seed in range(10, 10 + scale.tables):
        table = census_table(min(scale.people, 20_000), "occupation", seed=seed)
        lineup = _lineup(table, BETA)
        for workload in (
            anatomy_workload(table, queries=scale.queries // 2, selectivity=0.05, seed=seed),
            anatomy_workload(table, queries=scale.queries // 2, qd=2, selectivity=0.2, seed=seed),
        ):
            truth = true_answers(table, workload)
            for name, (release, estimator) in lineup.items():
                answers = count_many(release, workload, estimator=estimator)
                hits.setdefault(name, []).extend(_inside(answers, truth))
    rows: list[list[Cell]] = [[name, len(found), float(np.mean(found))] for name, found in hits.items()]
    show.table("Nominal 95 % from the standard error", ["", "query–release pairs", "coverage"], rows)


def _inside(answers: Sequence[object], truth: npt.NDArray[np.int64]) -> list[bool]:
    return [
        abs(answer.value - actual) <= 1.96 * answer.std_error
        for answer, actual in zip(answers, truth.tolist(), strict=True)
        if isinstance(answer, Estimate) and actual > 0 and answer.low is None
    ]
