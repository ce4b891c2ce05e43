"""Groups as buckets: exact quasi values with the number of a group, and a histogram of each (Anatomy's QIT and ST)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.groups.grouping import Grouping
from sfumato.methods.show.held import shown_bundles
from sfumato.methods.show.manifest import group_manifest, published_people, shown_events
from sfumato.release.buckets import BucketsRelease

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_buckets(task: Task, grouping: Grouping, method: Method) -> BucketsRelease:
    """Return the buckets release of a grouping, with nothing of what was left out."""
    shown = grouping.shown
    assert shown is not None
    public = {"groups": grouping.groups, "decoys": getattr(method, "decoys", 0), "suppression": grouping.suppressed > 0}
    manifest = group_manifest(task, method, BucketsRelease.form, grouping, public)
    quasi, group = published_people(task, grouping)
    native, account = task.table.native, grouping.account
    if task.table.bundles is not None:
        entries, held = shown_bundles(task, grouping)
        return BucketsRelease(manifest, quasi, group, task.table.events, *entries, native, account, held=held)
    domain, value = shown_events(task.table.events, shown.value)
    return BucketsRelease(manifest, quasi, group, domain, shown.group, value, shown.count, native, account)
