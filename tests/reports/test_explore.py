"""The page that answers: what it says is what the release answers, and it shows names and values as text, in a real browser."""

import csv
import io
import json
import re
import time

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import OutputError
from sfumato.query.tables import cross_tables, margins, pairs
from sfumato.reports import explore
from sfumato.reports.explore import explore_page, script_safe, write_page
from tests.browser import browser

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\"quoted\" & 'quoted'",
    "line\u2028and\u2029paragraph",
    "{{DATA}}",
    "=cmd()",
    "<!--<script>",
]
NAMED = "</title></style><script>window.hacked=1</script>"


def made(rows=420):
    """Return a release whose names and values would do harm if they were read as anything but text."""
    coins = np.random.default_rng(2)
    sex = np.array(["f", "m"])[coins.integers(0, 2, rows)]
    values = [HOSTILE[(k + (one == "f")) % len(HOSTILE)] for k, one in zip(coins.integers(0, 7, rows), sex, strict=True)]
    frame = pa.table({"age": coins.integers(20, 60, rows), NAMED: sex, "il'lness": values})
    return sf.publish(frame, sf.LDiversity(2), quasi=["age", NAMED], sensitive="il'lness", random=1)


@pytest.fixture(scope="module")
def release():
    return made()


@pytest.fixture(scope="module")
def page(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "explore.html"
    size, left = write_page(release, path)
    assert size == path.stat().st_size < 200_000
    assert left == []
    return path


def data_of(text):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.S).group(1))


def test_the_page_has_the_answers_of_the_release(release, page):
    data = data_of(page.read_text(encoding="utf-8"))
    found = next(one for one in data["tables"] if (one["a"], one["b"]) == (NAMED, "il'lness"))
    table = release.crosstab(NAMED, "il'lness")
    assert found["rows"] == ["f", "m"]
    assert found["cols"] == sorted(HOSTILE)
    assert found["n"] == [round(one.value, 1) for row in table.counts for one in row]
    assert found["low"] == [None if one.low is None else round(one.low, 1) for row in table.counts for one in row]
    assert {(one["a"], one["b"]) for one in data["tables"]} == {("age", "il'lness"), (NAMED, "il'lness"), ("age", NAMED)}
    assert sum(next(one for one in data["columns"] if one["name"] == "il'lness")["n"]) == release.rows


def test_no_name_or_value_leaves_the_data(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "\u2028" not in text
    assert "\u2029" not in text
    assert "<img" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert json.loads(script_safe(HOSTILE)) == HOSTILE


def test_what_does_not_fit_is_said(release, monkeypatch):
    monkeypatch.setattr(explore, "MOST_CELLS", 100)
    content, left = explore_page(release)
    assert [line.partition(":")[0] for line in left] == ["age and il'lness"]
    assert data_of(content.decode())["left"] == left
    monkeypatch.setattr(explore, "MOST_BYTES", 1000)
    with pytest.raises(OutputError, match="5 MB"):
        explore_page(release)


def test_two_secrets_are_in_no_table_together():
    frame = pa.table({"sex": ["f", "m"] * 60, "a": ["x", "y", "z"] * 40, "b": ["u", "v", "w", "w"] * 30})
    both = sf.publish(frame, sf.LDiversity(2), quasi=["sex"], sensitive=["a", "b"], protect="each", random=1)
    listed = pairs(margins(both))
    assert [pair.names for pair in listed] == [("sex", "a"), ("sex", "b")]
    assert all(not isinstance(table, str) for _, table in cross_tables(both, listed, most=1000))


def test_a_page_is_not_put_where_something_is(release, page, tmp_path):
    with pytest.raises(OutputError):
        write_page(release, page)
    release.save(tmp_path / "release")
    with pytest.raises(sf.SfumatoError):
        write_page(release, tmp_path / "release" / "explore.html")


def test_a_browser_filters_downloads_turns_dark_and_is_driven_by_keys(page, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    with browser(tmp_path / "profile", width=1000, height=900) as driver:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        light = {"media": "", "features": [{"name": "prefers-color-scheme", "value": "light"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
        driver.get(page.as_uri())

        def at(name):
            return driver.find_element(By.ID, name)

        assert driver.execute_script("return window.hacked") is None
        Select(at("a")).select_by_value("il'lness")
        Select(at("b")).select_by_value(NAMED)
        heads = [one.text for one in driver.find_elements(By.CSS_SELECTOR, "#region tbody th")]
        assert len(heads) == 7
        assert HOSTILE[0] in heads

        at("find-rows").send_keys("script")
        left = [one.text for one in driver.find_elements(By.CSS_SELECTOR, "#region tbody th")]
        assert left == sorted(one for one in HOSTILE if "script" in one)
        assert "2 of 7 rows" in at("status").text

        cell = driver.find_element(By.CSS_SELECTOR, '#region td[tabindex="0"]')
        cell.send_keys(Keys.ARROW_RIGHT)
        driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
        chosen = driver.switch_to.active_element
        assert chosen.get_attribute("data-cell") == str(2 * sorted(HOSTILE).index(left[1]) + 1)
        assert at("detail").text == chosen.get_attribute("aria-label")
        assert f"{left[1]}, {NAMED} m:" in at("detail").text

        at("save-shown").click()
        until = time.monotonic() + 240  # the machine may be busy
        while not (files := list(tmp_path.glob("*.csv"))) and time.monotonic() < until:
            time.sleep(0.05)
        saved = list(csv.reader(io.StringIO(files[0].read_text(encoding="utf-8-sig"))))
        assert saved[0][:5] == ["il'lness", NAMED, "count", "low", "high"]
        assert {row[0] for row in saved[1:]} == set(left)
        assert len(saved) == 1 + 2 * 2

        dark = "return getComputedStyle(document.documentElement).backgroundColor"
        assert driver.execute_script(dark) == "rgb(255, 255, 255)"
        at("theme").send_keys(Keys.ENTER)
        assert driver.execute_script(dark) == "rgb(13, 17, 23)"

        unnamed = (
            "return [...document.querySelectorAll('input,select,button')].filter(e => !e.textContent && !e.labels?.length).length"
        )
        assert driver.execute_script(unnamed) == 0
        assert driver.execute_script("return window.hacked") is None
        assert [one for one in driver.get_log("browser") if one["level"] == "SEVERE"] == []
