"""What it would bring to leave a value open: from how many people on boxes can then be divided, by counts alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from sfumato.groups.soft import affordable_from, usual_patience
from sfumato.policy.rule import ProposedRule
from sfumato.table.classes import usual_floor


def divided_from(rules: Mapping[str, ProposedRule], people: int, opened: tuple[str, str] | None = None) -> int:
    """Return how many people a box must have to be divided where it is mixed like the table; with one value more `opened`.

    A box has room for two sides of the usual floor, and a test has to leave every value within its bound after one refusal.
    """
    values = [
        value for name, rule in rules.items() for value in _values(rule, opened[1] if opened and opened[0] == name else None)
    ]
    patience = usual_patience([(int(share * people), bound) for share, bound in values])
    sets = [_rest(rule) for rule in rules.values() if rule.others]
    tested = [affordable_from(patience, share, bound) for share, bound in (*values, *sets)]
    return max([2 * usual_floor(people), *(people if size is None else min(math.ceil(size), people) for size in tested)])


def _values(rule: ProposedRule, opened: str | None) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the share and the bound of every value that has one, and is not open."""
    for value, share in rule.shares.items():
        bound = rule.bound(value)
        if bound < 1 and value != opened:
            yield share, bound


def _rest(rule: ProposedRule) -> tuple[Fraction, Fraction]:
    """Return the share of all values but the open one, and their bound together."""
    share = rule.any_other
    return share, rule.numbers.bound(share)
