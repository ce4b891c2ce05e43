"""The conformance suite for methods: every check states one promise of docs/architecture.md."""

from __future__ import annotations

import dataclasses
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, cast, get_args

import numba
import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.auditor import audit_release
from sfumato.basis import BASES
from sfumato.errors import Infeasible, NotProvable, SfumatoError
from sfumato.methods.base import Method
from sfumato.privacy import FPrivacy, LDiversity, PresenceAssociation
from sfumato.privacy.requirement import Against, Requirement
from sfumato.query.answer import Estimate
from sfumato.release.base import Release
from sfumato.release.files import MANIFEST, parquet_bytes
from sfumato.release.randomized import PART, RECORDS, RandomizedRelease
from sfumato.table import Schema, Table
from sfumato.testing.designs import SECRET, balanced_designs, example_tables, one_small_side, several_values, two_secrets


class ConformanceError(AssertionError):
    """A method or a model breaks a promise that every one makes."""


def check_method(method: Method, requirement: Requirement | None = None, tables: dict[str, Table] | None = None) -> list[str]:
    """Check every promise on every table and return the names of the checks that ran.

    `requirement` must be feasible for the tables (default: 2-diversity against the strongest adversary the method proves, for a
    method that hides presence with an α of 1). Beside the tables, fifty orders of each of `balanced_designs` are published; and
    for a method that holds against an engineer every world of `one_small_side`, with many coins. A method with a paper's weaker
    claim is checked with that accepted, against a reader, and must claim nothing.
    """
    proven = method.proves() or ("reader",)
    strongest = proven[-1]
    if requirement is None:
        two = LDiversity(2, against=strongest)
        requirement = PresenceAssociation(1, two, against=strongest) if method.hides_presence else two
    if requirement.against not in proven:
        raise ConformanceError(f"{method} does not prove {requirement.against!r}; give a requirement that it does")
    done = []
    require(dataclasses.is_dataclass(method), "a method is a dataclass of its parameters")
    require(method == dataclasses.replace(method), "two methods with equal parameters are equal")
    with _one_thread():
        for name, table in (tables or example_tables()).items():
            for check in CHECKS:
                with under_its_name(f"{check.__name__} on the table {name!r}"):
                    check(method, requirement, table)
                done.append(f"{check.__name__} ({name})")
        if tables is None:
            each_of_several_secrets_is_protected_or_refused(method, requirement)
            several_values_are_published_or_refused(method, requirement)
        _order_decides_nothing(method, requirement)
        if "engineer" in proven and not method.shown_as.by_coin:
            rerunning_tells_nothing(method)
    return done


def require(fact: bool, promise: str) -> None:
    """Raise `ConformanceError` unless a promise is kept."""
    if not fact:
        raise ConformanceError(promise)


@contextmanager
def under_its_name(check: str) -> Iterator[None]:
    """Say which check it was that a promise was broken in, or an error was raised."""
    try:
        yield
    except ConformanceError as error:
        raise ConformanceError(f"{check}: {error}") from None
    except SfumatoError as error:
        raise ConformanceError(f"{check}: {type(error).__name__}: {error}") from error


def audit_confirms_the_claims(method: Method, requirement: Requirement, table: Table) -> None:
    """With the table the audit finds every claim kept and nothing lost or invented; without it, nothing broken."""
    made = method.run(table, requirement, random=1)
    release = made.release
    if not method.proves():
        require(not release.claims and "weaker_claim" in release.manifest.parameters, "a weaker claim stands alone")
        require(made.audit.holds is True, "the audit with table and links holds")
        return
    require(bool(release.claims), "a release makes at least one claim")
    require(release.manifest.basis in BASES or release.shown_as.by_coin, "a release states the basis of its groups")
    values = [claim for claim in release.claims if claim.kind == "association"]
    require(all(claim.adversary == requirement.against for claim in values), "the claim names the policy's adversary")
    hidden = [claim.adversary for claim in release.claims if claim.kind == "presence"]
    require(hidden == ([] if requirement.presence is None else ["stranger"]), "presence is claimed if asked for, to a stranger")
    report = audit_release(release, table)
    require(report.holds is True, f"the audit with the table holds; found {report.problems} {report.claims}")
    require(audit_release(release).holds is not False, "the audit without the table finds nothing broken")


def beliefs_stay_within_bounds(method: Method, requirement: Requirement, table: Table) -> None:
    """No person's largest belief in any value, over the groups and rows that fit her, exceeds the bound.

    A randomized release leaves the shares of its parts to the reader: the bounds are about the true ones, or about the declared.
    Of noisy counts the shares that a reader takes for a group's add up, and the claim is about odds.
    """
    if not method.proves():
        return
    release = method.run(table, requirement, random=2).release
    if release.shown_as.by_coin:
        people = _numbered(table)
        drawn = cast("RandomizedRelease", method.run(people, requirement, random=2).release)
        release, shares = drawn, None if drawn.declared else _true_shares(drawn, people)
        beliefs, mean = (ask(people.to_arrow(), shares=shares) for ask in (drawn.beliefs, drawn.mean_beliefs))
        known = drawn.manifest.method["shares"] if drawn.declared else table.sensitive.histogram()
        whole = sum(map(Fraction, known.values()))
        bounds = requirement.limits({label: Fraction(share) / whole for label, share in known.items()})
    else:
        beliefs, mean = release.beliefs(table.to_arrow()), release.mean_beliefs(table.to_arrow())
        bounds = method.bounds(table, requirement).value_limits
    labels = release.labels
    limits = np.array([float(bounds[label]) for label in labels])
    if not release.manifest.rests_on.noisy:  # noise bounds how much odds grow; what a group's shares teach is not bounded
        require(bool((np.nanmax(beliefs, axis=0) <= limits + 1e-12).all()), "beliefs are at most the bounds")
    if table.bundles is None:
        require(bool(np.allclose(np.nansum(mean, axis=1), 1)), "mean beliefs of a published person add up to one")


def _numbered(table: Table) -> Table:
    """Return the same people with a number of their own as their only quasi value."""
    names, schema = list(table.sensitive.domain.names), table.schema
    people = table.to_arrow().select(names).append_column("number", pa.array(np.arange(table.rows)))
    return Table.from_frame(people, Schema(quasi=["number"], sensitive=names, closed=schema.closed, protect=schema.protect))


def _asking(requirement: Requirement, l: int, against: Against) -> Requirement:
    """Return ℓ-diversity against somebody, with the bound on presence of the requirement."""
    asked = LDiversity(l, against=against)
    return asked if requirement.presence is None else PresenceAssociation(requirement.presence, asked, against=against)


def _true_shares(release: RandomizedRelease, table: Table) -> list[Floats]:
    """Return the share of each value in each part, for a table of numbered people."""
    main = release.tables()[RECORDS]
    part = np.empty(table.rows, np.int64)
    part[np.asarray(main["number"])] = np.asarray(main[PART]) - 1
    counts = np.zeros((len(release.parts), len(release.domain)))
    np.add.at(counts, (part, table.sensitive.codes), 1)
    return [counts[i, one.values] / max(1.0, counts[i].sum()) for i, one in enumerate(release.parts)]


def seeds_decide_everything(method: Method, requirement: Requirement, table: Table) -> None:
    """The same seed gives the same release, and says so; without a seed two runs differ and do not say so.

    They may be equal where no coin decides anything: then every seed gives the same release.
    """
    one, two = (method.run(table, requirement, random=3).release for _ in range(2))
    require(_same(one, two), "the same seed gives the same release")
    require(one.manifest.seeded and one.manifest.reproducible, "a seeded release says that it is seeded and reproducible")
    fresh, *others = (method.run(table, requirement).release for _ in range(2))
    require(not fresh.manifest.seeded, "a release made with secure randomness does not say that it is seeded")
    settled = all(_same(one, method.run(table, requirement, random=seed).release) for seed in range(4, 8))
    others += [] if settled else [method.run(table, requirement).release for _ in range(6)]  # where few coins decide
    differ = not all(_same(fresh, other) for other in others)
    require(settled or differ, "runs without a seed differ, unless every seed gives the same release")


def input_order_changes_no_byte(method: Method, requirement: Requirement, table: Table, orders: int = 8) -> None:
    """The same people and the same seed give the same files, byte for byte, or the same refusal, in any order of the input.

    `orders` are tried at least: the table's own and the reverse, sorted by the sensitive value and by each quasi column in both
    directions, and random ones.
    """
    rows = np.arange(table.rows)
    sorted_by = [np.argsort(codes, kind="stable") for codes in (table.sensitive.codes, *(column.codes for column in table.quasi))]
    tried = [rows, *sorted_by]
    tried += [order[::-1] for order in tried]
    coins = np.random.default_rng(11)
    tried += [coins.permutation(rows) for _ in range(orders - len(tried))]
    first = _files(method, requirement, table)
    same = all(_files(method, requirement, table.take(order)) == first for order in tried[1:])
    require(same, "the order of the input changes no byte of a release")


def _order_decides_nothing(method: Method, requirement: Requirement) -> None:
    """Check fifty orders of every balanced design, with 2-diversity where the requirement asks too much of it."""
    for name, table in balanced_designs().items():
        try:
            method.run(table, requirement, random=8)
            asked = requirement
        except SfumatoError:
            asked = _asking(requirement, 2, requirement.against)
        with under_its_name(f"{input_order_changes_no_byte.__name__} on the design {name!r}"):
            input_order_changes_no_byte(method, asked, table, orders=50)


def rerunning_tells_nothing(method: Method) -> None:
    """Whoever knows the program and everybody's quasi values, but not the coins, stays within the bound.

    Every world of `one_small_side` is published with many coins, and the belief in the rare value is counted among the worlds
    that gave each release. Seeds are fixed, so the verdict is too; by Hoeffding's inequality a method that keeps the bound is
    blamed with probability below 10⁻⁴, and one that gives two people away with certainty is caught.
    """
    quasi, worlds = one_small_side()
    model = FPrivacy(offset=1, bounds={"rare": "1/2"})
    requirement = PresenceAssociation(1, model) if method.hides_presence else model
    seen: dict[str, list[tuple[str, ...]]] = {}
    for number, world in enumerate(worlds):
        table = Table.from_frame(pa.table({"x": quasi, "value": list(world)}), Schema(quasi=["x"], sensitive=["value"]))
        for seed in range(_COINS):
            seen.setdefault(_shown(method, table, requirement, number * _COINS + seed), []).append(world)
    for fitting in seen.values():
        margin = math.sqrt(math.log(1e4 * 6 * len(seen)) / (2 * len(fitting)))
        worst = max(sum(world[person] == "rare" for world in fitting) for person in range(6)) / len(fitting)
        require(worst <= 0.5 + margin, f"an engineer who reruns the program would be {worst:.0%} sure where the bound is 50 %")


_COINS = 40


def _shown(method: Method, table: Table, requirement: Requirement, seed: int) -> str:
    """Return what a release says, without its manifest, or what a refusal says."""
    try:
        release = method.run(table, requirement, random=seed).release
    except SfumatoError as error:
        return str(error)
    return repr({name: content.to_pydict() for name, content in release.tables().items()})


@contextmanager
def _one_thread() -> Iterator[None]:
    """Do not wake threads for a handful of people: their number changes nothing."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(threads)


def _files(method: Method, requirement: Requirement, table: Table) -> dict[str, bytes]:
    """Return what every file of a saved release holds, by its table; what a refusal says, where there is no release."""
    try:
        release = method.run(table, requirement, random=8).release
    except SfumatoError as error:
        return {"refused": str(error).encode()}
    release.require_canonical()
    tables = {name: parquet_bytes(content) for name, content in release.tables().items()}
    return {**tables, MANIFEST: release.manifest.to_json().encode()}


def release_survives_the_disk(method: Method, requirement: Requirement, table: Table) -> None:
    """Saved as Parquet or CSV and loaded, the release is the same and answers the same; a second save is refused."""
    made = method.run(table, requirement, random=5)
    release = made.release
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("parquet", "csv"):
            place = Path(folder) / kind
            release.save(place, format=kind)
            loaded = Release.load(place)
            require(_same(release, loaded), f"a release loaded from {kind} equals the one saved")
            require(
                audit_release(loaded, table, links=made.links).holds is True, f"the audit of a release loaded from {kind} holds"
            )
            total = loaded.count("").value  # type: ignore[union-attr]
            require(abs(total - loaded.rows) < 1e-6 * loaded.rows, "the count without a condition is the number of people")
            try:
                release.save(place, format=kind)
            except SfumatoError:
                continue
            raise ConformanceError("saving over an existing release is refused")


def nothing_else_is_told(method: Method, requirement: Requirement, table: Table) -> None:
    """No identifier, dropped column, seed, path or foreign metadata is in the tables or the manifest."""
    release = method.run(table, requirement, random=987_654_321).release
    text = release.manifest.to_json()
    json.loads(text)
    require("987654321" not in text, "the seed is not in the manifest")
    require(SECRET not in text and '"name": "name"' not in text and "secret-note" not in text, "identifiers stay at home")
    for name, content in release.tables().items():
        require(not content.schema.metadata, f"table {name!r} carries no metadata")
        for column in content.columns:
            if pa.types.is_dictionary(column.type):
                chunk = column.combine_chunks()
                used = set(chunk.indices.drop_null().to_pylist())
                require(used == set(range(len(chunk.dictionary))), f"every dictionary entry of {name!r} is used")


def unprovable_claims_are_refused(method: Method, requirement: Requirement, table: Table) -> None:
    """An adversary against whom the method proves nothing is refused before anything is made."""
    for against in get_args(Against):
        if against not in (method.proves() or ("reader",)):
            try:
                method.run(table, _asking(requirement, 1, against), random=6)
            except NotProvable as error:
                require(bool(error.hint), "the refusal says what would work")
                continue
            raise ConformanceError(f"against={against!r} is refused")


def infeasible_bounds_are_refused(method: Method, requirement: Requirement, table: Table) -> None:
    """Bounds below a value's share are refused with the values that break them."""
    try:
        method.run(table, _asking(requirement, 10_000, requirement.against), random=7)
    except Infeasible as error:
        require(bool(error.values) and bool(error.hint), "the error names the values and what would be feasible")
        return
    raise ConformanceError("an infeasible requirement is refused")


def each_of_several_secrets_is_protected_or_refused(method: Method, requirement: Requirement) -> None:
    """Two secrets, each protected by itself, one with a bound on a set of values: refused with a reason, or every claim holds."""
    table, against = two_secrets(), requirement.against
    of_values = LDiversity(2, against=against)
    of_sets = LDiversity(2, sets={"low": {"values": ["w0", "w1"], "bound": "3/4"}}, against=against)  # type: ignore[arg-type]
    for own, refused in ((of_values, ""), (of_sets, method.sets_refused(against))):
        of_columns: Any = {"more": own}
        asked: Requirement = LDiversity(2, columns=of_columns, against=against)
        if method.hides_presence:
            asked = PresenceAssociation(1, of_values, columns=of_columns, against=against)
        if method.each_refused(against) or refused:
            try:
                method.run(table, asked, random=1)
            except SfumatoError:
                continue
            raise ConformanceError("a method that says it cannot keep a bound refuses to")
        with under_its_name("two secrets, each protected by itself"):
            audit_confirms_the_claims(method, asked, table)
            release_survives_the_disk(method, asked, table)


def several_values_are_published_or_refused(method: Method, requirement: Requirement) -> None:
    """People who may have several values of a secret are refused with a reason, or every promise holds for them too.

    The bounds are weak enough for people of every number of rows.
    """
    table = several_values()
    asked = FPrivacy(theta=2, offset="1/2", against=requirement.against)
    if method.hides_presence or method.bundles_refused(asked.against):
        try:
            method.run(table, asked if not method.hides_presence else requirement, random=1)
        except SfumatoError:
            return
        raise ConformanceError("a method that cannot publish several values a person refuses them")
    for check in SEVERAL:
        with under_its_name(f"{check.__name__} on people with several values"):
            check(method, asked, table)
    made = method.run(table, asked, random=1).release
    for part in made.each:
        counts = part.count(f"{part.secrets[0]} IN ('v1')")
        has = table.sensitive.histogram()["v1"]
        require(
            isinstance(counts, Estimate) and math.isclose(counts.value, has),
            "who has a value is counted once, however often she has it",
        )


CHECKS: tuple[Callable[[Method, Requirement, Table], None], ...] = (
    audit_confirms_the_claims,
    beliefs_stay_within_bounds,
    seeds_decide_everything,
    input_order_changes_no_byte,
    release_survives_the_disk,
    nothing_else_is_told,
    unprovable_claims_are_refused,
    infeasible_bounds_are_refused,
)


SEVERAL = CHECKS[:6]
"""What is checked with people who may have several values of a secret."""


def _same(one: Release, two: Release) -> bool:
    left, right = one.tables(), two.tables()
    return left.keys() == right.keys() and all(
        left[name].num_rows == right[name].num_rows
        and all(left[name][column].to_pylist() == right[name][column].to_pylist() for column in left[name].column_names)
        for name in left
    )
