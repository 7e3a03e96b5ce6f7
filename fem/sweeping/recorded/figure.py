"""Extremes of recorded numbers over the parameters of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.pictures.style import curve, legend_beside, panels, tidy
from fem.results.frames import si_unit

SEED = "SEED"
"""A parameter of this name makes samples of what is otherwise the same."""


def extremes(
    columns: Mapping[str, Floats], parameters: Mapping[str, Floats], what: Sequence[str], is_si: bool
) -> Figure:
    """Greatest and least value of each number against the parameter that varies fastest, a curve for each combination
    of the others; a curve goes through the means of samples (``SEED``), which are dots.
    """
    states = {name: values for name, values in parameters.items() if name.upper() != SEED} or dict(parameters)
    *others, last = states
    figure, axes = panels(len(what), "Greatest and least values", height=2.6)
    rest = np.column_stack([np.zeros(len(states[last])), *(states[name] for name in others)])
    for [panel], number in zip(axes, what, strict=True):
        for place, values in enumerate(np.unique(rest, axis=0)):
            rows = (rest == values).all(axis=1)
            label = ", ".join(f"{name} = {value:g}" for name, value in zip(others, values[1:], strict=True))
            x, which = np.unique(states[last][rows], return_inverse=True)
            for end in ("max", "min"):
                y = columns[f"{number}_{end}"][rows]
                mean = np.bincount(which, y) / np.bincount(which)
                line = curve(panel, x, mean, place, (label or None) if end == "max" else None)
                panel.plot(states[last][rows], y, ".", ms=5, color=line.get_color())
        unit = si_unit(f"{number}_max") if is_si else ""
        panel.set_ylabel(number + (f" [{unit}]" if unit else ""))
        tidy(panel)
        legend_beside(panel)
    axes[-1][0].set_xlabel(last)
    return figure
