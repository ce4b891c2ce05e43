"""The one way of every audit: the tables are read once, then they get the checks of their form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor.apart import audit_apart
from sfumato.auditor.buckets import audit_buckets
from sfumato.auditor.claims import Case, program
from sfumato.auditor.columns import audit_columns
from sfumato.auditor.lookalikes import look_alike_warnings
from sfumato.auditor.next_attack import next_attack
from sfumato.auditor.original import other_columns, unlike_schema
from sfumato.auditor.randomized import audit_randomized
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.result import Audit
from sfumato.auditor.synthetic import audit_synthetic
from sfumato.auditor.views import audit_views
from sfumato.errors import FormatError, InputError
from sfumato.release.base import Release, form_of
from sfumato.release.files import Stored
from sfumato.release.links import Links
from sfumato.release.manifest import Manifest
from sfumato.table.table import Table

AUDITS: dict[str, Callable[[Case[Any]], Audit]] = {
    "buckets": audit_buckets,
    "ranges": audit_ranges,
    "columns": audit_columns,
    "views": audit_views,
    "randomized": audit_randomized,
    "synthetic": audit_synthetic,
}
"""The checks of each form."""


def audit_release(release: Release, table: Table | None = None, **given: Any) -> Audit:
    """Return the audit of a release in memory, from the tables it would publish; see `audit_tables`."""
    return audit_tables(release.manifest, release.tables(), table, **given)


def audit_stored(stored: Stored, table: Table | None = None, **given: Any) -> Audit:
    """Return the audit of a release on disk: tables that cannot be a release are findings here, not errors."""
    return audit_tables(stored.manifest, stored.tables, table, problems=stored.problems, **given)


def audit_tables(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None = None,
    *,
    problems: tuple[str, ...] = (),
    parts: Integers | None = None,
    links: Links | None = None,
    outsiders: Any = None,
    draw: bool = True,
) -> Audit:
    """Return the audit of published tables; with the original table also whether nothing was lost or invented.

    `parts`, `links` and `outsiders` are what `Case` says. Without `draw` the audit of a randomized
    release looks at nothing that depends on how the coins fell, which is how a publisher audits: refusing some draws would tell
    that this one was not refused.
    """
    _require_use(manifest, table, links, outsiders)
    found = list(problems)
    comparable = table
    try:
        release = read_tables(manifest, tables, found)
        if table is not None:
            found += unlike_schema(manifest, table)
            unlike = other_columns(manifest, tables, table)
            found += unlike
            comparable = None if unlike else table
        case = Case(release, comparable, parts, links, outsiders, draw)
        one = AUDITS[manifest.form]
        audit = audit_apart(case, one) if manifest.apart else one(case)
    except FormatError as error:
        return Audit(claims=(), problems=(*found, error.message), with_table=table is not None)
    return completed(audit, manifest, tables, table, found)


def completed(
    audit: Audit, manifest: Manifest, tables: Mapping[str, pa.Table], table: Table | None, problems: Sequence[str]
) -> Audit:
    """Return the audit of a form with what is said of every release: warnings, the notice, and problems found before."""
    return replace(
        audit,
        claims=tuple(replace(one, stronger=next_attack(one.adversary, manifest, manifest.rows)) for one in audit.claims),
        problems=(*problems, *audit.problems, *_several_rows(manifest, table)),
        warnings=(*_warnings(manifest), *audit.warnings, *(look_alike_warnings(tables) if table is None else ())),
        notice=_notice(manifest),
        with_table=table is not None,
    )


def read_tables(manifest: Manifest, tables: Mapping[str, pa.Table], problems: list[str]) -> Release:
    """Return the release whose tables these are; what can be said about it all the same goes to `problems`.

    Tables in another order than a release has are put in order, so that everything else about them can still be said.
    """
    form = form_of(manifest)
    try:
        release = form.from_tables(manifest, tables)
    except FormatError as disorder:
        release = form.from_tables(manifest, tables, in_any_order=True)
        problems.append(disorder.message)
    problems += release.contradictions()
    return release


def _require_use(manifest: Manifest, table: Table | None, links: Links | None, outsiders: Any) -> None:
    """Raise an error where something is given that the audit of this form could not use."""
    if outsiders is not None and not form_of(manifest).hides_presence:
        raise InputError(
            f"outsiders: a release of the form {manifest.form!r} says nothing about presence",
            hint="leave them out; only columns and views do",
        )
    if links is not None and (manifest.form != "ranges" or "weaker_claim" not in manifest.parameters or table is None):
        raise FormatError("links belong to a release whose records have ranges of their own, and to its table")


def _several_rows(manifest: Manifest, table: Table | None) -> list[str]:
    """Return that the release speaks of people where the table's rows are not people; nothing without the table."""
    stated = manifest.parameters.get("one_row_per_person", True) is not False
    if table is None or table.schema.one_row_per_person or not stated:
        return []
    return ["the release speaks of people, but in the table one person may have several rows"]


def _warnings(manifest: Manifest) -> list[str]:
    """Return what a reader of the audit should know besides the claims, from the manifest alone."""
    warnings = []
    if manifest.seeded:
        warnings.append("the release was made with a seed: whoever learns the seed can undo it; do not hand it out")
    if manifest.parameters.get("one_row_per_person") is False:
        warnings.append("one person may have several rows: the bound is about a row, not about a person")
    if len(manifest.schema.get("sensitive", ())) > 1 and not manifest.apart:
        warnings.append(
            "several sensitive columns were bounded as combinations: the belief in a single part can be larger than the "
            "bound of every combination it occurs in"
        )
    return warnings


def _notice(manifest: Manifest) -> str:
    """Return whose word it is how people were put together, or how coins were drawn."""
    basis = "" if manifest.basis is None else f", which says that people were put together on the basis {manifest.basis!r}"
    return f"made by {program(manifest)}{basis}; the tables cannot show how it was made"
