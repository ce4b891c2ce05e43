"""Could two columns be independent? A test on what a release shows for certain: how often groups have the values of both.

**Between groups.** Group g has n_g people, the share p_g of them with each value of one column and s_g with each of the other.
Were columns unrelated, shares that are high together in some groups would be low together in others: Σ n_g·(p_g − p)(s_g − s)ᵀ
would be 0 but for the luck of who was drawn. That is so if groups are boxes, products of sets of values that do not overlap
(`overlapping`), and one column has nothing to do with all others, whatever else depends on what. For then the group's part of the
sum is μ(A)·ν(B): A the group's values in that column and B all else, μ and ν measures, and μ of everything is 0. Measures add
up, so the sum over all boxes is μ·ν of everything. No model of the inside of groups is needed, and none is used. X² is the sum
of squares of that matrix, each entry divided by √(N·p·s): Pearson's X² of the papers' estimate.

Its law under independence: the matrix is a sum over people of ψ = u⊗β + α⊗v + α⊗β, for α = p_g − p and β = s_g − s of a person's
group, u and v what sets her apart inside it; so its covariance Ω follows from the shares of groups, with what noise adds.
X² has the mean tr Ω and the variance 2·tr Ω² + E|ψ|⁴/N, the last for cells of few people; p is that of a multiple
of χ² with these moments (Satterthwaite; for survey tables: Rao and Scott, Annals of Statistics 12, 1984). In small groups u and α
are partly the same luck, counted twice: p is then too large, never too small. Groups filled regardless of quasi values are
exact: given them, a quasi column is dealt to people at random.

**Cells.** Where both columns are seen at each person, it is Pearson's test, with the exact variance of X² given the margins
(Haldane, Biometrika 31, 1940): that of χ² is too small where cells have few people. Records randomized by coins that look at
nothing but the sensitive value are tested so as they are shown: what is independent before such coins is so afterwards.

A link that is there only inside groups shows in neither. `retained` is how much of the table's own X² a release has on average
under independence: where that is little, and nothing was found, the release cannot decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.query.language.vocabulary import ColumnValues

ConditionPlace = tuple[bool, int, ColumnValues]
"""A column: whether it is sensitive, its number among its kind, its words."""

ENOUGH = 0.5
"""A release that tells at least this part of what the table would is believed when it shows no association."""

MOST_GROUPS, FEW = 6000, 0.25
"""Groups that are looked at pair by pair for whether they are boxes, and how many of them may overlap others."""

_SAMPLE = 1500  # groups whose pairs tell tr Ω², where there are more
_CLEAR = 4.0  # a value of fewer people than so many standard deviations of noise is counted with the most frequent one


class Grouped(NamedTuple):
    """What groups show of two columns: [groups × values] of each, and the variance of noise in each count of the second.

    `dealt`: groups were filled regardless of the first column.
    """

    a: Floats
    b: Floats
    noise: Floats | None = None
    dealt: bool = False


@runtime_checkable
class ShowsGroups(Protocol):
    """An engine of a release that shows how often groups have the values of its columns."""

    def shown_together(self, a: ConditionPlace, b: ConditionPlace) -> Grouped | Floats | None:
        """Return what is shown of two columns: by group, or a table of counts that are independent where the columns are."""


@dataclass(frozen=True)
class AssociationTest:
    """Whether two columns could be independent in the population: X², its mean if they were, and p; or why it is not known."""

    statistic: float
    mean: float
    p: float | None
    note: str = ""
    retained: float = 1.0
    """How much of the table's own X² the release has on average under independence: 1 where nothing is hidden."""

    @property
    def verdict(self) -> str:
        """What follows: `associated`, `no association seen`, or that the release `cannot decide`; "" where there is no test."""
        if self.p is None:
            return ""
        return "associated" if self.p < 0.05 else "no association seen" if self.retained >= ENOUGH else "cannot decide"

    def __str__(self) -> str:
        if self.p is None:
            return f"no test of association: {self.note}"
        statistic = f"X² = {self.statistic:,.1f} where independence gives {self.mean:,.1f} on average"
        p = "p < 0.0001" if self.p < 1e-4 else f"p = {self.p:.4f}"
        if self.verdict == "cannot decide":
            part = f"it shows {100 * self.retained:.2g} % of what the table would" if not self.note else self.note
            return f"this release cannot decide whether they are associated: {part} ({statistic}, p = {self.p:.2g})"
        return f"{self.verdict}: {statistic} ({p})"


def judge_cells(counts: Floats | Integers) -> AssociationTest:
    """Return Pearson's test of a table of counts, with Haldane's variance."""
    counts = np.asarray(counts, np.float64)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if (none := _too_few(counts.shape)) is not None:
        return none
    rows, columns, people = counts.sum(axis=1), counts.sum(axis=0), float(counts.sum())
    if people < 4:
        return AssociationTest(0.0, 0.0, None, "too few people")
    expected = np.outer(rows, columns) / people
    (v, w), (x, y) = (_haldane(margin, people) for margin in (rows, columns))
    mean = people * (len(rows) - 1) * (len(columns) - 1) / (people - 1)
    variance = 2 * people / (people - 3) * (v - w) * (x - y) + people**2 / (people - 1) * w * y
    return _judged(float(((counts - expected) ** 2 / expected).sum()), mean, variance, 1.0)


def _haldane(margin: Floats, people: float) -> tuple[float, float]:
    many = len(margin)
    return (many - 1) * (people - many) / (people - 1), (people * float((1 / margin).sum()) - many**2) / (people - 2)


def judge_groups(shown: Grouped) -> AssociationTest:
    """Return the test between groups."""
    a, b, noise = _occurring(shown)
    if (none := _too_few((a.shape[1], b.shape[1]))) is not None:
        return none
    sizes = a.sum(axis=1)
    people = float(sizes.sum())
    side, other = Side.of(a, sizes), Side.of(b, sizes, noise)
    matrix = (side.away * sizes[:, None]).T @ other.away / np.sqrt(people)
    statistic, degrees = float((matrix**2).sum()), (a.shape[1] - 1) * (b.shape[1] - 1)
    weight = sizes / people
    if shown.dealt:
        mean = people / (people - 1) * float(weight @ other.far) * (a.shape[1] - 1)
        square = ((other.away * weight[:, None]).T @ other.away) ** 2
        variance = 2 * float(square.sum()) * (a.shape[1] - 1) + _fourth(side, other, weight) / people
    else:
        mean = float(weight @ (side.open * other.far + other.open * side.far + side.far * other.far))
        variance = 2 * _square(side, other, weight) + _fourth(side, other, weight) / people
    return _judged(statistic, mean, variance, min(mean / degrees, 1.0))


def overlapping(group: Integers | Small, codes: Sequence[Array], groups: int) -> float:
    """Return the share of groups that have to go until any two of the others have no value in common in some column."""
    overlap = np.ones((groups, groups), bool)
    for own in codes:
        held = np.zeros((groups, int(own.max(initial=0)) + 1), np.float32)
        held[group, own] = 1.0
        overlap &= held @ held.T > 0
    np.fill_diagonal(overlap, False)
    many, gone = overlap.sum(axis=1), 0
    while many.max(initial=0) > 0:
        worst = int(many.argmax())
        many -= overlap[worst]
        overlap[:, worst] = False
        many[worst] = 0
        gone += 1
    return gone / groups


def _even(groups: int) -> Integers:
    return np.unique(np.linspace(0, groups - 1, min(groups, _SAMPLE)).round().astype(np.int64))


def _too_few(shape: tuple[int, ...]) -> AssociationTest | None:
    few = min(shape, default=0) < 2
    return AssociationTest(0.0, 0.0, None, "one of the columns has one value only") if few else None


def _judged(statistic: float, mean: float, variance: float, retained: float) -> AssociationTest:
    """Return the test for a statistic of these moments under independence."""
    from scipy.special import chdtrc

    if mean <= 0 or variance <= 0:
        return AssociationTest(statistic, 0.0, None, "all groups have the same shares of both columns")
    scale = variance / (2 * mean)
    return AssociationTest(statistic, mean, float(chdtrc(mean / scale, statistic / scale)), retained=retained)


def _occurring(shown: Grouped) -> tuple[Floats, Floats, Floats | None]:
    """Return the groups and values that occur; values that noise drowns are counted with the most frequent one."""
    some = shown.a.sum(axis=1) > 0
    a, b = shown.a[some], shown.b[some]
    a = a[:, a.sum(axis=0) > 0]
    if shown.noise is None:
        return a, b[:, b.sum(axis=0) > 0], None
    noise, total = shown.noise[some], b.sum(axis=0)
    clear = total > _CLEAR * np.sqrt(noise.sum())
    top = int(total.argmax())
    clear[top] = True
    merged = b[:, clear].copy()
    merged[:, int(clear[:top].sum())] += b[:, ~clear].sum(axis=1)
    return a, merged, noise


class Side(NamedTuple):
    """One column: how groups differ from all people, and how people differ inside groups, in units of √share.

    The covariance of people inside group g is diag(own[g]) − root[g]·root[g]ᵀ, its trace `open[g]`.
    """

    share: Floats
    away: Floats
    own: Floats
    root: Floats

    @classmethod
    def of(cls, counts: Floats, sizes: Floats, noise: Floats | None = None) -> Side:
        """Return the side of a column, from [groups × values]; `noise` is the variance in each count of a group."""
        share = counts.sum(axis=0) / sizes.sum()
        shares = counts / sizes[:, None]
        held = np.clip(shares, 0.0, 1.0)
        own = held / share
        if noise is not None:
            own += (noise / sizes)[:, None] / share
        return cls(share, (shares - share) / np.sqrt(share), own, held / np.sqrt(share))

    @property
    def far(self) -> Floats:
        """The squared distance of each group from all people."""
        squares: Floats = (self.away**2).sum(axis=1)
        return squares

    @property
    def open(self) -> Floats:
        """The variance of people inside each group."""
        left_open: Floats = self.own.sum(axis=1) - (self.root**2).sum(axis=1)
        return left_open

    @property
    def along(self) -> Floats:
        """That variance in the direction in which the group differs."""
        products: Floats = (self.own * self.away**2).sum(axis=1) - (self.root * self.away).sum(axis=1) ** 2
        return products

    def take(self, groups: Integers) -> Side:
        """Return these groups alone."""
        return Side(self.share, self.away[groups], self.own[groups], self.root[groups])

    def products(self) -> tuple[Floats, Floats, Floats]:
        """Return for pairs of groups: tr(αα'ᵀ)², αᵀ_h C_g α_h as [g, h], and tr(C_g C_h)."""
        square = self.root**2
        mixed = self.own @ square.T
        inside = self.own @ self.own.T - mixed - mixed.T + (self.root @ self.root.T) ** 2
        return (self.away @ self.away.T) ** 2, self.own @ (self.away**2).T - (self.root @ self.away.T) ** 2, inside


def _square(side: Side, other: Side, weight: Floats) -> float:
    """Return tr Ω², from all pairs of groups or, where they are many, from those of an even sample of them."""
    groups = len(weight)
    chosen = _even(groups)
    (alpha, open_a, inside_a), (beta, open_b, inside_b) = side.take(chosen).products(), other.take(chosen).products()
    pairs = beta * inside_a + inside_b * alpha + beta * alpha + 2 * (open_b.T * open_a + beta * open_a + open_b * alpha)
    pairs *= np.outer(weight[chosen], weight[chosen])
    if len(chosen) == groups:
        return float(pairs.sum())
    itself = float(np.diag(pairs).sum())
    times = groups / len(chosen)
    return times * itself + times * (groups - 1) / (len(chosen) - 1) * (float(pairs.sum()) - itself)


def _fourth(side: Side, other: Side, weight: Floats) -> float:
    """Return E|ψ|⁴, the fourth moment of what one person adds."""
    u2, u4 = _moments(side)
    v2, v4 = _moments(other)
    a, b = side.far, other.far
    moments = b**2 * u4 + a**2 * v4 + (a * b) ** 2 + 2 * a * b * (u2 * v2 + b * u2 + a * v2) + 4 * side.along * other.along
    return float(weight @ moments)


def _moments(side: Side) -> tuple[Floats, Floats]:
    """Return the second and fourth moment of how far a person lies from the mean of her group."""
    held, square = side.root * np.sqrt(side.share), (side.root**2).sum(axis=1)
    away = (1 - 2 * held) / side.share + square[:, None]
    return side.open, (held * away**2).sum(axis=1)
