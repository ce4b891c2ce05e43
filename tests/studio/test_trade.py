"""Settings that are taken from a study: those of the run that was shown, as people write them, whatever arrives meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")

from sfumato.studio.trade_page import _key, _options, _plain


@pytest.mark.parametrize(
    ("given", "written"), [("5.4", 5.4), ("8", 8), (8.0, 8), (2.5, 2.5), ("1/3", "1/3"), (True, True), ("safe", "safe")]
)
def test_a_parameter_is_written_as_a_number_where_it_is_one(given: Any, written: Any) -> None:
    assert (_plain(given), type(_plain(given))) == (written, type(written))


def test_a_point_is_known_by_what_it_is_and_not_by_its_place() -> None:
    runs = [
        {
            "method": "boxes",
            "varied": {"theta": theta},
            "own": True,
            "policy": False,
            "error": 0.1,
            "exposure": 0.2,
            "independence": 1,
        }
        for theta in (2, 4, 8)
    ]
    later = [{**runs[0], "method": "near-groups"}, *runs]
    shown = {point["name"]: point["key"] for one in _options(runs)["series"] for point in one["data"]}
    again = {point["name"]: point["key"] for one in _options(later)["series"] for point in one["data"]}
    assert len({*map(_key, later)}) == 4
    assert {name: again[name] for name in shown} == shown
