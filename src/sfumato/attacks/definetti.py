"""deFinetti's attack: people are exchangeable, not random worlds, so that groups teach about each other (Kifer, SIGMOD 2009)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Floats
from sfumato.attacks import _swap_kernels as swaps
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import Members, NotApplicable, members
from sfumato.attacks.placing import firsts, joint_tables, log_chances, place, spread_tables, weights_of
from sfumato.attacks.sight import Sight
from sfumato.randomness import Randomness

SWEEPS, BURN = 400, 100
_ERRORS = 4.0  # standard errors; neighbouring placements of the walk are alike
ROUNDS = 8
CORRECTION = 1.0
"""How often every code and value count as seen together before the first person: the prior of Dirichlet."""


def definetti(sight: Sight) -> Iterator[Posteriors]:
    """Yield the posterior of naive Bayes with a Dirichlet prior over all placements: sampled by swaps, and by EM."""
    people = members(sight)
    if not people.whole or people.decoys:
        raise NotApplicable(
            "counts have noise, or some values are decoys, so that there are no assignments of values to people to sample"
        )
    sampled = people.to_victims(by_swaps(people, sight.random.spawn(1)))
    yield Posteriors(sampled, "by swaps", error=_ERRORS * np.sqrt(sampled * (1 - sampled) / (SWEEPS - BURN)))
    yield Posteriors(people.to_victims(by_rounds(people)), "by EM")


def by_swaps(people: Members, random: Randomness, *, sweeps: int = SWEEPS, burn: int = BURN) -> Floats:
    """Return everybody's beliefs, sampled: placements are walked through by exchanging two people of a group."""
    held = np.zeros(len(people.codes), np.int64)
    word = random.words(1).copy()
    swaps.deal(people.start, people.entry, people.count, word, held)
    first = firsts(people)
    value = people.value[people.entry[:-1][people.group] + held].astype(np.int64)
    joint = np.zeros((sum(column.size for column in people.columns), people.values))
    for j, begin in enumerate(first):
        np.add.at(joint, (begin + people.codes[:, j], value), 1.0)
    tally = np.zeros(int(people.offset[-1]))
    walk = swaps.SwapWalk(sweeps, burn, word)
    swaps.learn_by_swaps(people.codes, first, people.laid_out, swaps.Placement(held, joint), CORRECTION, walk, tally)
    return tally / (sweeps - burn)


def by_rounds(people: Members, *, rounds: int = ROUNDS, correction: float = CORRECTION) -> Floats:
    """Return everybody's beliefs by EM: place values by what was learned, learn from where they were placed, and again."""
    tables = spread_tables(people)
    beliefs = np.zeros(0)
    for _ in range(rounds):
        beliefs = place(people, weights_of(people, log_chances(tables, correction)))
        tables = joint_tables(people, beliefs)
    return beliefs
