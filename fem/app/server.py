"""``fem app``: the server of the page, on this computer alone unless another address is asked for.

Who is let in: whoever has the token of the address, and afterwards its cookie; pages of other places are not.

Other users of this computer reach its ports, and so does every page in this browser. As at Jupyter the address has a
random token. The first visit trades it for a cookie, which scripts cannot read and browsers do not send along from
other sites; all else (pages, files, scenes, the socket by either transport) is refused without the cookie. Cookies do
not know ports, so requests that a page of another port makes are told by where the browser says they come from.
Sources: RFC 6265bis, 5.2 (SameSite); RFC 6455, 10.2 (Origin); W3C, *Fetch Metadata Request Headers*.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from fem.arrays import Say
from fem.errors import CommandError, lacks

HERE = "127.0.0.1"
PATIENCE = 60.0
"""Seconds for which a page that is not heard of (a lid closed, a busy machine) keeps what was typed into it."""
HOME = (HERE, "localhost")
OPEN = (
    "warning: whoever knows this address can run decks, and read and write files, as you on this computer, and "
    "to {host} it goes over the network as plain text"
)


def serve(start: Path | None, host: str = HERE, port: int = 8080, is_opened: bool = True, *, say: Say = print) -> int:
    """Serve the page until the program is ended.

    start      deck or folder of results to begin with
    is_opened  a browser is opened on it
    CommandError: NiceGUI is not installed, there is no such deck or folder, or the port is in use.
    """
    if find_spec("nicegui") is None:
        raise CommandError(lacks("nicegui", "app"))
    if start is not None and not (start.is_file() or start.is_dir()):
        what = "is neither a file nor a folder" if start.exists() else "does not exist"
        raise CommandError(f"{start} {what}: give a deck or a folder of results")
    check_port(host, port)
    from nicegui import app, ui
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from fem.app.page import Page
    from fem.app.solver import Workplace

    async def get_ready() -> None:
        """The first look at results need not wait for a process."""
        await workplace.readers.read([], [], False)

    workplace, key = Workplace(), Key(port)
    address = address_of(host, port, key.token)
    app.on_startup(get_ready)
    app.on_shutdown(workplace.close)
    if host not in HOME:
        say(OPEN.format(host=host))
    say(f"the page is at {address} ; Ctrl-C ends it")
    app.add_middleware(Door, key=key)
    if host in HOME:  # no other site may lead a browser here under a name of its own
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(HOME))
    try:
        if is_opened:
            threading.Thread(target=open_browser, args=(host, port, workplace.folder, address), daemon=True).start()
        ui.run(
            lambda: Page(workplace, start).build(), host=host, port=port, title="fem", show=False, reload=False,
            dark=None, show_welcome_message=False, favicon=FAVICON, reconnect_timeout=PATIENCE,
        )  # fmt: skip
    except KeyboardInterrupt:
        pass
    finally:
        workplace.close()
    return 0


def address_of(host: str, port: int, token: str) -> str:
    """Of the page, for a browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={token}"


def open_browser(host: str, port: int, folder: Path, address: str) -> None:
    """Once the page answers. A file leads to it: command lines, with their addresses, are seen by all users."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection((host, port), 1.0).close()
        except OSError:
            time.sleep(0.1)
            continue
        way = folder / "open.html"
        text = f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(address)}">'
        way.write_text(text, encoding="utf-8")  # in a folder that nobody else can look into
        webbrowser.open(way.as_uri())
        return


def check_port(host: str, port: int) -> None:
    """CommandError: something else listens there, or there is no such address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = f"port {port} of {host} cannot be used ({error.strerror})"
            raise CommandError(f"{reason}: choose another with --port") from None


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#0072B2" stroke-width="3" fill="#0072B2">'
    '<path d="M8 5 L20 15 L14 27" fill="none"/><circle cx="8" cy="5" r="2"/><circle cx="20" cy="15" r="2"/>'
    '<circle cx="14" cy="27" r="2"/></g></svg>'
)


REFUSED = "fem: this page opens with the address that `fem app` printed when it began, with its token.\n"
FOREIGN = "fem: a page of another place asks for this one.\n"
OWN = {"", "same-origin", "none"}
"""What a browser says of requests by this page, or by its user."""
POLICY_VIOLATION = 1008
INSIDE = """<!doctype html><meta charset="utf-8"><title>fem</title><script>location.replace(location.pathname)</script>
<noscript>This page needs JavaScript.</noscript>"""
"""Followed from within: a redirection would count as the visit of the site that led here, and get no cookie."""
QUIET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


class Key:
    """A token, and the cookie bound to it; ``port`` names the cookie: two programs do not take each other's place."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"fem-app-{port}"
        self._value = hmac.new(self.token.encode(), self.cookie.encode(), hashlib.sha256).hexdigest()

    def is_in(self, query: bytes) -> bool:
        """The token is in the query of an address."""
        given = parse_qs(query.decode("latin-1")).get("token", [""])[0]
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_among(self, header: str) -> bool:
        """The cookie is among those of a request."""
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._value.encode())

    def trade(self) -> Response:
        """Token for cookie."""
        response = HTMLResponse(INSIDE, headers=QUIET)
        response.set_cookie(self.cookie, self._value, httponly=True, samesite="strict")
        return response


class Door:
    """Before all routes and the socket (ASGI)."""

    def __init__(self, app: Any, key: Key) -> None:
        self._app, self._key = app, key

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):  # start and end of the program
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if is_visit(scope) and self._key.is_in(scope["query_string"]):
            await self._key.trade()(scope, receive, send)
        elif not self._key.is_among(headers.get("cookie", "")):
            await refuse(REFUSED, scope, receive, send)
        elif is_foreign(scope["type"], headers):
            await refuse(FOREIGN, scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_visit(scope: Mapping[str, Any]) -> bool:
    """The page itself is asked for."""
    return bool(scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/")


def is_foreign(kind: str, headers: Headers) -> bool:
    """Asked for by a page of another place. Browsers name the origin of every socket and of what changes something."""
    origin = headers.get("origin")
    if origin is not None:
        return bool(urlsplit(origin).netloc != headers.get("host", ""))
    return kind == "http" and headers.get("sec-fetch-site", "") not in OWN


async def refuse(reason: str, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """With a reason, or by not opening the socket."""
    if scope["type"] == "http":
        await PlainTextResponse(reason, status_code=403, headers=QUIET)(dict(scope), receive, send)
    else:
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason.strip()})
