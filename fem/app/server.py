"""``fem app``: the server of the page, on this computer alone unless another address is asked for."""

from __future__ import annotations

import html
import socket
import threading
import time
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from fem.arrays import Say
from fem.errors import CommandError, lacks

HERE = "127.0.0.1"
PATIENCE = 60.0
"""Seconds for which a disconnected page (a closed lid, a busy machine) keeps its input."""
HOME = (HERE, "localhost")
OPEN = (
    "warning: anyone who knows this address can run decks on this computer, and read and write your files; "
    "on the way to {host} it is not encrypted"
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
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = f"port {port} of {host} cannot be used ({error.strerror})"
            raise CommandError(f"{reason}: choose another with --port") from None
    from nicegui import app, ui
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from fem.app.door import Door, Key
    from fem.app.page import Tab
    from fem.app.solver import Workplace

    async def get_ready() -> None:
        """The first look at results need not wait for a process."""
        await workplace.readers.read([], [], False)

    workplace, key = Workplace(), Key(port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={key.token}"
    app.on_startup(get_ready)
    app.on_shutdown(workplace.close)
    if host not in HOME:
        say(OPEN.format(host=host))
    say(f"the page is at {address} ; Ctrl-C ends it")
    app.add_middleware(Door, key=key)
    if host in HOME:  # no other site may lead a browser here under a name of its own
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(HOME))
    app.config.quasar_config["loadingBar"] = {"skipHijack": True}  # a bar without a name at each look at the player
    try:
        if is_opened:
            threading.Thread(target=open_browser, args=(host, port, workplace.folder, address), daemon=True).start()
        ui.run(
            lambda: Tab(workplace, start).build(), host=host, port=port, title="fem", show=False, reload=False,
            language="en-US", dark=None, show_welcome_message=False, favicon=FAVICON, reconnect_timeout=PATIENCE,
        )  # fmt: skip
    except KeyboardInterrupt:
        pass
    finally:
        workplace.close()
    return 0


def open_browser(host: str, port: int, folder: Path, address: str) -> None:
    """Opens a browser once the page answers, through a local file: command lines, with addresses, are visible to all
    users."""
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


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#0072B2" stroke-width="3" fill="#0072B2">'
    '<path d="M8 5 L20 15 L14 27" fill="none"/><circle cx="8" cy="5" r="2"/><circle cx="20" cy="15" r="2"/>'
    '<circle cx="14" cy="27" r="2"/></g></svg>'
)
