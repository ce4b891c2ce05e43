"""The program run again on every table that fits: what minimality comes to, exactly, where tables are tiny."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import Members, NotApplicable, members
from sfumato.attacks.sight import Sight
from sfumato.errors import SfumatoError
from sfumato.randomness import SeededRandomness
from sfumato.table.column import Column

TINY = 9
"""Tables of up to so many people are rerun exactly."""
MOST_WORLDS = 6_000
SEEDS = 64
"""How many coins a program that tosses some is rerun with on every table."""


def rerun(sight: Sight) -> Posteriors:
    """Return the posterior over all placements that fit, each as likely as the program makes this release of it.

    A program without coins makes it or does not; one with coins is run with some seeds, and counted.
    """
    people = members(sight)
    method, requirement = program_of(sight.release)
    if _worlds(people) > MOST_WORLDS:
        raise NotApplicable(f"{_worlds(people):,} placements fit: too many to rerun the program on each")
    table = table_of(sight, people.columns)
    seeds = 1 if sight.release.manifest.rests_on.values_decide and not method.tosses_when_tight else SEEDS
    number = {label: k for k, label in enumerate(table.sensitive.labels)}
    own = np.array([number[label] for label in sight.release.labels], dtype=np.int64)
    account = sight.release.account
    flat, weight, fitting = np.zeros(int(people.offset[-1])), 0.0, 0
    for held in placements(people):
        codes = own[people.value[people.entry[:-1][people.group] + held]]
        wanted = _shape(people.group, people.codes, codes, account)
        made = sum(_makes(method, requirement, table, codes, wanted, seed) for seed in range(seeds)) / seeds
        weight += made
        fitting += made > 0
        flat[people.offset[:-1] + held] += made
    if weight == 0:
        raise NotApplicable("no rerun of the program made this release: it has other parameters than the manifest says")
    note = f"{fitting:,} of {_worlds(people):,} placements lead to this release"
    error = 0.0 if seeds == 1 else 0.1
    return Posteriors(people.to_victims(flat / weight), "every placement rerun", note=note, error=error)


def program_of(release: Any) -> tuple[Any, Any]:
    """Return the method and the requirement that a manifest names, with their parameters."""
    from sfumato.methods import METHODS
    from sfumato.privacy import MODELS

    method, requirement = dict(release.manifest.method), dict(release.manifest.requirement)
    try:
        made = METHODS[method.pop("name")](
            **{key: value for key, value in method.items() if value is not None and key != "package"}
        )
        return made, MODELS[requirement.pop("model")](**requirement)
    except (KeyError, TypeError, SfumatoError):
        raise NotApplicable("the manifest's method or requirement cannot be reconstructed") from None


def placements(people: Members) -> Iterator[Integers]:
    """Yield every placement of the groups' values on their people: which entry of her group each person holds."""
    for parts in product(*(dealt(_counts(people, g), int(people.sizes[g])) for g in range(people.groups))):
        yield np.array([value for part in parts for value in part], dtype=np.int64)


def _counts(people: Members, g: int) -> list[int]:
    counts: list[int] = people.count[people.entry[g] : people.entry[g + 1]].astype(int).tolist()
    return counts


def dealt(left: list[int], people: int) -> Iterator[list[int]]:
    """Yield every way to give each of so many people a value, `left` being how often there is each."""
    if people == 0:
        yield []
        return
    for value, many in enumerate(left):
        if many:
            rest = [*left[:value], many - 1, *left[value + 1 :]]
            yield from ([value, *tail] for tail in dealt(rest, people - 1))


def ways_to_deal(counts: list[int]) -> int:
    """Return in how many ways values that occur so often can be given to as many people."""
    return factorial(sum(counts)) // prod(map(factorial, counts))


def _worlds(people: Members) -> int:
    return prod(ways_to_deal(_counts(people, g)) for g in range(people.groups))


def table_of(sight: Sight, columns: Sequence[Column]) -> Any:
    """Return a table of these people, in their order, with sensitive values still to be set."""
    from sfumato.table import Schema, Table

    schema = sight.release.manifest.schema
    names = [column.name for column in columns]
    kinds = {str(column["name"]): column["kind"] for column in schema["quasi"]}
    labels = sight.release.labels
    filled = [labels[k % len(labels)] for k in range(len(columns[0].codes))]
    frame = pa.table({**{column.name: column.arrow() for column in columns}, "-": filled})
    return Table.from_frame(frame, Schema(quasi=names, sensitive=["-"], types=kinds | {"-": "categorical"}))


def run_again(run: Callable[[Any], Any], requirement: Any, table: Any, codes: Integers, seed: int) -> Any:
    """Return what a step of the program makes if the table's people have these values; None where it refuses."""
    from sfumato.methods.base import MAKING, Task
    from sfumato.progress import silent
    from sfumato.table.column import Sensitive

    given = replace(table, sensitive=Sensitive(table.sensitive.domain, codes.astype(np.uint8)))
    task = Task(given, requirement, requirement.bounds(given.sensitive.histogram()), SeededRandomness(seed).spawn(MAKING), silent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(task)
        except SfumatoError:
            return None


def _makes(method: Any, requirement: Any, table: Any, codes: Integers, wanted: Any, seed: int) -> bool:
    """Return whether the program makes the release that is wanted, if its people have these values."""
    grouping = run_again(method.group, requirement, table, codes, seed)
    if grouping is None:
        return False
    quasi = np.stack([column.codes for column in table.quasi], axis=1)
    return bool(_shape(grouping.group, quasi, codes, grouping.account) == wanted)


def _shape(group: Any, quasi: Any, codes: Integers, account: Integers | None) -> Any:
    """Return what a release shows, whatever the numbers of its groups: quasi rows and values of each, and its account."""
    return sorted(
        (
            sorted(map(tuple, quasi[group == g].tolist())),
            sorted(codes[group == g].tolist()),
            -1 if account is None else int(account[g]),
        )
        for g in np.unique(group)
    )
