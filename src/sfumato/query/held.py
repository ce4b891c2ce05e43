"""Questions to a release of people who may have several values of a secret, or none.

`diagnosis = 'x'` is met by whoever has x among hers, `NOT diagnosis = 'x'` by everybody else. A question is about one *event*: a
value, or one of a named set, of which every box shows how many people have it: `sfumato.query.having` answers it. How values of
one person go together is not published: a question about several of them that is no named set, or about values that somebody has
together, of one secret or of two, has an estimate without an interval, and a note that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, Estimate, GroupedAnswer, SeveralAnswers
from sfumato.query.engine import CountEngine
from sfumato.query.having import HAS, Event, Having, HeldRelease, Literals
from sfumato.query.language.compile import compile_condition
from sfumato.query.language.predicate import And, Atom, Condition, In, Missing, Not, Or, Query, TermsOf, atoms_of
from sfumato.query.language.vocabulary import Vocabulary, declared_in, no_column
from sfumato.query.measuring import arranged

APART = (
    "no interval: how many people have several of these values is not published, and the estimate lies between the most frequent "
    "of them and their sum; a set that the policy names has a count of its own"
)
TOGETHER = (
    "no interval: which values one person has together is not published; people of a group who have equally many are taken as "
    "having them independently, and two secrets as unrelated inside groups"
)
LEFT_OUT = (
    "no interval: a person is counted of at most {most} of her values, drawn by coins, so that who has more is left out of some "
    "counts, and nothing says how many are"
)
HOUSEHOLDS = "counted are households; they have a value if a member has it"
OVERLAP = "the rows overlap: a person who has several values is in each of theirs, so that they add up to more than the people"

Ask = Callable[[CountEngine, Query], Answer]


def refuse_held(release: Any) -> None:
    """Raise where a question is put to people who may have several values that is for one value of each."""
    if release.manifest.bundled:
        raise QueryError(
            "people of this release may have several values of a secret, which is not supported here",
            hint="count(…) answers questions about who has a value: COUNT(*), AVG(…) WHERE …, GROUP BY",
        )


def answer_held(release: HeldRelease, asked: Query, ask: Ask, having: Having) -> Answer:
    """Return the answer to a question, given what answers one about having something or not."""
    secret = [name for name in asked.group_by if name in release.secrets]
    if len(secret) > 1:
        raise QueryError(
            "the association of two secrets is not published, so that there is no table of both",
            hint="GROUP BY one of them",
        )
    answer = _by_value(release, asked, secret[0], ask, having) if secret else _answered(release, asked, ask, having)
    return answer if release.manifest.household is None else _changed(answer, lambda one: _noted(one, HOUSEHOLDS))


def _answered(release: HeldRelease, asked: Query, ask: Ask, having: Having, event: Event | None = None) -> Answer:
    """Return the answer to a question that groups by no secret; those who have an event may be asked for."""
    if event is not None:
        asked = replace(asked, condition=And((asked.condition, _Has(event))))  # type: ignore[arg-type]
    one = as_one_event(release, (asked,), having)
    answer = ask(one.engine, one.asked[0])
    return without_interval(answer, one.no_interval) if one.no_interval else answer


class OneEvent(NamedTuple):
    """Questions as such about a single thing that somebody has or has not, its engine, and why there is no interval, if so."""

    engine: CountEngine
    asked: tuple[Query, ...]
    no_interval: str


def as_one_event(release: HeldRelease, asked: Sequence[Query], having: Having) -> OneEvent:
    """Return questions about values of secrets as such about having something; `QueryError` where they are about two things."""
    reading = _Reading(release)
    made = []
    for one in asked:
        _require_columns(release, one)
        select = tuple(
            figure if figure.condition is None else replace(figure, condition=reading.rewritten(figure.condition, one))
            for figure in one.select
        )
        made.append(replace(one, condition=reading.rewritten(one.condition, one), select=select))
    engine, exact = having.engine(reading.literals)
    fewest = [most for event, _ in reading.literals if (most := release.manifest.each[event.secret].leaves_out) is not None]
    why = [LEFT_OUT.format(most=min(fewest))] if fewest else []
    why += [] if exact else [TOGETHER if len(reading.literals) > 1 else APART]
    return OneEvent(engine, tuple(made), "; ".join(why))


def _require_columns(release: HeldRelease, asked: Query) -> None:
    """Raise for columns that there are not, and for figures of what has none."""
    conditions = [part for part in _conjuncts(asked.condition) if not isinstance(part, _Has)]
    conditions += [figure.condition for figure in asked.select if figure.condition is not None]
    known = [*(str(column["name"]) for column in release.manifest.schema["quasi"]), *release.secrets]
    for name in [
        *(atom.column for condition in conditions for atom in atoms_of(condition)),
        *asked.group_by,
        *(o.column for o in asked.select),
    ]:
        if name and name not in known:
            raise no_column(name, known)
    for one in asked.select:
        if one.column in release.secrets:
            raise QueryError(
                f"{one.kind}: a person may have several values of {one.column!r}, so that there is no such figure of people",
                hint=f"COUNT(*) … GROUP BY {one.column}",
            )
        if one.column in release.manifest.bands and release.manifest.alike == "band":
            whom = "people" if release.manifest.household is None else "households"
            raise QueryError(
                f"{one.column} are not counted here: the release is about {whom}, and shows only the band of how many they have",
                hint=f"COUNT(*) … GROUP BY {one.column} counts {whom}",
            )


def _several() -> QueryError:
    return QueryError(
        "which values one person has together is not published, and this question needs more than one such figure",
        hint="ask for values joined by AND, or for one of several: IN (…)",
    )


@dataclass(frozen=True)
class _Has:
    """A condition that somebody has an event, in the place of what was written."""

    event: Event


class _Reading:
    """A question on its way to one about a single thing that somebody has or has not: `literals`, all of them together."""

    def __init__(self, release: HeldRelease) -> None:
        self.release = release
        self.literals: Literals = ()
        self.declared = declared_in(release.manifest.schema)
        self.terms: TermsOf = "original"

    def rewritten(self, condition: Any, asked: Query | None = None) -> Condition:
        """Return the condition, of a question, with what it says of secrets as having that, or not."""
        self.terms = self.terms if asked is None else asked.terms
        if isinstance(condition, Or):
            return self._any(condition)
        parts = list(_conjuncts(condition))
        literals = [self._literal(part) for part in parts]
        rest = [part for part, literal in zip(parts, literals, strict=True) if literal is None]
        met = {(literal[0].key, literal[1]): literal for literal in literals if literal is not None}
        if not met and len(rest) == 1:
            return Not(self.rewritten(rest[0].part)) if isinstance(rest[0], Not) else self._plain(rest[0])
        found = [self.rewritten(part) for part in rest]
        if len({key for key, _ in met}) > 1:
            found.append(self._meet(tuple(met.values())))
        else:
            for event, has in met.values():
                own = self._meet(((event, True),))
                found.append(own if has else Not(own))
        return And(tuple(found))

    def _any(self, condition: Or) -> Condition:
        """Return alternatives: those that name values of one secret are one of both, others are not none of them."""
        parts = _joined(condition, self.release.secrets)
        about = [part for part in parts if self._literal(part) is not None]
        rest = tuple(self.rewritten(part) for part in parts if part not in about)
        if not about:
            return Or(rest)
        own = about[0] if len(about) == 1 else Not(And(tuple(Not(part) for part in about)))
        return Or((*rest, self.rewritten(own)))

    def _plain(self, condition: Any) -> Condition:
        if isinstance(condition, Or):
            return self._any(condition)
        return cast("Condition", condition)

    def _literal(self, part: Any) -> tuple[Event, bool] | None:
        """Return an event and whether somebody is to have it, for a part that says nothing else."""
        if isinstance(part, Not):
            name = getattr(part.part, "column", "")
            if part.unlike and name in self.release.secrets:
                raise QueryError(
                    f"{name} <> …: a person may have several values, so that this may mean two things",
                    hint=f"NOT {name} = … is met by who does not have it; who has another one too is not told apart",
                )
            inner = self._literal(part.part)
            return None if inner is None else (inner[0], not inner[1])
        if isinstance(part, _Has):
            return part.event, True
        return (self._event(part), True) if getattr(part, "column", None) in self.release.secrets else None

    def _meet(self, literals: Literals) -> Condition:
        """Return the condition of having these together; all of a question is about one such thing."""
        if self.literals and {(e.key, has) for e, has in self.literals} != {(e.key, has) for e, has in literals}:
            raise _several()
        self.literals = literals
        return In(self.release.secrets[literals[0][0].secret], (HAS,))

    def _event(self, atom: Atom) -> Event:
        place = self.release.secrets.index(atom.column)
        domain = self.release.events.secrets[place]
        values = np.zeros(len(domain), bool)
        if isinstance(atom, Missing):
            absent = domain.table.column(0).is_null().to_numpy()  # a value of its own where the policy says that it is one
            return Event(place, absent, missing=not absent.any())
        compiled = compile_condition(atom, Vocabulary.of((), domain, self.declared).for_terms(self.terms))
        if compiled.partly is not None:
            raise QueryError(
                f"{atom.column}: a published value meets this condition only in part", hint="ask for published values"
            )
        for piece in compiled.pieces:
            values |= piece.values
        return Event(place, values)


def _conjuncts(condition: Any) -> Iterator[Any]:
    """Yield the parts of a condition that all have to hold."""
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


def _joined(condition: Or, secrets: tuple[str, ...]) -> tuple[Condition, ...]:
    """Return the parts, those that name values of one secret as alternatives together: x or y is one of both."""
    named: dict[str, list[In]] = {}
    for part in condition.parts:
        if isinstance(part, In) and part.column in secrets:
            named.setdefault(part.column, []).append(part)
    several = {name: In(name, tuple(value for one in parts for value in one.values)) for name, parts in named.items()}
    rest = [part for part in condition.parts if not (isinstance(part, In) and part.column in secrets)]
    return (*several.values(), *rest)


def without_interval(found: Answer, why: str) -> Answer:
    """Return an answer whose counts are no more than guessed, without intervals."""
    return _changed(found, lambda one: plain(one, why))


def _changed(found: Answer, change: Callable[[Estimate], Estimate]) -> Answer:
    """Return an answer with every estimate of it changed."""
    if isinstance(found, SeveralAnswers):
        return replace(found, answers=tuple(_changed(one, change) for one in found.answers))  # type: ignore[misc]
    if isinstance(found, GroupedAnswer):
        cells = tuple((key, change(one)) for key, one in found.cells)
        return replace(found, cells=cells, total=change(found.total))
    return change(found)


def _noted(one: Estimate, note: str) -> Estimate:
    return replace(one, note="; ".join(filter(None, [note, one.note])))


def plain(one: Estimate, why: str) -> Estimate:
    """Return an estimate without its interval, and why."""
    return replace(_noted(one, why), low=None, high=None)


def _by_value(release: HeldRelease, asked: Query, secret: str, ask: Ask, having: Having) -> Answer:
    """Return the counts of a GROUP BY that has a secret, or their parts of all: a person is in the row of each of her values."""
    figure = asked.select[0]
    if len(asked.select) > 1 or not (figure.kind == "count" or (figure.kind == "share" and figure.condition is None)):
        raise QueryError(
            f"GROUP BY {secret}: rows overlap, since a person may have several values; only COUNT(*) and SHARE() are defined",
            hint=f"other figures: AVG(…) WHERE {secret} = …, one value at a time",
        )
    rest = tuple(name for name in asked.group_by if name != secret)
    domain = release.events.secrets[release.secrets.index(secret)]
    total = _answered(release, Query(asked.condition, terms=asked.terms), ask, having)
    assert isinstance(total, Estimate)
    types: dict[str, pa.DataType] = {secret: domain.table.column(0).type}
    cells: list[tuple[Mapping[str, Any], Estimate]] = []
    for place, value in enumerate(domain.table.column(0).to_pylist()):
        event = having.value(release.secrets.index(secret), place)
        answer = _answered(release, Query(asked.condition, rest, asked.terms), ask, having, event)
        if isinstance(answer, GroupedAnswer):
            types |= dict(zip(answer.columns, answer.types, strict=True))
            cells += [({name: {secret: value, **key}[name] for name in asked.group_by}, cell) for key, cell in answer.cells]
        elif isinstance(answer, Estimate) and answer.value > 0:
            cells.append(({secret: value}, answer))
    if figure.kind == "share":
        cells, total = [(key, _part(cell, total)) for key, cell in cells], _part(total, total)
    total, *named = (
        replace(one, note="; ".join(filter(None, [one.note, OVERLAP])), measure=figure.name)
        for one in (total, *(cell for _, cell in cells))
    )
    keyed = tuple((key, one) for (key, _), one in zip(cells, named, strict=True))
    whole = GroupedAnswer(asked.group_by, keyed, tuple(types[name] for name in asked.group_by), total, release.native)
    return arranged([whole], (figure.name,), asked)[0]


def _part(one: Estimate, total: Estimate) -> Estimate:
    """Return a count as its part of all, of whom there must be a certain number."""
    if total.low != total.high or total.low is None or not total.value:
        raise QueryError("SHARE(): the number of people in its denominator is uncertain", hint="ask for COUNT(*)")
    many = total.value
    low, high = (None if end is None else end / many for end in (one.low, one.high))
    return replace(one, value=one.value / many, std_error=one.std_error / many, low=low, high=high, raw=None)


__all__ = ["answer_held", "as_one_event", "refuse_held"]
