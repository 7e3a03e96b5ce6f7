"""Figure of ``fem line --sag-tension``: sag and tension of the bare conductor over temperature, with the knee."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.files import is_marked, mark_of
from fem.runs.own import check_file
from fem.show import style

POINTS = 80


def save_sags(line: Any, path: Path, force: bool) -> Path:
    """Write the figure of a ``SagTension``. CommandError: the file exists and was not written by the program."""
    mark = mark_of("sag_tension")
    check_file(path, (), force, is_marked(path, mark))
    style.save(sags(line), path, mark)
    return path


def sags(line: Any) -> Figure:
    """Initial and final sag and horizontal tension of the bare conductor; conditions with load are points."""
    given = [row.condition.temperature for row in line.rows]
    low, high = min(given), max(given)
    low, high = (low - 20.0, high + 20.0) if high - low < 1.0 else (low, high)
    celsius = np.linspace(low, high, POINTS)
    is_us = line.units["temperature"] == "F"
    length, force = (0.3048, 4.4482216) if is_us else (1.0, 1.0)

    def told(temperature: Any) -> Any:
        return temperature * 1.8 + 32.0 if is_us else temperature

    figure, axes = style.panels(
        2, f"{line.section.name}, span {line.span / length:.6g} {line.units['length']}", height=2.6
    )
    for place, (name, is_final) in enumerate((("initial", False), ("final", True))):
        states = [line.state(float(each), is_final) for each in celsius]
        style.curve(axes[0][0], told(celsius), np.array([state.shape.sag for state in states]) / length, place, name)
        style.curve(axes[1][0], told(celsius), np.array([state.h for state in states]) / force, place)
        loaded = [row for row in line.rows if not row.condition.is_bare]
        points = [row.final if is_final else row.initial for row in loaded]
        warm = told(np.array([row.condition.temperature for row in loaded]))
        look: dict[str, Any] = {"color": style.OKABE_ITO[place], "marker": "o" if is_final else "s"}
        look |= {"ls": "", "ms": 5, "mfc": "none"}
        label = f"{name}, loaded" if loaded else None
        axes[0][0].plot(warm, [state.shape.sag / length for state in points], label=label, **look)
        axes[1][0].plot(warm, [state.h / force for state in points], **look)
        knee = line.knee(is_final, low, high)
        if knee is not None:
            sag = line.state(knee, is_final).shape.sag / length
            text = f"knee at {told(knee):.3g} {line.units['temperature']}"
            axes[0][0].plot(told(knee), sag, "v", color=style.OKABE_ITO[place], ms=8, label=text)
    axes[0][0].set_ylabel(f"sag [{line.units['length']}]")
    axes[1][0].set_ylabel(f"H [{line.units['force']}]")
    axes[1][0].set_xlabel(f"temperature [{line.units['temperature']}]")
    for (panel,) in axes:
        style.tidy(panel)
    style.legend_below(axes[0][0])
    return figure
