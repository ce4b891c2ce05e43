"""Corruption: an insider knows the values of some others of the group, and strikes them out (Tao et al., ICDE 2008; 001 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.attacks.informant import KnownOthers, VictimChoice, remaining, shown_counts
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight

KNOWN: tuple[tuple[int | float, VictimChoice, str], ...] = (
    (1, "random", "one other known"),
    (1, "most useful", "one other known, the most useful"),
    (0.5, "random", "half of the others known"),
    (0.5, "most useful", "half of the others known, the most useful"),
    (1.0, "random", "all others known"),
)
"""How many others an insider knows, who they are, and what that is called."""


def corruption(sight: Sight) -> Iterator[Posteriors]:
    """Yield what an insider believes who knows one, half, or all of the others: lot's choice, or the most useful.

    The most useful are those who have another value than the victim: of them whoever is struck out makes hers likelier.
    """
    release: Any = sight.release
    if release.shown_as.by_coin:
        yield Posteriors(
            sight.reader,
            "all others known",
            note="values are randomized independently: other people's values tell nothing about this one",
        )
        return
    if not release.shown_as.of_people or "weaker_claim" in release.manifest.parameters:
        raise NotApplicable("the release has no groups, so there are no group members whose values an insider could know")
    if not len(sight.informant.groups):
        raise NotApplicable("with decoys or noise, who is in a group is unknown where groups share quasi values")
    if release.noisy:
        asked = sight.informant.ask(1.0)
        yield Posteriors(_behind_noise(release, asked), "all others known", asked=asked.number)
        return
    entry, value, count = shown_counts(release)
    decoys = release.decoys
    for many, choice, variant in KNOWN:
        asked = sight.informant.ask(many, choice)
        shown = np.zeros((len(asked.group), len(release.domain)))
        for case, g in enumerate(asked.group):
            shown[case, value[entry[g] : entry[g + 1]]] = count[entry[g] : entry[g + 1]]
        if decoys:
            yield from _beside_decoys(sight, shown, asked, variant, decoys)
        else:
            left = np.rint(shown.sum(axis=1)).astype(np.int64) - asked.known
            yield Posteriors(remaining(shown, asked.values, left), variant, asked=asked.number)


def _beside_decoys(sight: Sight, shown: Floats, asked: KnownOthers, variant: str, decoys: int) -> Iterator[Posteriors]:
    """Yield beliefs where some of the values that remain are nobody's, for somebody who knows how frequent values are.

    A value that is shown more often than people have it is a decoy at times; its odds of being real are real : shown − real.
    """
    release: Any = sight.release
    left = np.rint(shown - asked.values).astype(np.int64)
    real = sight.shares * release.rows
    honest = np.clip(real / np.maximum(release.totals, 1), 1e-9, 1 - 1e-9)
    beliefs = np.array([_real_chances(row, honest, decoys) for row in left])
    promised = float((1 / left.sum(axis=1)).mean())
    yield Posteriors(
        beliefs,
        variant,
        asked=asked.number,
        figures={"promised": promised},
        note="the papers promise 1/(people left + decoys) to whoever cannot tell decoys apart",
    )


def _real_chances(left: Integers, honest: Floats, decoys: int) -> Floats:
    """Return for each value the chance that the victim has it, if exactly `decoys` of the values left are nobody's.

    Each is real by itself with its own odds, given that so many are not: elementary symmetric sums, exactly.
    """
    values = np.repeat(np.arange(len(left)), left)
    odds = (1 - honest[values]) / honest[values]
    ways = np.zeros(decoys + 1)
    ways[0] = 1.0
    for value in odds:
        ways[1:] = ways[1:] + value * ways[:-1]
    chance = np.zeros(len(values))
    for k, value in enumerate(odds):
        rest = np.zeros(decoys + 1)
        rest[0] = 1.0
        for d in range(1, decoys + 1):
            rest[d] = ways[d] - value * rest[d - 1]
        chance[k] = max(rest[decoys], 0.0)
    return np.bincount(values, weights=chance / chance.sum(), minlength=len(left)).astype(np.float64)


def _behind_noise(release: Any, asked: KnownOthers) -> Floats:
    """Return the posterior of an insider who knows all others of a noisy box, and takes the declared shares as prior.

    With everybody else's values subtracted, the count of her value is one plus noise, that of any other is noise alone.
    """
    from sfumato.auditor.declaration import declared_shares
    from sfumato.auditor.noise_law import law_of_noise

    method = release.manifest.method
    listed = method.get("values")
    stated = declared_shares(release.manifest) if listed is None else {str(value): Fraction(1, len(listed)) for value in listed}
    prior = np.array([float(stated[label]) for label in release.labels])
    counts = release.st_count.reshape(len(release.sizes), -1)
    draws = np.ones(len(release.sizes), np.int64) if release.draws is None else release.draws
    ratio = float(Fraction(str(release.manifest.parameters["ratio"])))
    noise = counts[asked.group] - asked.values
    reach = int(np.abs(noise).max()) + 2
    tables = {}
    for many in np.unique(draws[asked.group]):
        number, chance = law_of_noise(ratio, int(many), reach)
        tables[int(many)] = np.log(np.maximum(chance[np.argsort(number)], 1e-300)), int(-number.min())
    score = np.empty(noise.shape)
    for case, many in enumerate(draws[asked.group]):
        table, middle = tables[int(many)]
        score[case] = np.log(prior) + table[noise[case] - 1 + middle] - table[noise[case] + middle]
    weight = np.exp(score - score.max(axis=1)[:, None])
    posterior: Floats = weight / weight.sum(axis=1)[:, None]
    return posterior
