"""The conventions of ``*RAO`` in one figure, from the program's own motion: ``python docs/vessel_convention.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import fem

DOCS = Path(__file__).resolve().parent
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"
BOW, WAY = 20.0, 150.0
"""Degrees from +x: of the bow, of the waves."""
DECK = f"""*NODE, NSET=VESSEL
1, 0., 0., 0.
2, 5., 0., 0.
*NODE
3, 5., 0., -9.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1.
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*AQUA
-100., 0., 9.80665, 1025.
*WAVE, TYPE=TABLE
1., 10., 0., {WAY}
*RAO, NAME=BOX
10., {WAY - BOW}, 0., 0., 0.7, 0., 0., 0., 0., 0., 60., 0., 0., 0.
*NSET, NSET=PINS
2
*RIGID BODY, REF NODE=1, PIN NSET=PINS, RAO=BOX, HEADING={BOW}
*BOUNDARY
3, 1, 3
*STEP, NLGEOM, INC=1000
*DYNAMIC, DIRECT
0.1, 20.
*NODE PRINT, NSET=VESSEL
U, FE
*END STEP
"""


def arrow(axes, degrees: float, reach: float, text: str, colour: str, start: float = 0.0) -> None:
    """From the middle (or from ``start`` on) at an angle, with its name beyond the tip."""
    along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    axes.annotate("", reach * along, start * along, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8})
    axes.text(*(reach + 0.17) * along, text, color=colour, ha="center", va="center")


def plan(axes) -> None:
    """Seen from above: axes of the model and of the vessel, HEADING, the heading of the waves."""
    hull = np.array([[1.0, 0.0], [0.7, 0.22], [-0.9, 0.22], [-0.9, -0.22], [0.7, -0.22]])
    c, s = np.cos(np.radians(BOW)), np.sin(np.radians(BOW))
    axes.add_patch(Polygon(hull @ np.array([[c, s], [-s, c]]), facecolor="#EEEEEE", edgecolor=GREY))
    for distance in (-1.45, -1.25, -1.05):
        middle = distance * np.array([np.cos(np.radians(WAY)), np.sin(np.radians(WAY))])
        across = 0.55 * np.array([-np.sin(np.radians(WAY)), np.cos(np.radians(WAY))])
        axes.plot(*zip(middle - across, middle + across, strict=True), color=BLUE, lw=1.2)
    arrow(axes, 0.0, 1.5, "+x", GREY)
    arrow(axes, 90.0, 1.5, "+y", GREY)
    arrow(axes, BOW, 1.5, "bow", ORANGE)
    arrow(axes, BOW + 90.0, 0.9, "port", ORANGE)
    arrow(axes, WAY, 1.15, "waves", BLUE, -1.75)
    for first, last, radius, place, text, colour in (
        (0.0, BOW, 1.3, 10.0, "HEADING", ORANGE),
        (BOW, WAY, 0.75, 52.0, "heading of *RAO", BLUE),
    ):
        turn = np.radians(np.linspace(first, last, 40))
        axes.plot(radius * np.cos(turn), radius * np.sin(turn), color=colour, lw=1.2)
        at = (radius + 0.08) * np.array([np.cos(np.radians(place)), np.sin(np.radians(place))])
        axes.text(*at, text, color=colour, va="bottom" if place > 45.0 else "center")
    axes.set(aspect="equal", xlim=(-1.7, 2.1), ylim=(-1.3, 1.8), title="from above; z and yaw out of the page")
    axes.axis("off")


def lag(axes) -> None:
    """Heave of the vessel behind the surface at its reference node."""
    history = fem.run(fem.parse_deck(DECK))
    time, heave = history.time[1:], history.of_node(1)[1:, 2]
    surface = np.cos(2.0 * np.pi * time / 10.0)
    axes.plot(time, surface, color=BLUE, label="surface at the reference node")
    axes.plot(time, heave, color=ORANGE, label="heave, |H| = 0.7, phase 60 degrees")
    for t, top, colour in ((10.0, 1.0, BLUE), (10.0 + 10.0 / 6.0, 0.7, ORANGE)):
        axes.plot([t, t], [top, 1.25], color=colour, lw=0.8, ls=":")
    axes.annotate("", (10.0 + 10.0 / 6.0, 1.2), (10.0, 1.2), arrowprops={"arrowstyle": "<->", "color": GREY})
    axes.text(11.9, 1.2, "phase/360 of a period: a lag", va="center", color=GREY)
    axes.set(xlabel="t [s], period 10 s", ylabel="[m], wave of amplitude 1 m", ylim=(-1.7, 1.45), title="PHASE=LAG")
    axes.legend(loc="lower left", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Write ``docs/vessel_convention.png``."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    plan(left)
    lag(right)
    figure.savefig(DOCS / "vessel_convention.png", dpi=110)


if __name__ == "__main__":
    main()
