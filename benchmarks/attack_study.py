"""Who is told more by a learner of links, and what do counts cost: β-likeness beside differential privacy (003, Figures 8 to 11)?

Bundled census (10,000 people, seven quasi columns, Occupation) and a table like COIL 2000 (9,822 people, four quasi columns, 40
values). ε = ln(1 + β). The ring knows ℓ-diversity only, here the largest ℓ up to 10. Naive Bayes names everybody's likeliest
value from what a release teaches, without and with Laplace's correction; of synthetic records also by numbers near her own.
The control is as many people who are not in the table. Errors are the median relative ones of counts, by each release's own
estimator: ranges over λ quasi columns and the secret of selectivity Θ, and prefixes of one column with single values of four.
"Exact quasi" takes only shares from synthetic records, and the number of people who meet the quasi condition from the table,
which the other releases publish. What is drawn with noise is drawn three times, and the mean shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks._charts import Lines, small_multiples
from benchmarks._likeness import NOISE, WAYS, Asked, Questions, Way, census_people, insurance_people
from benchmarks._show import Cell, Show
from sfumato.attacks import attack
from sfumato.attacks.learned import learn
from sfumato.attacks.naive_bayes import near_values
from sfumato.attacks.sight import quasi_only
from sfumato.errors import SfumatoError
from sfumato.query import prefix_workload, range_workload
from sfumato.release.base import Release

BETAS = (1, 3, 10, 20, 50)
AT = 3
"""The β at which questions and distances vary."""

THETAS = (0.05, 0.1, 0.15, 0.2, 0.25)
DISTANCES = (0.0, 0.02, 0.0495, 0.1, 0.2, 0.5, 1.0)
DRAWS = 3
USUAL, PREFIX = "ranges", "prefixes"
NEAR = "near numbers counted too"


@dataclass(frozen=True)
class Studied:
    """A table, its questions of every β, and those of β = 3 alone."""

    name: str
    asked: Asked
    always: Mapping[str, Questions]
    sweeps: Mapping[str, Mapping[str, Questions]]


@dataclass(frozen=True)
class Found:
    """How often naive Bayes is right in each way of hers, on outsiders too, and the error of questions by their name."""

    right: Mapping[str, float]
    control: float
    errors: Mapping[str, float]
    exact: Mapping[str, float]
    near: Mapping[str, float]


Row = Sequence[Found | None]


def run(show: Show, quick: bool) -> None:
    """Show both tables, and write the pictures."""
    betas = (AT, 10) if quick else BETAS
    found: dict[str, dict[str, Row]] = {}
    studies = both(quick)
    for study in studies:
        found[study.name] = {name: measure(show.note, study, name, betas, 1 if quick else DRAWS) for name in WAYS}
    draw(show, studies, found, betas)


@cache
def both(quick: bool) -> tuple[Studied, Studied]:
    """Return the two tables with their questions."""
    few, queries = (1_000, 30) if quick else (None, 100)
    census, coil = Asked.of(*census_people(few or 10_000)), Asked.of(*insurance_people(few or 9_822))
    single = ["age", "gender", "marital", "race"]
    prefixes = {PREFIX: Questions.of(census.table, prefix_workload(census.table, "education", single, queries=queries, seed=1))}
    return _studied("census", census, prefixes, (1, 2, 3, 4, 5, 6), queries), _studied(
        "like COIL 2000", coil, {}, (1, 2, 3, 4), queries
    )


def _studied(name: str, asked: Asked, more: Mapping[str, Questions], lambdas: Sequence[int], queries: int) -> Studied:
    def ranges(lambda_: int, theta: float) -> Questions:
        return Questions.of(asked.table, range_workload(asked.table, queries=queries, lambda_=lambda_, theta=theta, seed=1))

    columns = {f"{many}": ranges(many, 0.1) for many in lambdas}
    shares = {f"{theta:g}": ranges(3, theta) for theta in THETAS}
    return Studied(name, asked, {USUAL: columns["3"], **more}, {"λ": columns, "Θ": shares})


def measure(note: Callable[[str], None], study: Studied, name: str, betas: Sequence[int], draws: int) -> Row:
    """Return what is found of one way for every β; None where it refuses."""
    way, row = WAYS[name], list[Found | None]()
    table = study.asked.read_for(way)
    for beta in betas:
        same = next((k for k, before in enumerate(betas[: len(row)]) if way.asked(before, table) == way.asked(beta, table)), None)
        if same is not None and beta != AT:
            row.append(row[same])  # β changes nothing
            continue
        try:
            row.append(_mean([_one(study, way, beta, beta + 1000 * k) for k in range(draws if way.family == NOISE else 1)]))
        except SfumatoError as error:
            note(f"- {study.name}, {name}, β = {beta}: {error.message}")
            row.append(None)
    return row


def _one(study: Studied, way: Way, beta: int, seed: int) -> Found:
    asked, table = study.asked, study.asked.read_for(way)
    release = asked.released(way, beta, seed)
    seen = {one.variant: one for one in attack(release, table, "nb", outsiders=asked.outsiders, random=1)}
    questions = dict(study.always)
    if beta == AT:
        questions |= {f"{kind}{step}": one for kind, steps in study.sweeps.items() for step, one in steps.items()}
    return Found(
        {variant: one.success or 0.0 for variant, one in seen.items()},
        seen[""].control or 0.0,
        {name: one.error(release) for name, one in questions.items()},
        {name: one.error(release, exact_quasi=True) for name, one in questions.items()} if way.synthetic else {},
        _near(release, table) if way.synthetic and beta == AT else {},
    )


def _near(release: Release, table: object) -> dict[str, float]:
    """Return how often naive Bayes is right by each distance, without and with correction."""
    people = quasi_only(table)  # type: ignore[arg-type]
    model, labels = learn(release, people), list(release.labels)
    number = {label: k for k, label in enumerate(labels)}
    sensitive = table.sensitive  # type: ignore[attr-defined]
    truth = np.array([number.get(label, -1) for label in sensitive.labels])[sensitive.codes]
    return {
        f"{correction:g} {distance:g}": float(
            (near_values(release, model, people, distance).posterior(people, correction).argmax(axis=1) == truth).mean()
        )
        for correction in (0.0, 1.0)
        for distance in DISTANCES
    }


def _mean(draws: Sequence[Found]) -> Found:
    def over(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {key: float(np.mean([part[key] for part in parts])) for key in parts[0]}

    return Found(
        over([one.right for one in draws]),
        float(np.mean([one.control for one in draws])),
        over([one.errors for one in draws]),
        over([one.exact for one in draws]),
        over([one.near for one in draws]),
    )


Series = dict[str, tuple[int, Sequence[float | None]]]


def draw(show: Show, studies: Sequence[Studied], found: Mapping[str, Mapping[str, Row]], betas: Sequence[int]) -> None:
    """Show everything as tables, and write the pictures."""
    steps = [f"{beta} ({math.log(1 + beta):.2f})" for beta in betas]
    attacks, near, errors, sweeps = list[Lines](), list[Lines](), list[Lines](), list[Lines]()
    at = betas.index(AT)
    for study in studies:
        rows, counts = found[study.name], study.asked.table.sensitive.counts
        level = ("always the largest", float(counts.max() / study.asked.table.rows))
        _tables(show, study, rows, betas)
        for variant, title in (("without correction", "no correction"), ("", "Laplace's correction")):
            series: Series = {
                way: (WAYS[way].family, [None if one is None else one.right[variant] for one in row]) for way, row in rows.items()
            }
            wide = f"{NEAR}, {variant}" if variant else NEAR
            for way, row in rows.items():
                if WAYS[way].synthetic and any(one and abs(one.right[variant] - one.right[wide]) > 0.002 for one in row):
                    series[f"{way}, near"] = (3, [None if one is None else one.right.get(wide) for one in row])
            attacks.append(Lines(f"{study.name}, {title}", series, level, steps=steps))
        near.append(Lines(study.name, _near_series(rows, at), level, steps=[f"{one:g}" for one in DISTANCES]))
        for kind, questions in study.always.items():
            title = f"{study.name}, {kind}"
            errors.append(
                Lines(title, _error_series(rows, [(kind, k) for k in range(len(betas))]), _level(questions), 1.0, steps)
            )
        for kind, by in study.sweeps.items():
            picked = _error_series(rows, [(f"{kind}{step}", at) for step in by])
            sweeps.append(Lines(f"{study.name}, {kind}, β = {AT}", picked, None, 1.0, list(by)))
    across = "Across: β (ε = ln(1 + β)). Grey: as published in papers; green: ours; orange: noise"
    small_multiples(
        show.directory / "naive-bayes.svg",
        attacks,
        title="How often naive Bayes names the value of a person of the table",
        note=f"{across}; blue: noise, near numbers counted too.",
        y="people named rightly",
    )
    small_multiples(
        show.directory / "near-numbers.svg",
        near,
        title="Naive Bayes on synthetic records, by how near a number must be to count",
        note=f"Across: δ, a part of the range. ε = {math.log(1 + AT):.2f}. Orange: no correction; green: Laplace's correction.",
        y="people named rightly",
    )
    exact = "blue: noise, with exact quasi counts. Cut off at 100 %."
    small_multiples(
        show.directory / "dp-errors.svg",
        errors,
        title="Median relative error of counts",
        note=f"{across}; {exact}",
        y="median relative error",
    )
    small_multiples(
        show.directory / "dp-questions.svg",
        sweeps,
        title=f"Median relative error of range counts, β = {AT}, ε = {math.log(1 + AT):.2f}",
        note=f"Across: λ quasi columns, or selectivity Θ. Grey: papers; green: ours; orange: noise; {exact}",
        y="median relative error",
    )


def _level(questions: Questions) -> tuple[str, float]:
    return "independence", questions.alone


def _near_series(rows: Mapping[str, Row], at: int) -> Series:
    series: Series = {}
    for way, row in rows.items():
        one = row[at]
        if one is not None and one.near:
            for colour, correction, words in ((1, 0.0, ""), (2, 1.0, ", corrected")):
                series[f"{way}{words}"] = (colour, [one.near[f"{correction:g} {distance:g}"] for distance in DISTANCES])
    return series


def _error_series(rows: Mapping[str, Row], places: Sequence[tuple[str, int]]) -> Series:
    """Return the errors of every way at (question, place of β), and of synthetic records with exact quasi counts too."""

    def figures(row: Row, exact: bool) -> list[float | None]:
        return [None if (one := row[k]) is None else (one.exact if exact else one.errors)[name] for name, k in places]

    plain: Series = {way: (WAYS[way].family, figures(row, False)) for way, row in rows.items()}
    return plain | {f"{way}, exact": (3, figures(row, True)) for way, row in rows.items() if WAYS[way].synthetic}


def _tables(show: Show, study: Studied, rows: Mapping[str, Row], betas: Sequence[int]) -> None:
    variants = ("without correction", "", f"{NEAR}, without correction", NEAR)
    lines: list[list[Cell]] = []
    asked: list[list[Cell]] = []
    for way, row in rows.items():
        for beta, one in zip(betas, row, strict=True):
            if one is None:
                continue
            errors = [one.errors[kind] for kind in study.always] + [one.exact.get(kind) for kind in study.always]
            lines.append(
                [f"{way}, β = {beta}", math.log(1 + beta), *(one.right.get(each) for each in variants), one.control, *errors]
            )
            if beta == AT:
                for words, figures in ((way, one.errors), (f"{way}, exact quasi", one.exact)):
                    if figures:
                        asked.append(
                            [words, *(figures[f"{kind}{step}"] for kind, steps in study.sweeps.items() for step in steps)]
                        )
    always = [*study.always, *(f"{kind}, exact quasi" for kind in study.always)]
    heading = ["release", "ε", "no correction", "Laplace", "near, no correction", "near, Laplace", "control (Laplace)", *always]
    people = study.asked.table.rows
    show.table(f"{study.name}: naive Bayes and errors of counts, {people:,} people", heading, lines)
    alone = [one.alone for steps in study.sweeps.values() for one in steps.values()]
    steps = [f"{kind} {step}" for kind, by in study.sweeps.items() for step in by]
    show.table(f"{study.name}: errors of range counts, β = {AT}", ["release", *steps], [*asked, ["independence", *alone]])
    for way, row in rows.items():
        one = row[betas.index(AT)]
        if one is not None and one.near:
            found = ", ".join(f"{key.split()[1]} {figure:.3f}" for key, figure in one.near.items() if key.startswith("0 "))
            corrected = ", ".join(f"{key.split()[1]} {figure:.3f}" for key, figure in one.near.items() if key.startswith("1 "))
            show.note(f"- {way}, by distance δ: {found}; corrected {corrected}")
