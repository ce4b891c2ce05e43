"""The studio's pages by axe-core, in the light and in the dark: nothing that WCAG 2 asks for on levels A and AA is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sfumato.table.generators import hospital
from sfumato.table.write import write_table
from tests.browser import browser
from tests.studio.driving import Page, Studio, command

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")
axe = pytest.importorskip(
    "axe_core_python.base", reason="axe-core-python, which has axe-core, is not installed: pip install -e '.[dev]'"
)

LEVELS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
PAGES = {"/": "rows", "/rule": "dots", "/trade": "compare", "/publish": "publish", "/ask": "sql"}
"""Every page, and what is there when it is whole."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    place = tmp_path_factory.mktemp("studio")
    write_table(hospital(1_000, seed=5), place / "patients.csv")
    command(place, "policy", "init", "patients.csv", "--out", "policy.toml", "--reviewed")
    command(place, "publish", "patients.csv", "--policy", "policy.toml", "--out", "release")
    with browser(tmp_path_factory.mktemp("profile")) as driver, Studio(place, "patients.csv") as studio:
        yield Page(driver, studio)


def violations(driver: Any) -> list[str]:
    """Return what axe-core finds, a line for each kind, with the first elements it is about."""
    driver.execute_script(axe.AXE_SCRIPT)
    found = driver.execute_async_script(
        "const done = arguments[1]; axe.run(document, arguments[0]).then(done, why => done({violations: [], why: `${why}`}))",
        LEVELS,
    )
    assert "why" not in found
    assert found["passes"]
    return [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}" for one in found["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible(page: Page, path: str, scheme: str) -> None:
    wanted = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
    page.open(path).find(PAGES[path])
    assert violations(page.driver) == []
