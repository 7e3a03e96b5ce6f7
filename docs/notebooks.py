"""What the notebooks of the site begin with: a folder of their own with ``inputs`` in it, as in a clone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[1]
FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""They live as long as the kernel."""


def enter() -> None:
    """Make such a folder the current one; small figures with few frills."""
    FOLDERS.append(tempfile.TemporaryDirectory())
    folder = Path(FOLDERS[-1].name)
    (folder / "inputs").symlink_to(ROOT / "inputs")
    os.chdir(folder)
    pyplot.rcParams.update({"figure.figsize": (7.0, 3.2), "figure.constrained_layout.use": True, "axes.grid": True,
                            "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False})  # fmt: skip
