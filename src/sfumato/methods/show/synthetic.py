"""Synthetic records: from drawn codes to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.methods.show.manifest import manifest_of, shown_domain, without_unused
from sfumato.release.paper_claims import weaker_claim
from sfumato.release.synthetic import SyntheticRelease
from sfumato.table.column import Column, Domain

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


@dataclass(frozen=True, eq=False)
class Drawn:
    """Records as they were drawn: quasi columns, the code of each record's sensitive value, and what may be said of the making.

    Odds grow at most γ-fold, which is what the draw spent: ε, rounded up. `measured` are the columns that were counted together,
    by name, and `public` what else the manifest states.
    """

    quasi: Sequence[Column]
    domain: Domain
    value: Integers
    epsilon: Fraction
    gamma: Fraction
    measured: Sequence[Sequence[str]]
    public: Mapping[str, str] = field(default_factory=dict)


def show_synthetic(task: Task, method: Method, drawn: Drawn) -> SyntheticRelease:
    """Return the release: records in one order, and which columns were measured together."""
    manifest = manifest_of(
        task,
        method,
        SyntheticRelease.form,
        claims=(),
        parameters={
            "epsilon": str(drawn.epsilon),
            "gamma": str(drawn.gamma),
            "measured": [list(names) for names in drawn.measured],
            **drawn.public,
            "weaker_claim": weaker_claim(method.to_dict()),
        },
    )
    domain, value = shown_domain(drawn.domain, drawn.value.astype(np.int32))
    quasi = tuple(without_unused(column) for column in drawn.quasi)
    return SyntheticRelease(manifest, quasi, domain, value, task.table.native).canonical()
