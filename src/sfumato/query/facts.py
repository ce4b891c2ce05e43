"""What a question about who has a value has for an answer on the publisher's own table, where people may have several values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import QueryError
from sfumato.query.language.compile import compile_condition
from sfumato.query.language.predicate import And, Condition, In, Missing, Not, Or, Query, atoms_of
from sfumato.query.language.vocabulary import Vocabulary
from sfumato.table.column import Column, Domain, Sensitive

_HAS, _NOT = "has it", "has not"


@dataclass(frozen=True, eq=False)
class HavingPeople:
    """The same people with one value each: whether they have what a question asks about, or not."""

    quasi: tuple[Column, ...]
    sensitive: Sensitive
    schema: Any


def having(table: Any, query: Query) -> tuple[HavingPeople, Query]:
    """Return people with whether they have what a question about a secret asks for, and the question about that."""
    secrets = table.schema.sensitive
    about = list(dict.fromkeys(atom for atom in atoms_of(query.condition) if atom.column in secrets))
    if len(about) > 1:
        raise QueryError(
            "a workload cannot ask about two values of one person together",
            hint="ask about one value of a secret, or one of several: IN (…)",
        )
    name = about[0].column if about else secrets[0]
    part = table.each()[secrets.index(name)]
    has = np.zeros(len(table.sensitive.codes), bool)
    if about and isinstance(about[0], Missing):
        has = part.sensitive.numbers() == 0
    elif about:
        words = Vocabulary.of(part.quasi, part.sensitive.domain, part.schema).for_terms(query.terms)
        flags = np.any([piece.values for piece in compile_condition(about[0], words).pieces], axis=0)
        has = part.sensitive.any_of(np.flatnonzero(flags).tolist())
    domain = Domain(pa.table({name: pa.array([_HAS, _NOT])}), ("categorical",))
    people = HavingPeople(
        table.quasi, Sensitive(domain, (~has).astype(np.uint8)), replace(table.schema.only(name), secrets={}, bins={})
    )
    return people, replace(query, condition=_asking(query.condition, name))


def _asking(condition: Condition, secret: str) -> Condition:
    """Return a condition with every part about the secret in terms of having it."""
    if isinstance(condition, (And, Or)):
        return replace(condition, parts=tuple(_asking(part, secret) for part in condition.parts))
    if isinstance(condition, Not):
        return replace(condition, part=_asking(condition.part, secret))
    return In(secret, (_HAS,)) if condition.column == secret else condition
