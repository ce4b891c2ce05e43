"""The suite: every adversary by name, what each knows, and the one call that runs them on a release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.attacks.held import HELD, ONE_VALUE, OTHERS, HeldSight
from sfumato.attacks.informant import Informant, real_values
from sfumato.attacks.judge import HeldJudge, Judge, Posteriors, covered
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.result import AttackResult, Knows
from sfumato.attacks.sight import Sight, quasi_only
from sfumato.auditor.buckets import histograms_of
from sfumato.auditor.claims import Case
from sfumato.auditor.held import compare_held, event_limits, facts_of, held_bounds, homes, homes_in_boxes
from sfumato.auditor.original import quasi_keys, true_codes
from sfumato.auditor.ranges import range_histograms
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, coins_of, randomness
from sfumato.release.base import Release
from sfumato.table.table import Table

MOST_VICTIMS = 20_000
"""Larger tables are attacked on a sample of people; what is learned is learned from the whole release."""

PRESENCE = "presence"

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
    def run(self) -> Callable[[Sight], Iterator[Posteriors]]:
        """What she does with what she may see."""
        function: Callable[[Sight], Iterator[Posteriors]] = getattr(import_module(f"sfumato.attacks.{self.home}"), self.home)
        return function


ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for attack in (
        Attack(
            "random-worlds",
            "reader",
            "takes all assignments of a group's values to its people as equally likely",
            "random_worlds",
        ),
        Attack("nb", "statistician", "learns how columns are associated and names the likeliest value", "naive_bayes"),
        Attack("statistician", "statistician", "assigns a group's values to the people they fit best", "statistician"),
        Attack("definetti", "statistician", "lets groups teach about each other, as exchangeable people do", "definetti"),
        Attack("corruption", "insider", "knows values of other people of the group", "corruption"),
        Attack("minimality", "engineer", "reruns the program and strikes out what would have led elsewhere", "minimality"),
        Attack("foreground", "statistician", "strikes values out that patterns of the release make unlikely", "foreground"),
        Attack("composition", "holder", "combines two releases about the same people", "composition"),
        Attack("skewness", "reader", "compares her belief with the share of a value, and of sets of values", "skewness"),
        Attack("containment", "reader", "takes every group whose ranges may hold a person", "containment"),
        Attack(PRESENCE, "stranger", "asks whether a person is in the table at all", "presence"),
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
    seed: int | None = None,
    random: Randomness | int | None = None,
    progress: Progress | None = None,
) -> list[AttackResult]:
    """Return what each adversary reaches on a release of a table; all of them where none is named.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> table = sf.Table.from_frame(people, sf.Schema(quasi=["age"], sensitive=["illness"]))
    >>> [found] = sf.attack(sf.publish(table, sf.LDiversity(2), seed=1), table, "random-worlds")
    >>> found.verdict, found.largest_belief
    ('claimed', 0.5)

    An attack reads the release and quasi values; the table is only looked at to judge it. `outsiders` are people who are not in
    the table, with their sensitive values if they have any: the control. `sets` are values that mean one secret together,
    `others` further releases about the same people, `persons` says for each row whose it is. Large tables are attacked on a
    sample of people. An attack that makes no sense on such a release comes back with the reason. Where each of several sensitive
    columns is protected by itself, each is attacked, and its name stands in the `variant`. Where people may have several values
    of a secret, adversaries also know how many rows or values everybody has; a guess is right where the value is one of hers.
    """
    coins = randomness(coins_of(seed, random))
    if release.manifest.bundled:
        return _held(release, table, attacks, coins.spawn(0), progress or silent)
    if len(release.each) > 1:
        return _each(release, table, attacks, SideKnowledge(outsiders, sets or {}, others, persons), coins, progress)
    chosen = [ATTACKS[name] for name in _names(attacks)]
    tell = progress or silent
    require_same_people(release, table)
    if outsiders is not None:
        require_outsiders(release, outsiders)
    about = " / ".join(table.sensitive.domain.names)
    held = tuple(own for other in others if (own := _about(other, about)) is not None)
    sight, judge = _prepare(release, table, SideKnowledge(outsiders, sets or {}, held, persons), coins)
    results: list[AttackResult] = []
    for number, attack in enumerate(chosen):
        tell(attack.name, number / len(chosen))
        results += _run(attack, sight, judge)
    tell("done", 1.0)
    return results


class SideKnowledge(NamedTuple):
    """What is known beside a release and quasi values: see `attack`."""

    outsiders: Table | None
    sets: Mapping[str, Sequence[str]]
    others: Sequence[Release]
    persons: Any


def _each(
    release: Any,
    table: Table,
    attacks: str | Iterable[str] | None,
    given: SideKnowledge,
    coins: Randomness,
    progress: Progress | None,
) -> list[AttackResult]:
    """Return what is reached of each sensitive column by itself."""
    outsiders, sets, others, persons = given
    asked = attacks if attacks is None or isinstance(attacks, str) else [*attacks]
    for label, values in sets.items():
        if not any(set(values) <= set(part.labels) for part in release.each):
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
    for k, (name, part) in enumerate(zip(release.secrets, release.each, strict=True)):
        own = [attack for attack in _names(asked) if attack != PRESENCE or k == 0]  # whoever is in the table, whatever is secret
        if not own:
            continue
        reached = attack(
            part,
            people[name],
            own,
            outsiders=away.get(name, unknown),
            sets={label: values for label, values in sets.items() if set(values) <= set(part.labels)},
            others=others,
            persons=persons,
            random=coins.spawn(k),
            progress=progress,
        )
        results += [_named(result, name) for result in reached]
    return results


def _named(result: AttackResult, secret: str) -> AttackResult:
    """Return a result under the name of the secret that it is about; presence is about none."""
    if result.attack == PRESENCE:
        return result
    return replace(result, variant=f"{result.variant}, {secret}" if result.variant else secret, secret=secret)


def _held(
    release: Any, table: Table, attacks: str | Iterable[str] | None, coins: Randomness, tell: Progress
) -> list[AttackResult]:
    """Return what is reached of each secret where people may have several values of it."""
    asked = _names(attacks, among=HELD)
    if table.bundles is None:
        raise InputError("people of the release may have several values of a secret, and those of the table have one", hint=HINT)
    _require_columns(release, table)
    everybody = (homes_in_boxes if release.shown_as.as_ranges else homes)(release, table)
    if everybody.problems:
        raise InputError(everybody.problems[0], hint=HINT)
    victims = _victims(release, table.rows, coins)
    results: list[AttackResult] = []
    for part, people in zip(release.each, table.each(), strict=True):
        sight, judge = _held_sides(part, people, everybody.group, victims)
        about = "" if len(release.each) == 1 else part.secrets[0]
        for number, name in enumerate(asked):
            tell(name, number / len(asked))
            began, refused = time.process_time(), OTHERS.get(name, ONE_VALUE)
            try:
                if name in HELD:
                    beliefs, knows = HELD[name].run(sight), HELD[name].knows
                    spent = time.process_time() - began
                    results.append(judge.score(beliefs, attack=name, variant=about, knows=knows, seconds=spent))
                    continue
            except NotApplicable as reason:
                refused = str(reason)
            knows = HELD[name].knows if name in HELD else ATTACKS[name].knows
            results.append(AttackResult(name, about, knows, refused=refused))
    tell("done", 1.0)
    return results


def _held_sides(part: Any, table: Table, everybody: Integers, victims: Integers) -> tuple[HeldSight, HeldJudge]:
    """Return what adversaries may see of one secret, and who judges them."""
    shown = (range_histograms if part.shown_as.as_ranges else histograms_of)(part)
    bounds, bands = held_bounds(Case(part, table), shown)
    differ = compare_held(shown, table, bounds, everybody)
    if differ:
        raise InputError(differ[0], hint=HINT)
    held, labels, many = part.held, list(part.labels), len(bounds.sets)
    person, value = facts_of(table)
    truth = np.zeros((table.rows, len(labels) + many), bool)
    truth[person, true_codes(labels, table).astype(np.int64)[value]] = True
    for place, (values, _) in enumerate(bounds.sets.values(), len(labels)):
        truth[:, place] = truth[:, [labels.index(value) for value in values if value in labels]].any(axis=1)
    limits = event_limits(shown, bounds, bands)[everybody[victims]]
    sight = HeldSight(
        sizes=part.sizes,
        group=np.concatenate([shown.group, held.set_group]),
        event=np.concatenate([shown.value, held.set_place + len(labels)]),
        count=np.concatenate([shown.count, held.set_count]),
        events=len(labels) + many,
        sets=many,
        home=everybody,
        victims=victims,
        values=truth[:, : len(labels)].sum(axis=1),
        rows=table.times,
        alike=part.manifest.alike or "",
    )
    return sight, HeldJudge(truth[victims], limits, covered(part), len(labels))


def _about(release: Any, secret: str) -> Any:
    """Return what another release says of one secret, alone or among those it protects each by itself; None if nothing."""
    return release.of(secret) if secret in release.secrets else None


def _by_column(people: Table) -> dict[str, Table]:
    """Return people with each of their sensitive columns alone, by its name."""
    return {" / ".join(part.sensitive.domain.names): part for part in people.each()}


def _names(attacks: str | Iterable[str] | None, among: Mapping[str, Any] | None = None) -> list[str]:
    """Return the names of the attacks asked for, all where none is; an unknown one is an error.

    `among` are those of such releases: all of them where none is asked for, then those that make no sense on them.
    """
    asked = [attacks] if isinstance(attacks, str) else [*(attacks or ())]
    every = list(dict.fromkeys([*(among or ()), *ATTACKS]))
    if not asked or "all" in asked:
        return every
    for name in asked:
        if name in HELD and name not in every:
            raise PolicyError(f"attack {name!r}: everybody has one value of a secret here", hint=did_you_mean(name, every))
        if name not in every:
            raise PolicyError(f"there is no attack {name!r}", hint=did_you_mean(name, [*every, "all"]))
    return list(dict.fromkeys(asked))


def _prepare(release: Release, table: Table, given: SideKnowledge, coins: Randomness) -> tuple[Sight, Judge]:
    """Return what attacks may see, and who judges them."""
    from sfumato.auditor.original import true_values

    outsiders, sets, others, persons = given
    everybody = quasi_only(table)
    victims = _victims(release, table.rows, coins.spawn(0))
    truth = true_values(release.labels, table)
    informant = Informant({}, len(release.labels), coins.spawn(1))
    if release.shown_as.has_groups:
        informant = Informant(real_values(release, truth, everybody), len(release.labels), coins.spawn(1))
    shares = np.bincount(truth[truth >= 0], minlength=len(release.labels)) / table.rows
    away = None if outsiders is None else quasi_only(outsiders)
    whose = None if persons is None else _whose(persons, table.rows)
    named = _named_sets(release) | dict(sets)
    sight = Sight(release, everybody, victims, shares, informant, coins.spawn(2), away, named, tuple(others), whose)
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
    from sfumato.auditor.claims import AuditedBounds

    counts = (
        None
        if release.manifest.values is None
        else {str(entry["value"]): int(entry["count"]) for entry in release.manifest.values}
    )
    parts = release.domain.parts()
    return {
        name: values for name, (values, _) in AuditedBounds.read(release.manifest, counts, release.labels, parts).sets.items()
    }


def _victims(release: Release, rows: int, coins: Randomness) -> Integers:
    """Return everybody, or a sample without replacement."""
    alone = release.manifest.own_ranges
    most = min(MOST_VICTIMS, PAIRS // max(release.rows, 1)) if alone else MOST_VICTIMS
    return np.arange(rows) if rows <= most else np.sort(coins.permutation(rows)[:most])


def _run(attack: Attack, sight: Sight, judge: Judge) -> list[AttackResult]:
    """Return what one adversary reached, in each of her ways; time is that of this way alone."""
    results: list[AttackResult] = []
    began = time.process_time()
    try:
        for guess in attack.run(sight):
            spent = time.process_time() - began
            if attack.name == PRESENCE:
                results.append(judge.score_presence(guess, attack=attack.name, release=sight.release, seconds=spent))
            else:
                results.append(judge.score(guess, attack=attack.name, knows=attack.knows, seconds=spent))
            began = time.process_time()
    except NotApplicable as reason:
        results.append(AttackResult(attack.name, "", attack.knows, refused=str(reason)))
    return results


# Whether a table is the one that a release was made of: against any other, every figure of an attack would be wrong.

HINT = "the original table, read as the publisher read it (its policy); `sfumato audit --table` says what differs"


def require_same_people(release: Any, table: Table) -> None:
    """Raise unless columns, the number of people, values and published quasi values are the table's, as far as they are shown."""
    manifest = release.manifest
    _require_columns(release, table)
    fewer = manifest.parameters.get("suppression") or manifest.parameters.get("dummies")
    if release.rows > table.rows or (release.rows < table.rows and not fewer):
        raise InputError(f"the release is about {release.rows:,} people, and the table has {table.rows:,}", hint=HINT)
    if manifest.values is not None:
        listed = {str(entry["value"]): int(entry["count"]) for entry in manifest.values}
        own = table.sensitive.histogram()
        differ = sum(listed.get(value, 0) != own.get(value, 0) for value in {*listed, *own})
        if differ:
            raise InputError(
                f"{differ:,} sensitive values are published another number of times than the table has them", hint=HINT
            )
    if release.shown_as.exact_quasi and not fewer:
        key = np.unique(quasi_keys(release.quasi, table), return_inverse=True)[1]
        many = np.bincount(key[: release.rows], minlength=int(key.max()) + 1)
        gone = int(np.maximum(np.bincount(key[release.rows :], minlength=len(many)) - many, 0).sum())
        if gone:
            raise InputError(f"{gone:,} people of the table have quasi values that no row of the release has", hint=HINT)


def _require_columns(release: Any, table: Table) -> None:
    """Raise unless release and table have the same columns."""
    quasi, sensitive = ([str(column["name"]) for column in release.manifest.schema[role]] for role in ("quasi", "sensitive"))
    if {*quasi} != {column.name for column in table.quasi} or sensitive != [*table.sensitive.domain.names]:
        raise InputError("the release and the table do not have the same quasi and sensitive columns", hint=HINT)


def require_outsiders(release: Any, outsiders: Table) -> None:
    """Raise unless people who are not in the table have the quasi columns of the release."""
    quasi = {str(column["name"]) for column in release.manifest.schema["quasi"]}
    if quasi != {column.name for column in outsiders.quasi}:
        raise InputError(
            "outsiders: they do not have the quasi columns of the release", hint="people with the same quasi columns"
        )
