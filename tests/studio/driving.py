"""A studio in a process of its own, and a browser that waits for what a page shows instead of guessing how long it takes."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 240.0
"""Seconds on a machine of our own; on a busy one as many times as long. Whatever is waited for comes, or the test has failed."""
TURN = 0.1

WITH_NAMES = ("button", "link", "textbox", "combobox", "spinbutton", "slider", "radio", "tab", "img", "image", "checkbox")
"""What people act upon or look at, and must be told of."""

SFUMATO = (sys.executable, "-m", "sfumato")


def settings(place: Path) -> dict[str, str]:
    """Return an environment in which receipts, caches and temporary files lie below a place."""
    for name in ("receipts", "cache", "tmp"):
        (place / name).mkdir(exist_ok=True)
    chosen = {
        "SFUMATO_RECEIPTS": str(place / "receipts"),
        "XDG_CACHE_HOME": str(place / "cache"),
        "TMPDIR": str(place / "tmp"),
        "PYTHONUNBUFFERED": "1",
    }
    # The library takes itself for being tested where this variable is set.
    return {**{name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}, **chosen}


def command(place: Path, *words: str) -> str:
    """Return what a command prints."""
    done = subprocess.run([*SFUMATO, *words], cwd=place, env=settings(place), capture_output=True, text=True, check=True)
    return done.stdout


class Studio:
    """`sfumato studio WHAT`, started in a directory and ended with the block; it answers when the block begins."""

    def __init__(self, place: Path, what: str, browser: str | None = None) -> None:
        """With `browser`, a command with %s for what is opened, that one is started."""
        words = ["studio", what] if browser else ["studio", what, "--no-show"]
        environment = settings(place) | ({"BROWSER": browser} if browser else {})
        self.process = subprocess.Popen([*SFUMATO, *words], cwd=place, env=environment, stdout=subprocess.PIPE, text=True)
        self._cookie: str | None = None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self) -> Studio:
        wait(lambda: self.ask("/")[0])
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.ended()

    def ended(self) -> None:
        """Wait until its process is gone."""
        wait(lambda: self.process.poll() is not None)

    def at(self, path: str = "/") -> str:
        """Return the address of a page."""
        return f"http://127.0.0.1:{self.port}{path}"

    def cookie(self) -> str:
        """Return the cookie that the right browser has: the token is exchanged for it, once."""
        if self._cookie is None:
            self._cookie = self.ask(f"/?token={self.token}")[1]["set-cookie"].split(";")[0]
        return self._cookie

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of one request; `_` in the name of a header stands for a hyphen."""
        opened = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            opened.request(method, path, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = opened.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            opened.close()


def wait(what: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Return the first thing that is true; what raises meanwhile, as a page does that is drawn anew, is tried again.

    Patience is counted in turns that the machine gave us, not by the clock: where others are at work a turn takes longer.
    """
    last = None
    for _ in range(int(patience / TURN)):
        try:
            found = what()
        except Exception as error:
            found, last = None, error
        if found:
            return found
        time.sleep(TURN * max(1.0, busy()))
    raise AssertionError(f"it was never so; last: {last!r}")


def busy() -> float:
    """Return how many want to work for each processor; 1 where nobody can tell."""
    return os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0


class Page:
    """What a test does with a page: find by mark, press, type, and read."""

    def __init__(self, driver: Any, studio: Studio) -> None:
        self.driver, self.studio = driver, studio

    def open(self, path: str = "/") -> Page:
        """Open a page anew."""
        name, _, value = self.studio.cookie().partition("=")
        self.driver.execute_cdp_cmd("Network.setCookie", {"name": name, "value": value, "url": self.studio.at()})
        self.driver.get(self.studio.at(path))
        return self

    def find(self, mark: str) -> Any:
        """Return the element with a mark as soon as it is there."""
        return wait(lambda: self._marked(mark))

    def _marked(self, mark: str) -> Any:
        return self.driver.find_element("css selector", f'[data-mark="{mark}"]')

    def text(self, mark: str, holds: str = "") -> str:
        """Return the text of an element as soon as there is one that holds some words."""
        return str(wait(lambda: (text := self._marked(mark).text) and holds in text and text))

    def press(self, mark: str) -> None:
        """Press what has a mark, as soon as it can be pressed."""

        def pressed() -> bool:
            found = self._marked(mark)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
            found.click()
            return True

        wait(pressed)

    def keys(self, mark: str, *keys: str) -> None:
        """Go to what has a mark, and press keys there."""
        from selenium.webdriver import ActionChains

        found = self.find(mark)
        inner = "arguments[0].matches('input,[tabindex]') ? arguments[0] : arguments[0].querySelector('input,[tabindex]')"
        self.driver.execute_script(f"({inner}).focus()", found)
        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, mark: str, words: str) -> None:
        """Choose in a list with the keyboard: open it, go down until the words are reached, and take them."""
        from selenium.webdriver import Keys

        options = ".q-menu [role=option]"

        def reached() -> bool:
            if not self.driver.find_elements("css selector", options):
                self.keys(mark, Keys.ENTER)
                wait(lambda: self.driver.find_elements("css selector", options), 5)
            at = self.driver.find_elements("css selector", f"{options}.q-manual-focusable--focused")
            if at and at[0].text.strip() == words:
                return True
            self.keys(mark, Keys.ARROW_DOWN)
            return False

        wait(reached)
        self.keys(mark, Keys.ENTER)

    def type(self, mark: str, text: str) -> None:
        """Put a text in place of what a field has."""
        from selenium.webdriver import Keys

        def typed() -> bool:
            field = self._marked(mark)
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", field)
            field.send_keys(Keys.CONTROL, "a")
            field.send_keys(text or Keys.DELETE)
            if field.get_attribute("value") != text:
                return False
            field.send_keys(Keys.TAB)  # the same field: one that was drawn anew meanwhile is typed in again
            return True

        wait(typed)

    def says(self, words: str) -> bool:
        """Wait until the page shows some words."""
        return bool(wait(lambda: words in self.driver.find_element("tag name", "body").text))

    def open_policy(self) -> str:
        """Return the policy file as the page shows it, folded in or not."""
        return str(self.find("policy").get_attribute("textContent"))

    def nameless(self) -> list[str]:
        """Return what a screen reader finds on the page and cannot name, as roles; hidden things are not found."""
        tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        shown = [one for one in tree if not one.get("ignored") and one.get("role", {}).get("value") in WITH_NAMES]
        return [one["role"]["value"] for one in shown if not str(one.get("name", {}).get("value", "")).strip()]

    def complaints(self) -> list[str]:
        """Return what the browser itself complained of: blocked by the content policy, not found, a mistake in a script."""
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]
