"""What two views of a group tell, exactly: over all matchings of their rows, each equally likely.

With m_a rows of a person's in the first view, m_z of her joined value in the second and m_zs of those with a sensitive value,
among n: presence is 1 − C(n−m_z, m_a) / C(n, m_a). Belief in the value is m_zs/m_z for the person, and for *some* row with her
values [1 − C(n−m_zs, m_a) / C(n, m_a)] / [1 − C(n−m_z, m_a) / C(n, m_a)]; the larger of the two is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from sfumato.arrays import Array


def meeting(people: int, mine: int, theirs: int) -> Fraction:
    """Return the probability that one of `mine` rows is matched with one of `theirs`."""
    return 1 - Fraction(comb(people - theirs, mine), comb(people, mine))


def association(people: int, mine: int, joined: int, both: int) -> Fraction:
    """Return the larger belief in a value that `both` of the `joined` rows have."""
    return max(Fraction(both, joined), meeting(people, mine, both) / meeting(people, mine, joined))


@dataclass(frozen=True)
class Worst:
    """The highest beliefs about a group: of presence, and of the value nearest its bound (or furthest above), with its counts."""

    people: int
    again: int  # m_a of the most frequent row of the first view
    most_joined: int  # m_z of the most frequent joined value
    presence: Fraction
    joined: int
    both: int
    belief: Fraction
    limit: Fraction


def worst(left: Array, right: Array, sensitive: Array, limits: Sequence[Fraction]) -> Worst:
    """Return the worst of a group, from the numbers of its rows in the two views and the sensitive values."""
    people = len(left)
    again = max(np.bincount(left).max(), 1)
    joined = Counter(right.tolist())
    most = max(joined.values())
    pairs = Counter(zip(right.tolist(), sensitive.tolist(), strict=True))
    # Equal counts and bounds give equal beliefs: each is worked out once.
    kinds = {(joined[z], both, limits[s]) for (z, s), both in pairs.items()}
    beliefs = [(association(people, int(again), many, both), many, both, limit) for many, both, limit in kinds]
    belief, many, both, limit = max(beliefs, key=lambda kind: (kind[0] / kind[3], kind))
    return Worst(people, int(again), most, meeting(people, int(again), most), many, both, belief, limit)
