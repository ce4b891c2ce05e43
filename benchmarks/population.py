"""Who is the only one of her kind in a population, estimated from samples of it: which model errs least?

A table is taken for the population, and samples of 1 to 20 % are drawn from it. *Unique* is the share of the people of the
sample who are alone with their quasi values in the population, *found* the mean of 1/K over them, K those of the population with
their values. Shown is estimate ÷ truth, the mean over samples.

`--table FILE` takes a Parquet file of whole numbers with the columns below: a sample of the American Community Survey. Without
it: the bundled census.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from benchmarks._show import Cell, Show
from sfumato.arrays import Floats, Integers
from sfumato.explanation.population import population_risk
from sfumato.table.generators import census

ACS: tuple[Mapping[str, int], ...] = (
    {"age": 5, "sex": 1, "marital": 1, "race": 1},
    {"age": 1, "sex": 1, "marital": 1, "race": 1, "education": 1},
    {"age": 5, "sex": 1, "occupation": 1, "hours": 10, "workclass": 1},
    {"age": 10, "sex": 1, "education": 1, "birthplace": 1, "relationship": 1},
    {"age": 1, "sex": 1, "race": 1, "education": 1, "birthplace": 1, "marital": 1, "workclass": 1},
)
"""Quasi columns, each with the width of its bands."""

SHARES = (0.01, 0.05, 0.1, 0.2)


class Guess(NamedTuple):
    """The two shares; `found` is None where a model does not say."""

    unique: float
    found: float | None


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show what each model makes of samples, beside the truth."""
    frame, sets = (pq.read_table(table), ACS) if table is not None else _census(quick)
    ratios: dict[str, list[float]] = {}
    for columns in sets:
        code = _classes(frame, columns)
        population = np.bincount(code)
        named = ", ".join(name if width == 1 else f"{name} by {width}" for name, width in columns.items())
        rows: list[list[Cell]] = []
        for share in SHARES:
            rows.append([f"{share:.0%}", *_measured(code, population, share, 1 if quick else 10, ratios)])
        show.table(named, ["sample", "unique", "found", *(f"{name}: {what}" for name, what in _columns())], rows)
    show.table(
        "Estimate ÷ truth over all samples",
        ["estimate", "smallest", "median", "largest", "not below the truth"],
        [
            [name, min(found), float(np.median(found)), max(found), float(np.mean(np.array(found) >= 1))]
            for name, found in ratios.items()
        ],
    )


def pitman(sizes: Integers, people: int) -> Guess:
    """Return what the package estimates."""
    risk = population_risk(sizes, people)
    return Guess(risk.unique.estimate, risk.found.estimate)


def upper(sizes: Integers, people: int) -> Guess:
    """Return the upper ends that the package gives."""
    risk = population_risk(sizes, people)
    return Guess(risk.unique.upper, risk.found.upper)


def zayatz(sizes: Integers, people: int) -> Guess:
    """Return the share when sizes of classes are distributed in the population as they are in the sample (Zayatz 1991)."""
    n = int(sizes.sum())
    size, times = np.unique(sizes, return_counts=True)
    one = np.exp(
        np.log(size) + np.log(n) + gammaln(people - n + 1) - gammaln(people - n - size + 2) - gammaln(people + 1)
        + gammaln(people - size + 1)
    )  # fmt: skip
    alone = float(times[size == 1].sum())
    return Guess(alone / n * alone * one[0] / float(np.sum(times * one)), None)


def ewens(sizes: Integers, people: int) -> Guess:
    """Return both under Ewens's sampling formula: Pitman's with α = 0."""
    n, k = int(sizes.sum()), len(sizes)
    theta = brentq(lambda t: t * (digamma(t + n) - digamma(t)) - k, 1e-6, 1e12)
    alone = int((sizes == 1).sum()) / n * (theta + n - 1) / (theta + people - 1)
    return Guess(alone, (k + theta * (digamma(theta + people) - digamma(theta + n))) / people)


def mixture(sizes: Integers, people: int) -> Guess:
    """Return both under a mixture of Poisson rates of any shape, the likeliest one on a grid."""
    n, k = int(sizes.sum()), len(sizes)
    part = n / people
    size, times = np.unique(sizes, return_counts=True)
    rate = np.exp(np.linspace(np.log(0.05), np.log(1.5 * size.max() / part), 160))
    log = size[:, None] * np.log(part * rate) - part * rate - gammaln(size + 1.0)[:, None] - np.log(-np.expm1(-part * rate))
    likely: Floats = np.exp(log - log.max(axis=1, keepdims=True))
    weight = np.full(len(rate), 1 / len(rate))
    for _ in range(1000):
        weight = weight * (likely.T @ (times / k / (likely @ weight)))
    every = k * weight / -np.expm1(-part * rate)
    stay = np.sum(every * rate * np.exp(-rate)) / np.sum(every * rate * np.exp(-part * rate))
    return Guess(float((sizes == 1).sum() / n * stay), float(np.sum(every * -np.expm1(-rate)) / people))


MODELS: dict[str, Callable[[Integers, int], Guess]] = {
    "Pitman": pitman,
    "its upper end": upper,
    "Zayatz": zayatz,
    "Ewens": ewens,
    "mixture": mixture,
}


def _columns() -> list[tuple[str, str]]:
    return [(name, what) for name in MODELS for what in Guess._fields if (name, what) != ("Zayatz", "found")]


def _measured(code: Integers, population: Integers, share: float, samples: int, ratios: dict[str, list[float]]) -> list[Cell]:
    people, guesses = len(code), dict[tuple[str, str], list[float]]()
    truth: dict[str, list[float]] = {"unique": [], "found": []}
    for seed in range(samples):
        chosen = np.random.default_rng(seed).permutation(people)[: round(share * people)]
        seen = np.bincount(code[chosen], minlength=len(population))
        truth["unique"].append(int(((seen == 1) & (population == 1)).sum()) / len(chosen))
        truth["found"].append(float(np.sum(seen / population)) / len(chosen))
        for name, model in MODELS.items():
            for what, value in model(seen[seen > 0], people)._asdict().items():
                if value is not None:
                    ratio = value / truth[what][-1] if truth[what][-1] else float("nan")
                    guesses.setdefault((name, what), []).append(ratio)
                    if ratio == ratio:
                        ratios.setdefault(f"{name}: {what}", []).append(ratio)
    means = [float(np.nanmean(guesses[key])) for key in _columns()]
    return [*(float(np.mean(one)) for one in truth.values()), *means]


def _classes(frame: pa.Table, columns: Mapping[str, int]) -> Integers:
    code = np.zeros(frame.num_rows, np.int64)
    for name, width in columns.items():
        column = frame[name].to_numpy()
        values = np.unique(column // width if width > 1 else column, return_inverse=True)[1]
        code = code * (int(values.max()) + 1) + values
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


def _census(quick: bool) -> tuple[pa.Table, tuple[Mapping[str, int], ...]]:
    few: Mapping[str, int] = {"age": 5, "gender": 1, "education": 1, "marital": 1}
    return census(20_000 if quick else 300_000, seed=0), (few, {**few, "age": 1, "race": 1, "workclass": 1})
