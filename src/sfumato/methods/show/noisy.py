"""Boxes with noisy counts: from boxes and integers to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.grouping import Grouping
from sfumato.methods.margins import MARGINS_FROM, MarginPlan
from sfumato.methods.show.manifest import bounds_sets, manifest_of, published_people
from sfumato.release.accounts import noisy_claim
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Manifest
from sfumato.release.margins import Margins
from sfumato.table.column import Domain, Events

if TYPE_CHECKING:
    from sfumato.methods.base import Task
    from sfumato.methods.noisy_boxes import NoisyBoxes


class NoisyCounts(NamedTuple):
    """Counts with noise [boxes × values], of how many draws each box is the sum where boxes were joined, and what they cost.

    The odds of anybody's value grow at most `gamma`-fold, by boxes and tables together; `ratio` is that of the boxes' noise.
    """

    counts: Integers
    draws: Integers | None
    gamma: Fraction
    ratio: Fraction
    plan: MarginPlan | None = None
    margins: Margins | None = None


def show_noisy(task: Task, method: NoisyBoxes, grouping: Grouping, domains: Sequence[Domain], noisy: NoisyCounts) -> Release:
    """Return the release, which shows every declared value in every box.

    Where each of several columns is protected by itself, the values of one follow those of another.
    """
    counts, draws, gamma, ratio, plan, margins = noisy
    manifest = noisy_manifest(task, method, grouping.groups, gamma=gamma, ratio=ratio, plan=plan)
    quasi, group = published_people(task, grouping)
    values: Domain | Events = domains[0] if len(domains) == 1 else Events(tuple(domains))
    home = np.repeat(np.arange(grouping.groups, dtype=np.int32), len(values))
    value = np.tile(np.arange(len(values), dtype=np.int32), grouping.groups)
    native = task.table.native
    shown = BucketsRelease(manifest, quasi, group, values, home, value, counts.ravel(), native, draws=draws, margins=margins)
    return shown.canonical()


def noisy_manifest(
    task: Task, method: NoisyBoxes, groups: int, *, gamma: Fraction, ratio: Fraction, plan: MarginPlan | None
) -> Manifest:
    """Return what a release of so many groups with noise of this ratio says of itself."""
    schema, asked = task.table.schema, task.requirement
    own = {"one_row_per_person": schema.one_row_per_person, "sets": bounds_sets(asked), "several": schema.protects_each}
    own |= {"bundled": schema.bundled, "household": schema.people_rule.unit is not None}
    return manifest_of(
        task,
        method,
        BucketsRelease.form,
        basis="noisy",
        claims=(noisy_claim(task.against, model=asked.model, **own),),
        parameters={
            "groups": groups,
            "decoys": 0,
            "suppression": False,
            "gamma": str(gamma),
            "ratio": str(ratio),
            **({} if plan is None else {"margins": plan.stated()}),
            **({} if method.margins is not None else {"margins_from": MARGINS_FROM}),
        },
    )
