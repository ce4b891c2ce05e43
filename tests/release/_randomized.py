"""Randomized releases made by hand, without any of the code that makes real ones."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np

from sfumato.methods import SmallDomain
from sfumato.methods.show.manifest import manifest_of
from sfumato.privacy import RhoPrivacy
from sfumato.release.parts import plain_values
from sfumato.release.randomized import RandomizedRelease, randomized_claim
from tests.release._task import task_of

RHO = RhoPrivacy("1/5", "1/2")


def uniform(m, gamma):
    """Return the retention p = (γ−1)/(m−1+γ) of the γ-diagonal matrix over m values."""
    gamma = Fraction(gamma)
    return (gamma - 1) / (m - 1 + gamma)


def gamma_for(rho1, rho2):
    """Return the largest amplification that keeps a belief of ρ1 below ρ2."""
    return Fraction(rho2) / rho1 * (1 - rho1) / (1 - Fraction(rho2))


def one_part(table):
    """Return the plan of uniform perturbation: everybody in one part."""
    return [{int(v): int(n) for v, n in enumerate(table.sensitive.counts)}]


def balanced_parts(table, merged=3):
    """Return a plan of several parts: θ most frequent values at a time, equally often ([SDR §5.1]), then neighbours merged."""
    left = {int(v): int(n) for v, n in enumerate(table.sensitive.counts)}
    theta = sum(left.values()) // max(left.values())
    groups = []
    while left:
        order = sorted(left, key=lambda v: (-left[v], v))
        total = sum(left.values())
        after = left[order[theta]] if len(order) > theta else 0
        take = left[order[min(theta, len(order)) - 1]]
        if Fraction(total, theta) - max(left[order[0]] - take, after) < take:
            take = int(Fraction(total, theta) - after)
        group = dict(left) if take == 0 or len(order) < theta else dict.fromkeys(order[:theta], take)
        groups.append(group)
        left = {v: n - group.get(v, 0) for v, n in left.items() if n > group.get(v, 0)}
    plan = []
    for first in range(0, len(groups), merged):
        part = {}
        for group in groups[first : first + merged]:
            for v, n in group.items():
                part[v] = part.get(v, 0) + n
        plan.append(part)
    return plan


def release_of(table, plan, *, requirement=RHO, retention=None, parameters="computed", shares=None, seed=1):
    """Randomize a table by a plan (per part: value code → how many of its people); γ by the largest share unless told.

    `retention` is one number for every part, or a mapping from value to number. `shares` (per part: value code → share) are those
    of a declared plan.
    """
    coins = np.random.default_rng(seed)
    rho2 = getattr(requirement, "rho2", Fraction(1, 2))
    limits = requirement.bounds(table.sensitive.histogram()).limits
    labels = plain_values(table.sensitive.domain)
    part = np.empty(table.rows, np.int32)
    value = np.empty(table.rows, np.int32)
    left = [coins.permutation(np.flatnonzero(table.sensitive.codes == v)) for v in range(len(labels))]
    used = [0] * len(labels)
    entries = []
    for i, counts in enumerate(plan):
        values, size = sorted(counts), sum(counts.values())
        protected = [Fraction(counts[v], size) for v in values if limits[v] < 1]
        entry = {"part": i + 1, "values": [labels[v] for v in values]}
        if retention is None:
            gamma = gamma_for(max(protected), rho2)
            kept = dict.fromkeys(values, uniform(len(values), gamma))
            entry |= {"gamma": str(gamma), "retention": str(kept[values[0]])}
        elif isinstance(retention, dict):
            kept = {v: Fraction(retention[labels[v]]) for v in values}
            entry["retention"] = [str(kept[v]) for v in values]
        else:
            kept = dict.fromkeys(values, Fraction(retention))
            entry["retention"] = [str(kept[v]) for v in values]
        if parameters == "declared":
            entry["shares"] = [str(Fraction(shares[i][v])) for v in values]
            entry["weight"] = str(Fraction(size, table.rows))
        elif protected:
            entry["largest_share"] = str(max(protected))
        for v in values:
            people = left[v][used[v] : used[v] + counts[v]]
            used[v] += counts[v]
            part[people] = i
            stays = coins.random(len(people)) < float(kept[v])
            value[people] = np.where(stays, v, np.array(values)[coins.integers(0, len(values), len(people))])
        entries.append(entry)
    order = coins.permutation(table.rows)
    manifest = manifest_of(
        task_of(table, requirement, seed),
        SmallDomain(),
        "randomized",
        claims=(randomized_claim(requirement.against, declared=parameters == "declared"),),
        parameters={"parts": entries, "parameters": parameters},
    )
    manifest = dataclasses.replace(manifest, method={**manifest.method, "parameters": parameters})
    quasi = tuple(column.take(order) for column in table.quasi)
    return RandomizedRelease(manifest, quasi, table.sensitive.domain, part[order], value[order]).canonical()[0]


def with_part(release, number, **changes):
    """Return the release with other figures in the manifest for one part (None removes one)."""
    entries = []
    for entry in release.manifest.parameters["parts"]:
        if entry["part"] == number:
            entry = {key: told for key, told in {**entry, **changes}.items() if told is not None}
        entries.append(entry)
    return with_parameters(release, parts=entries)


def with_parameters(release, **changes):
    """Return the release with other public parameters in its manifest."""
    manifest = dataclasses.replace(release.manifest, parameters={**release.manifest.parameters, **changes})
    return dataclasses.replace(release, manifest=manifest)
