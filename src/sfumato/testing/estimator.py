"""The conformance suite for estimators: what a model of the inside of groups answers, and how often its intervals hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from sfumato.errors import PublicationWarning
from sfumato.methods import Boxes, MultiSize
from sfumato.methods.base import Method
from sfumato.privacy import LDiversity
from sfumato.query.answer import Estimate, GroupedAnswer
from sfumato.query.count import count
from sfumato.query.language.sql import parse_sql
from sfumato.query.models.installed import INSTALLED, OWN
from sfumato.query.workload import true_answers
from sfumato.release.base import Release
from sfumato.table import Schema, Table
from sfumato.testing.method import require, under_its_name

TABLES = 120
HELD = 102
"""Intervals that must hold the truth, of one a table: one that holds it 95 % of the time fails with probability below 10⁻⁴."""

METHODS: tuple[Method, ...] = (Boxes(floor=10), MultiSize())
"""Boxes of near people, and groups that are blind to who is near."""

_QUESTIONS = ("age < 40 AND value = 'v0'", "sex = 'f' AND value IN ('v1', 'v2')", "age >= 30 AND sex = 'm' AND value = 'v3'")


def check_estimator(name: str) -> list[str]:
    """Check every promise of an installed estimator, and return the names of the checks that ran.

    Answers are numbers, the same whenever the same release is asked, and the cells of a GROUP BY add up; of 120 tables, each
    asked one question, at least 102 intervals of 95 % hold the truth, where it gives intervals at all.
    """
    require(name in (*OWN, *INSTALLED), f"the estimator {name!r} is found by its name")
    for check in CHECKS:
        with under_its_name(check.__name__), warnings.catch_warnings():
            warnings.simplefilter("ignore", PublicationWarning)
            check(name)
    return [check.__name__ for check in CHECKS]


def answers_are_numbers(name: str) -> None:
    """Every answer is finite, with a standard error from 0 on."""
    for release in _releases():
        for question in _QUESTIONS:
            answer = _count(release, question, name)
            require(math.isfinite(answer.value) and 0 <= answer.std_error < math.inf, f"{question}: value and error are numbers")
            require(0 <= answer.value <= release.rows, f"{question}: the value is a number of people")


def the_same_release_is_answered_the_same(name: str) -> None:
    """A model follows from the release alone: fitted again, it answers the same."""
    for once, again in zip(_releases(), _releases(), strict=True):
        for question in _QUESTIONS:
            require(_count(once, question, name) == _count(again, question, name), f"{question}: one release, one answer")


def cells_add_up(name: str) -> None:
    """The cells of a GROUP BY add up to the answer without it."""
    for release in _releases():
        cells = count(release, "SELECT sex, COUNT(*) WHERE value = 'v0' GROUP BY sex", estimator=name)
        assert isinstance(cells, GroupedAnswer)
        require(math.isclose(sum(cell.value for _, cell in cells), cells.total.value, abs_tol=1e-6), "cells add up")


def intervals_hold_the_truth(name: str) -> None:
    """Where an estimator gives intervals, they hold the truth as often as they say, also where columns are associated."""
    for method in METHODS:
        missed = 0
        for seed in range(TABLES):
            table, question = _table(seed), _QUESTIONS[seed % len(_QUESTIONS)]
            answer = _count(_published(method, table, seed), question, name)
            truth = int(true_answers(table, [parse_sql(question)])[0])
            missed += answer.low is not None and answer.high is not None and not answer.low <= truth <= answer.high
        require(missed <= TABLES - HELD, f"{method.name}: {missed} of {TABLES} intervals of 95 % do not hold the truth")


CHECKS: tuple[Callable[[str], None], ...] = (
    answers_are_numbers,
    the_same_release_is_answered_the_same,
    cells_add_up,
    intervals_hold_the_truth,
)


def _table(seed: int) -> Table:
    """Return people whose value depends on their age and sex."""
    coins, people = np.random.default_rng(seed), 400
    age, sex = coins.integers(20, 60, people), coins.integers(0, 2, people)
    value = (coins.integers(0, 5, people) + (coins.random(people) < 0.5) * (age // 20 + sex)) % 5
    columns = {"age": age, "sex": np.array(["f", "m"])[sex], "value": np.array([f"v{k}" for k in range(5)])[value]}
    return Table.from_frame(pa.table(columns), Schema(quasi=["age", "sex"], sensitive=["value"]))


def _published(method: Method, table: Table, seed: int) -> Release:
    return method.run(table, LDiversity(2, against="reader"), random=seed).release


def _releases() -> list[Release]:
    return [_published(method, _table(0), 0) for method in METHODS]


def _count(release: Release, question: str, name: str) -> Estimate:
    answer = count(release, question, estimator=name)
    assert isinstance(answer, Estimate)
    return answer
