"""Compile the kernels once, before the processes that share the tests start; one browser for all tests of a process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of a file share a process, those of toy families all one: what is not of fem each process compiles."""
    for item in items:
        folder = str(item.path.parent)
        item.add_marker(pytest.mark.xdist_group(folder if folder.endswith("families") else str(item.path)))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Only the process that hands out the tests compiles; the others find its work in the cache."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        from fem.compiled.folder import is_first_start
        from fem.warmup import compile_all

        if is_first_start():
            compile_all()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium without a screen, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by the extra test-app")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
