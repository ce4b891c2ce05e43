"""The studio in a real browser: a publisher's whole way and a recipient's question."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.table.generators import hospital
from sfumato.table.write import write_table
from tests.browser import browser

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")
Keys = pytest.importorskip("selenium.webdriver").Keys

PATIENCE = 90.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studio")
    write_table(hospital(3_000, seed=5), place / "patients.csv")
    return place


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(place: Path, driver: Any) -> Iterator[str]:
    with _studio(place, "patients.csv") as opened:
        yield opened


class _studio:  # noqa: N801  (used like a function)
    """A studio in another process; its address with the token."""

    def __init__(self, place: Path, what: str) -> None:
        environment = {**os.environ, "SFUMATO_RECEIPTS": str(place / "receipts"), "PYTHONUNBUFFERED": "1"}
        environment.pop("PYTEST_CURRENT_TEST", None)  # the library would take itself for being tested
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sfumato", "studio", what, "--no-show"],
            cwd=place,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        time.sleep(1)
        return found.group()

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


def wait(what: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            found = what()
        except Exception:
            found = None
        if found:
            return found
        assert time.monotonic() < end, "the page never showed it"
        time.sleep(0.2)


def mark(driver: Any, name: str) -> Any:
    return driver.find_element("css selector", f"[data-mark='{name}']")


def text(driver: Any, name: str) -> str:
    return str(mark(driver, name).text)


def goto(driver: Any, address: str, path: str = "/") -> None:
    """Open a page; the first time with the token."""
    root, _, query = address.partition("/?")
    driver.get(f"{root}{path}?{query}")


def test_the_publishers_whole_way_from_a_table_to_a_release_that_audits_clean(driver: Any, address: str, place: Path) -> None:
    goto(driver, address)
    assert "only one with their quasi values" in wait(lambda: text(driver, "unique"))
    assert "token" not in driver.current_url

    goto(driver, address, "/publish")
    wait(lambda: mark(driver, "publish")).click()
    assert "nobody has reviewed" in wait(lambda: text(driver, "outcome"))

    goto(driver, address)
    wait(lambda: mark(driver, "reviewed")).click()
    wait(lambda: "every role is right" in driver.page_source)
    assert "reviewed = true" in (place / "policy.toml").read_text("utf-8")

    goto(driver, address, "/rule")
    assert wait(lambda: text(driver, "verdict")).startswith("It can be kept")

    goto(driver, address, "/publish")
    name = wait(lambda: mark(driver, "out"))
    name.send_keys(Keys.CONTROL, "a")
    name.send_keys("../elsewhere")
    mark(driver, "publish").click()
    wait(lambda: "only below the directory" in driver.page_source)
    goto(driver, address, "/publish")
    name = wait(lambda: mark(driver, "out"))
    wait(lambda: mark(driver, "publish")).click()
    assert wait(lambda: "Published 3,000 people" in text(driver, "outcome"))
    assert "holds" in text(driver, "claim")
    mark(driver, "audit").click()
    wait(lambda: "every claim holds" in driver.page_source)
    assert (place / "release" / "manifest.json").is_file()
    assert not list((place / "release").glob("*receipt*"))
    severe = [one["message"] for one in driver.get_log("browser") if one["level"] == "SEVERE"]
    assert not severe


def test_a_recipients_answer_is_that_of_the_command_line(driver: Any, address: str, place: Path) -> None:
    question = "age >= 60 AND diagnosis = 'Flu'"
    goto(driver, address, "/ask")
    field = wait(lambda: mark(driver, "sql"))
    field.send_keys(question)
    mark(driver, "ask").click()
    shown = wait(lambda: text(driver, "answer"))
    asked = [sys.executable, "-m", "sfumato", "query", "release", question]
    told = subprocess.run(asked, cwd=place, capture_output=True, text=True, check=True).stdout.split()[0]
    assert shown.replace(",", "") == told.replace(",", "")


def test_a_typo_in_a_question_is_told_and_the_page_goes_on(driver: Any, address: str) -> None:
    goto(driver, address, "/ask")
    wait(lambda: mark(driver, "sql")).send_keys("aeg >= 60")
    mark(driver, "ask").click()
    wait(lambda: "did you mean" in driver.page_source)


def test_work_under_way_is_found_again_after_a_reload_and_can_be_stopped(driver: Any, address: str) -> None:
    goto(driver, address, "/trade")
    wait(lambda: mark(driver, "compare")).click()
    wait(lambda: mark(driver, "stop").is_displayed())
    goto(driver, address, "/trade")
    wait(lambda: mark(driver, "stop").is_displayed())
    mark(driver, "stop").click()
    wait(lambda: "Stopped. Nothing was written." in driver.page_source)


def test_a_release_alone_is_opened_for_asking(driver: Any, address: str, place: Path) -> None:
    with _studio(place, "release") as opened:
        goto(driver, opened)
        wait(lambda: mark(driver, "sql"))
        assert "1 Table" not in driver.page_source
