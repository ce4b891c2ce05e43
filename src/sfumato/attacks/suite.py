"""The suite: every adversary by name, what each knows, and the one call that runs them on a release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.arrays import Integers
from sfumato.attacks.informant import Informant, real_values
from sfumato.attacks.judge import Guess, Judge
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.result import AttackResult, Knows
from sfumato.attacks.sight import Sight, quasi_only
from sfumato.auditor.original import quasi_keys
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, randomness
from sfumato.release.base import Release
from sfumato.table.table import Table

MOST_VICTIMS = 20_000
"""Larger tables are attacked on a sample of people; what is learned is learned from the whole release."""

PAIRS = 100_000_000
"""The same where every record has ranges of its own: so many pairs of a person and a record are compared."""


@dataclass(frozen=True)
class Attack:
    """An adversary: her name, whose knowledge she has, what she does in a sentence, and where her code is."""

    name: str
    knows: Knows
    says: str
    home: str

    @property
    def run(self) -> Callable[[Sight], Iterator[Guess]]:
        """What she does with what she may see."""
        function: Callable[[Sight], Iterator[Guess]] = getattr(import_module(f"sfumato.attacks.{self.home}"), self.home)
        return function


ATTACKS: dict[str, Attack] = {
    one.name: one
    for one in (
        Attack("random-worlds", "reader", "takes every placement of a group's values as equally likely", "random_worlds"),
        Attack("nb", "statistician", "learns how columns go together and names the likeliest value", "naive_bayes"),
        Attack("statistician", "statistician", "puts a group's values on the people they fit best", "statistician"),
        Attack("definetti", "statistician", "lets groups teach about each other, as exchangeable people do", "definetti"),
        Attack("corruption", "insider", "knows what others of the group have", "corruption"),
        Attack("minimality", "engineer", "reruns the program and strikes out what would have led elsewhere", "minimality"),
        Attack("foreground", "statistician", "strikes values out that patterns of the release make unlikely", "foreground"),
        Attack("composition", "holder", "puts two releases about the same people together", "composition"),
        Attack("skewness", "reader", "compares her belief with the share of a value, and of sets of values", "skewness"),
        Attack("containment", "reader", "takes every group whose ranges may hold a person", "containment"),
        Attack("presence", "stranger", "asks whether a person is in the table at all", "presence"),
        Attack("rows", "linker", "knows which rows are one person's", "rows"),
    )
}
"""Every adversary by name."""


def attack(
    release: Release,
    table: Table,
    attacks: str | Iterable[str] | None = None,
    *,
    outsiders: Table | None = None,
    sets: Mapping[str, Sequence[str]] | None = None,
    others: Sequence[Release] = (),
    persons: Any = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
) -> list[AttackResult]:
    """Return what each adversary reaches on a release of a table; all of them where none is named.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> table = sf.Table.from_frame(people, sf.Schema(quasi=["age"], sensitive=["illness"]))
    >>> [found] = sf.attack(sf.publish(table, sf.LDiversity(2), random=1), table, "random-worlds")
    >>> found.verdict, found.largest_belief
    ('claimed', 0.5)

    An attack reads the release and quasi values; the table is only looked at to judge it. `outsiders` are people who are not in
    the table, with their sensitive values if they have any: the control. `sets` are values that mean one secret together,
    `others` further releases about the same people, `persons` says for each row whose it is. Large tables are attacked on a
    sample of people. An attack that makes no sense on such a release comes back with the reason. Where each of several sensitive
    columns is protected by itself, each is attacked, and its name stands in the `variant`.
    """
    if release.manifest.apart:
        return _each(release, table, attacks, outsiders, sets or {}, others, persons, randomness(random), progress)
    chosen = [ATTACKS[name] for name in _names(attacks)]
    coins = randomness(random)
    tell = progress or silent
    require_same_people(release, table)
    if outsiders is not None:
        require_outsiders(release, outsiders)
    sight, judge = _prepare(release, table, outsiders, sets, tuple(others), persons, coins)
    results: list[AttackResult] = []
    for number, one in enumerate(chosen):
        tell(one.name, number / len(chosen))
        results += _run(one, sight, judge)
    tell("done", 1.0)
    return results


def _each(
    release: Any,
    table: Table,
    attacks: str | Iterable[str] | None,
    outsiders: Table | None,
    sets: Mapping[str, Sequence[str]],
    others: Sequence[Any],
    persons: Any,
    coins: Randomness,
    progress: Progress | None,
) -> list[AttackResult]:
    """Return what is reached of each sensitive column by itself."""
    asked = attacks if attacks is None or isinstance(attacks, str) else [*attacks]
    for label, values in sets.items():
        if not any(set(values) <= set(part.labels) for part in release.parts):
            raise PolicyError(
                f"the set {label!r} has values that are not all of one sensitive column",
                hint=f"each of {', '.join(release.secrets)} is attacked by itself: name values of one of them",
            )
    people = _by_column(table)
    if set(people) != set(release.secrets):
        raise InputError(
            f"the release protects {', '.join(release.secrets)} each by itself, and the table {', '.join(people)}",
            hint='read the table with the same sensitive columns and protect = "each"',
        )
    away = {} if outsiders is None else _by_column(outsiders)
    unknown = None if set(away) & set(release.secrets) else outsiders  # whose values nobody knows
    results = []
    for k, (name, part) in enumerate(zip(release.secrets, release.parts, strict=True)):
        found = attack(
            part,
            people[name],
            asked,
            outsiders=away.get(name, unknown),
            sets={label: values for label, values in sets.items() if set(values) <= set(part.labels)},
            others=[one.of(name) for one in others if one.manifest.apart and name in one.manifest.secrets],
            persons=persons,
            random=coins.spawn(k),
            progress=progress,
        )
        results += [replace(one, variant=f"{one.variant}, {name}" if one.variant else name) for one in found]
    return results


def _by_column(people: Table) -> dict[str, Table]:
    """Return people with each of their sensitive columns alone, by its name."""
    return {" / ".join(one.sensitive.domain.names): one for one in people.apart()}


def _names(attacks: str | Iterable[str] | None) -> list[str]:
    """Return the names of the attacks asked for, all where none is; an unknown one is an error."""
    asked = [attacks] if isinstance(attacks, str) else [*(attacks or ())]
    if not asked or "all" in asked:
        return [*ATTACKS]
    for name in asked:
        if name not in ATTACKS:
            raise PolicyError(f"there is no attack {name!r}", hint=did_you_mean(name, [*ATTACKS, "all"]))
    return list(dict.fromkeys(asked))


def _prepare(
    release: Release,
    table: Table,
    outsiders: Table | None,
    sets: Mapping[str, Sequence[str]] | None,
    others: tuple[Release, ...],
    persons: Any,
    coins: Randomness,
) -> tuple[Sight, Judge]:
    """Return what attacks may see, and who judges them."""
    from sfumato.auditor.original import true_values

    everybody = quasi_only(table)
    victims = _victims(release, table.rows, coins.spawn(0))
    truth = true_values(release.labels, table)
    informant = Informant({}, len(release.labels), coins.spawn(1))
    if release.form not in ("randomized", "synthetic"):
        informant = Informant(real_values(release, truth, everybody), len(release.labels), coins.spawn(1))
    shares = np.bincount(truth[truth >= 0], minlength=len(release.labels)) / table.rows
    away = None if outsiders is None else quasi_only(outsiders)
    whose = None if persons is None else _whose(persons, table.rows)
    named = _named_sets(release) | dict(sets or {})
    sight = Sight(release, everybody, victims, shares, informant, coins.spawn(2), away, named, others, whose)
    return sight, Judge.of(release, table, victims, outsiders, informant)


def _whose(persons: Any, rows: int) -> Integers:
    """Return a number a row for whose it is, from anything that lists as many keys as the table has rows."""
    keys = [str(key) for key in (persons.to_pylist() if hasattr(persons, "to_pylist") else persons)]
    if len(keys) != rows:
        raise InputError(
            f"persons: {len(keys):,} keys for {rows:,} rows", hint="give a key for every row of the table, in its order"
        )
    return np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)


def _named_sets(release: Release) -> dict[str, Sequence[str]]:
    """Return the sets of values that the requirement bounds, as the auditor reads them."""
    from sfumato.auditor.claims import Bounds

    counts = (
        None if release.manifest.values is None else {str(one["value"]): int(one["count"]) for one in release.manifest.values}
    )
    parts: Any = getattr(release, "domain").parts()  # noqa: B009  (a field of every form)
    return {name: values for name, (values, _) in Bounds.read(release.manifest, counts, release.labels, parts).sets.items()}


def _victims(release: Release, rows: int, coins: Randomness) -> Integers:
    """Return everybody, or a sample without replacement."""
    alone = release.form == "ranges" and "weaker_claim" in release.manifest.parameters
    most = min(MOST_VICTIMS, PAIRS // max(release.rows, 1)) if alone else MOST_VICTIMS
    return np.arange(rows) if rows <= most else np.sort(coins.permutation(rows)[:most])


def _run(one: Attack, sight: Sight, judge: Judge) -> list[AttackResult]:
    """Return what one adversary reached, in each of her ways; time is that of this way alone."""
    results: list[AttackResult] = []
    began = time.process_time()
    try:
        for guess in one.run(sight):
            spent = time.process_time() - began
            if one.name == "presence":
                results.append(judge.score_presence(guess, attack=one.name, release=sight.release, seconds=spent))
            else:
                results.append(judge.score(guess, attack=one.name, knows=one.knows, seconds=spent))
            began = time.process_time()
    except NotApplicable as reason:
        results.append(AttackResult(one.name, "", one.knows, refused=str(reason)))
    return results


# Whether a table is the one that a release was made of: against any other, every figure of an attack would be wrong.

HINT = "the original table, read as the publisher read it (its policy); `sfumato audit --table` says what differs"


def require_same_people(release: Any, table: Table) -> None:
    """Raise unless columns, the number of people, values and published quasi values are the table's, as far as they are shown."""
    manifest = release.manifest
    quasi, sensitive = ([str(one["name"]) for one in manifest.schema[role]] for role in ("quasi", "sensitive"))
    if {*quasi} != {column.name for column in table.quasi} or sensitive != [*table.sensitive.domain.names]:
        raise InputError("the release and the table do not have the same quasi and sensitive columns", hint=HINT)
    fewer = manifest.parameters.get("suppression") or manifest.parameters.get("dummies")
    if release.rows > table.rows or (release.rows < table.rows and not fewer):
        raise InputError(f"the release is about {release.rows:,} people, and the table has {table.rows:,}", hint=HINT)
    if manifest.values is not None:
        listed = {str(one["value"]): int(one["count"]) for one in manifest.values}
        own = table.sensitive.histogram()
        differ = sum(listed.get(value, 0) != own.get(value, 0) for value in {*listed, *own})
        if differ:
            raise InputError(
                f"{differ:,} sensitive values are published another number of times than the table has them", hint=HINT
            )
    if release.form in ("buckets", "randomized") and not fewer:
        key = np.unique(quasi_keys(release.quasi, table), return_inverse=True)[1]
        many = np.bincount(key[: release.rows], minlength=int(key.max()) + 1)
        gone = int(np.maximum(np.bincount(key[release.rows :], minlength=len(many)) - many, 0).sum())
        if gone:
            raise InputError(f"the release has no row with the quasi values of {gone:,} people of the table", hint=HINT)


def require_outsiders(release: Any, outsiders: Table) -> None:
    """Raise unless people who are not in the table have the quasi columns of the release."""
    quasi = {str(one["name"]) for one in release.manifest.schema["quasi"]}
    if quasi != {column.name for column in outsiders.quasi}:
        raise InputError(
            "outsiders: they do not have the quasi columns of the release", hint="people with the same quasi columns"
        )
