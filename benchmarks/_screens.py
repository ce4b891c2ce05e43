"""The studio's pages as pictures for the guide: `make pictures`, with Debian's Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
PAGES = {"table": "/", "rule": "/rule", "trade": "/trade", "publish": "/publish", "ask": "/ask"}
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--window-size=1280,900",
)  # fmt: skip


def main() -> None:
    """Open the studio on made-up patients, do what a publisher does, and photograph every page."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        sfumato = [sys.executable, "-m", "sfumato"]
        subprocess.run(
            [*sfumato, "sample", "hospital", "--rows", "20000", "--seed", "7", "--out", "patients.csv"], cwd=folder, check=True
        )
        studio = subprocess.Popen(
            [*sfumato, "studio", "patients.csv", "--no-show"], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            assert studio.stdout is not None
            found = re.search(r"http://\S+", studio.stdout.readline())
            assert found
            time.sleep(2)
            _walk(driver, found.group())
        finally:
            driver.quit()
            studio.terminate()
            studio.wait()


def _walk(driver: Any, address: str) -> None:
    root, _, token = address.partition("/?")
    for name, page in PAGES.items():
        driver.get(f"{root}{page}?{token}")
        time.sleep(6)
        if name == "table":
            _click(driver, "reviewed")
        elif name == "trade":
            _click(driver, "compare")
            time.sleep(120)
        elif name == "publish":
            _click(driver, "publish")
            time.sleep(20)
        elif name == "ask":
            driver.find_element("css selector", "[data-mark='sql']").send_keys(
                "SELECT ward, COUNT(*) WHERE diagnosis = 'Asthma' GROUP BY ward"
            )
            _click(driver, "ask")
            time.sleep(8)
        driver.save_screenshot(str(PICTURES / f"studio-{name}.png"))


def _click(driver: Any, mark: str) -> None:
    driver.find_element("css selector", f"[data-mark='{mark}']").click()
    time.sleep(2)


if __name__ == "__main__":
    main()
