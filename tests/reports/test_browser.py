"""The report as a browser shows it: three widths, light and dark, and paper."""

import base64
import re
import shutil
import tempfile
import zlib
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="no chromium with its driver: apt-get install chromium chromium-driver"
)
if BROWSER is not None:
    pytest.importorskip("selenium", reason="the browser is driven by selenium: pip install selenium")


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory() as home:
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for flag in (*FLAGS, f"--user-data-dir={home}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        yield driver
        driver.quit()


def opened(browser, path, width=1000, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(Path(path).as_uri())
    return browser


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_window(browser, private, width):
    opened(browser, private, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = browser.execute_script(
        "return [...document.querySelectorAll('svg,p,h1,h2,li,figure,pre,.wide')].filter("  # pictures scroll inside .wide
        "e => !e.parentElement.closest('.wide') && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName)"
    )
    assert wide == []


def test_nothing_is_fetched_and_the_console_stays_silent(browser, private):
    browser.get_log("performance")
    browser.get_log("browser")
    opened(browser, private)
    asked = re.findall(
        r'"requestWillBeSent".*?"url":"([^"]+)"', "\n".join(one["message"] for one in browser.get_log("performance"))
    )
    assert {url for url in asked if not url.startswith(("file:", "data:"))} == set()
    assert [one["message"] for one in browser.get_log("browser")] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def luminance(colour):
    parts = [int(one) / 255 for one in re.findall(r"\d+", colour)[:3]]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_in_dark(browser, private, scheme):
    opened(browser, private, scheme=scheme)
    found = browser.execute_script(
        "const paper = getComputedStyle(document.documentElement).backgroundColor;"
        "const ink = s => [...document.querySelectorAll(s)].map(e => getComputedStyle(e));"
        "return [paper, ink('p.about,figcaption,h2,td').map(s => s.color), ink('svg text').map(s => s.fill)]"
    )
    paper, words, charts = found
    assert (luminance(paper) < 0.1) == (scheme == "dark")
    assert min(contrast(paper, one) for one in words) >= 4.5
    assert min(contrast(paper, one) for one in charts) >= 4.5


def test_headings_are_one_level_apart_and_tables_have_headings(browser, private):
    opened(browser, private)
    assert browser.execute_script("return document.querySelectorAll('h1').length") == 1
    assert browser.execute_script("return document.documentElement.lang") == "en"
    assert browser.execute_script("return [...document.querySelectorAll('table')].every(t => t.caption && t.tHead)")


def pages(pdf):
    """Return the text operators of each page's content, unpacked; enough to see what is on paper."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_it_prints_to_a4_with_a_mark_on_every_page(browser, private):
    opened(browser, private)
    made = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    pdf = base64.b64decode(made["data"])
    assert pages(pdf) >= 2
    sizes = {tuple(round(float(n)) for n in found.split()) for found in re.findall(rb"/MediaBox\s*\[([^\]]+)\]", pdf)}
    assert sizes == {(0, 0, 595, 842)}
    packed = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.S)
    streams = [zlib.decompressobj().decompress(one) for one in packed if one[:1] == b"\x78"]
    # The mark's colour, #a40e26, is that of nothing else on most pages, and is used on every one.
    assert sum(re.search(rb"\.643\d* \.054\d* \.149\d* rg", one) is not None for one in streams) == pages(pdf)
