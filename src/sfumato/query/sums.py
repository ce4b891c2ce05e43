"""Sums over people: what averages, shares and differences are made of, and how the models of boxes add them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats
from sfumato.errors import QueryError
from sfumato.query.engine import CountEstimate
from sfumato.query.language.compile import Piece, Pieces, RowCondition
from sfumato.query.models.protocol import Moments
from sfumato.query.models.scores import Weighed
from sfumato.query.models.trend import Trend
from sfumato.query.rows import BucketIndex, RowIndex

MOST_TERMS = 16
"""Terms of one sum: what each has in common with each is looked up, person by person."""


class CodeNumbers(NamedTuple):
    """The number of every code of a quasi column."""

    column: int
    each: Floats


@dataclass(frozen=True, eq=False)
class Term:
    """Everybody who meets `rows` adds `times` · scores[her sensitive value], and her number in a quasi column where one is given.

    `unit` is that of `sfumato.query.models.scores.Weighed`, before `times`.
    """

    rows: RowCondition
    scores: Floats
    times: float = 1.0
    unit: float | None = None
    numbers: CodeNumbers | None = None
    weight: CodeNumbers | None = None
    """For how many people of the population somebody stands, where figures are weighted."""

    @property
    def key(self) -> tuple[object, ...]:
        """What two terms have in common that speak of the same people and numbers."""
        tables = tuple(sorted((column, accepted.tobytes()) for column, accepted in self.rows.tables.items()))
        numbers = (None if own is None else (own.column, own.each.tobytes()) for own in (self.numbers, self.weight))
        return (tables, tuple(map(id, self.rows.rest)), *numbers)


def merged(terms: Sequence[Term]) -> list[Term]:
    """Return the same sum with terms about the same people merged."""
    by_key: dict[tuple[object, ...], Term] = {}
    for term in terms:
        key, scores, unit = term.key, term.times * term.scores, None if term.unit is None else abs(term.times) * term.unit
        if key in by_key:
            before = by_key[key].unit
            scores, unit = by_key[key].scores + scores, None if before is None or unit is None else max(before, unit)
        by_key[key] = Term(term.rows, scores, 1.0, unit, term.numbers, term.weight)
    return list(by_key.values())


@dataclass(frozen=True, eq=False)
class AskedSum:
    """A sum over people of groups who have rows: its terms, with those of them that somebody meets, by person.

    `value` and `variance` are the papers' estimate, from which models start. `value_only`: the variance is not wanted.
    """

    terms: Sequence[Term]
    people: list[Weighed]
    value: float
    variance: float
    value_only: bool = False

    @classmethod
    def of(cls, index: BucketIndex, terms: Sequence[Term], *, value_only: bool) -> AskedSum:
        """Return a sum over groups without noise."""
        people = weigh_people(index.table, terms)
        return cls(terms, people, *add_as_papers(index, people), value_only)


def weigh_people(table: RowIndex, terms: Sequence[Term]) -> list[Weighed]:
    """Return the terms with their people, where every person has a row; terms without anybody are left out."""
    if len(terms) > MOST_TERMS:
        raise QueryError(
            f"the condition distinguishes more than {MOST_TERMS} classes of sensitive values, too many for such a figure",
            hint="ask for counts, or in simpler parts",
        )
    weighed = []
    for term in terms:
        buffer, people = table.find(term.rows)
        rows = buffer[:people].copy()
        weight = np.full(people, term.times)
        for own in (term.numbers, term.weight):
            if own is not None:
                weight *= own.each[table.codes[own.column][rows]]
        if people and term.times:
            unit = None if term.unit is None else term.unit * abs(term.times)
            weighed.append(Weighed(rows, weight, np.asarray(term.scores, np.float64), unit))
    return weighed


def add_as_papers(index: BucketIndex, terms: Sequence[Weighed]) -> tuple[float, float]:
    """Return a sum if people of a group were alike, with the variance of a random placement inside groups.

    Of n people and n values it is 1/(n − 1) times Σ over pairs of terms of what their weights, and their scores, have in common
    around their means in the group.
    """
    size, box = np.maximum(index.shown, 1), np.repeat(np.arange(index.groups), np.diff(index.st_start))
    heads = index.table.heads
    weights = [np.bincount(index.group[term.rows], term.weight * heads(term.rows), index.groups) for term in terms]
    scores = [np.bincount(box, index.st_count * term.scores[index.st_value], index.groups) for term in terms]
    value = sum(float((w * s / size).sum()) for w, s in zip(weights, scores, strict=True))
    full = np.zeros((len(terms), index.rows))
    for t, term in enumerate(terms):
        full[t, term.rows] = term.weight
    variance, every = np.zeros(index.groups), heads()
    for t, left in enumerate(terms):
        for u, other in enumerate(terms[: t + 1]):
            people = np.bincount(index.group, full[t] * full[u] * every, index.groups) - weights[t] * weights[u] / size
            products = left.scores[index.st_value] * other.scores[index.st_value]
            values = np.bincount(box, index.st_count * products, index.groups) - scores[t] * scores[u] / size
            variance += (1.0 if t == u else 2.0) * people * values / np.maximum(size - 1, 1)
    variance_sum = float(np.maximum(variance, 0.0).sum())
    scale = sum(float((term.weight**2).sum()) * float((term.scores**2).max(initial=0.0)) for term in terms)
    return value, variance_sum if variance_sum > 1e-12 * scale else 0.0


def by_score(index: BucketIndex, terms: Sequence[Weighed]) -> Iterator[tuple[list[Weighed], Floats]]:
    """Yield the terms that have the same scores together, with the weight of every row in them."""
    together: dict[bytes, list[Weighed]] = {}
    for term in terms:
        together.setdefault(term.scores.tobytes(), []).append(term)
    for like in together.values():
        weight = np.zeros(index.rows)
        for term in like:
            weight[term.rows] += term.weight
        yield like, weight


def limits_of(index: BucketIndex, terms: Sequence[Weighed]) -> tuple[float, float]:
    """Return the least and the largest sum that any placement of the values of groups on their people has.

    Of one score it is reached: in every group the largest weights meet the smallest scores, or the largest ones (the
    rearrangement inequality). Of unlike scores limits are added, and may be wider than the sum can be.
    """
    least = most = 0.0
    people = np.repeat(np.arange(index.rows), np.broadcast_to(index.table.heads(), index.rows))
    times = index.st_count.astype(np.int64)  # noisy counts, which are none, are not asked for
    box = np.repeat(np.repeat(np.arange(index.groups), np.diff(index.st_start)), times)
    values = np.repeat(index.st_value, times)
    for like, weight in by_score(index, terms):
        asked, scores = weight[people], like[0].scores[values]
        by_group = np.lexsort((asked, index.group[people]))
        up, down = np.lexsort((scores, box)), np.lexsort((-scores, box))
        most += float(asked[by_group] @ scores[up])
        least += float(asked[by_group] @ scores[down])
    return least, most


def shift_of(trend: Trend, terms: Sequence[Weighed]) -> tuple[float, float]:
    """Return what the adding model adds to a sum, and the variance of that; errors of unlike scores are added up."""
    index, model = trend.index, trend.posterior
    box = np.repeat(np.arange(index.groups), np.diff(index.st_start))
    share = index.totals / index.people
    shift = error = 0.0
    for like, weight in by_score(index, terms):
        scores = like[0].scores
        spread2 = float(share @ scores**2 - (share @ scores) ** 2)
        if spread2 <= 1e-12 * float((scores**2).max(initial=0.0)):
            continue
        asked = _features(trend, weight) * model.scale
        along = asked @ model.turn
        score = scores @ model.score
        wanted = np.bincount(box, index.st_count * scores[index.st_value], index.groups)
        s2 = spread2 + trend.noise * float(((scores - scores.mean()) ** 2).sum())
        gain = trend.weigh(wanted, score, s2) @ model.gain
        move = float(along @ (gain * score))
        shift += move
        error += float(np.sqrt(s2 * float((gain * along**2).sum()) + trend.model_error.share2 * move**2))
    return shift, error**2


def _features(trend: Trend, weight: Floats) -> Floats:
    """Return how the features of people with these weights differ from those of their boxes."""
    index = trend.index
    weight = weight * index.table.heads()
    asked = np.flatnonzero(weight)
    parts = [
        np.bincount(block.numbers(trend.levels[asked]), weight[asked], len(block.features)) @ block.features
        for block in trend.blocks
    ]
    per_box = np.bincount(index.group, weight, index.groups) / index.sizes
    return np.concatenate([np.zeros(0), *parts]) - per_box @ trend.sums


def add_by_values(guess: Callable[[Pieces], CountEstimate], terms: Sequence[Term]) -> Moments:
    """Return a sum from the counts of values that have the same score: for forms whose people have no rows of their own."""
    value = error = 0.0
    reason = ""
    for term in terms:
        if term.numbers is not None or term.weight is not None:
            raise QueryError(
                "this release does not show people's own quasi values, so that their average is not defined",
                hint="ask for counts in ranges of the column",
            )
        for score in np.unique(term.scores[term.scores != 0]):
            estimate = guess((Piece(term.scores == score, term.rows),))
            value += term.times * float(score) * estimate.inside
            if not estimate.certain:
                error += abs(term.times * float(score)) * estimate.std_error
                reason = reason or estimate.no_interval
    return Moments(value, error**2, reason)
