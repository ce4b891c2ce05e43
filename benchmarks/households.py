"""Whole households in place of single people: what does that cost, and what do relatives reach who are published one by one?

Households are made of a table of people (`benchmarks/_relations.py`): couples, of whom three in ten share their value, some with
a third member, and people alone. Boxes against an engineer, of households and of their members. Asked is who, or in which
households somebody, has a value, among those with random sets, or ranges, of quasi values; *error* is the median of
|answer − truth| ÷ truth, as `explain` measures it. *Above* is the share of couples who share a value of whom somebody who knows
that, and sees the release of single people, believes some value with more than its bound; *largest*, with how many times that.

`--table FILE` (Parquet) takes people of one's own, a row each, with the column `age`; `--sensitive COLUMN` names the secret.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._relations import households_of, sample
from benchmarks._show import Cell, Show
from sfumato.arrays import Integers
from sfumato.explanation.study import study
from sfumato.table.generators import census

PEOPLE = 30_000
BOUNDS = (("4f + 0.02", 4, "0.02"), ("5f + 0.02", 5, "0.02"), ("2f + 0.01", 2, "0.01"))
ALIKE = (2, 3)  # sizes 1, 2, and 3 or more


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = "occupation") -> None:
    """Show errors of households and of their members, and what a couple that shares its value gives away."""
    people = census(PEOPLE, seed=1) if table is None else sample(pq.read_table(table), 5_000 if quick else PEOPLE, 1)
    named = {name.lower(): name for name in people.column_names}
    secret, age = named[sensitive.lower()], named["age"]
    frame = households_of(people, age, secret, 1)
    quasi = [name for name in people.column_names if not name.startswith(secret)]
    errors: list[list[Cell]] = []
    couples: list[list[Cell]] = []
    for name, theta, offset in BOUNDS[:1] if quick else BOUNDS:
        bound = sfumato.FPrivacy(theta=theta, offset=offset)
        alone, together = _people(frame, quasi, secret), _households(frame, quasi, secret, age)
        errors += [[name, *row] for row in _errors(together, alone, bound)]
        couples.append([name, *_couples(alone, frame, bound)])
    show.table("errors", ["bounds", "published", "people", "boxes", "who has a value", "ranges", "note"], errors)
    show.table("couples who share a value", ["bounds", "couples", "above", "largest"], couples)


def _people(frame: pa.Table, quasi: list[str], secret: str) -> sfumato.Table:
    others = [name for name in frame.column_names if name not in (*quasi, secret)]
    return sfumato.Table.from_frame(
        frame,
        sfumato.Schema(quasi=quasi, sensitive=[secret], other=others, types={secret: "categorical"}, people={"rows": "people"}),
    )


def _households(frame: pa.Table, quasi: list[str], secret: str, age: str) -> sfumato.Table:
    others = [name for name in frame.column_names if name not in (*quasi, secret, "household")]
    unit: dict[str, Any] = {"household": "household", "quasi": f"greatest by {age}", "alike": list(ALIKE)}
    schema = sfumato.Schema(
        quasi=quasi, identifier=["household"], other=others, secrets={secret: [secret]}, types={secret: "categorical"}, unit=unit
    )
    return sfumato.Table.from_frame(frame, schema, seed=1)


def _errors(together: sfumato.Table, alone: sfumato.Table, bound: sfumato.FPrivacy) -> list[list[Cell]]:
    """Return what `explain` measures of both."""
    found = study(together, bound, sfumato.Boxes(), members=alone)
    shown = {"soft": "households", "members": "their members"}
    rows = [(shown[row.name], row) for row in found.rows if row.name in shown]
    many = {"households": together.rows, "their members": alone.rows}
    return [[name, many[name], row.groups, *(row.errors or (None, None)), row.note] for name, row in rows]


def _couples(alone: sfumato.Table, frame: pa.Table, bound: sfumato.FPrivacy) -> list[Cell]:
    """Return of how many couples who share a value some belief exceeds its bound, and by what factor at most."""
    release = sfumato.Boxes().run(alone, bound, random=1).release
    household, codes = frame.column("household").to_numpy(), alone.sensitive.codes
    pairs = _pairs(household)
    pairs = pairs[codes[pairs[:, 0]] == codes[pairs[:, 1]]]
    shares = alone.sensitive.counts / alone.rows
    believed = np.asarray(release.beliefs(alone.to_arrow().select([column.name for column in alone.quasi])))
    first, second = (believed[pairs[:, side]] for side in (0, 1))
    both = np.where(shares > 0, first * second / shares, 0.0)
    both /= both.sum(axis=1, keepdims=True)
    limits = np.minimum(1.0, float(bound.theta) * shares + float(bound.offset))
    times = (both / limits).max(axis=1)
    return [len(pairs), float((times > 1).mean()), float(times.max())]


def _pairs(household: Integers) -> Integers:
    """Return the two members of each household of two."""
    order = np.argsort(household, kind="stable")
    many = np.bincount(household)
    begin = np.concatenate(([0], np.cumsum(many)))[:-1][many == 2]
    return np.stack([order[begin], order[begin + 1]], axis=1)


__all__ = ["run"]
