"""Columns and views releases for tests, of given groups."""

from __future__ import annotations

import numpy as np

from sfumato.groups.grouping import Grouping
from sfumato.methods import Ambiguity, PriView
from sfumato.methods.show import show
from sfumato.privacy import PresenceAssociation
from tests.release._task import task_of, with_histograms

READER = PresenceAssociation(1, 1, against="reader")


def columns_of(table, groups, requirement=READER, *, seed=1, weaker=False, suppress=False):
    """Show a table as columns, in these groups: a group number per row, from 0 on; −1 leaves a row out."""
    paper = weaker or suppress
    safe = Ambiguity(patience=0) if requirement.against == "engineer" else Ambiguity()
    method = Ambiguity(grouping="paper", accept_weaker_claim=True, suppress=suppress) if paper else safe
    basis = "paper" if paper else "safe" if requirement.against == "engineer" else "tight"
    return _shown(table, groups, requirement, method, basis, {}, seed)


def views_of(table, groups, moved, requirement=READER, *, seed=1, weaker=False, suppress=False):
    """Show a table as views, in these groups, the moved columns beside the sensitive ones."""
    paper = weaker or suppress
    method = PriView(grouping="paper", accept_weaker_claim=True, suppress=suppress) if paper else PriView()
    return _shown(table, groups, requirement, method, "paper" if paper else "tight", {"moved": list(moved)}, seed)


def _shown(table, groups, requirement, method, basis, public, seed):
    numbers = np.asarray(groups, dtype=np.int32)
    task = task_of(table, requirement, seed)
    grouping = Grouping(numbers, int(numbers.max()) + 1, basis, public=public)
    return show(task, with_histograms(task, grouping), method)
