"""What audits of *columns* and *views* share: the histograms, the statements of the manifest, and the table they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.auditor.bounds import bounds_of, presence_bound
from sfumato.auditor.claims import declared_values, open_values, several_rows, warnings_of
from sfumato.auditor.halved import not_halved
from sfumato.auditor.own_ranges import has_weaker_claim, stated_faults
from sfumato.auditor.placed import ShownTable, against_table, true_values
from sfumato.auditor.presence import OVERLAP, by_halves, combined_warning, judge_presence, overlaps, presence_findings
from sfumato.auditor.published import Published
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.errors import FormatError, InputError
from sfumato.release.columns import ColumnsRelease
from sfumato.release.fragments import ST
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.views import ViewsRelease
from sfumato.table.column import MISSING, as_text
from sfumato.table.table import Table

Limits = Mapping[str, Fraction]

MEASURED, MEASURED_VALUES = 50_000, 5_000
"""Whose presence, and whose values, are measured over all groups that cover them; everybody's presence where none overlap."""

NO_BOUND = (
    "nothing is claimed about what a reader believes who combines all groups that cover a person: the release states a weaker "
    "claim, which speaks of one group by itself"
)

BORROWED = "where groups overlap, it cannot be checked that a group shows the values of its own people and no others"

MAKERS = {"columns": "ambiguity", "views": "priview"}
"""Which method makes which form."""

GROUPINGS = {"columns": ("boxes", "halves", "paper"), "views": ("boxes", "paper")}
"""Which groupings it has."""


@dataclass(frozen=True, eq=False)
class Fragments(ABC):
    """A release whose tables show parts of people, as the audit reads it; a subclass per form says what a group tells."""

    release: ColumnsRelease | ViewsRelease

    @cached_property
    def published(self) -> Published:
        """The sensitive values of every group."""
        return read_histograms(self.release)

    @property
    @abstractmethod
    def presence(self) -> list[Fraction]:
        """For every group the largest belief in presence that it gives to a combination it covers."""

    @abstractmethod
    def judge_values(self, claim: Claim, limits: Limits | None) -> ClaimResult:
        """Judge a claim about sensitive values."""

    @abstractmethod
    def weaker_faults(self, alpha: Fraction | None, limits: Limits | None) -> list[str]:
        """Return where the paper's bounds are not kept in a group by itself."""

    @abstractmethod
    def shown(self) -> list[ShownTable]:
        """Return the published tables, those of quasi values first, `st` last."""

    @abstractmethod
    def people(self, table: Table) -> Integers:
        """Return [rows × shown tables]: what each table would show of everybody, −1 where it shows nothing like it."""

    @abstractmethod
    def exposure(self) -> float | None:
        """Return the mean belief of a reader, who knows a person's group, in her true value."""

    @abstractmethod
    def stronger(self) -> dict[str, Finding]:
        """Return what adversaries beyond the claims reach in single groups."""


def audit_fragments(
    kind: type[Fragments],
    release: type[ColumnsRelease] | type[ViewsRelease],
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None,
    problems: tuple[str, ...],
    outsiders: Any,
) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach."""
    try:
        read = kind(release.from_tables(manifest, tables, in_any_order=True))
        published = read.published
        limits = bounds_of(manifest.requirement, shown_shares(manifest, published, table), list(published.labels))
        alpha = presence_bound(manifest.requirement)
    except FormatError as error:
        return Audit(claims=(), problems=(*problems, error.message), against_table=table is not None)
    overlapping, weaker = len(overlaps(read.release.cover)) > 0, has_weaker_claim(manifest)
    found = [*problems, *structure(manifest, published), *declared_values(manifest, published, limits, ST)]
    found += several_rows(manifest, table)
    found += read.weaker_faults(alpha, limits) if weaker else []
    found += [OVERLAP] if overlapping and not weaker else []
    members, values = None, {}
    if table is not None:
        different = _other_table(read.release, table)
        found += different
        if not different:
            found += against_table(
                published, read.shown(), read.people(table), table, suppressed(manifest) or 0, apart=not overlapping
            )
            members = _presence_of_members(read.release, table, apart=not overlapping)
            values = _values_of_members(read.release, table, true_values(published, table))
    away = None if outsiders is None else _presence_of(read.release, outsiders)

    def judged(claim: Claim) -> ClaimResult:
        if claim.kind == "presence":
            dropped = 0 if table is None else table.dropped
            uncut = "" if overlapping or not by_halves(manifest) else not_halved(read.release.cover, manifest)
            return judge_presence(claim, manifest, read.presence, overlapping=overlapping, dropped=dropped, uncut=uncut)
        return read.judge_values(claim, limits)

    return Audit(
        claims=tuple(judged(claim) for claim in manifest.claims),
        problems=tuple(found),
        warnings=(
            *warnings_of(manifest),
            *((NO_BOUND,) if weaker else ()),
            *((BORROWED,) if overlapping else ()),
            *combined_warning(members, alpha),
            *open_values(published, limits),
        ),
        stronger={
            **presence_findings(members, away, alpha, people=published.people, left_out="suppression" in manifest.parameters),
            **values,
            **read.stronger(),
        },
        exposure=None if table is None else read.exposure(),
        against_table=table is not None,
    )


def _presence_of_members(release: ColumnsRelease | ViewsRelease, table: Table, *, apart: bool) -> Floats:
    """Return the belief in the presence of the table's people; of some, evenly chosen, where each is covered by many groups."""
    return release.presence(table.to_arrow().take(pa.array(_some(table.rows, table.rows if apart else MEASURED))))


def _values_of_members(release: ColumnsRelease | ViewsRelease, table: Table, true: Integers) -> dict[str, Finding]:
    """Return what somebody believes of people's true values who combines all groups that cover them; measured on some people."""
    chosen = _some(table.rows, MEASURED_VALUES)
    chosen = chosen[true[chosen] >= 0]
    belief = release.beliefs(table.to_arrow().take(pa.array(chosen)))[np.arange(len(chosen)), true[chosen]]
    belief = belief[~np.isnan(belief)]
    if not len(belief):
        return {}
    part = f", measured on {len(belief)} people" if len(belief) < table.rows else ""
    text = "mean belief in a person's true value, if she is in one of the groups that cover her, each as likely as she is in it"
    return {
        "values of members, all covering groups combined": Finding(
            f"{text}; the largest is {belief.max():.3g}{part}", float(belief.mean())
        )
    }


def _some(rows: int, most: int) -> Integers:
    """Return at most so many rows of a table, evenly chosen."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)


def _presence_of(release: ColumnsRelease | ViewsRelease, outsiders: Any) -> Floats:
    """Return the belief in the presence of the given outsiders; what is wrong with them is no fault of the release."""
    try:
        return release.presence(outsiders)
    except FormatError as error:
        raise InputError(f"outsiders: {error.message}", hint="give the quasi columns as they are published") from None


def _other_table(release: ColumnsRelease | ViewsRelease, table: Table) -> list[str]:
    """Return why this cannot be the table of the release: other columns, or columns of other types."""
    columns = release.columns if isinstance(release, ColumnsRelease) else (*release.at_columns, *release.st_columns)
    theirs = {column.name: column for column in table.quasi}
    if {column.name for column in columns} != set(theirs) or release.domain.names != table.sensitive.domain.names:
        return ["the release and the table do not have the same quasi and sensitive columns"]
    for column in columns:
        try:
            theirs[column.name].values.cast(column.values.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return [f"column {column.name!r} holds {column.values.type} in the release, but not in the table"]
    return []


def read_histograms(release: ColumnsRelease | ViewsRelease) -> Published:
    """Return the sensitive values of every group, those of the two forms in the same shape."""
    key = release.st_group.astype(np.int64) * len(release.domain) + release.st_value
    distinct, where = np.unique(key, return_inverse=True)
    words = [[MISSING if v is None else as_text(v) for v in column.to_pylist()] for column in release.domain.table.columns]
    return Published(
        qit=release.domain.table,
        quasi=tuple(str(column["name"]) for column in release.manifest.schema["quasi"]),
        sensitive=release.domain.names,
        row_bucket=np.broadcast_to(np.int32(0), int(release.sizes.sum())),  # its length alone is used: people have no rows here
        bucket=(distinct // len(release.domain)).astype(np.int32),
        value=(distinct % len(release.domain)).astype(np.int32),
        count=np.bincount(where, weights=release.st_count).astype(np.int64),
        labels=release.domain.labels,
        parts=tuple(zip(*words, strict=True)),
        sizes=release.sizes,
        decoys=0,
    )


def structure(manifest: Manifest, published: Published) -> list[str]:
    """Return what does not fit together in the manifest: numbers, statements, claims that are missing."""
    problems = []
    if manifest.parameters.get("groups") != len(published.sizes):
        problems.append(f"{len(published.sizes)} groups, the manifest says {manifest.parameters.get('groups')}")
    if len(set(published.labels)) < len(published.labels):
        problems.append("st shows two different values that are written alike, so that each hides behind the other")
    problems += _method_faults(manifest)
    if has_weaker_claim(manifest):
        problems += stated_faults(manifest)
    else:
        problems += _lacking_claims(manifest)
    stated = "suppression" in manifest.parameters
    if stated and suppressed(manifest) is None:
        problems.append("the manifest speaks of suppressed people, which its method does not have, or not of how many")
    if stated and manifest.values is not None:
        problems.append("the manifest gives counts and bounds although the tables do not show the true counts")
    return problems


def _lacking_claims(manifest: Manifest) -> list[str]:
    """Return which claims the requirement asks for and the manifest does not make."""
    if not manifest.claims:
        return ["the manifest makes no claim"]
    made = {claim.kind for claim in manifest.claims}
    problems = []
    if presence_bound(manifest.requirement) is not None and "presence" not in made:
        problems.append("the requirement bounds presence, and the manifest makes no claim about it")
    if "association" not in made:
        problems.append("the requirement bounds sensitive values, and the manifest makes no claim about them")
    return problems


def _method_faults(manifest: Manifest) -> list[str]:
    """Return where the method that the manifest names cannot have made such a release."""
    method = manifest.method
    problems = []
    if method.get("name") != MAKERS[manifest.form]:
        problems.append(f"a release of the form {manifest.form} is made by {MAKERS[manifest.form]}, the manifest names another")
    if method.get("grouping") not in GROUPINGS[manifest.form]:
        problems.append(f"{MAKERS[manifest.form]} has no such grouping as the manifest says")
    if (method.get("grouping") == "paper") != has_weaker_claim(manifest):
        problems.append("groups as published state a weaker claim, and only they do; here method and statement differ")
    column = method.get("column")
    moved = manifest.parameters.get("moved")
    asked = [column] if isinstance(column, str) else column
    if asked is not None and (
        not isinstance(asked, list) or not isinstance(moved, list) or sorted(map(str, asked)) != sorted(moved)
    ):
        problems.append("the columns that the method was asked to move are not those that the manifest says were moved")
    return problems


def suppressed(manifest: Manifest) -> int | None:
    """Return how many people were left out, as the manifest says; None where its method or grouping leaves out nobody."""
    stated = manifest.parameters.get("suppression", {"option": None, "people": 0})
    if not isinstance(stated, Mapping) or set(stated) != {"option", "people"} or type(stated["people"]) is not int:
        return None
    if stated["people"] == 0:
        return 0 if stated["option"] is None else None
    method = manifest.method
    allowed = stated["option"] == "suppress" and method.get("suppress") is True and method.get("grouping") == "paper"
    return stated["people"] if allowed and stated["people"] > 0 else None


def shown_shares(manifest: Manifest, published: Published, table: Table | None) -> dict[str, Fraction] | None:
    """Return the share of each value in the table: from the table if given, else from st where st shows everybody."""
    if table is not None:
        counts = zip(table.sensitive.labels, table.sensitive.counts, strict=True)
        return {label: Fraction(int(n), table.rows) for label, n in counts}
    if "suppression" in manifest.parameters:
        return None
    people = int(published.totals.sum())
    return {label: Fraction(int(n), people) for label, n in zip(published.labels, published.totals, strict=True)}
