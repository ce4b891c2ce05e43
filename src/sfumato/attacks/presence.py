"""Presence: is she in the table at all? From the release alone, and with a list of the population (δ-presence; 004 Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable, one_cover, one_range
from sfumato.attacks.sight import Sight, distinct_rows
from sfumato.errors import FormatError


def presence(sight: Sight) -> Iterator[Posteriors]:
    """Yield a stranger's belief that members, and outsiders, are in the table; then with everybody of both as a list.

    Exact quasi values (buckets, randomized records) show who is there: whoever's row is published is believed present.
    """
    release: Any = sight.release
    if not release.shown_as.of_people:
        raise NotApplicable("synthetic records belong to no person, so that no row tells who is in the table")
    away = sight.outsiders
    yield Posteriors(
        _pair(_alone(release, sight.people)),
        "from the release",
        control=None if away is None else _pair(_alone(release, away)),
    )
    if away is None:
        return
    listed = pa.concat_tables([sight.everybody, away.cast(sight.everybody.schema)])
    beliefs = with_list(release, listed)
    rows = sight.everybody.num_rows
    yield Posteriors(
        _pair(beliefs[sight.victims]),
        "with a list of the population",
        control=_pair(beliefs[rows:]),
        figures={"smallest belief (δ-presence)": float(beliefs.min()), "largest belief (δ-presence)": float(beliefs.max())},
        knows="linker",
    )


def _pair(belief: Floats) -> Floats:
    return np.stack([1 - belief, belief], axis=1)


def _alone(release: Any, people: pa.Table) -> Floats:
    """Return belief in presence from the release alone, equal people computed once."""
    distinct, which = distinct_rows(people)
    if release.shown_as.exact_quasi:
        return (_published(release, distinct) > 0).astype(np.float64)[which]
    try:
        beliefs: Floats = np.asarray(release.presence(distinct), dtype=np.float64)[which]
    except FormatError as error:
        raise NotApplicable(error.message) from None
    return beliefs


def _published(release: Any, people: pa.Table) -> Integers:
    """Return how many published rows have each person's quasi values."""
    from sfumato.release.coding import match_rows

    owner, _, owners = match_rows(release.quasi, people)
    return np.bincount(owner, minlength=owners).astype(np.int64)


def with_list(release: Any, listed: pa.Table) -> Floats:
    """Return for everybody on a list that holds all members |members like her| / |people on the list like her|.

    Like her is: with her quasi values, where these are exact; in her group, where groups are shown by ranges and are disjoint.
    """
    distinct, which = distinct_rows(listed)
    many = np.bincount(which)
    if release.shown_as.exact_quasi:
        return np.minimum(1.0, _published(release, distinct) / many)[which]
    group = _group(release, distinct)
    people = np.bincount(group[group >= 0], weights=many[group >= 0], minlength=len(release.sizes))
    share = np.minimum(1.0, release.sizes / np.maximum(people, 1))
    return np.where(group >= 0, share[np.maximum(group, 0)], 0.0)[which]


def _group(release: Any, people: pa.Table) -> Integers:
    from sfumato.release.coding import people_codes

    if release.shown_as.as_ranges:
        group = one_range(release, people)
    else:
        codes = release.find(people) if release.shown_as.by_matchings else people_codes(release.columns, people)
        group = one_cover(release.cover, codes)
    if (group == -2).any():
        raise NotApplicable("groups overlap, so that a list does not say how many people are in each")
    return group
