"""Which attractor of the rod each start ends on, at two amplitudes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import fem
from validation import tools

DRAG, INCREMENTS, SIDE, FASTEST = 0.1, 100.0, 100, 4.0
AMPLITUDES = (4.0, 8.35)
COLOURS = (tools.BLUE, tools.ORANGE, tools.GREEN, tools.RED, tools.GREY, "#56B4E9", "#CC79A7", "#F0E442")


def found_at(amplitude: float, folder: Path) -> Any:
    """Basins over angle and rate; a folder that is not complete is continued."""
    grid = {"theta0": np.linspace(-np.pi, np.pi, SIDE), "rate0": np.linspace(-FASTEST, FASTEST, SIDE)}
    return fem.basins(tools.INPUTS / "string_pendulum_rigid.inp", grid,
                      parameters={"A": amplitude, "beta": DRAG, "increments": INCREMENTS},
                      cycles=100, output=folder / f"further_work_basins_{amplitude:g}")  # fmt: skip


def figure(folder: Path) -> Figure:
    """Both pictures."""
    sheet = Figure(figsize=(10.2, 5.4), layout="constrained")
    sheet.suptitle(f"Basins of attraction of the rod, β = {DRAG:g} kg/s")
    for axes, amplitude in zip(sheet.subplots(1, 2), AMPLITUDES, strict=True):
        found = found_at(amplitude, folder)
        number = np.minimum(found.attractor, len(COLOURS)).reshape(SIDE, SIDE).T
        axes.imshow(number, origin="lower", extent=(-np.pi, np.pi, -FASTEST, FASTEST), aspect="auto",
                    cmap=ListedColormap(["black", *COLOURS]), vmin=-0.5, vmax=len(COLOURS) + 0.5,
                    interpolation="nearest")  # fmt: skip
        axes.set(title=f"A = {amplitude:g} m", xlabel="initial angle [rad]", ylabel="initial angular velocity [rad/s]")
        names = [str(of) for of in found.attractors[: len(COLOURS)]]
        handles = [Patch(color=colour, label=name) for colour, name in zip(COLOURS, names, strict=False)]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=8)
    return sheet
