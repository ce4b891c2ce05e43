"""What do other tools' releases answer to the same questions of the same table, and what do they promise?

A row a tool: the error of counts, Σ|answer − truth| / Σ truth, of single values, of two quasi columns, of a quasi column with the
secret (links), of ranges over three columns and of random sets; processor seconds, and what is promised. Other tools run in
environments of their own, $PEERS/NAME/bin/python (`make peers` sets them up in build/peers); one that is missing is said to be.
What a tool publishes as a table is counted as it is, scaled to the number of people. Stand-ins, written here, are marked.
`--table FILE` (Parquet, every column but the secret is quasi) asks a table of one's own; the bundled census otherwise.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sfumato
from benchmarks._releases import CENSUS
from benchmarks._show import Cell, Show
from sfumato.privacy.requirement import Against
from sfumato.query import And, Estimate, In, Query, count_many, crosstab_workload, range_workload, true_answers
from sfumato.query.workload import anatomy_workload
from sfumato.table import Table
from sfumato.table.column import Column
from sfumato.table.generators import census

EPSILON, K, L = 1.0, 10, 5
LEFT_OUT = ("occupation_code", "education_num", "fnlwgt")
SCRIPT = Path(__file__).with_name("_peer_tables.py")
PLACE = Path(os.environ.get("PEERS", "build/peers"))
KINDS = ("one-way", "two-way", "links", "ranges", "sets")
Answers = Callable[[Sequence[Query]], np.ndarray]


@dataclass(frozen=True)
class Peer:
    """Another tool: its name here, the environment and the adapter that make its table, and its promise in a few words."""

    name: str
    environment: str
    tool: str
    promise: str


PEERS = (
    Peer("SDV, Gaussian copula", "sdv", "sdv", "none"),
    Peer("synthpop's way, by scikit-learn (stand-in)", "sdv", "cart", "none"),
    Peer(f"SmartNoise, MST, ε = {EPSILON:g}", "smartnoise", "smartnoise", "differential privacy, δ = 1e-9"),
    Peer(f"OpenDP, tables with the secret, ε = {EPSILON:g}", "opendp", "opendp", "differential privacy, δ = 1e-9"),
    Peer(f"anjana, k = {K}", "anjana", "anjana", f"k-anonymity, k = {K}"),
)
MISSING = ("ARX", "sdcMicro", "synthpop")
"""Tools that no adapter runs: neither PyPI nor Debian has them. Their way stands in where it can."""


def own(table: Table, frame: pa.Table) -> list[tuple[str, str, Callable[[int], sfumato.Release]]]:
    """Return what sfumato makes: name, promise, and the release of a seed. Noisy boxes take the table's shares as declared."""
    shares = table.sensitive.histogram()
    noisy = sfumato.NoisyBoxes(shares=shares, otherwise=next(iter(shares)))
    closed = Table.from_frame(frame, noisy.close(table.schema))
    ranges = sfumato.Mondrian(k=K, form="ranges")
    lineup: list[tuple[str, str, sfumato.Method, Table, sfumato.Requirement]] = [
        (
            f"Mondrian, k = {K}, ranges (stand-in for ARX)",
            f"k-anonymity, k = {K}",
            ranges,
            table,
            sfumato.FPrivacy(offset=1, against="reader"),
        ),
        (
            f"Mondrian, k = {K} and ℓ = {L}, ranges",
            f"belief ≤ 1/{L}, reader",
            ranges,
            table,
            sfumato.LDiversity(L, against="reader"),
        ),
        ("sfumato, soft boxes", "belief ≤ 8·share + 2 %, engineer", sfumato.Boxes(), table, _bound("engineer")),
        ("sfumato, tight boxes", "belief ≤ 8·share + 2 %, reader", sfumato.Boxes(), table, _bound("reader")),
        (
            f"sfumato, noisy boxes, ε = {EPSILON:g}",
            "differential privacy of the secret, insider",
            noisy,
            closed,
            sfumato.Differential(str(EPSILON)),
        ),
    ]
    return [(name, promise, partial(_made, method, read, requirement)) for name, promise, method, read, requirement in lineup]


def _bound(against: Against) -> sfumato.FPrivacy:
    return sfumato.FPrivacy(theta=8, offset="0.02", against=against)


def _made(method: sfumato.Method, table: Table, requirement: sfumato.Requirement, seed: int) -> sfumato.Release:
    release: sfumato.Release = method.run(table, requirement, random=seed).release
    return release


class Questions:
    """Count questions of every kind that somebody meets, with the truth."""

    def __init__(self, table: Table, many: int) -> None:
        asked = {
            "one-way": _sample([(cell,) for column in table.quasi for cell in _cells(column)], many),
            "two-way": _sample(_pairs(table.quasi, many), many),
            "links": list(crosstab_workload(table, queries=many)),
            "ranges": list(range_workload(table, queries=many, lambda_=min(3, len(table.quasi)))),
            "sets": list(anatomy_workload(table, queries=many)),
        }
        self.queries, self.truth = {}, {}
        for kind in KINDS:
            truth = true_answers(table, asked[kind])
            self.queries[kind] = [query for query, met in zip(asked[kind], truth, strict=True) if met]
            self.truth[kind] = truth[truth > 0].astype(float)

    def errors(self, answers: Answers) -> list[float]:
        """Return the error of each kind."""
        return [float(np.abs(answers(self.queries[kind]) - self.truth[kind]).sum() / self.truth[kind].sum()) for kind in KINDS]


def _cells(column: Column) -> list[In]:
    return [In(column.name, (value,)) for value in column.values.to_pylist()]


def _pairs(quasi: Sequence[Column], many: int) -> list[tuple[In, ...]]:
    """Return so many cells of tables of two quasi columns, drawn from each pair alike."""
    pairs = list(itertools.combinations(quasi, 2))
    coins, each = np.random.default_rng(1), -(-4 * many // len(pairs))
    return [
        (_cells(a)[int(coins.integers(len(a.values)))], _cells(b)[int(coins.integers(len(b.values)))])
        for a, b in pairs
        for _ in range(each)
    ]


def _sample(cells: list[tuple[In, ...]], many: int) -> list[Query]:
    chosen = np.sort(np.random.default_rng(1).permutation(len(cells))[:many])
    return [Query(And(cells[k]), terms="published") for k in chosen]


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = "occupation") -> None:
    """Show errors, seconds and promises of every tool."""
    people, many, seeds = (3_000, 60, 1) if quick else (50_000, 400, 2)
    frame = _frame(people, table, sensitive)
    own_table = _read(frame, sensitive)
    questions = Questions(own_table, many)
    rows: list[list[Cell]] = [["independence of all columns", *questions.errors(_independent(frame)), None, "shares alone"]]
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.parquet"
        pq.write_table(frame, given)
        for peer in PEERS:
            rows.append(_of_peer(peer, given, frame, sensitive, questions, seeds))
    rows += [[name, *[None] * len(KINDS), None, "not installed: not on PyPI or Debian"] for name in MISSING]
    for name, promise, make in own(own_table, frame):
        found = []
        for seed in range(1, seeds + 1):
            start = time.process_time()
            release = make(seed)
            used = time.process_time() - start
            found.append([*questions.errors(partial(_asked, release)), used])
        rows.append([name, *_summed_up(found), promise])
    where = "bundled census" if table is None else table.stem
    sizes = f"{len(own_table.quasi)} quasi columns, {len(own_table.sensitive.labels)} values of {sensitive}"
    title = f"{where}: {frame.num_rows:,} people, {sizes}"
    show.table(title, ["release", *KINDS, "processor s", "promise"], rows)


def _frame(people: int, table: Path | None, sensitive: str) -> pa.Table:
    whole = census(max(people, 10_000), 1).select([*CENSUS, "occupation"]) if table is None else pq.read_table(table)
    kept = [name for name in whole.column_names if name not in (*LEFT_OUT, sensitive)]
    rows = np.sort(np.random.default_rng(1).permutation(whole.num_rows)[:people])
    taken = whole.select([*kept, sensitive]).take(pa.array(rows))
    return taken.set_column(len(kept), sensitive, pc.cast(taken[sensitive], pa.string()))


def _read(frame: pa.Table, sensitive: str) -> Table:
    quasi = [name for name in frame.column_names if name != sensitive]
    return Table.from_frame(frame, sfumato.Schema(quasi=quasi, sensitive=[sensitive], types={sensitive: "categorical"}))


def _of_peer(peer: Peer, given: Path, frame: pa.Table, sensitive: str, questions: Questions, seeds: int) -> list[Cell]:
    python = PLACE / peer.environment / "bin" / "python"
    if not python.exists():
        return [peer.name, *[None] * len(KINDS), None, "not installed (make peers)"]
    found = []
    for seed in range(1, seeds + 1):
        made = given.with_name(f"{peer.tool}-{seed}.parquet")
        options = json.dumps({"secret": sensitive, "seed": seed, "epsilon": EPSILON, "k": K})
        done = subprocess.run(
            [str(python), str(SCRIPT), peer.tool, str(given), str(made), options], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return [peer.name, *[None] * len(KINDS), None, f"failed: {done.stderr.strip().splitlines()[-1][:80]}"]
        told = json.loads(done.stdout.strip().splitlines()[-1])
        made_of = pq.read_table(made).replace_schema_metadata(None).cast(frame.schema.remove_metadata())
        copy = _read(made_of, sensitive)
        scale = frame.num_rows / made_of.num_rows
        found.append([*questions.errors(partial(_counted, copy, scale)), told["seconds"]])
    return [f"{peer.name} ({told['used']})", *_summed_up(found), peer.promise]


def _summed_up(found: Sequence[Sequence[float]]) -> list[Cell]:
    """Return the mean errors of several seeds, and the least of their seconds: the first may compile."""
    return [*np.mean(found, axis=0).tolist()[:-1], min(one[-1] for one in found)]


def _counted(copy: Table, scale: float, asked: Sequence[Query]) -> np.ndarray:
    return scale * true_answers(copy, asked).astype(float)


def _asked(release: sfumato.Release, asked: Sequence[Query]) -> np.ndarray:
    return np.array([one.value for one in count_many(release, asked) if isinstance(one, Estimate)])


def _independent(frame: pa.Table) -> Answers:
    """Return answers from a table whose columns were shuffled each by itself: what shares of single values tell."""
    coins = np.random.default_rng(1)
    shuffled = pa.table({name: frame[name].take(pa.array(coins.permutation(frame.num_rows))) for name in frame.column_names})
    copy = _read(shuffled, frame.column_names[-1])
    return partial(_counted, copy, 1.0)
