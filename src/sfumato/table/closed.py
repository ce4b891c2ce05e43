"""A closed sensitive attribute: every person has one of the declared values, and whoever has another one has `otherwise`.

Types and values follow from what is declared, and a person's value from her own cells, whatever others have: that is what
randomization with declared parameters needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Integers
from sfumato.errors import PolicyError
from sfumato.table.bins import Bins, EqualPeople
from sfumato.table.cells import NOTHING_KNOWN, cell_text, date_in, number_in
from sfumato.table.column import MISSING, SEPARATOR, Column, Domain, Kind

if TYPE_CHECKING:
    from sfumato.table.schema import Schema

_LARGEST = 1e15  # up to here a whole number survives as a float, and is written without an exponent
_KINDS: dict[pa.DataType, Kind] = {
    pa.string(): "categorical",
    pa.int64(): "numeric",
    pa.float64(): "numeric",
    pa.date32(): "date",
    pa.timestamp("us"): "date",
}


@dataclass(frozen=True)
class Closed:
    """The values that somebody may have, as labels, and the one among them of whoever has another value, or none."""

    values: tuple[str, ...]
    otherwise: str

    def to_dict(self) -> dict[str, Any]:
        """Return the two in JSON types."""
        return {"values": list(self.values), "otherwise": self.otherwise}


@dataclass(frozen=True)
class ClosedColumns:
    """The same for each of several columns that are protected each by itself."""

    columns: tuple[tuple[str, Closed], ...]

    def of(self, name: str) -> Closed:
        """Return the values of one column."""
        return dict(self.columns)[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all of them in JSON types."""
        return {name: closed.to_dict() for name, closed in self.columns}


def closed(spec: Closed | ClosedColumns | Mapping[str, Any]) -> Closed | ClosedColumns:
    """Return what `{"values": …, "otherwise": …}` describes; the order of the values means nothing. Or that of each column."""
    if isinstance(spec, (Closed, ClosedColumns)):
        return spec
    if isinstance(spec, Mapping) and spec and all(isinstance(rule, (Mapping, Closed)) for rule in spec.values()):
        return ClosedColumns(tuple((name, closed(spec[name])) for name in sorted(spec)))  # type: ignore[misc]
    if not isinstance(spec, Mapping) or set(spec) != {"values", "otherwise"}:
        raise PolicyError("closed: expected the values and otherwise", hint='{ values = ["flu", "other"], otherwise = "other" }')
    values, otherwise = spec["values"], spec["otherwise"]
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(isinstance(value, str) for value in values):
        raise PolicyError("closed: the values are a list of texts", hint='values = ["flu", "other"]')
    if len(set(values)) < len(values):
        raise PolicyError("closed: a value is listed twice", hint="list each value once")
    if otherwise not in values:
        raise PolicyError(
            f"otherwise: {otherwise!r} is none of the declared values", hint="declare it like the others, with a share of its own"
        )
    return Closed(tuple(sorted(values)), otherwise)


@dataclass(frozen=True, eq=False)
class ClosedAttribute:
    """The declared values with their types, and the way from a person's cells to one of them."""

    spec: Closed
    names: tuple[str, ...]
    types: Mapping[str, Kind]
    bins: Mapping[str, Bins]

    @cached_property
    def domain(self) -> Domain:
        """All declared values, sorted as a table's own are; a value spelled in another way than it is published is refused."""
        rows = [self._parts(label) for label in self.spec.values]
        columns: dict[str, pa.Array] = {}
        for name, texts in zip(self.names, zip(*rows, strict=True), strict=True):
            kind = self._type(name, texts)
            columns[name] = pa.array([None if text == MISSING else _READ[kind](text) for text in texts], kind)
        table = pa.table(columns)
        kinds = tuple(_KINDS[column.type] for column in table.columns)
        written = Domain(table, kinds).labels
        for label, label_written in zip(self.spec.values, written, strict=True):
            if label != label_written or any(part != part.strip() for part in self._parts(label)):
                clean = SEPARATOR.join(part.strip() for part in label_written.split(SEPARATOR))
                raise PolicyError(f"the declared value {label!r} is not in its published spelling", hint=f"write it as {clean!r}")
        order = pc.sort_indices(table, sort_keys=[(name, "ascending") for name in self.names])
        return Domain(table.take(order), kinds)

    @cached_property
    def places(self) -> dict[tuple[str | None, ...], int]:
        """The code in `domain` of each declared value, by the texts of its cells."""
        codes: dict[tuple[str | None, ...], int] = {}
        labels = self.domain.labels
        for code, label in enumerate(labels):
            cells = tuple(cell_text(part) for part in self._parts(label))
            if cells in codes:
                raise PolicyError(
                    f"the declared values {labels[codes[cells]]!r} and {label!r} are one value", hint="declare it once"
                )
            codes[cells] = code
        return codes

    def codes(self, columns: Sequence[Column]) -> Integers:
        """Return the code in `domain` of each row of columns of cell texts, row by row: give each combination once."""
        otherwise = self.domain.labels.index(self.spec.otherwise)
        cells = [
            [texts[code] for code in column.codes] for texts, column in ((self._shown(column), column) for column in columns)
        ]
        return np.array([self.places.get(row, otherwise) for row in zip(*cells, strict=True)], dtype=np.int64)

    def _shown(self, column: Column) -> list[str | None]:
        """Return what each code of a column stands for: its text, or the bin of its number."""
        texts: list[str | None] = [*column.values.to_pylist(), None]
        bins = self.bins.get(column.name)
        if bins is None:
            return texts
        numbers = [None if text is None else number_in(text) for text in texts]
        place = bins.place(np.array([np.nan if number is None else number for number in numbers]))
        return [
            None if text is None else NOTHING_KNOWN if number is None or p < 0 else bins.labels[p]
            for text, number, p in zip(texts, numbers, place.tolist(), strict=True)
        ]

    def _parts(self, label: str) -> tuple[str, ...]:
        parts = (label,) if len(self.names) == 1 else tuple(label.split(SEPARATOR))
        if len(parts) != len(self.names):
            raise PolicyError(
                f"the declared value {label!r} should have {len(self.names)} parts, one for each of {', '.join(self.names)}",
                hint=f"join them by {SEPARATOR!r}",
            )
        return parts

    def _type(self, name: str, texts: Sequence[str]) -> pa.DataType:
        """Return the Arrow type that the declaration gives a column; "(missing)" does not count."""
        present = [text for text in texts if text != MISSING]
        if name in self.bins:
            strange = set(present) - set(self.bins[name].labels)
            if strange:
                raise PolicyError(
                    f"the declared value {min(strange)!r} is none of the bins of {name!r}",
                    hint=f'the bins are {", ".join(self.bins[name].labels)}; whoever has no number in them can be "{MISSING}"',
                )
            return pa.string()
        kind = self.types.get(name)
        numbers, moments = [_number(text) for text in present], [date_in(text) for text in present]
        if kind in (None, "numeric") and present and None not in numbers:
            return pa.int64() if all(number is not None and number.is_integer() for number in numbers) else pa.float64()
        if kind in (None, "date") and present and None not in moments:
            days = all(moment is not None and moment.time() == time() for moment in moments)
            return pa.date32() if days else pa.timestamp("us")
        if kind in ("numeric", "date"):
            raise PolicyError(
                f"types: {name!r} is {kind}, but not all of its declared values are",
                hint=f'remove it from types; or let whoever has another value be "{MISSING}"',
            )
        return pa.string()


def check_closed(schema: Schema) -> None:
    """Refuse what would look at sensitive values after all, and values that look alike or cannot be typed."""
    if isinstance(schema.closed, ClosedColumns) != schema.protects_each or (
        isinstance(schema.closed, ClosedColumns) and {name for name, _ in schema.closed.columns} != {*schema.sensitive}
    ):
        raise PolicyError(
            "closed: where each of several sensitive columns is protected by itself, each has declared values, only there",
            hint='shares = { illness = { flu = "0.4", … }, income = { … } }, otherwise = { illness = "other", income = "…" }',
        )
    for name in schema.sensitive:
        rule = schema.missing.get(name, "value")
        if rule != "value":
            raise PolicyError(
                f"missing: {name!r} is {rule!r}, but with declared values a missing one becomes the catch-all value: "
                "refusing or dropping a person for it would reveal it",
                hint=f"remove {name!r} from missing",
            )
        if isinstance(schema.bins.get(name), EqualPeople):
            raise PolicyError(
                f"bins: the edges of {name!r} would follow from the table, and with declared values nothing may depend on it",
                hint="give edges, or a width",
            )
        if name in schema.domains:
            raise PolicyError(
                f"domains: {name!r} has declared values already; refusing others would reveal them",
                hint=f"remove {name!r} from domains",
            )
    for own in [schema.only(name) for name in schema.sensitive] if schema.protects_each else [schema]:
        attribute = own.closed_attribute()
        assert attribute is not None
        attribute.places  # noqa: B018  (raises where two values are one, or one is not as it is published)


def _number(text: str) -> float | None:
    number = number_in(text)
    return None if number is None or abs(number) >= _LARGEST else number


def _moment(text: str) -> datetime:
    moment = date_in(text)
    assert moment is not None  # the type was chosen because every text is a date
    return moment


_READ: dict[pa.DataType, Callable[[str], Any]] = {
    pa.string(): str,
    pa.int64(): lambda text: int(float(text)),
    pa.float64(): float,
    pa.date32(): lambda text: _moment(text).date(),
    pa.timestamp("us"): _moment,
}
