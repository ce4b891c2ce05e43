"""Form *buckets*: exact quasi values with a group number, and per group how often each sensitive value occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self, get_args

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers, Small, counted, taken
from sfumato.errors import FormatError
from sfumato.release.accounts import (
    NOISE,
    account_listing,
    account_names,
    account_tables,
    noise_names,
    noise_tables,
    noisy_counts,
    read_accounts,
    read_noise,
    renumbered,
)
from sfumato.release.base import Release
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order
from sfumato.release.coding import (
    code_column,
    dictionary_array,
    entries_table,
    groups_of,
    match_rows,
    require_counts,
    require_distinct,
    require_tables,
    take_table,
    whole_numbers,
)
from sfumato.release.held import Held, HeldEntries, held_names, read_entries, read_held, two_values
from sfumato.release.manifest import Manifest
from sfumato.release.margins import MARGINS, Margins, margin_names, read_margins, require_bands
from sfumato.release.secrets import Shows, code_values, shown_values, value_columns
from sfumato.table.column import Column, Domain, Events, Kind, combined
from sfumato.table.frames import Native

GROUP = "group"
COUNT = "count"


class Runs(NamedTuple):
    """Published rows, and how many people each stands for; None where every row is one person."""

    quasi: tuple[Column, ...]
    group: Small
    times: Integers | None


@dataclass(frozen=True, eq=False, repr=False)
class BucketsRelease(Shows, Release):
    """`qit`: one row per person, quasi values and group; `st`: group, sensitive value, count ([F' §3.1]).

    Groups are numbered 0 … in memory and 1 … in the tables. The rows of `st` are sorted by group, then value. With decoys every
    group shows `decoys` more sensitive values than it has people. With soft cuts `groups` has the account of every group. With
    noise (basis `noisy`) every group shows every declared value, counts may be negative, and `draws` says how many draws of
    noise are in each count of a group; `margins` are noisy tables beside. Of several secrets `st` has the values of all:
    everybody has one of each. Where a person may have several values of a secret, or none, counts are of people who have a value
    among theirs, and `held` has what else groups show.
    """

    form = "buckets"
    of_several = True

    quasi: tuple[Column, ...]
    group: Small
    events: Domain | Events
    st_group: Small
    st_value: Small
    st_count: Integers
    made_from: Native = "pyarrow"
    account: Integers | None = None
    draws: Integers | None = None
    held: Held | None = None
    margins: Margins | None = None

    @property
    def decoys(self) -> int:
        """σ: how many of the sensitive values shown in each group belong to nobody."""
        return int(self.manifest.parameters.get("decoys", 0))

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        rows = self.runs()
        groups = 1 + max(int(rows.group.max(initial=-1)), int(self.st_group.max(initial=-1)))
        if rows.times is None:
            return counted(rows.group, groups)
        return np.bincount(rows.group, weights=rows.times, minlength=groups).astype(np.int64)

    @cached_property
    def shown(self) -> Integers:
        """Number of people among whom values are shown in each group: its size, plus the decoys."""
        if self.noisy or self.held is not None:
            return self.sizes
        shown = np.bincount(self.st_group, weights=self.st_count, minlength=len(self.sizes)).astype(np.int64)
        return shown // len(self.events.secrets)

    @cached_property
    def totals(self) -> Integers:
        """How often each sensitive value is shown in all."""
        return np.bincount(self.st_value, weights=self.st_count, minlength=len(self.events)).astype(np.int64)

    @cached_property
    def st_start(self) -> Integers:
        """First row of each group in `st`; one entry more than there are groups."""
        return np.searchsorted(self.st_group, np.arange(len(self.sizes) + 1)).astype(np.int64)

    def runs(self) -> Runs:
        """Return the rows of `qit`, equal ones of a group once where they are only counted."""
        return Runs(self.quasi, self.group, None)

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """The quasi columns."""
        return self.runs().quasi

    def tables(self) -> dict[str, pa.Table]:
        """Return `qit` (quasi…, group), `st` (group, sensitive…, count), `groups` (group, account) after soft cuts, and what
        people with several values have beside."""
        qit = {column.name: dictionary_array(column) for column in self.quasi}
        qit[GROUP] = pa.array(self.group + 1, pa.int32())
        rest = account_tables(self.account) | noise_tables(self.draws, GROUP)
        rest |= {} if self.held is None else self.held.tables(self.manifest)
        rest |= {} if self.margins is None else {MARGINS: self.margins.table(self.events)}
        st = entries_table(GROUP, self.st_group, shown_values(self.events, self.st_value), self.st_count)
        return {"qit": pa.table(qit), "st": st, **rest}

    def _alone(self, place: int, manifest: Manifest) -> Self:
        low, high = self.events.first[place : place + 2]
        mine = (self.st_value >= low) & (self.st_value < high)
        entries = {"st_group": self.st_group[mine], "st_count": self.st_count[mine]}
        entries["st_value"] = self.st_value[mine] - np.int32(low)
        held = self.held
        if held is not None:
            sets = [k for k, entry in enumerate(self.manifest.sets) if entry.get("secret") == self.secrets[place]]
            held = held.of(place, np.array(sets, dtype=np.int32))
        margins = None if self.margins is None else self.margins.of(int(low), int(high))
        alone = replace(self, manifest=manifest, events=self.events.secrets[place], held=held, margins=margins, **entries)
        vars(alone)["sizes"] = self.sizes
        return alone

    @property
    def facts(self) -> HeldEntries:
        """How many people of a group have a value among theirs."""
        return HeldEntries(self.st_group, self.st_value, self.st_count)

    def of_two(self, manifest: Manifest, events: Domain, having: Integers) -> Self:
        """Return the release of people who have the first of two values, so many of each group, or the second."""
        both, group, value = two_values(having, self.sizes)
        there = slice(None) if self.noisy else both > 0
        st_group, st_value, st_count = group[there], value[there], both[there]
        own = replace(self, manifest=manifest, events=events, held=None, margins=None)
        return replace(own, st_group=st_group, st_value=st_value, st_count=st_count)

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the largest share of each value in a group that holds a person's quasi values.

        A person whom no published row fits gets NaN. With decoys the share counts every value shown. Noisy shares are taken as
        the nearest that are not negative and add up to 1: what a group teaches about its people, which no claim bounds.
        """
        return self._believed(people, largest=True)

    def largest_shares(self) -> Floats | None:
        """Return the largest share of each value in a group; nothing of noisy counts, which no claim compares with a bound."""
        if self.noisy:
            return None
        largest = np.zeros(len(self.events))
        np.maximum.at(largest, self.st_value, self._shares)
        return largest

    def mean_beliefs(self, people: Any) -> Floats:
        """Return the same shares averaged over the published rows that fit a person."""
        return self._believed(people, largest=False)

    def _believed(self, people: Any, *, largest: bool) -> Floats:
        rows = self.runs()
        owner, row, owners = match_rows(rows.quasi, people)
        beliefs = np.zeros((owners, len(self.events)))
        times = np.ones(len(row), np.int64) if rows.times is None or largest else rows.times[row]
        fits = np.bincount(owner, weights=times, minlength=owners)
        group = rows.group[row]
        length = np.diff(self.st_start)[group]
        first = np.repeat(self.st_start[group], length)
        entry = first + np.arange(len(first)) - np.repeat(np.cumsum(length) - length, length)
        share, at = self._shares[entry], (np.repeat(owner, length), self.st_value[entry])
        if largest:
            np.maximum.at(beliefs, at, share)
            beliefs[fits == 0] = np.nan
            return beliefs
        np.add.at(beliefs, at, share * np.repeat(times, length))
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = beliefs / fits[:, None]
        return result

    @cached_property
    def _shares(self) -> Floats:
        """The share of each row of `st` in its group."""
        share: Floats = self.st_count / self.shown[self.st_group]
        if not self.noisy:
            return share
        if self.manifest.bundled:
            return np.clip(share, 0.0, 1.0)
        each = np.split(share.reshape(len(self.sizes), -1), self.events.first[1:-1], axis=1)
        return np.hstack([nearest_shares(rows) for rows in each]).ravel()

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return rows by quasi values, entries by value and count, and accounts or draws."""
        rows = self.runs()
        return (TableRows("qit", rows.group, combined(rows.quasi)), *self.shown_of_groups()), len(self.sizes)

    def shown_of_groups(self) -> tuple[TableRows, ...]:
        """Return what the tables beside `qit` show."""
        least = min(0, int(self.st_count.min(initial=0)))
        most = int(self.st_count.max(initial=0)) + 1 - least
        entries = self.st_value * np.int64(most) + (self.st_count - least)
        rest = () if self.held is None else self.held.listing()
        beside = (*account_listing(self.account), *account_listing(self.draws, NOISE), *rest)
        return (TableRows("st", self.st_group, entries), *beside)

    def canonical(self) -> BucketsRelease:
        """Return the same release with rows and group numbers in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with rows and group numbers in this order."""
        rows, entries = order.rows[:2]
        held = self.held if self.held is None else self.held.arranged(order.rows[-2], order.rows[-1], order.number)
        return replace(
            self,
            quasi=tuple(column.take(rows) for column in self.quasi),
            group=taken(order.number, taken(self.group, rows)),
            st_group=order.number[self.st_group[entries]],
            st_value=self.st_value[entries],
            st_count=self.st_count[entries],
            account=renumbered(self.account, order.number),
            draws=renumbered(self.draws, order.number),
            held=held,
        )

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `qit` and `st` these are, as they are read; tables that cannot be such are refused."""
        quasi_names, _, kinds = published_names(manifest)
        beside = (*account_names(manifest), *noise_names(manifest), *held_names(manifest), *margin_names(manifest))
        require_tables(tables, cls.form, ("qit", "st", *beside))
        qit = take_table(tables, "qit", {name: kinds[name] for name in quasi_names} | {GROUP: "group"}, manifest.rows)
        group, groups = groups_of(qit, GROUP, "qit")
        facts = cls.of_groups(manifest, tables, counted(group, groups), in_any_order=in_any_order)
        quasi = tuple(code_column(name, kinds[name], qit[name]) for name in quasi_names)
        require_bands(facts["margins"], quasi, [counted(column.codes, column.size) for column in quasi])
        return cls(manifest, quasi, group, **facts)

    @classmethod
    def from_groups(
        cls, manifest: Manifest, tables: Mapping[str, pa.Table], quasi: tuple[Column, ...], sizes: Integers
    ) -> BucketsRelease:
        """Return the same release without its people's rows: how many people each group has, and all tables but `qit`.

        What is told of buckets is there; the rows of `qit`, and with them the canonical order, are the caller's to look after.
        """
        require_tables(tables, cls.form, ("st", *account_names(manifest), *noise_names(manifest), *margin_names(manifest)))
        none = np.zeros(0, np.int32)
        release = cls(manifest, quasi, none, **cls.of_groups(manifest, tables, sizes))
        release.__dict__["sizes"] = sizes
        key = release.st_group * np.int64(len(release.events)) + release.st_value
        if (key[1:] < key[:-1]).any():
            raise FormatError("the rows of table 'st' are not in the canonical order, and another order could carry information")
        return release

    @classmethod
    def without_entries(
        cls,
        manifest: Manifest,
        tables: Mapping[str, pa.Table],
        quasi: tuple[Column, ...],
        sizes: Integers,
        events: Domain | Events,
    ) -> BucketsRelease:
        """Return the same release also without the rows of `st`, which shows these values; `tables` are the others."""
        names = account_names(manifest)
        require_tables(dict.fromkeys([*tables, "st"], pa.table({})), cls.form, ("st", *names))
        none = np.zeros(0, np.int32)
        account = read_accounts(manifest, tables, len(sizes))
        release = cls(manifest, quasi, none, events, none, none, np.zeros(0, np.int64), account=account)
        release.__dict__["sizes"] = sizes
        return release

    @classmethod
    def of_groups(
        cls, manifest: Manifest, tables: Mapping[str, pa.Table], sizes: Integers, *, in_any_order: bool = False
    ) -> dict[str, Any]:
        """Return what the other tables tell of buckets that have so many people each."""
        published_names(manifest)
        groups = len(sizes)
        if held_names(manifest):
            domain, (st_group, value, count) = read_entries(manifest, tables, groups)
        else:
            domain, st_group, value, count = _read_st(manifest, tables, sizes)
        return {
            "events": domain,
            "st_group": st_group,
            "st_value": value,
            "st_count": count,
            "account": read_accounts(manifest, tables, groups, in_any_order=in_any_order),
            "draws": read_noise(manifest, tables, GROUP, groups, in_any_order=in_any_order),
            "held": read_held(manifest, tables, sizes, domain, HeldEntries(st_group, value, count)),
            "margins": read_margins(manifest, tables, domain, in_any_order=in_any_order),
        }


def _read_st(
    manifest: Manifest, tables: Mapping[str, pa.Table], sizes: Integers
) -> tuple[Domain | Events, Small, Small, Integers]:
    """Return the values that `st` shows of people who have one of each secret, and the group, value and count of its rows."""
    st = take_table(tables, "st", {GROUP: "group"} | value_columns(manifest) | {COUNT: "count"})
    st_group, _ = groups_of(st, GROUP, "st", len(sizes))
    domain, value = code_values(manifest, st)
    if manifest.rests_on.noisy:
        count = noisy_counts(st, COUNT, st_group, value, len(sizes) * len(domain))
    else:
        count = whole_numbers(st, COUNT, "st")
        for low, high in pairwise(domain.first.tolist()):
            mine = slice(None) if high - low == len(domain) else (value >= low) & (value < high)
            _require_people(manifest, count[mine], st_group[mine], sizes)
        require_distinct(st_group * np.int64(len(domain)) + value, "table 'st'")
    return domain, st_group, value.astype(np.int32), count


def nearest_shares(shares: Floats) -> Floats:
    """Return for each row the nearest shares that are not negative and add up to 1 (the projection on the simplex)."""
    falling = -np.sort(-shares, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1) / np.arange(1, shares.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1
    nearest: Floats = np.maximum(shares - excess[np.arange(len(shares)), last][:, None], 0.0)
    return nearest


def _require_people(manifest: Manifest, count: Integers, st_group: Small, sizes: Integers) -> None:
    """Raise `FormatError` unless the counts of every group add up to its people, and decoys."""
    decoys = int(manifest.parameters.get("decoys", 0))
    require_counts(count, manifest.rows + decoys * len(sizes))
    shown = np.bincount(st_group, weights=count, minlength=len(sizes)).astype(np.int64)
    wrong = int((shown != sizes + decoys).sum())
    if wrong:
        raise FormatError(f"{wrong} groups show another number of sensitive values than they have people (and decoys)")


def published_names(manifest: Manifest) -> tuple[list[str], list[str], dict[str, Kind]]:
    """Return the quasi columns, the sensitive columns, and the kind of each, as the manifest lists them."""
    try:
        quasi = [str(column["name"]) for column in manifest.schema["quasi"]]
        sensitive = [str(column["name"]) for column in manifest.schema["sensitive"]]
        kinds = {column["name"]: column["kind"] for column in [*manifest.schema["quasi"], *manifest.schema["sensitive"]]}
    except (KeyError, TypeError):
        raise FormatError("manifest.json: the schema does not list the quasi and sensitive columns") from None
    if not quasi or not sensitive or len(kinds) != len(quasi) + len(sensitive):
        raise FormatError("manifest.json: the schema needs quasi and sensitive columns, each name once")
    if not set(kinds.values()) <= set(get_args(Kind)):
        raise FormatError(f"manifest.json: a column is of one of the kinds {', '.join(get_args(Kind))}")
    return quasi, sensitive, kinds
