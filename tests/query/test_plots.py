"""Charts hold the figures that they show, and say what to install."""

from __future__ import annotations

import sys

import pytest

from sfumato.errors import SfumatoError
from sfumato.query import Estimate
from tests.query.test_crosstab import drawn


def test_a_chart_has_a_point_for_every_cell_in_the_order_of_the_answer() -> None:
    answer = drawn(1, 1.0, 0.5).count("SELECT ill, AVG(age) GROUP BY ill ORDER BY avg_age DESC")
    rows = answer.plot().to_dict()["data"]["values"]
    assert [row["cell"] for row in rows] == [key["ill"] for key, _ in answer]
    assert [row["value"] for row in rows] == [one.value for _, one in answer]
    assert [row["low"] for row in rows] == [one.low for _, one in answer]


def test_one_estimate_is_one_point() -> None:
    chart = Estimate(3.0, 1.0, 1.0, 5.0, 0.95, "likelihood", measure="share").plot().to_dict()
    assert len(chart["data"]["values"]) == 1
    assert "95 %" in str(chart["title"])


def test_a_heat_map_has_the_lift_of_every_cell() -> None:
    table = drawn(1, 1.0, 0.5).crosstab("ill", "sex")
    rows = table.plot().to_dict()["data"]["values"]
    assert [(row["row"], row["column"]) for row in rows] == [(row, column) for row, column, _, _ in table.named()]
    assert [row["lift"] for row in rows] == [lift.value for _, _, _, lift in table.named()]


def test_without_the_library_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(SfumatoError, match=r"sfumato\[report\]"):
        Estimate(3.0, 1.0, 1.0, 5.0, 0.95, "likelihood").plot()
