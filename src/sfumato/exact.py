"""Exact numbers: what a user types becomes a `Fraction`, and nothing is rounded on the way."""

from __future__ import annotations

import operator
from decimal import Decimal
from fractions import Fraction

from sfumato.errors import PolicyError

Number = int | float | str | Decimal | Fraction
"""What a user may give as a number. A float means its shortest decimal: 0.29 is 29/100."""


_LONGEST = 200
_LARGEST = 1 << 1023
MOST_BITS = 1100
"""Above and below the fraction line: room for every finite float, and little enough to be computed with."""


def exact(number: Number, name: str = "number") -> Fraction:
    """Return `number` exactly. Text may be a decimal ("0.02"), a ratio ("1/3") or a percentage ("5%").

    A number that no float comes near (1e999), or that takes more digits than anybody writes, is refused before it is written out:
    1e999999999 is short to type and fills a memory.
    """
    problem = PolicyError(
        f"{name}: expected a number, got {typed(number)}", hint='write a decimal ("0.05"), a ratio ("1/20") or "5%"'
    )
    if isinstance(number, bool):
        raise problem
    try:
        fraction = _fraction(number)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError, ArithmeticError):
        raise problem from None
    if (
        fraction is None
        or max(fraction.numerator.bit_length(), fraction.denominator.bit_length()) > MOST_BITS
        or abs(fraction) >= _LARGEST
    ):
        raise PolicyError(f"{name}: {typed(number)} has too many digits, or is too large, to be computed with", hint=problem.hint)
    return fraction


def _fraction(number: Number) -> Fraction | None:
    """Return the number as a fraction, None where writing it out would take long."""
    if isinstance(number, float):
        return Fraction(repr(float(number)))
    if isinstance(number, str):
        text = number.strip()
        if text.endswith("%"):
            part = _fraction(text[:-1])
            return None if part is None else part / 100
        if len(text) > _LONGEST:
            return None
        # Not by Fraction: it would write out the power of ten. Decimal keeps the exponent apart.
        return Fraction(text) if "/" in text else _fraction(Decimal(text))
    if isinstance(number, Decimal):
        if not number:
            return Fraction(0)  # also 0e999999999
        return None if number.is_finite() and _far(number) else Fraction(number)
    return Fraction(operator.index(number) if hasattr(number, "__index__") else number)


def _far(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    return abs(number.adjusted()) > _LONGEST * 2 or (isinstance(exponent, int) and abs(exponent) > _LONGEST * 2)


def typed(number: object) -> str:
    """Return a value as it was given, if that is short: Python writes no whole number of thousands of digits."""
    try:
        text = repr(number)
    except ValueError:
        text = ""
    return text if 0 < len(text) <= _LONGEST else f"a very long {type(number).__name__}"


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
    rest, places = number.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if rest != 1:
        return str(number)
    digits = tuple(int(digit) for digit in str(abs(number.numerator) * 10**places // number.denominator))
    return format(Decimal((int(number < 0), digits, -places)), "f")


def plain(number: Fraction) -> int | float | str:
    """Return an exact number as JSON can hold it: whole, or a decimal, or a ratio as text where no float is equal to it."""
    if number.denominator == 1:
        return int(number)
    near = float(number)
    return near if Fraction(repr(near)) == number else str(number)
