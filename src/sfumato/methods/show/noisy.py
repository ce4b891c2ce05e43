"""Boxes with noisy counts: from boxes and integers to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.manifest import manifest_of, published_people, shown_apart
from sfumato.release.accounts import noisy_claim
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Manifest
from sfumato.table.column import Domain

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_noisy(
    task: Task,
    method: Method,
    grouping: Grouping,
    domains: Sequence[Domain],
    counts: Integers,
    draws: Integers | None,
    *,
    gamma: Fraction,
    ratio: Fraction,
) -> Release:
    """Return the release, which shows every declared value in every box; `counts` are noisy, [boxes × values].

    Where each of several columns is protected by itself, the values of one follow those of another.
    """
    shown = []
    own = np.split(counts, np.cumsum([len(domain) for domain in domains])[:-1], axis=1)
    for part, domain, mine in zip(task.parts(), domains, own, strict=True):
        manifest = noisy_manifest(part, method, grouping.groups, gamma=gamma, ratio=ratio)
        quasi, group = published_people(part, grouping)
        bucket = np.repeat(np.arange(grouping.groups, dtype=np.int32), len(domain))
        value = np.tile(np.arange(len(domain), dtype=np.int32), grouping.groups)
        native = part.table.native
        shown.append(BucketsRelease(manifest, quasi, group, domain, bucket, value, mine.ravel(), native, draws=draws))
    return shown_apart(task, shown) if task.bounds.apart else shown[0].canonical()


def noisy_manifest(task: Task, method: Method, groups: int, *, gamma: Fraction, ratio: Fraction) -> Manifest:
    """Return what a release of so many buckets with noise of this ratio says of itself."""
    one_row, sets = task.table.schema.one_row_per_person, bool(task.requirement.sets)
    return manifest_of(
        task,
        method,
        BucketsRelease.form,
        basis="noisy",
        claims=(noisy_claim(task.against, model=task.requirement.model, one_row_per_person=one_row, sets=sets),),
        parameters={
            "buckets": groups,
            "decoys": 0,
            "suppression": False,
            "gamma": str(gamma),
            "ratio": str(ratio),
        },
    )
