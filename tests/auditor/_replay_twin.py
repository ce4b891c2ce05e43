"""The replay of cuts once more, box by box in numpy and whole numbers of any length: what the compiled search has to answer."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.auditor.lines import Line
from sfumato.auditor.replay import CutRule, EventCounts

WHOLE, FINE = 1000, 1_000_000
LEAST = 7, 10
MOST_STEPS = 100_000


class EventSums:
    """How often unions of boxes show each event, and how often so many people may."""

    def __init__(self, events: EventCounts) -> None:
        self.start, self.event, self.count, self.limits = events.start, events.event, events.count, events.limits

    def counts(self, boxes: Integers) -> Integers:
        """Return how often these boxes together show each event."""
        entry = entries_of(self.start, boxes)
        sums = np.zeros(len(self.limits), np.int64)
        np.add.at(sums, self.event[entry], self.count[entry])
        return sums

    @cached_property
    def _ratios(self) -> tuple[Any, Any, bool]:
        over, under = (
            np.array([getattr(limit, part) for limit in self.limits], dtype=object) for part in ("numerator", "denominator")
        )
        small = all(limit.numerator < 1 << 20 and limit.denominator < 1 << 50 for limit in self.limits)
        return (over.astype(np.int64), under.astype(np.int64) * WHOLE, True) if small else (over, under * WHOLE, False)

    def caps(self, size: int, account: int) -> Any:
        """Return ⌊bound·(1 + (size − 1)·account)⌋ for every event, `account` in billionths, of which thousandths count."""
        over, under, small = self._ratios
        room = WHOLE + (size - 1) * (account // FINE)
        return over * room // under if small and room < 1 << 42 else over.astype(object) * room // under.astype(object)


def entries_of(start: Integers, boxes: Integers) -> Integers:
    """Return which entries are of these boxes, start[b] … start[b + 1] − 1 being those of box b."""
    length = start[boxes + 1] - start[boxes]
    after = np.cumsum(length)
    entries: Integers = np.repeat(start[boxes] - after + length, length) + np.arange(int(after[-1]) if len(after) else 0)
    return entries


class CandidateCut(NamedTuple):
    """The cut of a column, with so many people on one side; both sides where no published box is divided."""

    people: int
    sides: tuple[Union, ...]


class Union:
    """A box on the way: some published boxes together."""

    def __init__(self, replay: SlowReplay, boxes: Integers) -> None:
        self.replay, self.boxes = replay, boxes
        self.size = int(replay.sizes[boxes].sum())
        self.most = int(replay.account[boxes].max())
        self.counts = replay.events.counts(boxes)
        self._known: list[CandidateCut] = []
        self._rest = self._tried() if self.size >= 2 * replay.rule.floor else iter(())

    def candidates(self) -> Iterator[CandidateCut]:
        """Yield the candidates in the order in which they are tried; found once."""
        place = 0
        while True:
            if place == len(self._known):
                cut = next(self._rest, None)
                if cut is None:
                    return
                self._known.append(cut)
            yield self._known[place]
            place += 1

    def _tried(self) -> Iterator[CandidateCut]:
        lines, weights = self.replay.lines, self.replay.rule.weights
        score = [weight * self._spread(line) for line, weight in zip(lines, weights, strict=True)]
        for j in sorted(range(len(lines)), key=lambda j: -score[j]):  # equal ones in their own order
            if score[j] <= 0:
                return
            cut = self._candidate(lines[j])
            if cut is not None:
                yield cut

    def _spread(self, line: Line) -> float:
        """Return how far apart values lie; a little where only missing and present ones differ."""
        high = int(line.high[self.boxes].max())
        if high < 0:
            return 0.0
        wide = float(line.position[high] - line.position[int(line.low[self.boxes].min())])
        return 1e-9 if wide < 1e-9 and line.lost[self.boxes].any() else wide

    def _candidate(self, line: Line) -> CandidateCut | None:
        """Return the cut of a column: a level of a category from all others where that is even enough, else the boundary."""
        people, cut = self._boundary(line)
        few = min(people, self.size - people)
        if line.levels:
            level, mine = self._level(line)
            alone = min(mine, self.size - mine)
            if few <= 2 * alone and self._suffices(alone):
                return CandidateCut(mine, self._level_sides(line, level))
        return CandidateCut(people, self._sides(line, *cut)) if few >= self.replay.rule.floor else None

    def _suffices(self, people: int) -> bool:
        """Return whether so many people may be the smaller side of a level's cut: of safe cuts, whatever values they have."""
        replay = self.replay
        enough = bool(replay.rule.patience) or bool((self.counts <= replay.events.caps(people, WHOLE * FINE)).all())
        return people >= replay.rule.floor and enough

    def _level(self, line: Line) -> tuple[int, int]:
        """Return the first level that is nearest to half of the people, and how many have it."""
        entry = entries_of(line.start, self.boxes)
        place, which = np.unique(line.place[entry], return_inverse=True)
        mine = np.bincount(which, weights=line.people[entry]).astype(np.int64)
        best = int(np.minimum(mine, self.size - mine).argmax())
        return int(place[best]), int(mine[best])

    def _level_sides(self, line: Line, level: int) -> tuple[Union, ...]:
        """Return the boxes whose people all have a level, and those in which nobody has it."""
        length = line.start[self.boxes + 1] - line.start[self.boxes]
        found = np.repeat(np.arange(len(self.boxes)), length)[line.place[entries_of(line.start, self.boxes)] == level]
        some = np.zeros(len(self.boxes), bool)
        some[found] = True
        if (length[some] > 1).any():
            return ()
        return self.replay.union(self.boxes[some]), self.replay.union(self.boxes[~some])

    def _boundary(self, line: Line) -> tuple[int, tuple[int, bool]]:
        """Return the people left of the first most even boundary, and that; at each value missing ones go right, then left."""
        entry = entries_of(line.start, self.boxes)
        place, people = line.place[entry], line.people[entry]
        low, lost = int(place.min()), int(line.lost[self.boxes].sum())
        at, which = (None, place - low) if int(place.max()) - low <= 4 * len(place) else np.unique(place, return_inverse=True)
        left = np.cumsum(np.bincount(which, weights=people).astype(np.int64))
        if low > 0:  # a boundary below all of them has the missing ones on one side
            left = np.concatenate(([0], left))
        both = np.stack([left, left + lost], axis=1) if lost else left[:, None]
        best = int(np.minimum(both, self.size - both).ravel().argmax())
        step, joins = divmod(best, both.shape[1])
        step -= int(low > 0)
        boundary = low - 1 if step < 0 else low + step if at is None else int(at[step])
        return int(both.ravel()[best]), (boundary, bool(joins))

    def _sides(self, line: Line, boundary: int, joins: bool) -> tuple[Union, ...]:
        if len(self.boxes) == 1:
            return ()
        lost = line.lost[self.boxes] > 0
        left = (line.high[self.boxes] <= boundary) & (joins | ~lost)
        right = (line.low[self.boxes] > boundary) & ~(joins & lost)
        if not (left | right).all():
            return ()
        return self.replay.union(self.boxes[left]), self.replay.union(self.boxes[right])


Steps = Generator[tuple[Union, int], bool, bool]


class SlowReplay:
    """Published boxes with their accounts, and the search for a transcript that leads to them."""

    def __init__(
        self,
        lines: list[Line],
        events: EventCounts,
        sizes: Integers,
        account: Integers,
        rule: CutRule,
        strata: Sequence[Integers] = (),
    ) -> None:
        self.lines, self.sizes, self.account, self.rule = lines, sizes, account, rule
        self.events = EventSums(events)
        self.strata = strata or (np.arange(len(sizes)),)
        """The boxes that were cut from each whole: everybody, or the people of each band of numbers of rows."""
        self._unions: dict[bytes, Union] = {}
        self._answers: dict[tuple[int, int], bool] = {}

    def union(self, boxes: Integers) -> Union:
        """Return these boxes together, looked at once."""
        key = boxes.tobytes()
        if key not in self._unions:
            self._unions[key] = Union(self, boxes)
        return self._unions[key]

    def possible(self) -> bool | None:
        """Return whether some coins lead to these boxes with these accounts; None where there were too many ways to try."""
        steps = MOST_STEPS + 10 * len(self.sizes)
        for boxes in self.strata:
            answer, steps = self._from(boxes, steps)
            if not answer:
                return answer
        return True

    def _from(self, boxes: Integers, steps: int) -> tuple[bool | None, int]:
        """Return the same of one whole, and how many steps are left."""
        root = self.union(boxes), WHOLE * FINE
        stack: list[tuple[tuple[int, int], Steps]] = [((id(root[0]), root[1]), self._leads(*root))]
        answer: bool | None = None
        while stack:
            key, asking = stack[-1]
            try:
                union, account = asking.send(answer) if answer is not None else next(asking)
            except StopIteration as ended:
                answer = self._answers[key] = bool(ended.value)
                stack.pop()
                continue
            key = id(union), account
            answer = self._answers.get(key)
            if answer is None:
                steps -= 1
                if not steps:
                    return None, 0
                stack.append((key, self._leads(union, account)))
        return answer, steps

    def _leads(self, box: Union, account: int) -> Steps:
        """Return whether some coins lead from a box with this account, in billionths, to its published boxes with theirs.

        It asks for the same of other boxes by yielding them, and is sent the answer: cuts may be nested deeper than calls.
        """
        if box.most > account // FINE:
            return False
        tests, (over, under) = 0, self._refusing(box.size)
        for cut in box.candidates():
            if self._is_safe(box, cut, account):
                return (yield from _all(cut.sides, account))
            after = account * over // under
            if tests == self.rule.tests or not self.rule.patience or not self._is_testable(box, cut, account, after):
                continue
            tests += 1
            if self._has_room(cut, account) and (yield from _all(cut.sides, account)):
                return True
            account = after
        return len(box.boxes) == 1 and box.most == account // FINE

    def _refusing(self, size: int) -> tuple[int, int]:
        """Return the chance of a coin that refuses, 1 − κ/size but no less than the least, as a quotient."""
        over = size - self.rule.patience
        return LEAST if over * LEAST[1] < size * LEAST[0] else (over, size)

    def _is_safe(self, box: Union, cut: CandidateCut, account: int) -> bool:
        """Return whether either side could hold all that the box has of any event."""
        return bool((box.counts <= self.events.caps(min(cut.people, box.size - cut.people), account)).all())

    def _is_testable(self, box: Union, cut: CandidateCut, account: int, after: int) -> bool:
        """Return whether a refusal could be afforded, and some placement of the box's values passes."""
        if (box.counts > self.events.caps(box.size, after)).any():
            return False
        both = self.events.caps(cut.people, account) + self.events.caps(box.size - cut.people, account)
        return bool((box.counts <= both).all())

    def _has_room(self, cut: CandidateCut, account: int) -> bool:
        """Return whether both sides, as they are, keep their caps."""
        return all(bool((side.counts <= self.events.caps(side.size, account)).all()) for side in cut.sides)


def _all(sides: tuple[Union, ...], account: int) -> Steps:
    """Return whether both sides of a cut lead to their boxes; a cut that divides a box leads nowhere."""
    for side in sides:
        if not (yield side, account):
            return False
    return bool(sides)
