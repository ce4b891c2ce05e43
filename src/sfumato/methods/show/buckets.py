"""Groups as buckets: exact quasi values with the number of a bucket, and a histogram of each (Anatomy's QIT and ST)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.groups.grouping import Grouping
from sfumato.methods.show.manifest import group_manifest, published_people, shown_domain
from sfumato.release.buckets import BucketsRelease

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_buckets(task: Task, grouping: Grouping, method: Method) -> BucketsRelease:
    """Return the buckets release of a grouping, with nothing of what was left out."""
    shown = grouping.shown
    assert shown is not None
    public = {"buckets": grouping.groups, "decoys": getattr(method, "decoys", 0), "suppression": grouping.suppressed > 0}
    manifest = group_manifest(task, method, BucketsRelease.form, grouping, public)
    quasi, group = published_people(task, grouping)
    domain, value = shown_domain(task.table.sensitive.domain, shown.value)
    native, told = task.table.native, grouping.told
    return BucketsRelease(manifest, quasi, group, domain, shown.group, value, shown.count, native, told)
