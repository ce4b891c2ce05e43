"""From a condition to tables of codes: which rows and which sensitive values it speaks of.

Negations are pushed down to single columns first. SQL's third truth value then disappears: a condition without negations is true
exactly when its parts say so, and a single column's condition is a set of codes, with the code of missing values where SQL says
so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import QueryError, did_you_mean
from sfumato.query.predicate import MAX_DEPTH, And, Atom, Between, Condition, In, Like, Missing, Not, Or, Value
from sfumato.table.column import Column, as_text
from sfumato.table.sensitive import Domain

Mask = npt.NDArray[np.bool_]


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

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + int(self.has_missing)

    def decode(self, code: int) -> Any:
        """Return the value of a code, None for the missing one."""
        return self.values[code] if code < len(self.values) else None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The columns a query may speak of: quasi columns, and the parts of the sensitive attribute.

    `part_codes[j][v]` is the code of sensitive value v in the j-th sensitive column.
    """

    quasi: tuple[Words, ...]
    parts: tuple[Words, ...]
    part_codes: tuple[npt.NDArray[np.int64], ...]

    @classmethod
    def of(cls, quasi: Sequence[Column], domain: Domain) -> Vocabulary:
        """Return the vocabulary of these columns."""
        words = tuple(Words(c.name, c.values.type, tuple(c.values.to_pylist()), c.has_missing) for c in quasi)
        parts, codes = [], []
        for name, column in zip(domain.names, domain.table.columns, strict=True):
            listed = column.to_pylist()
            known = tuple(sorted({value for value in listed if value is not None}))
            part = Words(name, column.type, known, any(value is None for value in listed))
            parts.append(part)
            codes.append(np.array([part.code.get(value, len(known)) for value in listed], dtype=np.int64))
        return cls(words, tuple(parts), tuple(codes))

    @cached_property
    def place(self) -> dict[str, tuple[bool, int]]:
        """Return column name → (is it sensitive, number among its kind)."""
        found = {words.name: (False, j) for j, words in enumerate(self.quasi)}
        found.update({words.name: (True, j) for j, words in enumerate(self.parts)})
        return found

    def find(self, name: str) -> tuple[bool, int, Words]:
        """Return where a column is; an unknown one is an error that names the nearest."""
        if name not in self.place:
            raise QueryError(f"there is no column {name!r}", hint=did_you_mean(name, self.place))
        sensitive, j = self.place[name]
        return sensitive, j, (self.parts if sensitive else self.quasi)[j]


@dataclass(frozen=True, eq=False)
class Rows:
    """A condition on quasi values: every column in `tables` has one of its accepted codes, and `rest` holds."""

    tables: dict[int, Mask]
    rest: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Piece:
    """People whose sensitive value is in `values` and whose quasi values meet `rows`."""

    values: Mask
    rows: Rows


@dataclass(frozen=True, eq=False)
class Compiled:
    """A condition as pieces with disjoint sets of sensitive values, and notes about values that do not occur."""

    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]


# A node is True, False, ("lut", sensitive?, column, accepted codes), ("and", nodes) or ("or", nodes).
Node = Any


def compile_condition(condition: Condition, vocabulary: Vocabulary) -> Compiled:
    """Return the condition in codes: for each set of sensitive values that it treats alike, the rows it wants."""
    notes: list[str] = []
    node = _translate(condition, vocabulary, notes, negated=False, depth=0)
    sensitive = _sensitive_atoms(node)
    values = len(vocabulary.part_codes[0]) if vocabulary.part_codes else 0
    truth = np.array([accepted[vocabulary.part_codes[column]] for column, accepted in sensitive], dtype=bool)
    truth = truth.reshape(len(sensitive), values)
    patterns, which = _patterns(truth)
    merged: dict[Any, tuple[Mask, Node]] = {}
    for number, pattern in enumerate(patterns):
        rows = _settle(node, iter(pattern))
        if rows is not False:
            key = _key(rows)
            mask = merged[key][0] if key in merged else np.zeros(values, bool)
            merged[key] = (mask | (which == number), rows)
    pieces = tuple(Piece(mask, _rows(rows)) for mask, rows in merged.values())
    return Compiled(pieces, tuple(dict.fromkeys(notes)))


def _patterns(truth: Mask) -> tuple[Mask, npt.NDArray[np.int64]]:
    """Return the distinct columns of `truth`, and which of them each column is."""
    if len(truth) == 1:
        return np.array([[False], [True]])[np.unique(truth[0]).astype(int)], (truth[0] & ~truth[0].all()).astype(np.int64)
    patterns, which = np.unique(truth.T, axis=0, return_inverse=True)
    return patterns, which.reshape(-1)


def restrict(rows: Rows, column: int, accepted: Mask) -> Rows:
    """Return the rows that also have an accepted code in this column."""
    tables = dict(rows.tables)
    tables[column] = tables[column] & accepted if column in tables else accepted
    return Rows(tables, rows.rest)


def row_mask(rows: Rows, codes: Sequence[npt.NDArray[Any]], count: int) -> Mask:
    """Return, for rows with these codes per column, whether each meets the condition. General; the kernels are faster."""
    mask = np.ones(count, bool)
    for column, accepted in rows.tables.items():
        mask &= accepted[codes[column]]
    for node in rows.rest:
        mask &= _evaluate(node, codes, count)
    return mask


def rest_mask(rows: Rows, codes: Sequence[npt.NDArray[Any]], count: int) -> Mask:
    """Return whether each row meets the part of the condition that is no table of a single column."""
    return row_mask(Rows({}, rows.rest), codes, count)


def _evaluate(node: Node, codes: Sequence[npt.NDArray[Any]], count: int) -> Mask:
    if node[0] == "lut":
        found: Mask = node[3][codes[node[2]]]
        return found
    parts = [_evaluate(part, codes, count) for part in node[1]]
    joined: Mask = np.logical_and.reduce(parts) if node[0] == "and" else np.logical_or.reduce(parts)
    return joined


def _translate(condition: Condition, vocabulary: Vocabulary, notes: list[str], *, negated: bool, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise QueryError(f"the condition is nested more than {MAX_DEPTH} deep")
    if isinstance(condition, Not):
        return _translate(condition.part, vocabulary, notes, negated=not negated, depth=depth + 1)
    if isinstance(condition, (And, Or)):
        parts = [_translate(part, vocabulary, notes, negated=negated, depth=depth + 1) for part in condition.parts]
        return _join("and" if isinstance(condition, And) != negated else "or", parts)
    sensitive, column, words = vocabulary.find(condition.column)
    accepted = _accepted(condition, words, notes)
    if negated:
        accepted = ~accepted
        if words.has_missing and not isinstance(condition, Missing):
            accepted[-1] = False
    return ("lut", sensitive, column, accepted)


def _join(kind: str, parts: Iterable[Node]) -> Node:
    """Return the conjunction or disjunction, constants removed and conditions on one quasi column merged into one table."""
    neutral = kind == "and"
    kept: list[Node] = []
    tables: dict[int, Mask] = {}
    for part in parts:
        if part is (not neutral):
            return not neutral
        if part is neutral:
            continue
        for node in part[1] if part[0] == kind else [part]:
            if node[0] == "lut" and not node[1]:
                column, accepted = node[2], node[3]
                if column in tables:
                    accepted = tables[column] & accepted if neutral else tables[column] | accepted
                tables[column] = accepted
            else:
                kept.append(node)
    nodes = [("lut", False, column, accepted) for column, accepted in tables.items()] + kept
    if not nodes:
        return neutral
    return nodes[0] if len(nodes) == 1 else (kind, nodes)


def _sensitive_atoms(node: Node) -> list[tuple[int, Mask]]:
    if isinstance(node, bool):
        return []
    if node[0] == "lut":
        return [(node[2], node[3])] if node[1] else []
    return [atom for part in node[1] for atom in _sensitive_atoms(part)]


def _settle(node: Node, truths: Any) -> Node:
    """Return the node with its sensitive conditions replaced by their truth, taken in order."""
    if isinstance(node, bool):
        return node
    if node[0] == "lut":
        return bool(next(truths)) if node[1] else node
    return _join(node[0], [_settle(part, truths) for part in node[1]])


def _key(node: Node) -> Any:
    if isinstance(node, bool):
        return node
    if node[0] == "lut":
        return (node[2], node[3].tobytes())
    return (node[0], tuple(_key(part) for part in node[1]))


def _rows(node: Node) -> Rows:
    if node is True:
        return Rows({})
    nodes = node[1] if node[0] == "and" else [node]
    return Rows({n[2]: n[3] for n in nodes if n[0] == "lut"}, tuple(n for n in nodes if n[0] != "lut"))


def _accepted(atom: Atom, words: Words, notes: list[str]) -> Mask:
    accepted = np.zeros(words.size, bool)
    if isinstance(atom, Missing):
        if words.has_missing:
            accepted[-1] = True
    elif isinstance(atom, In):
        plain = type(words.values[0]) if words.values else None
        for value in atom.values:
            code = words.code.get(value if type(value) is plain else _fit(value, words))
            if code is not None:
                accepted[code] = True
            elif pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
                near = did_you_mean(str(value), words.values)
                notes.append(f"{words.name} has no value {value!r}" + (f"; {near}" if near.startswith("did") else ""))
    elif isinstance(atom, Like):
        if not all(isinstance(value, str) for value in words.values):
            raise QueryError(f"LIKE needs a text column; {words.name!r} holds {words.type}", hint="use BETWEEN or IN")
        pattern = re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in _collapsed(atom.pattern)), re.DOTALL)
        for code, value in enumerate(words.values):
            accepted[code] = pattern.fullmatch(value) is not None
    else:
        accepted[slice(*_ends(atom, words))] = True
    return accepted


def _collapsed(pattern: str) -> str:
    """Return the pattern with runs of % as one, which mean the same and keep matching fast."""
    return re.sub("%+", "%", pattern)


def _ends(atom: Between, words: Words) -> tuple[int, int]:
    first, last = 0, len(words.values)
    if atom.low is not None:
        first = (bisect_right if atom.strict_low else bisect_left)(words.values, _fit(atom.low, words))
    if atom.high is not None:
        last = (bisect_left if atom.strict_high else bisect_right)(words.values, _fit(atom.high, words))
    return first, max(first, last)


def _fit(value: Value, words: Words) -> Any:
    """Return a constant as the column holds it; one of another type is an error."""
    kind = words.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind) and isinstance(value, bool):
        return value
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if isinstance(value, bool):
            return next((known for known in words.values if known.lower() == str(value).lower()), str(value))
        if isinstance(value, str):
            return value
        raise _mismatch(value, words, "text", f"{words.name} = '{as_text(value)}'")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moment(value, words, timestamp=pa.types.is_timestamp(kind))
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return value
    raise _mismatch(value, words, "numbers", f"{words.name} = {_example(words)}")


def _moment(value: Value, words: Words, *, timestamp: bool) -> Any:
    try:
        moment = value if isinstance(value, date) else datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise _mismatch(value, words, "dates", f"{words.name} = '{_example(words)}' (ISO, year first)")
    if timestamp:
        full = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        zone = words.values[0].tzinfo if words.values else None
        return full if (full.tzinfo is None) == (zone is None) else full.replace(tzinfo=zone)
    return moment.date() if isinstance(moment, datetime) else moment


def _example(words: Words) -> str:
    return as_text(words.values[0]) if words.values else "…"


def _mismatch(value: Value, words: Words, holds: str, example: str) -> QueryError:
    return QueryError(
        f"column {words.name!r} holds {holds}; it cannot be compared with {value!r}", hint=f"for instance {example}"
    )
