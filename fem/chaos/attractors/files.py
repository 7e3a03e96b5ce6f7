"""Tables and the picture of basins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fem.arrays import Floats
from fem.chaos.attractors.orbits import Basins
from fem.files.whole import lines_of, replace_file
from fem.model import Model
from fem.pictures.style import OKABE_ITO, TITLE, save_png
from fem.results.frames import says_si, unit_of

FAILED = "#444444"


def write_basins(found: Basins, folder: Path, model: Model) -> None:
    """``basins.csv``: each start, and where it ends at dt/2; ``attractors.csv``: a row for each point of each section.

    ``basins.png``: the picture.
    """
    starts = zip(*(values.tolist() for values in found.starts.values()), strict=True)
    again = ["" if number < 0 else str(number) for number in found.again.tolist()]
    rows = zip(starts, found.attractor.tolist(), found.period.tolist(), again, strict=True)
    table = [[*map(repr, start), str(number), str(period), finer] for start, number, period, finer in rows]
    replace_file(folder / "basins.csv", lines_of([[*found.starts, "attractor", "period", "attractor_dt"], *table]))
    columns = found.attractors[0].columns if found.attractors else ()
    heads = ["attractor", "period", "kind", "turns", "share", "point", *columns]
    table = [
        [str(of.number), str(of.period), of.kind, str(of.turns), repr(of.share), str(n), *map(repr, point)]
        for of in found.attractors
        for n, point in enumerate(of.points.tolist(), 1)
    ]
    replace_file(folder / "attractors.csv", lines_of([heads, *table]))
    save_png(picture(found, says_si(model.heading)), folder / "basins.png")


def picture(found: Basins, is_si: bool) -> Figure:
    """Attractors over the last two names; others have a panel each for their values; a legend in words."""
    axes = [np.unique(values) for values in found.starts.values()]
    numbers = np.zeros([len(values) for values in axes], np.int64)
    numbers[tuple(np.searchsorted(a, v) for a, v in zip(axes, found.starts.values(), strict=True))] = found.attractor
    names = list(found.starts)
    if len(names) == 1:
        numbers, axes, names = numbers[None], [np.zeros(1), *axes], ["", *names]
    panels = numbers.reshape(-1, *numbers.shape[-2:])
    figure = Figure(figsize=(4.8 * len(panels) + 2.4, 4.6), layout="constrained")
    figure.suptitle("\n".join(["Basins of attraction", *filter(None, [found.what_dt_does])]), fontsize=TITLE)
    colours = colours_of(len(found.attractors))
    for place, panel in enumerate(panels, 1):
        draw(figure.add_subplot(1, len(panels), place), panel, (axes[-2], axes[-1]), colours)
        figure.axes[-1].set(xlabel=labelled(names[-2], is_si), ylabel=labelled(names[-1], is_si))
    if len(names[0]) == 0:
        figure.axes[0].set(xticks=[])
    shown = [Patch(color=colours[of.number], label=str(of)) for of in found.attractors]
    if share := np.mean(found.attractor == 0):
        shown.append(Patch(color=FAILED, label=f"the run fails, {100.0 * share:.3g} % of the starts"))
    figure.legend(handles=shown, loc="outside right center", fontsize=8)
    return figure


def draw(panel: Axes, numbers: np.ndarray, axes: tuple[Floats, Floats], colours: list[Any]) -> None:
    """A pixel for each start."""
    edges = [np.concatenate([v[:1] - step(v), 0.5 * (v[1:] + v[:-1]), v[-1:] + step(v)]) for v in axes]
    look = ListedColormap(colours)
    panel.pcolormesh(*edges, numbers.T, cmap=look, vmin=-0.5, vmax=len(colours) - 0.5, rasterized=True)


def step(values: Floats) -> float:
    """Half of the distance of two values."""
    return 0.5 * float(values[1] - values[0]) if len(values) > 1 else 0.5


def colours_of(count: int) -> list[Any]:
    """Of runs that fail, then of each attractor."""
    many = matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, max(count, 1)))
    chosen = OKABE_ITO if count <= len(OKABE_ITO) else [tuple(colour) for colour in many]
    return [to_rgb(FAILED), *(to_rgb(colour) for colour in chosen[:count])]


def labelled(name: str, is_si: bool) -> str:
    """A start with its unit; a parameter as it is."""
    unit = {"U": "length", "V": "length/time"}.get(name[:1]) if name[1:2] in ("1", "2", "3") and "_" in name else None
    return f"{name} [{unit_of(unit, is_si)}]" if unit else name
