"""Figures of the population that a sample was drawn from: everybody counts by her weight, and sampling has an error of its own.

A figure is, around its estimate, a sum T = Σ z_i over people (`sfumato.query.figures`). Two things are not known of it. What the
release leaves open is the variance of that sum given the tables, as without weights. And another sample would have had other
people: the variance of T over samples, taken as drawn with replacement,

    S = Σ_h m_h/(m_h − 1) · Σ_c (z_c − z̄_h)²

over strata h of m_h clusters c; without strata there is one, and without clusters everybody is one of her own. The z of single
people are not known, but what their squares are expected to add up to is: these are sums over people too, of products of terms.
Of clusters what is expected of their sums is squared, and what the release leaves open of each is added: at most what people's
squares are expected to add up to beyond (Σ z)²/n, of the n people of the cluster whom the figure is about, as if each had her
value by herself. A stratum with a single cluster is compared with the mean of all.

Both have a part in common, which is not added twice, but is in neither. What is told is not T but its expectation T̂ given the
tables, and by the law of total variance Var(T̂) = S − E[Var(T | tables)]: chance in who of a box has which value is averaged out
of T̂, and T̂ is as near to the population as if it had never been. So of the variance P of a random placement, by chances that are
known, sampling keeps S − P, and the release what it leaves open beside P: that its chances are off. P is at most S, since
Σ E[z_i²] − Σ E[z_i]² is at least P, and (Σ E[z_i])² at most n·Σ E[z_i]². Where a form does not average (randomized values: the
estimate is of this sample's values, whatever chance made of them), P is 0 and both are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.engine import Question
from sfumato.query.language.compile import Piece, RowCondition
from sfumato.query.language.vocabulary import Vocabulary
from sfumato.query.models.protocol import Moments
from sfumato.query.sums import MOST_TERMS, CodeNumbers, Term, merged
from sfumato.release.base import Release

NO_WEIGHT = "this release has no survey weight"
NO_ROWS = "this release does not show each person's weight, so that answers cannot be weighted"


def require_weights(release: Release) -> None:
    """Raise for a form in which nobody's own weight is shown, but ranges or sets of those of a group."""
    if release.shown_as.of_people and not release.shown_as.exact_quasi:
        raise QueryError(NO_ROWS, hint='ask without weighted; form = "buckets" shows weights')


@dataclass(frozen=True, eq=False)
class Design:
    """The weight of every published value of its column, and the columns of strata and of clusters, those that there are."""

    name: str
    weight: CodeNumbers
    strata: tuple[int, ...]
    clusters: tuple[int, ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Design:
        """Return the design of the sample that a release declares; `QueryError` where there is none, or no weights are shown."""
        stated = vocabulary.weight
        if stated is None:
            raise QueryError(NO_WEIGHT, hint="ask without weighted; or the publisher names a [weight] in the policy")
        places = {words.name: place for place, words in enumerate(vocabulary.quasi)}
        column = places[stated.column]
        words = vocabulary.quasi[column]
        numbers = [words.decode(code) for code in range(words.size)]
        each = np.array([0.0 if number is None else float(number) for number in numbers])
        strata, clusters = (() if name is None else (places[name],) for name in (stated.strata, stated.cluster))
        return cls(stated.column, CodeNumbers(column, each), strata, clusters)

    def weigh(self, terms: Sequence[Term]) -> list[Term]:
        """Return the terms with everybody's weight; what a model misses is then no longer known for a unit of counts."""
        return [replace(term, weight=self.weight, unit=None) for term in terms]


def apart(total: Moments, sampling: float) -> tuple[float, float]:
    """Return what the release leaves open of a sum, and what another sample would change of its estimate."""
    placed = min(total.placed, total.variance, sampling)
    return max(0.0, total.variance) - placed, sampling - placed


def sampling_variance(question: Question, linear: Sequence[Term], design: Design) -> float:
    """Return the variance over samples of a sum of weighted terms."""
    terms, strata = merged(linear), design.strata
    if design.clusters:
        return _between_clusters(question, terms, design)
    everybody = [Term(RowCondition({}), np.ones(_values(question)))]
    cells = [()] if not strata else _cells(question, strata)
    return sum(_of_people(question, *(_inside(question, part, strata, cell) for part in (terms, everybody))) for cell in cells)


def _between_clusters(question: Question, terms: Sequence[Term], design: Design) -> float:
    """Return the variance over samples of clusters, in strata where there are any."""
    by_stratum: dict[tuple[int, ...], list[float]] = {}
    columns, known = (*design.strata, *design.clusters), 0.0
    asked = [Term(term.rows, np.ones(_values(question))) for term in terms]
    for cell in _cells(question, columns):
        own = _sum(question, _inside(question, terms, columns, cell))
        by_stratum.setdefault(cell[: len(design.strata)], []).append(own)
        known += own**2 / max(1.0, _sum(question, _inside(question, asked, columns, cell)))
    mean = float(np.mean([own for sums in by_stratum.values() for own in sums]))
    between = sum(_of_clusters(sums, mean) for sums in by_stratum.values())
    certain = all(np.ptp(term.scores) == 0 for term in terms)  # then quasi values alone decide
    return between + (0.0 if certain else max(0.0, _sum(question, squared(terms)) - known))


def _of_clusters(listed: list[float], mean: float) -> float:
    """Return what the clusters of a stratum add to the variance."""
    if len(listed) == 1:
        return (listed[0] - mean) ** 2
    return len(listed) * float(np.var(listed, ddof=1))


def _of_people(question: Question, linear: Sequence[Term], everybody: Sequence[Term]) -> float:
    """Return what a stratum of single people adds to the variance: n/(n − 1)·(Σ z² − (Σ z)²/n)."""
    people = _sum(question, everybody)
    if people < 2:
        return 0.0
    squares, whole = _sum(question, squared(linear)), _sum(question, linear)
    return people / (people - 1) * max(0.0, squares - whole**2 / people)


def squared(terms: Sequence[Term]) -> list[Term]:
    """Return the sum of everybody's own square, where a sum is of these terms."""
    pairs = []
    for t, left in enumerate(terms):
        for u, right in enumerate(terms[: t + 1]):
            pairs.append(_product(left, right, 1.0 if t == u else 2.0))
    return merged(pairs)


def _product(left: Term, right: Term, times: float) -> Term:
    rows = left.rows
    for column, accepted in right.rows.tables.items():
        rows = rows.narrowed(column, accepted)
    both = RowCondition(rows.tables, (*left.rows.rest, *(rest for rest in right.rows.rest if rest not in left.rows.rest)))
    numbers, weight = _times(left.numbers, right.numbers), _times(left.weight, right.weight)
    return Term(both, left.scores * right.scores, times * left.times * right.times, None, numbers, weight)


def _times(left: CodeNumbers | None, right: CodeNumbers | None) -> CodeNumbers | None:
    """Return the product of the numbers of one column, that all terms of a figure have in common."""
    if left is None or right is None:
        return left or right
    assert left.column == right.column
    return CodeNumbers(left.column, left.each * right.each)


def _cells(question: Question, columns: Sequence[int]) -> list[tuple[int, ...]]:
    words = question.vocabulary.quasi
    everybody = (Piece(np.ones(_values(question), bool), RowCondition({})),)
    return list(question.cells([(False, column, words[column]) for column in columns], everybody))


def _inside(question: Question, terms: Sequence[Term], columns: Sequence[int], cell: Sequence[int]) -> list[Term]:
    """Return the part of a sum that is of people with these codes."""
    words = question.vocabulary.quasi
    narrowed = []
    for term in terms:
        rows = term.rows
        for column, code in zip(columns, cell, strict=True):
            rows = rows.narrowed(column, np.arange(words[column].size) == code)
        narrowed.append(replace(term, rows=rows))
    return narrowed


def _values(question: Question) -> int:
    return len(question.vocabulary.part_codes[0])


def _sum(question: Question, terms: Sequence[Term]) -> float:
    """Return what a sum is expected to be, some terms at a time."""
    parts = [terms[begin : begin + MOST_TERMS] for begin in range(0, len(terms), MOST_TERMS)]
    return float(sum(question.add(part, value_only=True).value for part in parts))
