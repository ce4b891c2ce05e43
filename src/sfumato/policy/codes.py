"""Numbers that are codes, of occupations, industries, illnesses: they have no order, and bins and bands of them no meaning."""

from __future__ import annotations

import re

from sfumato.policy import vocabulary as say
from sfumato.policy.profile import ICD, Profile

_ILLNESS = re.compile(r"[ve]?[0-9]{1,5}")
_NINTH = 1000
"""The categories of ICD-9 are below."""

_MANY = 20
"""So many different numbers of illnesses are codes rather than stages."""


def coded(column: Profile) -> str:
    """Return why numbers are taken for codes, by the name of the column or by their look; empty where they are not."""
    if column.kind != "numeric" or column.words & (say.COUNTING | say.DURATIONS) or say.MONEY.meets(column.words):
        return ""
    if edition(column):
        return "numbers of illnesses (ICD-9)"
    generic = column.ordered[-1:] in (("code",), ("codes",)) and 10 * column.distinct < column.present
    if column.whole and (generic or say.CODED.meets(column.words)):
        return "it is called like a code"
    return "shared by many, with gaps between them" if column.scattered else ""


def edition(column: Profile) -> int | None:
    """Return the edition of ICD whose codes a column has: those of the ninth are mostly numbers; None where it has none."""
    if column.looks == ICD:
        return 9 if sum(value.isdecimal() for value in column.values) > len(column.values) / 2 else 10
    if not say.ILLNESSES.meets(column.words) or column.words & (say.COUNTING | say.DURATIONS):
        return None
    if column.kind == "numeric":
        many = column.low is not None and column.high is not None and column.low > 0 and 100 <= column.high < _NINTH
        return 9 if many and column.distinct >= _MANY else None
    like = sum(bool(_ILLNESS.fullmatch(value)) for value in column.values)
    return 9 if column.distinct >= _MANY and like >= 0.8 * len(column.values) else None
