"""Who may talk to the studio."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sfumato.errors import InputError
from sfumato.studio.guard import USED, Guard, Tokens
from sfumato.studio.session import below

PORT = 8123


async def _page(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"page"})


def ask(
    kind: str = "http", query: str = "", method: str = "GET", tokens: Tokens | None = None, **headers: str
) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        told.append(dict(message))

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    given = {"host": f"127.0.0.1:{PORT}", **headers}
    scope = {
        "type": kind,
        "method": method,
        "path": "/rule",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    asyncio.run(Guard(_page, tokens or TOKENS, PORT)(scope, receive, send))
    return told


TOKENS = Tokens()
COOKIE = f"sfumato_studio_{PORT}={TOKENS.cookie}"


def test_without_the_token_nothing_is_shown() -> None:
    assert ask()[0]["status"] == 403
    assert ask(cookie=f"sfumato_studio_{PORT}=wrong")[0]["status"] == 403
    assert ask(query="token=wrong")[0]["status"] == 403
    assert ask(query="token=")[0]["status"] == 403
    assert ask(query=f"token={TOKENS.cookie}")[0]["status"] == 403
    assert ask(kind="websocket")[0] == {"type": "websocket.close", "code": 1008}
    assert ask(cookie=COOKIE)[1]["body"] == b"page"


def test_a_token_gives_a_cookie_and_leaves_the_address() -> None:
    tokens = Tokens()
    token = tokens.new()
    start, page = ask(query=f"token={token}&a=1", tokens=tokens)
    headers = dict(start["headers"])
    assert start["status"] == 200
    assert b'0; url=/"' in page["body"]
    assert token.encode() not in page["body"]
    assert headers[b"set-cookie"].startswith(f"sfumato_studio_{PORT}={tokens.cookie}; ".encode())
    assert token.encode() not in headers[b"set-cookie"]
    assert b"HttpOnly" in headers[b"set-cookie"]
    assert b"SameSite=Strict" in headers[b"set-cookie"]
    assert headers[b"cache-control"] == b"no-store"


def test_a_token_is_good_once_and_no_other_token_suffers() -> None:
    tokens = Tokens()
    one, other = tokens.new(), tokens.new()
    assert ask(query=f"token={one}", method="HEAD", tokens=tokens)[0]["status"] == 403  # who looks at a link, without opening it
    assert ask(query=f"token={one}", tokens=tokens)[0]["status"] == 200
    start, page = ask(query=f"token={one}", tokens=tokens)
    assert (start["status"], page["body"]) == (403, USED)
    assert "set-cookie" not in str(start)
    assert ask(query=f"token={other}", tokens=tokens)[0]["status"] == 200


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1:9999"},
        {"host": f"127.0.0.1.evil.example:{PORT}"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_another_host_or_origin_is_refused_even_with_the_cookie(kind: str, headers: dict[str, str]) -> None:
    answer = ask(kind=kind, **{"cookie": COOKIE, **headers})[0]
    assert answer.get("status", 403) == 403
    assert answer["type"] in ("http.response.start", "websocket.close")


def test_a_page_may_load_nothing_from_elsewhere() -> None:
    headers = dict(ask(cookie=COOKIE)[0]["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert policy.startswith("default-src 'none'")
    assert "http://" not in policy.replace(f"ws://127.0.0.1:{PORT}", "")
    assert "https:" not in policy
    assert "*" not in policy
    assert headers[b"x-frame-options"] == b"DENY"


@pytest.mark.parametrize("name", ["../elsewhere", "/etc/passwd", "", ".", "a/../../b"])
def test_files_elsewhere_are_out_of_reach(name: str, tmp_path: Any) -> None:
    with pytest.raises(InputError, match="only below"):
        below(tmp_path, name)


def test_a_link_out_of_the_directory_is_out_of_reach(tmp_path: Any) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "out").symlink_to(tmp_path)
    with pytest.raises(InputError, match="only below"):
        below(tmp_path / "inside", "out/other")
    assert below(tmp_path / "inside", "release") == (tmp_path / "inside" / "release").resolve()
