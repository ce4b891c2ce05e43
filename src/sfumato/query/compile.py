"""From a condition to tables of codes: which rows and which sensitive values it speaks of.

Negations are pushed down to single columns first. SQL's third truth value then disappears: a condition without negations is true
exactly when its parts say so, and a single column's condition is a set of codes, with the code of missing values where SQL says
so. On a recoded column it is first a set of fragments of codes. Since nothing is negated any more, taking every code that is
surely inside gives too few people and every code that is possibly inside too many, whatever the condition.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import QueryError
from sfumato.query.fragments import Fragments, worlds
from sfumato.query.limits import few, require_few_codes, require_few_parts, require_few_steps
from sfumato.query.literals import MOST_NOTES, fit, like, note_absent
from sfumato.query.meaning import meaning_for
from sfumato.query.predicate import MAX_DEPTH, And, Atom, Between, Condition, In, Like, Missing, Not, Or, atoms_of
from sfumato.query.vocabulary import Vocabulary, Words


@dataclass(frozen=True, eq=False)
class Rows:
    """A condition on quasi values: every column in `tables` has one of its accepted codes, and `rest` holds."""

    tables: dict[int, Flags]
    rest: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Piece:
    """People whose sensitive value is in `values` and whose quasi values meet `rows`."""

    values: Flags
    rows: Rows


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

    def cut(self, each: Callable[[Pieces], Pieces]) -> Partly:
        """Return the same with all pieces cut down."""
        mixtures = tuple((weight, each(pieces)) for weight, pieces in self.worlds)
        return Partly(each(self.sure), each(self.possible), mixtures, self.note)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A condition as pieces with disjoint sets of sensitive values, and notes about values that do not occur.

    Where published values meet it only partly, `partly` says how, and `pieces` are the people possibly inside.
    """

    pieces: Pieces
    notes: tuple[str, ...]
    partly: Partly | None = None


# A node is True, False, ("lut", sensitive?, column, accepted codes or fragments), ("and", nodes) or ("or", nodes).
Node = Any
Place = tuple[bool, int]


def compile_condition(condition: Condition, vocabulary: Vocabulary) -> Compiled:
    """Return the condition in codes: for each set of sensitive values that it treats alike, the rows it wants."""
    require_few_codes(condition, vocabulary)
    notes: list[str] = []
    split = _split(condition, vocabulary, notes) if vocabulary.recoded else {}
    node = _translate(condition, vocabulary, split, notes, negated=False, depth=0)
    if split:
        return _recoded(node, vocabulary, split, few(notes))
    return Compiled(_pieces(node, vocabulary), few(notes))


def _split(condition: Condition, vocabulary: Vocabulary, notes: list[str]) -> dict[Place, Fragments]:
    """Return the fragments of every recoded column that the condition speaks of."""
    asked: dict[str, dict[Atom, None]] = {}
    for atom in atoms_of(condition):
        if atom.column in vocabulary.recoded:
            asked.setdefault(atom.column, {})[atom] = None
    return {vocabulary.place[name]: meaning_for(vocabulary, name).split(list(atoms), notes) for name, atoms in asked.items()}


def _recoded(node: Node, vocabulary: Vocabulary, split: Mapping[Place, Fragments], notes: tuple[str, ...]) -> Compiled:
    """Return the condition from its fragments: as it is where no published value is cut through, else also partly."""
    tables: dict[Place, list[Flags]] = {}
    for place, accepted in _tables(node):
        if place in split and len(split[place].partly(accepted)):
            tables.setdefault(place, []).append(accepted)
    possible = _pieces(_view(node, {place: fragments.possible for place, fragments in split.items()}), vocabulary)
    if not tables:
        return Compiled(possible, notes)
    sure = _pieces(_view(node, {place: fragments.sure for place, fragments in split.items()}), vocabulary)
    mixtures = []
    for weight, picks in worlds([(split[place], masks) for place, masks in tables.items()]):
        chosen = dict(zip(tables, picks, strict=True))
        views = {place: _picking(chosen[place]) if place in chosen else fragments.possible for place, fragments in split.items()}
        mixtures.append((weight, _pieces(_view(node, views), vocabulary)))
    told = []
    for place, masks in tables.items():
        name = (vocabulary.parts if place[0] else vocabulary.quasi)[place[1]].name
        told += [meaning_for(vocabulary, name).explain(split[place], accepted) for accepted in masks[: MOST_NOTES + 1]]
    return Compiled(possible, notes, Partly(sure, possible, tuple(mixtures), "; ".join(few(told))))


def _picking(fragments: Integers) -> Callable[[Flags], Flags]:
    return lambda accepted: accepted[fragments]


def _tables(node: Node) -> list[tuple[Place, Flags]]:
    if isinstance(node, bool):
        return []
    if node[0] == "lut":
        return [((node[1], node[2]), node[3])]
    return [table for part in node[1] for table in _tables(part)]


def _view(node: Node, views: Mapping[Place, Callable[[Flags], Flags]]) -> Node:
    """Return the node with fragments turned into codes."""
    if isinstance(node, bool):
        return node
    if node[0] == "lut":
        view = views.get((node[1], node[2]))
        return node if view is None else (*node[:3], view(node[3]))
    return (node[0], [_view(part, views) for part in node[1]])


def _pieces(node: Node, vocabulary: Vocabulary) -> Pieces:
    """Return for each set of sensitive values that a node treats alike the rows it wants."""
    sensitive = [(place[1], accepted) for place, accepted in _tables(node) if place[0]]
    values = len(vocabulary.part_codes[0]) if vocabulary.part_codes else 0
    truth = np.array([accepted[vocabulary.part_codes[column]] for column, accepted in sensitive], dtype=bool)
    truth = truth.reshape(len(sensitive), values)
    patterns, which = _patterns(truth)
    require_few_steps(len(patterns) * _size(node))
    merged: dict[Any, tuple[Flags, Node]] = {}
    for number, pattern in enumerate(patterns):
        rows = _settle(node, iter(pattern))
        if rows is not False:
            key = _key(rows)
            mask = merged[key][0] if key in merged else np.zeros(values, bool)
            merged[key] = (mask | (which == number), rows)
    require_few_parts(sum(_size(rows) for _, rows in merged.values()))
    return tuple(Piece(mask, _rows(rows)) for mask, rows in merged.values())


def _size(node: Node) -> int:
    """Return the number of conditions on single columns."""
    if isinstance(node, bool):
        return 0
    return 1 if node[0] == "lut" else sum(_size(part) for part in node[1])


def _patterns(truth: Flags) -> tuple[Flags, Integers]:
    """Return the distinct columns of `truth`, and which of them each column is."""
    if len(truth) == 1:
        return np.array([[False], [True]])[np.unique(truth[0]).astype(int)], (truth[0] & ~truth[0].all()).astype(np.int64)
    patterns, which = np.unique(truth.T, axis=0, return_inverse=True)
    return patterns, which.reshape(-1)


def restrict(rows: Rows, column: int, accepted: Flags) -> Rows:
    """Return the rows that also have an accepted code in this column."""
    tables = dict(rows.tables)
    tables[column] = tables[column] & accepted if column in tables else accepted
    return Rows(tables, rows.rest)


def row_mask(rows: Rows, codes: Sequence[Array], count: int) -> Flags:
    """Return, for rows with these codes per column, whether each meets the condition. General; the kernels are faster."""
    mask = np.ones(count, bool)
    for column, accepted in rows.tables.items():
        mask &= accepted[codes[column]]
    for node in rows.rest:
        mask &= _evaluate(node, codes, count)
    return mask


def rest_mask(rows: Rows, codes: Sequence[Array], count: int) -> Flags:
    """Return whether each row meets the part of the condition that is no table of a single column."""
    return row_mask(Rows({}, rows.rest), codes, count)


def _evaluate(node: Node, codes: Sequence[Array], count: int) -> Flags:
    if node[0] == "lut":
        found: Flags = node[3][codes[node[2]]]
        return found
    parts = [_evaluate(part, codes, count) for part in node[1]]
    joined: Flags = np.logical_and.reduce(parts) if node[0] == "and" else np.logical_or.reduce(parts)
    return joined


def _translate(
    condition: Condition,
    vocabulary: Vocabulary,
    split: Mapping[Place, Fragments],
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
    fragments = split.get((sensitive, column))
    accepted = _accepted(condition, words, notes) if fragments is None else fragments.accepted[condition]
    if negated:
        accepted = ~accepted
        if words.has_missing and not isinstance(condition, Missing):
            accepted[-1] = False
    return ("lut", sensitive, column, accepted)


def _join(kind: str, parts: Iterable[Node]) -> Node:
    """Return the conjunction or disjunction, constants removed and conditions on one column merged into one table."""
    neutral = kind == "and"
    kept: list[Node] = []
    tables: dict[Place, Flags] = {}
    for part in parts:
        if part is (not neutral):
            return not neutral
        if part is neutral:
            continue
        for node in part[1] if part[0] == kind else [part]:
            if node[0] == "lut":
                place, accepted = (node[1], node[2]), node[3]
                if place in tables:
                    accepted = tables[place] & accepted if neutral else tables[place] | accepted
                tables[place] = accepted
            else:
                kept.append(node)
    nodes = [("lut", *place, accepted) for place, accepted in tables.items()] + kept
    if not nodes:
        return neutral
    return nodes[0] if len(nodes) == 1 else (kind, nodes)


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


def _accepted(atom: Atom, words: Words, notes: list[str]) -> Flags:
    accepted = np.zeros(words.size, bool)
    if isinstance(atom, Missing):
        if words.has_missing:
            accepted[-1] = True
    elif isinstance(atom, In):
        plain = type(words.values[0]) if words.values else None
        for value in atom.values:
            code = words.code.get(value if type(value) is plain and plain is not float else fit(value, words, atom))
            if code is not None:
                accepted[code] = True
            elif words.is_text:
                note_absent(notes, words, value)
    elif isinstance(atom, Like):
        if not all(isinstance(value, str) for value in words.values):
            raise QueryError(f"LIKE needs a text column; {words.name!r} holds {words.type}", hint="use BETWEEN or IN")
        pattern = like(atom.pattern)
        for code, value in enumerate(words.values):
            accepted[code] = pattern.fullmatch(value) is not None
    else:
        accepted[slice(*_ends(atom, words))] = True
    return accepted


def _ends(atom: Between, words: Words) -> tuple[int, int]:
    first, last = 0, len(words.values)
    if atom.low is not None:
        first = (bisect_right if atom.strict_low else bisect_left)(words.values, fit(atom.low, words, atom))
    if atom.high is not None:
        last = (bisect_left if atom.strict_high else bisect_right)(words.values, fit(atom.high, words, atom))
    return first, max(first, last)
