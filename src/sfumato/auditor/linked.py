"""The audit with the private sidecar: whether links are as the paper's claim says, and what somebody believes who knows them."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers
from sfumato.auditor.claims import Case, ShownCounts
from sfumato.auditor.original import true_values
from sfumato.auditor.own_ranges import ByValue, Facing, linked_findings, record_values
from sfumato.auditor.result import Finding
from sfumato.release.boxes import Box
from sfumato.release.links import Links
from sfumato.release.ranges import RangesRelease
from sfumato.table.table import Table


def check_links(case: Case[RangesRelease], shown: ShownCounts, bounds: ByValue) -> tuple[list[str], dict[str, Finding]]:
    """Return where the links contradict the release, the table or the claim; and the beliefs that they allow."""
    boxes, links, table = case.release.boxes, case.links, case.table
    if links is None or table is None:
        return [], {}
    dummies = case.manifest.parameters.get("dummies", 0)
    people, truth = table.rows, true_values(shown.labels, table)
    records = len(links.carried)
    inside = len(links.linked) and links.linked.min() >= 0 and links.linked.max() < people
    if records != shown.people or len(links.start) != records + 1 or links.start[-1] != len(links.linked) or not inside:
        return ["the links are not those of this release and table"], {}
    carried, linked = record_values(shown), links.linked.astype(np.int64)
    owner = np.repeat(np.arange(records), np.diff(links.start))
    problems = []
    if (np.sort(links.carried) != np.arange(people)).any() or (truth[links.carried] != carried).any():
        problems.append("the records have other values than the people that the links name")
    outside = int((~_holds(boxes, table, owner, linked)).sum())
    if outside:
        problems.append(f"{outside} links join a record with somebody outside its ranges")
    pairs = np.sort(links.linked * np.int64(records) + owner)  # numpy's own sets of many different numbers take ten times as long
    if not _among(links.carried * np.int64(records) + np.arange(records), pairs):
        problems.append("some records have the value of a person they are not linked with")
    problems += _regular(links, owner, pairs, people, dummies)
    problems += _diverse(shown, truth, links, owner, bounds, dummies)
    facing = Facing(_table(linked, carried[owner], people, len(shown.labels)), np.ones(people, np.int64))
    return problems, linked_findings(facing, shown.labels, bounds)


def _among(some: Integers, ordered: Integers) -> bool:
    """Return whether all of some numbers are among ordered ones."""
    place = np.searchsorted(ordered, some)
    return bool((place < len(ordered)).all() and (ordered[place] == some).all())


def _regular(links: Links, owner: Integers, pairs: Integers, people: int, dummies: int) -> list[str]:
    """Return whether people and records have equally many links, but for dummies."""
    away, back = np.diff(links.start), np.bincount(links.linked, minlength=people)
    twice = int((pairs[1:] == pairs[:-1]).sum())
    if twice:
        return [f"{twice} links occur twice"]
    # Everybody's own number of matches is the largest among the records that she is linked with.
    most = np.zeros(people, np.int64)
    np.maximum.at(most, links.linked, away[owner])
    uneven = int((np.abs(back - most) > dummies).sum())
    return [f"{uneven} people have a number of links that differs from that of their records"] if uneven else []


def _diverse(shown: ShownCounts, truth: Integers, links: Links, owner: Integers, bounds: ByValue, dummies: int) -> list[str]:
    """Return how many records have people behind them of whom more have one value than its bound allows."""
    behind = _table(owner, truth[links.linked], len(links.carried), len(shown.labels))
    size = np.diff(links.start)
    # Dummies stand for values of their own, so that a bound is on all matches of a record, dummies among them.
    most = np.minimum(size + dummies, size.max())
    broken = np.zeros(len(size), bool)
    for v, label in enumerate(shown.labels):
        caps = np.array([bounds[label].numerator * many // bounds[label].denominator for many in range(int(most.max()) + 1)])
        broken |= behind[:, v] > caps[most]
    return [f"{int(broken.sum())} records are linked with a value more often than its bound allows"] if broken.any() else []


def _table(rows: Integers, values: Integers, many: int, width: int) -> Integers:
    counted: Integers = np.bincount(rows * np.int64(width) + values, minlength=many * width).reshape(many, width)
    return counted


def _holds(boxes: tuple[Box, ...], table: Table, owner: Integers, linked: Integers) -> Integers:
    """Return for each link whether the record's ranges hold the person's values."""
    held = np.ones(len(owner), bool)
    for box in boxes:
        column = table.column(box.name)
        codes = column.codes[linked].astype(np.int64)
        inside = np.zeros(len(owner), bool)
        for code, place in enumerate(box.positions(column.dictionary())):
            mine = np.flatnonzero(codes == code)
            inside[mine] = box.holds(int(place))[owner[mine]]
        held &= inside
    return held
