"""The inside of boxes: each person's chances of the sensitive values, and what is known about the people asked about.

The multiplicative model (`sfumato.query.models.softmax`) is **raked**: in every box its chances are scaled until each value
has as many people as the box shows and each person's chances add up to one. What the model misses between boxes so stays
where it was seen.

**The estimate** of a count is the sum of the chances of those asked about. **Its variance** has five parts, with p a
person's chance of a wanted value, A and Q the sums of p(1 − p) over the asked people of a box and over all of it, and U =
A·(1 − A/Q), which is the variance of a random placement that keeps the box's count:

- ΣU, for the placement;
- Dᵀ S D, for the weights: D is how the directions of those asked differ from those of their boxes, S the inverse of what
  the boxes tell about the weights of a value in the set asked for, with a prior four times as wide, times how much worse
  than chance boxes fit;
- a²·ΣU² and b²·|D|², for what the model misses in every box anew, and in all of them alike: every weight is off by b. a and b
  are learned from the release: `learn_model_error`;
- Σ t·y² over codes of a column asked about that share a level with others (`sharing`): rare categories and neighbouring numbers
  have no weight of their own. t is what is unknown of such weights of the column before boxes speak, y what those asked who have
  the code add to ΣU, less the mean of its level.

**Of few people** an interval reaches up as far as boxes allow (`sfumato.query.models.reach`).

With noise in the counts, they are first moved to what they are expected to be given model and noise
(`sfumato.query.models.softmax`). What then stays unknown of a box is in the variance; and as far as a count follows the model,
D has how the whole box moves with the weights, even where all of it is asked about; and U is A·(1 − (1 − f)·A/Q) for what the
model misses, f being that part.

**What the model misses** is learned by merging near boxes in pairs and predicting the split: what the halves show is known.
By how much more than chance and weights explain it is off says a², from single pairs, and b², from many pairs at once, of which
always the half is asked about that has more of one direction. Both are as large as the pairs still allow, by one standard error,
so that few pairs excuse nothing. Boxes are split along columns that could be cut, where the model has learned from the very
differences that it is asked about: what all boxes miss alike does not show in splits. In most releases tried they gave b = 0,
with which intervals of ranges held .85 to 1.00. So b is at least `ALIKE`: see docs/answers.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query.model_cache import fitting
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions, Joint, number_levels
from sfumato.query.models.margins import MarginFit, ShownMargins, rake_tables, table_sums
from sfumato.query.models.margins import believed as believed_tables
from sfumato.query.models.pairs import box_means, excess_of, pair_boxes, signs_of
from sfumato.query.models.protocol import Moments
from sfumato.query.models.reach import FEW, AskedBoxes, reach
from sfumato.query.models.softmax import START, Fit, Goals, goals_of, known_totals, learn_weights, places, rake, rarer
from sfumato.query.rows import Asked, BucketIndex, Buckets
from sfumato.table.column import Column

WIDER = 4.0  # the prior of what is unknown, in units of the one that was learned: shrunken weights are off by more
FEW_VALUES = 3  # sets of more values share one decomposition
_ROOTS = 1 << 26  # bytes that are kept of such sets' own decompositions
UNTOLD, MOSTLY = 0.95, 0.5  # mostly prior: so much of what was unknown before still is, and that much of its error

PRIOR = "no interval: mostly prior, since hardly any box tells these people from others"


class Packed(NamedTuple):
    """Chances as whole numbers, box by box: where each box begins, what 1 of them is, and the sum of each cell's chances.

    That sum is one, but for what raking leaves.
    """

    place: Integers
    small: Array
    scale: Array
    whole: Array


class Sharing(NamedTuple):
    """The codes of a column in levels: the level of each, the codes of each level, and τ² of what is a code's own, by value.

    That is as unknown as the weights of the column's levels of one code are before boxes speak.
    """

    level: Integers
    many: Integers
    tau2: Floats


class Unknown(NamedTuple):
    """The variance that unknown weights give a number; that of what tells those asked from all people; and its prior one."""

    variance: float
    apart: float
    before: float

    def note(self, variance: float, part: float = MOSTLY) -> str:
        """Return why a number with so much variance in all has no interval, if so: more than this part of it is prior."""
        mostly = self.apart > part * variance and self.before > 0 and self.apart / self.before > UNTOLD
        return PRIOR if mostly else ""


@dataclass(frozen=True, eq=False)
class Inside:
    """What is fitted once per release."""

    index: BucketIndex
    cells: Cells
    directions: Directions
    softmax: Fit
    goals: Goals
    small: Array  # chances as whole numbers, box by box: see `kernels.rake` and `kernels.pack`
    scale: Array  # what 1 of them is, for every goal
    model_error: Floats  # a², b²
    noise_variance: Floats  # in a count of each box
    mostly: float = MOSTLY
    margins: MarginFit | None = None

    version: ClassVar[int] = 7

    @classmethod
    def fit(cls, groups: Buckets) -> Inside:
        """Return what the boxes of a release teach about the chances of each person."""
        return cls.of_cells(groups, *cells_of(groups.index, groups.columns, groups.margins))

    @classmethod
    def of_cells(cls, groups: Buckets, cells: Cells, directions: Directions, model_error: Floats | None = None) -> Inside:
        """Return the same where the cells of the boxes are known, and what the model misses if so."""
        index, noise = groups.index, groups.noise_variance
        shown = np.zeros((index.groups, index.values))
        shown[np.repeat(np.arange(index.groups), np.diff(index.st_start)), index.st_value] = index.st_count
        tables = None if groups.margins is None else groups.margins.of_cells(index, cells)
        weights = learn_weights(cells, directions, shown, noise, further=tables)
        goals = goals_of(cells, weights, shown, noise, tables)
        chances = rake(cells, directions, weights, goals)
        margins = None
        if groups.margins is not None and tables is not None:
            believed = believed_tables(tables, table_sums(cells, goals, tables, chances), known_totals(shown, noise, tables))
            goals = rake_tables(cells, goals, tables, believed[0], chances)
            margins = MarginFit(groups.margins.banded, tables, *believed)
        small, scale = np.empty(len(chances), np.uint16), np.empty(len(goals.value), np.float32)
        kernels.pack(cells.start, goals.entry, places(cells, goals), chances, small, scale)
        if model_error is None:
            model_error = learn_model_error(cells, directions, [shown], noise)
        return cls(index, cells, directions, weights, goals, small, scale, model_error, noise, margins=margins)

    @cached_property
    def place(self) -> Integers:
        """Where the chances of each box begin."""
        return places(self.cells, self.goals)

    @cached_property
    def chances(self) -> Array:
        """Everybody's chances, box by box."""
        cells = np.repeat(np.diff(self.cells.start), np.diff(self.goals.entry))
        chances: Array = self.small * np.repeat(self.scale, cells)
        return chances

    @cached_property
    def joint(self) -> Joint:
        """The levels of the cells, columns combined."""
        levels = self.cells.levels
        low = levels.min(axis=0)
        return Joint.of(levels - low, [(j, -1, 1, start) for j, start in enumerate(low.tolist())], len(self.directions.matrix))

    @cached_property
    def packed(self) -> Packed:
        """Everybody's chances as a question reads them."""
        total = np.zeros(len(self.cells.weight), np.float32)
        kernels.add_chances(self.cells.start, self.goals.entry, self.place, self.small, self.scale, total)
        return Packed(self.place, self.small, self.scale, total)

    def estimate(self, question: Asked) -> Moments:
        """Return how many of those asked about have a wanted value, as far as their chances tell."""
        wanted = question.piece.values
        asked = self._ask(wanted, question.rows, question.people, question.hits)
        along = self.directions.matrix.T @ asked.differ
        unknown = self._unknown(wanted, along)
        unseen = self._unseen(question, along, asked.each)
        loose = unknown.variance + unseen
        variance = asked.placement + loose + asked.noise + float(self.model_error[0]) * asked.squares
        note = unknown.note(variance, self.mostly)
        if self.margins is not None:
            # Values that share a level share its band: tables do not tell them apart.
            within = max(0.0, unseen - float(self.model_error[1] * (along[1:] @ along[1:])))
            narrow, left = self.margins.narrowed(question, self.index, variance - within)
            variance, loose = narrow + within, left * (loose - within) + within
            note = note if left == 1.0 else ""
            if left < 1.0:  # a table counts these people itself
                return Moments(asked.found, variance, note, loose)
        return Moments(asked.found, variance, note, loose, further=self._further(question, asked.found))

    def _further(self, question: Asked, found: float) -> float:
        """Return how many more than estimated there may be of few people, as far as boxes can tell; 0 for many."""
        wanted = question.piece.values
        own = self.share[wanted]
        p = float(own.sum())
        if not 0 < p < 1 or question.hits.sum() * p >= FEW:
            return 0.0
        shown, expected = self.index.wanted(wanted).astype(np.float64), self.softmax.expected[:, wanted].sum(axis=1)
        believed = self.goals.by_box(self.index.values)[:, wanted].sum(axis=1)
        noise = self.noise_variance * np.count_nonzero(wanted)
        boxes = AskedBoxes.of(question.hits, self.cells.sizes, shown, believed, expected, noise)
        return max(0.0, reach(found, boxes, self._excess(wanted, own, p)) - found)

    def _excess(self, values: Flags | Integers, own: Floats, p: float) -> float:
        """Return how much worse than chance boxes fit in the counts of some values, with their shares; at least 1."""
        return max(1.0, float((own * self.softmax.chi2[values]).sum() / p))

    def _unseen(self, question: Asked, along: Floats, each: Array) -> float:
        """Return the variance of what no weight says: what all boxes miss alike, and what tells values that share a level."""
        values, own, p = rarer(question.piece.values, self.share)
        if not 0 < p < 1:
            return 0.0
        part, unseen = (own / p) ** 2, float(self.model_error[1] * (along[1:] @ along[1:]))
        condition, rows = question.piece.rows, question.rows[: question.people]
        for column in self.sharing if condition.rest else condition.tables:
            if column in self.sharing:
                level, many, tau2 = self.sharing[column]
                people = each[self.cells.cell[rows]] * self.index.table.heads(rows)
                of_code = np.bincount(self.index.table.codes[column][rows], people, len(level)).astype(np.float64)
                of_code -= (np.bincount(level, of_code, len(many)) / many)[level]
                unseen += float(part @ tau2[values]) * float(of_code @ of_code)
        return unseen

    @cached_property
    def sharing(self) -> dict[int, Sharing]:
        """By column, which of its codes share a level with others: columns where every code has its own are left out."""
        shared, lines = {}, self.directions.matrix != 0
        for column, (codes, counts) in enumerate(zip(self.index.table.codes, self.index.table.counts, strict=True)):
            lowest, most = (int(end) for end in (self.cells.levels[:, column].min(), self.cells.levels[:, column].max()))
            level = np.full(len(counts), most - lowest + 1)  # what nobody has is of no level
            level[codes] = self.cells.levels[self.cells.cell, column] - lowest
            many = np.maximum(np.bincount(level[counts > 0], minlength=most - lowest + 2), 1)
            if many.max() > 1:
                alone = (lines.sum(axis=0) == 1) & lines[lowest : most + 1].any(axis=0)
                alone[0] = False
                tau2 = self.softmax.tau2[alone].mean(axis=0) if alone.any() else np.full(self.index.values, START)
                shared[column] = Sharing(level, many, tau2)
        return shared

    def _ask(self, wanted: Flags, rows: Small, people: int, hits: Integers | None = None) -> kernels.SoftmaxAnswer:
        hits = self.index.count(rows, people) if hits is None else hits
        asked_of = kernels.AskedPeople(rows, people, self.index.table.each, hits, self.sizes)
        return kernels.ask(asked_of, self.asked, self.joint, wanted, self.goals, self.packed)

    @cached_property
    def asked(self) -> Cells:
        """The cells as a question reads them, their people in numbers that become floats fast."""
        weight: Array = self.cells.weight
        return self.cells._replace(weight=weight.astype(np.int32) if weight.max(initial=0) < 2**31 else weight)

    @cached_property
    def sizes(self) -> Integers:
        """The people of each box."""
        return self.cells.sizes.astype(np.int64)

    def unknown(self, wanted: Flags, rows: Small, people: int) -> tuple[float, float]:
        """Return what is unknown of a count because the weights are: its variance now, and before the boxes spoke."""
        return self._unknown(wanted, self.directions.matrix.T @ self._ask(wanted, rows, people).differ)[1:]

    def _unknown(self, wanted: Flags, along: Floats) -> Unknown:
        """Return what is unknown of a set of values along a direction.

        How many of all people have a value no prior says: it is unknown as far as counts have noise.
        """
        values, own, p = rarer(wanted, self.share)
        if not 0 < p < 1:
            return Unknown(0.0, 0.0, 0.0)
        apart = self.apart(along)
        uneven = float(((own / p) ** 2).sum())
        excess = self._excess(values, own, p)
        if len(values) > FEW_VALUES:
            turn, strength, tau2 = self.typical
            turned = turn.T @ apart
            known, rest = (turned**2 / (p * (1 - p) * strength + 1.0 / uneven)[:, None]).sum(axis=0).tolist()
            return Unknown(excess * known, excess * rest, excess * uneven * float(apart[1:, 1] ** 2 @ tau2[1:]))
        root, tau2 = self._few(tuple(values.tolist()), own, p)
        known, rest = ((root @ apart) ** 2).sum(axis=0).tolist()
        return Unknown(excess * known, excess * rest, excess * float(apart[1:, 1] ** 2 @ tau2[1:]))

    def _few(self, values: tuple[int, ...], own: Floats, p: float) -> tuple[Floats, Floats]:
        """Return a root of what is unknown of the weights of a few values, and what was before: found once for each of them."""
        roots = self._roots.get(values)
        if roots is None:
            places = np.array(values)
            precision = self.softmax.information(places) * (p * (1 - p) / float((own * (1 - own)).sum()))
            tau2 = WIDER * (((own / p) ** 2) * self.softmax.tau2[:, places]).sum(axis=1)
            precision[np.diag_indices_from(precision)] += 1.0 / tau2
            roots = np.linalg.inv(np.linalg.cholesky(precision)), tau2
            while len(self._roots) * precision.nbytes >= _ROOTS:
                self._roots.pop(next(iter(self._roots)), None)
            self._roots[values] = roots
        return roots

    @cached_property
    def _roots(self) -> dict[tuple[int, ...], tuple[Floats, Floats]]:
        return {}

    def apart(self, along: Floats) -> Floats:
        """Return directions [directions × …], and what is left of them beside the mean one of all people [… × 2]."""
        return np.stack([along, along - np.multiply.outer(self.middle, along[0])], axis=-1)

    @cached_property
    def middle(self) -> Floats:
        """The mean direction of all people."""
        people = np.repeat(self.cells.weight, self.cells.levels.shape[1])
        counts = np.bincount(self.cells.levels.ravel(), people, len(self.directions.matrix))
        return (counts @ self.directions.matrix) / max(float(self.cells.weight.sum()), 1.0)

    @cached_property
    def share(self) -> Floats:
        """The share of each value, as the goals have it: what noise makes of a sum may be 0 or less."""
        totals = np.bincount(self.goals.value, self.goals.people, self.index.values).astype(np.float64)
        return totals / max(float(totals.sum()), 1.0)

    @cached_property
    def typical(self) -> tuple[Floats, Floats, Floats]:
        """What is known of the weights of a set of average values: directions in which data and prior speak of each one alone."""
        share = self.share
        tau2 = WIDER * (self.softmax.tau2 @ share)
        precision = self.softmax.information(np.flatnonzero(share > 0)) / float((share * (1 - share)).sum())
        root = np.sqrt(tau2)
        strength, turn = np.linalg.eigh(precision * np.outer(root, root))
        return root[:, None] * turn, np.maximum(strength, 0.0), tau2

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        named = {**self.cells._asdict(), **vars(self.directions), **vars(self.softmax)}
        named |= {} if self.margins is None else self.margins.to_arrays()
        return {**named, "small": self.small, "unit": self.scale, "model_error": self.model_error, **self.goals._asdict()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: Buckets) -> Inside:
        """Return the model that has these arrays; `ValueError` if they are not of these groups."""
        index, columns = groups.index, len(groups.columns)
        matrix = fitting(arrays, "matrix", (None, None))
        (lines, wide), values, boxes = matrix.shape, index.values, index.groups
        levels = fitting(arrays, "levels", (None, columns), "<i4", below=lines)
        cells = Cells(
            levels,
            fitting(arrays, "weight", (len(levels),), "<i8"),
            fitting(arrays, "start", (boxes + 1,), "<i8"),
            fitting(arrays, "varies", (boxes, columns), "|b1"),
            fitting(arrays, "cell", (index.rows,), "<i4", below=len(levels)),
        )
        precision = fitting(arrays, "precision", (None, wide, wide), "<f4")
        fit = Fit(
            fitting(arrays, "weights", (wide, values)),
            fitting(arrays, "tau2", (wide, values)),
            precision,
            fitting(arrays, "which", (values,), "<i8", below=len(precision)),
            fitting(arrays, "scale", (values,)),
            fitting(arrays, "chi2", (values,)),
            fitting(arrays, "expected", (boxes, values)),
        )
        value = fitting(arrays, "value", (None,), "<i4", below=values)
        entry = fitting(arrays, "entry", (boxes + 1,), "<i8")
        goals = Goals(entry, value, *(fitting(arrays, name, value.shape) for name in ("people", "noise_variance", "shrinkage")))
        for starts, end in ((cells.start, len(levels)), (goals.entry, len(value))):
            if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
                raise ValueError("boxes out of order")
        small = fitting(arrays, "small", (int(places(cells, goals)[-1]),), "<u2")
        unit = fitting(arrays, "unit", value.shape, "<f4")
        directions = Directions(matrix, fitting(arrays, "block", (wide,), "<i8"))
        shown = groups.margins
        margins = None if shown is None else MarginFit.from_arrays(arrays, shown, index, cells)
        error = fitting(arrays, "model_error", (2,))
        return cls(index, cells, directions, fit, goals, small, unit, error, groups.noise_variance, margins=margins)


def cells_of(index: BucketIndex, columns: Sequence[Column], margins: ShownMargins | None = None) -> tuple[Cells, Directions]:
    """Return the cells of the boxes and the directions in which they differ: quasi columns alone decide about both."""
    numbered, directions = number_levels(index.table, columns, None if margins is None else margins.bands)
    return Cells.of(index, numbered), directions


ALIKE = 0.1
"""The least b that is assumed."""

_FEWEST = 20  # boxes; of fewer nothing is learned
_UNLEARNED = 0.5  # a, then
_ROUNDS = 7  # of scoring
_VALUES = 8  # most frequent values that are judged


def learn_model_error(
    cells: Cells, directions: Directions, tables: Sequence[Floats], noise: Floats, least: float = ALIKE
) -> Floats:
    """Return a² and b² of a release, b being at `least` so much.

    Each table of what boxes show [boxes × values] has a model of its own, and all of them are judged together.
    """
    if not tables or len(tables[0]) < _FEWEST:
        return np.array([_UNLEARNED**2, least**2])
    means = box_means(cells, directions)
    whole, first = pair_boxes(means)
    halved = [_split(cells, directions, shown, noise, (whole, first)) for shown in tables]
    return _judge(halved, signs_of(means, whole, first, int(whole.max()) + 1), least)


def _split(
    cells: Cells, directions: Directions, shown: Floats, noise: Floats, paired: tuple[Integers, Flags]
) -> tuple[Splits, Fit]:
    """Return how far off the halves of merged boxes are that a model of the merged ones predicts, and that model."""
    whole, first = paired
    merged, order = cells.merged(whole)
    pairs = int(whole.max()) + 1
    both, halves = np.zeros((2, pairs, shown.shape[1]))
    noise_variance, own = np.zeros((2, pairs))
    np.add.at(both, whole, shown)
    np.add.at(halves, whole[first], shown[first])
    np.add.at(noise_variance, whole, noise)
    np.add.at(own, whole[first], noise[first])
    again = learn_weights(merged, directions, both, noise_variance, rounds=_ROUNDS)
    goals = goals_of(merged, again, both, noise_variance)
    chances = rake(merged, directions, again, goals)
    half = np.repeat(first, np.diff(cells.start))[order]
    judged = np.argsort(-both.sum(axis=0), kind="stable")[:_VALUES]
    box = np.repeat(np.arange(pairs), np.diff(goals.entry))
    chosen = np.isin(goals.value, judged)
    which = np.where(chosen, np.cumsum(chosen) - 1, -1)
    mean, spread = np.zeros(len(box)), np.zeros(len(box))
    differ = np.zeros((int(chosen.sum()), len(directions.matrix)))
    kernels.split(merged, half, goals, places(merged, goals), chances, which, kernels.Halves(mean, spread, differ))
    off = (halves[box, goals.value] - mean)[chosen]
    # What is shown of a half has its noise, and the pair's goal part of it, and part of what the model expected.
    share = (mean / np.maximum(goals.people, 1e-9))[chosen]
    taken, leant = share * (1.0 - goals.shrinkage[chosen]), share * goals.shrinkage[chosen]
    first_, all_ = own[box[chosen]], noise_variance[box[chosen]]
    unclear = (1.0 - taken) ** 2 * first_ + taken**2 * (all_ - first_) + leant**2 * goals.people[chosen]
    splits = Splits(
        off, spread[chosen], np.where(all_ > 0, unclear, 0.0), differ @ directions.matrix, box[chosen], goals.value[chosen]
    )
    return splits, again


class Splits(NamedTuple):
    """Predicted halves of merged boxes, one for each pair and value.

    By how much each is off, the variance of a random placement and of noise in that, how its people differ from those of the
    pair, and of which pair and value it is.
    """

    off: Floats
    spread: Floats
    noise: Floats
    differ: Floats
    box: Integers
    value: Small


def _judge(halved: Sequence[tuple[Splits, Fit]], signs: Floats, least: float) -> Floats:
    """Return a² and b² that explain errors of predicted halves, beside chance, noise and unknown weights."""
    single, many, pairs = [], [], 0
    for (off, spread, noise, differ, box, value), fit in halved:
        own = np.zeros(len(off))
        for v in np.unique(value):
            rows = value == v
            precision = fit.information(np.array([v]))
            precision[np.diag_indices_from(precision)] += 1.0 / (WIDER * fit.tau2[:, v])
            unknown = max(1.0, float(fit.chi2[v])) * np.linalg.inv(precision)
            own[rows] = ((differ[rows] @ unknown) * differ[rows]).sum(axis=1)
            turned = signs[box[rows]]
            along = turned.T @ differ[rows]
            chance = (spread[rows] + noise[rows]).sum() + ((along @ unknown) * along).sum(axis=1)
            square, common = (np.full_like(chance, one) for one in ((spread[rows] ** 2).sum(), spread[rows].sum() ** 2))
            many.append(np.stack([turned.T @ off[rows], chance, square, common]))
        known = spread > 0.5
        pairs = max(pairs, len(np.unique(box[known])))  # errors of one pair may go together
        single.append(np.stack([off, spread + noise + own, spread**2])[:, known])
    off, chance, square = np.concatenate(single, axis=1)
    a2 = excess_of(off, chance, square, pairs)
    total, chance, square, common = np.concatenate(many, axis=1)
    b2 = excess_of(total, chance + a2 * square, common, signs.shape[1])
    return np.array([a2, min(max(b2, least**2), max(a2, least**2))])
