"""The likelihood estimator for randomized releases: how often people of each value meet a condition, learned from all parts.

**The model.** A part's people of value x meet a quasi condition at a rate p̄ + d_x that is the same in every part, because which
of them came into which part was drawn at random. p̄, the rate of all people, is known exactly. What is published, o_iy people of
part i with value y, is compared with p̄ times the same count without the condition: the difference e has the mean
Σ_x n_ix·P_i[x→y]·d_x and the variance σ²·μ_iy, with σ² = p̄(1 − p̄) and μ_iy = Σ_x n_ix·P_i[x→y]. The d_x are independent with
variance κ·p̄²(1 − p̄)². What is usual for κ is chosen once per release by the evidence of all single quasi values, and taken four
times as large, because real rates have heavier tails than the normal law. A question's own κ is averaged over a grid around
that, by the likelihood of all that is published about its condition: where a column tells nothing of the values, the answer
stays near independence. The error is nearly that of a κ four times as large again.

**What was measured.** Error and coverage on real tables (ACS, 50,000 people, 99 occupations in 7 parts; Adult, 15 in one) are in
docs/answers.md. With one κ for all questions one-way cells of ACS erred by .31 where independence errs by .24.
`TOO_NOISY` was chosen on census tables, on which intervals cover too often rather than too rarely where answers are small.

**The estimate.** Given the rates, a person of part i who shows y has a value in S with the belief β_iy, so the count is
p̄·n_S + Σ β_iy·e_iy + Σ_x c_x·d_x, with c_x = n_x·[x ∈ S] − Σ β_iy·n_ix·P_i[x→y]. At κ = 0 this adds up the readers' beliefs:
quasi and sensitive values are unrelated for people who show the same. The larger κ, the nearer to the reconstruction.

**How it is solved.** Each part adds a diagonal and a matrix of rank two to the precision of d, so with t parts the system is a
diagonal and rank 2t (Woodbury): no matrix of values × values is ever made. The counts n_ix are not published: they are
reconstructed, and drawn toward equal shares as far as their spread is noise, in every part by itself. Where even so they are
known to no better than a fifth (`TOO_NOISY`), intervals covered 79–94 % when tried, and there are **none**.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query.language.compile import RowCondition
from sfumato.query.model_cache import fitting
from sfumato.query.models.protocol import Moments
from sfumato.query.rows import RowIndex
from sfumato.table.column import Column

MAX_VALUES = 600
"""Beyond so many values most are so rare that their noise, though drawn toward a centre, adds up to a bias."""

MAX_WORK = 200_000_000
"""Values × (2 · parts)² up to which a query is answered by this estimator."""

TOO_NOISY = 0.2
"""Relative error of the counts per value from which on intervals are not what they say."""

TAILS = 4.0
_USUAL = 0.4
_USUAL_SPREAD = 0.7
_STRENGTHS: Floats = np.logspace(-8, 1, 37)
_KAPPAS: Floats = np.logspace(-0.7, 1.5, 23)
_SPREADS: Floats = np.logspace(-1, 4, 21)
_GRID: Floats = np.logspace(-5, 2, 8, base=4)  # of κ, around the release's; the last is there to be four times the one before
_REACH = 1.5  # how far, in logarithms, the κ of a question may well be from the release's
_WIDER = 0.75  # of the way to that κ
_CENTRES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
_MIXING = 30
_EVEN_WEIGHT = 1.0
_EVIDENCE_CODES = 400
_EVIDENCE_WORK = 100_000_000


NO_INTERVAL = "no interval: the release tells too little of how many people have each value; estimator='paper' has one"


@dataclass(frozen=True, eq=False)
class PairIndex:
    """The pairs (part, value) that may be published: part by part, `start` says where each begins (one entry more than parts)."""

    start: Integers
    part: Integers
    value: Integers
    kept: Floats
    size: Floats
    values: int

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.start) - 1

    def by_part(self, numbers: Floats) -> Floats:
        """Return the sum over each part."""
        return np.add.reduceat(numbers, self.start[:-1])

    def by_value(self, numbers: Floats) -> Floats:
        """Return the sum over the parts for each value."""
        return np.bincount(self.value, weights=numbers, minlength=self.values).astype(np.float64)

    def replaced(self, numbers: Floats) -> Floats:
        """Return, per part, what replacing adds to each of its values when so many have each value before."""
        return self.by_part(numbers * (1 - self.kept)) / self.size

    def shown(self, numbers: Floats) -> Floats:
        """Return the expected published counts when so many have each value before."""
        return self.kept * numbers + self.replaced(numbers)[self.part]


class AskedRecords(NamedTuple):
    """A piece of a question to randomized records: who meets its condition, so many in every slot, for which values.

    They are the first `people` of `rows`.
    """

    values: Flags
    rows: Small
    people: int
    shown: Floats


class RandomizedRecords(Protocol):
    """Randomized records, as models are fitted to them."""

    @property
    def table(self) -> RowIndex:
        """Their quasi values."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The quasi columns."""

    @property
    def slots(self) -> PairIndex:
        """What may be published."""

    @property
    def slot(self) -> Small:
        """What is published of each person."""

    @property
    def drawn(self) -> Floats | None:
        """The chance of each slot's value to come into its part, where it was declared."""

    @property
    def published(self) -> Floats:
        """How many people there are in every slot."""

    @property
    def rates(self) -> Rates:
        """How many people have each value, and how often they meet a condition."""

    def reconstruct(self, shown: Floats) -> Floats:
        """Return the unbiased estimate of the people behind every slot."""

    def find(self, wanted: RowCondition) -> Floats:
        """Return how many people who meet the condition are in every slot."""


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many people have each value in each part, as reconstructed, and the variance of that."""

    mean: Floats
    variance: Floats

    def sum_variance(self, slots: PairIndex, wanted: Flags) -> float:
        """Return the variance of the number of people with a wanted value: in every part the total is known."""
        inside, whole = slots.by_part(self.variance * wanted), slots.by_part(self.variance)
        return float((inside - inside**2 / np.maximum(whole, 1e-300)).sum())


def reconstruct_counts(slots: PairIndex, raw: Floats, people: Floats) -> PairCounts:
    """Return the counts behind published ones: `raw`, the unbiased reconstruction, less its noise.

    The counts of a part are taken as a mixture of normal laws of many widths around one centre, whose weights are learned from
    the part itself (so a few values may be far more frequent than the rest), and the centre is the likeliest of `_CENTRES`. Their
    sum is known.
    """
    even = (people / slots.size)[slots.part]
    noise = np.maximum(slots.shown(even) / slots.kept**2 - even, 1e-9)
    fits, means, variances = zip(*(_shrink(slots, raw, noise, even, share * even) for share in _CENTRES), strict=True)
    best = np.argmax(fits, axis=0)[slots.part]
    place = np.arange(len(raw))
    mean, variance = np.stack(means)[best, place], np.stack(variances)[best, place]
    variance[(slots.size == 1)[slots.part]] = 0.0
    gap, whole = people - slots.by_part(mean), np.maximum(slots.by_part(variance), 1e-300)
    mean = np.maximum(mean + variance * (gap / whole)[slots.part], 0.02 * even)
    mean *= (people / np.maximum(slots.by_part(mean), 1e-300))[slots.part]
    return PairCounts(mean, variance)


def _shrink(slots: PairIndex, raw: Floats, noise: Floats, even: Floats, centre: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how likely each part is with this centre, and mean and variance of each count given what was reconstructed."""
    spread = (np.minimum(_SPREADS[:, None], slots.size[slots.part]) * even) ** 2  # no count exceeds the people of its part
    away = raw - centre
    log = -0.5 * (np.log(noise + spread) + away**2 / (noise + spread))
    top = log.max(0)
    likely = np.exp(log - top)
    start = slots.start[:-1]
    weight = np.full((len(_SPREADS), slots.parts), 1 / len(_SPREADS))
    for _ in range(_MIXING):
        each = likely * weight[:, slots.part]
        each /= each.sum(0)
        weight = np.add.reduceat(each, start, axis=1) + _EVEN_WEIGHT / len(_SPREADS)
        weight /= weight.sum(0)
    each = likely * weight[:, slots.part]
    fit = slots.by_part(np.log(each.sum(0)) + top)
    each /= each.sum(0)
    pull = spread / (noise + spread)
    mean = centre + (each * pull).sum(0) * away
    variance = (each * (pull * noise + (centre + pull * away - mean) ** 2)).sum(0)
    return fit, mean, variance


@dataclass(frozen=True, eq=False)
class Rates:
    """What the estimator needs of a release, made once: matrices of values × 2·parts at most."""

    slots: PairIndex
    published: Floats
    counts: PairCounts
    expected: Floats  # μ_iy
    totals: Floats  # n_x
    own: Floats  # Σ_i (n_ix·p_ix)²/μ_ix
    sides: Floats  # values × 2·parts
    core: Floats  # 2·parts × 2·parts
    kappa: float

    version: ClassVar[int] = 1

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        own = {name: np.asarray(getattr(self, name)) for name in ("expected", "totals", "own", "sides", "core", "kappa")}
        return {"mean": self.counts.mean, "variance": self.counts.variance, **own}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: RandomizedRecords) -> Rates:
        """Return the rates that have these arrays; `ValueError` if they are not of these records."""
        slots = groups.slots
        many, values, both = (len(slots.value),), slots.values, 2 * slots.parts
        return cls(
            slots,
            groups.published,
            PairCounts(fitting(arrays, "mean", many), fitting(arrays, "variance", many)),
            fitting(arrays, "expected", many),
            fitting(arrays, "totals", (values,)),
            fitting(arrays, "own", (values,)),
            fitting(arrays, "sides", (values, both)),
            fitting(arrays, "core", (both, both)),
            float(fitting(arrays, "kappa", ())),
        )

    @classmethod
    def fit(cls, groups: RandomizedRecords) -> Rates:
        """Return the rates of a release."""
        slots, published = groups.slots, groups.published
        counts = reconstruct_counts(slots, groups.reconstruct(published), slots.by_part(published))
        expected = np.maximum(slots.shown(counts.mean), 1e-9)
        kept = counts.mean * slots.kept
        sides = np.zeros((slots.values, 2 * slots.parts))
        np.add.at(sides, (slots.value, slots.part), kept / expected)
        replaced = counts.mean * (1 - slots.kept) / slots.size[slots.part]
        np.add.at(sides, (slots.value, slots.parts + slots.part), replaced)
        place = np.arange(slots.parts)
        core = np.zeros((2 * slots.parts, 2 * slots.parts))
        core[place, place] = -slots.by_part(1 / expected)
        core[place, place + slots.parts] = core[place + slots.parts, place] = 1.0
        own = slots.by_value(kept**2 / expected)
        rates = cls(slots, published, counts, expected, slots.by_value(counts.mean), own, sides, core, 0.0)
        return cls(**{**vars(rates), "kappa": TAILS * rates._likely_kappa(_sample(groups))})

    @property
    def too_noisy(self) -> bool:
        """Whether the release tells too little of how many people have each value for an interval."""
        return bool(self.counts.variance.sum() > TOO_NOISY**2 * (self.totals**2).sum())

    @property
    def note(self) -> str:
        """Why answers have no interval, if so."""
        return NO_INTERVAL if self.too_noisy else ""

    def estimate(self, question: AskedRecords) -> Moments:
        """Return the number of people in a piece of a question."""
        return Moments(*self.count(question.shown, question.values), self.note)

    def count(self, shown: Floats, wanted: Flags) -> tuple[float, float]:
        """Return mean and variance of the number of people with a wanted value among those whose published counts are `shown`."""
        people, everybody = float(shown.sum()), float(self.published.sum())
        if people == 0 or not wanted.any():
            return 0.0, 0.0
        if wanted.all():
            return people, 0.0
        slots, share = self.slots, people / everybody
        mine = wanted[slots.value]
        known = share * float((self.counts.mean * mine).sum())
        unsure = share**2 * self.counts.sum_variance(slots, mine)
        if people == everybody:
            return known, unsure
        belief = np.minimum(slots.shown(self.counts.mean * mine) / self.expected, 1.0)
        rest = shown - share * self.published
        lever = self.totals * wanted - self._back(belief)
        shift, spread = self._shift(share * (1 - share), self._back(rest / self.expected), lever)
        chance = (1 - share) * float(shown @ (belief * (1 - belief)))
        return known + float(belief @ rest) + shift, unsure + chance + spread

    def _shift(self, sigma2: float, score: Floats, lever: Floats) -> tuple[float, float]:
        """Return mean and variance of Σ_x c_x·d_x: over all κ, as likely as what is published makes them.

        The variance has three quarters of what the rates' own grows by with a κ four times as large, and how far that would
        move the mean.
        """
        right = np.stack([lever, score], axis=1)
        shifts, spreads, fits = np.empty((3, len(_GRID)))
        for k, step in enumerate(_GRID):
            strength = float(self.kappa * step * sigma2)
            solved = self._solve(strength, right)
            shifts[k], spreads[k] = score @ solved[:, 0], sigma2 * max(0.0, float(lever @ solved[:, 0]))
            fits[k] = 0.5 * (float(score @ solved[:, 1]) / sigma2 - self._log_size(strength) - (np.log(step) / _REACH) ** 2)
        weight = np.exp(fits[:-1] - fits[:-1].max())
        weight /= weight.sum()
        mean, wider = float(weight @ shifts[:-1]), float(weight @ shifts[1:])
        spread = (1 - _WIDER) * spreads[:-1] + _WIDER * spreads[1:]
        return mean, float(weight @ (spread + (shifts[:-1] - mean) ** 2)) + (wider - mean) ** 2

    def _back(self, numbers: Floats) -> Floats:
        """Return Σ_iy n_ix·P_i[x→y]·numbers_iy for every value x."""
        slots = self.slots
        each = slots.kept * numbers + ((1 - slots.kept) * (slots.by_part(numbers) / slots.size)[slots.part])
        return slots.by_value(self.counts.mean * each)

    def _solve(self, strength: float, right: Floats) -> Floats:
        """Return (I/strength + Aᵀμ⁻¹A)⁻¹·right; `right` may have several columns."""
        scale = 1 / (1 / strength + self.own)
        scaled = (right.T * scale).T
        inner = self.core + self.sides.T @ (self.sides * scale[:, None])
        correction = self.sides @ np.linalg.solve(inner, self.sides.T @ scaled)
        return scaled - (correction.T * scale).T

    def _log_size(self, strength: float) -> float:
        """Return the logarithm of the determinant of I + strength·Aᵀμ⁻¹A."""
        diagonal = 1 / strength + self.own
        inner = self.core + self.sides.T @ (self.sides / diagonal[:, None])
        return float(np.log(strength * diagonal).sum() + np.linalg.slogdet(inner)[1])

    def _likely_kappa(self, sample: Sequence[tuple[float, Floats]]) -> float:
        """Return the κ that makes what is published for single quasi values most likely; a usual one where that tells little."""
        total = -0.5 * (np.log(_KAPPAS / _USUAL) / _USUAL_SPREAD) ** 2
        if not sample:
            return _USUAL
        share = np.array([part for part, _ in sample])
        scores = np.stack([self._back((shown - part * self.published) / self.expected) for part, shown in sample], axis=1)
        fits = np.empty((len(_STRENGTHS), len(sample)))
        for k, strength in enumerate(_STRENGTHS):
            gain = (scores * self._solve(float(strength), scores)).sum(0)
            fits[k] = 0.5 * (gain / (share * (1 - share)) - self._log_size(float(strength)))
        for part, fit in zip(share, fits.T, strict=True):
            total += np.interp(np.log(_KAPPAS * part * (1 - part)), np.log(_STRENGTHS), fit)
        return float(_KAPPAS[int(total.argmax())])


def _sample(groups: RandomizedRecords) -> list[tuple[float, Floats]]:
    """Return share and published counts of the most frequent single quasi values."""
    table, slots = groups.table, groups.slots
    listed = [
        (min(int(people), table.rows - int(people)), column, code)
        for column, counts in enumerate(table.counts)
        for code, people in enumerate(counts)
        if 0 < people < table.rows
    ]
    most = max(20, min(_EVIDENCE_CODES, _EVIDENCE_WORK // (slots.values * slots.parts)))
    sample = []
    for _, column, code in sorted(listed, key=lambda listing: (-listing[0], *listing[1:]))[:most]:
        accepted = np.arange(len(table.counts[column])) == code
        shown = groups.find(RowCondition({column: accepted}))
        sample.append((float(shown.sum()) / table.rows, shown))
    return sample
