"""Figure and film of ``docs/deform.md``; DEFORM is the folder of the data, see ``validation/cases/deform.py``."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from fem.show.style import OKABE_ITO  # noqa: E402
from validation.cases import deform  # noqa: E402

BLUE, RED = OKABE_ITO[:2]
INSTANTS = (0.5, 1.5, 2.5, 3.5)
"""Of the figure [s]."""
EVERY = 8
"""Frames of the recording, 100 in a second, from one picture of the film to the next."""
COLOURS = 24


def typical(rope: int, numbers: dict[str, float]) -> tuple[Any, Any]:
    """The evaluation motion whose error is the median, and its computed places."""
    computed = [(each, each.run(numbers)) for each in deform.motions(Path(os.environ[deform.DATA]), rope, "eval")]
    computed.sort(key=lambda pair: deform.distance(pair[0].away(pair[1])))
    return computed[len(computed) // 2]


def draw(axes: Any, motion: Any, places: Any, frame: int) -> None:
    """Rope and markers at a frame, seen from the side."""
    axes.plot(places[frame, :, 0], places[frame, :, 2], color=BLUE, linewidth=1.4)
    axes.plot(motion.markers[frame + 2, :, 0], motion.markers[frame + 2, :, 2], "o", color=RED, markersize=3)


def box(motion: Any, places: Any, axes: Any) -> None:
    """The same limits at all instants."""
    seen = np.concatenate([motion.markers.reshape(-1, 3), places.reshape(-1, 3)])
    axes.set_xlim(seen[:, 0].min() - 0.05, seen[:, 0].max() + 0.05)
    axes.set_ylim(seen[:, 2].min() - 0.05, seen[:, 2].max() + 0.05)
    axes.set_aspect("equal")


def shapes(chosen: dict[int, Any]) -> Figure:
    """Three ropes at four instants."""
    sheet = Figure(figsize=(8.5, 6.3), layout="constrained")
    panels = sheet.subplots(len(chosen), len(INSTANTS))
    for row, (rope, (motion, places)) in zip(panels, chosen.items(), strict=True):
        for axes, instant in zip(row, INSTANTS, strict=True):
            frame = round(instant / deform.FRAME)
            draw(axes, motion, places, frame)
            box(motion, places, axes)
            axes.tick_params(labelsize=7)
            away = deform.distance(motion.away(places)[frame : frame + 1])
            axes.set_title(f"{instant} s, {away:.0f} mm", fontsize=9)
        row[0].set_ylabel(f"rope {rope}: z [m]")
    for axes in panels[-1]:
        axes.set_xlabel("x [m]")
    return sheet


def picture(sheet: Figure, dpi: int) -> Image.Image:
    """A figure in few colours."""
    buffer = io.BytesIO()
    sheet.savefig(buffer, dpi=dpi, format="png")
    return Image.open(buffer).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def film(chosen: dict[int, Any], path: Path) -> None:
    """The three ropes side by side, as fast as they were."""
    frames = []
    for frame in range(0, len(chosen[1][1]), EVERY):
        sheet = Figure(figsize=(8.0, 3.0), layout="constrained")
        for axes, (rope, (motion, places)) in zip(sheet.subplots(1, 3), chosen.items(), strict=True):
            draw(axes, motion, places, frame)
            box(motion, places, axes)
            axes.set_title(f"rope {rope}", fontsize=9)
            axes.tick_params(labelsize=6)
        sheet.suptitle(f"line: computed, dots: markers, {deform.FRAME * frame:.2f} s", fontsize=9)
        frames.append(picture(sheet, 75))
    duration = round(1000 * EVERY * deform.FRAME)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=duration, loop=0, optimize=True)


def main() -> None:
    """Write ``deform_shapes.png`` and ``deform.gif``."""
    here = Path(__file__).parent
    chosen = {rope: typical(rope, deform.FOUND[rope][0]) for rope in deform.MOST}
    picture(shapes(chosen), 100).save(here / "deform_shapes.png", optimize=True)
    film(chosen, here / "deform.gif")


if __name__ == "__main__":
    main()
