"""Who may talk to the studio: this machine's browser, with the token of the address that was opened, from no other page.

The server listens on 127.0.0.1 only. Another user of the machine, or a page of another site in the same browser, can reach that
address too; so every request needs a cookie that only the right token gives, the Host header must be our own (else a foreign name
could be pointed at this machine), and a request that names an Origin must come from our own pages. To a browser another port of
this machine is the same site, so that it sends the cookie from there too: what it says about where a request came from
(Sec-Fetch-Site) must not be another page either.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN = "token"


@dataclass(frozen=True)
class Guard:
    """An ASGI application that lets only the opened browser through to `app`."""

    app: App
    token: str
    port: int

    @property
    def cookie(self) -> str:
        """The name of the cookie; cookies are shared by ports, so the port is in it."""
        return f"sfumato_studio_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host header may say."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

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
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        if scope["type"] == "http" and TOKEN in asked and self._is_token(asked.pop(TOKEN)[-1]):
            await self._welcome(scope, send, asked)
            return
        if elsewhere or not self._is_token(_cookies(headers.get("cookie", "")).get(self.cookie, "")):
            await _refuse(scope, send, b"Open the address that `sfumato studio` printed.")
            return

        async def protected(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers(host)]
            await send(message)

        # What never leaves this machine need not be packed, which would take longer than to send it.
        kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept-encoding"]
        await self.app({**scope, "headers": kept}, receive, protected)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _welcome(self, scope: Scope, send: Send, rest: dict[str, list[str]]) -> None:
        """Give the cookie, and lead to the same address without the token, which then is in no history and no Referer."""
        query = urlencode(rest, doseq=True)
        place = scope["path"] + (f"?{query}" if query else "")
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", place.encode()), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

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
