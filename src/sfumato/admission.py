"""A gate for pipelines: does a release keep what a policy asks for, or more?

A release passes if all of these hold, each decided in exact arithmetic and from what the release itself says:

audit
    every claim holds; one that only the table could judge does not pass without it.
columns
    no quasi column but the policy's, the same secrets, and what is shown of a column recoded, binned and declared as there;
    fewer quasi columns are fewer. Edges that the policy takes from the table (bins of equally many people, steps and means of
    weights) are not compared; bins of a weight have at least as many people as the policy's floor.
adversary
    a claim about sensitive values against the policy's adversary, or one who knows more.
requirement
    the policy's own, word for word; or, where the release shows how many people have each value, a bound of every value, and of
    every set of values that the policy names, that is not above the policy's. Models of presence and of odds, releases whose
    claims start from declared shares, and bounds by band are compared word for word only.
coins
    not from a seed.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.auditor import Audit
from sfumato.errors import PolicyError, SfumatoError
from sfumato.exact import percent
from sfumato.policy import Policy
from sfumato.privacy import Requirement
from sfumato.release.manifest import Manifest

STRENGTH = ("reader", "engineer", "insider")
_BOUNDING = ("bound", "theta", "offset", "odds")
"""What a set of values says beside which values they are."""
_BY_COLUMN = ("types", "recode", "bins", "domains")
_SHOWN = 5


@dataclass(frozen=True)
class GateCheck:
    """One question of the gate, and why the answer is no."""

    name: str
    why: str = ""

    @property
    def passes(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.why


@dataclass(frozen=True)
class GateResult:
    """Whether a release passes the gate of a policy; every check with its reason, and the audit."""

    checks: tuple[GateCheck, ...]
    audit: Audit

    @property
    def passes(self) -> bool:
        """Whether every check does."""
        return all(check.passes for check in self.checks)

    def __repr__(self) -> str:
        failed = ", ".join(check.name for check in self.checks if not check.passes)
        return f"GateResult({'passes' if self.passes else f'does not pass: {failed}'})"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON values; the audit has its own."""
        checks = [{"check": check.name, "passes": check.passes, "why": check.why} for check in self.checks]
        return {"passes": self.passes, "checks": checks}


def gate(release: str | Path, policy: Policy | str | Path, table: Any = None) -> GateResult:
    """Return whether a release directory keeps what a reviewed policy asks for, or more; with the table audited against that."""
    from sfumato.api import audit
    from sfumato.release.files import read_manifest

    asked = policy if isinstance(policy, Policy) else Policy.load(policy)
    manifest = read_manifest(Path(release))
    return gated(manifest, asked, audit(release, table))


def gated(manifest: Manifest, policy: Policy, audit: Audit) -> GateResult:
    """Return the verdict on a release of this manifest that was audited."""
    if not policy.reviewed:
        raise PolicyError(
            "an unreviewed draft cannot judge a release",
            hint="look at every role, then `sfumato policy check POLICY DATA --reviewed`",
        )
    checks = (
        GateCheck("audit", _audited(audit)),
        GateCheck("columns", "; ".join(_columns(manifest, policy))),
        GateCheck("adversary", _adversary(manifest, policy.requirement.against)),
        GateCheck("requirement", _required(manifest, policy)),
        GateCheck("coins", "the coins follow from a seed, which is for experiments" if manifest.seeded else ""),
    )
    return GateResult(checks, audit)


def _audited(audit: Audit) -> str:
    if audit.holds is None:
        return "a claim can only be judged with the table"
    return "" if audit.holds else "a claim is broken, or the release is not what its manifest says"


def _columns(manifest: Manifest, policy: Policy) -> Iterator[str]:
    """Yield where a release shows other columns than the policy, or shows them otherwise."""
    made, asked = _plain(manifest.schema["declared"]), _plain(policy.schema.to_dict())
    more = [name for name in made["quasi"] if name not in asked["quasi"]]
    if more:
        yield f"published columns that are not quasi columns of the policy: {', '.join(map(repr, more[:_SHOWN]))}"
    if made["sensitive"] != asked["sensitive"]:
        yield "the sensitive columns differ from the policy's"
    published = {*made["quasi"], *made["sensitive"]}
    for option in _BY_COLUMN:
        mine, yours = (rules.get(option, {}) for rules in (made, asked))
        differ = [
            name for name in sorted(published) if mine.get(name) != yours.get(name) and "people" not in (yours.get(name) or ())
        ]
        if differ:
            yield f"[{option}] differs from the policy's for {', '.join(map(repr, differ[:_SHOWN]))}"
    mine, yours = (_weight(rules, asked) for rules in (made, asked))
    if mine != yours:
        both = {} if mine is None or yours is None else {**yours, **mine}
        named = ", ".join(key for key in both if mine.get(key) != yours.get(key))
        yield f"[weight] differs from the policy's{f' in {named}' if named else ''}"
    rest = sorted({*made, *asked} - {"quasi", "sensitive", "weight", *_BY_COLUMN})
    yield from (f"[{option}] differs from the policy's" for option in rest if made.get(option) != asked.get(option))
    if policy.schema.one_row_per_person and manifest.parameters.get("one_row_per_person") is False:
        yield "the release makes claims about rows, the policy asks for claims about people"


def _weight(stated: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
    """Return what is said of the weight, without edges and numbers that the policy takes from the table."""
    own, rule = stated.get("weight"), asked.get("weight")
    if own is None or rule is None:
        return own
    taken = {"from_table", "floor", *(key for key in ("bins", "values") if isinstance(rule.get(key), str))}
    if rule.get("floor") is not None and own.get("floor", 0) < rule["floor"]:
        taken.discard("floor")
    return {key: value for key, value in own.items() if key not in taken}


def _adversary(manifest: Manifest, against: str) -> str:
    named = [claim.adversary for claim in manifest.claims if claim.kind == "association"]
    if not named:
        return "no bound on beliefs in sensitive values is claimed"
    strong = [name for name in named if _at_least(name, against, exactly=_by_prior(manifest))]
    return "" if strong else f"claimed against {', '.join(named)}; the policy asks for {against}"


def _at_least(name: str, against: str, *, exactly: bool) -> bool:
    return name == against or (not exactly and STRENGTH.index(name) > STRENGTH.index(against))


def _by_prior(manifest: Manifest) -> bool:
    """Return whether claims start from what was believed before, so that they cover nobody who knows less."""
    return manifest.rests_on.noisy or manifest.parameters.get("parameters") == "declared"


def _required(manifest: Manifest, policy: Policy) -> str:
    """Return why a release does not keep the policy's requirement; "" where it keeps it, or more."""
    asked = policy.requirement
    if _plain(manifest.requirement) == _plain(asked.to_dict()):
        return ""
    if asked.presence is not None or asked.bounds_odds or _by_prior(manifest) or manifest.by_band or manifest.values is None:
        return "differs from the policy's requirement, and for such releases it cannot be decided whether it is stricter"
    own = manifest.each if policy.schema.protects_each else (manifest,)
    for part in own:
        looser = next(_looser(part, asked.of(_secret(part)) if policy.schema.protects_each else asked), "")
        if looser:
            return looser
    return ""


def _secret(manifest: Manifest) -> str:
    return str(manifest.schema["sensitive"][0]["name"])


def _looser(manifest: Manifest, asked: Requirement) -> Iterator[str]:
    """Yield every value and set of one secret whose bound in the release is above the policy's."""
    counts = {str(entry["value"]): Fraction(int(entry["count"]), manifest.rows) for entry in manifest.values or ()}
    bounds = {str(entry["value"]): Fraction(str(entry["bound"])) for entry in manifest.values or ()}
    try:
        limits = asked.limits(counts)
    except SfumatoError as error:
        yield f"the policy's bounds do not fit the values of the release: {error.message}"
        return
    for value, limit in limits.items():
        if value in bounds and bounds[value] > limit:
            yield f"{value!r} has a bound of {percent(bounds[value])}, the policy asks for {percent(limit)}"
    stated: Mapping[str, Any] = manifest.requirement.get("sets", {})
    for rule in asked.sets:
        if _which(stated.get(rule.name), counts) != _which(rule.to_dict(), counts):
            yield f"the set of values {rule.name!r} is not bounded in the release, or has other values"
            continue
        # A set of a map or of bins has its rule's name before its own.
        shown = [entry for entry in manifest.sets if f"{entry['set']}: ".startswith(f"{rule.name}: ")]
        if not shown:
            yield f"the release does not show how many people have a value of the set {rule.name!r}"
        for entry in shown:
            limit = rule.limit(Fraction(int(entry["count"]), manifest.rows))
            if Fraction(str(entry["bound"])) > limit:
                yield f"the set {entry['set']!r} has a bound of {percent(Fraction(str(entry['bound'])))}, not {percent(limit)}"


def _which(rule: Any, present: Container[str]) -> Any:
    """Return which values a set has, without its bound; of a map those that the release has, which are all that it states."""
    if rule is None:
        return None
    which = {key: value for key, value in _plain(rule).items() if key not in _BOUNDING}
    if "map" in which:
        which["map"] = {value: category for value, category in which["map"].items() if value in present}
    return which


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
