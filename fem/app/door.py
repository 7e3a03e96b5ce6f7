"""Access to the page: only with the token in its address, later with the cookie; never for pages of other sites.

Other users of this computer can reach its ports, and so can every page in this browser. As in Jupyter the address has a
random token. The first visit exchanges it for a cookie that scripts cannot read and browsers do not send from other
sites; everything else (pages, files, scenes, the socket by either transport) is refused without the cookie. Cookies are
not bound to ports, so requests from a page on another port are recognised by the origin that the browser states.
Sources: RFC 6265bis, 5.2 (SameSite); RFC 6455, 10.2 (Origin); W3C, *Fetch Metadata Request Headers*.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from fem.app.deck_text import MOST_TEXT

REFUSED = "fem: open this page with the whole address that `fem app` printed at its start, token included.\n"
LARGE = f"fem: refused, because a deck of more than {MOST_TEXT / 1e6:g} MB is run on the command line.\n"
FOREIGN = "fem: refused, because the request comes from another site.\n"
OWN = {"", "same-origin", "none"}
"""Origins that a browser states for requests of this page, or of its user."""
FORBIDDEN, TOO_LARGE, POLICY_VIOLATION = 403, 413, 1008
MOST_BODY = 2 * MOST_TEXT
"""Largest request in bytes: a deck, and the other fields of a form."""
INSIDE = """<!doctype html><meta charset="utf-8"><title>fem</title><script>location.replace(location.pathname)</script>
<noscript>This page needs JavaScript.</noscript>"""
"""The link is followed by a script: a redirection would count as a visit from the other site, and get no cookie."""
QUIET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


class Key:
    """A token, and the cookie bound to it; ``port`` is part of the cookie's name, so that two programs have different
    ones."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"fem-app-{port}"
        self._value = hmac.new(self.token.encode(), self.cookie.encode(), hashlib.sha256).hexdigest()

    def is_in(self, query: bytes) -> bool:
        given = parse_qs(query.decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_among(self, headers: Iterable[str]) -> bool:
        """Whether the cookie of a request is valid; other cookies, of other programs on this computer, are ignored."""
        pairs = (pair.partition("=") for header in headers for pair in header.split(";"))
        own = [value.strip().encode() for name, _, value in pairs if name.strip() == self.cookie]
        return any(hmac.compare_digest(value, self._value.encode()) for value in own)

    def trade(self) -> Response:
        response = HTMLResponse(INSIDE, headers=QUIET)
        response.set_cookie(self.cookie, self._value, httponly=True, samesite="strict")
        return response


class Door:
    """Checks all requests before routes and the socket (ASGI)."""

    def __init__(self, app: Any, key: Key) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):  # start and end of the program
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_visit = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/"
        if is_visit and self._key.is_in(scope["query_string"]):
            await self._key.trade()(scope, receive, send)
        elif not self._key.is_among(headers.getlist("cookie")):
            await refuse(REFUSED, scope, receive, send)
        elif is_foreign(scope["type"], headers):
            await refuse(FOREIGN, scope, receive, send)
        elif is_large(headers):
            await refuse(LARGE, scope, receive, send, TOO_LARGE)
        else:
            await self._app(scope, receive, send)


def is_foreign(kind: str, headers: Headers) -> bool:
    """Whether a page of another site made the request. Browsers state the origin of sockets and changes."""
    origin = headers.get("origin")
    if origin is not None:
        return bool(origin.partition("://")[2] != headers.get("host", ""))
    return kind == "http" and headers.get("sec-fetch-site", "") not in OWN


def is_large(headers: Headers) -> bool:
    """Whether the body is too large, or its length, which browsers always state, is missing."""
    length = headers.get("content-length", "0")
    is_told = "transfer-encoding" not in headers and length.isascii() and length.isdigit()
    return not is_told or len(length) > 12 or int(length) > MOST_BODY


async def refuse(reason: str, scope: Mapping[str, Any], receive: Any, send: Any, status: int = FORBIDDEN) -> None:
    """With a reason, or by not opening the socket."""
    if scope["type"] == "http":
        await PlainTextResponse(reason, status_code=status, headers=QUIET)(dict(scope), receive, send)
    else:
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason.strip()})
