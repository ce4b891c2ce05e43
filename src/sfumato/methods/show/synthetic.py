"""Synthetic records: from drawn codes to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.methods.show.manifest import manifest_of, shown_domain, without_unused
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.release.synthetic import SyntheticRelease
from sfumato.synthetic.spending import Spending
from sfumato.synthetic.universe import Universe
from sfumato.table.column import code_type

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_synthetic(
    task: Task,
    method: Method,
    universe: Universe,
    drawn: Sequence[Integers],
    measured: Sequence[Sequence[int]],
    spending: Spending,
    public: Mapping[str, str],
) -> SyntheticRelease:
    """Return the release: records in one order, and which columns were measured together, by the names of the schema."""
    names = [[column.name] for column in universe.quasi] + [list(universe.domain.names)]
    together = sorted(sorted(set(columns)) for columns in measured)
    manifest = manifest_of(
        task,
        method,
        SyntheticRelease.form,
        claims=(),
        parameters={
            "epsilon": str(spending.stated),
            "gamma": str(spending.gamma),
            "measured": [[name for column in columns for name in names[column]] for columns in together],
            **public,
            "weaker_claim": PAPER_CLAIMS[method.name],
        },
    )
    quasi = tuple(
        without_unused(replace(column, codes=codes.astype(code_type(column.size))))
        for column, codes in zip(universe.quasi, drawn[:-1], strict=True)
    )
    domain, value = shown_domain(universe.domain, drawn[-1].astype(np.int32))
    return SyntheticRelease(manifest, quasi, domain, value, task.table.native).canonical()
