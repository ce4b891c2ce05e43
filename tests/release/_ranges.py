"""Ranges releases for tests: of a given grouping, or of boxes."""

from __future__ import annotations

import numpy as np
from sfumato.methods.show_ranges import show_as_ranges

from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.grouping import Grouping
from sfumato.methods.mondrian import Mondrian
from sfumato.privacy import FPrivacy
from sfumato.randomness import SeededRandomness

READER = FPrivacy(offset=1, against="reader")


def of_groups(table, groups, requirement=READER, seed=1):
    """Show a table in these groups: a group number per row, from 0 on."""
    numbers = np.asarray(groups, dtype=np.int32)
    bounds = requirement.bounds(table.sensitive.histogram())
    grouping = Grouping(numbers, int(numbers.max()) + 1)
    return show_as_ranges(
        table, grouping, bounds=bounds, requirement=requirement, method=Mondrian(), random=SeededRandomness(seed)
    )


def of_boxes(table, requirement, *, floor=20, seed=1):
    """Show a table in boxes of tight cuts."""
    bounds = requirement.bounds(table.sensitive.histogram())
    coins = SeededRandomness(seed)
    weights = column_weights(table.quasi, None)
    grouping = cut_boxes(Space.of(table.quasi), table.sensitive.codes, bounds, tight=True, floor=floor, weights=weights)
    return show_as_ranges(table, grouping, bounds=bounds, requirement=requirement, method=Mondrian(), random=coins)
