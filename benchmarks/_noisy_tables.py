"""Differential privacy beside boxes: a noisy table of the secret with every quasi column, fitted together, quasi counts exact.

Each of d quasi columns gets a table (its values × sensitive values) with two-sided geometric noise. Another value of one person
moves two cells of each table by one, so the ratio is exp(−ε/(2d)). Of all that fits the tables the model of largest entropy is
taken: the odds of a value are a product of one factor a column, found by iterative proportional fitting. A question is answered
by the mean chance of its people, who are counted exactly, because our own releases show them too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sfumato import Table
from sfumato.arrays import Array, Floats
from sfumato.query import Query
from sfumato.query.rows import RowIndex
from sfumato.query.workload import exact_pieces, vocabulary_of
from sfumato.utility.query_error import TrueAnswers

ROUNDS = 6


def asked_of_chances(table: Table, asked: Sequence[Query], chances: Array) -> Floats:
    """Return what these chances of every person answer."""
    vocabulary, index = vocabulary_of(table), RowIndex.of(table.quasi, table.rows)
    answers = np.zeros(len(asked))
    for k, query in enumerate(asked):
        for piece in exact_pieces(query, vocabulary):
            rows, found = index.find(piece.rows)
            answers[k] += float(chances[rows[:found]][:, piece.values].sum())
    return answers


def noisy_tables_error(table: Table, asked: TrueAnswers, chances: Array) -> float:
    """Return the median relative error of these chances of every person, divided by that of independence."""
    answers = asked_of_chances(table, asked.queries, chances)
    error, alone = (np.abs(one - asked.truth) / asked.truth for one in (answers, asked.alone))
    return float(np.median(error) / np.median(alone))


def noisy_tables(table: Table, epsilon: float, seed: int) -> Array:
    """Return every person's chance of every value, as far as noisy tables tell it: [people × values]."""
    values, codes = len(table.sensitive.domain.labels), table.sensitive.codes.astype(np.int64)
    ratio = math.exp(-epsilon / (2 * len(table.quasi)))
    coins = np.random.default_rng(seed)
    here = [_indicator(column.codes, column.size) for column in table.quasi]
    shown = []
    for column in table.quasi:
        key = column.codes.astype(np.int64) * values + codes
        true = np.bincount(key, minlength=column.size * values).reshape(column.size, values)
        both = coins.geometric(1 - ratio, (2, *true.shape))
        shown.append(_fitting(true + both[0] - both[1], np.bincount(column.codes, minlength=column.size)))
    odds = np.zeros((table.rows, values), np.float32)
    chances = np.full((table.rows, values), 1 / values, np.float32)
    for _ in range(ROUNDS):
        for which, cells in zip(here, shown, strict=True):
            odds += which.T @ np.log(cells / np.maximum(which @ chances, 1e-9)).astype(np.float32)
            chances = np.exp(odds - odds.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
    return chances


def _indicator(codes: Array, size: int) -> csr_array:
    rows = np.arange(len(codes))
    return csr_array((np.ones(len(codes), np.float32), (codes, rows)), shape=(size, len(codes)))


def _fitting(noisy: Array, people: Array) -> Array:
    """Return the nearest cells that are positive and add up to the exact number of people of each quasi value."""
    wanted = np.maximum(people, 1).astype(float)
    low, high = noisy.min(axis=1) - wanted, noisy.max(axis=1).astype(float)
    for _ in range(60):  # the number to take off every cell of a row, by bisection
        middle = (low + high) / 2
        over = np.maximum(noisy - middle[:, None], 0).sum(axis=1) > wanted
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    cells: Array = np.maximum(noisy - high[:, None], 1e-3)
    return cells
