"""What a release with declared parameters must declare: one set of shares, the same everywhere, for every published value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sfumato.errors import FormatError
from sfumato.release.manifest import Manifest
from sfumato.release.randomized import RandomizedRelease

_EXACT = re.compile(r"\d{1,400}(/\d{1,400})?")


def declared_shares(manifest: Manifest) -> dict[str, Fraction]:
    """Return the declared share of each value as the manifest's method has it; a `FormatError` where it cannot be read."""
    stated = manifest.method.get("shares")
    if not isinstance(stated, Mapping) or not stated:
        raise FormatError("manifest.json: the parameters are declared, but the method has no shares")
    try:
        return {str(value): exact_share(share) for value, share in stated.items()}
    except (ValueError, ZeroDivisionError):
        raise FormatError("manifest.json: the declared shares cannot be read") from None


def undeclared(manifest: Manifest, release: RandomizedRelease) -> list[str]:
    """Return what does not follow from one declaration; for computed parameters, what only a declaration could state.

    A person with the declared shares is in part i with the chance wᵢ, and then has value x with sᵢ(x): so Σ wᵢ·sᵢ(x) must be the
    declared share of x, exactly. Otherwise the shares that a bound follows from are not those that beliefs are computed with.
    """
    method, parts = manifest.method, release.parts
    if method.get("parameters") != manifest.parameters.get("parameters"):
        return ["method and parameters disagree on whether shares were declared"]
    if not release.declared:
        stated = [name for name in ("shares", "otherwise") if method.get(name) is not None]
        if stated or any(part.shares is not None or part.weight is not None for part in parts):
            return ["shares, weights or a catch-all value are stated although they were not declared"]
        return []
    problems = []
    shares = declared_shares(manifest)
    if min(shares.values()) <= 0 or sum(shares.values()) != 1:
        problems.append("the declared shares are not numbers above 0 that add up to 1")
    if set(shares) != set(release.domain.labels):
        problems.append("the values of the parts differ from those with a declared share")
    if any(part.shares is None or part.weight is None or part.largest_share is not None for part in parts):
        return [*problems, "a part lacks its weight or its shares, or states more than these"]
    if sum(part.weight or 0 for part in parts) != 1:
        problems.append("the weights of the parts do not add up to 1")
    together: dict[str, Fraction] = dict.fromkeys(shares, Fraction(0))
    for part in parts:
        for code, share in zip(part.values, part.shares or (), strict=True):
            label = release.domain.labels[code]
            together[label] = together.get(label, Fraction(0)) + (part.weight or 0) * share
    if together != shares:
        wrong = sum(together[label] != shares.get(label) for label in together)
        problems.append(f"the parts together give {wrong} values a share that differs from the declared one")
    otherwise, declared = method.get("otherwise"), manifest.schema.get("declared")
    closed = {"values": sorted(shares), "otherwise": otherwise}
    read_into = declared.get("closed") if isinstance(declared, Mapping) else None
    if not isinstance(otherwise, str) or otherwise not in shares or read_into != closed:
        problems.append("the table was not coded into the declared values with the declared catch-all value")
    return problems


def exact_share(text: Any) -> Fraction:
    """Return a number as manifests write them; a `ValueError` for anything else."""
    if not isinstance(text, str) or not _EXACT.fullmatch(text):
        raise ValueError("not an exact number above 0")
    return Fraction(text)
