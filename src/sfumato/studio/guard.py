"""Who may talk to the studio: this machine's browser, with the token of the address that was opened, from no other page.

The server listens on 127.0.0.1 only. Another user of the machine, or a page of another site in the same browser, can reach that
address too; so every request needs a cookie that only a token gives, the Host header must be our own (else a foreign name
could be pointed at this machine), and a request that names an Origin must come from our own pages. To a browser another port of
this machine is the same site, so that it sends the cookie from there too: what it says about where a request came from
(Sec-Fetch-Site) must not be another page either.

A token is good for one cookie: whoever reads it afterwards, in a history or a log, has nothing. Other users of the machine can
read the command line of a browser, so the address with a token is never in it: the browser opens a file, which only its owner
can read (`redirect_file`), and that leads to the address.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
TOKEN = "token"

USED = b"This address was used already, and is good for one browser. For another one, start `sfumato studio` again."


@dataclass(eq=False)
class Tokens:
    """Tokens that were given out, each good for one cookie; and the cookie's value, which stands in no address."""

    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _good: set[str] = field(default_factory=set)
    _used: set[str] = field(default_factory=set)

    def new(self) -> str:
        """Return a token that was never given out."""
        token = secrets.token_urlsafe(24)
        self._good.add(token)
        return token

    def use(self, given: str) -> bool:
        """Return whether this is a token that nobody has used; from now on somebody has."""
        found = _among(given, self._good)
        self._good -= {given}
        self._used |= {given} if found else set()
        return found

    def used(self, given: str) -> bool:
        """Return whether this was a token."""
        return _among(given, self._used)

    def is_cookie(self, given: str) -> bool:
        """Return whether this is the cookie's value."""
        return _among(given, {self.cookie})


def _among(given: str, right: set[str]) -> bool:
    return any(hmac.compare_digest(given.encode(), one.encode()) for one in right)


def address(port: int, token: str) -> str:
    """Return the address at which a token is exchanged for the cookie."""
    return f"http://{HOST}:{port}/?{TOKEN}={token}"


def redirect_file(place: Path, port: int, token: str) -> Path:
    """Write a page for its owner alone that leads a browser to the address with a token."""
    path = place / "open.html"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(_leads_to(address(port, token)))
    return path


def _leads_to(place: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>sfumato studio</title>'
        f'<meta http-equiv="refresh" content="0; url={place}"><a href="{place}">sfumato studio</a></html>\n'
    )


@dataclass(frozen=True)
class Guard:
    """An ASGI application that lets only the opened browser through to `app`."""

    app: App
    tokens: Tokens
    port: int

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies are shared by ports, so the port is in it."""
        return f"sfumato_studio_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host header may say."""
        return (f"{HOST}:{self.port}", f"localhost:{self.port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts or origin not in (None, f"http://{host}"):
            await _refuse(scope, send, b"This page belongs to another program on this machine.")
            return
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(TOKEN, [""])[-1]
        if scope["type"] == "http" and scope.get("method") == "GET" and self.tokens.use(token):
            await self._welcome(send)
            return
        if elsewhere or not self.tokens.is_cookie(_cookies(headers.get("cookie", "")).get(self.cookie, "")):
            await _refuse(scope, send, USED if self.tokens.used(token) else b"Open the address that `sfumato studio` printed.")
            return

        async def protected(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers(host)]
            await send(message)

        # What never leaves this machine need not be packed, which would take longer than to send it.
        kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept-encoding"]
        await self.app({**scope, "headers": kept}, receive, protected)

    async def _welcome(self, send: Send) -> None:
        """Give the cookie, and a page that leads to the first one, without the token.

        A redirection would not do: it would count as coming from where the browser was before, the file, and for that the browser
        sends no cookie that is SameSite=Strict. From this page it does.
        """
        cookie = f"{self.cookie}={self.tokens.cookie}; Path=/; HttpOnly; SameSite=Strict"
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
            (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": _leads_to("/").encode()})

    def _headers(self, host: str) -> list[tuple[bytes, bytes]]:
        """Return what every answer says: nothing comes from, goes to or is framed by anybody else.

        The library's page compiles its templates in the browser and carries them inline: hence unsafe-inline and unsafe-eval,
        for our own origin's pages alone.
        """
        policy = (
            "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws://{host}; worker-src 'self' blob:; "
            "form-action 'self'; base-uri 'self'; frame-ancestors 'none'; frame-src 'self'; manifest-src 'self'"
        )
        return [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ]


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}


async def _refuse(scope: Scope, send: Send, why: bytes) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": why})
