"""How quasi and sensitive values are associated, learned from a release alone: what every statistical attack begins with.

Per quasi column a table of how many people seem to have a code and a value, as each form shows it:

- buckets: counts *spread* over groups, n(x, s) = Σ over groups of c(x)·c(s)/|G| (Cormode);
- ranges: the records with s whose range or set contains x (003 §6);
- columns and views: the same as for buckets, each code of a group taken as equally frequent where no number is shown; moved
  columns stand beside the sensitive value, and are counted;
- randomized: the true counts of s among the people with x, *reconstructed* part by part;
- synthetic: records counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight
from sfumato.release.base import Release
from sfumato.release.boxes import NOWHERE
from sfumato.release.buckets import BucketsRelease, nearest_shares
from sfumato.release.coding import code_column, code_domain, people_codes
from sfumato.release.columns import ColumnsRelease
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease, positions
from sfumato.release.views import ViewsRelease
from sfumato.table.column import Column

_BEHIND = 10


@dataclass(frozen=True, eq=False)
class LearnedCounts:
    """Per quasi column [codes × values] how many people seem to have both; per value how many have it.

    `find` gives people's codes, −1 for a value that the release does not know.
    """

    totals: Floats
    tables: tuple[Floats, ...]
    find: Callable[[pa.Table], Integers]

    @property
    def prior(self) -> Floats:
        """The share of each value."""
        shares: Floats = self.totals / self.totals.sum()
        return shares

    def chances(self, correction: float) -> list[Floats]:
        """Return per column Pr[code | value] = (count + α) / (count of the value + α·codes) ([BUREL, 003 §6])."""
        return [
            (table + correction) / np.maximum(self.totals + correction * len(table), 1e-300)[None, :] for table in self.tables
        ]

    def posterior(self, people: pa.Table, correction: float) -> Floats:
        """Return [people × values]: Pr[s]·Π Pr[x | s], scaled to add up to 1; the prior where every product is 0."""
        codes = self.find(people)
        with np.errstate(divide="ignore"):
            score = np.repeat(np.log(self.prior)[None, :], len(codes), axis=0)
            for j, table in enumerate(self.chances(correction)):
                known = codes[:, j] >= 0
                score[known] += np.log(table)[codes[known, j]]
        top = score.max(axis=1)
        lost = np.isneginf(top)
        score[lost] = np.log(np.maximum(self.prior, 1e-300))
        weight = np.exp(score - score.max(axis=1)[:, None])
        beliefs: Floats = weight / weight.sum(axis=1)[:, None]
        return beliefs


def learned(sight: Sight) -> LearnedCounts:
    """Return what the release of a sight teaches."""
    if "learned" not in sight.shared:
        sight.shared["learned"] = learn(sight.release, sight.everybody)
    counts: LearnedCounts = sight.shared["learned"]
    return counts


def learn(release: Release, everybody: pa.Table) -> LearnedCounts:
    """Return how a release associates quasi and sensitive values; `everybody` fixes the codes of ranges."""
    if release.form not in _LEARN:
        raise NotApplicable(f"no way to learn from a release of the form {release.form!r} is implemented")
    return _LEARN[release.form](release, everybody)


def _spread(columns: Sequence[Column], shown: Sequence[tuple[Array, Array, Array]], shares: Any) -> tuple[Floats, ...]:
    """Return per column Σ over its (code, group, people) of people · share of each value in the group."""
    from scipy.sparse import csr_array

    return tuple(
        np.asarray(
            (csr_array((people, (code, group)), shape=(column.size, shares.shape[0])) @ shares).todense(), dtype=np.float64
        )
        for column, (code, group, people) in zip(columns, shown, strict=True)
    )


def _shares(release: ColumnsRelease | ViewsRelease) -> Any:
    """Return [groups × values]: the share of each value among the people of a group."""
    from scipy.sparse import csr_array

    share = release.st_count.astype(np.float64) / release.sizes[release.st_group]
    return csr_array((share, (release.st_group, release.st_value)), shape=(len(release.sizes), len(release.domain)))


def _buckets(release: BucketsRelease, everybody: pa.Table) -> LearnedCounts:
    from scipy.sparse import csr_array

    groups = len(release.sizes)
    if release.noisy:
        share = nearest_shares(release.st_count.reshape(groups, -1) / release.sizes[:, None]).ravel()
    else:
        share = release.st_count / np.maximum(release.shown, 1)[release.st_group]
    shares = csr_array((share, (release.st_group, release.st_value)), shape=(groups, len(release.domain)))
    ones = np.ones(len(release.group))
    tables = _spread(release.quasi, [(column.codes, release.group, ones) for column in release.quasi], shares)
    return LearnedCounts(release.sizes @ shares, tables, lambda people: people_codes(release.quasi, people))


def _ranges(release: RangesRelease, everybody: pa.Table) -> LearnedCounts:
    from scipy.sparse import csr_array

    start, value, count = release.shown
    shown = csr_array((count.astype(np.float64), value, start), shape=(len(release.sizes), len(release.domain)))
    known = [np.unique(places) for places in positions(release.boxes, everybody).T]
    tables = []
    for box, places in zip(release.boxes, known, strict=True):
        held = np.stack([box.holds(int(place)) for place in places]).astype(np.float64)
        tables.append(np.asarray((csr_array(held) @ shown).todense(), dtype=np.float64))

    def find(people: pa.Table) -> Integers:
        wanted = positions(release.boxes, people)
        codes = np.empty_like(wanted)
        for j, places in enumerate(known):
            at = np.minimum(np.searchsorted(places, wanted[:, j]), len(places) - 1)
            codes[:, j] = np.where(places[at] == wanted[:, j], at, -1)
        return np.where(wanted == NOWHERE, -1, codes)

    return LearnedCounts(np.asarray(shown.sum(axis=0), dtype=np.float64).ravel(), tuple(tables), find)


def _columns(release: ColumnsRelease, everybody: pa.Table) -> LearnedCounts:
    shares, shown = _shares(release), []
    for codes, start in zip(release.codes, release.start, strict=True):
        many = np.diff(start)
        group = np.repeat(np.arange(len(many)), many)
        shown.append((codes, group, (release.sizes / np.maximum(many, 1))[group]))
    tables = _spread(release.columns, shown, shares)
    return LearnedCounts(release.sizes @ shares, tables, lambda people: people_codes(release.columns, people))


def _views(release: ViewsRelease, everybody: pa.Table) -> LearnedCounts:
    shares, ones = _shares(release), np.ones(len(release.at_group))
    kept = _spread(release.at_columns, [(column.codes, release.at_group, ones) for column in release.at_columns], shares)
    count = release.st_count.astype(np.float64)
    moved = tuple(_counted(column, release.st_value, count, len(release.domain)) for column in release.st_columns)
    columns = (*release.at_columns, *release.st_columns)
    return LearnedCounts(release.sizes @ shares, (*kept, *moved), lambda people: people_codes(columns, people))


def _counted(column: Column, value: Array, count: Floats, values: int) -> Floats:
    """Return [codes × values]: how many people of these rows have both."""
    key = column.codes.astype(np.int64) * values + value
    return np.bincount(key, weights=count, minlength=column.size * values).reshape(column.size, values).astype(np.float64)


def _randomized(release: RandomizedRelease, everybody: pa.Table) -> LearnedCounts:
    values = len(release.domain)
    tables = [np.zeros((column.size, values)) for column in release.quasi]
    for i, part in enumerate(release.parts):
        mine = np.flatnonzero(release.part == i)
        behind = np.tile((1 - part.kept)[:, None] / len(part), (1, len(part))) + np.diag(part.kept)
        for table, column in zip(tables, release.quasi, strict=True):
            shown = _counted(column.take(mine), release.value[mine], np.ones(len(mine)), values)[:, part.values]
            table[:, part.values] += _behind(shown, behind, release.priors[i])
    return LearnedCounts(tables[0].sum(axis=0), tuple(tables), lambda people: people_codes(release.quasi, people))


def _behind(shown: Floats, chance: Floats, prior: Floats) -> Floats:
    """Return likely true counts of every row of published ones: Bayes' rule from the part's shares on, some rounds of it.

    To the end it would be the likeliest counts, which follow every accident of few people; a few rounds keep to the shares where
    there is little to learn from.
    """
    people = shown.sum(axis=1)
    share = np.repeat(np.maximum(prior, 1e-12)[None, :], len(shown), axis=0)
    for _ in range(_BEHIND):
        expected = share @ chance
        share = share * ((shown / np.maximum(expected, 1e-300)) @ chance.T) / np.maximum(people, 1)[:, None]
    counts: Floats = share * people[:, None]
    return counts


def _synthetic(release: Release, everybody: pa.Table) -> LearnedCounts:
    schema = release.manifest.schema
    kinds = {str(column["name"]): column["kind"] for role in ("quasi", "sensitive") for column in schema[role]}
    quasi, sensitive = ([str(column["name"]) for column in schema[role]] for role in ("quasi", "sensitive"))
    records = next((table for table in release.tables().values() if {*kinds} <= {*table.column_names}), None)
    if records is None:
        raise NotApplicable("no published table has all quasi and sensitive columns")
    columns = tuple(code_column(name, kinds[name], records[name]) for name in quasi)
    domain, codes = code_domain(records.select(sensitive), tuple(kinds[name] for name in sensitive))
    number = {label: k for k, label in enumerate(release.labels)}
    value = np.array([number[label] for label in domain.labels], dtype=np.int64)[codes]
    ones = np.ones(len(value))
    tables = tuple(_counted(column, value, ones, len(release.labels)) for column in columns)
    totals = np.bincount(value, minlength=len(release.labels)).astype(np.float64)
    return LearnedCounts(totals, tables, lambda people: people_codes(columns, people))


_LEARN: dict[str, Callable[[Any, pa.Table], LearnedCounts]] = {
    "buckets": _buckets,
    "ranges": _ranges,
    "columns": _columns,
    "views": _views,
    "randomized": _randomized,
    "synthetic": _synthetic,
}
"""How each form teaches."""
