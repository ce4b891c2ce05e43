"""Any condition on quasi columns as disjoint conjunctions of single-column conditions, whose shares then simply add up."""

from __future__ import annotations

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.language.compile import Accept, Join, RowCondition

Conjunction = dict[int, Flags]
"""Per column the accepted codes; a column that is not there may have any."""

MAX_CONJUNCTIONS = 200
"""Conditions that fall apart into more conjunctions than this are refused."""

MAX_STEPS = 50_000
"""Two conjunctions are compared so often at most: about a second."""


def disjoint(rows: RowCondition) -> list[Conjunction]:
    """Return disjoint conjunctions that are together the condition; none where nobody can meet it."""
    steps = _Steps()
    terms = [dict(rows.tables)]
    for node in rows.rest:
        terms = _both(terms, _of(node, steps), steps)
    return [term for term in terms if all(accepted.any() for accepted in term.values())]


class _Steps:
    """How often two conjunctions were compared: few results may take long to find."""

    def __init__(self) -> None:
        self.taken = 0

    def limited(self, terms: list[Conjunction], steps: int) -> list[Conjunction]:
        """Return what was found in these steps; raise once there is too much of it, or it took too many in all."""
        self.taken += steps
        if len(terms) > MAX_CONJUNCTIONS or self.taken > MAX_STEPS:
            raise QueryError(
                f"the condition has more than {MAX_CONJUNCTIONS} disjoint conjunctions, too many for ranges",
                hint="ask simpler questions and add up the answers",
            )
        return terms


def _of(node: Accept | Join, steps: _Steps) -> list[Conjunction]:
    if isinstance(node, Accept):
        return [{node.place.column: node.accepted}]
    parts = (_of(part, steps) for part in node.parts)
    terms = next(parts)
    for each in parts:
        if node.kind == "and":
            terms = _both(terms, each, steps)
        else:
            terms = steps.limited([*terms, *(rest for term in each for rest in _without(term, terms, steps))], 1)
    return terms


def _both(left: list[Conjunction], right: list[Conjunction], steps: _Steps) -> list[Conjunction]:
    joined = [_meet(term, other) for term in left for other in right]
    return steps.limited([term for term in joined if all(accepted.any() for accepted in term.values())], len(joined))


def _meet(term: Conjunction, other: Conjunction) -> Conjunction:
    return {**term, **other, **{column: term[column] & other[column] for column in term.keys() & other.keys()}}


def _without(term: Conjunction, others: list[Conjunction], steps: _Steps) -> list[Conjunction]:
    """Return what is left of a conjunction outside all the others, in disjoint parts."""
    left = [term]
    for other in others:
        left = steps.limited([rest for part in left for rest in _minus(part, other)], len(left))
    return left


def _minus(term: Conjunction, other: Conjunction) -> list[Conjunction]:
    """Return the parts of `one` outside `other`: outside in the first column; inside there and outside in the second; …"""
    parts = []
    inside = dict(term)
    for column, accepted in other.items():
        outside = ~accepted if column not in inside else inside[column] & ~accepted
        if outside.any():
            parts.append({**inside, column: outside})
        inside[column] = accepted if column not in inside else inside[column] & accepted
        if not inside[column].any():
            break
    return parts
