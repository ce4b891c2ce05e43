"""Boxes with noisy counts: from boxes and integers to the release that a recipient gets."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.manifest import manifest_of, published_people
from sfumato.release.buckets import BucketsRelease
from sfumato.release.noise import noisy_claim
from sfumato.table.sensitive import Domain

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_noisy(
    task: Task,
    method: Method,
    grouping: Grouping,
    domain: Domain,
    counts: Integers,
    draws: Integers | None,
    *,
    gamma: Fraction,
    ratio: Fraction,
) -> BucketsRelease:
    """Return the release, which shows every declared value in every box; `counts` are noisy, [boxes × values]."""
    one_row, sets = task.table.schema.one_row_per_person, bool(task.requirement.sets)
    manifest = manifest_of(
        task,
        method,
        BucketsRelease.form,
        basis=grouping.basis,
        claims=(noisy_claim(task.against, model=task.requirement.model, one_row_per_person=one_row, sets=sets),),
        parameters={
            "buckets": grouping.groups,
            "decoys": 0,
            "suppression": False,
            "gamma": str(gamma),
            "ratio": str(ratio),
        },
    )
    quasi, group = published_people(task, grouping)
    bucket = np.repeat(np.arange(grouping.groups, dtype=np.int32), len(domain))
    value = np.tile(np.arange(len(domain), dtype=np.int32), grouping.groups)
    native = task.table.native
    return BucketsRelease(manifest, quasi, group, domain, bucket, value, counts.ravel(), native, draws=draws).canonical()
