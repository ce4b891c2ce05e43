"""The bundled census as 001, 002 and 004 use it: Occupation (OCC), Education (EDU) or Salary (SAL) as the secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from sfumato.table import Schema, Table
from sfumato.table.column import Kind
from sfumato.table.generators import census

ATTRIBUTES = {"OCC": "occupation", "EDU": "education", "SAL": "salary"}
THETAS = (2, 4, 8, 16, 32)
OFFSET = "0.02"
MAX_SIZE = 50
SEED = 1
COLUMNS = ("age", "gender", "education", "marital", "race", "workclass", "country", "occupation")
GENERATED = "a generated census in place of the papers' extract of a real one"


@dataclass(frozen=True)
class Census:
    """The bundled census: a secret of its own, and the other columns as quasi columns."""

    secrets: Sequence[str] = ("OCC", "EDU")
    numbers: Sequence[str] = ()
    """Columns that are numbers; all that look so otherwise."""
    density: int = 1
    """Of 004: so many people share the quasi values of one."""
    seed: int = SEED
    name: str = "the bundled census"

    def table(self, secret: str, people: int) -> Table:
        """Return a table of so many people with this secret."""
        return _table(self, secret, people)


@lru_cache(maxsize=4)
def _table(source: Census, secret: str, people: int) -> Table:
    column = ATTRIBUTES[secret]
    quasi = [name for name in COLUMNS if name != column and not (secret == "SAL" and name == "occupation")]
    frame = census(people, source.seed).select([*quasi, column])
    if source.density > 1:
        repeated = np.arange(people) % -(-people // source.density)
        frame = pa.table({**{name: frame[name].take(repeated) for name in quasi}, column: frame[column]})
    types: Mapping[str, Kind] = {column: "categorical"}
    if source.numbers:
        types = {name: "numeric" if name in source.numbers else "categorical" for name in frame.column_names}
    return Table.from_frame(frame, Schema(quasi=quasi, sensitive=(column,), types=types))


CENSUS = Census()


def table(attribute: str, rows: int, *, seed: int = SEED) -> Table:
    """Return the table OCC or EDU: the attribute is sensitive, the seven other columns are quasi columns."""
    return Census(seed=seed).table(attribute, rows)
