"""One entry for every form: which checks a release of this form gets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.auditor.buckets import audit_buckets
from sfumato.auditor.randomized import audit_randomized
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.result import Audit
from sfumato.errors import FormatError
from sfumato.release.base import Release, release_from
from sfumato.release.buckets import BucketsRelease
from sfumato.release.files import Stored
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease
from sfumato.table.table import Table


def audit_release(
    release: Release,
    table: Table | None = None,
    *,
    problems: tuple[str, ...] = (),
    placed: npt.NDArray[np.int64] | None = None,
) -> Audit:
    """Return the audit of a release in memory; with the original table also whether nothing was lost or invented.

    `placed` is what the publisher knows about a randomized release: in which part each row of the table is.
    """
    if isinstance(release, BucketsRelease):
        return audit_buckets(release.manifest, release.tables(), table, problems)
    if isinstance(release, RangesRelease):
        return audit_ranges(release.manifest, release.tables(), table, problems)
    if isinstance(release, RandomizedRelease):
        return audit_randomized(release.manifest, release.tables(), table, problems, placed=placed)
    raise FormatError(f"there is no audit for the form {release.form!r}")


def audit_stored(stored: Stored, table: Table | None = None) -> Audit:
    """Return the audit of a release on disk: tables that cannot be a release are findings here, not errors."""
    try:
        return audit_release(release_from(stored), table, problems=stored.problems)
    except FormatError as error:
        return Audit(claims=(), problems=(*stored.problems, error.message), against_table=table is not None)
