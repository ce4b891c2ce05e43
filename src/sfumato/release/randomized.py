"""Form *randomized*: exact quasi values, the part a person is in, and a sensitive value that was kept or replaced by a coin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.buckets import published_names
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order
from sfumato.release.coding import (
    code_column,
    code_domain,
    decoded,
    dictionary_array,
    match_rows,
    require_tables,
    sensitive_columns,
    take_table,
    whole_numbers,
)
from sfumato.release.manifest import KNOWS, Adversary, Claim, Manifest
from sfumato.release.parts import RandomizedPart, listed_values, part_entries, plain_values, read_part
from sfumato.release.weights import beside_weight
from sfumato.table.column import Column, Domain, combined
from sfumato.table.frames import Native

PART = "part"
RECORDS = "records"


class _PartPosterior(NamedTuple):
    """Whose the rows of a part are, which of its values they show, and what is believed given each value shown.

    That it was kept; and that it replaced another one, by that one's share, times a factor of the value shown.
    """

    part: RandomizedPart
    owner: Integers
    shown: Integers
    kept: Floats
    replaced: Floats
    factor: Floats


@dataclass(frozen=True, eq=False, repr=False)
class RandomizedRelease(Release):
    """`records`: one row per person with quasi values, the part, and the randomized sensitive value ([SDR §3.1, §4]).

    Parts are numbered 0 … in memory and 1 … in the table and the manifest. The values and the matrix of each part are in the
    manifest's parameters `parts`; the domain holds the values of all parts.
    """

    form = "randomized"

    quasi: tuple[Column, ...]
    domain: Domain
    part: Small
    value: Array
    made_from: Native = "pyarrow"

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each part that has any."""
        sizes = np.bincount(self.part)
        return sizes[sizes > 0]

    @cached_property
    def parts(self) -> tuple[RandomizedPart, ...]:
        """The parts in the order of their numbers, read from the manifest."""
        code = {value: k for k, value in enumerate(plain_values(self.domain))}
        return tuple(read_part(entry, code) for entry in part_entries(self.manifest))

    @cached_property
    def declared(self) -> bool:
        """Whether shares, parts and retention were declared, and not computed from the table."""
        return self.manifest.parameters.get("parameters") == "declared"

    @cached_property
    def tally(self) -> Integers:
        """[parts × values]: how often each value is published in each part."""
        shape = len(part_entries(self.manifest)), len(self.domain)
        key = self.part.astype(np.int64) * shape[1] + self.value
        return np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)

    def counts(self, part: int) -> Floats:
        """Return how often each value of a part is published in it, in the order of the part's values."""
        counts: Floats = self.tally[part][self.parts[part].values].astype(np.float64)
        return counts

    @cached_property
    def priors(self) -> tuple[Floats, ...]:
        """Per part the shares that a reader may take as prior: the declared ones, else likely ones from what is published."""
        return tuple(
            part.likely_shares(self.counts(i)) if part.shares is None else np.array([float(share) for share in part.shares])
            for i, part in enumerate(self.parts)
        )

    @property
    def shown_columns(self) -> tuple[Column, ...]:
        """The quasi columns."""
        return self.quasi

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`: the quasi columns, the part, and the sensitive columns as randomized."""
        columns: dict[str, pa.Array] = {column.name: dictionary_array(column) for column in self.quasi}
        columns[PART] = pa.array(self.part + 1, pa.int32())
        columns |= sensitive_columns(self.domain, self.value)
        return {RECORDS: pa.table(columns)}

    def beliefs(self, people: Any, *, shares: Sequence[Floats] | None = None) -> Floats:
        """Return [people × sensitive values]: the largest belief given part and published value of a row that fits.

        Prior and `shares` are those of `mean_beliefs`. A person whom no published row fits gets NaN.
        """
        owner, row, owners = match_rows(self.quasi, people)
        beliefs = np.zeros((owners, len(self.domain)))
        for part, who, shown, kept, replaced, factor in self._posteriors(owner, row, shares):
            most = np.zeros(owners)
            np.maximum.at(most, who, factor[shown])
            beliefs[:, part.values] = np.maximum(beliefs[:, part.values], most[:, None] * replaced)
            own = kept + replaced * factor
            np.maximum.at(beliefs, (who, part.values[shown]), own[shown])
        beliefs[np.bincount(owner, minlength=owners) == 0] = np.nan
        return beliefs

    def mean_beliefs(self, people: Any, *, shares: Sequence[Floats] | None = None) -> Floats:
        """Return [people × sensitive values]: the belief given part and published value, averaged over the rows that fit.

        The prior is what the release says about the shares of the part (`priors`), or `shares`, one array per part in the order
        of its values: the bounds speak of the true shares, which only the publisher can give. A person whom no published row
        fits gets NaN.
        """
        owner, row, owners = match_rows(self.quasi, people)
        beliefs = np.zeros((owners, len(self.domain)))
        for part, who, shown, kept, replaced, factor in self._posteriors(owner, row, shares):
            weight = np.bincount(who, weights=factor[shown], minlength=owners)
            beliefs[:, part.values] += weight[:, None] * replaced
            np.add.at(beliefs, (who, part.values[shown]), kept[shown])
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = beliefs / np.bincount(owner, minlength=owners)[:, None]
        return result

    def _posteriors(self, owner: Integers, row: Integers, shares: Sequence[Floats] | None) -> Iterator[_PartPosterior]:
        """Yield what is believed of the rows of every part."""
        part, value = self.part[row], self.value[row]
        for i, (coins, prior) in enumerate(zip(self.parts, self.priors if shares is None else shares, strict=True)):
            mine = part == i
            place = np.zeros(len(self.domain), np.int64)
            place[coins.values] = np.arange(len(coins))
            replaced = prior * (1 - coins.kept) / len(coins)
            seen = prior * coins.kept + replaced.sum()
            with np.errstate(invalid="ignore", divide="ignore"):
                yield _PartPosterior(coins, owner[mine], place[value[mine]], prior * coins.kept / seen, replaced, 1 / seen)

    def in_fixed_words(self, claim: Claim) -> Claim:
        """Return the claim against this adversary in the words that such a release makes it in."""
        one_row = bool(self.manifest.parameters["one_row_per_person"])
        made = randomized_claim(claim.adversary, declared=self.declared, one_row_per_person=one_row)
        return beside_weight(made, self.manifest.schema.get("declared", {}))

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return the parts by what the manifest says of them, and the rows by quasi values and value."""
        parts = self.parts
        described = sorted(range(len(parts)), key=lambda i: parts[i].described)
        rank = np.zeros(len(parts), np.int64)
        for first, second in pairwise(described):
            rank[second] = rank[first] + (parts[first].described != parts[second].described)
        people = np.unique(combined(self.quasi), return_inverse=True)[1].astype(np.int64)
        rows = TableRows(RECORDS, self.part, people * len(self.domain) + self.value)
        return (TableRows("parts", np.arange(len(parts)), rank), rows), len(parts)

    def canonical(self) -> tuple[RandomizedRelease, Small]:
        """Return the same release with rows and numbers of parts in canonical order, and the number there of each part here."""
        order = canonical_order(*self.listing())
        return self.arranged(order), order.number

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with rows and numbers of parts in this order."""
        rows = order.rows[1]
        entries = sorted(
            ({**entry, "part": int(order.number[i]) + 1} for i, entry in enumerate(part_entries(self.manifest))),
            key=lambda entry: int(entry["part"]),
        )
        return replace(
            self,
            manifest=replace(self.manifest, parameters={**self.manifest.parameters, "parts": entries}),
            quasi=tuple(column.take(rows) for column in self.quasi),
            part=order.number[self.part[rows]],
            value=self.value[rows],
        )

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `records` these are, as they are read; tables or parts that cannot be such are refused."""
        quasi_names, sensitive_names, kinds = published_names(manifest)
        require_tables(tables, cls.form, (RECORDS,))
        expected = {name: kinds[name] for name in quasi_names} | {PART: "group"} | {name: kinds[name] for name in sensitive_names}
        records = take_table(tables, RECORDS, expected, manifest.rows)
        entries = part_entries(manifest)
        part = part_numbers(records, len(entries))
        quasi = tuple(code_column(name, kinds[name], records[name]) for name in quasi_names)
        listed = listed_values(entries, records.select(sensitive_names))
        both = pa.concat_tables([listed, pa.table({name: decoded(records[name]) for name in sensitive_names})])
        domain, codes = code_domain(both, tuple(kinds[name] for name in sensitive_names))
        release = cls(manifest, quasi, domain, part, codes[listed.num_rows :].astype(np.int32))
        known = np.zeros((len(entries), len(domain)), bool)
        for i, coins in enumerate(release.parts):
            known[i, coins.values] = True
        if not known[part, release.value].all():
            raise FormatError(f"{int((~known[part, release.value]).sum())} records show a value that their part does not have")
        return release


def randomized_claim(adversary: Adversary, *, declared: bool, one_row_per_person: bool = True) -> Claim:
    """Return the claim of a randomized release, in the words it is always made in; an insider's needs declared parameters."""
    article = "An" if adversary[0] in "aeiou" else "A"
    whom = "published person" if one_row_per_person else "published row (one person may have several)"
    prior = "the declared shares of the part" if declared else "the part's shares"
    statement = (
        f"{article} {adversary}, {KNOWS[adversary]}, believes that a given {whom} has a given sensitive value with probability "
        f"at most that value's bound, for records seen as independent with {prior} as prior."
    )
    if declared:
        statement += (
            " For any prior p inside the part the belief is at most γp/(1+(γ−1)p), γ being the largest ratio of the chances with "
            "which two values of the part are published as the same one."
        )
    return Claim("association", adversary, statement)


def part_numbers(records: pa.Table, parts: int) -> Small:
    """Return the part of each record, from 0 on."""
    number = whole_numbers(records, PART, RECORDS)
    if number.max(initial=1) > parts:
        raise FormatError(f"table 'records': parts should be numbers from 1 to {parts}")
    return (number - 1).astype(np.int32)
