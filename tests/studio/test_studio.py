"""The studio in a real browser: a publisher's whole way with a mistake on each page, and a recipient's questions."""

from __future__ import annotations

import http.server
import json
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.table.generators import hospital
from sfumato.table.write import write_table
from tests.browser import browser
from tests.studio.driving import Page, Studio, command, wait

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")
Keys = pytest.importorskip("selenium.webdriver").Keys

ARROWS = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studio")
    write_table(hospital(2_000, seed=5), place / "patients.csv")
    (place / "wards.csv").write_text(
        "\n".join(f"{ward};{'inside' if 'medicine' in ward else 'other'}" for ward in _wards(place)), encoding="utf-8"
    )
    return place


def _wards(place: Path) -> list[str]:
    import pyarrow.csv

    return sorted(set(pyarrow.csv.read_csv(place / "patients.csv")["ward"].to_pylist()))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def studio(place: Path, driver: Any) -> Iterator[Studio]:
    with Studio(place, "patients.csv") as opened:
        yield opened


@pytest.fixture(scope="module")
def page(driver: Any, studio: Studio) -> Page:
    return Page(driver, studio)


@pytest.fixture(scope="module")
def published(page: Page, place: Path) -> Path:
    """A release that was published in the browser."""
    page.open("/")
    page.press("reviewed")
    page.says("You have said that every role is right.")
    page.open("/publish")
    page.press("publish")
    assert "Published 2,000 people" in page.text("outcome", "Published")
    return place / "release"


# Tests run in the order of a publisher's way: each page is left as the next one needs it.


def test_a_draft_is_not_published(page: Page, place: Path) -> None:
    page.open("/publish").press("publish")
    assert "unreviewed draft" in page.text("outcome", "reviewed")
    assert not (place / "release").exists()


def test_a_column_gets_another_role_by_the_keyboard_and_by_dragging(page: Page) -> None:
    page.open("/")
    assert "their quasi values" in page.text("unique", "only one")
    assert "token" not in page.driver.current_url
    page.text("step-age")  # everything is drawn
    page.choose("role-insurance", "other")
    wait(lambda: page.find("lane-other").find_element("css selector", '[data-mark="card-insurance"]'))
    assert "Before this change" in page.text("unique", "Before")
    page.driver.execute_script(
        """const data = new DataTransfer();
        const send = (kind, to) => to.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}));
        send('dragstart', arguments[0]); send('dragover', arguments[1]); send('drop', arguments[1]);""",
        page.find("card-insurance"),
        page.find("lane-quasi"),
    )
    wait(lambda: page.find("lane-quasi").find_element("css selector", '[data-mark="card-insurance"]'))


def test_coarser_values_tell_who_stays_unique(page: Page) -> None:
    page.open("/")
    promised = page.text("step-age").split(": ")[1].split(" unique")[0]
    page.press("step-age")
    assert page.text("unique", "Before").startswith(promised)
    page.text("step-age")
    page.choose("hierarchy-ward", "wards.csv")
    wait(lambda: 'hierarchy = "wards.csv"' in page.open_policy())


def test_a_wrong_band_is_told_in_its_card_and_not_taken(page: Page) -> None:
    page.open("/").text("step-age")
    before = page.open_policy()
    page.type("band-age", "-3")
    assert "wider than 0" in page.text("wrong-age", "wider")
    assert page.open_policy() == before
    page.type("top-age", "90")
    wait(lambda: "top = 90}" in page.open_policy())
    page.type("band-age", "20")
    wait(lambda: '"age" = {width = 20, top = 80}' in page.open_policy())
    wait(lambda: page.find("top-age").get_attribute("value") == "80")
    assert "Before this change" in page.text("unique", "Before")
    page.type("band-age", "5")
    wait(lambda: '"age" = {width = 5, top = 80}' in page.open_policy())  # and the card is drawn anew
    page.type("bottom-age", "15")
    wait(lambda: '"age" = {width = 5, top = 80, bottom = 15}' in page.open_policy())
    assert page.text("step-age").startswith("width = 10, top = 80, bottom = 10: ")
    page.press("step-age")
    wait(lambda: '"age" = {width = 10, top = 80, bottom = 10}' in page.open_policy())
    page.type("bottom-age", "80")
    assert "must be below top = 80" in page.text("wrong-age", "below")
    assert '"age" = {width = 10, top = 80, bottom = 10}' in page.open_policy()


def test_another_tab_shows_what_was_changed_on_this_one(page: Page) -> None:
    page.open("/").text("step-age")
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.open("/").text("step-age")
    page.choose("role-insurance", "other")
    wait(lambda: page.find("lane-other").find_element("css selector", '[data-mark="card-insurance"]'))
    page.driver.switch_to.window(first)
    wait(lambda: page.find("lane-other").find_element("css selector", '[data-mark="card-insurance"]'))
    page.choose("role-insurance", "quasi")
    wait(lambda: page.find("lane-quasi").find_element("css selector", '[data-mark="card-insurance"]'))
    page.driver.switch_to.window(page.driver.window_handles[1])
    wait(lambda: page.find("lane-quasi").find_element("css selector", '[data-mark="card-insurance"]'))
    page.driver.close()
    page.driver.switch_to.window(first)


def test_a_column_that_names_people_is_warned_of_and_the_keyboard_stays_where_it_was(page: Page) -> None:
    page.open("/").text("step-age")
    page.choose("role-patient", "quasi")
    assert "not published" in page.text("warning-patient")
    wait(lambda: page.driver.switch_to.active_element.get_attribute("aria-label") == "role of patient")
    page.choose("role-patient", "identifier")
    wait(lambda: page.find("lane-identifier").find_element("css selector", '[data-mark="card-patient"]'))


def test_a_table_without_a_secret_is_told_and_can_be_mended(page: Page) -> None:
    page.open("/").text("step-age")
    page.choose("role-diagnosis", "other")
    page.text("unique", "cannot be read")
    page.says("sensitive")
    page.choose("role-diagnosis", "sensitive")
    page.text("unique", "only one with their quasi values")


def test_rows_of_people_are_shown_only_when_asked_for_and_then_marked(page: Page) -> None:
    page.open("/")
    page.text("unique")
    assert not page.driver.find_elements("css selector", '[data-mark="people"]')
    page.press("rows")
    assert "Real people, without identifiers" in page.text("people")


def _about_the_rule(text: str) -> list[str]:
    """Return the sentences of a page about how sure somebody becomes; a small letter may begin them elsewhere."""
    found = [line[1:] for line in text.splitlines() if "becomes at most" in line or "-fold" in line]
    assert found
    return found


def test_the_verdict_follows_the_slider_and_says_what_would_be_feasible(page: Page, place: Path) -> None:
    page.open("/rule")
    assert page.text("verdict").startswith("It can be kept")
    for _ in range(ARROWS):
        before = float(page.find("number of theta").get_attribute("value"))
        page.keys("theta", Keys.ARROW_LEFT)
        wait(lambda before=before: float(page.find("number of theta").get_attribute("value")) < before)
    for odds, said in (("3", "odds grow at most 3-fold (50 % → at most 75 %)"), ("", "becomes at most 66.")):
        page.type("odds", odds)
        page.says(said)
        page.text("saved", "save it first")
        page.press("save")
        page.text("saved", "is the policy of this page")
        told = " ".join(command(place, *shlex.split(page.text("command"))[1:]).split())
        shown = page.driver.find_element("tag name", "main").text
        for sentence in _about_the_rule(shown):
            assert sentence in told
        assert ("-fold" in shown) == ("-fold" in told) == bool(odds)
    page.type("odds", "8")
    page.type("find", "Flu")
    page.type("own-Flu", "nonsense")
    page.says("nonsense")
    page.type("own-Flu", "0.0001")
    page.text("verdict", "It cannot be kept")
    page.says("feasible would be")
    page.type("own-Flu", " ")
    page.text("verdict", "It can be kept")


def test_work_is_found_again_after_a_reload_and_in_another_tab_and_can_be_stopped(page: Page) -> None:
    page.open("/trade").press("compare")
    wait(lambda: page.find("stop").is_displayed())
    page.open("/trade")
    wait(lambda: page.find("stop").is_displayed())
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.open("/trade")
    wait(lambda: page.find("stop").is_displayed())
    page.press("stop")
    assert page.text("outcome") == "Stopped. Nothing was written."
    page.driver.close()
    page.driver.switch_to.window(first)
    assert page.text("outcome") == "Stopped. Nothing was written."


def test_a_study_that_cannot_be_made_says_why(page: Page) -> None:
    page.open("/rule").text("verdict", "It can be kept")
    choices = page.find("against").find_elements("css selector", "[role=radio]")
    choices[2].click()
    page.text("verdict", "cannot be promised")
    page.open("/trade").press("compare")
    assert "insider" in page.text("outcome", "insider")
    page.open("/rule").text("verdict", "cannot be promised")
    page.find("against").find_elements("css selector", "[role=radio]")[1].click()
    page.text("verdict", "It can be kept")


def test_a_release_goes_nowhere_else_is_published_once_and_audits_clean(page: Page, place: Path, published: Path) -> None:
    page.open("/publish")
    assert "holds" in page.text("claim")
    assert page.text("command") == "sfumato publish patients.csv --policy policy.toml --out release"
    page.press("audit")
    assert "every claim holds" in page.text("audit-said", "holds")
    assert "every claim holds" in command(place, "audit", "release", "--table", "patients.csv", "--policy", "policy.toml")
    page.press("attack")
    assert "Attacks on release" in page.text("attack-said", "Attacks")
    page.press("report")
    page.text("report-said", "Wrote release-report.html")
    page.find("download")
    assert (place / "release-report.html").is_file()
    wait(lambda: page.find("boxes").find_element("tag name", "canvas"))
    assert (published / "manifest.json").is_file()
    assert not list(published.glob("*receipt*"))
    assert list((place / "receipts").glob("*.receipt.json"))
    page.type("out", "../elsewhere")
    page.press("publish")
    page.says("only below the directory")
    assert not (place.parent / "elsewhere").exists()
    page.open("/publish").press("publish")
    assert "exists already" in page.text("outcome", "exists")
    assert not page.complaints()


def test_a_recipients_answer_is_that_of_the_command_that_is_shown(page: Page, place: Path, published: Path) -> None:
    page.open("/ask").type("sql", "age >= 60 AND diagnosis = 'Flu'")
    page.press("ask")
    shown = page.text("answer")
    wait(lambda: page.find("points").find_element("tag name", "canvas"))
    words = shlex.split(page.text("command", "Flu"))
    assert words[:3] == ["sfumato", "query", "release"]
    told = json.loads(command(place, *words[1:], "--json"))
    assert float(shown.replace(",", "")) == pytest.approx(round(told["value"], 1), abs=1e-9)


def test_a_question_is_put_together_by_choosing_and_completed_while_it_is_typed(page: Page, published: Path) -> None:
    page.open("/ask").find("sql").send_keys("SELECT COUNT(*) WHERE diag")
    wait(lambda: page.driver.find_element("css selector", "[aria-label='complete with diagnosis']")).click()
    wait(lambda: page.find("sql").get_attribute("value") == "SELECT COUNT(*) WHERE diagnosis")
    page.open("/ask").keys("value", "Asth")
    wait(lambda: page.driver.find_element("css selector", ".q-menu [role=option]").click() or True)
    page.keys("value", Keys.ESCAPE)
    page.press("compose")
    wait(lambda: page.find("sql").get_attribute("value") == "SELECT COUNT(*) WHERE diagnosis = 'Asthma'")


def test_a_typo_in_a_question_is_told_and_the_page_goes_on(page: Page, published: Path) -> None:
    page.open("/ask").type("sql", "aeg >= 60")
    page.press("ask")
    page.says("did you mean")
    page.type("sql", "age >= 60")
    page.press("ask")
    assert page.text("answer")


def test_a_cross_table_is_a_heat_map_and_quality_is_told_of_each_column(page: Page, published: Path) -> None:
    page.open("/ask").press("tab-Cross table")
    page.press("crosstab")
    assert page.text("association").startswith("associated: X²")
    wait(lambda: page.find("heat").find_element("tag name", "canvas"))
    assert page.text("command", "--crosstab") == "sfumato query release --crosstab diagnosis,sex"
    page.press("tab-Quality")
    page.press("quality")
    assert "postcode" in page.text("quality-shown", "postcode")
    page.press("tab-Manifest")
    assert "engineer" in page.text("claim")
    assert page.text("columns", "width")


def test_completed_tables_are_made_and_can_be_taken(page: Page, studio: Studio, published: Path) -> None:
    page.open("/ask").press("tab-Completed tables")
    page.type("tables", "1")
    page.press("complete")
    assert page.text("download").endswith(".parquet")


@pytest.mark.parametrize(
    ("path", "mark"), [("/", "step-age"), ("/rule", "own-HIV"), ("/trade", "compare"), ("/publish", "publish"), ("/ask", "ask")]
)
def test_a_screen_reader_can_name_everything_and_800_pixels_are_enough_in_the_dark(
    page: Page, published: Path, path: str, mark: str
) -> None:
    size = {"width": 800, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        page.open(path).find(mark)
        wait(lambda: "body--dark" in page.driver.find_element("tag name", "body").get_attribute("class"))
        assert page.nameless() == []
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 800
        assert len(page.driver.find_elements("css selector", "main h1")) == 1
        assert page.driver.find_elements("css selector", "nav [aria-current=page]")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_another_page_of_this_machine_gets_neither_answers_nor_sockets(page: Page, studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        f"""<body><script>
        const told = {{}};
        fetch('http://127.0.0.1:{studio.port}/', {{credentials: 'include'}})
          .then(() => told.page = 'read', () => told.page = 'refused');
        const line = new WebSocket('ws://127.0.0.1:{studio.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket');
        line.onopen = () => told.line = 'open';
        line.onerror = () => told.line = 'refused';
        </script></body>""",
        encoding="utf-8",
    )

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(tmp_path))

        def log_message(self, *_: object) -> None:
            pass

    page.open("/").text("unique")  # the browser has the cookie, which it would send from another port too
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as foreign:
        threading.Thread(target=foreign.serve_forever, daemon=True).start()
        page.driver.get(f"http://127.0.0.1:{foreign.server_port}/")
        told = wait(lambda: page.driver.execute_script("return told.page && told.line ? told : null"))
        foreign.shutdown()
    assert told == {"page": "refused", "line": "refused"}
    page.driver.get_log("browser")


def test_a_release_of_two_secrets_alone_is_opened_for_asking(driver: Any, place: Path, published: Path) -> None:
    (place / "two.toml").write_text(
        """[columns]
identifier = ["patient"]
quasi = ["age", "sex"]
sensitive = ["diagnosis", "insurance"]
other = ["postcode", "admitted", "ward"]
[recode]
age = { width = 10 }
[requirement]
model = "f-privacy"
theta = 4
offset = "0.3"
protect = "each"
""",
        encoding="utf-8",
    )
    command(place, "publish", "patients.csv", "--policy", "two.toml", "--out", "two")
    with Studio(place, "two") as alone:
        page = Page(driver, alone).open("/")
        page.type("sql", "insurance = 'public'")
        page.press("ask")
        told = json.loads(command(place, "query", "two", "insurance = 'public'", "--json"))
        assert float(page.text("answer").replace(",", "")) == pytest.approx(round(told["value"], 1), abs=1e-9)
        assert "1 Table" not in driver.page_source
        page.press("tab-Quality")
        page.press("quality")
        assert "age" in page.text("quality-shown", "age")


def test_a_policy_that_cannot_be_read_is_told_on_every_page_until_it_is_mended(driver: Any, place: Path, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    (tmp_path / "policy.toml").write_text("reviewed = tru", encoding="utf-8")
    with Studio(tmp_path, "patients.csv") as broken:
        page = Page(driver, broken)
        for path in ("/", "/rule", "/trade", "/publish"):
            assert "not valid TOML" in page.open(path).text("unreadable")
        assert page.nameless() == []
        (tmp_path / "policy.toml").unlink()
        page.press("again")
        page.find("publish")
        assert "their quasi values" in page.open("/").text("unique", "only one")


def test_the_settings_of_a_point_are_taken_with_the_warning(page: Page) -> None:
    page.open("/trade").press("compare")

    def taken() -> str:
        button = page.driver.find_elements("css selector", '[data-mark^="take "]')[0]
        page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        name = str(button.get_attribute("data-mark")).removeprefix("take ")
        button.click()
        return name

    name = wait(taken)
    assert page.text("taken", name) == (
        f"Your policy is now {name}. That is a choice made on the data: a claim does not cover what it tells."
    )
    wait(lambda: f"theta   = {name.split('theta = ')[1]}\n" in page.open_policy())
    page.press("stop")
    assert page.text("outcome") == "Stopped. Nothing was written."
