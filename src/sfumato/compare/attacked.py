"""What attacks reach on a run's release, above what guessing the most frequent value reaches."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from sfumato.errors import SfumatoError
from sfumato.release import Release
from sfumato.table import Table


def advantages(release: Release, table: Table, attacks: Sequence[str], *, seed: int) -> dict[str, float | None]:
    """Return by name of attack the share of people guessed right above the baseline, the best variant of each.

    None where the attack makes no sense on such a release.
    """
    if find_spec("sfumato.attacks") is None:
        return {}
    attack = import_module("sfumato.attacks").attack
    found: dict[str, float | None] = {}
    for name in attacks:
        try:
            results = attack(release, table, name, random=seed)
        except SfumatoError:
            found[name] = None
            continue
        above = [one.success - one.baseline for one in results if one.success is not None and one.baseline is not None]
        found[name] = max(above, default=None)
    return found
