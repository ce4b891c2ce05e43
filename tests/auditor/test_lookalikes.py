"""Spellings of one value that a reader would not tell apart."""

import pyarrow as pa
import pytest

from sfumato.auditor.audit import look_alike_warnings, look_alikes


@pytest.mark.parametrize(
    "other",
    [
        "flu",
        "FLU",
        "Flu ",
        " Flu",
        "F\u200blu",
        "Ｆｌｕ",
        "Flü",
        "FIu",
        "F1u",
        "F\u00a0lu",
        "Fl\u03c5",
        "Fl\u0443".replace("\u0443", "u\u0301"),
    ],
)
def test_spellings_that_look_alike_are_counted(other):
    assert look_alikes(["Flu", other, "Asthma"]) == 2


@pytest.mark.parametrize("other", ["Influenza", "Fluid", "Fly", "Fl", "Flue"])
def test_other_values_are_not(other):
    assert look_alikes(["Flu", other, "Asthma"]) == 0


def test_letters_of_other_scripts_and_digits_are_taken_for_what_they_look_like():
    assert look_alikes(["HIV", "ΗΙV", "НІV"]) == 3
    assert look_alikes(["E10", "E1O"]) == 2
    assert look_alikes(["mail", "mall"]) == 0
    assert look_alikes([f"[{k}, {k + 1})" for k in range(100)]) == 0


def test_the_warning_names_the_column_and_no_value():
    sets = pa.array([["north"], ["North", None]], pa.list_(pa.field("element", pa.string())))
    tables = {"records": pa.table({"town": sets, "value": pa.array(["x", "y"]).dictionary_encode(), "n": [1, 2]})}
    (warning,) = look_alike_warnings(tables)
    assert "'town': 2 values" in warning
    assert "orth" not in warning
