"""One entry for every form: which checks a release of this form gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor.against import other_schema, other_types
from sfumato.auditor.buckets import audit_buckets
from sfumato.auditor.columns import audit_columns
from sfumato.auditor.linked import audit_linked
from sfumato.auditor.lookalikes import look_alike_warnings
from sfumato.auditor.randomized import audit_randomized
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.result import Audit
from sfumato.auditor.views import audit_views
from sfumato.errors import FormatError, InputError
from sfumato.release.base import Release, release_from
from sfumato.release.buckets import BucketsRelease
from sfumato.release.columns import ColumnsRelease
from sfumato.release.files import Stored
from sfumato.release.links import Links
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease
from sfumato.release.views import ViewsRelease
from sfumato.table.table import Table


def audit_release(
    release: Release,
    table: Table | None = None,
    *,
    problems: tuple[str, ...] = (),
    placed: Integers | None = None,
    links: Links | None = None,
    outsiders: Any = None,
    draw: bool = True,
) -> Audit:
    """Return the audit of a release in memory; with the original table also whether nothing was lost or invented.

    `placed` and `links` are what only the publisher knows: in which part of a randomized release each row of the table is, and
    with which people each record with ranges of its own was matched. `outsiders` are quasi rows of people who are not in the
    table, for forms that speak of presence. Without `draw` the audit of a randomized release looks at nothing that depends on how
    the coins fell, which is how a publisher audits: refusing some draws would tell that this one was not refused.
    """
    if outsiders is not None and not isinstance(release, ColumnsRelease | ViewsRelease):
        raise InputError(
            f"outsiders: a release of the form {release.form!r} says nothing about presence",
            hint="leave them out; only columns and views do",
        )
    if links is not None:
        if not isinstance(release, RangesRelease) or table is None:
            raise FormatError("links belong to a release whose records have ranges of their own, and to its table")
        return audit_linked(release, table, links)
    tables = release.tables()
    unlike = [] if table is None else [*other_schema(release.manifest, table), *other_types(tables, table)]
    found = _audit_form(release, tables, table, (*problems, *release.faults(), *unlike), placed, outsiders, draw=draw)
    if table is not None:
        return found
    return replace(found, warnings=(*found.warnings, *look_alike_warnings(tables)))


def _audit_form(
    release: Release,
    tables: Mapping[str, pa.Table],
    table: Table | None,
    problems: tuple[str, ...],
    placed: Integers | None,
    outsiders: Any,
    *,
    draw: bool,
) -> Audit:
    manifest = release.manifest
    if isinstance(release, BucketsRelease):
        return audit_buckets(manifest, tables, table, problems)
    if isinstance(release, RangesRelease):
        return audit_ranges(manifest, tables, table, problems)
    if isinstance(release, ColumnsRelease):
        return audit_columns(manifest, tables, table, problems, outsiders=outsiders)
    if isinstance(release, ViewsRelease):
        return audit_views(manifest, tables, table, problems, outsiders=outsiders)
    if isinstance(release, RandomizedRelease):
        return audit_randomized(manifest, tables, table, problems, placed=placed, draw=draw)
    raise FormatError(f"there is no audit for the form {release.form!r}")


def audit_stored(stored: Stored, table: Table | None = None, *, outsiders: Any = None) -> Audit:
    """Return the audit of a release on disk: tables that cannot be a release are findings here, not errors."""
    try:
        return audit_release(release_from(stored), table, problems=stored.problems, outsiders=outsiders)
    except FormatError as error:
        return Audit(claims=(), problems=(*stored.problems, error.message), against_table=table is not None)
