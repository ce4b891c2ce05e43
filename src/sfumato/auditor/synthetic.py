"""Audit of the form *synthetic*: no claim, an ε that follows from requirement and method, and nothing but declared values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from sfumato.auditor.bounds import odds_of
from sfumato.auditor.claims import Case, declared_schema
from sfumato.auditor.original import true_values
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.errors import FormatError
from sfumato.release.manifest import Manifest
from sfumato.release.synthetic import SyntheticRelease
from sfumato.table.bins import Bins
from sfumato.table.column import labels
from sfumato.table.schema import Schema
from sfumato.table.table import Table

_GRID = 10**9


def audit_synthetic(case: Case[SyntheticRelease]) -> Audit:
    """Return what is wrong with a release, and by how much it lets odds grow; without `draw` no record is compared."""
    release, manifest = case.release, case.manifest
    declared = declared_schema(manifest)
    gamma = _exact(manifest, "gamma")
    problems = [*_wrong_spending(manifest, gamma), *_undeclared(release, declared), *_wrong_measured(manifest)]
    exposure = None
    if case.table is not None:
        if case.table.rows != release.rows:
            problems.append(f"{release.rows} records, and the table has {case.table.rows} people: their number is public")
        if case.dropped:
            problems.append("people were left out because a value is missing: the number of records reveals that")
        if case.draw:
            exposure = _exposure(release, case.table)
    return Audit(
        claims=tuple(ClaimResult(claim, False, note="this form cannot support a claim on belief") for claim in manifest.claims),
        problems=tuple(problems),
        stronger={
            "insider with any belief before": Finding(
                "the odds of anything about one person, her record against any other, grow at most by this factor"
                + (", by the word of another package alone" if "package" in manifest.method else ""),
                float(gamma),
            )
        },
        exposure=exposure,
    )


def _exact(manifest: Manifest, name: str) -> Fraction:
    try:
        return Fraction(str(manifest.parameters[name]))
    except (KeyError, ValueError, ZeroDivisionError):
        raise FormatError(f"manifest.json: {name} cannot be read") from None


def _wrong_spending(manifest: Manifest, gamma: Fraction) -> list[str]:
    """Return where γ does not follow from requirement and method, or the stated ε not from γ."""
    problems = []
    follows = _odds_allowed(manifest.requirement, manifest.method)
    if follows is None:
        problems.append("neither the requirement nor the method states by how much odds may grow")
    elif follows != gamma:
        problems.append(
            f"odds may grow {float(follows):.9g}-fold by requirement and method, the manifest says {float(gamma):.9g}"
        )
    stated = _exact(manifest, "epsilon")
    if (stated * _GRID).denominator != 1 or gamma <= 1 or not -1e-12 < float(stated) - math.log(gamma) < 2 / _GRID:
        problems.append("the stated epsilon is not the logarithm of gamma, rounded up to nine decimals")
    return problems


def _odds_allowed(requirement: Mapping[str, object], method: Mapping[str, object]) -> Fraction | None:
    """Return γ: the requirement's own, e^ε of the method, or 1 + β; None where nothing says it, or two say different things."""
    try:
        own = None if method.get("epsilon") is None else odds_of({"epsilon": method["epsilon"], "odds": None})
        if requirement.get("model") == "differential":
            allowed = odds_of(requirement)
            return allowed if own in (None, allowed) else None
        if own is None and requirement.get("model") == "beta-likeness":
            return 1 + Fraction(str(requirement["beta"]))
    except (KeyError, TypeError, ValueError):
        raise FormatError("manifest.json: epsilon, odds or beta cannot be read") from None
    return own


def _undeclared(release: SyntheticRelease, declared: Schema) -> list[str]:
    """Return which columns have no declared domain, or show something outside of it."""
    problems = []
    for column in release.quasi:
        domain = declared.domain(column.name)
        if domain is None:
            problems.append(
                f"no domain is declared for {column.name!r}, so that a record could reveal a value that only the table has"
            )
        elif domain.outside(column.values, column.kind, column.name).any():
            problems.append(f"records show values of {column.name!r} that are not declared")
    attribute = declared.closed_attribute()
    if attribute is not None:
        if not set(release.domain.labels) <= set(attribute.domain.labels):
            problems.append("records show sensitive values that are not declared")
        return problems
    for name, kind, values in zip(release.domain.names, release.domain.kinds, release.domain.table.columns, strict=True):
        domain, bins = declared.domain(name), declared.bins.get(name)
        present = values.combine_chunks().drop_null()
        if isinstance(bins, Bins):
            outside = not set(labels(present)) <= set(bins.labels)
        elif domain is None:
            problems.append(f"no domain is declared for {name!r}, so that a record could reveal a value that only the table has")
            continue
        else:
            outside = bool(domain.outside(present, kind, name).any())
        if outside:
            problems.append(f"records show values of {name!r} that are not declared")
    return problems


def _wrong_measured(manifest: Manifest) -> list[str]:
    """Return that the tables that are said to be measured are none of these columns, or are listed in an order of their own."""
    quasi, sensitive = ([column["name"] for column in manifest.schema[role]] for role in ("quasi", "sensitive"))
    place = {name: k for k, name in enumerate(quasi)} | dict.fromkeys(sensitive, len(quasi))
    listed = manifest.parameters.get("measured", [])
    try:
        codes = [[place[name] for name in names] for names in listed]
    except (KeyError, TypeError):
        return ["the manifest lists measured columns that the release does not have"]
    whole = all(len([name for name in names if name in sensitive]) in (0, len(sensitive)) for names in listed)
    if (
        not whole
        or codes != sorted(codes)
        or any(columns != sorted(columns) for columns in codes)
        or {c for columns in codes for c in columns} != {*place.values()}
    ):
        return ["the measured tables are not those of all columns, in their order"]
    return []


def _exposure(release: SyntheticRelease, table: Table) -> float:
    """Return how sure somebody is of a person's true value, on average, who takes records like her for people like her.

    Of whom no record is like, she takes the shares among all records.
    """
    beliefs = release.mean_beliefs(table.to_arrow().select([column.name for column in release.quasi]))
    shares = np.bincount(release.value, minlength=len(release.domain)) / release.rows
    beliefs = np.where(np.isnan(beliefs), shares, beliefs)
    truth = true_values(release.domain.labels, table)
    own = np.where(truth < 0, 0.0, beliefs[np.arange(len(truth)), np.maximum(truth, 0)])
    return float(own.mean())
