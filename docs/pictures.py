"""The picture of the README: the SDNL100 pendulum at every second increment, from a run of its deck."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import fem

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Write ``docs/sdnl100.png``."""
    history = fem.run(ROOT / "inputs" / "sdnl100.inp")
    tip = np.array([1.0, 0.0, 0.0]) + history.of_node(2)
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    swing, counts = figure.subplots(1, 2, width_ratios=(1.5, 1))
    norm = Normalize(0.0, history.time[-1])
    mapper = ScalarMappable(norm, "viridis")
    half = len(tip) // 2
    for row in range(0, half + 1, 2):
        swing.plot([0, tip[row, 0]], [0, tip[row, 2]], color=mapper.to_rgba(history.time[row]), linewidth=2)
    swing.plot(tip[:, 0], tip[:, 2], "o", color="0.3", markersize=3)
    swing.plot(0, 0, "k^", markersize=9)
    swing.set(xlabel="x [m]", ylabel="z [m]", title="first half swing; dots: tip over one period", aspect="equal")
    figure.colorbar(mapper, ax=swing, label="time [s]", orientation="horizontal", shrink=0.7)
    counts.bar(history.increment[1:], history.iterations[1:], color="#0072B2")
    counts.set(xlabel="increment (T/40)", ylabel="Newton iterations", title="as Code_Aster: 9, 5, 6 at 10, 20, 40")
    for axes in (swing, counts):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(ROOT / "docs" / "sdnl100.png", dpi=110)


if __name__ == "__main__":
    main()
