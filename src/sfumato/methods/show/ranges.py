"""Groups as ranges: every group by its smallest box (generalization), its values in their own order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.held import shown_bundles
from sfumato.methods.show.manifest import group_manifest
from sfumato.release.boxes import box_of
from sfumato.release.ranges import RangesRelease

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_ranges(task: Task, grouping: Grouping, method: Method) -> RangesRelease:
    """Return the ranges release. A row shows nothing of its person but the group, so nothing says whose value is whose."""
    if grouping.suppressed:
        raise InputError("the form ranges shows everybody, but the grouping leaves people out", hint="show it as buckets")
    manifest = group_manifest(task, method, RangesRelease.form, grouping, {"groups": grouping.groups})
    boxes = tuple(box_of(column, grouping.group, grouping.groups) for column in task.quasi)
    if task.table.bundles is not None:
        entries, held = shown_bundles(task, grouping)
        shown = task.table.events, np.zeros(0, np.int32), task.table.native, grouping.account
        return RangesRelease(manifest, boxes, grouping.group, *shown, entries, held)
    values = task.secrets if len(task.secrets) > 1 else task.codes.astype("int32")
    return RangesRelease(manifest, boxes, grouping.group, task.table.events, values, task.table.native, grouping.account)
