"""From the rows of a source to one row a person: what is looked at beside the columns of a release, and what is found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.errors import InputError
from sfumato.randomness import Randomness
from sfumato.table.coding import split
from sfumato.table.people import Choice, choose
from sfumato.table.person_key import PersonKey, person_keys
from sfumato.table.schema import Schema
from sfumato.table.sound import comparable


@dataclass
class Rows:
    """The rows of a table as they come, before types are guessed; `pick` keeps one row a person and remembers what it saw."""

    schema: Schema
    random: Randomness | int | bytes | None = None
    choice: Choice | None = field(default=None, init=False)
    suspects: tuple[PersonKey, ...] = field(default=(), init=False)

    @property
    def used(self) -> list[str]:
        """The columns that a table keeps something of."""
        return [*self.schema.identifier, *self.schema.quasi, *self.schema.sensitive]

    @property
    def beside(self) -> list[str]:
        """The further columns that are looked at: what the rule of people names, and where a key of people could hide."""
        rule = self.schema.people_rule
        names = [*rule.key, *([] if rule.by is None else [rule.by]), *(self.schema.other if self.in_doubt else ())]
        return [name for name in dict.fromkeys(names) if name not in self.used]

    @property
    def in_doubt(self) -> bool:
        """True unless the policy says what a row is."""
        return self.schema.one_row_per_person and self.schema.people_rule.rows is None

    @property
    def chose(self) -> bool:
        """Whether rows were left out, because somebody had several."""
        return self.choice is not None and self.choice.people < self.choice.rows

    def pick(self, data: pa.Table) -> pa.Table:
        """Return the used columns of the rows that are kept; of the others not even a value is left."""
        rule = self.schema.people_rule
        if rule.key:
            for name in (*rule.key, *(() if rule.by is None else (rule.by,))):
                if name not in data.column_names or not comparable(data.schema.field(name).type):
                    raise InputError(f"column {name!r}: its values cannot be compared", hint="make them numbers, text or dates")
            kept, self.choice = choose(data, rule, [*self.schema.quasi, *self.schema.sensitive], self.random)
            if len(kept) < data.num_rows:
                places = pa.array(kept)
                data = pa.table({name: _without_unused(data.column(name).take(places)) for name in data.column_names})
        if self.in_doubt:
            looked = [field.name for field in data.schema if field.name not in self.schema.sensitive and comparable(field.type)]
            self.suspects = tuple(person_keys({name: data.column(name) for name in looked}, known=rule.key))
        return data.select(self.used)


def _without_unused(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a coded column with only the values that occur."""
    if not pt.is_dictionary(column.type):
        return column
    values, codes = split(column)
    used, new = np.unique(codes, return_inverse=True)
    present = used < len(values)
    indices = pa.array(new, pa.int32(), mask=~present[new])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, values.take(pa.array(used[present])))])
