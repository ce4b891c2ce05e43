"""The one way of every audit: the tables are read once, then they get the checks of their form.

Beside the checks it says which values a reader would take for one another (two spellings of one value can tell two people apart),
and for every claim the next stronger adversary, whom nothing is claimed against, with the attack that shows what she reaches.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor.buckets import audit_buckets
from sfumato.auditor.claims import Case, program
from sfumato.auditor.columns import audit_columns
from sfumato.auditor.each import audit_each
from sfumato.auditor.original import other_columns, unlike_schema
from sfumato.auditor.randomized import audit_randomized
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.replay import replay_buckets, replay_ranges
from sfumato.auditor.result import Audit
from sfumato.auditor.synthetic import audit_synthetic
from sfumato.auditor.views import audit_views
from sfumato.auditor.weight import crowds, weight_faults
from sfumato.errors import FormatError, InputError
from sfumato.release.base import Release, form_of
from sfumato.release.coding import value_type
from sfumato.release.files import Stored
from sfumato.release.fragments import ST
from sfumato.release.links import Links
from sfumato.release.manifest import Manifest
from sfumato.release.programs import program_of, refuses_by_bounds
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

REPLAYS: dict[str, Callable[[Audit, Case[Any]], Audit]] = {"buckets": replay_buckets, "ranges": replay_ranges}
"""Where cuts can be replayed: what that adds to an audit."""


def audit_release(release: Release, table: Table | None = None, **given: Any) -> Audit:
    """Return the audit of a release in memory, from the tables it would publish; see `audit_tables`."""
    return audit_tables(release.manifest, release.tables(), table, **given)


def audit_stored(stored: Stored, table: Table | None = None, **given: Any) -> Audit:
    """Return the audit of a release on disk: tables that cannot be a release are findings here, not errors."""
    audit = audit_tables(stored.manifest, stored.tables, table, **given)
    return replace(audit, problems=(*stored.problems, *audit.problems))


def audit_tables(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None = None,
    *,
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
    faults: list[str] = []
    comparable = table
    try:
        release = read_tables(manifest, tables, faults)
        faults += crowds(manifest, tables)
        if table is not None:
            faults += unlike_schema(manifest, table)
            unlike = other_columns(manifest, in_own_types(release, tables), table)
            faults += unlike
            comparable = None if unlike else table
        case = Case(release, comparable, parts, links, outsiders, draw)
        audit = audit_each(case, AUDITS[manifest.form])
        if manifest.form in REPLAYS:
            audit = REPLAYS[manifest.form](audit, case)
    except FormatError as error:
        return Audit(claims=(), problems=(*faults, error.message), with_table=table is not None)
    return completed(audit, manifest, in_own_types(release, tables), table, faults)


def in_own_types(release: Release, tables: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
    """Return the tables with the values of each of several secrets by themselves, in place of those as text in one table."""
    if len(release.each) == 1 or ST not in tables:
        return tables
    shown: Sequence[Any] = release.each
    own = {f"{ST} of {name}": counts.domain.table for name, counts in zip(release.secrets, shown, strict=True)}
    return {name: table for name, table in tables.items() if name != ST} | own


def completed(
    audit: Audit, manifest: Manifest, tables: Mapping[str, pa.Table], table: Table | None, problems: Sequence[str]
) -> Audit:
    """Return the audit of a form with what is said of every release: warnings, the notice, and problems found before."""
    return replace(
        audit,
        claims=tuple(replace(claim, stronger=next_attack(claim.adversary, manifest, manifest.rows)) for claim in audit.claims),
        problems=tuple(
            dict.fromkeys([*problems, *audit.problems, *weight_faults(manifest, tables), *_several_rows(manifest, table)])
        ),
        warnings=(*_warnings(manifest), *audit.warnings, *(look_alike_warnings(tables) if table is None else ())),
        notice=audit.notice or _notice(manifest),
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
    if outsiders is not None and not manifest.shown_as.hides_presence:
        raise InputError(
            f"outsiders: a release of the form {manifest.form!r} says nothing about presence",
            hint="leave them out; only columns and views do",
        )
    if links is not None and (not manifest.own_ranges or table is None):
        raise FormatError("links need a release whose records have ranges of their own, and its table")


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
    if len(manifest.schema["sensitive"]) > len(manifest.secrets):
        warnings.append(
            "several sensitive columns were bounded as combinations: the belief in a single part can be larger than the "
            "bound of every combination it occurs in"
        )
    return warnings


def _notice(manifest: Manifest) -> str:
    """Return which program it rests on how records were grouped, or how coins were drawn."""
    basis = "" if manifest.basis is None else f", which says that records were grouped on the basis {manifest.basis!r}"
    return f"made by {program(manifest)}{basis}; the tables cannot show how it was made"


_CAPITALS = str.maketrans("АВЕЗІЈКМНОРСТУХЅԚԜҺ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABE3IJKMHOPCTYXSQWh" + "ABEZHIKMNOPTYX")
"""Cyrillic, then Greek capitals, and the Latin ones they look like."""
_SMALL = str.maketrans("авезікмнорстухѕјԛԝһѵ" + "αιкνορτυχω" + "ıɑɡɩʋøłđħŧ", "abe3ikmhopctyxsjqwhv" + "aiknoptuxw" + "iagivoldht")
"""Cyrillic, Greek and other small letters, and the Latin ones they look like."""
_DIGITS = str.maketrans("1I|0", "lllo")
_UNSEEN = ("Mn", "Me", "Cf", "Cc", "Zs", "Zl", "Zp")


def skeletons(text: str) -> tuple[str, str]:
    """Return what is left of a text without case, blanks, accents and scripts, and the same with digits taken for letters."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text)).translate(_CAPITALS)
    kept = "".join(letter for letter in plain if unicodedata.category(letter) not in _UNSEEN)
    return kept.casefold().translate(_SMALL), kept.translate(_DIGITS).casefold().translate(_SMALL)


def look_alikes(texts: Iterable[str]) -> int:
    """Return how many of these texts look like another one of them."""
    marks = {text: skeletons(text) for text in texts}
    times = [Counter(mark[k] for mark in marks.values()) for k in (0, 1)]
    return sum(any(times[k][mark[k]] > 1 for k in (0, 1)) for mark in marks.values())


def look_alike_warnings(tables: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """Return a sentence for every published text column whose values differ only by case, blanks or look-alike letters."""
    texts: dict[str, set[str]] = defaultdict(set)
    for table in tables.values():
        for field in table.schema:
            kind = value_type(field.type)
            column = table[field.name]
            if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
                column, kind = pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type), kind.value_type
            if pa.types.is_string(kind):
                texts[field.name].update(text for text in column.unique().to_pylist() if text is not None)
    return tuple(
        f"column {name!r}: {many} values differ from another one only by case, blanks, accents or look-alike letters; such "
        "spellings can mark people, and only the table can tell whether they are its own"
        for name, values in texts.items()
        if (many := look_alikes(values))
    )


TINY = 9
"""Tables of up to so many people can be rerun with every placement, whatever the method."""

ENGINEER = ("minimality", "an engineer, who reruns the program")
LEARNER = ("statistician", "somebody who learns from the release how columns are associated")
KINDS = ("nb", "somebody who learns from the release what kinds of people have")
ROWS = ("number-of-rows", "somebody who knows how many rows everybody has, also inside a band")
NUMBERS = ("number-of-values", "somebody who knows how many values everybody has")
LISTED = ("presence --outsiders FILE", "somebody with a list of the population")


def next_attack(adversary: str, manifest: Manifest, people: int) -> tuple[str, str]:
    """Return what to give `sfumato attack --attack`, and who does it: the first stronger one who can do anything here."""
    if adversary == "stranger":
        return LISTED
    if manifest.bundled:
        return NUMBERS if manifest.alike in (None, "number") else ROWS
    if adversary == "reader" and _can_be_rerun(manifest, people):
        return ENGINEER
    return LEARNER if _shows_who_is_where(manifest) else KINDS


def _can_be_rerun(manifest: Manifest, people: int) -> bool:
    """Return whether an engineer has more than a reader to go by, in a way that can be computed."""
    basis = manifest.rests_on
    if not basis.by_histograms or manifest.shown_as.by_matchings:
        return False
    return people <= TINY or "engineer" in basis.proves or (basis.values_decide and _cut(manifest))


def _cut(manifest: Manifest) -> bool:
    """Return whether groups come from cuts that can be made again, since bounds alone refuse them."""
    program = program_of(manifest.method)
    return program is not None and program.cuts and refuses_by_bounds(manifest.method)


def _shows_who_is_where(manifest: Manifest) -> bool:
    """Return whether everybody is in one group that the release shows, or has a published value of her own."""
    if manifest.shown_as.exact_quasi:
        return True
    program = program_of(manifest.method)
    return manifest.shown_as.as_ranges and program is not None and program.cuts
