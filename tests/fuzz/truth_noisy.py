"""The second opinion on noisy counts: whether the stated noise keeps what is claimed, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import exp
from typing import Any

from tests.fuzz.files import Files

Bound = Callable[[Mapping[str, Any], str, Fraction | None], Fraction | None]


def wrong_noise(files: Files, bound: Bound) -> list[str]:
    """Return what is false in a release with noisy counts; whether they are the table's with noise is no matter of certainty."""
    manifest, method = files.manifest, files.manifest["method"]
    requirement = manifest["requirement"]
    shares = method["shares"] or {value: f"1/{len(method['values'])}" for value in method["values"]}
    prior = {label: Fraction(share) for label, share in shares.items()}
    found = []
    if [(claim["kind"], claim["adversary"]) for claim in manifest["claims"]] != [("association", "insider")]:
        found.append("noise holds against an insider only")
    if requirement["against"] != "insider" or method["name"] != "noisy-boxes":
        found.append("nothing is proved of this noise")
    if sum(prior.values()) != 1 or min(prior.values()) <= 0:
        found.append("the declared shares are none")
    groups = files.groups()
    if any(set(group.counts) != set(prior) for group in groups.values()):
        found.append("a bucket does not show every declared value")
    if manifest["values"] is not None or files.parameters["groups"] != len(groups):
        found.append("the manifest counts otherwise")
    grows = 1 / Fraction(files.parameters["ratio"]) ** (2 * files.secrets)
    for label, share in prior.items():
        most = _odds_bound(requirement, share) if requirement["model"] == "differential" else bound(requirement, label, share)
        if most is None or grows * share / (1 + (grows - 1) * share) > most:
            found.append(f"an insider may become surer of {label} than its bound")
    if len({(_quasi(files, row), row["group"]) for row in files.tables["qit"]}) != len(
        {_quasi(files, row) for row in files.tables["qit"]}
    ):
        found.append("equal people are in different buckets")
    return found


def _odds_bound(requirement: Mapping[str, Any], share: Fraction) -> Fraction:
    """Return what a share may become; of e^ε a little more than it is, because only what is certainly false is listed."""
    odds = requirement["odds"]
    times = (
        Fraction(odds) if odds is not None else Fraction(exp(float(Fraction(requirement["epsilon"])))) * (1 + Fraction(1, 10**9))
    )
    return times * share / (1 + (times - 1) * share)


def untrue_noise(files: Files, quasi: list[tuple[Any, ...]]) -> list[str]:
    """Return that people are not those of the table."""
    return [] if Counter(_quasi(files, row) for row in files.tables["qit"]) == Counter(quasi) else ["qit shows other people"]


def _quasi(files: Files, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in files.quasi)
