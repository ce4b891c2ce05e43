"""How wide the ranges and sets of groups are: the normalised certainty penalty of the generalization literature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Array, Floats
from sfumato.errors import InputError
from sfumato.query.language.vocabulary import declared_in
from sfumato.release.base import Release
from sfumato.release.boxes import Box, Ranges, Sets, box_of
from sfumato.release.buckets import BucketsRelease
from sfumato.release.ranges import RangesRelease
from sfumato.table.column import Column
from sfumato.table.declared import DeclaredDomain
from sfumato.table.schema import Schema

NormalisedBy = Literal["declared", "seen", "mixed"]


@dataclass(frozen=True)
class Gcp:
    """The mean over people and columns, 0 for exact values to 1 for whole domains; and per column its own mean.

    `normalised_by` says against which domains: those that the policy declared, those seen in the release, or each in some
    columns (`declared` names those). Figures are comparable only under the same domains.
    """

    value: float
    per_column: Mapping[str, float]
    normalised_by: NormalisedBy
    declared: tuple[str, ...] = ()


def gcp(release: Release) -> Gcp:
    """Return the GCP of a release in groups: of its ranges, or of those its buckets would be shown by ([003], NCP)."""
    if release.form not in _GCP:
        raise InputError(f"the form {release.form!r} has no groups with ranges", hint="GCP is for ranges and buckets")
    return _GCP[release.form](release, declared_in(release.manifest.schema))


_GCP: dict[str, Callable[[Any, Schema | None], Gcp]] = {
    RangesRelease.form: lambda release, declared: _mean(release.boxes, release.sizes, declared),
    BucketsRelease.form: lambda release, declared: gcp_of_groups(release.quasi, release.group, schema=declared),
}


def gcp_of_groups(columns: Sequence[Column], group: Array, *, schema: Schema | None = None) -> Gcp:
    """Return the GCP of a grouping: a group number per row, −1 for rows left out. `schema` may declare domains."""
    kept = np.flatnonzero(group >= 0)
    if not len(kept):
        raise InputError("no row is in a group, and a mean needs at least one")
    numbers, short = np.unique(group[kept], return_inverse=True)
    boxes = [box_of(column.take(kept), short, len(numbers)) for column in columns]
    return _mean(boxes, np.bincount(short), schema)


def ncp(box: Box, domain: DeclaredDomain | None) -> Floats:
    """Return for every group how much of a column's domain it shows.

    Numbers and dates: (high − low) / (upper − lower end of the domain). Categories: (values − 1) / (values of the domain − 1). A
    domain of one value costs nothing. A missing value counts as a category; beside a range it costs nothing.
    """
    if isinstance(box, Sets):
        length = np.diff(box.start).astype(np.float64)
        known = len(box.values) if domain is None or domain.values is None else len(domain.values)
        size = known + int(box.has_missing)
        return (length - 1) / (size - 1) if size > 1 else np.zeros(len(length))
    ends = np.array([_number(value) for value in box.values.to_pylist()], dtype=np.float64)
    low, high = _limits(box, ends, domain)
    if high <= low:
        return np.zeros(len(box.low))
    shown = box.low >= 0
    width = np.zeros(len(box.low))
    width[shown] = ends[box.high[shown]] - ends[box.low[shown]]
    return width / (high - low)


def _mean(boxes: Sequence[Box], sizes: Array, schema: Schema | None) -> Gcp:
    domains = {box.name: None if schema is None else schema.domain(box.name) for box in boxes}
    declared = tuple(name for name, domain in domains.items() if domain is not None)
    per_column = {box.name: float((ncp(box, domains[box.name]) * sizes).sum() / sizes.sum()) for box in boxes}
    how: NormalisedBy = "seen" if not declared else "declared" if len(declared) == len(boxes) else "mixed"
    return Gcp(float(np.mean(list(per_column.values()))), per_column, how, declared)


def _limits(box: Ranges, ends: Floats, domain: DeclaredDomain | None) -> tuple[float, float]:
    if domain is None:
        return (float(ends[0]), float(ends[-1])) if len(ends) else (0.0, 0.0)
    if domain.values is not None:
        read = date.fromisoformat if box.kind == "date" else float
        listed = [_number(read(text)) for text in domain.values]
        return min(listed), max(listed)
    return _number(domain.minimum), _number(domain.maximum)


def _number(value: Any) -> float:
    """Return a number, or a date as days since 1970."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - datetime(1970, 1, 1)) / timedelta(days=1)
    return float(value.toordinal() - date(1970, 1, 1).toordinal()) if isinstance(value, date) else float(value)
