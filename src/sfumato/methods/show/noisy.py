"""Boxes with noisy counts: from boxes and integers to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.manifest import apart_manifest, manifest_of, published_people
from sfumato.release.accounts import noisy_claim
from sfumato.release.apart import ApartBuckets
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
    for one, domain, mine in zip(
        task.parts(), domains, np.split(counts, np.cumsum([len(a) for a in domains])[:-1], axis=1), strict=True
    ):
        shown.append(_one(one, method, grouping, domain, mine, draws, gamma=gamma, ratio=ratio))
    if not task.bounds.apart:
        return shown[0].canonical()
    manifest = apart_manifest(task, shown)
    named = zip(shown, manifest.secrets, strict=True)
    return ApartBuckets(manifest, tuple(replace(one, manifest=manifest.of(name)) for one, name in named)).canonical()


def _one(
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
    manifest = noisy_manifest(task, method, grouping.groups, gamma=gamma, ratio=ratio)
    quasi, group = published_people(task, grouping)
    bucket = np.repeat(np.arange(grouping.groups, dtype=np.int32), len(domain))
    value = np.tile(np.arange(len(domain), dtype=np.int32), grouping.groups)
    native = task.table.native
    return BucketsRelease(manifest, quasi, group, domain, bucket, value, counts.ravel(), native, draws=draws)


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
