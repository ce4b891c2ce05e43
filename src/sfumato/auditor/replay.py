"""Do some coins lead soft cuts to these boxes, with these accounts? The tables show it: everything but coins follows from them.

A box on the way is a union of published ones, so its histogram is known, and its candidates follow from quasi values. A test
refuses with some chance whatever it sees; it can have been passed where both sides are unions of published boxes that have room.
So what a box told follows, but where two candidates part the same boxes; then every way is tried. With no tests at all the same
replays safe cuts. docs/guarantees.md has the procedure; nothing here is shared with what cuts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.auditor._replay_kernels import (
    NONE,
    NOT_YET,
    ROOM_WANTED,
    STEPS,
    WHOLE,
    ReplayedCuts,
    ReplaySearch,
    answer_questions,
    ask_of_whole,
)
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

OTHERWISE = "no coins can produce these boxes and accounts from the cuts that the manifest names"
SEEN = "the tables show that the cuts of the manifest can lead to these boxes and accounts, but not that its coins were fresh"
UNDECIDED = "accounts of boxes were not replayed to the end: columns part the same boxes in too many ways"

_LONG = 1 << 61
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


def _usual_patience(values: list[tuple[int, Fraction]], sets: list[tuple[int, Fraction]]) -> int:
    bounded = [pair for pair in values if pair[1] < 1] or [pair for pair in sets if pair[1] < 1]
    if not bounded:
        return 1
    typical = sum((count * limit for count, limit in bounded), Fraction(0)) / sum(count for count, _ in bounded)
    return min(max(-(-30 // typical), 1), 1_000_000)


def ratio(limit: Fraction, people: int) -> tuple[int, int]:
    """Return a quotient in short numbers that a thousandth of a bound can be replaced by: products with 1 … 1000 · people round
    down alike. Where its own are too long that is the largest with a denominator up to 1000 · people which is not above it.
    """
    most, share = WHOLE * people, limit / WHOLE
    if share.numerator * most < _LONG and share.denominator < _LONG:
        return share.numerator, share.denominator
    over, under = share.as_integer_ratio()
    (p, q), (lower, below) = (1, 0), (0, 1)
    while under:  # along the continued fraction: its last two quotients lie on either side
        whole, rest = divmod(over, under)
        if below + whole * q > most:
            break
        (p, q), (lower, below) = (lower + whole * p, below + whole * q), (p, q)
        over, under = under, rest
    near = [(p, q)] if not under else [(p, q), (lower + (most - below) // q * p, below + (most - below) // q * q)]
    return max((own for own in near if Fraction(*own) <= share), key=lambda own: Fraction(*own))


class Replay:
    """Published boxes with their accounts, and the search for a transcript that leads to them."""

    def __init__(
        self,
        lines: Sequence[Line],
        events: EventCounts,
        sizes: Integers,
        account: Integers,
        rule: CutRule,
        strata: Sequence[Integers] = (),
    ) -> None:
        self.strata = strata or (np.arange(len(sizes)),)
        """The boxes that were cut from each whole: everybody, or the people of each band of numbers of rows."""
        people = int(sizes.sum())
        ratios = np.array([ratio(limit, people) for limit in events.limits], dtype=np.int64).reshape(-1, 2)
        position, own, entries = _side_by_side(lines)
        self._case = ReplayedCuts(
            boxes=_columns(sizes, account, events.start[:-1], events.start[1:]),
            events=_columns(events.event, events.count),
            ratios=ratios,
            lines=own,
            entries=entries,
            position=position,
            weights=np.array(rule.weights, dtype=np.float64),
            levels=np.array([line.levels for line in lines]),
            patience=min(rule.patience, people),
            floor=min(rule.floor, people + 1),
            tests=rule.tests,
            tally=np.zeros(position.shape[1], np.int64),
            places=np.zeros(position.shape[1], np.int64),
            side=np.zeros(len(sizes), np.int64),
            held=np.zeros((2, len(ratios)), np.int64),
        )
        self._search = _search(len(sizes), len(lines))

    def possible(self) -> bool | None:
        """Return whether some coins lead to these boxes with these accounts; None where there were too many ways to try."""
        self._search.now[STEPS] = MOST_STEPS + 10 * len(self._case.boxes)
        for boxes in self.strata:
            while not ask_of_whole(self._case, self._search, boxes.astype(np.int64, copy=False)):
                self._search = _doubled(self._search)
            while (answer := answer_questions(self._case, self._search)) == ROOM_WANTED:
                self._search = _doubled(self._search)
            if answer != 1:
                return None if answer == NOT_YET else False
        return True


def _columns(*columns: Integers) -> Integers:
    return np.stack(columns, axis=-1).astype(np.int64, copy=False)


def _side_by_side(lines: Sequence[Line]) -> tuple[Floats, Integers, Integers]:
    """Return of all lines the positions, what they have of boxes, and the entries behind each other."""
    position = np.zeros((len(lines), max(len(line.position) for line in lines)))
    own, first = [], 0
    for row, line in zip(position, lines, strict=True):
        row[: len(line.position)] = line.position
        own.append(_columns(line.start[:-1] + first, line.start[1:] + first, line.lost, line.low, line.high))
        first += len(line.place)
    return position, np.stack(own), np.concatenate([_columns(line.place, line.people) for line in lines])


def _search(boxes: int, lines: int) -> ReplaySearch:
    """Return a search that has found nothing yet, with room for cuts into all boxes."""
    many = 4 * (boxes + lines)
    return ReplaySearch(
        unions=np.zeros((many, 5), np.int64),
        members=np.zeros(6 * many, np.int64),
        cuts=np.zeros((many, lines, 4), np.int64),
        answers=np.zeros((many, 4), np.int64),
        questions=np.zeros((64, 7), np.int64),
        heads=np.full((2, many), NONE),
        now=np.zeros(5, np.int64),
    )


def _doubled(search: ReplaySearch) -> ReplaySearch:
    """Return the search with twice as much room."""
    grown = ("unions", "members", "cuts", "answers", "questions")
    return search._replace(**{name: np.concatenate([known := getattr(search, name), np.zeros_like(known)]) for name in grown})


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
    different = set(answers)
    return False if False in different else None if None in different else True


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
    known = [held_bounds(Case(part), counts) if held else (AuditedBounds.of(Case(part), counts), []) for part, counts in each]  # type: ignore[arg-type]
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
    cut = [(events, strata)] if not alone else [(own or events, (groups,)) for own, groups in zip(alone, strata, strict=True)]
    lines = lines_of(quasi, rows, len(sizes))
    possible = rule is not None and _everywhere(Replay(lines, own, sizes, accounts, rule, some).possible() for own, some in cut)
    if possible is None:
        return replace(audit, warnings=(*audit.warnings, UNDECIDED))
    if not possible:
        return replace(audit, problems=(*audit.problems, OTHERWISE))
    word, seen = unseen(case.manifest), f"{SEEN}: that rests on {program(case.manifest)}"
    claims = tuple(replace(claim, note=claim.note.replace(word, seen)) for claim in audit.claims)
    return replace(audit, claims=claims, notice=seen)
