"""The words a query may use: the columns of a release, the values they hold, and what a recoded value stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.errors import FormatError, PolicyError, QueryError, did_you_mean
from sfumato.query.language.predicate import Terms
from sfumato.table.column import Column
from sfumato.table.schema import Schema
from sfumato.table.sensitive import Domain


@dataclass(frozen=True, eq=False)
class Words:
    """The values a column knows, ascending; the code of a missing value comes last."""

    name: str
    type: pa.DataType
    values: tuple[Any, ...]
    has_missing: bool

    @cached_property
    def code(self) -> dict[Any, int]:
        """Return value → code."""
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def kind(self) -> Literal["flags", "texts", "days", "moments", "numbers"]:
        """What the values are, however they are stored."""
        kind = self.type.value_type if pa.types.is_dictionary(self.type) else self.type
        if pa.types.is_boolean(kind):
            return "flags"
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return "texts"
        return "days" if pa.types.is_date(kind) else "moments" if pa.types.is_timestamp(kind) else "numbers"

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + int(self.has_missing)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self.kind == "texts"

    def decode(self, code: int) -> Any:
        """Return the value of a code, None for the missing one."""
        return self.values[code] if code < len(self.values) else None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The columns a query may speak of: quasi columns, and the parts of the sensitive attribute.

    `part_codes[j][v]` is the code of sensitive value v in the j-th sensitive column. `declared` says how columns were recoded;
    None where conditions speak of the published values themselves. `meanings` keeps what `sfumato.query.language.meaning` made of
    it.
    """

    quasi: tuple[Words, ...]
    parts: tuple[Words, ...]
    part_codes: tuple[Integers, ...]
    declared: Schema | None = None
    meanings: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, quasi: Sequence[Column], domain: Domain, declared: Schema | None = None) -> Vocabulary:
        """Return the vocabulary of these columns."""
        words = tuple(Words(c.name, c.values.type, tuple(c.values.to_pylist()), c.has_missing) for c in quasi)
        parts, codes = [], []
        for name, column in zip(domain.names, domain.table.columns, strict=True):
            listed = column.to_pylist()
            known = tuple(sorted({value for value in listed if value is not None}))
            part = Words(name, column.type, known, any(value is None for value in listed))
            parts.append(part)
            codes.append(np.array([part.code.get(value, len(known)) for value in listed], dtype=np.int64))
        return cls(words, tuple(parts), tuple(codes), declared)

    @cached_property
    def published(self) -> Vocabulary:
        """The same columns for conditions that speak of the published values themselves."""
        return Vocabulary(self.quasi, self.parts, self.part_codes) if self.recoded else self

    def for_terms(self, terms: Terms) -> Vocabulary:
        """Return the words of conditions that speak of original values, or of the published values themselves."""
        return self if terms == "original" else self.published

    @cached_property
    def recoded(self) -> frozenset[str]:
        """The columns whose published values stand for several original ones."""
        return frozenset() if self.declared is None else frozenset({*self.declared.recode, *self.declared.bins} & set(self.place))

    @cached_property
    def place(self) -> dict[str, tuple[bool, int]]:
        """Return column name → (is it sensitive, number among its kind)."""
        found = {words.name: (False, j) for j, words in enumerate(self.quasi)}
        found.update({words.name: (True, j) for j, words in enumerate(self.parts)})
        return found

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Return column name → number of codes."""
        return {words.name: words.size for words in (*self.quasi, *self.parts)}

    def find(self, name: str) -> tuple[bool, int, Words]:
        """Return where a column is; an unknown one is an error that names the nearest."""
        if name not in self.place:
            raise QueryError(f"there is no column {name!r}", hint=did_you_mean(name, self.place))
        sensitive, j = self.place[name]
        return sensitive, j, (self.parts if sensitive else self.quasi)[j]


def declared_in(schema: Mapping[str, Any]) -> Schema | None:
    """Return what a manifest says about how columns were recoded, None when it says nothing."""
    declared = schema.get("declared")
    if declared is None:
        return None
    try:
        return Schema.from_dict(declared)
    except (PolicyError, TypeError, AttributeError):
        raise FormatError("manifest.json: what the schema declares about its columns cannot be read") from None
