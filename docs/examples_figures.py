"""The figures of docs/examples.md, from its own programs: ``python docs/examples_figures.py``."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"


def names_of(example: str) -> dict[str, Any]:
    """What an example has defined at its end; it runs in the folder of the clone."""
    return runpy.run_path(str(DOCS / "examples" / f"{example}.py"))


def save(figure: Figure, name: str) -> None:
    figure.savefig(DOCS / f"examples_{name}.png", dpi=100, metadata={"Software": None})


def heave() -> None:
    """Displacements of tip and load, with the winch at rest and driven."""
    motion = names_of("heave_compensation")["motion"]
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    axes = figure.add_subplot(xlabel="t [s]", ylabel="U3 [m]")
    tip, still = motion(False).T
    time = 1.0 + 0.1 * np.arange(1, len(tip) + 1)
    axes.plot(time, tip, color=GREY, label="tip of the crane")
    axes.plot(time, still, color=ORANGE, label="load, winch at rest")
    axes.plot(time, motion(True)[:, 1], color=BLUE, label="load, compensated")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=3, frameon=False)
    save(figure, "heave")


def chain() -> None:
    """Shapes of the chain at the end of each motion."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    labels = ("led to (2.6, 0) in 1 s", "to (0.5, 0.5) in 0.4 s", "gone back; in 3 s")
    for shape, color, label in zip(names_of("steered_chain")["shapes"], (GREY, ORANGE, BLUE), labels, strict=True):
        axes.plot(*shape.T, color=color, marker=".", label=label)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.15), ncols=3, frameon=False)
    save(figure, "chain")


if __name__ == "__main__":
    heave()
    chain()
