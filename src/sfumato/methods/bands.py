"""People who may have several values of a secret: their events, and the bands of numbers of rows that never share a group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import Infeasible, NotProvable
from sfumato.exact import percent
from sfumato.groups._cut_kernels import Incidence
from sfumato.groups.grouping import Grouping, Histograms, histograms, require_events
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against, Requirement
from sfumato.privacy.sets import About
from sfumato.table.bundles import Bundles
from sfumato.table.column import combined
from sfumato.table.table import Table

BY_RESULTS = "changing them after a refusal chooses the policy by results, which no claim covers"


def incidence_of(bundles: Bundles, bounds: Bounds) -> Incidence:
    """Return everybody's events in the order of the bounds, which list values as the table does, and then sets."""
    begin, event = bundles.incidence(bounds.members)
    return Incidence(begin, event, len(bounds.events))


def about_bundles(bundles: Bundles, bins: tuple[str, ...], people: int) -> About:
    """Return what bounds of sets need to know: how many people have one of some values, each of them once."""
    place = {label: k for k, label in enumerate(bundles.labels)}
    return About(bins, {}, people, lambda values: int(bundles.any_of([place[value] for value in values]).sum()))


def band_bounds(table: Table, requirement: Requirement) -> Bounds:
    """Return the bounds of one secret that follow from the shares in each band, by how many of its people have what.

    Whoever exchanges what two people of a band have changes none of these counts: they may decide as those of a table do.
    """
    assert table.bundles is not None
    bounds, bins = [], table.schema.bins_in_order()
    for stratum, rows in _bands(table):
        own = table.bundles.at(rows)
        try:
            about = replace(about_bundles(own, bins, len(rows)), every=True)
            bounds.append(requirement.bounds(own.histogram(), about))
        except Infeasible as error:
            raise Infeasible(
                f"{_called(table, stratum)}: {error.message}",
                hint=error.hint,
                values=error.values,
                has=error.has,
                needs=error.needs,
                nearest=error.nearest,
            ) from None
    return Bounds.of_bands(bounds)


def _bands(table: Table) -> Iterator[tuple[int, Integers]]:
    """Yield the number of each band, and who is of it."""
    strata = strata_of(table)
    for stratum in () if strata is None else np.unique(strata).tolist():
        yield stratum, np.flatnonzero(strata == stratum)


def counted_events(secrets: Incidence, grouping: Grouping, bounds: Bounds, table: Table) -> Grouping:
    """Return the grouping with how many people of each group have each event, every count checked against its bound."""
    events = histograms(np.repeat(grouping.group, np.diff(secrets.begin)), secrets.event, secrets.events)
    for (_, rows), own in zip(_bands(table), bounds.bands, strict=True) if bounds.bands else ():
        here = np.isin(events.group, grouping.group[rows])
        some = Histograms(events.group[here], events.value[here], events.count[here])
        require_events(some, grouping.sizes, own, grouping.account)
    require_events(events, grouping.sizes, bounds, grouping.account)
    return replace(grouping, shown=events)


def several_values(method: str, why: str, against: Against) -> NotProvable:
    """Return that a method is for one value a person."""
    return NotProvable(
        f"method {method!r} cannot publish people who may have several values of a secret: {why}",
        hint='name = "boxes"; or keep one row of each person, and one column a secret',
        against=against,
    )


def strata_of(table: Table) -> Array | None:
    """Return the band of everybody's number of rows, None where people of any number may share a group."""
    bands = [table.column(name) for name in table.schema.people_rule.bands]
    if len(bands) < 2:
        return bands[0].codes if bands else None
    return np.unique(combined(bands), return_inverse=True)[1].astype(np.int32)


def _called(table: Table, stratum: int) -> str:
    """Return who is of a band: people with 3 to 4 rows, households with 2 members."""
    strata, rule = strata_of(table), table.schema.people_rule
    assert strata is not None
    one = int(np.argmax(strata == stratum))
    bands = [f"{column.labels()[column.codes[one]]} {column.name}" for column in map(table.column, rule.bands)]
    return f"{'people' if rule.unit is None else 'households'} with {' and '.join(bands)}"


def require_bands(table: Table, bounds: Bounds) -> None:
    """Raise `Infeasible` where people of one band cannot keep the bounds, not even all together.

    Nothing is joined instead: which bands keep the bounds depends on who has what, and to join those that do not would tell.
    """
    strata = strata_of(table)
    if strata is None or table.bundles is None or bounds.bands:  # bounds that follow from a band's own shares were kept there
        return
    secret = incidence_of(table.bundles, bounds)
    sizes = np.bincount(strata)
    key = np.repeat(strata.astype(np.int64), np.diff(secret.begin)) * secret.events + secret.event
    counts = np.bincount(key, minlength=len(sizes) * secret.events).reshape(len(sizes), -1)
    broken = [
        (Fraction(int(counts[b, e]), int(sizes[b])), b, e)
        for b, e in zip(*np.nonzero(counts), strict=True)
        if counts[b, e] > bounds.limits[e] * int(sizes[b])
    ]
    if not broken:
        return
    share, place, event = max(broken, key=lambda one: (one[0] - bounds.limits[one[2]], -one[1], -one[2]))
    label, rule = bounds.labels[event], table.schema.people_rule
    whom, where = ("people", "people") if rule.unit is None else ("households", "unit")
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    raise Infeasible(
        f"{_called(table, place)} share groups with nobody else, and {label} is frequent among them: {percent(share)} of these "
        f"{int(sizes[place]):,} {whom} have it, the bound is {percent(bounds.limits[event])}{more}",
        hint=f'weaker bounds; or coarser bands, {where}={{"alike": [2, 3]}}, where that was decided before: {BY_RESULTS}',
        values=[label],
        has={label: share},
        needs={label: share},
        nearest={},
    )
