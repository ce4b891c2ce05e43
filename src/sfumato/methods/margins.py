"""Margins, noisy one-way tables beside noisy boxes: what part of the odds they take, and what they show.

One person's other value moves two counts of every table, so that with m tables no outcome becomes more than r^(−2m) times as
likely, and with the boxes γ is the product of both parts. Which tables there are, their bands and their part follow from quasi
values, the number of people and declared figures alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import PolicyError
from sfumato.groups.streams import Step
from sfumato.parameters import EXACT_TEXT, Takes, rational
from sfumato.randomize.noise import noise_ratio, split_odds, two_sided
from sfumato.randomness import Randomness
from sfumato.release.margins import Banded, Margins, numbered_bands
from sfumato.table.column import Column

SHARE = Fraction(7, 10)
"""The part of ε that tables have where none is given."""

MARGINS_FROM = 100_000
"""With fewer people there are no tables unless they are asked for: with 50,000 of ACS ranges err a third more."""

MOST_VALUES = 600
"""Of more values answers do not learn from tables."""

_share = rational("a number from 0 to below 1, of at most three decimals", least=0, below=1)


def _checked(where: str, value: Any) -> Fraction | tuple[tuple[str, ...], ...]:
    """Take the part of ε, or the pairs of columns that have tables beside those of single columns."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        share: Fraction = _share(where, value)
        if (1000 * share).denominator != 1:
            raise PolicyError(f"{where}: expected at most three decimals, got {value}")
        return share
    pairs = tuple(tuple(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else () for pair in value)
    named = all(len(pair) == 2 and all(isinstance(name, str) for name in pair) and pair[0] != pair[1] for pair in pairs)
    if not pairs or not named or len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise PolicyError(
            f"{where}: expected a part of ε, or distinct pairs of quasi columns, got {value!r}", hint='[["age", "sex"]]'
        )
    return pairs


checked_margins = Takes(
    _checked,
    {
        "anyOf": [
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
            EXACT_TEXT,
            {
                "type": "array",
                "minItems": 1,
                "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            },
        ]
    },
)


class MarginPlan(NamedTuple):
    """The tables, by the names of their quasi columns, their part of γ, and the ratio of their noise."""

    tables: tuple[tuple[str, ...], ...]
    gamma: Fraction
    ratio: Fraction

    def stated(self) -> dict[str, Any]:
        """Return what the manifest says of them."""
        return {"tables": [list(table) for table in self.tables], "gamma": str(self.gamma), "ratio": str(self.ratio)}


class MarginRequest(NamedTuple):
    """What tables follow from beside γ: names of quasi columns, how many people, values of a secret, values a person counts for.

    `several` says whether people may have several values of a secret.
    """

    quasi: tuple[str, ...]
    people: int
    values: int
    counted: int
    several: bool


def planned(margins: Fraction | tuple[tuple[str, ...], ...] | None, gamma: Fraction, asked: MarginRequest) -> MarginPlan | None:
    """Return the tables of a release, None for no tables: as asked for, else from `MARGINS_FROM` people on."""
    if asked.several or asked.values > MOST_VALUES:
        if margins:
            why = "people may have several values" if asked.several else f"there are more than {MOST_VALUES} values"
            raise PolicyError(f"margins: {why} of a secret, and then answers cannot use margins", hint="margins = 0")
        return None
    if margins is None and asked.people < MARGINS_FROM:
        return None
    pairs = margins if isinstance(margins, tuple) else ()
    share = margins if isinstance(margins, Fraction) else SHARE
    if share == 0:
        return None
    unknown = [name for pair in pairs for name in pair if name not in asked.quasi]
    if unknown:
        raise PolicyError(f"margins: {unknown[0]!r} is not a quasi column", hint=f"of {', '.join(asked.quasi)}")
    tables = (*((name,) for name in asked.quasi), *pairs)
    part = split_odds(gamma, share)
    ratio = noise_ratio(part, asked.counted * len(tables)) if part > 1 else Fraction(1)
    if ratio == 1:
        if margins is None:
            return None
        raise PolicyError("margins: γ is too small to be divided among so many tables", hint="margins = 0")
    return MarginPlan(tables, part, ratio)


ValueTally = Callable[[tuple[Banded, ...]], Sequence[Integers]]
"""Counts values by the bands of every table: [bands × values] for each."""


def noisy_margins(
    plan: MarginPlan, quasi: Sequence[Column], times: Sequence[Integers], tally: ValueTally, random: Randomness
) -> Margins:
    """Return the tables of people of whom so many have each code of the quasi columns, noise drawn in the order of the tables."""
    names = [column.name for column in quasi]
    tables = tuple(tuple(names.index(name) for name in table) for table in plan.tables)
    banded = numbered_bands(quasi, times, tables)
    shown = np.concatenate(list(tally(banded)))
    shown += two_sided(plan.ratio, shown.size, random.spawn(Step.MARGINS)).reshape(shown.shape)
    return Margins(tables, tuple(own.many for own in banded), shown)
