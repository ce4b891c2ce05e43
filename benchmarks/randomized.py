"""How far are answers from randomized releases, and do intervals hold the truth? Against independence and the papers' estimator.

Small-domain randomization and uniform perturbation, several draws of the coins. Questions are those of `estimators`. Errors are
the sum of |error| over the sum of the true answers: of independence with the exact shares of the values, which no such release
shows; of the papers' reconstruction; of the model that knows single questions only; of the default, one likelihood of all
columns. Coverage is that of 95 % intervals of the default, whether or not a release tells enough to show them.

`--table FILE` takes a table whose secret is `occupation`; without it: the bundled census and hospital.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import sfumato
from benchmarks._releases import people_of, tables
from benchmarks._show import Cell, Show
from benchmarks.estimators import CLASSES, LIKELY, met, questions
from sfumato.arrays import Floats
from sfumato.query import Query, count_many
from sfumato.query.count import engine_of
from sfumato.query.language.compile import compile_condition

DRAWS = 3


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show every class for every release."""
    for name, frame, secret in tables(quick, table, whole=False):
        own = people_of(frame, secret)
        asked = {kind: met(own, made) for kind, made in questions(own, secret, 60 if quick else 150).items()}
        first = Fraction(1, own.rows // int(own.sensitive.counts.max()))  # every value is protected
        requirement = sfumato.RhoPrivacy(str(first), str(min(3 * first, Fraction(1, 2))))
        for method in (sfumato.SmallDomain(), sfumato.UniformPerturbation()):
            rows: list[list[Cell]] = []
            for draw in range(1, (1 if quick else DRAWS) + 1):
                release = method.run(own, requirement, random=draw).release
                engine: Any = engine_of(release)
                start = time.process_time()
                engine.records  # noqa: B018  (learned here)
                learned = time.process_time() - start
                rows += [[draw, *row] for row in _classes(own, release, engine, asked)]
            columns = ["draw", "questions", "number", "independence", "paper", "single questions", "default", "coverage"]
            show.table(f"{name}, {type(method).__name__}, {requirement.rho1} to {requirement.rho2}", columns, rows)
            told = "tells too little for intervals" if engine.rates.too_noisy else "shows intervals"
            show.note(f"- {engine.slots.parts} parts; the release {told}; learning took {learned:.1f} s of processor time")


def _classes(
    own: sfumato.Table, release: sfumato.Release, engine: Any, asked: dict[str, tuple[list[Query], Floats]]
) -> list[list[Cell]]:
    share = own.sensitive.counts / own.rows
    words = engine.vocabulary.for_terms("published")
    rows: list[list[Cell]] = []
    for kind in CLASSES:
        queries, truth = asked[kind]
        if not queries:
            continue
        alone, single = [], []
        for query in queries:
            (piece,) = compile_condition(query.condition, words).pieces
            shown = engine.find(piece.rows)
            alone.append(float(shown.sum()) * float(share[piece.values].sum()))
            single.append(max(0.0, engine.rates.count(shown, piece.values)[0]))
        answers: list[Any] = count_many(release, queries)
        papers: list[Any] = count_many(release, queries, estimator="paper")
        value, error = (np.array([getattr(one, name) for one in answers]) for name in ("value", "std_error"))
        low, high = value - LIKELY * error, value + LIKELY * error
        if answers[0].low is not None:
            low, high = (np.array([getattr(one, name) for one in answers]) for name in ("low", "high"))
        inside = (low <= truth) & (truth <= high)
        estimates = (np.array(alone), np.array([one.value for one in papers]), np.array(single), value)
        off = [float(np.abs(one - truth).sum() / truth.sum()) for one in estimates]
        rows.append([kind, len(queries), *off, float(inside.mean())])
    return rows
