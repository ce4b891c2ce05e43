"""Pure matched groups: groups of near people that tell an engineer nothing beyond their histograms.

Safe cuts come first. In each box whole values are packed into pools by their counts, who goes where is drawn where a choice is
left, and groups take one person from every pool, matched on quasi values only.

**Why this holds against the engineer.** Take a world (who has which value) with its draw (who is in which pool), and a
permutation π of a class's pools. In every group let the person from pool x take the value of the person from pool π(x),
and be in pool π(x). Every group keeps its histogram, so boxes, counts and packing are the same; pool y again holds as many
people of each value; and the pools are the same sets of people under other numbers. The chance of a draw rests on the counts
alone, so the new world is exactly as likely as the old one, and so is the release, *because nothing after the draw knows a
pool's number or anybody's value*: members are listed in an order of coins of their own, pools are taken in the order of
their first members, and a match looks at quasi values. So, given the release, each person of a group has each of its values
with equal chance, and a value, or a set of values, that may lie in k of μ pools has at most the chance k/μ. Those left over
are drawn with a chance that rests on the counts alone too, and nothing else looks at them: any exchange of values among them
gives a world as likely. Whoever is matched by a rule that peeks at values (to avoid equal ones in a group), left over for her
quasi values, or published as the better of two results, breaks this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.groups.cuts import Space, column_weights, cut_space, secret_of
from sfumato.groups.grouping import Grouping, canonical_order, need_table
from sfumato.groups.near._match_kernels import Padded, match_block
from sfumato.groups.near._order_kernels import FINE
from sfumato.groups.near.order import BoxCost, seen_width
from sfumato.groups.near.packing import pack
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column
from sfumato.threads import in_threads

BLOCK, LARGEST_BLOCK = 400, 1000
"""So many people of each pool are matched at once at most: in a large table, and in a small one, where there is time."""

_WORK = 40_000_000  # people times block size

SWEEPS = 1
"""How often every pool is matched again after the first time."""

_UNIT = 1 << 20  # costs are whole multiples of 1/_UNIT of a column's domain
_STAGES = 10


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The people of a box: for each class who is in which pool, [pools × groups], and who is left over."""

    classes: tuple[Integers, ...]
    left: Integers


class MatchOptions(NamedTuple):
    """How matched groups are made.

    `widths` are the widths of the columns' domains, upper − lower end or categories − 1, those seen unless given. At
    most `block` people of each pool are matched at once, which rests on the number of people unless given. A box holds
    at least `floor` people for every member of the smallest group that any value allows. `weights` say which columns are cut
    first.
    """

    widths: Sequence[float] | None = None
    block: int | None = None
    floor: int = 100
    weights: Mapping[str, float] | None = None


USUAL = MatchOptions()


def matched_groups(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    options: MatchOptions = USUAL,
    *,
    random: Randomness,
    progress: Progress = silent,
    space: Space | None = None,
) -> Grouping:
    """Return pure matched groups: near people together, so that rerunning the program tells an engineer nothing.

    All groups of a box have one size. `space` is that of the columns, where it is known.
    """
    progress("cutting quasi space", 0.0)
    space = (space or Space.of(columns)).lines
    scale = BoxCost.of(columns, options.widths or [seen_width(column) for column in columns], space)
    chosen = variety(scale) * column_weights(columns, options.weights)
    boxes = _cut(space, sensitive, bounds, least_box(bounds, options.floor), chosen, random.spawn(Step.TURNS))
    progress("packing values into pools", 0.1)
    drawn = []
    order = np.argsort(boxes.group, kind="stable")
    coins = random.spawn(Step.BOXES)
    for box, rows in enumerate(np.split(order, np.cumsum(boxes.sizes)[:-1])):
        drawn.append(_draw(rows, sensitive, bounds, coins.spawn(box)))
    key = _keys(drawn, len(sensitive), random.spawn(Step.KEYS))
    most = options.block or block_of(len(sensitive))
    blocks = [part for box in drawn for people in box.classes for part in _blocks(people, scale, key, most)]
    _match(blocks, scale, progress)
    left = [box.left for box in drawn if len(box.left)]
    grouping = _number(blocks, left, len(sensitive))
    figures = {
        "boxes": boxes.groups,
        "people_left_over": sum(len(rows) for rows in left),
        "group_sizes": sorted({len(part) for part in blocks}),
        "blocks": len(blocks),
    }
    return replace(grouping, figures=figures)


def least_box(bounds: Bounds, floor: int) -> int:
    """Return how many people a box holds at least: `floor` for every member of the smallest group that any value allows."""
    return max(floor * min(bounds.needs), 1)


def block_of(people: int) -> int:
    """Return how many people of each pool are matched at once at most, in a table of so many."""
    return min(max(BLOCK, _WORK // people), LARGEST_BLOCK)


def variety(scale: BoxCost) -> Integers:
    """Return for each column how far apart two people are on average, roughly: a share of its domain, in units of 2^-30.

    Everything that is added up is whole, so that columns that tie are cut in the order of the columns, whoever stands first.
    """
    sizes = np.diff(scale.first).tolist()
    return variety_of(scale, [np.bincount(scale.codes[:, j], minlength=size) for j, size in enumerate(sizes)])


def variety_of(scale: BoxCost, counts: Sequence[Integers]) -> Integers:
    """Return the same from how often each code of each column occurs; categories may be in any order."""
    variety = np.ones(len(scale.unit), np.int64)
    for j, count in enumerate(counts):
        many = int(count.sum())
        if scale.unit[j] > 0:
            alike = sum(times * times for times in count.tolist())
            variety[j] = round(scale.unit[j] * FINE) * (many**2 - alike) // many**2
        else:
            known = count if scale.absent[j] < 0 else count[: int(scale.absent[j])]
            place = scale.steps[scale.first[j] : scale.first[j] + len(known)]
            many = int(known.sum())
            if many:
                middle = int((place * known).sum()) // many
                variety[j] = int((np.abs(place - middle) * known).sum()) * 13 // (10 * many)
    return np.maximum(variety, 1)


def _cut(space: Space, sensitive: Array, bounds: Bounds, least: int, weights: Floats, random: Randomness) -> Grouping:
    """Return the boxes of safe cuts, in which sides may touch; rows are met in an order of coins."""
    need, start = need_table(bounds)
    rows = random.permutation(len(sensitive)).astype(np.int32)
    acceptance = Padded(need, start, least)
    return cut_space(space, secret_of(sensitive, bounds), rows, acceptance, basis="safe", weights=weights)


def _draw(rows: Integers, sensitive: Array, bounds: Bounds, random: Randomness) -> _Drawn:
    """Return who of a box is in which pool and who is left over: by value, and by coins where a value is in several places."""
    counts = np.bincount(sensitive[rows], minlength=bounds.valued)
    values = canonical_order(bounds.with_counts(counts.tolist()))
    values = values[counts[values] > 0]
    own = Bounds.of(
        tuple(bounds.values[v] for v in values),
        tuple(int(counts[v]) for v in values),
        tuple(bounds.limits[v] for v in values),
    )
    found_at = {int(v): k for k, v in enumerate(values)}
    named = zip(bounds.members, bounds.limits[bounds.valued :], strict=True)
    sets = [(np.array([found_at[v] for v in members if v in found_at], dtype=np.int64), limit) for members, limit in named]
    packing = pack(np.array(own.counts, dtype=np.int64), own.limits, [pair for pair in sets if len(pair[0])])
    places = np.concatenate([packing.left[:, None], *packing.classes], axis=1)
    by_place: list[list[Integers]] = [[] for _ in range(places.shape[1])]
    by_value = rows[np.argsort(sensitive[rows], kind="stable")]
    ends = np.cumsum(counts)
    for v, parts in zip(values, places, strict=True):
        people = by_value[ends[v] - counts[v] : ends[v]]
        used = np.flatnonzero(parts)
        if len(used) > 1:
            people = people[random.permutation(len(people))]
        for place, some in zip(used, np.split(people, np.cumsum(parts[used])[:-1]), strict=True):
            by_place[place].append(some)
    # In the order of the rows: whoever lists a pool's members later finds no trace of their values.
    together = [np.sort(np.concatenate([np.empty(0, np.int64), *some])) for some in by_place]
    classes, at = [], 1
    for pieces in packing.classes:
        classes.append(np.stack(together[at : at + pieces.shape[1]]))
        at += pieces.shape[1]
    return _Drawn(tuple(people for people in classes if people.size), together[0])


def _keys(drawn: Sequence[_Drawn], rows: int, random: Randomness) -> Integers:
    """Return for everybody who is matched a place in a random order of her box, from coins that the draw did not use."""
    key = np.zeros(rows, np.int64)
    for number, box in enumerate(drawn):
        matched = np.sort(np.concatenate([np.empty(0, np.int64), *(people.ravel() for people in box.classes)]))
        key[matched] = random.spawn(number).permutation(len(matched))
    return key


def _blocks(people: Integers, scale: BoxCost, key: Integers, block: int) -> list[Integers]:
    """Return the pools of a class cut together into blocks: across the column in which people differ most, at middle ranks.

    Ties are broken by the keys. In a block members are in the order of their keys, and pools in that of their first members.
    """
    done, waiting = [], [people]
    while waiting:
        part = waiting.pop()
        size = part.shape[1]
        if size <= block:
            part = np.take_along_axis(part, np.argsort(key[part], axis=1), axis=1)
            done.append(part[np.argsort(key[part[:, 0]])])
            continue
        column = int(variety(scale.take(part.ravel())).argmax())
        ranked = np.argsort(scale.codes[part, column].astype(np.int64) * len(key) + key[part], axis=1)
        part = np.take_along_axis(part, ranked, axis=1)
        waiting += [part[:, size // 2 :], part[:, : size // 2]]
    return done


def _match(blocks: Sequence[Integers], scale: BoxCost, progress: Progress) -> None:
    """Arrange every block in place so that the k-th members of its pools are a group."""
    numeric, kinds = np.flatnonzero(scale.unit == 0), np.flatnonzero(scale.unit > 0)
    numbers = np.empty((len(scale.codes), len(numeric)), np.int64)
    for k, j in enumerate(numeric):
        codes = scale.codes[:, j]
        numbers[:, k] = np.where(codes == scale.absent[j], -1, np.rint(scale.place[scale.first[j] + codes] * _UNIT))
    categories = np.ascontiguousarray(scale.codes[:, kinds] + scale.first[:-1][kinds].astype(np.int32))
    unit = np.zeros(int(scale.first[-1]), np.int64)
    for j in kinds:
        unit[scale.first[j] : scale.first[j + 1]] = round(scale.unit[j] * _UNIT)

    def arrange(part: Integers) -> Integers:
        people = np.array(part, order="C")
        match_block(people, numbers, categories, unit, SWEEPS)
        return people

    for stage in range(_STAGES):
        progress("matching people", 0.15 + 0.85 * stage / _STAGES)
        some = blocks[stage * len(blocks) // _STAGES : (stage + 1) * len(blocks) // _STAGES]
        for part, arranged in zip(some, in_threads(arrange, some), strict=True):
            part[:] = arranged


def _number(blocks: Sequence[Integers], left: Sequence[Integers], rows: int) -> Grouping:
    """Return the groups, one after the other."""
    group = np.empty(rows, np.int32)
    made = 0
    for part in blocks:
        group[part] = np.arange(made, made + part.shape[1])
        made += part.shape[1]
    for rest in left:
        group[rest] = made
        made += 1
    return Grouping(group, made, "matched")
