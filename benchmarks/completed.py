"""Do regressions on completed tables say what those on the original table say, with intervals that hold?

Logistic regressions of the six most frequent sensitive values, and of six random sets of a fifth of the people, on all quasi
columns: numbers standardised, categories (and numbers of up to ten values) as their second and third most frequent levels. Ten
completed tables, combined by Rubin's rules. *Held* is the share of coefficients (but constants) of the original table inside
95 % intervals; *strictly* the same with intervals that have only what the release leaves open, not the sampling of people. Signs
are judged for coefficients that are significant in the combined result, and for those that are in the original one. Beside it:
values shuffled inside boxes, as one might complete a table by hand.

`--table FILE` takes a table whose secret is `occupation`. Without it: the bundled census and hospital.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

import sfumato
from benchmarks._releases import BASES, people_of, released, tables
from benchmarks._show import Cell, Show
from sfumato.arrays import Array, Flags, Floats, Integers
from sfumato.errors import SfumatoError
from sfumato.query.complete import Completion
from sfumato.query.rubin import Combined, combine
from sfumato.randomness import Randomness, SeededRandomness
from sfumato.table.column import Column

TABLES = 10
COLUMNS = ["release", "boxes", "coefficients", "held", "strictly", "right sign", "of", "right sign (original)", "shuffled: held"]


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show every release of every table."""
    for name, frame, secret in tables(quick, table, whole=False):
        own = people_of(frame, secret)
        rows: list[list[Cell]] = []
        took: list[float] = []
        for basis in BASES:
            for bound in ("8f+0.02", "1/5"):
                try:
                    release: Any = released(own, frame, basis, bound)
                    start = time.process_time()
                    completion = Completion.of(release)
                    drawn = [completion.secrets[0].draw(SeededRandomness(7).spawn(k)) for k in range(TABLES)]
                    took.append(time.process_time() - start)
                except SfumatoError as refused:
                    show.note(f"- {name}, {basis}, {bound}: {refused}")
                    continue
                rows.append([f"{basis}, {bound}", len(release.sizes), *_judged(own, release, drawn)])
        show.table(name, COLUMNS, rows)
        if took:
            show.note(f"- learning and {TABLES} tables: {min(took):.1f} to {max(took):.1f} s of processor time")


def _judged(own: sfumato.Table, release: Any, drawn: Sequence[Array]) -> list[Cell]:
    """Return how many coefficients there are, how many are held, and how many signs are right."""
    before, after = design(own.quasi), design(release.quasi)
    place = {label: code for code, label in enumerate(release.labels)}
    truth = np.array([place[label] for label in own.sensitive.labels])[own.sensitive.codes]
    shuffled = [_shuffled(release, SeededRandomness(8).spawn(k)) for k in range(TABLES)]
    held, strict, plain, sign, original = [], [], [], [], []
    for values in _outcomes(truth, len(place)):
        right, spread = logistic(before, values[truth])
        found, other = (combine([logistic(after, values[one]) for one in made]) for made in (drawn, shuffled))
        held += _inside(found, right)
        plain += _inside(other, right)
        reach = t.ppf(0.975, TABLES - 1) * np.sqrt((1 + 1 / TABLES) * np.diag(found.between))
        strict += (np.abs(found.estimates - right) <= reach)[1:].tolist()
        same = (np.sign(found.estimates) == np.sign(right))[1:]
        sign += same[found.p_values[1:] < 0.05].tolist()
        original += same[np.abs(right[1:]) > 1.96 * np.sqrt(np.diag(spread))[1:]].tolist()
    means = [float(np.mean(one)) if one else None for one in (held, strict, sign, original, plain)]
    return [len(held), means[0], means[1], means[2], len(sign), means[3], means[4]]


def _inside(found: Combined, right: Floats) -> list[bool]:
    low, high = found.intervals.T
    inside: list[bool] = ((low <= right) & (right <= high))[1:].tolist()
    return inside


def design(columns: Sequence[Column]) -> Floats:
    """Return the predictors of a regression, a constant first: the same for any order of rows."""
    parts = [np.ones(len(columns[0]))]
    for column in columns:
        if column.kind == "numeric" and column.size > 10:
            own = np.array([np.nan if value is None else float(value) for value in column.dictionary().to_pylist()])[column.codes]
            own = np.where(np.isnan(own), np.nanmean(own), own)
            parts.append((own - own.mean()) / own.std())
        else:
            often = np.argsort(-np.bincount(column.codes, minlength=column.size), kind="stable")[1:3]
            parts += [(column.codes == code).astype(np.float64) for code in often]
    made = np.stack(parts, axis=1)
    # Columns that say the same (a degree, and its years) leave coefficients open: the later one is left out.
    together = made.T @ made / len(made)
    rank = [int(np.linalg.matrix_rank(together[:k, :k], tol=1e-6)) for k in range(made.shape[1] + 1)]
    kept: Floats = made[:, np.diff(rank) > 0]
    return kept


def logistic(x: Floats, y: Flags) -> tuple[Floats, Floats]:
    """Return the coefficients of a logistic regression and their covariance, by Newton's method."""
    weights: Floats = np.zeros(x.shape[1])
    share = float(y.mean())
    weights[0] = np.log(share / (1 - share))
    for _ in range(30):
        mean = 1 / (1 + np.exp(-(x @ weights)))
        information = x.T @ (x * (mean * (1 - mean))[:, None]) + 1e-6 * np.eye(x.shape[1])
        step = np.linalg.solve(information, x.T @ (y - mean))
        weights += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-7:
            break
    covariance: Floats = np.linalg.inv(information).astype(np.float64)
    return weights, covariance


def _outcomes(codes: Integers, values: int) -> list[Flags]:
    """Return sets of values: the most frequent ones alone, and random ones that a fifth of the people have."""
    times, random = np.bincount(codes, minlength=values), np.random.default_rng(5)
    made = [np.arange(values) == value for value in np.argsort(-times, kind="stable")[:6]]
    for _ in range(6):
        order = random.permutation(values)
        many = int(np.searchsorted(np.cumsum(times[order]), len(codes) / 5)) + 1
        made.append(np.isin(np.arange(values), order[: min(many, values - 1)]))
    return made


def _shuffled(release: Any, random: Randomness) -> Integers:
    """Return the values of every box dealt at random to its people, noisy counts as near as can be."""
    shares = np.zeros((len(release.sizes), len(release.domain)))
    np.add.at(shares, (release.st_group, release.st_value), np.maximum(release.st_count, 0))
    out = np.zeros(len(release.group), np.int64)
    order = np.argsort(release.group, kind="stable")
    first = 0
    for b, size in enumerate(release.sizes):
        total = np.cumsum(shares[b]) / max(shares[b].sum(), 1.0) * size
        listed = np.searchsorted(total, np.arange(size) + 0.5)
        out[order[first : first + size]] = listed[random.permutation(int(size))]
        first += size
    return out
