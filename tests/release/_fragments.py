"""Columns and views releases for tests, of given groups."""

from __future__ import annotations

import numpy as np
from sfumato.methods.show_columns import show_as_columns
from sfumato.methods.show_fragments import Terms
from sfumato.methods.show_views import show_as_views

from sfumato.groups.grouping import Grouping
from sfumato.methods import Ambiguity, PriView
from sfumato.privacy import PresenceAssociation
from sfumato.randomness import SeededRandomness
from sfumato.release.weaker import WEAKER_CLAIMS

READER = PresenceAssociation(1, 1, against="reader")


def columns_of(table, groups, requirement=READER, *, seed=1, weaker=False, suppress=False):
    """Show a table as columns, in these groups: a group number per row, from 0 on; −1 leaves a row out."""
    numbers = np.asarray(groups, dtype=np.int32)
    method = Ambiguity(grouping="paper", accept_weaker_claim=True, suppress=suppress) if weaker or suppress else Ambiguity()
    return show_as_columns(
        table,
        Grouping(numbers, int(numbers.max()) + 1),
        Terms(
            requirement.bounds(table.sensitive.histogram()),
            requirement,
            method,
            SeededRandomness(seed),
            WEAKER_CLAIMS["ambiguity"] if weaker or suppress else None,
            {"locality": "safe" if requirement.against == "engineer" else "tight"},
        ),
    )


def views_of(table, groups, moved, requirement=READER, *, seed=1, weaker=False, suppress=False):
    """Show a table as views, in these groups, the moved columns beside the sensitive ones."""
    numbers = np.asarray(groups, dtype=np.int32)
    method = PriView(grouping="paper", accept_weaker_claim=True, suppress=suppress) if weaker or suppress else PriView()
    return show_as_views(
        table,
        Grouping(numbers, int(numbers.max()) + 1),
        moved,
        Terms(
            requirement.bounds(table.sensitive.histogram()),
            requirement,
            method,
            SeededRandomness(seed),
            WEAKER_CLAIMS["priview"] if weaker or suppress else None,
            {"locality": "tight"},
        ),
    )
