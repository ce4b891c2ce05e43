"""What a method would be asked for, so that tests can show groups that no method made."""

from __future__ import annotations

from dataclasses import replace

from sfumato.groups.grouping import histograms
from sfumato.methods.base import Task
from sfumato.progress import silent
from sfumato.randomness import SeededRandomness


def task_of(table, requirement, seed=1):
    """Return the task of publishing this table, its rows as they are."""
    bounds = requirement.bounds(table.sensitive.histogram())
    return Task(table, requirement, bounds, SeededRandomness(seed), silent)


def with_histograms(task, grouping):
    """Return the grouping with what its groups show: their own people's values."""
    kept = grouping.group >= 0
    return replace(grouping, shown=histograms(grouping.group[kept], task.codes[kept], len(task.bounds.values)))
