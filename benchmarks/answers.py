"""How far are answers from the truth, class by class, and what does a release expose? Soft, tight and noisy boxes, 8f+0.02.

Means over samples of a table. Classes of questions: one-way cells with one sensitive value (where independence expects ten
people), links (those with a lift of 2 or more), the strongest cell of each value, two-way cells, and the papers' random sets and
ranges. An error is the sum of |error| over the sum of the true answers; *worst* is the largest error of a one-way cell, in
people; *exposure* is the mean share of a person's own value in her box. *Held* is the share of 95 % intervals that hold the
truth, *width* the median width of an interval over what would have held 95 % of the errors of its class.

Then, at the ε of 8f+0.02 with the table's own shares, noisy boxes alone, with tables and tables alone, beside PrivBayes and,
where they are installed, MST and AIM: see `benchmarks._at_epsilon`.

`--table FILE --sensitive COLUMN` takes a table of one's own, of which 100,000 people are sampled; columns whose name begins
with the secret's are left out, and those of `CODES` are categories. Without it: the bundled census and hospital.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._at_epsilon import answering
from benchmarks._releases import people_of, released, tables
from benchmarks._show import Cell, Show
from benchmarks.estimators import asked_of, met, questions
from sfumato.arrays import Floats
from sfumato.errors import SfumatoError

CLASSES = ("one-way", "links", "strongest", "two-way", "sets", "ranges")
PEOPLE, SEEDS, QUESTIONS = 100_000, 3, 300
CODES = ("race", "birthplace", "sex", "relationship", "workclass", "marital", "education", "high_income")
"""Columns whose whole numbers are codes and no numbers."""


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str | None = None) -> None:
    """Show errors, intervals and exposure of every basis."""
    for name, frame, secret in _tables(quick, table, sensitive):
        for basis in ("soft", "tight", "noisy"):
            found = [
                one for seed in range(1, (1 if quick else SEEDS) + 1) if (one := _measured(frame, secret, basis, seed, quick))
            ]
            if not found:
                show.note(f"- {name}, {secret}, {basis}: no release")
                continue
            rows: list[list[Cell]] = []
            for what, number in (("error", 0), ("held", 1), ("width", 2)):
                of_classes = np.nanmean([[classes[kind][number] for kind in CLASSES] for classes, _ in found], axis=0)
                rows.append([what, *of_classes.tolist(), *([None] * 3)])
            rows[0][-3:] = np.mean([beside for _, beside in found], axis=0).tolist()
            show.table(f"{name}: {secret}, {basis}", ["", *CLASSES, "worst", "exposure", "boxes"], rows)
        of_seeds = [
            at_epsilon(*_sampled(frame, secret, seed, quick), show, seed, quick) for seed in range(1, (1 if quick else SEEDS) + 1)
        ]
        show_at_epsilon(show, f"{name}: {secret}", of_seeds)


def _tables(quick: bool, table: Path | None, sensitive: str | None) -> list[tuple[str, pa.Table, str]]:
    return list(tables(quick, None)) if table is None else [(table.stem, pq.read_table(table), sensitive or "occupation")]


def _measured(
    frame: pa.Table, secret: str, basis: str, seed: int, quick: bool
) -> tuple[dict[str, tuple[float, ...]], tuple[float, ...]] | None:
    """Return error, coverage and width of every class, then the worst cell, exposure and number of boxes; None for no release."""
    own, frame = _sampled(frame, secret, seed, quick)
    try:
        release: Any = released(own, frame, basis, "8f+0.02", random=seed)
    except SfumatoError:
        return None
    classes: dict[str, tuple[float, ...]] = {}
    worst = 0.0
    for kind, made in questions(own, secret, 60 if quick else QUESTIONS, below=0.0).items():
        if kind in CLASSES and made:
            asked, truth = met(own, made)
            answers = asked_of(release, asked, None)
            classes[kind] = _judged(answers, truth)
            if kind == "one-way":
                worst = float(np.abs(answers[:, 0] - truth).max())
    exposure = sfumato.audit(release, table=own).exposure
    return classes, (
        worst,
        float("nan") if exposure is None else exposure,
        float(len(release.sizes)),
    )


def _sampled(frame: pa.Table, secret: str, seed: int, quick: bool, people: int = PEOPLE) -> tuple[sfumato.Table, pa.Table]:
    """Return a sample of a table, and as it was read."""
    rows = np.sort(np.random.default_rng(seed).permutation(frame.num_rows)[: 10_000 if quick else people])
    # A column that says another one again, in finer codes, is left out.
    finer = [name for name in frame.column_names if name.removesuffix("_code") in frame.column_names and name.endswith("_code")]
    frame = frame.take(rows).drop_columns(finer)
    return people_of(frame, secret, codes=CODES), frame


def epsilon_of(own: sfumato.Table, frame: pa.Table) -> float:
    """Return the ε that 8f+0.02 comes to with a table's own shares as declared: two decimals, rounded down."""
    shares = own.sensitive.histogram()
    people = sum(shares.values())
    odds = min(b * (1 - p) / (p * (1 - b)) for p in (many / people for many in shares.values()) if (b := 8 * p + 0.02) < 1)
    return math.floor(100 * math.log(odds)) / 100


def at_epsilon(
    own: sfumato.Table, frame: pa.Table, show: Show, seed: int, quick: bool, epsilon: float | None = None, **ways: Any
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return error, coverage and width of every class of questions, by the name of what answers them."""
    epsilon = epsilon_of(own, frame) if epsilon is None else epsilon
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    secret = own.schema.sensitive[0]
    asked = {kind: met(own, made) for kind, made in questions(own, secret, 60 if quick else QUESTIONS, below=0.0).items() if made}
    for name, (answer, seconds) in answering(own, epsilon, seed, show, **ways).items():
        classes: dict[str, tuple[float, ...]] = {}
        for kind in CLASSES:
            answers = answer(asked[kind][0])
            classes[kind] = _judged(answers, asked[kind][1])
            if kind == "one-way":
                classes["worst"] = (float(np.abs(answers[:, 0] - asked[kind][1]).max()),)
        found[name] = {**classes, "seconds": (seconds,), "epsilon": (epsilon,)}
    return found


def show_at_epsilon(show: Show, title: str, found: Sequence[dict[str, dict[str, tuple[float, ...]]]]) -> None:
    """Show the mean errors, and coverage where there are intervals, of what answers at one ε."""
    rows: list[list[Cell]] = []
    for name in found[0]:
        parts = [one[name] for one in found if name in one]
        last = [float(np.mean([part[key][0] for part in parts])) for key in ("worst", "seconds")]
        rows.append([name, *(float(np.mean([part[kind][0] for part in parts])) for kind in CLASSES), *last])
        held = [float(np.mean([part[kind][1] for part in parts])) for kind in CLASSES]
        if not np.isnan(held).all():
            rows.append([f"{name}: held", *held, None, None])
    epsilon = found[0][next(iter(found[0]))]["epsilon"][0]
    show.table(f"{title}, ε = {epsilon:g}", ["", *CLASSES, "worst", "making, s"], rows)


def _judged(answers: Floats, truth: Floats) -> tuple[float, float, float]:
    """Return the error of a class, how many intervals hold the truth, and how wide they are beside what would do."""
    off = np.abs(answers[:, 0] - truth)
    told = ~np.isnan(answers[:, 1])
    low, high, right = answers[told, 1], answers[told, 2], truth[told]
    held = float(((low <= right) & (right <= high)).mean()) if told.any() else float("nan")
    # Intervals of one class differ: errors in units of half a width, of which 1 is enough for all that are held.
    units = np.maximum(high - low, 1.0) / 2
    needed = float(np.quantile(off[told] / units, 0.95)) if told.any() else float("nan")
    return float(off.sum() / truth.sum()), held, 1 / needed if needed else float("nan")
