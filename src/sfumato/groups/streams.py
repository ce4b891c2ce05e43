"""Which stream of coins each step of a grouping draws from, so that a draw more in one step shifts no other.

A step takes `random.spawn(step)`; a step that works box by box takes `random.spawn(step).spawn(box)`, boxes numbered along the
cuts. The k-th coin of a box falls to its k-th person, in the order of the rows: a box can be made anywhere, with the same coins.
The numbers are used nowhere else: two steps with one stream would toss the same coins.
"""

from __future__ import annotations

from enum import IntEnum, unique


@unique
class Step(IntEnum):
    """The number of each step's stream; those below 100 are left to whoever calls a grouping."""

    DEAL = 100
    """Who of a value takes which of its slots."""
    PLACES = 101
    """Which group takes whom Anatomy left over."""
    TURNS = 102
    """In which order padded cuts meet people."""
    BOXES = 103
    """What is drawn inside a box."""
    KEYS = 104
    """In which order the members of a pool are listed, by box."""
    DECOYS = 105
    """Which slots are decoys."""
    GUARD = 106
    """Which decoys are exchanged."""
    GUESSES = 107
    """What a simulated adversary guesses."""
    TEMPLATES = 108
    """In which order BuReL fills its templates."""
    SEEDS = 109
    """Around whom BuReL makes groups."""
    ANNEALING = 110
    """Orders, windows and moves of annealed groups."""
    ARRANGE = 111
    """In which order the slots of a bucket stand."""
    RANKS = 112
    """How people with equal values are ranked."""
    CARRIED = 113
    """Whose value a record carries."""
    RINGS = 114
    """Which exchanges are tried on a ring."""
    CUTS = 115
    """Which tests of a soft cut refuse, by the first and last place of a box along the cuts."""
    NOISE = 116
    """What is added to the counts of boxes."""
    BANDS = 120
    """What is drawn where each band of people is cut with bounds of its own, by its number."""
    COUNTED = 119
    """Of which of her values a person is counted."""
    MARGINS = 121
    """What is added to the counts of noisy tables beside boxes."""
    SHARDS = 118
    """What is drawn where the people of a box of the first cuts are grouped by themselves, by its first place."""
