"""A census-like table: the columns and the dependences of the census extract that the papers use, any number of rows."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table.generators._draw import check_size, draw

COLUMNS = ("age", "gender", "education", "marital", "race", "workclass", "country", "occupation", "salary")
SALARY_CLASSES = 50

_YEARS_OF_SCHOOL = {1: 0, 4: 3, 5: 7, 6: 9, 7: 10, 8: 11, 9: 11.5, 10: 12, 11: 13, 12: 14, 14: 14, 15: 16, 16: 18, 17: 20}
_WORKCLASS_EFFECT = {2: 0.05, 3: -0.10, 5: 0.0, 6: 0.12, 8: 0.06, 9: -0.02, 10: -0.25}
_WOMAN = 2


def census(rows: int = 100_000, seed: int = 0) -> pa.Table:
    """Return a census-like table of age, gender, education, marital, race, workclass, country, occupation and salary.

    The first eight columns are drawn one after the other from conditional frequency tables of a 500K-adult census extract
    (integer codes as published there). Where the most specific table has no row for somebody's parents, the next less specific
    one is used.

    `salary` is ours, because the extract's tables do not have it: 50 classes 0–49 of equal width in pay, the last one open. Log
    pay rises by 0.075 per year of schooling, rises and then falls with experience (0.05 a year, −0.0009 a year squared), is 0.22
    lower for women, differs by workclass (−0.25 to +0.12) and by occupation (0.16 per standard deviation of the occupation's
    mean schooling, and up to ±0.12 of its own), plus normal noise of deviation 0.45. Few people earn much: the classes are
    skewed, with the most frequent one below the middle.
    """
    check_size(rows, seed)
    random = np.random.default_rng([seed, 1])
    model = _model()
    places: dict[str, Integers] = {}
    for node in model["nodes"]:
        places[node["name"]] = _draw_node(random, node, places, model["domains"], rows)
    values = {name: np.asarray(model["domains"][name], np.int64)[places[name]] for name in COLUMNS[:-1]}
    values["salary"] = _salary(random, values, places["occupation"])
    return pa.table({name: pa.array(values[name], pa.int64()) for name in COLUMNS})


@cache
def _model() -> dict[str, Any]:
    text = files("sfumato").joinpath("data", "census_model.json").read_text(encoding="utf-8")
    model: dict[str, Any] = json.loads(text)
    return model


def _draw_node(
    random: np.random.Generator, node: dict[str, Any], places: dict[str, Integers], domains: dict[str, list[int]], rows: int
) -> Integers:
    """Return the place in its domain of everybody's value of one column, given the columns drawn before."""
    weights: list[list[float]] = []
    which = np.zeros(rows, np.int64)
    for table in node["tables"]:
        fitting = _rows_of(table, places, domains, rows)
        which = np.where(fitting >= 0, fitting + len(weights), which)
        weights.extend(table["rows"].values())
    return draw(random, np.asarray(weights), which)


def _rows_of(table: dict[str, Any], places: dict[str, Integers], domains: dict[str, list[int]], rows: int) -> Integers:
    """Return which row of a conditional table fits each person, −1 where none does."""
    whole, size = np.zeros(rows, np.int64), 1
    known = np.zeros(len(table["rows"]), np.int64)
    keys = np.array([[int(part) for part in key.split("|") if part] for key in table["rows"]], np.int64)
    for position, parent in enumerate(table["parents"]):
        domain = np.asarray(domains["age"] if parent == "age_band" else domains[parent], np.int64)
        value = domain[places["age" if parent == "age_band" else parent]]
        value = value // 5 * 5 if parent == "age_band" else value
        radix = int(domain.max()) + 1
        whole, known, size = whole * radix + value, known * radix + keys[:, position], size * radix
    lookup = np.full(size, -1, np.int64)
    lookup[known] = np.arange(len(known))
    return lookup[whole]


def _salary(random: np.random.Generator, values: dict[str, Integers], occupation: Integers) -> Integers:
    schooling = _by_code(_YEARS_OF_SCHOOL)[values["education"]]
    experience = np.maximum(values["age"] - np.maximum(schooling, 10) - 6, 0)
    log_pay = (
        2.0
        + 0.075 * (schooling - 12)
        + 0.05 * experience
        - 0.0009 * experience**2
        - 0.22 * (values["gender"] == _WOMAN)
        + _by_code(_WORKCLASS_EFFECT)[values["workclass"]]
        + _occupation_effect()[occupation]
        + random.normal(0, 0.45, len(occupation))
    )
    return np.asarray(np.minimum(np.exp(log_pay), SALARY_CLASSES - 1), dtype=np.int64)


@cache
def _occupation_effect() -> Floats:
    """Return what each occupation adds to log pay: more where its people have more schooling, and something of its own."""
    model = _model()
    tables = {node["name"]: node["tables"] for node in model["nodes"]}
    education = np.asarray(tables["education"][0]["rows"][""])
    given = np.asarray([tables["occupation"][1]["rows"][str(code)] for code in model["domains"]["education"]])
    joint = education[:, None] * given
    years = np.asarray([_YEARS_OF_SCHOOL[code] for code in model["domains"]["education"]])
    mean = (joint * years[:, None]).sum(axis=0) / joint.sum(axis=0)
    return np.asarray(0.16 * (mean - mean.mean()) / mean.std() + 0.12 * np.sin(2.4 * np.arange(len(mean))))


def _by_code(effects: dict[int, float] | dict[int, int]) -> Floats:
    table = np.zeros(max(effects) + 1)
    for code, effect in effects.items():
        table[code] = effect
    return table
