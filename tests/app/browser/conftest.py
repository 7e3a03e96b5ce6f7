"""The page in a browser without a screen: Debian's Chromium, driven by Playwright (extra ``test-app``)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parents[3]


class App:
    """``python -m fem app``, in a folder of its own, on a free port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-m", "fem", "app", *arguments, "--port", str(self.port), "--no-open"]
        self.log = folder / "app.txt"
        with self.log.open("wb") as log:
            # NiceGUI behaves otherwise where it sees pytest.
            plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=plain)
        wait_for(self.answers)
        self.url = re.search(r"http://\S+", self.log.read_text())[0]
        self.root = f"http://127.0.0.1:{self.port}"

    def answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


@pytest.fixture(scope="session")
def app(chromium, tmp_path_factory):
    pytest.importorskip("nicegui", reason="the page needs the extra app")
    served = App(tmp_path_factory.mktemp("app"))
    yield served
    served.end()
    said = served.log.read_text()
    assert "Traceback" not in said, said


@pytest.fixture(scope="session")
def serve(chromium):
    pytest.importorskip("nicegui", reason="the page needs the extra app")
    return App


class Tab:
    """A page with what it complained about and what it asked of others."""

    def __init__(self, browser, url: str, **look: object) -> None:
        self.complaints: list[str] = []
        self.page = browser.new_page(**look)
        self.page.set_default_timeout(1000.0 * PATIENCE)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.goto(url)
        self.page.locator(".q-tab-panel").wait_for()

    def _note(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")):
            self.complaints.append(f"asked {url}")

    def of(self, name: str):
        return self.page.get_by_test_id(name)

    def until(self, happens) -> None:
        end = time.monotonic() + PATIENCE
        while not happens():
            assert time.monotonic() < end, f"it never happened; the page shows: {self.page.inner_text('body')}"
            self.page.wait_for_timeout(50)

    def ends(self, verdict: str) -> None:
        """Wait for how a run ends."""
        self.until(lambda: self.of("verdict").inner_text() == verdict)


@pytest.fixture
def open_tab(chromium, app):
    tabs = []

    def opened(url: str = "", **look: object) -> Tab:
        tabs.append(Tab(chromium, url or app.url, **look))
        return tabs[-1]

    yield opened
    complaints = [text for tab in tabs for text in tab.complaints]
    for tab in tabs:
        tab.page.close()
    assert not complaints
