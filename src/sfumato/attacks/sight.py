"""What an attack may read: the release, quasi values, and what it is told. The original table is on the other side.

An adversary gets a `Sight` and nothing else. It holds quasi values as Arrow tables that have no other column, and an `Informant`
who tells values of other people and never of the victim. So no attack can look at the answer by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.attacks.informant import Informant
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.table.table import Table


@dataclass(frozen=True, eq=False)
class Sight:
    """The release, everybody's quasi values (what a reader is granted), who of them is attacked, and coins.

    `shares` are how frequent each sensitive value of the release is among all: what everybody may know beforehand. `outsiders`
    are people who are not in the table, `sets` sets of values that the user named, `others` further releases about the same
    people, and `persons` says which rows are one person's where an adversary knows that.
    """

    release: Release
    everybody: pa.Table
    victims: Integers
    shares: Floats
    informant: Informant
    random: Randomness
    outsiders: pa.Table | None = None
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    others: tuple[Release, ...] = ()
    persons: Integers | None = None

    @cached_property
    def people(self) -> pa.Table:
        """The quasi values of the victims."""
        return self.everybody.take(pa.array(self.victims))

    @cached_property
    def distinct(self) -> tuple[pa.Table, Integers]:
        """The different quasi rows of the victims, and which of them each victim has."""
        return distinct_rows(self.people)

    @cached_property
    def reader(self) -> Floats:
        """What a reader believes of each victim, who may be any row that fits: computed once, many attacks begin with it."""
        return believed(self.release, self.people, self.shares)

    @cached_property
    def largest(self) -> Floats:
        """The largest belief over what fits each victim, which is what claims bound."""
        return believed(self.release, self.people, self.shares, largest=True)

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What attacks of one run have learned and pass on to each other: all of it comes from this sight."""
        return {}


def believed(release: Any, people: pa.Table, shares: Floats, *, largest: bool = False) -> Floats:
    """Return a reader's beliefs in every value of the release, mean or largest; a row of NaN for whom nothing published fits.

    Behind coins with computed parameters she takes the true shares as prior, as the claim says; declared ones are in the release.
    """
    distinct, which = distinct_rows(people)
    beliefs = release.beliefs if largest else release.mean_beliefs
    if release.shown_as.by_coin and not release.declared:
        own = [shares[part.values] / max(float(shares[part.values].sum()), 1e-300) for part in release.parts]
        per_person = beliefs(distinct, shares=own)
    else:
        per_person = beliefs(distinct)
    return np.asarray(per_person, dtype=np.float64)[which]


def distinct_rows(people: pa.Table) -> tuple[pa.Table, Integers]:
    """Return the different rows of a table, and which of them each row is: people who look alike are computed once."""
    key = np.zeros(people.num_rows, np.int64)
    for column in people.columns:
        plain = column.combine_chunks()
        encoded = plain if pa.types.is_dictionary(plain.type) else plain.dictionary_encode("encode")
        codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(len(encoded.dictionary)), dtype=np.int64)
        key = np.unique(key * (len(encoded.dictionary) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return people.take(pa.array(first)), which.astype(np.int64)


def quasi_only(table: Table) -> pa.Table:
    """Return the quasi columns of a table, as published, and no others."""
    return pa.table({column.name: column.arrow() for column in table.quasi})
