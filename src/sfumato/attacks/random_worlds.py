"""Random worlds: what the papers' own reader believes from the release alone. Equals the audit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight


def random_worlds(sight: Sight) -> Iterator[Posteriors]:
    """Yield the beliefs of a reader to whom all placements of a group's values on its people are equally likely ([F' §3.1])."""
    if not sight.release.shown_as.of_people:
        raise NotApplicable("synthetic records belong to no person: there are no assignments to count")
    error = 1.0 if _shares_unknown(sight.release) else 0.0
    note = "the shares of each part are estimated, while the claim speaks of the true ones: nothing is refuted" if error else ""
    yield Posteriors(sight.reader, note=note, error=error, largest=sight.largest)


def _shares_unknown(release: Any) -> bool:
    """Return whether the prior that a claim speaks of is known to the publisher alone: values randomized in several parts."""
    if not release.shown_as.by_coin or release.declared:
        return False
    together = np.concatenate([part.values for part in release.parts])
    return len(np.unique(together)) < len(together)
