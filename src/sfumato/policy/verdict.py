"""Whether a policy's bounds can be kept, in words, and each value with its share and its allowance: from counts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import Infeasible, SfumatoError
from sfumato.methods import default_method
from sfumato.policy.policy import Policy
from sfumato.policy.words import bounds_in_words, capital, most_sensitive, value_in_words
from sfumato.privacy.bounds import labelled
from sfumato.table import Table


@dataclass(frozen=True)
class PolicyVerdict:
    """What there is to say, first whether it `can` be kept; and values with the share who have them and how sure one may become.

    The rarest values come first.
    """

    can: bool
    sentences: tuple[str, ...]
    values: tuple[tuple[str, Fraction, Fraction], ...]


def verdict_of(policy: Policy, table: Table) -> PolicyVerdict:
    """Return the verdict on a policy for a table."""
    try:
        method = policy.method or default_method(policy.requirement, table)
        method.require_provable(table, policy.requirement)
        bounds = method.bounds(table, policy.requirement)
        method.require_bands(table, bounds)
    except Infeasible as error:
        return PolicyVerdict(False, ("It cannot be kept.", error.sentence), _wanted(table, policy))
    except SfumatoError as error:
        return PolicyVerdict(False, ("This cannot be promised like this.", error.sentence), _wanted(table, policy))
    limits = bounds.value_limits
    shares = {value: share for value, share in zip(bounds.values, bounds.shares[: bounds.valued], strict=True) if share}
    if not method.proves():
        said = f"The method {method.name} can make a release, but it bounds no belief: it claims what its paper claims."
        return PolicyVerdict(True, (said,), _ranked(shares, limits))
    can = f"It can be kept, by the method {method.name}"
    if policy.requirement.bounds_odds or getattr(method, "declared", None):
        whom = f"{policy.requirement.against} who believed the declared shares before, or from any other belief by the same odds"
        return PolicyVerdict(True, (f"{can}: against an {whom}.",), _ranked(shares, limits))
    named = [f"{value}: {value_in_words(shares[value], limits[value])}." for value in most_sensitive(shares)]
    schema = table.schema
    first, *more = bounds_in_words(
        policy.requirement.to_dict(),
        shares,
        limits,
        against=policy.requirement.against,
        secrets=schema.sensitive if schema.protects_each else (),
        compound=len(schema.sensitive) > 1 and not schema.protects_each,
        people=schema.one_row_per_person,
    )
    return PolicyVerdict(True, (f"{can}.", capital(first), *more, *named), _ranked(shares, limits))


def _wanted(table: Table, policy: Policy) -> tuple[tuple[str, Fraction, Fraction], ...]:
    """Return the bounds that were asked for, also where they cannot be kept."""
    rules = dict(policy.requirement.columns)
    shares: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    for part in table.each():
        secret = part.schema.sensitive[0] if table.schema.protects_each else None
        counts = part.sensitive.histogram()
        mine = {value: Fraction(count, table.rows) for value, count in counts.items() if count}
        rule = policy.requirement if secret is None else rules.get(secret, policy.requirement)
        for value, limit in rule.limits(mine).items():
            name = value if secret is None else labelled(secret, value)
            shares[name], limits[name] = mine[value], limit
    return _ranked(shares, limits)


def _ranked(shares: Mapping[str, Fraction], limits: Mapping[str, Fraction]) -> tuple[tuple[str, Fraction, Fraction], ...]:
    return tuple(
        sorted(((value, share, limits[value]) for value, share in shares.items()), key=lambda listed: (listed[1], listed[0]))
    )
