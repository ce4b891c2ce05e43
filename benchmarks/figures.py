"""Do intervals of averages, shares, sums, medians and differences hold the truth? Soft, safe, tight and noisy boxes.

One release (8f+0.02) hides a category (`occupation`, or `--sensitive`), one (4f+0.02) a number in bins (`hours…`, else
`age`). Of the first are asked
shares of random sets of values among people of one or two quasi values, shares of quasi values among people of one value,
averages of a number by value, and differences of shares and of averages between two values of a column; of the second averages,
sums and medians of the number (by the bins' middles) among people of one or two quasi values, and differences of averages. Groups
have at least 50 people, and no two questions are the same as long as there are others. Coverage is that of 95 % intervals, by
class and release; answers that say that they are mostly prior are counted apart. Errors are medians of |error|, in standard
errors and in units of the figure's own spread.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._show import Cell, Show
from sfumato.arrays import Flags
from sfumato.privacy.requirement import Against
from sfumato.query import Estimate
from sfumato.table.generators import census

CENSUS = ("age", "gender", "education", "marital", "race", "workclass", "country")
FEWEST = 50
BASES: dict[str, tuple[sfumato.Boxes, Against]] = {
    "soft": (sfumato.Boxes(), "engineer"),
    "safe": (sfumato.Boxes(patience=0), "engineer"),
    "tight": (sfumato.Boxes(), "reader"),
}
Made = tuple[str, Callable[[sfumato.Release], Estimate], float]
"""A question's class, how it is asked, and the true answer."""


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = "occupation") -> None:
    """Show coverage by class for every release."""
    many = 40 if quick else 100
    frame = _frame(quick, table)
    numbers = next((name for name in frame.column_names if name.startswith("hours")), "age")
    quasi = [name for name in frame.column_names if not name.startswith(sensitive)]
    data = frame.select([*quasi, sensitive])
    data = data.set_column(len(quasi), sensitive, data[sensitive].cast(pa.string()))
    hidden = sfumato.Schema(quasi=quasi, sensitive=(sensitive,), types={sensitive: "categorical"})
    edges = [0, *np.unique(np.quantile(data[numbers].to_numpy(), np.linspace(0.1, 0.9, 9)).astype(int)).tolist(), 100]
    edges = sorted(set(edges))
    rest = [name for name in (*quasi, sensitive) if name != numbers]
    binned = sfumato.Schema(quasi=rest, sensitive=(numbers,), bins={numbers: edges}, types={sensitive: "categorical"})
    for title, schema, draw, theta in (("a category", hidden, _of_category, 8), ("a number in bins", binned, _of_number, 4)):
        own = sfumato.Table.from_frame(data, schema)
        asked = draw(data, schema, own, many, numbers)
        for basis, release in _releases(data, schema, own, theta):
            _show(show, f"{title} is secret, {basis}", release, asked)


def _frame(quick: bool, table: Path | None) -> pa.Table:
    few = 20_000 if quick else 40_000
    if table is None:
        return census(few, 1).select([*CENSUS, "occupation"])
    whole = pq.read_table(table)
    rows = np.sort(np.random.default_rng(1).permutation(whole.num_rows)[:few])
    return whole.take(rows)


def _releases(data: pa.Table, schema: sfumato.Schema, own: sfumato.Table, theta: int) -> list[tuple[str, sfumato.Release]]:
    made: list[tuple[str, sfumato.Release]] = []
    for name, (method, against) in BASES.items():
        bound = sfumato.FPrivacy(theta=theta, offset="0.02", against=against)
        made.append((name, method.run(own, bound, random=1).release))
    shares = own.sensitive.histogram()
    declared: dict[str, Any] = {"shares": shares, "otherwise": next(iter(shares))}
    closed = sfumato.Table.from_frame(data, sfumato.NoisyBoxes(**declared).close(schema))
    bound = sfumato.FPrivacy(theta=theta, offset="0.02", against="insider")
    made.append(("noisy", sfumato.NoisyBoxes(**declared).run(closed, bound, random=1).release))
    return made


class _Draw:
    """Random conditions on the quasi columns of a table, with the people who meet them."""

    def __init__(self, data: pa.Table, quasi: list[str], seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.columns = {name: data[name].to_numpy(zero_copy_only=False) for name in quasi}
        self.people = data.num_rows
        self.asked: set[frozenset[str]] = set()

    def level(self, name: str) -> tuple[str, Flags]:
        """Return a condition on a column: one value, or a stretch of numbers around a random person's."""
        column = self.columns[name]
        value = column[int(self.random.integers(self.people))]
        if isinstance(value, str):
            quoted = value.replace("'", "''")
            return f"\"{name}\" = '{quoted}'", column == value
        if len(np.unique(column)) > 30:
            low, high = value - 5, value + 5
            return f'"{name}" BETWEEN {low} AND {high}', (column >= low) & (column <= high)
        return f'"{name}" = {value}', column == value

    def group(self, most: int = 2) -> tuple[str, Flags]:
        """Return a condition on one or more columns that at least so many people meet."""
        for turn in itertools.count():
            names = self.random.permutation(list(self.columns))[: int(self.random.integers(1, most + 1))]
            parts = [self.level(str(name)) for name in names]
            inside = np.logical_and.reduce([mask for _, mask in parts])
            if FEWEST <= inside.sum() < self.people and self._new({text for text, _ in parts}, turn):
                return " AND ".join(text for text, _ in parts), inside
        raise AssertionError

    def two(self) -> tuple[tuple[str, Flags], tuple[str, Flags]]:
        """Return two values of one column."""
        for turn in itertools.count():
            name = str(self.random.permutation(list(self.columns))[0])
            one, other = self.level(name), self.level(name)
            if (
                min(one[1].sum(), other[1].sum()) >= FEWEST
                and not (one[1] & other[1]).any()
                and self._new({one[0], "beside", other[0]}, turn)
            ):
                return one, other
        raise AssertionError

    def _new(self, texts: set[str], turn: int) -> bool:
        """Return whether this was not asked before: one release has one error for it. After a hundred turns anything will do."""
        new = frozenset(texts) not in self.asked
        self.asked.add(frozenset(texts))
        return new or turn > 100


def _count(sql: str) -> Callable[[sfumato.Release], Estimate]:
    def asked(release: sfumato.Release) -> Estimate:
        found = release.count(sql)
        assert isinstance(found, Estimate)
        return found

    return asked


def _difference(a: str, b: str, of: str) -> Callable[[sfumato.Release], Estimate]:
    return lambda release: release.compare(a, b, of=of).difference


def _of_category(data: pa.Table, schema: sfumato.Schema, own: sfumato.Table, many: int, numbers: str) -> list[Made]:
    secret = schema.sensitive[0]
    draw = _Draw(data, list(schema.quasi), 7)
    values = data[secret].to_numpy(zero_copy_only=False)
    known, times = np.unique(values, return_counts=True)
    frequent = known[times >= FEWEST]
    number, age = data[numbers].to_numpy(), data["age"].to_numpy()
    made: list[Made] = []

    def written(chosen: Any) -> str:
        return ", ".join(str(v) if not isinstance(v, str) else "'" + v.replace("'", "''") + "'" for v in chosen)

    for turn in range(many):
        text, inside = draw.group()
        chosen = draw.random.permutation(frequent)[: 1 if turn % 2 else max(1, len(frequent) // 4)]
        has = np.isin(values, chosen)
        share = f"SHARE({secret} IN ({written(chosen)}))"
        made.append(("shares", _count(f"SELECT {share} WHERE {text}"), float(has[inside].mean())))
        one, other = draw.two()
        gap = float(has[one[1]].mean() - has[other[1]].mean())
        made.append(("differences of shares", _difference(one[0], other[0], share), gap))
        value = frequent[turn % len(frequent)]
        among = values == value
        one_value = f"{secret} IN ({written([value])})"
        made.append(("shares among a value", _count(f"SELECT SHARE({text}) WHERE {one_value}"), float(inside[among].mean())))
        column, name = (number, numbers) if (turn // len(frequent)) % 2 else (age, "age")
        made.append(("averages by value", _count(f'SELECT AVG("{name}") WHERE {one_value}'), float(column[among].mean())))
        two = draw.random.permutation(frequent)[:2]
        gap = float(column[values == two[0]].mean() - column[values == two[1]].mean())
        sides = [f"{secret} IN ({written([v])})" for v in two]
        made.append(("differences of averages", _difference(sides[0], sides[1], f'AVG("{name}")'), gap))
    return made


def _of_number(data: pa.Table, schema: sfumato.Schema, own: sfumato.Table, many: int, numbers: str) -> list[Made]:
    draw = _Draw(data, list(schema.quasi), 8)
    bins: Any = schema.bins_of(numbers)
    edges = np.array([float(edge) for edge in bins.edges])
    middle = ((edges[:-1] + edges[1:]) / 2)[bins.place(data[numbers].to_numpy())]
    made: list[Made] = []
    for _ in range(many):
        text, inside = draw.group()
        mine = middle[inside]
        made.append(("averages", _count(f'SELECT AVG("{numbers}") WHERE {text}'), float(mine.mean())))
        made.append(("sums", _count(f'SELECT SUM("{numbers}") WHERE {text}'), float(mine.sum())))
        median = float(np.sort(mine)[int(np.ceil(len(mine) / 2)) - 1])
        made.append(("medians", _count(f'SELECT MEDIAN("{numbers}") WHERE {text}'), median))
        one, other = draw.two()
        gap = float(middle[one[1]].mean() - middle[other[1]].mean())
        made.append(("differences of averages", _difference(one[0], other[0], f'AVG("{numbers}")'), gap))
        original = float(data[numbers].to_numpy()[inside].mean())
        made.append(("averages of the originals", _count(f'SELECT AVG("{numbers}") WHERE {text}'), original))
    return made


def _show(show: Show, title: str, release: sfumato.Release, asked: list[Made]) -> None:
    start = time.process_time()
    found: dict[str, list[tuple[float, Estimate]]] = {}
    for kind, ask, truth in asked:
        found.setdefault(kind, []).append((truth, ask(release)))
    seconds = time.process_time() - start
    rows: list[list[Cell]] = []
    for kind, pairs in found.items():
        told = [(truth, one) for truth, one in pairs if one.low is not None]
        held = [one.low - 1e-9 <= truth <= one.high + 1e-9 for truth, one in told if one.low is not None and one.high is not None]
        spread = float(np.std([truth for truth, _ in pairs])) or 1.0
        errors = [abs(one.value - truth) for truth, one in pairs]
        widths = [one.std_error for _, one in told]
        rows.append(
            [
                kind,
                len(pairs),
                float(np.mean(held)) if held else None,
                1 - len(told) / len(pairs),
                float(np.median(errors)) / spread,
                float(np.median(widths)) / spread if widths else None,
            ]
        )
    columns = ["figures", "number", "coverage", "mostly prior", "median error / spread", "median std. error / spread"]
    show.table(f"{title}: {release!r}", columns, rows)
    show.note(f"- {seconds:.0f} s of processor time with learning")
