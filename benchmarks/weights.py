"""Do weighted answers from a release of a sample hold the figures of the population that it was drawn from?

The table is taken as the population, of which samples are drawn with unequal chances; weights are one over the chance. Each
sample is published with its weight in bins, and the release is asked for weighted counts, shares, averages and medians of people
with a secret value, and for shares and averages that only quasi columns decide (*no secret*), of which the release leaves nothing
open. *Held* is the part of 95 % intervals that have the population's figure in them. *Sampling* and *release* are the means of
the two parts of standard errors of counts, relative to the figure. Regressions: the secret on numbers and frequent levels,
weighted, with the sandwich covariance of the design on ten completed tables, combined by Rubin's rules; held are the coefficients
of the same regression on the whole population. Beside it the same without weights.

Chances follow from quasi columns; differ between strata as well; are those of clusters, whose people resemble each other; or
follow from the secret itself, of which the policy then states nothing.

`--table FILE --sensitive COLUMN` takes a population of one's own, with a numeric column `age`. Without it: the bundled census.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._show import Cell, Show
from benchmarks.completed import logistic
from sfumato.arrays import Array, Flags, Floats
from sfumato.query.rubin import combine

SAMPLE, TABLES = 20_000, 10
KINDS = ("count", "share", "average", "median", "no secret")
COLUMNS = [
    "chances by",
    "samples",
    "bins",
    "asked",
    *KINDS,
    "sampling",
    "release",
    "regressions",
    "unweighted: held",
    "regressions ",
]


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody: columns by name, which of them are quasi columns, and the secret."""

    columns: dict[str, Array]
    quasi: tuple[str, ...]
    secret: str

    @property
    def people(self) -> int:
        """Number of people."""
        return len(self.columns[self.secret])

    def standing(self, name: str) -> Floats:
        """Return a column as numbers of mean 0 and variance 1, texts by how often they occur."""
        _, codes, times = np.unique(self.columns[name], return_inverse=True, return_counts=True)
        numbers = (
            self.columns[name].astype(np.float64) if self.columns[name].dtype.kind in "if" else times[codes].astype(np.float64)
        )
        spread: Floats = (numbers - numbers.mean()) / numbers.std()
        return spread


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of the population, the weight of each, and what the policy says of the design; clusters are a column of their own."""

    rows: Array
    weight: Floats
    design: dict[str, Any]
    cluster: Array | None = None


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str | None = None) -> None:
    """Show what weighted answers of every design hold."""
    people = population(table, sensitive, quick)
    show.note(f"- a population of {people.people:,}, secret {people.secret!r}")
    rows: list[list[Cell]] = []
    for name in DESIGNS:
        found = [judged(people, draw, k) for k, draw in enumerate(samples(people, name, 2 if quick else 20))]
        rows.append([name, len(found), *_row(found)])
    show.table("population figures held by 95 % intervals", COLUMNS, rows)


def population(table: Path | None, sensitive: str | None, quick: bool) -> Population:
    """Return everybody in a file, or in the bundled census."""
    if table is None:
        from sfumato.table.generators import census

        frame, secret = census(60_000 if quick else 300_000, 1), sensitive or "education"
    else:
        frame, secret = pq.read_table(table), sensitive or "high_income"
    columns = {name: np.asarray(frame[name].to_pandas()) for name in frame.column_names}
    many = {name: len(np.unique(column.astype(str))) for name, column in columns.items()}
    quasi = [name for name in columns if name != secret and (many[name] <= 30 or name == "age")]
    columns[secret] = columns[secret].astype(str)
    return Population(columns, tuple(quasi), secret)


def samples(people: Population, name: str, times: int) -> Iterator[Sample]:
    """Yield samples of a design."""
    random = np.random.default_rng(sum(map(ord, name)))
    for _ in range(times):
        yield DESIGNS[name](people, random)


def drawn(chance: Floats, many: int, random: np.random.Generator) -> tuple[Array, Floats]:
    """Return so many rows, systematically in a random order with chances in proportion, and their weights."""
    part = np.minimum(many * chance / chance.sum(), 1.0)
    order = random.permutation(len(part))
    places = np.searchsorted(np.cumsum(part[order]), random.random() + np.arange(int(part.sum())))
    rows = order[np.minimum(places, len(order) - 1)]
    return rows, np.round(1 / part[rows], 3)


def _by_columns(people: Population, random: np.random.Generator) -> Sample:
    """Return older people, and those of rare values of the first column, with more chance."""
    first = next(name for name in people.quasi if name != "age")
    return Sample(*drawn(np.exp(0.5 * people.standing("age") - 0.4 * people.standing(first)), SAMPLE, random), {})


def _stratified(people: Population, random: np.random.Generator) -> Sample:
    """Return equally many people of each level of a column of few, the older with more chance."""
    strata = min(people.quasi, key=lambda name: abs(len(np.unique(people.columns[name])) - 8))
    column, rows, weight = people.columns[strata], [], []
    levels = [level for level in np.unique(column) if (column == level).sum() >= 2000]
    chance = np.exp(0.4 * people.standing("age"))
    for level in levels:
        own = np.flatnonzero(column == level)
        picked, weights = drawn(chance[own], min(SAMPLE // len(levels), len(own) // 4), random)
        rows.append(own[picked])
        weight.append(weights)
    rest = np.flatnonzero(~np.isin(column, levels))
    if len(rest):
        picked, weights = drawn(chance[rest], max(40, len(rest) // 8), random)
        rows.append(rest[picked])
        weight.append(weights)
    return Sample(np.concatenate(rows), np.concatenate(weight), {"strata": strata})


def _clustered(people: Population, random: np.random.Generator) -> Sample:
    """Return 80 clusters, whose people are near in the secret and in age, the first ones with more chance."""
    score = people.standing(people.secret) + people.standing("age") + 4 * np.random.default_rng(3).normal(size=people.people)
    cluster = np.argsort(np.argsort(score)) * 800 // people.people
    chance = np.exp(0.5 * np.random.default_rng(4).normal(size=800))
    chosen, weight = drawn(chance, 80, random)
    rows, weights = [], []
    for own, times in zip(chosen, weight, strict=True):
        members = np.flatnonzero(cluster == own)
        kept = random.choice(members, min(len(members), SAMPLE // 80), replace=False)
        rows.append(kept)
        weights.append(np.full(len(kept), np.round(times * len(members) / len(kept), 3)))
    found = np.concatenate(rows)
    return Sample(found, np.concatenate(weights), {"cluster": "cluster"}, cluster[found])


def _by_secret(people: Population, random: np.random.Generator) -> Sample:
    """Return people with the rarer half of secret values with more chance; the policy does not say how weights were made."""
    chance = np.exp(-0.5 * people.standing(people.secret) + 0.3 * people.standing("age"))
    return Sample(*drawn(chance, SAMPLE, random), {"made_without_secrets": False})


DESIGNS = {"quasi columns": _by_columns, "strata": _stratified, "clusters": _clustered, "the secret": _by_secret}


def published(people: Population, sample: Sample) -> Any:
    """Return the release of a sample."""
    names = [*people.quasi, people.secret]
    frame = pa.table({name: people.columns[name][sample.rows] for name in names} | {"weight": sample.weight})
    quasi = list(people.quasi)
    if sample.cluster is not None:
        frame, quasi = frame.append_column("cluster", pa.array(sample.cluster.astype(str))), [*quasi, "cluster"]
    rule = sfumato.FPrivacy(theta=8, offset="0.02", odds=8)
    weight = {"column": "weight", "made_without_secrets": True} | sample.design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sfumato.publish(frame, rule, quasi=quasi, sensitive=people.secret, weight=weight, random=7)


def judged(people: Population, sample: Sample, turn: int) -> dict[str, Any]:
    """Return for every kind of figure which intervals held, the parts of errors, and which coefficients held."""
    release = published(people, sample)
    found: dict[str, Any] = {kind: [] for kind in (*KINDS, "sampling", "release", "plain")}
    for kind, sql, truth in questions(people, np.random.default_rng(turn)):
        for weighted in (True, False):
            answer = release.count(sql, weighted=weighted) if weighted or kind != "no secret" else None
            if answer is None or answer.low is None:
                continue
            held = answer.low - 1e-9 <= truth <= answer.high + 1e-9
            if not weighted:
                found["plain"] += [held] if kind in ("share", "average", "median") else []
                continue
            found[kind].append(held)
            if kind == "count":
                found["sampling"].append(answer.sampling_error / answer.value)
                found["release"].append(answer.release_error / answer.value)
    found["bins"] = len(release.manifest.schema["declared"]["weight"]["values"])
    found["regression"], found["plain regression"] = regressions(people, release, sample)
    return found


def questions(people: Population, random: np.random.Generator) -> Iterator[tuple[str, str, float]]:
    """Yield kind, question and the population's figure: of people with a secret value, of one level of a column or two."""
    secret, age = people.columns[people.secret], people.columns["age"].astype(np.float64)
    values, times = np.unique(secret, return_counts=True)
    often = values[np.argsort(-times)][:4]
    for turn in range(48):
        value, kind = random.choice(often), KINDS[turn % 4] if turn < 24 else "no secret"
        who, words = np.ones(people.people, bool), []
        for name in random.choice([name for name in people.quasi if name != "age"], 1 + turn // 12 % 2, replace=False):
            levels, many = np.unique(people.columns[name], return_counts=True)
            level = random.choice(levels[many >= 0.05 * people.people])
            who &= people.columns[name] == level
            words.append(f"{name} = {level!r}" if isinstance(level, str) else f"{name} = {level}")
        mine = who & (secret == value)
        if mine.sum() < 0.004 * people.people:
            continue
        where, has = " AND ".join(words), f"{people.secret} = '{value}'"
        if kind == "no secret":
            young = age < 40
            asked = [("AVG(age)", age[who].mean()), ("SHARE(age < 40)", young[who].mean()), ("COUNT(*)", who.sum())][turn % 3]
            yield kind, f"SELECT {asked[0]} WHERE {where}", float(asked[1])
        elif kind == "share":
            yield kind, f"SELECT SHARE({has}) WHERE {where}", float(mine.sum() / who.sum())
        elif kind == "count":
            yield kind, f"SELECT COUNT(*) WHERE {where} AND {has}", float(mine.sum())
        else:
            figure = float(age[mine].mean()) if kind == "average" else float(np.sort(age[mine])[(mine.sum() + 1) // 2 - 1])
            yield kind, f"SELECT {'AVG' if kind == 'average' else 'MEDIAN'}(age) WHERE {where} AND {has}", figure


def predictors(people: Population, columns: dict[str, Array]) -> Floats:
    """Return a constant, age, and the two most frequent levels but one of three columns; the same for every sample."""
    own = people.columns["age"].astype(np.float64)
    parts = [np.ones(len(columns["age"])), (columns["age"].astype(np.float64) - own.mean()) / own.std()]
    for name in [name for name in people.quasi if name != "age"][:3]:
        levels, many = np.unique(people.columns[name], return_counts=True)
        parts += [(columns[name] == level).astype(np.float64) for level in levels[np.argsort(-many)][1:3]]
    return np.stack(parts, axis=1)


def regressions(people: Population, release: Any, sample: Sample) -> tuple[list[bool], list[bool]]:
    """Return which coefficients of the population are held, by weighted regressions and by those without weights."""
    values, times = np.unique(people.columns[people.secret], return_counts=True)
    value = values[np.argsort(-times)][0]
    truth, _ = logistic(predictors(people, people.columns), people.columns[people.secret] == value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = release.impute(TABLES, seed=5, kind="pandas")
    results = []
    for weighted in (True, False):
        fits = []
        for table in made:
            columns = {name: table[name].to_numpy() for name in table.columns}
            x, y = predictors(people, columns), columns[people.secret].astype(str) == value
            weight = columns["weight"] if weighted else np.ones(len(y))
            fits.append(weighted_logistic(x, y, weight, columns.get(sample.design.get("cluster", ""))))
        low, high = combine(fits).intervals.T
        results.append(((low <= truth) & (truth <= high))[1:].tolist())
    return results[0], results[1]


def weighted_logistic(x: Floats, y: Flags, weight: Floats, cluster: Array | None) -> tuple[Floats, Floats]:
    """Return the coefficients of a weighted logistic regression, and their sandwich covariance under sampling."""
    found: Floats = np.zeros(x.shape[1])
    for _ in range(30):
        mean = 1 / (1 + np.exp(-(x @ found)))
        bread = x.T @ (x * (weight * mean * (1 - mean))[:, None]) + 1e-9 * np.eye(x.shape[1])
        step = np.linalg.solve(bread, x.T @ (weight * (y - mean)))
        found = found + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    scores = x * (weight * (y - mean))[:, None]
    if cluster is not None:
        codes = np.unique(cluster, return_inverse=True)[1]
        scores = np.stack([np.bincount(codes, column) for column in scores.T], axis=1)
    meat = len(scores) / (len(scores) - 1) * (scores - scores.mean(axis=0)).T @ (scores - scores.mean(axis=0))
    inverse = np.linalg.inv(bread)
    return found, inverse @ meat @ inverse


def _row(found: list[dict[str, Any]]) -> list[Cell]:
    def mean(kind: str) -> float | None:
        every = [one for sample in found for one in sample[kind]]
        return float(np.mean(every)) if every else None

    asked = sum(len(sample[kind]) for sample in found for kind in KINDS)
    figures = [mean(kind) for kind in (*KINDS, "sampling", "release", "regression", "plain", "plain regression")]
    return [int(np.median([sample["bins"] for sample in found])), asked, *figures]
