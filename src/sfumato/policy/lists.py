"""Columns that are one list, written side by side: diag_1, diag_2 and diag_3 hold the diagnoses of one person."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.policy.guess import Looked
from sfumato.policy.profile import Profile, profile
from sfumato.policy.proposal import kind_of
from sfumato.policy.words import series
from sfumato.table.people_rule import BAND

_NUMBERED = re.compile(r"(.*?[^\W\d_])(?:[._ -]?0*[0-9]{1,3}|[._ -][A-Za-z])", re.DOTALL)
"""diag_1, icd1, proc 02, drug_a: a stem, and a number or, after a sign between them, a letter."""

FEWEST = 6
"""A list is of so many different things at least; answers to one question on a scale are fewer."""

SHARED, TWICE = 0.5, 0.25
"""At least this share of entries is in another column of the list too; and at most this share of rows has a thing twice."""


def lists_of(looked: Looked, sensitive: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return secrets, by name, with their columns in the order of the table: those of a list together, each other one alone.

    Columns are a list if their names are one stem with numbers or letters after it, their values overlap, and hardly any row
    has a value twice, as answers to several questions do.
    """
    by_stem: dict[str, list[str]] = {}
    for name in sensitive:
        by_stem.setdefault(_stem(name), []).append(name)
    taken = {*looked.columns.column_names, BAND}
    secrets: dict[str, tuple[str, ...]] = {}
    for stem, names in by_stem.items():
        if len(names) > 1 and _is_list(looked, names):
            secrets[_called(stem, {*taken, *secrets} - {*names})] = tuple(names)
        else:
            secrets |= {name: (name,) for name in names}
    return secrets


def _stem(name: str) -> str:
    """Return what a numbered name begins with, else the name: `diagnosis` may be the first of `diagnosis_2`."""
    match = _NUMBERED.fullmatch(name)
    return name if match is None else match[1].rstrip("._ -")


def _called(stem: str, taken: Collection[str]) -> str:
    return next(
        name for name in (stem, f"any {stem}", *(f"any {stem} {k}" for k in range(2, len(taken) + 3))) if name not in taken
    )


def _is_list(looked: Looked, names: Sequence[str]) -> bool:
    """Return whether columns hold things of one kind, each of them hardly ever twice in a row."""
    if any(kind_of(looked.by_name[name]) != "categorical" for name in names):
        return False
    columns = [_plain(looked.columns[name]) for name in names]
    if len({column.type for column in columns}) > 1:
        return False
    values = [pc.unique(column).drop_null() for column in columns]
    if len(pc.unique(pa.chunked_array(values))) < FEWEST or any(not len(column) for column in values):
        return False
    for place, column in enumerate(columns):
        others = pc.unique(pa.chunked_array(values[:place] + values[place + 1 :]))
        if pc.mean(pc.is_in(column.drop_null(), value_set=others).cast(pa.float64())).as_py() < SHARED:
            return False
    return _twice(columns) <= TWICE


def _twice(columns: Sequence[pa.ChunkedArray]) -> float:
    """Return in which share of the rows with two values or more some two are equal."""
    equal, several = np.zeros(len(columns[0]), bool), np.zeros(len(columns[0]), bool)
    for place, column in enumerate(columns):
        for other in columns[:place]:
            same = pc.equal(column, other)
            several |= same.is_valid().to_numpy()
            equal |= pc.fill_null(same, False).to_numpy()
    return float(equal.sum() / max(several.sum(), 1))


def stacked(looked: Looked, secrets: Mapping[str, Sequence[str]]) -> dict[str, tuple[Profile, pa.ChunkedArray]]:
    """Return what each secret looks like, and its entries: of a list those of its columns one below the other."""
    lists = {}
    for name, columns in secrets.items():
        if len(columns) == 1:
            lists[name] = (looked.by_name[columns[0]], looked.columns[columns[0]])
        else:
            whole = pa.chunked_array([chunk for column in columns for chunk in _plain(looked.columns[column]).chunks])
            lists[name] = (profile(name, whole), whole)
    return lists


def why_list(columns: Sequence[str]) -> str:
    """Return the reason for which columns are one secret."""
    return f"{series(list(columns))} are called alike and share their values: one list of things that a person has?"


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pt.is_dictionary(column.type) else column
