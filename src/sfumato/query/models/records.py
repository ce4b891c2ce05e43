"""One likelihood of all columns for randomized releases: each person's chances of the sensitive values, seen through the coins.

**The model.** Person i has value v with chance π_iv = softmax_v(Σ_k φ_ik·w_kv), as in boxes (`sfumato.query.models.softmax`):
levels of single columns multiply the odds of a value, and a prior with heavy tails lets a few links be strong. What is seen of
the person is a slot, the pair of a part and a published value y, and its chance is Σ_v π_iv·P(part | v)·P[v→y]. Which of the
people of a value came into which part was drawn at random, so P(part | v) is a share of people, or declared. How many people
have each value is not learned here: the chances add up to the reconstructed counts (`sfumato.query.models.rates`), so that with
nothing else known the answer is that of independence.

**The search** is a quasi-Newton one (L-BFGS) from the information of every value by itself. Values of one part go up and down
together, since the part of a person is seen: a step for each value alone would go far too far. Prior and information are
renewed a few times.

**The estimate.** A person who shows what she shows has a wanted value with chance r; the count is Σ r over those asked about.
They may differ from what single columns say of them by some log-odds δ, which is seen too: the score is Σ (r − p), p being the
chance before anything is shown, and its information I = Σ (r − p)². The prior of δ is a mixture of normal ones, mostly narrow
(`_BEYOND`): where what is shown speaks clearly against the model, and only there, the answer follows it. **Its variance** has

- Σ r(1 − r), for who has the value;
- Dᵀ S D, for the weights: D = Σ r(1 − r)φ, S the inverse of what slots tell about the weights of the set asked for *while those
  of other values are unknown*, with a prior four times as wide;
- that of δ, times (Σ r(1 − r))²;
- what is unknown of the number of people who have the values at all, times the squared share of them who are asked about.

Figures of real tables are in docs/answers.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query.model_cache import fitting
from sfumato.query.models import _record_kernels as kernels
from sfumato.query.models.cells import Directions, distinct_rows, number_levels
from sfumato.query.models.placing import normals
from sfumato.query.models.protocol import Moments
from sfumato.query.models.rates import AskedRecords, RandomizedRecords, Rates
from sfumato.query.models.softmax import FREE, START, Curvature, heavy_tails, matrices_of, rarer, tables_of
from sfumato.query.rows import RowIndex
from sfumato.randomness import Randomness
from sfumato.table.column import Column

MOST_CHANCES = 250_000_000
"""People × values up to which everybody's chances are held: 1 GB, 4 bytes each."""

MOST_CURVATURE = 150_000_000
"""Values × directions² up to which weights are learned."""

_ROUNDS = (4, 4, 4, 4, 4)  # steps of the search, between which information and prior are renewed
_GAIN = 0.5  # of log-likelihood: a step that gains less is the last
_FIRST = 0.1  # of a step for each value alone, before anything is known of how values go together
_MEMORY = 8  # steps that the search remembers
_LEAP = 1.0  # most that a weight moves in a step
_TRIES = 6  # times that a step which loses likelihood is made smaller
_LOOKED = 30_000  # cells that information is taken from
_WIDER = 4.0  # the prior of what is unknown, in units of the one that was learned: shrunken weights are off by more
_FEW_VALUES = 3  # sets of more values share one decomposition
_BEYOND: Floats = np.array([[0.05, 0.8], [0.2, 0.15], [0.8, 0.05]])  # standard deviations of δ, and how usual they are
_MISSED = 0.1  # by how much of log-odds single columns are taken to be off, in completed tables: as in boxes
_LIFTED = 25  # rounds in which chances are brought to the drawn numbers of people
_WEIGHTS, _TOTALS, _PEOPLE = range(3)  # streams of coins
_FEW = 1e-9


class Everybody(NamedTuple):
    """People by their cell and slot, slots by part and value, and the rest as in `RecordModel`."""

    cell: Small
    slot: Small
    part: Integers
    value: Integers
    spread: Floats
    kept: Floats
    chances: Array
    levels: Small
    seen: Array


@dataclass(frozen=True, eq=False)
class RecordModel:
    """What is fitted once per release."""

    rates: Rates
    slot: Small  # of each person
    cell: Small  # of each person: people with the same levels
    levels: Small  # [cells × columns], numbered column by column
    matrix: Floats  # [levels × directions], the first direction being the same for everybody
    chances: Array  # [cells × values], float32: by quasi values alone
    seen: Array  # of each person, float32: the chance of her slot
    spread: Floats  # [parts × values]: the chance to be seen in a slot of the part by replacement
    kept: Floats  # of each slot: by being kept there
    tau2: Floats  # [directions × values]: prior variances
    precision: Array  # [matrices × directions × directions], float32: what slots tell of the weights
    centre: Array  # [matrices × directions], float32: where the people of a value lie on average along each direction
    which: Integers  # per value, its matrix
    scale: Floats  # per value, its part of that matrix

    version: ClassVar[int] = 1

    @cached_property
    def everybody(self) -> Everybody:
        """What kernels take."""
        seen = self.cell, self.slot, self.rates.slots.part, self.rates.slots.value
        return Everybody(*seen, self.spread, self.kept, self.chances, self.levels, self.seen)

    @classmethod
    def fit(cls, groups: RandomizedRecords) -> RecordModel:
        """Return each person's chances, by one likelihood of all columns."""
        return _learn(groups.table, groups.columns, groups.slot, groups.rates, groups.drawn)

    def estimate(self, question: AskedRecords) -> Moments:
        """Return the number of people in a piece of a question."""
        value, variance, loose = self.count(question.values, question.rows, question.people)
        return Moments(value, variance, self.rates.note, loose)

    def count(self, wanted: Flags, rows: Small, people: int) -> tuple[float, float, float]:
        """Return mean and variance of the number of people with a wanted value among the first `people` of `rows`.

        The third figure is the part of the variance that is of log-odds: that of weights and of δ.
        """
        rates = self.rates
        if people == 0 or not wanted.any():
            return 0.0, 0.0, 0.0
        if wanted.all():
            return float(people), 0.0, 0.0
        mine = wanted[rates.slots.value]
        known, unsure = float(rates.counts.mean @ mine), rates.counts.sum_variance(rates.slots, mine)
        if people == len(self.cell):
            return known, unsure, 0.0
        asked = kernels.ask(rows, people, self.everybody, wanted, len(self.matrix))
        beyond, open_ = _beyond(asked.score, asked.informed)
        value = max(asked.found + beyond * asked.placement, 0.0)
        loose = self._unknown(wanted, self.matrix.T @ asked.differ) + open_ * asked.placement**2
        return value, asked.placement + loose + (value / max(known, _FEW)) ** 2 * unsure, loose

    def _unknown(self, wanted: Flags, along: Floats) -> float:
        """Return the variance of the weights of a set of values along a direction."""
        values, own, p = rarer(wanted, self.share)
        if not 0 < p < 1:
            return 0.0
        if len(values) > _FEW_VALUES:
            turn, strength, centre = self.typical
            turned = turn.T @ (along - along[0] * centre)[1:]
            return float((turned**2 / (p * (1 - p) * strength + 1.0 / float(((own / p) ** 2).sum()))).sum())
        precision, centre = self._information(values)
        precision *= p * (1 - p) / float((own * (1 - own)).sum())
        tau2 = _WIDER * ((own / p) ** 2 * self.tau2[1:, values]).sum(axis=1)
        precision[np.diag_indices_from(precision)] += 1.0 / tau2
        along = (along - along[0] * centre)[1:]
        return float(along @ np.linalg.solve(precision, along))

    def _information(self, values: Integers) -> tuple[Floats, Floats]:
        """Return what slots tell about the weights of some values, added up, and where their people lie on average."""
        parts = np.bincount(self.which[values], weights=self.scale[values], minlength=len(self.precision))
        used = np.flatnonzero(parts)
        total: Floats = np.tensordot(parts[used], self.precision[used, 1:, 1:].astype(np.float64), axes=1).astype(np.float64)
        centre: Floats = (parts[used] @ self.centre[used]) / parts.sum()
        return total, centre

    @cached_property
    def share(self) -> Floats:
        """The share of each value."""
        share: Floats = self.rates.totals / self.rates.totals.sum()
        return share

    @cached_property
    def typical(self) -> tuple[Floats, Floats, Floats]:
        """What is known of the weights of a set of average values: directions in which data and prior speak of each one alone."""
        share = self.share
        total, centre = self._information(np.flatnonzero(share > 0))
        root = np.sqrt(_WIDER * (self.tau2[1:] @ share))
        strength, turn = np.linalg.eigh(total / float((share * (1 - share)).sum()) * np.outer(root, root))
        return root[:, None] * turn, np.maximum(strength, 0.0), centre

    def person_chances(self) -> Array:
        """Return [people × values], float32: each person's chances, given what is shown of her."""
        slots, person = self.rates.slots, np.arange(len(self.cell))
        chances: Array = self.chances[self.cell] * self.spread.astype(np.float32)[slots.part[self.slot]]
        shown = slots.value[self.slot]
        chances[person, shown] += (self.kept[self.slot] * self.chances[self.cell, shown]).astype(np.float32)
        return chances

    def draw_values(self, random: Randomness) -> Small:
        """Return one value for each person: a proper draw.

        Drawn are the weights, what single columns miss (`_MISSED`, in log-odds), how many people have each value, and then
        everybody's value from her chances given what is shown of her.
        """
        from scipy.linalg import cholesky, solve_triangular

        slots, (lines, wide), values = self.rates.slots, self.matrix.shape, len(self.share)
        coins = random.spawn(_WEIGHTS)
        deviates, away = normals(coins, wide * values).reshape(values, wide), np.zeros((wide, values))
        for v in range(values):
            precision, _ = self._information(np.array([v]))
            precision[np.diag_indices_from(precision)] += 1.0 / (_WIDER * self.tau2[1:, v])
            root = cholesky(precision, lower=True, check_finite=False)
            away[1:, v] = solve_triangular(root, deviates[v, 1:], lower=True, trans="T", check_finite=False)
        away *= np.sqrt(1.0 - self.share)
        missed = _MISSED * normals(coins, lines * values).reshape(lines, values)
        chances = np.empty_like(self.chances)
        kernels.shift_chances(self.levels, self.chances, np.exp(self.matrix @ away + missed), chances)
        counts = self.rates.counts
        drawn = np.maximum(counts.mean + np.sqrt(counts.variance) * normals(random.spawn(_TOTALS), len(counts.mean)), _FEW)
        drawn *= (slots.by_part(counts.mean) / slots.by_part(drawn))[slots.part]
        lift, out = np.ones(values), np.empty(len(self.cell), np.int32)
        everybody = self.everybody._replace(chances=chances)
        kernels.lift_values(everybody, slots.by_value(drawn), _LIFTED, lift)
        words = random.spawn(_PEOPLE).words(len(self.cell))
        kernels.draw(everybody, lift, ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53, out)
        return out

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        return {name: array for name, array in vars(self).items() if name in _KEPT}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: RandomizedRecords) -> RecordModel:
        """Return the model that has these arrays; `ValueError` if they are not of these records."""
        slots, rows, columns = groups.slots, groups.table.rows, len(groups.columns)
        matrix = fitting(arrays, "matrix", (None, None))
        (lines, wide), values = matrix.shape, slots.values
        levels = fitting(arrays, "levels", (None, columns), "<i4", below=lines)
        precision = fitting(arrays, "precision", (None, wide, wide), "<f4")
        return cls(
            groups.rates,
            groups.slot,
            fitting(arrays, "cell", (rows,), "<i4", below=len(levels)),
            levels,
            matrix,
            fitting(arrays, "chances", (len(levels), values), "<f4"),
            fitting(arrays, "seen", (rows,), "<f4"),
            fitting(arrays, "spread", (slots.parts, values)),
            fitting(arrays, "kept", (len(slots.value),)),
            fitting(arrays, "tau2", (wide, values)),
            precision,
            fitting(arrays, "centre", (len(precision), wide), "<f4"),
            fitting(arrays, "which", (values,), "<i8", below=len(precision)),
            fitting(arrays, "scale", (values,)),
        )


_KEPT = frozenset(RecordModel.__dataclass_fields__) - {"rates", "slot"}


def _beyond(score: float, informed: float) -> tuple[float, float]:
    """Return mean and variance of δ, by which those asked about differ from what the model says of them."""
    width, usual = _BEYOND.T
    informed = max(informed, 1e-12)
    log = np.log(usual) - 0.5 * np.log1p(informed * width**2) + 0.5 * score**2 * width**2 / (1.0 + informed * width**2)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    spread = width**2 / (1.0 + informed * width**2)
    mean = float(weight @ spread) * score
    return mean, float(weight @ (spread + (score * spread - mean) ** 2))


def learnable(groups: RandomizedRecords) -> bool:
    """Return whether a release is small enough for this model, and has quasi columns at all."""
    # A column has at most 32 levels of its own, and a number 8 smooth functions.
    wide, values = sum(min(column.size, 32) + 8 for column in groups.columns), groups.slots.values
    return bool(groups.columns) and groups.table.rows * values <= MOST_CHANCES and values * wide**2 <= MOST_CURVATURE


def _learn(table: RowIndex, columns: Sequence[Column], slot: Small, rates: Rates, drawn: Floats | None) -> RecordModel:
    """Return what a randomized release teaches; `drawn` is the chance of each slot's value to be in its part, if declared."""
    slots = rates.slots
    numbered, directions = number_levels(table, columns)
    # Columns of few levels first: the order that products and sums are shared in.
    numbered = numbered[:, np.argsort([column.size for column in columns], kind="stable")]
    order = np.lexsort(numbered.T[::-1])
    first, cell = distinct_rows(order, numbered)
    levels = np.ascontiguousarray(numbered[first])
    place = rates.counts.mean / np.maximum(rates.totals, _FEW)[slots.value] if drawn is None else drawn
    spread = np.zeros((slots.parts, slots.values))
    spread[slots.part, slots.value] = place * (1 - slots.kept) / slots.size[slots.part]
    seen = _Seen(
        levels,
        np.searchsorted(cell[order], np.arange(len(levels) + 1)),
        slot[order],
        slots.part,
        slots.value,
        slots.start,
        spread,
        place * slots.kept,
        directions.matrix,
    )
    which, scale = matrices_of(rates.totals)
    weights, tau2 = _learn_weights(seen, directions, rates.totals, which, scale)
    precision, centre = seen.information(weights, which, alone=True)
    tables = tables_of(directions.matrix, weights)
    chances = np.empty((len(levels), slots.values), np.float32)
    shown = np.empty(len(order), np.float32)
    kernels.chances(Everybody(cell, slot, slots.part, slots.value, spread, seen.kept, chances, levels, shown), tables)
    return RecordModel(
        rates, slot, cell, levels, directions.matrix, chances, shown, spread, seen.kept, tau2, precision, centre, which, scale
    )


class _Seen(NamedTuple):
    """Everybody's slot, in order of the cells."""

    levels: Small
    start: Integers
    slot: Small
    part: Integers
    value: Integers
    begin: Integers
    spread: Floats
    kept: Floats
    matrix: Floats

    def score(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, the people of each value that are expected, and the gradient by direction and value."""
        gradient = np.empty((len(self.matrix), self.spread.shape[1]))
        likely, totals = kernels.score(self, tables_of(self.matrix, weights), gradient)
        return likely, totals, self.matrix.T @ gradient

    def information(self, weights: Floats, which: Integers, *, alone: bool) -> tuple[Array, Array]:
        """Return the information of each matrix of values, the totals being known, and the mean direction of its people.

        What is known of a value while the others stand still, or `alone`, while nothing is known of them.
        """
        lines, step = len(self.matrix), max(1, len(self.levels) // _LOOKED)
        pairs = np.zeros((lines, lines, int(which.max()) + 1), np.float32)
        kernels.information(self, tables_of(self.matrix, weights), which, step, alone, pairs)
        both = np.ascontiguousarray(pairs.transpose(2, 0, 1))
        at = np.arange(lines)
        both[:, at, at] *= 0.5
        both = both + both.transpose(0, 2, 1)
        matrix = self.matrix.astype(np.float32)
        precision = matrix.T @ both @ matrix
        own = precision[:, 0, 0].copy()
        centre = precision[:, 0] / np.maximum(own, 1e-30)[:, None]
        precision -= own[:, None, None] * centre[:, :, None] * centre[:, None, :]
        precision[:, 0, 0] = own
        return precision, centre


def _learn_weights(seen: _Seen, directions: Directions, totals: Floats, which: Integers, scale: Floats) -> tuple[Floats, Floats]:
    """Return the most likely weights among those whose chances add up to the totals, and their prior variances."""
    goal = np.maximum(totals, _FEW)
    weights = np.zeros((seen.matrix.shape[1], len(totals)))
    weights[0] = np.log(goal / goal.sum())
    tau2 = np.full_like(weights, START)
    tau2[0] = FREE
    likely, expected, gradient = seen.score(weights)
    for again, steps in enumerate(_ROUNDS):
        precision, centres = seen.information(weights, which, alone=False)
        centre = centres[which].T.astype(np.float64)
        centre[0] = 0.0
        curvature = Curvature.of(precision, which, scale, tau2)
        if again:
            tau2 = heavy_tails(weights, curvature.unknown, tau2, directions)
            curvature = Curvature.of(precision, which, scale, tau2)
        search = _QuasiNewton(curvature, tau2)
        # What moves a total moves the weight that everybody shares, and nothing else.
        pull = gradient - centre * gradient[0]
        aim = likely - _penalty(weights, tau2)
        for _ in range(steps):
            step = search.step(pull - weights / tau2)
            before = aim
            for part in 0.25 ** np.arange(_TRIES):
                move = part * step
                move[0] = np.clip(np.log(goal / np.maximum(expected, _FEW)), -_LEAP, _LEAP) - (centre * move).sum(axis=0)
                likely, fitted, gradient = seen.score(weights + move)
                aim = likely - _penalty(weights + move, tau2)
                if aim > before - 1e-6 * abs(before):
                    break
            changed = gradient - centre * gradient[0]
            search.learn(move, pull - changed)
            weights, expected, pull = weights + move, fitted, changed
            if abs(aim - before) < _GAIN:
                break
    return weights, tau2


def _penalty(weights: Floats, tau2: Floats) -> float:
    return 0.5 * float((weights[1:] ** 2 / tau2[1:]).sum())


class _QuasiNewton:
    """The steps of L-BFGS, from the curvature of every value by itself. The first direction is left where it is."""

    def __init__(self, curvature: Curvature, tau2: Floats) -> None:
        self.curvature, self.tau2 = curvature, tau2
        self.pairs: list[tuple[Floats, Floats, float]] = []  # steps, how the gradient fell along them, 1 / their product

    def learn(self, move: Floats, fell: Floats) -> None:
        """Remember how much the gradient of the likelihood fell along a move."""
        step = move.copy()
        step[0] = 0.0
        slope = fell + step / self.tau2
        slope[0] = 0.0
        along = float((step * slope).sum())
        if along > 0.0:
            self.pairs = [*self.pairs, (step, slope, 1.0 / along)][-_MEMORY:]

    def step(self, pull: Floats) -> Floats:
        """Return the step to where the gradient should be zero, no weight moving more than `_LEAP`."""
        direction = pull.copy()
        direction[0] = 0.0
        shares = []
        for step, slope, inverse in reversed(self.pairs):
            shares.append(inverse * float((step * direction).sum()))
            direction -= shares[-1] * slope
        direction = self.curvature.solve(direction) * self._scale()
        for (step, slope, inverse), share in zip(self.pairs, reversed(shares), strict=True):
            direction += step * (share - inverse * float((slope * direction).sum()))
        direction[0] = 0.0
        return direction * min(1.0, _LEAP / max(float(np.abs(direction).max()), _FEW))

    def _scale(self) -> float:
        if not self.pairs:
            return _FIRST
        _, slope, inverse = self.pairs[-1]
        return 1.0 / max(inverse * float((slope * self.curvature.solve(slope)).sum()), _FEW)
