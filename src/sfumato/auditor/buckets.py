"""Audit of the form *buckets*, from the published tables `qit` and `st` alone; with the original table, against it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.auditor.against import Comparison, compare
from sfumato.auditor.bounds import bounds_of
from sfumato.auditor.claims import declared_values, judge, may_suppress, open_values, several_rows, warnings_of
from sfumato.auditor.published import Published, read_published
from sfumato.auditor.result import Audit, Finding
from sfumato.release.manifest import Manifest
from sfumato.table.table import Table


def audit_buckets(
    manifest: Manifest, tables: Mapping[str, pa.Table], table: Table | None, problems: tuple[str, ...] = ()
) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach."""
    published = read_published(manifest, tables["qit"], tables["st"])
    found = list(problems) + _structure(manifest, published) + several_rows(manifest, table)
    comparison = None if table is None else compare(published, table, suppression=may_suppress(manifest))
    if comparison is not None:
        found += comparison.problems
    shares = _shares(manifest, published, comparison)
    limits = bounds_of(manifest.requirement, shares, list(published.labels))
    found += declared_values(manifest, published, limits, "st")
    return Audit(
        claims=tuple(judge(claim, manifest, published, limits) for claim in manifest.claims),
        problems=tuple(found),
        warnings=(*warnings_of(manifest), *open_values(published, limits), *(comparison.warnings if comparison else ())),
        stronger=_stronger(published),
        exposure=None if comparison is None else comparison.exposure,
        against_table=table is not None,
    )


def _structure(manifest: Manifest, published: Published) -> list[str]:
    """Return what does not fit together: people without values, values without people, wrong totals."""
    problems = []
    if published.people != manifest.rows:
        problems.append(f"qit has {published.people} rows, the manifest says {manifest.rows}")
    if not manifest.claims:
        problems.append("the manifest makes no claim")
    wrong = int((published.shown != published.sizes + published.decoys).sum())
    if wrong:
        problems.append(f"{wrong} buckets show another number of sensitive values than they have people (and decoys)")
    if manifest.parameters.get("buckets") != len(published.sizes):
        problems.append(f"{len(published.sizes)} buckets, the manifest says {manifest.parameters.get('buckets')}")
    if published.repeated:
        problems.append(f"{published.repeated} rows of st repeat a bucket and value")
    if len(set(published.labels)) < len(published.labels):
        problems.append("st shows two different values that are written alike, so that each hides behind the other")
    if manifest.values is not None and (published.decoys or manifest.parameters.get("suppression")):
        problems.append("the manifest gives counts and bounds although the tables do not show the true counts")
    if manifest.parameters.get("suppression") and not may_suppress(manifest):
        problems.append("the manifest speaks of suppressed people, which its method does not have")
    if published.decoys and (published.count > 1).any():
        problems.append("with decoys a value must occur at most once in a bucket; here some occur more often")
    return problems


def _shares(manifest: Manifest, published: Published, comparison: Comparison | None) -> dict[str, Fraction] | None:
    """Return the share of each value in the table: from the table if given, else from st where st shows everybody."""
    if comparison is not None:
        return comparison.shares
    if manifest.values is None:
        return None
    people = int(published.shown.sum())
    return {label: Fraction(int(total), people) for label, total in zip(published.labels, published.totals, strict=True)}


def _stronger(published: Published) -> dict[str, Finding]:
    """Return what adversaries beyond the claims would reach: who knows bucket mates, who asks for parts of a compound value."""
    findings = {}
    size = published.sizes[published.bucket] + published.decoys
    knows_one = np.where(size > 1, published.count / np.maximum(size - 1, 1), 1.0)
    if len(knows_one):
        findings["insider who knows one other person of the bucket"] = Finding(
            "worst belief of a reader who knows the value of one bucket mate (a different value)", float(knows_one.max())
        )
        alone = 1.0 / (1 + published.decoys)
        findings["insider who knows everybody else in the bucket"] = Finding(
            "share of real values among those that remain when all bucket mates are known", alone
        )
    for name, belief in published.worst_parts().items():
        findings[f"belief in {name} alone"] = Finding(f"worst belief in a single value of {name}, over all combinations", belief)
    return findings
