"""The conformance suite for methods: run it on your own method as we do on ours.

    from sfumato.testing import check_method
    check_method(MyMethod(), LDiversity(3))

Every check states one promise of docs/architecture.md; the first that is broken raises `ConformanceError` with its name.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.auditor import audit_release
from sfumato.errors import Infeasible, NotProvable, SfumatoError
from sfumato.methods.base import Method
from sfumato.privacy import LDiversity, PresenceAssociation
from sfumato.privacy.requirement import Against, Requirement
from sfumato.release.base import Release
from sfumato.release.randomized import PART, RECORDS, RandomizedRelease
from sfumato.table import Schema, Table

SECRET = "secret-name-of-a-person"


class ConformanceError(AssertionError):
    """A method breaks a promise that every method makes."""


def example_tables() -> dict[str, Table]:
    """Return small tables that are hard in different ways: plain, with missing values, compound, one quasi column, all alike."""
    coins = np.random.default_rng(7)
    people = 240
    value = np.array([f"v{k}" for k in range(8)])[coins.integers(0, 8, people)]
    plain = {
        "name": [f"{SECRET}-{k}" for k in range(people)],
        "age": coins.integers(20, 60, people),
        "sex": np.array(["f", "m"])[coins.integers(0, 2, people)],
        "secret-note": [f"{SECRET} note {k}" for k in range(people)],
        "value": value,
    }
    gaps = plain | {
        "age": pa.array(np.asarray(plain["age"], dtype=float), mask=coins.random(people) < 0.1),
        "sex": pa.array(np.asarray(plain["sex"]).tolist(), mask=coins.random(people) < 0.1),
    }
    roles = Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["value"], other=["secret-note"])
    return {
        "plain": Table.from_frame(pa.table(plain), roles),
        "missing values": Table.from_frame(pa.table(gaps), roles),
        "compound": Table.from_frame(
            pa.table({"age": plain["age"], "value": value, "more": np.array(["x", "y"])[coins.integers(0, 2, people)]}),
            Schema(quasi=["age"], sensitive=["value", "more"]),
        ),
        "all alike": Table.from_frame(
            pa.table({"sex": ["f"] * people, "value": value}), Schema(quasi=["sex"], sensitive=["value"])
        ),
    }


def check_method(method: Method, requirement: Requirement | None = None, tables: dict[str, Table] | None = None) -> list[str]:
    """Check every promise on every table and return the names of the checks that ran.

    `requirement` must be feasible for the tables (default: 2-diversity against the strongest adversary the method proves, for a
    method that hides presence with an α of 1).
    """
    strongest = method.proves()[-1]
    if requirement is None:
        two = LDiversity(2, against=strongest)
        requirement = PresenceAssociation(1, two, against=strongest) if method.hides_presence else two
    if requirement.against not in method.proves():
        raise ConformanceError(f"{method} does not prove {requirement.against!r}; give a requirement that it does")
    done = []
    _require(dataclasses.is_dataclass(method), "a method is a dataclass of its parameters")
    _require(method == dataclasses.replace(method), "two methods with equal parameters are equal")
    for name, table in (tables or example_tables()).items():
        for check in CHECKS:
            try:
                check(method, requirement, table)
            except ConformanceError as error:
                raise ConformanceError(f"{check.__name__} on the table {name!r}: {error}") from None
            done.append(f"{check.__name__} ({name})")
    return done


def _require(fact: bool, promise: str) -> None:
    if not fact:
        raise ConformanceError(promise)


def audit_confirms_the_claims(method: Method, requirement: Requirement, table: Table) -> None:
    """With the table the audit finds every claim kept and nothing lost or invented; without it, nothing broken."""
    release = method.publish(table, requirement, random=1)
    _require(bool(release.claims), "a release makes at least one claim")
    values = [claim for claim in release.claims if claim.kind == "association"]
    _require(all(claim.adversary == requirement.against for claim in values), "the claim names the policy's adversary")
    hidden = [claim.adversary for claim in release.claims if claim.kind == "presence"]
    _require(hidden == ([] if requirement.presence is None else ["stranger"]), "presence is claimed if asked for, to a stranger")
    report = audit_release(release, table)
    _require(report.holds is True, f"the audit with the table holds; found {report.problems} {report.claims}")
    _require(audit_release(release).holds is not False, "the audit without the table finds nothing broken")


def beliefs_stay_within_bounds(method: Method, requirement: Requirement, table: Table) -> None:
    """No person's belief in any value, averaged over the rows that fit her, exceeds the bound.

    A randomized release leaves the shares of its parts to the reader: the bounds are about the true ones, or about the declared.
    """
    release = method.publish(table, requirement, random=2)
    if isinstance(release, RandomizedRelease):
        people = _numbered(table)
        release = method.publish(people, requirement, random=2)
        assert isinstance(release, RandomizedRelease)
        beliefs = release.beliefs(people.to_arrow(), shares=None if release.declared else _true_shares(release, people))
        told = release.manifest.method["shares"] if release.declared else table.sensitive.histogram()
        whole = sum(map(Fraction, told.values()))
        bounds = requirement.limits({label: Fraction(share) / whole for label, share in told.items()})
    else:
        beliefs = release.beliefs(table.to_arrow())
        found = requirement.bounds(table.sensitive.histogram())
        bounds = dict(zip(found.values, found.limits, strict=True))
    labels = getattr(release, "domain").labels  # noqa: B009  (every form with beliefs has a domain)
    limits = np.array([float(bounds[label]) for label in labels])
    _require(bool((np.nanmax(beliefs, axis=0) <= limits + 1e-12).all()), "beliefs are at most the bounds")
    _require(bool(np.allclose(np.nansum(beliefs, axis=1), 1)), "beliefs of a published person add up to one")


def _numbered(table: Table, *, also: bool = False) -> Table:
    """Return the same people with a number of their own as quasi value, the only one or `also` with the last of the table's."""
    kept = {column.name: column.arrow() for column in table.quasi[1:][-1:]} if also else {}
    return Table.from_frame(
        pa.table({"number": np.arange(table.rows), **kept, **_sensitive_columns(table)}),
        Schema(quasi=["number", *kept], sensitive=list(table.sensitive.domain.names), closed=table.schema.closed),
    )


def _asking(requirement: Requirement, l: int, against: Against) -> Requirement:  # noqa: E741
    """Return ℓ-diversity against somebody, with the bound on presence of the requirement."""
    asked = LDiversity(l, against=against)
    return asked if requirement.presence is None else PresenceAssociation(requirement.presence, asked, against=against)


def _true_shares(release: RandomizedRelease, table: Table) -> list[npt.NDArray[np.float64]]:
    """Return the share of each value in each part, for a table of numbered people."""
    main = release.tables()[RECORDS]
    part = np.empty(table.rows, np.int64)
    part[np.asarray(main["number"])] = np.asarray(main[PART]) - 1
    counts = np.zeros((len(release.parts), len(release.domain)))
    np.add.at(counts, (part, table.sensitive.codes), 1)
    return [counts[i, one.values] / max(1.0, counts[i].sum()) for i, one in enumerate(release.parts)]


def seeds_decide_everything(method: Method, requirement: Requirement, table: Table) -> None:
    """The same seed gives the same release, says so; without a seed two runs differ and do not say so."""
    one, two = (method.publish(table, requirement, random=3) for _ in range(2))
    _require(_same(one, two), "the same seed gives the same release")
    _require(one.manifest.seeded and one.manifest.reproducible, "a seeded release says that it is seeded and reproducible")
    fresh, other = (method.publish(table, requirement) for _ in range(2))
    _require(not fresh.manifest.seeded, "a release made with secure randomness does not say that it is seeded")
    alike = len(set(table.quasi_ids().tolist())) == 1 and fresh.manifest.parameters.get("buckets") == 1
    _require(alike or not _same(fresh, other), "two runs without a seed differ (unless there is one way to publish)")


def input_order_decides_nothing(method: Method, requirement: Requirement, table: Table) -> None:
    """Neither the order of rows, nor the numbers of groups, nor who shares a group follow the order of the input.

    Who shares a group must be drawn at random, or follow from quasi values and so be the same for any order of the input.
    """
    people = _numbered(table, also=method.hides_presence)
    seen = [_look(method.publish(people, requirement, random=seed)) for seed in range(12)]
    _require(len({one.rows for one in seen}) > 6, "rows are published in random order")
    mates = {one.mates for one in seen}
    if len(mates) <= 2:
        turned = people.take(np.random.default_rng(1).permutation(people.rows))
        mates |= {_look(method.publish(turned, requirement, random=seed)).mates for seed in range(4)}
        _require(len(mates) == 1, "who shares a group is drawn at random, or does not depend on the input's order")
    drawn = "the numbers of groups are drawn at random"
    _require(not any(one.uneven for one in seen) or len({one.first for one in seen}) > 1, drawn)
    _require(any(one.groups == 1 for one in seen) or len({one.home for one in seen}) > 1, drawn)


@dataclasses.dataclass(frozen=True)
class _Look:
    """The first rows, who shares a group, the number of person 0's group, how many groups there are, and the first one's size.

    `mates` are the people with person 0; where a release shows ranges, all ranges, because they alone tell who is together.
    `uneven` says that at least a third of the groups do not have the commonest size.
    """

    rows: tuple[str, ...]
    mates: tuple[tuple[int, int], ...]
    home: int
    groups: int
    first: int
    uneven: bool


def _look(release: Release) -> _Look:
    """Return what a release of numbered people shows of its making; ranges show a number's lower and upper end."""
    main = next(iter(release.tables().values()))
    exact = "number" in main.column_names
    low, high = (np.asarray(main["number" if exact else f"number_{end}"]) for end in ("min", "max"))
    group = np.asarray(main[PART if PART in main.column_names else main.column_names[-1]])
    sizes = np.bincount(group)[1:]
    home = int(group[np.flatnonzero((low <= 0) & (high >= 0))[0]])
    told = np.flatnonzero(group == home) if exact else np.arange(len(group))
    return _Look(
        tuple(str(row) for row in (main.select(["number"]) if exact else main).slice(0, 8).to_pylist()),
        tuple(sorted(zip(low[told].tolist(), high[told].tolist(), strict=True))),
        home,
        len(sizes),
        int(sizes[0]),
        bool(3 * np.bincount(sizes).max() <= 2 * len(sizes)),
    )


def input_order_does_not_matter(method: Method, requirement: Requirement, table: Table) -> None:
    """Publishing the rows in another order makes the same groups sizes, and the published order is not the input's."""
    turned = table.take(np.arange(table.rows)[::-1])
    one, two = method.publish(table, requirement, random=4), method.publish(turned, requirement, random=4)
    _require(one.rows == two.rows, "the same number of people is published")
    _require(one.manifest.parameters == two.manifest.parameters, "public parameters do not depend on the input's order")


def release_survives_the_disk(method: Method, requirement: Requirement, table: Table) -> None:
    """Saved as Parquet or CSV and loaded, the release is the same and answers the same; a second save is refused."""
    release = method.publish(table, requirement, random=5)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("parquet", "csv"):
            place = Path(folder) / kind
            release.save(place, format=kind)
            loaded = Release.load(place)
            _require(_same(release, loaded), f"a release loaded from {kind} equals the one saved")
            _require(audit_release(loaded, table).holds is True, f"the audit of a release loaded from {kind} holds")
            total = loaded.count("").value  # type: ignore[union-attr]
            _require(abs(total - loaded.rows) < 1e-6 * loaded.rows, "the count without a condition is the number of people")
            try:
                release.save(place, format=kind)
            except SfumatoError:
                continue
            raise ConformanceError("saving over an existing release is refused")


def nothing_else_is_told(method: Method, requirement: Requirement, table: Table) -> None:
    """No identifier, dropped column, seed, path or foreign metadata is in the tables or the manifest."""
    release = method.publish(table, requirement, random=987_654_321)
    text = release.manifest.to_json()
    json.loads(text)
    _require("987654321" not in text, "the seed is not in the manifest")
    _require(SECRET not in text and '"name": "name"' not in text and "secret-note" not in text, "identifiers stay at home")
    for name, content in release.tables().items():
        _require(not content.schema.metadata, f"table {name!r} carries no metadata")
        for column in content.columns:
            if pa.types.is_dictionary(column.type):
                chunk = column.combine_chunks()
                used = set(chunk.indices.drop_null().to_pylist())
                _require(used == set(range(len(chunk.dictionary))), f"every dictionary entry of {name!r} is used")


def unprovable_claims_are_refused(method: Method, requirement: Requirement, table: Table) -> None:
    """An adversary against whom the method proves nothing is refused before anything is made."""
    for against in get_args(Against):
        if against not in method.proves():
            try:
                method.publish(table, _asking(requirement, 1, against), random=6)
            except NotProvable as error:
                _require(bool(error.hint), "the refusal says what would work")
                continue
            raise ConformanceError(f"against={against!r} is refused")


def infeasible_bounds_are_refused(method: Method, requirement: Requirement, table: Table) -> None:
    """Bounds below a value's share are refused with the values that break them."""
    try:
        method.publish(table, _asking(requirement, 10_000, requirement.against), random=7)
    except Infeasible as error:
        _require(bool(error.values) and bool(error.hint), "the error names the values and what would be feasible")
        return
    raise ConformanceError("an infeasible requirement is refused")


CHECKS: tuple[Callable[[Method, Requirement, Table], None], ...] = (
    audit_confirms_the_claims,
    beliefs_stay_within_bounds,
    seeds_decide_everything,
    input_order_decides_nothing,
    input_order_does_not_matter,
    release_survives_the_disk,
    nothing_else_is_told,
    unprovable_claims_are_refused,
    infeasible_bounds_are_refused,
)


def _sensitive_columns(table: Table) -> dict[str, pa.ChunkedArray]:
    whole = table.to_arrow()
    return {name: whole[name] for name in table.sensitive.domain.names}


def _same(one: Release, two: Release) -> bool:
    left, right = one.tables(), two.tables()
    return left.keys() == right.keys() and all(
        left[name].num_rows == right[name].num_rows
        and all(left[name][column].to_pylist() == right[name][column].to_pylist() for column in left[name].column_names)
        for name in left
    )
