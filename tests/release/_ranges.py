"""Ranges releases for tests: of a given grouping, or of boxes."""

from __future__ import annotations

import numpy as np

from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.grouping import Grouping
from sfumato.methods import Mondrian
from sfumato.methods.show import show
from sfumato.privacy import FPrivacy
from tests.release._task import task_of

READER = FPrivacy(offset=1, against="reader")


def of_groups(table, groups, requirement=READER, seed=1):
    """Show a table in these groups: a group number per row, from 0 on."""
    numbers = np.asarray(groups, dtype=np.int32)
    grouping = Grouping(numbers, int(numbers.max()) + 1, "tight")
    return show(task_of(table, requirement, seed), grouping, Mondrian(form="ranges"))


def of_boxes(table, requirement, *, floor=20, seed=1):
    """Show a table in boxes of tight cuts."""
    task = task_of(table, requirement, seed)
    weights = column_weights(table.quasi, None)
    grouping = cut_boxes(Space.of(table.quasi), task.codes, task.bounds, tight=True, floor=floor, weights=weights)
    return show(task, grouping, Mondrian(form="ranges"))
