"""The studio in a real browser with several rows a person: from a draft to an answer about who ever had something."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.table.generators import encounters
from sfumato.table.write import write_table
from tests.browser import browser
from tests.studio.driving import Page, Studio

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")
pytest.importorskip("selenium.webdriver")


def test_visits_are_drafted_published_and_asked_about_as_people(tmp_path: Path) -> None:
    visits = encounters(1_000, seed=2)
    had = {who for who, *own in zip(*(visits[name].to_pylist() for name in COLUMNS), strict=True) if "Asthma" in own}
    write_table(visits, tmp_path / "visits.csv")
    with browser(tmp_path / "profile") as driver, Studio(tmp_path, "visits.csv") as studio:
        page = Page(driver, studio).open("/")
        assert 'keep  = "all"' in page.open_policy()
        page.press("reviewed")
        page.says("You have said that every role is right.")
        page.open("/publish").press("publish")
        assert "Published 1,000 people" in page.text("outcome", "Published")
        page.open("/ask").type("sql", "SELECT COUNT(*) WHERE diag = 'Asthma'")
        page.press("ask")
        assert f"{len(had):,}" in page.text("answer", f"{len(had):,}")


COLUMNS = ("patient", "diag_1", "diag_2", "diag_3")
