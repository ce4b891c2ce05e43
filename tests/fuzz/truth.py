"""A second opinion on a release, in plain Python: what is false in it, read from its files and docs/guarantees.md alone.

Nothing here is shared with the auditor or with the code that makes releases. Only what is certainly false is listed, so that an
audit may be stricter than this, but never more lenient.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.fuzz.files import Files, Group
from tests.fuzz.truth_noisy import wrong_noise
from tests.fuzz.truth_presence import matched, overlapping, present

Shares = Mapping[str, Fraction]


def bound(requirement: Mapping[str, Any], label: str, share: Fraction | None) -> Fraction | None:
    """Return how sure a reader may become of a value; None where that depends on a share that nobody has told."""
    model = requirement["model"]
    if model == "presence-association":
        beta = requirement["beta"]
        return bound(beta, label, share) if isinstance(beta, dict) else Fraction(beta)
    if model == "l-diversity":
        return Fraction(1, requirement["l"])
    if model == "f-privacy":
        if label in requirement["bounds"]:
            return Fraction(requirement["bounds"][label])
        theta, offset = Fraction(requirement["theta"]), Fraction(requirement["offset"])
        if theta and share is None:
            return None
        return min(Fraction(1), offset + (theta * share if share is not None else 0))
    if share is None:
        return None
    if model == "rho-privacy":
        return Fraction(requirement["rho2"]) if share <= Fraction(requirement["rho1"]) else Fraction(1)
    gain = Fraction(requirement["beta"])
    if requirement["enhanced"] and share:
        with localcontext() as context:
            context.prec = 60
            gain = min(gain, Fraction((Decimal(share.denominator) / Decimal(share.numerator)).ln()) + Fraction(1, 10**40))
    return min(Fraction(1), (1 + gain) * share)


def sets_of(requirement: Mapping[str, Any], labels: Iterable[str]) -> dict[str, tuple[set[str], Mapping[str, Any]]]:
    """Return the sets of values that a requirement bounds, by name: those with their values listed, and those of a map."""
    found: dict[str, tuple[set[str], Mapping[str, Any]]] = {}
    for name, rule in requirement.get("sets", {}).items():
        if "values" in rule:
            found[name] = (set(rule["values"]), rule)
        for label in labels if "map" in rule else ():
            category = f"{name}: {rule['map'][label]}"
            found.setdefault(category, (set(), rule))[0].add(label)
    return found


def set_bound(rule: Mapping[str, Any], share: Fraction | None) -> Fraction | None:
    """Return how sure a reader may become of a set; None where that depends on a share that nobody has told."""
    if "bound" in rule:
        return Fraction(rule["bound"])
    theta, offset = Fraction(rule["theta"]), Fraction(rule["offset"])
    return None if theta and share is None else min(Fraction(1), offset + theta * (share or 0))


def shares_shown(files: Files) -> Shares | None:
    """Return the shares of the table where the release shows them: everybody's value, and nobody's twice."""
    if files.parameters.get("suppression") or files.parameters.get("decoys") or files.manifest["basis"] == "noisy":
        return None
    total: Counter[str] = Counter()
    for group in files.groups().values():
        total += group.counts
    return shares_of(total)


def shares_of(counts: Mapping[str, int]) -> Shares:
    people = sum(counts.values())
    return {label: Fraction(many, people) for label, many in counts.items()}


def wrong_claims(files: Files, shares: Shares | None) -> list[str]:
    """Return which claims of a release in groups are false, or could not be told from its tables."""
    manifest = files.manifest
    if manifest["basis"] == "noisy":
        return wrong_noise(files, bound)
    groups = files.groups()
    found = _numbers(files, groups)
    weaker = "weaker_claim" in files.parameters
    kinds = [claim["kind"] for claim in manifest["claims"]]
    if not kinds and not weaker:
        found.append("nothing is claimed")
    for claim in manifest["claims"]:
        if claim["kind"] == "presence":
            if claim["adversary"] != "stranger" or manifest["requirement"]["model"] != "presence-association":
                found.append("presence is claimed of somebody else, or without alpha")
            elif files.form not in ("columns", "views") or "suppression" in files.parameters:
                found.append("presence is claimed where it cannot be")
            else:
                found += overlapping(files) + present(files, groups)
        else:
            found += proved(files, claim["adversary"]) + _sure(files, groups, shares)
    if weaker and files.form == "columns":
        found += present(files, groups) + ([] if shares is None else _sure(files, groups, shares))
    return found


def _numbers(files: Files, groups: Mapping[Any, Group]) -> list[str]:
    """Return where people and values do not add up."""
    decoys = files.parameters.get("decoys", 0)
    found = []
    if sum(group.people for group in groups.values()) != files.manifest["rows"]:
        found.append("another number of people than the manifest says")
    if any(group.shown != group.people + decoys for group in groups.values()):
        found.append("a group shows another number of values than it has people")
    if files.parameters.get("groups", files.parameters.get("groups")) != len(groups):
        found.append("another number of groups than the manifest says")
    totals: Counter[str] = Counter()
    for group in groups.values():
        totals += group.counts
    if files.manifest["values"] is not None:
        told = {one["value"]: one["count"] for one in files.manifest["values"][0]["values"]}
        if told != totals:
            found.append("the manifest counts values otherwise")
    return found


def proved(files: Files, adversary: str) -> list[str]:
    """Return why nobody has proved such a claim: docs/guarantees.md says what holds against whom."""
    method, parameters = files.manifest["method"], files.parameters
    if adversary != files.manifest["requirement"]["against"]:
        return ["the claim is made against somebody else than the requirement"]
    if adversary == "reader":
        return []
    proved = {
        "boxes": ("safe", "soft"),
        "multi-size": ("blind",),
        "near-groups": ("matched",),
        "anatomy": () if method.get("suppress") or parameters.get("suppression") else ("blind",),
        "decoys": () if method.get("guard") else ("blind",),
        "ambiguity": () if method.get("grouping") == "paper" else ("safe", "soft"),
    }
    word_of_others = ("blind", "safe", "soft", "matched") if files.form in ("buckets", "ranges") else ()
    bases = word_of_others if "package" in method else proved.get(method["name"], ())
    holds = adversary == "engineer" and files.manifest["basis"] in bases
    return [] if holds else [f"nothing is proved against the {adversary}"]


def _sure(files: Files, groups: Mapping[Any, Group], shares: Shares | None) -> list[str]:
    """Return which values a reader may be surer of than their bounds."""
    requirement = files.manifest["requirement"]
    found = []
    if files.form == "views":
        beliefs: Iterable[tuple[str, Fraction]] = matched(files)
    else:
        soft = files.manifest["basis"] == "soft" and requirement["against"] == "engineer"
        beliefs = (
            (
                label,
                min(n / (1 + (one.people - 1) * Fraction(one.account, 1000)), Fraction(1)) if soft else Fraction(n, one.shown),
            )
            for one in groups.values()
            for label, n in one.counts.items()
        )
        found += _sure_of_sets(files, groups, shares, soft=soft)
    for label, belief in beliefs:
        most = bound(requirement, label, None if shares is None else shares.get(label, Fraction(0)))
        if most is None:
            found.append("a bound depends on shares that are not told")
        elif belief > most:
            found.append(f"a value is believed with {belief}, above {most}")
    return sorted(set(found))


def _sure_of_sets(files: Files, groups: Mapping[Any, Group], shares: Shares | None, *, soft: bool) -> list[str]:
    """Return which sets of values a reader may be surer of than their bounds."""
    asked, found = files.manifest["requirement"], []
    for name, (values, rule) in sets_of(asked, {label for one in groups.values() for label in one.counts}).items():
        most = set_bound(rule, None if shares is None else sum((shares.get(one, Fraction(0)) for one in values), Fraction(0)))
        for one in groups.values():
            count = sum(n for label, n in one.counts.items() if label in values)
            belief = count / (1 + (one.people - 1) * Fraction(one.account, 1000)) if soft else Fraction(count, one.shown)
            belief = min(belief, Fraction(1))
            if most is None or belief > most:
                found.append(f"the set {name} is believed with {belief}, above {most}")
    return found
