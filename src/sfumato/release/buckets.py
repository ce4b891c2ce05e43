"""Form *buckets*: exact quasi values with a bucket number, and per bucket how often each sensitive value occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
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
from sfumato.release.canonical import Order, Shown, canonical_order
from sfumato.release.coding import (
    code_column,
    code_domain,
    dictionary_array,
    entries_table,
    groups_of,
    match_rows,
    require_counts,
    require_distinct,
    require_tables,
    sensitive_columns,
    take_table,
    whole_numbers,
)
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column, Domain, Kind, combined
from sfumato.table.frames import Native

BUCKET = "bucket"
COUNT = "count"


class Runs(NamedTuple):
    """Published rows, and how many people each stands for; None where every row is one person."""

    quasi: tuple[Column, ...]
    bucket: Small
    times: Integers | None


@dataclass(frozen=True, eq=False, repr=False)
class BucketsRelease(Release):
    """`qit`: one row per person, quasi values and bucket; `st`: bucket, sensitive value, count ([F' §3.1]).

    Buckets are numbered 0 … in memory and 1 … in the tables. The rows of `st` are sorted by bucket, then value. With decoys every
    bucket shows `decoys` more sensitive values than it has people. With soft cuts `groups` has the account of every bucket. With
    noise (basis `noisy`) every bucket shows every declared value, counts may be negative, and `draws` says how many draws of
    noise are in each count of a bucket.
    """

    form = "buckets"

    quasi: tuple[Column, ...]
    bucket: Small
    domain: Domain
    st_bucket: Small
    st_value: Small
    st_count: Integers
    made_from: Native = "pyarrow"
    told: Integers | None = None
    draws: Integers | None = None

    @property
    def noisy(self) -> bool:
        """Whether counts have noise."""
        return self.manifest.basis == "noisy"

    @property
    def decoys(self) -> int:
        """σ: how many of the sensitive values shown in each bucket belong to nobody."""
        return int(self.manifest.parameters.get("decoys", 0))

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each bucket."""
        rows = self.runs()
        buckets = 1 + max(int(rows.bucket.max(initial=-1)), int(self.st_bucket.max(initial=-1)))
        if rows.times is None:
            return counted(rows.bucket, buckets)
        return np.bincount(rows.bucket, weights=rows.times, minlength=buckets).astype(np.int64)

    @cached_property
    def shown(self) -> Integers:
        """Number of sensitive values shown in each bucket: its size, plus the decoys; noise adds up to anything."""
        if self.noisy:
            return self.sizes
        return np.bincount(self.st_bucket, weights=self.st_count, minlength=len(self.sizes)).astype(np.int64)

    @cached_property
    def totals(self) -> Integers:
        """How often each sensitive value is shown in all."""
        return np.bincount(self.st_value, weights=self.st_count, minlength=len(self.domain)).astype(np.int64)

    @cached_property
    def st_start(self) -> Integers:
        """First row of each bucket in `st`; one entry more than there are buckets."""
        return np.searchsorted(self.st_bucket, np.arange(len(self.sizes) + 1)).astype(np.int64)

    def runs(self) -> Runs:
        """Return the rows of `qit`, equal ones of a bucket once where they are only counted."""
        return Runs(self.quasi, self.bucket, None)

    def tables(self) -> dict[str, pa.Table]:
        """Return `qit` (quasi…, bucket), `st` (bucket, sensitive…, count), and `groups` (group, told) after soft cuts."""
        qit = {column.name: dictionary_array(column) for column in self.quasi}
        qit[BUCKET] = pa.array(self.bucket + 1, pa.int32())
        rest = account_tables(self.told) | noise_tables(self.draws, BUCKET)
        return {"qit": pa.table(qit), "st": self.secret_table(), **rest}

    def secret_table(self) -> pa.Table:
        """Return the table of sensitive values."""
        return entries_table(BUCKET, self.st_bucket, sensitive_columns(self.domain, self.st_value), self.st_count)

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the share of each value, averaged over the published rows that fit a person.

        A person whom no published row fits gets NaN. With decoys the share counts every value shown. Noisy shares are taken as
        the nearest that are not negative and add up to 1: what a bucket teaches about its people, which no claim bounds.
        """
        rows = self.runs()
        owner, row, owners = match_rows(rows.quasi, people)
        beliefs = np.zeros((owners, len(self.domain)))
        times = np.ones(len(row), np.int64) if rows.times is None else rows.times[row]
        fits = np.bincount(owner, weights=times, minlength=owners)
        bucket = rows.bucket[row]
        length = np.diff(self.st_start)[bucket]
        first = np.repeat(self.st_start[bucket], length)
        entry = first + np.arange(len(first)) - np.repeat(np.cumsum(length) - length, length)
        share = self._shares[entry] * np.repeat(times, length)
        np.add.at(beliefs, (np.repeat(owner, length), self.st_value[entry]), share)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = beliefs / fits[:, None]
        return result

    @cached_property
    def _shares(self) -> Floats:
        """The share of each row of `st` in its bucket."""
        share: Floats = self.st_count / self.shown[self.st_bucket]
        return nearest_shares(share.reshape(len(self.sizes), -1)).ravel() if self.noisy else share

    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return rows by quasi values, entries by value and count, and accounts or draws."""
        rows = self.runs()
        return (Shown("qit", rows.bucket, combined(rows.quasi)), *self.shown_of_buckets()), len(self.sizes)

    def shown_of_buckets(self) -> tuple[Shown, ...]:
        """Return what the tables beside `qit` show."""
        least = min(0, int(self.st_count.min(initial=0)))
        most = int(self.st_count.max(initial=0)) + 1 - least
        entries = self.st_value * np.int64(most) + (self.st_count - least)
        return (Shown("st", self.st_bucket, entries), *account_listing(self.told), *account_listing(self.draws, NOISE))

    def canonical(self) -> BucketsRelease:
        """Return the same release with rows and bucket numbers in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: Order) -> Self:
        """Return the same release with rows and bucket numbers in this order."""
        rows, entries = order.rows[:2]
        return replace(
            self,
            quasi=tuple(column.take(rows) for column in self.quasi),
            bucket=taken(order.number, taken(self.bucket, rows)),
            st_bucket=order.number[self.st_bucket[entries]],
            st_value=self.st_value[entries],
            st_count=self.st_count[entries],
            told=renumbered(self.told, order.number),
            draws=renumbered(self.draws, order.number),
        )

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `qit` and `st` these are, as they are read; tables that cannot be such are refused."""
        quasi_names, _, kinds = published_names(manifest)
        require_tables(tables, cls.form, ("qit", "st", *account_names(manifest), *noise_names(manifest)))
        qit = take_table(tables, "qit", {name: kinds[name] for name in quasi_names} | {BUCKET: "group"}, manifest.rows)
        bucket, buckets = groups_of(qit, BUCKET, "qit")
        facts = cls.of_buckets(manifest, tables, counted(bucket, buckets), in_any_order=in_any_order)
        quasi = tuple(code_column(name, kinds[name], qit[name]) for name in quasi_names)
        return cls(manifest, quasi, bucket, **facts)

    @classmethod
    def from_buckets(
        cls, manifest: Manifest, tables: Mapping[str, pa.Table], quasi: tuple[Column, ...], sizes: Integers
    ) -> BucketsRelease:
        """Return the same release without its people's rows: how many people each bucket has, and all tables but `qit`.

        What is told of buckets is there; the rows of `qit`, and with them the canonical order, are the caller's to look after.
        """
        require_tables(tables, cls.form, ("st", *account_names(manifest), *noise_names(manifest)))
        none = np.zeros(0, np.int32)
        release = cls(manifest, quasi, none, **cls.of_buckets(manifest, tables, sizes))
        release.__dict__["sizes"] = sizes
        key = release.st_bucket * np.int64(len(release.domain)) + release.st_value
        if (key[1:] < key[:-1]).any():
            raise FormatError("the rows of table 'st' are not in the canonical order, and another order could tell anything")
        return release

    @classmethod
    def without_entries(
        cls, manifest: Manifest, tables: Mapping[str, pa.Table], quasi: tuple[Column, ...], sizes: Integers, domain: Domain
    ) -> BucketsRelease:
        """Return the same release also without the rows of `st`, which shows this domain; `tables` are all but `qit` and `st`."""
        names = account_names(manifest)
        require_tables(dict.fromkeys([*tables, "st"], pa.table({})), cls.form, ("st", *names))
        none = np.zeros(0, np.int32)
        told = read_accounts(manifest, tables, len(sizes))
        release = cls(manifest, quasi, none, domain, none, none, np.zeros(0, np.int64), told=told)
        release.__dict__["sizes"] = sizes
        return release

    @classmethod
    def of_buckets(
        cls, manifest: Manifest, tables: Mapping[str, pa.Table], sizes: Integers, *, in_any_order: bool = False
    ) -> dict[str, Any]:
        """Return what the other tables tell of buckets that have so many people each."""
        _, sensitive_names, kinds = published_names(manifest)
        st = take_table(tables, "st", {BUCKET: "group"} | {name: kinds[name] for name in sensitive_names} | {COUNT: "count"})
        buckets = len(sizes)
        st_bucket, _ = groups_of(st, BUCKET, "st", buckets)
        domain, value = code_domain(st.select(sensitive_names), tuple(kinds[name] for name in sensitive_names))
        if manifest.basis == "noisy":
            count = noisy_counts(st, COUNT, st_bucket, value, buckets * len(domain))
        else:
            count = whole_numbers(st, COUNT, "st")
            _require_people(manifest, count, st_bucket, sizes)
            require_distinct(st_bucket * np.int64(len(domain)) + value, "table 'st'")
        return {
            "domain": domain,
            "st_bucket": st_bucket,
            "st_value": value.astype(np.int32),
            "st_count": count,
            "told": read_accounts(manifest, tables, buckets, in_any_order=in_any_order),
            "draws": read_noise(manifest, tables, BUCKET, buckets, in_any_order=in_any_order),
        }


def nearest_shares(shares: Floats) -> Floats:
    """Return for each row the nearest shares that are not negative and add up to 1 (the projection on the simplex)."""
    falling = -np.sort(-shares, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1) / np.arange(1, shares.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1
    found: Floats = np.maximum(shares - excess[np.arange(len(shares)), last][:, None], 0.0)
    return found


def _require_people(manifest: Manifest, count: Integers, st_bucket: Small, sizes: Integers) -> None:
    """Raise `FormatError` unless the counts of every bucket add up to its people, and decoys."""
    decoys = int(manifest.parameters.get("decoys", 0))
    require_counts(count, manifest.rows + decoys * len(sizes))
    shown = np.bincount(st_bucket, weights=count, minlength=len(sizes)).astype(np.int64)
    wrong = int((shown != sizes + decoys).sum())
    if wrong:
        raise FormatError(f"{wrong} buckets show another number of sensitive values than they have people (and decoys)")


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
