"""What groups show of people who may have several values of a secret, or none."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sfumato.groups.grouping import Grouping
from sfumato.release.held import Held, HeldEntries

if TYPE_CHECKING:
    from sfumato.methods.base import Task


def shown_bundles(task: Task, grouping: Grouping) -> tuple[HeldEntries, Held]:
    """Return how many people of each group have each value, one of each set, and each number of values of each secret."""
    shown, bundles, valued = grouping.shown, task.table.bundles, task.bounds.valued
    assert shown is not None
    assert bundles is not None
    values, sets, first = shown.value < valued, shown.value >= valued, bundles.domain.first.tolist()
    numbers = [bundles.numbers(low, high) for low, high in pairwise(first)]
    room = 1 + max(int(one.max(initial=0)) for one in numbers)
    keys = [(grouping.group.astype(np.int64) * len(numbers) + k) * room + one for k, one in enumerate(numbers)]
    key, count = np.unique(np.concatenate(keys), return_counts=True)
    group, secret = np.divmod(key // room, len(numbers))
    entries = HeldEntries(shown.group[values], shown.value[values], shown.count[values])
    return entries, Held(
        shown.group[sets],
        shown.value[sets] - np.int32(valued),
        shown.count[sets],
        group.astype(np.int32),
        secret.astype(np.int32),
        (key % room).astype(np.int32),
        count.astype(np.int64),
    )
