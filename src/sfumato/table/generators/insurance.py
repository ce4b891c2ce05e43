"""An insurance-like table: the size and the skew of the COIL 2000 extract that 003 uses, drawn from figures of our own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table.generators._draw import check_size, draw

COLUMNS = ("houses", "household", "age", "main_type", "sub_type")
SIZES = (9, 6, 6, 10, 40)

_HOUSES = np.array([0.91, 0.04, 0.02, 0.01, 0.008, 0.005, 0.003, 0.002, 0.002])
_AGES = np.array([0.013, 0.25, 0.52, 0.18, 0.033, 0.004])
_BY_AGE = 1.5
_LARGEST = 0.14


def insurance(rows: int = 9_822, seed: int = 0) -> pa.Table:
    """Return a table of customers: houses, household, age, main_type and, as the sensitive column, sub_type.

    The extract of COIL 2000 in 003 (Table 10) has about 9,800 people, four quasi columns of 9, 6, 6 and 10 values, the first of
    which is one value for 91 % of the people, and a sensitive column of 40 values, the largest with 14 %. Those figures are kept.
    What goes with what is ours: every sub type belongs to one main type, four to each, as a customer's detailed segment does to
    a coarse one; sub types differ in the ages of their people, main types in the sizes of households; houses go with nothing.
    """
    check_size(rows, seed)
    random = np.random.default_rng([seed, 2])
    nobody = np.zeros(rows, np.int64)
    age = draw(random, _AGES[None, :], nobody)
    shares, belongs = _segments()
    middle = np.linspace(0.0, 5.0, 40)[np.argsort(np.sin(1.7 * np.arange(40)))]
    likely = shares * np.exp(-_BY_AGE * (middle[None, :] - np.arange(6)[:, None]) ** 2 / 6)
    for _ in range(50):  # so that, whatever their ages, people have sub types in these shares
        likely *= shares / (_AGES @ (likely / likely.sum(axis=1, keepdims=True)))
    sub = draw(random, likely, age)
    main = belongs[sub]
    size = draw(random, np.exp(-0.35 * (np.arange(6)[None, :] - (np.arange(10)[:, None] % 6)) ** 2), main)
    houses = draw(random, _HOUSES[None, :], nobody)
    drawn = dict(zip(COLUMNS, (houses, size, age, main, sub), strict=True))
    return pa.table({name: pa.array(codes + 1, pa.int64()) for name, codes in drawn.items()})


def _segments() -> tuple[Floats, Integers]:
    """Return the share of every sub type, the largest of which has 14 %, and the main type that it belongs to."""
    rest = 1.0 / np.arange(2, 41) ** 0.9
    shares = np.concatenate(([_LARGEST], (1 - _LARGEST) * rest / rest.sum()))
    order = np.argsort(np.cos(2.3 * np.arange(40)))
    return shares[order], np.repeat(np.arange(10), 4)
