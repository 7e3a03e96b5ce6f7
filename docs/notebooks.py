"""Notebooks of the site: a folder of their own with ``inputs`` in it, as in a clone; their files for download.

``python -m docs.notebooks FOLDER`` writes the tutorials as ``.ipynb``, and ``commands``, a script of what the README,
Start and the tutorials ask to type: `.ci/run` runs them in an empty folder with the wheel alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""They live as long as the kernel."""
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
CELL = re.compile(r"^```\{code-cell\} python\n((?::[^\n]*\n)*)\n*(.*?)^```$", re.DOTALL | re.MULTILINE)
BEGIN = "%run -m fem example all --output inputs"
"""In place of the first cell, which is not shown: the decks that come with the program."""
LINK = """
<a href="../notebooks/{name}.ipynb" download>Download this tutorial as a notebook.</a> Without a clone,
`python -m fem example all --output inputs` copies its decks.
"""


def enter() -> None:
    """Make such a folder the current one; small figures with few frills."""
    from matplotlib import pyplot

    FOLDERS.append(tempfile.TemporaryDirectory())
    folder = Path(FOLDERS[-1].name)
    (folder / "inputs").symlink_to(ROOT / "inputs")
    os.chdir(folder)
    pyplot.rcParams.update({"figure.figsize": (7.8, 3.5), "figure.constrained_layout.use": True, "axes.grid": True,
                            "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False})  # fmt: skip


def with_link(page: Path, text: str) -> str:
    """The text of a tutorial with the link to its notebook below the title."""
    return re.sub(r"^# .*\n", lambda title: title[0] + LINK.format(name=page.stem), text, count=1, flags=re.MULTILINE)


def notebook(page: Path) -> dict[str, Any]:
    """A tutorial as a notebook that has not been run; links to other pages are plain words in it."""
    text = page.read_text(encoding="utf-8").split("\n---\n", 1)[1]
    parts = CELL.split(text)  # words, options of a cell, its lines; again
    cells: list[dict[str, Any]] = []
    for at, part in enumerate(parts):
        lines = part.strip("\n")
        if at % 3 == 2:
            lines = BEGIN if "remove-cell" in parts[at - 1] else lines
            cells.append({"cell_type": "code", "source": lines, "outputs": [], "execution_count": None})
        elif at % 3 == 0 and lines:
            words = re.sub(r"\[([^\]]+)\]\((?!https?://)[^)\s]+\)", r"\1", lines)
            cells.append({"cell_type": "markdown", "source": words})
    for number, cell in enumerate(cells):
        cell |= {"id": f"cell-{number}", "metadata": {}}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}


def write_notebooks(folder: Path) -> None:
    """``NAME.ipynb`` of all tutorials."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in TUTORIALS:
        text = json.dumps(notebook(page), ensure_ascii=False, indent=1)
        (folder / f"{page.stem}.ipynb").write_text(text, encoding="utf-8")


def script() -> str:
    """Commands and Python blocks of the README, of Start and of the tutorials, in their order."""
    pages = [ROOT / "README.md", ROOT / "docs" / "start.md", *TUTORIALS]
    lines = []
    for page in pages:
        for language, block in re.findall(r"^```(sh|python)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M):
            if language == "python":
                lines.append(f"python - <<'END'\n{block}END\n")
            lines += [f"{each}\n" for each in re.findall(r"\bpython -m fem [^&\n]+", block)]
    return "".join(lines)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write_notebooks(target)
    (target / "commands").write_text(script(), encoding="utf-8")
