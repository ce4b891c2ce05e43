"""How large a question may be: texts come from anybody, and each part of a condition takes time and memory."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from sfumato.errors import QueryError
from sfumato.query.language.literals import MOST_NOTES
from sfumato.query.language.predicate import Between, Condition, In, atoms_of
from sfumato.query.language.vocabulary import Vocabulary

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
        named = atom.values if isinstance(atom, In) else (atom.low, atom.high) if isinstance(atom, Between) else ()
        if any(isinstance(value, Decimal) and value.is_nan() for value in named):
            raise QueryError(f"{atom.column}: nothing is equal to NaN, less or greater")  # and one kind of it has no hash


def require_few_parts(*, parts: int = 0, steps: int = 0) -> None:
    """Refuse a condition with too many parts on several columns, each of which asks every row, or too many steps."""
    if steps > MAX_STEPS:
        raise QueryError("the condition treats too many sensitive values differently", hint=_SIMPLER)
    if parts > MAX_PARTS:
        raise QueryError(f"the condition has more than {MAX_PARTS:,} parts on several columns", hint=_SIMPLER)


def few(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the remarks, each once and not more than a person reads."""
    each = tuple(dict.fromkeys(notes))
    return each if len(each) <= MOST_NOTES else (*each[:MOST_NOTES], "there is more of this kind")
