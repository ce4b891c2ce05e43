"""The studio's pages as pictures for the guide: `make pictures`, with Debian's Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
PATIENCE = 600.0
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip


def main() -> None:
    """Open the studio on made-up patients, do what a publisher and a recipient do, and photograph every page."""
    with tempfile.TemporaryDirectory() as folder:
        _visit(Path(folder), 3_000, _Walk.publisher)
        _visit(Path(folder), 10_000, _Walk.recipient)


def _visit(folder: Path, people: int, walk: Callable[[_Walk], None]) -> None:
    """Take a walk through the studio of a table of so many people."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
        options.add_argument(flag)
    sfumato = [sys.executable, "-m", "sfumato"]
    work = folder / f"hospital-{people}"
    work.mkdir()
    made_up = ["sample", "hospital", "--rows", str(people), "--seed", "7", "--out", "patients.csv"]
    subprocess.run([*sfumato, *made_up], cwd=work, check=True)
    studio = subprocess.Popen(
        [*sfumato, "studio", "patients.csv", "--no-show"],
        cwd=work,
        env={**os.environ, "SFUMATO_RECEIPTS": str(folder / "receipts")},
        stdout=subprocess.PIPE,
        text=True,
    )
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        assert studio.stdout is not None
        found = re.search(r"http://\S+", studio.stdout.readline())
        assert found
        walk(_Walk(driver, found.group()))
    finally:
        driver.quit()
        studio.terminate()
        studio.wait()


class _Walk:
    """A walk through the pages; every page is photographed once what it should show is there."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.root, _, self.token = address.partition("/?")

    def publisher(self) -> None:
        """Photograph what comes before a release: at 1280 pixels in the light, the first page at 800 in the dark too."""
        self.open("/", "step-age")
        self.picture("table", 1150)
        self.picture("table-dark", 1000, width=800, dark=True)
        self.open("/rule", "own-HIV")
        self.picture("rule", 1000)
        self.picture("people", 760, at="people")
        self.find("own-HIV").send_keys("x\t")
        self.wait(lambda: self.driver.find_element("css selector", ".q-field--error"))
        self.picture("mistake", 560, at="own-HIV")
        self.open("/trade", "compare")
        self.press("compare")
        self.wait(lambda: "Choosing by these results" in self.driver.page_source)
        self.find("typical")
        self.picture("trade", 1150)

    def recipient(self) -> None:
        """Publish, and photograph the release and what it answers."""
        self.open("/", "reviewed")
        self.press("reviewed")
        self.wait(lambda: "every role is right" in self.driver.page_source)
        self.open("/publish", "publish")
        self.press("publish")
        self.find("claim")
        self.find("boxes")
        self.choose("up", "admitted")
        self.picture("publish", 1250)
        self.open("/ask", "sql")
        self.find("sql").send_keys("SELECT ward, COUNT(*) WHERE diagnosis = 'Asthma' GROUP BY ward")
        self.press("ask")
        self.find("points")
        self.picture("ask", 1150)
        self.picture("ask-dark", 1000, width=800, dark=True)
        self.press("tab-Cross table")
        self.choose("cross-b", "sex")
        self.press("crosstab")
        self.find("heat")
        self.picture("cross", 1150)
        self.press("tab-Quality")
        self.wait(lambda: "people" in self.driver.find_element("css selector", ".q-tab-panel").text)
        self.picture("quality", 590)
        self.press("tab-Manifest")
        self.picture("manifest", 1000)

    def open(self, path: str, mark: str) -> None:
        """Open a page, and wait until something of it is there."""

        def opened() -> bool:
            self.driver.get(f"{self.root}{path}?{self.token}")
            return True

        self.wait(opened)
        self.find(mark)

    def find(self, mark: str) -> Any:
        """Return what has a mark, as soon as it is there."""
        return self.wait(lambda: self.driver.find_element("css selector", f'[data-mark="{mark}"]'))

    def press(self, mark: str) -> None:
        """Press what has a mark."""

        def pressed() -> bool:
            self.driver.execute_script("arguments[0].click()", self.find(mark))
            return True

        self.wait(pressed)

    def choose(self, mark: str, words: str) -> None:
        """Choose in a list."""
        self.wait(lambda: self.find(mark).click() or True)
        options = (
            "return [...document.querySelectorAll('.q-menu [role=option]')].find(one => one.innerText.trim() == arguments[0])"
        )
        self.wait(lambda: self.driver.execute_script(options, words)).click()
        time.sleep(1)

    def picture(self, name: str, height: int, *, width: int = 1280, dark: bool = False, at: str = "") -> None:
        """Photograph the page from its top, or from what has a mark."""
        scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_script("window.scrollTo(0, 0); document.activeElement.blur()")
        time.sleep(2)  # charts are drawn anew for another width
        if at:
            self.driver.execute_script("arguments[0].scrollIntoView()", self.find(at))
            self.driver.execute_script("window.scrollBy(0, -80)")  # what is behind the head of the page
        self.driver.save_screenshot(str(PICTURES / f"studio-{name}.png"))
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def wait(self, what: Callable[[], Any]) -> Any:
        """Return the first thing that is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                found = what()
            except Exception:
                found = None
            if found:
                return found
            time.sleep(0.2)
        raise AssertionError("the page never showed it")


if __name__ == "__main__":
    main()
