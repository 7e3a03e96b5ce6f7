"""``fem report --pdf``: the page on paper, printed by Chromium, else by WeasyPrint."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from fem.commands.files import replace_file
from fem.errors import CommandError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
"""Names of programs that print; the variable FEM_BROWSER names another one."""
QUIET = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
LIMIT = 180.0
"""Seconds that a page may take."""
HEAD, TAIL = b"%PDF-", b"%%EOF"


def print_page(page: Path, path: Path, mark: str) -> None:
    """Write a page as PDF that bears a mark. CommandError: no program is there that prints, or it fails."""
    with tempfile.TemporaryDirectory(prefix="fem-paper-") as folder:
        made = Path(folder) / "page.pdf"
        browser = os.environ.get("FEM_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser:
            print_by_browser(browser, page, made)
        else:
            print_by_library(page, made)
        content = made.read_bytes() if made.is_file() else b""
    if not content.startswith(HEAD) or TAIL not in content[-1024:]:
        raise CommandError(f"{browser or 'WeasyPrint'} printed no PDF of {page}")
    replace_file(path, content.rstrip() + f"\n% {mark}\n".encode())  # a comment behind the end, as PDF allows


def print_by_browser(browser: str, page: Path, made: Path) -> None:
    """CommandError: the program is missing, takes too long or fails."""
    own = made.parent / "profile"
    words = [browser, *QUIET, f"--user-data-dir={own}", "--no-pdf-header-footer", f"--print-to-pdf={made}"]
    words += ["--no-sandbox"] * (hasattr(os, "getuid") and os.getuid() == 0)  # it refuses its sandbox to root
    try:
        done = subprocess.run([*words, page.resolve().as_uri()], capture_output=True, text=True, timeout=LIMIT)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandError(f"{browser} did not print {page}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CommandError(f"{browser} did not print {page} (exit code {done.returncode}): {last}")


def print_by_library(page: Path, made: Path) -> None:
    """CommandError: it is not installed."""
    try:
        from weasyprint import HTML
    except (ImportError, OSError) as error:  # OSError: libraries of the system that it needs
        raise CommandError(
            "--pdf needs Chromium (or FEM_BROWSER=PROGRAM), or WeasyPrint: pip install fem-cables[pdf]; any browser "
            f"can print the page itself, {page}"
        ) from error
    HTML(filename=str(page)).write_pdf(str(made))
