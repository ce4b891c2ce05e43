"""What can be told to an insider: how far are count answers from noisy boxes off, beside randomized records at the same odds?

Bundled census, Occupation, or a Parquet file with a column `occupation`: five samples of 100,000 people, the same as in `boxes`,
and all of them with five draws of noise.
Median relative error divided by that of assuming independence: 1 tells nothing, 0 everything. Declared shares are the table's
own, as if last year's had been the same. Boxes are joined where a noisy share lies over its bound, or not; `plain` spreads noisy
counts evenly over the people of a box, `default` is the release's own estimator; for randomized records plain is reconstruction.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._show import Cell, Show
from sfumato.methods import Method
from sfumato.privacy.requirement import Requirement
from sfumato.query import Estimate, Estimator, Query, Workload, anatomy_workload, count_many, range_workload, true_answers
from sfumato.table.generators import census
from sfumato.utility.query_error import independence

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
SECRET = "occupation"
LEFT_OUT = ("occupation_code", "fnlwgt")
REQUIREMENTS: dict[str, Requirement] = {
    "8f+0.02": sfumato.FPrivacy(theta=8, offset="0.02", against="insider"),
    "β = 3": sfumato.BetaLikeness(3, against="insider"),
    "1/5": sfumato.LDiversity(5, against="insider"),
    "2f+0.02": sfumato.FPrivacy(theta=2, offset="0.02", against="insider"),
    "1/10": sfumato.LDiversity(10, against="insider"),
}
TARGETS = {"8f+0.02": (0.42, 0.25), "2f+0.02": (0.48, 0.30)}
"""Plain spread, boxes not joined: random sets, ranges."""


@dataclass(frozen=True)
class Asked:
    """A table read with its values declared, and questions that somebody meets, with truth and the error of independence."""

    table: sfumato.Table
    shares: Mapping[str, int]
    questions: tuple[tuple[tuple[Query, ...], np.ndarray, float], ...]

    @classmethod
    def of(cls, data: pa.Table, queries: int, seed: int) -> Asked:
        """Return the questions about a table whose secret is `occupation`."""
        quasi = [name for name in data.column_names if name not in (SECRET, *LEFT_OUT)]
        schema = sfumato.Schema(quasi=quasi, sensitive=[SECRET], types={SECRET: "categorical"})
        data = data.select([*quasi, SECRET])
        plain = sfumato.Table.from_frame(data, schema)
        shares = plain.sensitive.histogram()
        closed = sfumato.NoisyBoxes(shares=shares, otherwise=next(iter(shares))).close(schema)
        asked = []
        for workload in (anatomy_workload(plain, queries=queries, seed=seed), range_workload(plain, queries=queries, seed=seed)):
            truth = true_answers(plain, workload).astype(float)
            met = np.flatnonzero(truth > 0)
            chosen = tuple(workload.queries[k] for k in met)
            alone = independence(plain, Workload(workload.name, chosen))
            asked.append((chosen, truth[met], float(np.median(np.abs(alone - truth[met]) / truth[met]))))
        return cls(sfumato.Table.from_frame(data, closed), shares, tuple(asked))

    def declared(self) -> dict[str, Any]:
        """Return what a method with declared parameters is given."""
        return {"shares": self.shares, "otherwise": next(iter(self.shares))}

    def errors(self, release: sfumato.Release, estimator: Estimator | None) -> tuple[list[float], list[float]]:
        """Return per kind of question the error beside independence, and how often intervals hold."""
        errors, held = [], []
        for queries, truth, alone in self.questions:
            found = [one for one in count_many(release, queries, estimator=estimator) if isinstance(one, Estimate)]
            value = np.array([one.value for one in found])
            errors.append(float(np.median(np.abs(value - truth) / truth)) / alone)
            inside = [
                one.low is not None and one.high is not None and one.low <= t <= one.high
                for one, t in zip(found, truth, strict=True)
            ]
            held.append(float(np.mean(inside)))
        return errors, held


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show errors by bound, joined or not, beside small-domain randomization; the floor's rule; and the times."""
    queries, seeds = (150, 1) if quick else (500, 5)
    if table is None:
        sizes = {
            "20,000 people" if quick else "100,000 people": [
                census(20_000 if quick else 100_000, seed) for seed in range(1, seeds + 1)
            ]
        }
    else:
        whole = pq.read_table(table)
        drawn = [np.random.default_rng(seed).permutation(whole.num_rows)[:100_000] for seed in range(1, seeds + 1)]
        sizes = {"100,000 people": [whole.take(pa.array(np.sort(rows))) for rows in drawn]}
        sizes |= {f"all {whole.num_rows:,}": [whole] * seeds} if whole.num_rows > 100_000 else {}
    for name, tables in sizes.items():
        columns = [*QUASI, SECRET] if table is None else None
        asked = [Asked.of(one if columns is None else one.select(columns), queries, seed) for seed, one in enumerate(tables)]
        _errors(show, name, asked)
        _floors(show, name, asked[0])
    _speed(show, 50_000 if quick else 500_000)


def _errors(show: Show, name: str, asked: Sequence[Asked]) -> None:
    rows: list[list[Cell]] = []
    noisy: dict[str, dict[str, tuple[float, float]]] = {}
    randomized: dict[str, dict[str, tuple[float, float]]] = {}
    for bound, requirement in REQUIREMENTS.items():
        for joined in (False, True):
            found, figures = [], []
            for seed, one in enumerate(asked, 1):
                made = sfumato.NoisyBoxes(merge=joined, **one.declared()).run(one.table, requirement, random=seed)
                flat, model = one.errors(made.release, "paper"), one.errors(made.release, None)
                found.append([*flat[0], *model[0], *model[1]])
                figures.append([made.private[name] for name in ("epsilon", "floor", "groups")])
            if not joined:
                noisy[bound] = _means(found)
            epsilon, floor, groups = np.mean(figures, axis=0).tolist()
            rows.append([f"{bound}{', joined' if joined else ''}", epsilon, round(floor), round(groups), *_spread(found)])
        found = []
        for seed, one in enumerate(asked, 1):
            noisy_boxes = sfumato.NoisyBoxes(**one.declared())
            gamma = Fraction(noisy_boxes.odds_bound(requirement, noisy_boxes.bounds(one.table, requirement)))
            small: Method = sfumato.SmallDomain(parameters="declared", amplification=gamma, **one.declared())
            release = small.run(one.table, requirement, random=seed).release
            found.append([*one.errors(release, "paper")[0], *one.errors(release, None)[0]])
        randomized[bound] = _means(found)
        rows.append([f"{bound}, small-domain at the same odds", math.log(gamma), None, None, *_spread(found), None])
    heading = ["bound", "ε", "floor", "groups", "plain: sets / ranges", "default: sets / ranges", "held: sets / ranges"]
    show.table(f"Error beside independence: {name}, mean{' ± spread' if len(asked) > 1 else ''} of {len(asked)}", heading, rows)
    for bound, limits in TARGETS.items():
        for kind, value, limit in zip(("sets", "ranges"), noisy[bound]["plain"], limits, strict=True):
            show.target(f"{name}, {bound}, plain, {kind}", value, limit)
    for bound, how in itertools.product(TARGETS, ("plain", "default")):
        for kind, ours, other in zip(("sets", "ranges"), noisy[bound][how], randomized[bound][how], strict=True):
            what = f"{name}, {bound}, {how}, small-domain's error over noisy boxes', {kind}"
            show.target(what, other / ours, 3, at_least=True)


def _means(found: Sequence[Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Return plain and default error, of sets and of ranges, over samples."""
    own = np.mean(found, axis=0).tolist()
    return {"plain": (own[0], own[1]), "default": (own[2], own[3])}


def _spread(found: Sequence[Sequence[float]]) -> list[Cell]:
    """Return sets / ranges, two and two, with their standard deviation over samples."""
    each = [f"{mean(one):.3f}" + (f" ± {stdev(one):.3f}" if len(one) > 1 else "") for one in zip(*found, strict=True)]
    return [" / ".join(pair) for pair in zip(each[::2], each[1::2], strict=True)]


def _floors(show: Show, name: str, one: Asked) -> None:
    rows: list[list[Cell]] = []
    for bound in ("8f+0.02", "2f+0.02", "1/10"):
        usual = sfumato.NoisyBoxes(**one.declared())
        asked = REQUIREMENTS[bound]
        rule = usual.floor_for(usual.odds_bound(asked, usual.bounds(one.table, asked)), one.table.rows)
        for times in (0.5, 1, 2):
            floor = round(rule * times)
            made = sfumato.NoisyBoxes(floor=floor, merge=False, **one.declared()).run(one.table, REQUIREMENTS[bound], random=1)
            rows.append(
                [
                    f"{bound}, {times:g} × the rule",
                    floor,
                    *one.errors(made.release, "paper")[0],
                    *one.errors(made.release, None)[0],
                ]
            )
    show.table(f"The floor: {name}", ["bound", "floor", "plain: sets", "ranges", "default: sets", "ranges"], rows)


def _speed(show: Show, people: int) -> None:
    one = Asked.of(census(people, 1).select([*QUASI, SECRET]), 1, 1)
    rows: list[list[Cell]] = []
    for name, requirement in (("8f+0.02", REQUIREMENTS["8f+0.02"]), ("ε = 1", sfumato.Differential("1"))):
        method = sfumato.NoisyBoxes(**one.declared())
        method.run(one.table, requirement, random=1)
        start, used = time.perf_counter(), time.process_time()
        method.run(one.table, requirement, random=2)
        wall, processor = time.perf_counter() - start, time.process_time() - used
        rows.append([name, wall, processor])
        show.target(f"{people:,} people, {name}, processor seconds from table to audited release", processor, 1.0)
    show.table(f"Time: {people:,} people, 7 columns", ["bound", "wall s", "processor s"], rows)
