"""Who can reach a running studio, and what it leaves behind: a real server, attacked without a browser."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.table.generators import hospital
from sfumato.table.write import write_table
from tests.browser import browser
from tests.studio.driving import Page, Studio, wait

pytest.importorskip("nicegui")
pytest.importorskip("tomlkit")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("safety")
    (place / "work").mkdir()
    write_table(hospital(300, seed=5), place / "work" / "patients.csv")
    (place / "secret.txt").write_text("nobody may read this")
    return place / "work"


@pytest.fixture(scope="module")
def studio(place: Path) -> Iterator[Studio]:
    with Studio(place, "patients.csv") as opened:
        yield opened


def test_it_listens_on_this_machine_only(studio: Studio) -> None:
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    if not tables[0].is_file():
        pytest.skip("the system does not tell who listens")
    lines = [line.split() for table in tables if table.is_file() for line in table.read_text().splitlines()[1:]]
    listening = [line[1].split(":")[0] for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == studio.port]
    assert listening == ["0100007F"]


def test_without_the_token_neither_pages_nor_scripts_nor_sockets_are_given(studio: Studio) -> None:
    for path in ("/", "/rule", "/publish", "/ask", "/_nicegui/client/x", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        assert studio.ask(path)[0] == 403, path
        assert studio.ask(path, cookie=f"sfumato_studio_{studio.port}=guess")[0] == 403, path
    assert studio.ask(f"/?token={studio.token[:-1]}")[0] == 403
    assert len(base64.urlsafe_b64decode(studio.token + "=" * (-len(studio.token) % 4))) == 24
    assert studio.ask("/rule", cookie=studio.cookie())[0] == 200


def test_a_name_that_was_pointed_at_this_machine_is_refused(studio: Studio) -> None:
    for host in (f"evil.example:{studio.port}", "127.0.0.1", f"127.0.0.1:{studio.port}.evil.example", f"[::1]:{studio.port}"):
        assert studio.ask("/", cookie=studio.cookie(), host=host)[0] == 403, host
    assert studio.ask("/", cookie=studio.cookie(), host=f"localhost:{studio.port}")[0] == 200


def test_a_foreign_origin_gets_no_answer_and_no_socket_even_with_the_cookie(studio: Studio) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"https://127.0.0.1:{studio.port}"):
        assert studio.ask("/", cookie=studio.cookie(), origin=origin)[0] == 403, origin
        assert b" 403 " in _socket(studio, origin, studio.cookie()), origin
    own = f"http://127.0.0.1:{studio.port}"
    assert b" 403 " in _socket(studio, own, f"sfumato_studio_{studio.port}=guess")
    assert b" 101 " in _socket(studio, own, studio.cookie())


def _socket(studio: Studio, origin: str, cookie: str) -> bytes:
    """Return the first line of the answer to somebody who opens the web socket of the pages."""
    lines = (
        "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1",
        f"Host: 127.0.0.1:{studio.port}",
        f"Origin: {origin}",
        f"Cookie: {cookie}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: " + base64.b64encode(b"0123456789abcdef").decode(),
    )
    with socket.create_connection(("127.0.0.1", studio.port)) as opened:
        opened.sendall("\r\n".join((*lines, "", "")).encode())
        return opened.recv(200).split(b"\r\n")[0] + b" "


def test_every_answer_says_that_nothing_comes_from_or_goes_to_anybody_else(studio: Studio) -> None:
    status, headers, body = studio.ask("/", cookie=studio.cookie())
    assert status == 200
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert (headers["x-frame-options"], headers["referrer-policy"]) == ("DENY", "no-referrer")
    # No address of anybody else is loaded: what names one is the name space of pictures and nothing that is fetched.
    text = body.decode()
    fetched = [part.split('"')[0] for mark in ('src="', 'href="', "import(") for part in text.split(mark)[1:]]
    assert fetched
    assert not [address for address in fetched if address.startswith(("http:", "https:", "//"))]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/_nicegui/3.0/../../../../../../../etc/passwd",
        "/_nicegui/3.0/static/..%2f..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/patients.csv",
        "/srv/patients.csv",
        "//etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(studio: Studio, path: str) -> None:
    status, _, body = studio.ask(path, cookie=studio.cookie())
    assert status in (404, 400)
    assert b"root:" not in body
    assert b"nobody may read" not in body
    assert b"diagnosis" not in body


def test_nothing_can_be_sent_up(studio: Studio, place: Path) -> None:
    before = sorted(place.rglob("*"))
    for path in ("/", "/publish", "/_nicegui/client/x/upload/1"):
        with_cookie = studio.ask(path, "POST", b"x" * 2_000_000, cookie=studio.cookie(), content_type="text/csv")
        assert with_cookie[0] in (404, 405)
        assert studio.ask(path, "POST", b"x" * 1000)[0] == 403
    assert sorted(place.rglob("*")) == before


def test_a_token_read_after_it_was_used_is_worth_nothing(studio: Studio) -> None:
    cookie = studio.cookie()
    status, headers, body = studio.ask(f"/?token={studio.token}")
    assert (status, "set-cookie" in headers) == (403, False)
    assert b"used already" in body
    assert studio.token not in cookie


STAND_IN = """import json, os, sys
place = os.environ["STAND_IN"]
with open(place + ".part", "w") as told:
    json.dump(sys.argv[1:], told)
os.rename(place + ".part", place)
"""


def opened_by(place: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """Return a command that stands in for a browser, and the file in which it tells what it was given."""
    (place / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("STAND_IN", str(place / "told"))
    return f"{sys.executable} {place / 'stand_in.py'} %s", place / "told"


def test_the_browser_is_given_a_private_file_that_leads_to_the_page_once(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    browser, told = opened_by(tmp_path, monkeypatch)
    with Studio(tmp_path, "patients.csv", browser=browser) as studio:
        wait(told.is_file)
        (given,) = json.loads(told.read_text())
        page = Path(urllib.parse.urlsplit(given).path)
        assert given == page.as_uri()
        assert [one.stat().st_mode & 0o077 for one in (page, page.parent)] == [0, 0]
        found = re.search(r"url=http://127\.0\.0\.1:(\d+)(/\?token=(\S+))\"", page.read_text())
        assert found
        assert int(found[1]) == studio.port
        assert found[3] not in given
        assert found[3] != studio.token
        # A browser says that a file is another site.
        status, headers, body = studio.ask(found[2], sec_fetch_site="cross-site")
        assert status == 200
        assert b'content="0; url=/"' in body
        cookie = headers["set-cookie"].split(";")[0]
        assert studio.ask("/", cookie=cookie, sec_fetch_site="same-origin")[0] == 200
        assert studio.ask(found[2])[0] == 403
        assert studio.cookie() == cookie  # the printed address is good for another browser
    assert not page.exists()


def test_a_real_browser_gets_from_the_file_to_the_first_page(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    command, told = opened_by(tmp_path, monkeypatch)
    with browser(tmp_path / "profile") as driver, Studio(tmp_path, "patients.csv", browser=command) as studio:
        wait(told.is_file)
        driver.get(json.loads(told.read_text())[0])
        wait(lambda: driver.current_url == studio.at("/"))
        assert Page(driver, studio).text("unique", "only one")
        driver.back()  # the token is in no history of the tab
        assert "token" not in driver.current_url


def test_what_a_killed_studio_left_is_wiped_by_the_next_one(place: Path, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    temporary = tmp_path / "tmp"
    with Studio(tmp_path, "patients.csv") as killed:
        (left,) = temporary.glob("sfumato-studio-*")
        (left / "study").mkdir()
        (left / "study" / "people.csv").write_text("somebody")
        with Studio(tmp_path, "patients.csv"):
            assert (left / "study" / "people.csv").is_file()  # of one that runs
        killed.process.kill()
        killed.ended()
    assert list(temporary.glob("sfumato-studio-*")) == [left]
    foreign = temporary / "sfumato-studio-00112233aabb"
    foreign.mkdir(mode=0o700)
    (foreign / "sfumato.lock").write_text("")
    foreign.chmod(0o777)  # might be somebody else's
    with Studio(tmp_path, "patients.csv"):
        assert not left.exists()
    assert list(temporary.glob("sfumato-studio-*")) == [foreign]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGHUP])
def test_what_it_kept_is_wiped_at_the_end(place: Path, tmp_path: Path, end: signal.Signals) -> None:
    (tmp_path / "patients.csv").write_bytes((place / "patients.csv").read_bytes())
    with Studio(tmp_path, "patients.csv") as opened:
        (kept,) = (tmp_path / "tmp").glob("sfumato-studio-*")
        assert kept.stat().st_mode & 0o077 == 0
        opened.process.send_signal(end)
        opened.ended()
        assert opened.process.stdout is not None
        assert "wiped" in opened.process.stdout.read()
    assert not kept.exists()


def test_the_studio_works_where_a_table_or_release_lies_whatever_path_leads_there(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.studio.server import session_of

    monkeypatch.chdir(tmp_path)
    (tmp_path / "linked.csv").symlink_to(place / "patients.csv")
    release = place.parent / "elsewhere"
    release.mkdir(exist_ok=True)
    (release / "manifest.json").write_text("{}")
    table = place / "patients.csv"
    for given in (table, Path("linked.csv"), Path(os.path.relpath(table)), release, Path(os.path.relpath(release))):
        session = session_of(given)
        assert session.root == given.resolve().parent
        session.close()
    monkeypatch.chdir(place.parent)
    session = session_of(Path(place.name) / "patients.csv")
    assert session.root == place.parent.resolve()
    session.close()
    with pytest.raises(InputError, match="nor a release"):
        session_of(Path("nothing.csv"))
