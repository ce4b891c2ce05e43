"""Exact numbers: what a user types becomes a `Fraction`, and nothing is rounded on the way."""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from fractions import Fraction

from sfumato.errors import PolicyError

Number = int | float | str | Decimal | Fraction
"""What a user may give as a number. A float means its shortest decimal: 0.29 is 29/100."""


_LONGEST = 200
_EXPONENT = re.compile(r"e[+-]?\d{4,}", re.IGNORECASE)  # 1e-999999999 is a number, but not one to write out


def exact(number: Number, name: str = "number") -> Fraction:
    """Return `number` exactly. Text may be a decimal ("0.02"), a ratio ("1/3") or a percentage ("5%")."""
    problem = PolicyError(f"{name}: expected a number, got {number!r}", hint='write a decimal ("0.05"), a ratio ("1/20") or "5%"')
    if isinstance(number, bool):
        raise problem
    try:
        if isinstance(number, float):
            return Fraction(repr(float(number)))
        if isinstance(number, str):
            text = number.strip()
            if len(text) > _LONGEST or _EXPONENT.search(text):
                raise problem
            if text.endswith("%"):
                return Fraction(text[:-1].strip()) / 100
            return Fraction(text)
        return Fraction(operator.index(number) if hasattr(number, "__index__") else number)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        raise problem from None


def floor_times(limit: Fraction, size: int) -> int:
    """Return ⌊limit · size⌋."""
    return limit.numerator * size // limit.denominator


def ceil_inverse(limit: Fraction) -> int:
    """Return ⌈1 / limit⌉: the smallest group in which one occurrence keeps the bound `limit`."""
    return -(-limit.denominator // limit.numerator)


def percent(number: Fraction | float, digits: int = 2) -> str:
    """Return a number between 0 and 1 as people read it: "5 %", "0.31 %"; never as 0 when it is not."""
    value = float(number) * 100
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if text in ("0", "-0", "") and number:
        return f"{value:.2g} %"
    return f"{text or '0'} %"


def decimal_text(number: Fraction) -> str:
    """Return the number as it can be typed in a policy: a decimal where that is exact, else a ratio."""
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(number)
    text = format(Decimal(number.numerator) / Decimal(number.denominator), "f")
    return text
