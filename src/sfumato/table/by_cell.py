"""Columns whose kind and type follow from what is declared of them, and whose values are read one cell at a time.

A column that is read as a whole takes its type from all of its cells, so that whoever has 2.5 makes floats of everybody's whole
numbers. Where not even quasi values are public, as for synthetic records, a person must not decide that much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import time
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Flags
from sfumato.errors import InputError, PolicyError
from sfumato.table.bins import EqualPeople
from sfumato.table.cells import cell_column, cell_text, date_in, number_in
from sfumato.table.coding import build, rows_with
from sfumato.table.column import Column, Kind, as_text
from sfumato.table.people import names_a_person
from sfumato.table.recode import Bands, Rounded

if TYPE_CHECKING:
    from sfumato.table.declared import DeclaredDomain
    from sfumato.table.schema import Schema

_LARGEST = 10**15
"""Below this a whole number survives as a float, and is written without an exponent."""

_BEYOND = {"inf": math.inf, "-inf": -math.inf}
"""How the text of a cell says that its number is larger than any float."""


def check_by_cell(schema: Schema) -> None:
    """Refuse rules under which a column's values, or how many records there are, would follow from somebody's."""
    for name in (*schema.quasi, *schema.sensitive):
        if schema.missing_rule(name) == "drop":
            raise PolicyError(
                f"missing: {name!r} is 'drop', so that how many records there are would tell of whoever was left out",
                hint=f'missing = {{ {name} = "value" }} makes a missing value one of the declared ones',
            )
        if isinstance(schema.bins.get(name), EqualPeople):
            raise PolicyError(
                f"bins: the edges of {name!r} would follow from the table, and would be published without noise",
                hint="give edges, or a width",
            )
        if name in schema.quasi or schema.closed is None:
            declared_type(schema, name)


def require_named_people(schema: Schema) -> None:
    """Raise an `InputError` where a column is called like the number of a person and the schema says nothing of people.

    For tables of which no value may decide whether there is a release: the name alone does.
    """
    rule = schema.people_rule
    named = [name for name in (*schema.quasi, *schema.other) if names_a_person(name) and name not in rule.key]
    if named and schema.one_row_per_person and rule.rows is None and not rule.key:
        raise InputError(
            f"the column {named[0]!r} is named like a person number, and it is not stated whether a person may have several rows",
            hint=f'people={{"key": "{named[0]}", "keep": "first by COLUMN"}} keeps one row of each; people={{"rows": "people"}}'
            " says that every row is a person; one_row_per_person=False, that the claims are to speak of rows",
        )


def declared_type(schema: Schema, name: str) -> tuple[Kind, pa.DataType]:
    """Return the kind and the Arrow type with which a column is published, as domain, bins, recoding and types declare them."""
    if name in schema.bins:
        return "categorical", pa.string()
    domain, recode, stated = schema.domain(name), schema.recoding(name), schema.types.get(name)
    if domain is None:
        raise PolicyError(
            f"domains: no domain is declared for {name!r}, and noisy releases publish declared values only",
            hint=f'domains={{"{name}": ["a", "b"]}}, or {{"min": 0, "max": 120}} for whole numbers and days',
        )
    wanted = stated if recode is None else recode.needs
    if stated not in (None, wanted):
        raise PolicyError(
            f"types: {name!r} is {stated}, and its recoding needs a {wanted} column", hint=f"remove {name!r} from one of the two"
        )
    if domain.values is not None:
        coded = _of_texts(domain.values, wanted)
    else:
        coded = ("numeric", pa.int64()) if isinstance(domain.minimum, Fraction) else ("date", pa.date32())
        if any(isinstance(limit, Fraction) and abs(limit) >= _LARGEST for limit in (domain.minimum, domain.maximum)):
            raise PolicyError(
                f"domain of {name!r}: whole numbers of 16 digits and more cannot be told apart",
                hint="name a smaller min or max, or list its values",
            )
    if wanted not in (None, coded[0]):
        raise PolicyError(
            f"domain of {name!r}: it lists {coded[0]} values, and the column is {wanted}",
            hint=f'types={{"{name}": "{coded[0]}"}}, or list the values as they are published',
        )
    if domain.values is None and _between_whole_numbers(schema, name):
        raise PolicyError(
            f"domain of {name!r}: a continuum has no list of values, and noise is added to every value",
            hint="recode the column to whole numbers or days, or list its values",
        )
    return coded


def _of_texts(texts: Sequence[str], wanted: Kind | None) -> tuple[Kind, pa.DataType]:
    """Return what listed values are, all of them together: numbers, dates, or texts."""
    numbers, moments = [number_in(text) for text in texts], [date_in(text) for text in texts]
    if wanted in (None, "numeric") and all(number is not None and abs(number) < _LARGEST for number in numbers):
        return "numeric", pa.int64() if all(number.is_integer() for number in numbers if number is not None) else pa.float64()
    if wanted in (None, "date") and None not in moments:
        days = all(moment.time() == time() for moment in moments if moment is not None)
        return "date", pa.date32() if days else pa.timestamp("us")
    return "categorical", pa.string()


def _between_whole_numbers(schema: Schema, name: str) -> bool:
    """Return whether a recoding publishes numbers that are not whole."""
    recode = schema.recoding(name)
    steps = [recode.round] if isinstance(recode, Rounded) else []
    if isinstance(recode, Bands):
        steps = [step for step in (recode.width, recode.top, recode.bottom, recode.origin) if step is not None]
    return any(Fraction(step).denominator != 1 for step in steps)


def read_by_cell(name: str, data: pa.ChunkedArray, schema: Schema, decimal: str) -> Column:
    """Return a column as it comes, each cell read by itself as the kind that the declaration says."""
    texts = cell_column(name, data, decimal)
    recode = schema.recoding(name)
    kind = "numeric" if name in schema.bins else declared_type(schema, name)[0] if recode is None else recode.needs
    values = texts.values.to_pylist()
    if kind == "categorical":
        return texts
    if kind == "numeric":
        numbers = [_BEYOND.get(text, number_in(text)) for text in values]
        low, high = _readable(schema, name)
        _require_inside(texts, np.array([number is None or not low <= number <= high for number in numbers], bool))
        whole = all(abs(number) < _LARGEST and number.is_integer() for number in numbers if number is not None)
        typed = pa.array(np.array(numbers, np.float64), pa.float64()).cast(pa.int64() if whole else pa.float64())
    else:
        moments = [date_in(text) for text in values]
        _require_inside(texts, np.array([moment is None for moment in moments], bool))
        days = all(moment.time() == time() for moment in moments if moment is not None)
        typed = pa.array(moments, pa.timestamp("us")).cast(pa.date32() if days else pa.timestamp("us"))
    return build(name, kind, typed, texts.codes)


def _readable(schema: Schema, name: str) -> tuple[float, float]:
    """Return the least and the largest number that a cell may have: any, where bins or a recoding bring it into the domain."""
    recode, most = schema.recoding(name), float(_LARGEST - 1)
    if recode is None and name in schema.bins:
        return -math.inf, math.inf
    bottom, top = (recode.bottom, recode.top) if isinstance(recode, Bands) else (None, None)
    return -most if bottom is None else -math.inf, most if top is None else math.inf


def in_declared_type(column: Column, schema: Schema) -> Column:
    """Return a column, recoded, in the type with which it is published; who has a value of no such type is outside the domain."""
    kind, type_ = declared_type(schema, column.name)
    domain = schema.domain(column.name)
    if pt.is_string(type_):
        known = {cell_text(text): text for text in listed_once(domain, column.name)}
        texts = [known.get(cell_text(as_text(value))) for value in column.values.to_pylist()]
        _require_inside(column, np.array([text is None for text in texts], bool))
        return build(column.name, kind, pa.array(texts, pa.string()), column.codes)
    cast = pc.cast(column.values, type_, safe=False)
    same = pc.equal(pc.cast(cast, column.values.type, safe=False), column.values)
    _require_inside(column, ~np.asarray(same.to_numpy(zero_copy_only=False), dtype=bool))
    return build(column.name, kind, cast, column.codes)


def listed_once(domain: DeclaredDomain | None, name: str) -> tuple[str, ...]:
    """Return the listed texts of a domain; two that a cell could mean alike are refused."""
    texts = () if domain is None or domain.values is None else domain.values
    if len({cell_text(text) for text in texts}) < len(texts):
        raise PolicyError(f"domain of {name!r}: two listed values are one value", hint="list each value once")
    return texts


def _require_inside(column: Column, outside: Flags) -> None:
    if outside.any():
        refuse_outside(column, outside)


def refuse_outside(column: Column, outside: Flags) -> NoReturn:
    """Raise the `InputError` for distinct values of a column that its declared domain does not have."""
    raise InputError(
        f"column {column.name!r}: {rows_with(column.codes, outside):,} of {len(column):,} values lie outside the declared "
        f"domain ({int(outside.sum()):,} different ones)",
        hint="extend the domain (it speaks of recoded values), or recode the column into it",
    )
