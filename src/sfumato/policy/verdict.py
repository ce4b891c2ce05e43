"""Whether a policy's bounds can be kept, in words, and each value with its share and its allowance: from counts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import Infeasible, SfumatoError
from sfumato.methods import default_method
from sfumato.policy.policy import Policy
from sfumato.policy.words import most_sensitive, rule_in_words, value_in_words
from sfumato.privacy.each import labelled
from sfumato.table import Table


@dataclass(frozen=True)
class Verdict:
    """What there is to say, first whether it `can` be kept; and values with the share who have them and how sure one may become.

    The rarest values come first.
    """

    can: bool
    sentences: tuple[str, ...]
    values: tuple[tuple[str, Fraction, Fraction], ...]


def verdict_of(policy: Policy, table: Table) -> Verdict:
    """Return the verdict on a policy for a table."""
    try:
        method = policy.method or default_method(policy.requirement, table)
        method.require_provable(table, policy.requirement)
        bounds = method.bounds(table, policy.requirement)
    except Infeasible as error:
        return Verdict(False, ("It cannot be kept.", error.sentence), _wanted(table, policy))
    except SfumatoError as error:
        return Verdict(False, ("This cannot be promised like this.", error.sentence), _wanted(table, policy))
    total = sum(bounds.counts)  # of the table, or of what was declared
    shares = {value: Fraction(count, total) for value, count in zip(bounds.values, bounds.counts, strict=True) if count}
    limits = dict(zip(bounds.values, bounds.limits, strict=True))
    if not method.proves():
        said = f"The method {method.name} can make a release, but it bounds no belief: it claims what its paper claims."
        return Verdict(True, (said,), _ranked(shares, limits))
    can = f"It can be kept, by the method {method.name}"
    if policy.requirement.bounds_odds or getattr(method, "declared", None):
        whom = f"{policy.requirement.against} who believed the declared shares before, or from any other belief by the same odds"
        return Verdict(True, (f"{can}: against an {whom}.",), _ranked(shares, limits))
    named = [f"{value}: {value_in_words(shares[value], limits[value])}." for value in most_sensitive(shares)]
    schema = table.schema
    compound = len(schema.sensitive) > 1 and not schema.apart
    against = policy.requirement.against
    words = rule_in_words(shares, limits, against=against, compound=compound, people=schema.one_row_per_person)
    return Verdict(True, (f"{can}.", f"{words[0].upper()}{words[1:]}.", *named), _ranked(shares, limits))


def _wanted(table: Table, policy: Policy) -> tuple[tuple[str, Fraction, Fraction], ...]:
    """Return the bounds that were asked for, also where they cannot be kept."""
    rules = dict(policy.requirement.columns)
    shares: dict[str, Fraction] = {}
    limits: dict[str, Fraction] = {}
    for one in table.apart():
        secret = one.schema.sensitive[0] if table.schema.apart else None
        counts = one.sensitive.histogram()
        mine = {value: Fraction(count, table.rows) for value, count in counts.items() if count}
        rule = policy.requirement if secret is None else rules.get(secret, policy.requirement)
        for value, limit in rule.limits(mine).items():
            name = value if secret is None else labelled(secret, value)
            shares[name], limits[name] = mine[value], limit
    return _ranked(shares, limits)


def _ranked(shares: Mapping[str, Fraction], limits: Mapping[str, Fraction]) -> tuple[tuple[str, Fraction, Fraction], ...]:
    return tuple(sorted(((value, share, limits[value]) for value, share in shares.items()), key=lambda one: (one[1], one[0])))
