"""From a condition to tables of codes: which rows and which sensitive values it speaks of.

Negations are pushed down to single columns first. SQL's third truth value then disappears: a condition without negations is true
exactly when its parts say so, and a single column's condition is a set of codes, with the code of missing values where SQL says
so. On a recoded column it is first a set of portions of codes. Since nothing is negated any more, taking every code that is
surely inside gives too few people and every code that is possibly inside too many, whatever the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import QueryError
from sfumato.query.language.meaning import meaning_for
from sfumato.query.language.portions import Portions, worlds
from sfumato.query.language.predicate import MAX_DEPTH, And, Atom, Condition, Missing, Not, Or, atoms_of, constants_of
from sfumato.query.language.vocabulary import MOST_NOTES, Vocabulary, accepted_codes


class Place(NamedTuple):
    """Where a column stands: among the sensitive ones or the quasi ones, and its number there."""

    sensitive: bool
    column: int


class Accept(NamedTuple):
    """The column at a place has one of the accepted codes (or portions of codes, as long as recoded values are in portions)."""

    place: Place
    accepted: Flags


class Join(NamedTuple):
    """All parts hold ("and"), or some part does ("or"). Parts are no constants, and none is a join of the same kind."""

    kind: Literal["and", "or"]
    parts: tuple[Accept | Join, ...]


Node = bool | Accept | Join


@dataclass(frozen=True, eq=False)
class RowCondition:
    """A condition on quasi values: every column in `tables` has one of its accepted codes, and `rest` holds."""

    tables: dict[int, Flags]
    rest: tuple[Join, ...] = ()

    def narrowed(self, column: int, accepted: Flags) -> RowCondition:
        """Return the condition that the column also has one of these codes."""
        known = self.tables.get(column)
        return RowCondition({**self.tables, column: accepted if known is None else known & accepted}, self.rest)


@dataclass(frozen=True, eq=False)
class Piece:
    """People whose sensitive value is in `values` and whose quasi values meet `rows`."""

    values: Flags
    rows: RowCondition


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, eq=False)
class Partly:
    """A condition that published values meet only partly: the people surely inside, those possibly inside, and mixtures.

    Each world takes every published value as inside or outside; their weights add up to 1, and on average a value is inside by
    the share of its range that is.
    """

    sure: Pieces
    possible: Pieces
    worlds: tuple[tuple[float, Pieces], ...]
    note: str


@dataclass(frozen=True, eq=False)
class Compiled:
    """A condition as pieces with disjoint sets of sensitive values, and notes about values that do not occur.

    Where published values meet it only partly, `partly` says how, and `pieces` are the people possibly inside.
    """

    pieces: Pieces
    notes: tuple[str, ...] = ()
    partly: Partly | None = None

    def narrowed(self, narrow: Callable[[Pieces], Pieces]) -> Compiled:
        """Return the condition with all its pieces narrowed down."""
        partly = self.partly
        if partly is not None:
            mixtures = tuple((weight, narrow(pieces)) for weight, pieces in partly.worlds)
            partly = Partly(narrow(partly.sure), narrow(partly.possible), mixtures, partly.note)
        return Compiled(narrow(self.pieces), (), partly)


def compile_condition(condition: Condition, vocabulary: Vocabulary) -> Compiled:
    """Return the condition in codes: for each set of sensitive values that it treats alike, the rows it wants."""
    require_few_codes(condition, vocabulary)
    notes: list[str] = []
    split = _split(condition, vocabulary, notes) if vocabulary.recoded else {}
    node = _translate(condition, vocabulary, split, notes, negated=False, depth=0)
    if split:
        return _recoded(node, vocabulary, split, few(notes))
    return Compiled(_pieces(node, vocabulary), few(notes))


def _split(condition: Condition, vocabulary: Vocabulary, notes: list[str]) -> dict[Place, Portions]:
    """Return the portions of every recoded column that the condition speaks of."""
    asked: dict[str, dict[Atom, None]] = {}
    for atom in atoms_of(condition):
        if atom.column in vocabulary.recoded:
            asked.setdefault(atom.column, {})[atom] = None
    return {
        Place(*vocabulary.place[name]): meaning_for(vocabulary, name).split(list(atoms), notes) for name, atoms in asked.items()
    }


def _recoded(node: Node, vocabulary: Vocabulary, split: Mapping[Place, Portions], notes: tuple[str, ...]) -> Compiled:
    """Return the condition from its portions: as it is where no published value is cut through, else also partly."""
    cut: dict[Place, list[Flags]] = {}
    for place, accepted in _leaves(node):
        if place in split and len(split[place].partly(accepted)):
            cut.setdefault(place, []).append(accepted)
    possible = _pieces(_in_codes(node, {place: portions.possible for place, portions in split.items()}), vocabulary)
    if not cut:
        return Compiled(possible, notes)
    sure = _pieces(_in_codes(node, {place: portions.sure for place, portions in split.items()}), vocabulary)
    mixtures = []
    for weight, picks in worlds([(split[place], masks) for place, masks in cut.items()]):
        views: dict[Place, Callable[[Flags], Flags]] = {place: portions.possible for place, portions in split.items()}
        views |= {place: itemgetter(portions) for place, portions in zip(cut, picks, strict=True)}
        mixtures.append((weight, _pieces(_in_codes(node, views), vocabulary)))
    remarks = []
    for place, masks in cut.items():
        name = (vocabulary.parts if place.sensitive else vocabulary.quasi)[place.column].name
        remarks += [meaning_for(vocabulary, name).explain(split[place], accepted) for accepted in masks[: MOST_NOTES + 1]]
    return Compiled(possible, notes, Partly(sure, possible, tuple(mixtures), "; ".join(few(remarks))))


def _leaves(node: Node) -> list[Accept]:
    """Return the conditions on single columns, in order."""
    if isinstance(node, Join):
        return [leaf for part in node.parts for leaf in _leaves(part)]
    return [] if isinstance(node, bool) else [node]


def _in_codes(node: Node, views: Mapping[Place, Callable[[Flags], Flags]]) -> Node:
    """Return the node with portions turned into codes."""
    if isinstance(node, Join):
        return Join(node.kind, tuple(_in_codes(part, views) for part in node.parts))  # type: ignore[misc]
    if isinstance(node, bool) or node.place not in views:
        return node
    return Accept(node.place, views[node.place](node.accepted))


def _pieces(node: Node, vocabulary: Vocabulary) -> Pieces:
    """Return for each set of sensitive values that a node treats alike the rows it wants."""
    leaves = _leaves(node)
    sensitive = [leaf for leaf in leaves if leaf.place.sensitive]
    values = len(vocabulary.part_codes[0]) if vocabulary.part_codes else 0
    truth = np.array([leaf.accepted[vocabulary.part_codes[leaf.place.column]] for leaf in sensitive], dtype=bool)
    patterns, which = _patterns(truth.reshape(len(sensitive), values))
    require_few_parts(steps=len(patterns) * len(leaves))
    merged: dict[object, tuple[Flags, Node]] = {}
    for number, pattern in enumerate(patterns):
        rows = _settle(node, iter(pattern))
        if rows is not False:
            key = _key(rows)
            mask = merged[key][0] if key in merged else np.zeros(values, bool)
            merged[key] = (mask | (which == number), rows)
    require_few_parts(parts=sum(len(_leaves(rows)) for _, rows in merged.values()))
    return tuple(Piece(mask, _rows(rows)) for mask, rows in merged.values())


def _patterns(truth: Flags) -> tuple[Flags, Integers]:
    """Return the distinct columns of `truth`, and which of them each column is."""
    if len(truth) == 1:
        return np.array([[False], [True]])[np.unique(truth[0]).astype(int)], (truth[0] & ~truth[0].all()).astype(np.int64)
    patterns, which = np.unique(truth.T, axis=0, return_inverse=True)
    return patterns, which.reshape(-1)


def row_mask(rows: RowCondition, codes: Sequence[Array], count: int) -> Flags:
    """Return, for rows with these codes per column, whether each meets the condition. General; the kernels are faster."""
    mask = np.ones(count, bool)
    for column, accepted in rows.tables.items():
        mask &= accepted[codes[column]]
    for node in rows.rest:
        mask &= _evaluate(node, codes)
    return mask


def _evaluate(node: Accept | Join, codes: Sequence[Array]) -> Flags:
    if isinstance(node, Accept):
        return node.accepted[codes[node.place.column]]
    parts = [_evaluate(part, codes) for part in node.parts]
    joined: Flags = np.logical_and.reduce(parts) if node.kind == "and" else np.logical_or.reduce(parts)
    return joined


def _translate(
    condition: Condition,
    vocabulary: Vocabulary,
    split: Mapping[Place, Portions],
    notes: list[str],
    *,
    negated: bool,
    depth: int,
) -> Node:
    if depth > MAX_DEPTH:
        raise QueryError(f"the condition is nested more than {MAX_DEPTH} deep")
    if isinstance(condition, Not):
        return _translate(condition.part, vocabulary, split, notes, negated=not negated, depth=depth + 1)
    if isinstance(condition, (And, Or)):
        parts = [_translate(part, vocabulary, split, notes, negated=negated, depth=depth + 1) for part in condition.parts]
        return _join("and" if isinstance(condition, And) != negated else "or", parts)
    sensitive, column, words = vocabulary.find(condition.column)
    place = Place(sensitive, column)
    accepted = split[place].accepted[condition] if place in split else accepted_codes(condition, words, notes)
    if negated:
        accepted = ~accepted
        if words.has_missing and not isinstance(condition, Missing):
            accepted[-1] = False
    return Accept(place, accepted)


def _join(kind: Literal["and", "or"], parts: Iterable[Node]) -> Node:
    """Return the conjunction or disjunction, constants removed and conditions on one column merged into one table."""
    neutral = kind == "and"
    joins: list[Accept | Join] = []
    tables: dict[Place, Accept] = {}
    for part in parts:
        if isinstance(part, bool):
            if part is not neutral:
                return part
            continue
        for node in part.parts if isinstance(part, Join) and part.kind == kind else (part,):
            if isinstance(node, Join):
                joins.append(node)
            elif node.place in tables:
                known = tables[node.place].accepted
                tables[node.place] = Accept(node.place, known & node.accepted if neutral else known | node.accepted)
            else:
                tables[node.place] = node
    nodes = (*tables.values(), *joins)
    if not nodes:
        return neutral
    return nodes[0] if len(nodes) == 1 else Join(kind, nodes)


def _settle(node: Node, truths: Iterator[bool]) -> Node:
    """Return the node with its sensitive conditions replaced by their truth, taken in order."""
    if isinstance(node, Join):
        return _join(node.kind, [_settle(part, truths) for part in node.parts])
    return bool(next(truths)) if isinstance(node, Accept) and node.place.sensitive else node


def _key(node: Node) -> object:
    if isinstance(node, Join):
        return (node.kind, *(_key(part) for part in node.parts))
    return node if isinstance(node, bool) else (node.place.column, node.accepted.tobytes())


def _rows(node: Node) -> RowCondition:
    if isinstance(node, bool):
        return RowCondition({})
    nodes = node.parts if isinstance(node, Join) and node.kind == "and" else (node,)
    tables = {node.place.column: node.accepted for node in nodes if isinstance(node, Accept)}
    return RowCondition(tables, tuple(node for node in nodes if isinstance(node, Join)))


MAX_PARTS = 1000
"""Conditions on single columns that are left in a question once those on one column have been put together."""

MAX_CODES = 50_000_000
"""Entries of all the tables of codes, one table for each condition on a column."""

MAX_STEPS = 2_000_000
"""Parts of the condition, times the sets of sensitive values that it treats alike."""

_SIMPLER = "ask simpler questions and add up the answers; BETWEEN and IN (…) are one part each"


def require_few_codes(condition: Condition, vocabulary: Vocabulary) -> None:
    """Refuse a condition whose tables of codes would fill a memory, and numbers that are none."""
    atoms = atoms_of(condition)
    if sum(vocabulary.sizes.get(atom.column, 0) for atom in atoms) > MAX_CODES:
        raise QueryError("the condition compares columns of very many values too often", hint=_SIMPLER)
    for atom in atoms:
        if any(isinstance(value, Decimal) and value.is_nan() for value in constants_of(atom)):
            raise QueryError(f"{atom.column}: nothing is equal to NaN, less or greater")  # and one kind of it has no hash


def require_few_parts(*, parts: int = 0, steps: int = 0) -> None:
    """Refuse a condition with too many parts on several columns, each of which asks every row, or too many steps."""
    if steps > MAX_STEPS:
        raise QueryError("the condition distinguishes too many sensitive values", hint=_SIMPLER)
    if parts > MAX_PARTS:
        raise QueryError(f"the condition has more than {MAX_PARTS:,} parts on several columns", hint=_SIMPLER)


def few(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the remarks, each once and not more than a person reads."""
    each = tuple(dict.fromkeys(notes))
    return each if len(each) <= MOST_NOTES else (*each[:MOST_NOTES], "there is more of this kind")
