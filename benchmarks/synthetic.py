"""What do counts cost under differential privacy of whole records, and how much of it is the price of hiding quasi values too?

Bundled census, or a Parquet file: every other column is a quasi column, and the values that occur are taken as declared. Median
relative error divided by that of assuming independence with exact quasi counts: 1 tells nothing of links, 0 everything. Counts of
synthetic records as they are, and with exact quasi counts: the share among records that meet the quasi condition times the people
who do, as boxes publish them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._show import Cell, Show
from sfumato.methods import Method
from sfumato.privacy.requirement import Requirement
from sfumato.query import Estimate, Query, Workload, anatomy_workload, count_many, range_workload, true_answers
from sfumato.release.base import Release
from sfumato.studies.matching.likeness import quasi_part, sensitive_part
from sfumato.table.generators import census
from sfumato.utility.query_error import independence

SECRET = "occupation"
LEFT_OUT = ("occupation_code", "fnlwgt", "salary")
EPSILONS = ("0.5", "1", "2", "4")


class Questions:
    """Questions that somebody meets, with the truth, the people who meet the quasi condition, and the error of independence."""

    def __init__(self, table: sfumato.Table, workload: Workload) -> None:
        truth = true_answers(table, workload).astype(float)
        self.queries = [query for query, met in zip(workload, truth > 0, strict=True) if met]
        self.truth = truth[truth > 0]
        self.sensitive = table.schema.sensitive
        self.quasi = true_answers(table, [quasi_part(one, self.sensitive) for one in self.queries]).astype(float)
        self.alone = self._median(independence(table, Workload(workload.name, tuple(self.queries))))

    def errors(self, release: Release, *, synthetic: bool) -> tuple[float, float | None]:
        """Return the error beside independence, and for synthetic records that with exact quasi counts."""
        found = _values(release, self.queries)
        plain = self._median(found) / self.alone
        if not synthetic:
            return plain, None
        records = _values(release, [quasi_part(one, self.sensitive) for one in self.queries])
        overall = _values(release, [sensitive_part(one, self.sensitive) for one in self.queries]) / release.rows
        exact = self.quasi * np.where(records > 0, found / np.maximum(records, 1), overall)
        return plain, self._median(exact) / self.alone

    def _median(self, answers: np.ndarray) -> float:
        return float(np.median(np.abs(answers - self.truth) / self.truth))


def _values(release: Release, queries: Sequence[Query]) -> np.ndarray:
    return np.array([one.value for one in count_many(release, queries) if isinstance(one, Estimate)])


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = SECRET) -> None:
    """Show errors by ε, soft boxes at β = e^ε − 1 beside."""
    people, queries = (2_000, 60) if quick else (30_000, 200)
    whole = census(200_000, 1) if table is None else pq.read_table(table)
    data = whole.drop_columns([name for name in LEFT_OUT if name in whole.column_names and name != sensitive])
    rows = np.sort(np.random.default_rng(1).permutation(data.num_rows)[:people])
    people_of, closed = _tables(data, pa.array(rows), sensitive)
    values = people_of.sensitive.labels
    asked = [
        Questions(people_of, anatomy_workload(people_of, queries=queries, seed=1)),
        Questions(people_of, range_workload(people_of, queries=queries, lambda_=min(3, len(people_of.quasi)), seed=1)),
    ]
    found: list[list[Cell]] = []
    for epsilon in ("1",) if quick else EPSILONS:
        beta = round(math.exp(float(epsilon)) - 1, 6)
        differential = sfumato.Differential(epsilon)
        ways: list[tuple[str, sfumato.Table, Method, Requirement]] = [
            (f"soft boxes, β = {beta:.3g}", people_of, sfumato.Boxes(), sfumato.BetaLikeness(str(beta))),
            ("noisy boxes", closed, sfumato.NoisyBoxes(values=values, otherwise=values[0]), differential),
            ("PrivBayes", people_of, sfumato.PrivBayes(), differential),
            ("PrivBayes, degree 1", people_of, sfumato.PrivBayes(degree=1), differential),
            ("noisy tables", people_of, sfumato.NoisyTables(), differential),
        ]
        for name, read, method, requirement in ways:
            used = time.process_time()
            release = method.run(read, requirement, random=1).release
            used = time.process_time() - used
            synthetic = release.form == "synthetic"
            sets, ranges = (one.errors(release, synthetic=synthetic) for one in asked)
            found.append([f"ε = {epsilon}, {name}", sets[0], ranges[0], sets[1], ranges[1], used])
    heading = ["release", "sets", "ranges", "sets, exact quasi", "ranges, exact quasi", "processor s"]
    where = "bundled census" if table is None else table.stem
    show.table(
        f"Error beside independence: {where}, {people_of.rows:,} people, {len(people_of.quasi)} quasi columns", heading, found
    )


def _tables(data: pa.Table, rows: pa.Array, sensitive: str) -> tuple[sfumato.Table, sfumato.Table]:
    """Return some people read with the domains of the whole table, and the same read with their sensitive values closed."""
    quasi = [name for name in data.column_names if name != sensitive]
    seen = {name: sorted(value for value in data[name].unique().to_pylist() if value is not None) for name in data.column_names}
    domains = {name: seen[name] for name in quasi}
    missing = {name: "value" for name in quasi if data[name].null_count}
    types = {sensitive: "categorical"}
    values = [str(value) for value in seen[sensitive]]
    frame = data.take(rows).replace_schema_metadata(None)
    given = {"quasi": quasi, "sensitive": [sensitive], "types": types, "missing": missing}
    declared = sfumato.Schema(**given, domains={**domains, sensitive: values})  # type: ignore[arg-type]
    return (
        sfumato.Table.from_frame(frame, sfumato.PrivBayes().close(declared)),
        sfumato.Table.from_frame(
            frame,
            sfumato.Schema(**given, domains=domains, closed={"values": values, "otherwise": values[0]}),  # type: ignore[arg-type]
        ),
    )
