"""Disjoint boxes that hide presence: the one engine's cuts, made only where both sides cover enough combinations.

In a group of n people whose values make up V combinations, a stranger believes with probability n/V at most that a person with
one of them is in the table. Boxes are disjoint in quasi space, so at most one group covers a person, and that belief is all there
is for somebody who does not know the program (`halves` is for one who does). Whether a cut keeps it is decided by quasi values
alone, so safe cuts stay safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.basis import Basis
from sfumato.groups.cuts import Space, column_weights, cut_space, need_table, secret_of
from sfumato.groups.fragments._box_kernels import Covered, SoftCovered
from sfumato.groups.fragments.cover import covering_table, require_presence
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import Accounts, Rule
from sfumato.privacy.requirement import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, SecureRandomness
from sfumato.table.column import Column


@dataclass(eq=False)
class CoveringAccounts(Accounts):
    """Accounts of soft cuts whose sides have to cover enough combinations too."""

    codes: Small
    covering: Integers

    def acceptance(self, ledger: Integers) -> SoftCovered:
        """Return the acceptance of boxes with these accounts."""
        need, start, floor, accounts = super().acceptance(ledger)
        return SoftCovered(need, start, floor, accounts, self.codes, self.covering)


def presence_boxes(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    tight: bool,
    floor: int,
    weights: Mapping[str, float] | None,
    soft: Rule | None = None,
    random: Randomness | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return boxes of at least `floor` people that keep the bounds and α: by tight or safe cuts, or by soft ones with coins.

    Where the most even acceptable cut of a column would leave a side that covers too few combinations, the next column is tried.
    """
    people = sensitive.shape[-1]
    require_presence(columns, people, alpha, bounded=bounds.protects)
    space = Space.of(columns)
    covering = covering_table(people, alpha)
    acceptance: Covered | Accounts
    if soft is None:
        need, start = need_table(bounds)
        acceptance = Covered(need, start, max(floor, 1), tight, space.codes, covering)
    else:
        acceptance = CoveringAccounts(bounds, soft, floor, random or SecureRandomness(), space.codes, covering)
    rows, secret = np.arange(people, dtype=np.int32), secret_of(sensitive, bounds)
    basis: Basis = "tight" if tight else "safe" if soft is None else "soft"
    chosen = column_weights(columns, weights)
    return cut_space(space, secret, rows, acceptance, basis=basis, weights=chosen, progress=progress)
