"""Do some coins lead soft cuts to these boxes, with these accounts? The tables show it: everything but coins follows from them.

A box on the way is a union of published ones, so its histogram is known, and its candidates follow from quasi values. A test
refuses with some chance whatever it sees; it can have been passed where both sides are unions of published boxes that have room.
So what a box told follows, but where two candidates part the same boxes; then every way is tried. With no tests at all the same
replays safe cuts. docs/guarantees.md has the procedure; nothing here is shared with what cuts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.auditor.banded import counted_and_bounded, strata_of
from sfumato.auditor.buckets import histograms_of
from sfumato.auditor.claims import AnyCounts, AuditedBounds, Case, program, set_totals, unseen, with_sets
from sfumato.auditor.containment import GroupedRows, OtherGroupsError
from sfumato.auditor.held import held_bounds
from sfumato.auditor.lines import Line, LineBlocks, lines_of
from sfumato.auditor.original import Batches
from sfumato.auditor.ranges import range_histograms
from sfumato.auditor.result import Audit
from sfumato.release.manifest import Manifest
from sfumato.release.programs import program_of
from sfumato.table.column import Column

OTHERWISE = "no coins lead the cuts that the manifest names to these boxes with these accounts"
SEEN = "the tables show that the cuts of the manifest can lead to these boxes and accounts, but not that its coins were fresh"
UNDECIDED = "accounts of boxes were not replayed to the end: columns part the same boxes in too many ways"

WHOLE, FINE = 1000, 1_000_000
"""Accounts are shown in thousandths, and kept a million times finer."""
LEAST = 7, 10
"""No coin refuses with a smaller chance."""
MOST_STEPS = 100_000
"""So many boxes with an account are looked at, beside ten for every published one."""


@dataclass(frozen=True)
class CutRule:
    """What the manifest says of cuts: κ (0: safe cuts), how small a side may be, and how much each column counts."""

    patience: int
    floor: int
    weights: tuple[float, ...]
    tests: int = 7
    """So many tests a box may make."""

    @classmethod
    def of(cls, manifest: Manifest, events: EventCounts) -> CutRule | None:
        """Return the rule that the manifest states; None where it cannot be the one that boxes were cut by."""
        method, names = manifest.method, [column["name"] for column in manifest.schema["quasi"]]
        weights, floor, patience = method.get("weights") or {}, method.get("floor"), method.get("patience")
        if not isinstance(floor, int) or not isinstance(weights, Mapping):
            return None
        if not manifest.rests_on.keeps_accounts:
            patience = 0
        elif patience is None:
            patience = events.patience
        return cls(patience, max(floor, 1), tuple(float(weights.get(name, 1.0)) for name in names))


@dataclass(frozen=True, eq=False)
class EventCounts:
    """How often each box shows each value and set with a bound below 1: entries of box b from start[b] on."""

    start: Integers
    event: Integers
    count: Integers
    limits: tuple[Fraction, ...]
    patience: int
    """κ by the rule of `patience = null`: ⌈30 / typical bound⌉, over values, or over sets where no value has a bound."""

    @classmethod
    def of(cls, shown: Sequence[AnyCounts], bounds: Sequence[AuditedBounds]) -> EventCounts | None:
        """Return the events of one sensitive attribute, or of several that are protected each by itself; None without bounds."""
        limits: list[Fraction] = []
        values: list[tuple[int, Fraction]] = []
        sets: list[tuple[int, Fraction]] = []
        entries: list[tuple[Integers, ...]] = []
        for counts, bound in zip(shown, bounds, strict=True):
            if bound.known is None:
                return None
            own = [bound.known[label] for label in counts.labels]
            members = [labels for labels, _ in bound.sets.values()]
            first = 0
            for some in counts.pieces():
                value, count, group = with_sets(some, members)
                entries.append((group + first, value + len(limits), count))
                first += len(some.sizes)
            values += [(counts.totals[label], limit) for label, limit in zip(counts.labels, own, strict=True)]
            own_sets = zip(set_totals(counts, bound), bound.sets.values(), strict=True)
            sets += [(total, limit) for total, (_, limit) in own_sets]
            limits += [*own, *(limit for _, limit in bound.sets.values())]
        group, event, count = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        kept = np.array([limit < 1 for limit in limits])
        inside = np.flatnonzero(kept[event])
        inside = inside[np.argsort(group[inside], kind="stable")]
        start = np.searchsorted(group[inside], np.arange(len(shown[0].sizes) + 1)).astype(np.int64)
        below = tuple(limit for limit in limits if limit < 1)
        return cls(start, (np.cumsum(kept) - 1)[event[inside]], count[inside], below, _usual_patience(values, sets))

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


def _usual_patience(values: list[tuple[int, Fraction]], sets: list[tuple[int, Fraction]]) -> int:
    bounded = [pair for pair in values if pair[1] < 1] or [pair for pair in sets if pair[1] < 1]
    if not bounded:
        return 1
    typical = sum((count * limit for count, limit in bounded), Fraction(0)) / sum(count for count, _ in bounded)
    return min(max(-(-30 // typical), 1), 1_000_000)


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

    def __init__(self, replay: Replay, boxes: Integers) -> None:
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


class Replay:
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
        self.lines, self.events, self.sizes, self.account, self.rule = lines, events, sizes, account, rule
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


def replay_buckets(
    audit: Audit, case: Case[Any], rows: LineBlocks | None = None, shown: Sequence[AnyCounts] | None = None
) -> Audit:
    """Return the audit of a release of buckets with what a replay of its cuts says.

    `rows` and what groups have `shown` of each sensitive attribute are given where they are not in memory.
    """
    if not _is_cut(case.manifest, audit):
        return audit
    parts = case.release.each
    shown = shown or [histograms_of(part) for part in parts]
    rows = rows or [[*(column.codes for column in parts[0].quasi), parts[0].group]]
    return _replayed(audit, case, parts, shown, parts[0].quasi, rows)


def replay_ranges(audit: Audit, case: Case[Any], people: Batches | None = None) -> Audit:
    """Return the same for ranges, with the table: without it nobody knows how many people have which of their values.

    `people` are those of the table where its rows are not in memory.
    """
    if case.table is None or case.manifest.bundled or not _is_cut(case.manifest, audit):
        return audit
    parts = case.release.each
    shown = [range_histograms(part) for part in parts]
    rows = GroupedRows(shown[0], parts[0].boxes, case.table.each()[0], people)
    try:
        return _replayed(audit, case, parts, shown, [case.table.column(box.name) for box in parts[0].boxes], rows)
    except OtherGroupsError:  # boxes that were cut have nobody in common
        return replace(audit, problems=(*audit.problems, OTHERWISE))


def _everywhere(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all answers are yes, None where some is not known and none is no."""
    found = set(answers)
    return False if False in found else None if None in found else True


def _is_cut(manifest: Manifest, audit: Audit) -> bool:
    """Return whether cuts that are known made the groups, and nothing else is wrong: other bounds would lead elsewhere."""
    program = program_of(manifest.method)
    known = program is not None and program.replayed and manifest.rests_on.replayed
    return known and audit.holds is not False


def _replayed(
    audit: Audit, case: Case[Any], parts: Sequence[Any], shown: Sequence[AnyCounts], quasi: Sequence[Column], rows: LineBlocks
) -> Audit:
    held = shown[0].held is not None
    each = zip(parts, shown, strict=True)
    known = [held_bounds(Case(part), one) if held else (AuditedBounds.of(Case(part), one), []) for part, one in each]  # type: ignore[arg-type]
    events = EventCounts.of(shown, [bounds for bounds, _ in known])
    if events is None:  # a requirement that this audit does not know: then no claim is judged either
        return audit
    bands = [band for _, own in known for band in own]
    if bands:
        events = replace(events, patience=_usual_patience(*counted_and_bounded(bands)))
    rule, sizes, account = CutRule.of(case.manifest, events), shown[0].sizes, parts[0].account
    accounts = np.full(len(sizes), WHOLE) if account is None else account
    strata = strata_of(parts[0]) if held else ()
    # Bands with bounds of their own are cut each under these, by one rule.
    alone = [EventCounts.of(shown, [band.bounds for band in own]) for own in zip(*(bands for _, bands in known), strict=True)]
    cut = [(events, strata)] if not alone else [(one or events, (groups,)) for one, groups in zip(alone, strata, strict=True)]
    lines = lines_of(quasi, rows, len(sizes))
    possible = rule is not None and _everywhere(Replay(lines, one, sizes, accounts, rule, some).possible() for one, some in cut)
    if possible is None:
        return replace(audit, warnings=(*audit.warnings, UNDECIDED))
    if not possible:
        return replace(audit, problems=(*audit.problems, OTHERWISE))
    word, seen = unseen(case.manifest), f"{SEEN}: that rests on {program(case.manifest)}"
    claims = tuple(replace(claim, note=claim.note.replace(word, seen)) for claim in audit.claims)
    return replace(audit, claims=claims, notice=seen)
