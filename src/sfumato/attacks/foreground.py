"""Foreground knowledge: patterns learned from the release itself strike values out, or weigh them (Injector; Wong et al.)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.arrays import Floats
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import Members, members
from sfumato.attacks.placing import firsts, place, spread_tables, weights_of
from sfumato.attacks.sight import Sight

FAINT = 0.1
"""A pattern strikes a value out where its rate is below a tenth of what independence would make it …"""
SURE = 3.0
"""… and so far below half of it, in standard errors."""
_STRUCK = -40.0  # beside a weight of 1: no placement with such a link counts where there is one without


def foreground(sight: Sight) -> Iterator[Posteriors]:
    """Yield hard exclusion by negative associations, and soft weights Pr[s | x] by the pattern that says most of a person."""
    people = members(sight)
    tables = spread_tables(people)
    struck, patterns = excluded(tables)
    note = f"{patterns:,} pairs of a code and a value are taken as impossible"
    if patterns:
        yield Posteriors(people.to_victims(place(people, weights_of(people, struck))), "hard exclusion", note=note)
    else:
        yield Posteriors(
            sight.reader, "hard exclusion", note="no pair of a code and a value was found impossible: nothing is struck out"
        )
    yield Posteriors(people.to_victims(place(people, strongest(people, tables))), "soft weights")


def excluded(tables: Sequence[Floats]) -> tuple[Floats, int]:
    """Return logarithms of weights, of all columns, very small for pairs that hardly ever occur together; and how many pairs.

    Spread counts are diluted by what groups mix, so that few pairs are found where groups are large: that is what a reader of
    this release can learn, and no more.
    """
    parts, many = [], 0
    for table in tables:
        expected = table.sum(axis=1)[:, None] * table.sum(axis=0)[None, :] / max(float(table.sum()), 1e-300)
        faint = (table < FAINT * expected) & (table + SURE * np.sqrt(np.maximum(expected, 1e-300)) < expected / 2)
        many += int(faint.sum())
        parts.append(np.where(faint, _STRUCK, 0.0))
    return np.ascontiguousarray(np.concatenate(parts)), many


def strongest(people: Members, tables: Sequence[Floats]) -> Floats:
    """Return everybody's weights Pr[s | x], x being her value in the column whose pattern is furthest from the usual shares."""
    total = tables[0].sum(axis=0)
    usual = total / total.sum()
    rates, distance = [], []
    for table in tables:
        rate = table / np.maximum(table.sum(axis=1), 1e-300)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = np.where(rate > 0, rate * np.log(rate / np.maximum(usual, 1e-300)), 0.0).sum(axis=1)
        rates.append(rate)
        distance.append(bits)
    says = np.stack([by_code[people.codes[:, j]] for j, by_code in enumerate(distance)], axis=1)
    best = says.argmax(axis=1)
    row = firsts(people)[best] + people.codes[np.arange(len(best)), best]
    owner = np.repeat(np.arange(len(best)), np.diff(people.offset))
    weight: Floats = np.concatenate(rates)[row[owner], people.flat(people.value)]
    return weight
