from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.exact import ceil_inverse, decimal_text, exact, floor_times, percent


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (0.29, Fraction(29, 100)),
        ("0.57", Fraction(57, 100)),
        ("1/3", Fraction(1, 3)),
        ("7%", Fraction(7, 100)),
        ("0.3 %", Fraction(3, 1000)),
        (Decimal("0.07"), Fraction(7, 100)),
        (1, Fraction(1)),
        (1e-3, Fraction(1, 1000)),
    ],
)
def test_a_number_means_what_was_typed(given_, expected):
    assert exact(given_) == expected


@pytest.mark.parametrize("bad", ["", "a tenth", float("nan"), float("inf"), "1/0", True, None, [1], "0,05"])
def test_what_is_no_number_is_refused_with_a_hint(bad):
    with pytest.raises(PolicyError, match="offset: expected a number"):
        exact(bad, "offset")


@pytest.mark.parametrize(
    ("limit", "size", "cap"), [("0.29", 100, 29), ("0.57", 100, 57), ("1/3", 3, 1), ("0.07", 100, 7), ("1/49", 49, 1)]
)
def test_caps_are_exact_where_floats_round_the_wrong_way(limit, size, cap):
    assert floor_times(exact(limit), size) == cap
    assert floor_times(exact(limit), size - 1) == cap - 1


def test_some_of_these_caps_do_go_wrong_in_floats():
    assert int(0.29 * 100) == 28
    assert int(0.57 * 100) == 56


@given(st.fractions(min_value=Fraction(1, 500), max_value=1))
def test_the_smallest_group_for_a_bound_is_the_first_with_a_cap_of_one(limit):
    need = ceil_inverse(limit)
    assert floor_times(limit, need) >= 1
    assert need == 1 or floor_times(limit, need - 1) == 0


def test_numbers_are_shown_as_people_type_and_read_them():
    assert decimal_text(Fraction(4103, 10000)) == "0.4103"
    assert decimal_text(Fraction(1, 3)) == "1/3"
    assert percent(Fraction(1, 20)) == "5 %"
    assert percent(Fraction(1, 300)) == "0.33 %"
    assert percent(Fraction(1, 10**6)) == "0.0001 %"
    assert percent(Fraction(0)) == "0 %"
    assert percent(Fraction(7, 10), 0) == "70 %"


def test_a_decimal_of_many_digits_is_shown_whole():
    long = "0." + "123456789" * 5
    assert decimal_text(Fraction(long)) == long
    assert decimal_text(Fraction(-5, 4)) == "-1.25"
    assert decimal_text(Fraction(3)) == "3"


HOSTILE = [
    "1e999999999",
    "1e-999999999",
    "1e999",
    "1e-999",
    "1e999999999%",
    "9" * 100_000,
    "1/" + "9" * 100_000,
    Decimal("1e999999999"),
    Decimal("-1e999999999"),
    Decimal("1e-999999999"),
    Decimal("1" + "0" * 5000 + ".5"),
    10**5000,
    -(10**5000),
    Fraction(10**5000 + 1, 10**5000),
    Fraction(1, 10**5000),
]


@pytest.mark.parametrize("number", HOSTILE, ids=range(len(HOSTILE)))
def test_a_number_that_is_long_to_write_out_is_refused_in_one_sentence(number):
    with pytest.raises(PolicyError) as found:
        exact(number, "offset")
    assert found.value.message.startswith("offset: ")
    assert len(found.value.message) < 400


@pytest.mark.parametrize(
    "nothing", [Decimal("nan"), Decimal("sNaN"), Decimal("inf"), float("-inf"), "nan", "sNaN", "Infinity", "-inf"]
)
def test_infinity_and_nan_are_no_numbers(nothing):
    with pytest.raises(PolicyError, match="expected a number"):
        exact(nothing)


@pytest.mark.parametrize(
    "zero", [-0.0, "-0", "-0.0", Decimal("-0"), "0e999999999", Decimal("0e999999999"), Decimal("0e-999999999")]
)
def test_every_zero_is_zero(zero):
    assert exact(zero) == 0
    assert str(exact(zero)) == "0"


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: abs(number) < 8e307))
def test_every_float_is_a_number_and_means_its_shortest_decimal(number):
    assert exact(number) == Fraction(Decimal(repr(number)))
