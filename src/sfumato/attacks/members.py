"""People in their groups, as a reader sees them: who is where, and how often each group shows each value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.attacks import _swap_kernels as swaps
from sfumato.attacks.sight import Sight
from sfumato.release.buckets import BucketsRelease, nearest_shares
from sfumato.release.coding import code_column, match_rows
from sfumato.release.columns import ColumnsRelease
from sfumato.release.covering import Cover
from sfumato.release.ranges import RangesRelease
from sfumato.release.views import ViewsRelease
from sfumato.table.column import Column


class NotApplicable(Exception):  # noqa: N818  (no error: an attack that makes no sense here, with the reason)
    """An attack does not apply to such a release; the message says why."""


@dataclass(frozen=True, eq=False)
class Members:
    """Everybody whose quasi values are known, sorted by group; `entry` is where each group's histogram begins.

    `owner` and `row` are pairs of a kind of victim and a person here who may be she, `kind` the kind of each victim. `count` may
    be fractions where counts have noise. `decoys` is how many more values than people a group shows.
    """

    columns: tuple[Column, ...]
    start: Integers
    entry: Integers
    value: Small
    count: Floats
    values: int
    owner: Integers
    row: Integers
    kind: Integers
    source: Integers
    """The row here of everybody as they came: of the published rows, or of `Sight.everybody`."""
    decoys: int = 0
    whole: bool = True
    """Whether counts are whole numbers that add up to the group's people, and decoys."""

    @cached_property
    def codes(self) -> Small:
        """[people × columns]."""
        return np.stack([column.codes.astype(np.int32) for column in self.columns], axis=1)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.start) - 1

    @cached_property
    def sizes(self) -> Integers:
        """People of each group."""
        return np.diff(self.start)

    @cached_property
    def group(self) -> Integers:
        """The group of each person."""
        return np.repeat(np.arange(self.groups), self.sizes)

    @cached_property
    def entry_group(self) -> Integers:
        """The group of each entry."""
        return np.repeat(np.arange(self.groups), np.diff(self.entry))

    @cached_property
    def shares(self) -> Floats:
        """The share of each entry's value in what its group shows."""
        shown = np.bincount(self.entry_group, weights=self.count, minlength=self.groups)
        return self.count / np.maximum(shown, 1e-300)[self.entry_group]

    @cached_property
    def offset(self) -> Integers:
        """Where each person's beliefs begin: one for every value that her group shows."""
        return np.concatenate(([0], np.cumsum(np.diff(self.entry)[self.group]))).astype(np.int64)

    @property
    def laid_out(self) -> swaps.SortedGroups:
        """People, values and beliefs by group, as samplers read them."""
        return swaps.SortedGroups(self.start, self.entry, self.value, self.offset)

    def flat(self, of_entries: Array) -> Array:
        """Return what is known of entries, for everybody and each value of her group."""
        length = np.diff(self.entry)[self.group]
        first = np.repeat(self.entry[:-1][self.group] - self.offset[:-1], length)
        return of_entries[first + np.arange(int(self.offset[-1]))]

    def to_victims(self, flat: Floats) -> Floats:
        """Return [victims × values] from everybody's beliefs in the values of her group, averaged over who may be the victim."""
        kinds = int(self.kind.max(initial=-1)) + 1
        beliefs = np.zeros((kinds, self.values))
        length = np.diff(self.offset)[self.row]
        ahead = np.cumsum(length) - length
        step = np.arange(int(length.sum()))
        belief = flat[np.repeat(self.offset[:-1][self.row] - ahead, length) + step]
        value = self.value[np.repeat(self.entry[:-1][self.group[self.row]] - ahead, length) + step]
        np.add.at(beliefs, (np.repeat(self.owner, length), value), belief)
        fits = np.bincount(self.owner, minlength=kinds)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = (beliefs / fits[:, None])[self.kind]
        return mean


def members(sight: Sight) -> Members:
    """Return everybody in her group; `NotApplicable` where a release has no groups, or does not show who is in which."""
    if "members" not in sight.shared:
        find = _FIND.get(sight.release.form)
        if find is None:
            raise NotApplicable(f"a release of the form {sight.release.form!r} has no groups")
        sight.shared["members"] = find(sight.release, sight)
    everybody: Members = sight.shared["members"]
    return everybody


def _buckets(release: BucketsRelease, sight: Sight) -> Members:
    alike, kind = sight.distinct
    owner, row, _ = match_rows(release.quasi, alike)
    count = release.st_count.astype(np.float64)
    if release.noisy:
        size = release.sizes[:, None]
        count = (nearest_shares(count.reshape(len(release.sizes), -1) / size) * size).ravel()
    entries = (release.st_start, release.st_value, count)
    return _sorted(
        release.quasi, release.group, entries, len(release.domain), (owner, row, kind), release.decoys, not release.noisy
    )


def _by_containment(release: RangesRelease, sight: Sight) -> Members:
    if "weaker_claim" in release.manifest.parameters:
        raise NotApplicable("records have ranges of their own, so there are no groups")

    start, value, count = release.shown
    group = one_range(release, sight.everybody)
    return _everybody(sight, group, (start, value, count.astype(np.float64)), len(release.domain))


def _by_columns(release: ColumnsRelease, sight: Sight) -> Members:
    from sfumato.release.coding import people_codes

    group = one_cover(release.cover, people_codes(release.columns, sight.everybody))
    return _everybody(
        sight, group, (release.st_start, release.st_value, release.st_count.astype(np.float64)), len(release.domain)
    )


def _by_views(release: ViewsRelease, sight: Sight) -> Members:
    """Place people by group and by their value of the moved columns, which stands beside the sensitive one."""
    mine = release.find(sight.everybody)
    group = one_cover(release.cover, mine)
    place = np.where(group < 0, -1, release.joined.entry(np.maximum(group, 0).astype(np.int32), mine[:, 1]))
    entry = np.searchsorted(release.entry_joined, np.arange(len(release.joined.row) + 1)).astype(np.int64)
    return _everybody(sight, place, (entry, release.st_value, release.st_count.astype(np.float64)), len(release.domain))


def one_range(release: RangesRelease, people: pa.Table) -> Integers:
    """Return the one group whose ranges hold each person; −1 where none does, −2 where several do."""

    def only(fits: Flags) -> Floats:
        many = fits.sum(axis=1)
        return np.where(many == 1, fits.argmax(axis=1), np.where(many > 1, -2, -1)).astype(np.float64)

    return release.over_fitting(people, only).astype(np.int64)


def one_cover(cover: Cover, people: Integers) -> Integers:
    """Return the one group that covers each person; −1 where none does, −2 where several do."""
    many, group = np.zeros(len(people), np.int64), np.full(len(people), -1, np.int64)
    for owner, covering in cover.pairs(people):
        many += np.bincount(owner, minlength=len(people))
        group[owner] = covering
    return np.where(many > 1, -2, group)


def _everybody(sight: Sight, group: Integers, entries: tuple[Integers, Small, Floats], values: int) -> Members:
    if (group < 0).any():
        alone = float((group >= 0).mean())
        raise NotApplicable(f"groups overlap: only {alone:.0%} of people fit one group and no other")
    columns = coded_columns(sight)
    own = np.arange(len(sight.victims))
    return _sorted(columns, group, entries, values, (own, sight.victims, own), 0, True)


def coded_columns(sight: Sight) -> tuple[Column, ...]:
    """Return everybody's quasi columns, coded as the release has them."""
    kinds = {str(column["name"]): column["kind"] for column in sight.release.manifest.schema["quasi"]}
    return tuple(code_column(name, kinds[name], sight.everybody[name]) for name in sight.everybody.column_names)


def _sorted(
    columns: tuple[Column, ...],
    group: Array,
    entries: tuple[Integers, Small, Floats],
    values: int,
    victims: tuple[Integers, Integers, Integers],
    decoys: int,
    whole: bool,
) -> Members:
    entry, value, count = entries
    order = np.argsort(group, kind="stable")
    source = np.empty(len(order), np.int64)
    source[order] = np.arange(len(order))
    start = np.searchsorted(group[order], np.arange(len(entry))).astype(np.int64)
    return Members(
        tuple(column.take(order) for column in columns),
        start,
        entry.astype(np.int64),
        value.astype(np.int32),
        count,
        values,
        victims[0],
        source[victims[1]],
        victims[2],
        source,
        decoys,
        whole,
    )


_FIND: dict[str, Callable[[Any, Sight], Members]] = {
    "buckets": _buckets,
    "ranges": _by_containment,
    "columns": _by_columns,
    "views": _by_views,
}
"""How people are found in the groups of each form."""
