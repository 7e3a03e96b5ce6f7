"""Figure of ``fem line --sag-tension``: sag and tension of the bare conductor over temperature, with the knee; page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.files import is_marked, mark_of, replace_file
from fem.runs.own import check_file
from fem.show import style
from fem.show.page import Page, facts, grid, picture

POINTS = 80


def save_sags(line: Any, path: Path, force: bool) -> Path:
    """Write the figure of a ``SagTension``. CommandError: the file exists and was not written by the program."""
    mark = mark_of("sag_tension")
    check_file(path, (), force, is_marked(path, mark))
    style.save(sags(line), path, mark)
    return path


def save_page(line: Any, said: Sequence[str], path: Path, force: bool) -> Path:
    """Write a ``SagTension`` as a page to hand over; said: what the console says of it. CommandError as above."""
    mark = mark_of("sag_tension")
    check_file(path, (), force, is_marked(path, mark))
    head, *rows = line.table()
    page = Page(f"Sag and tension of {line.section.name}", list(said), "", True, mark)
    first = head.index(f"initial sag [{line.units['length']}]")
    final = head.index(f"final sag [{line.units['length']}]")
    for title, places in (
        ("Conditions", range(first)),
        ("Initial", (0, *range(first, final))),
        ("Final", (0, *range(final, len(head)))),
    ):
        chosen = [[cells[at] for at in places] for cells in (head, *rows)]
        page.add(title, grid(chosen[0], chosen[1:], "the table (CSV)"))
    page.add("Sag and tension over temperature", picture(sags(line), "Bare conductor; points: conditions with load."))
    page.add("Sources", facts({name.replace("_", " "): source for name, source in line.section.sources.items()}))
    replace_file(path, page.html().encode())
    return path


def sags(line: Any) -> Figure:
    """Initial and final sag and horizontal tension of the bare conductor; conditions with load are points."""
    given = [row.condition.temperature for row in line.rows]
    low, high = min(given), max(given)
    low, high = (low - 20.0, high + 20.0) if high - low < 1.0 else (low, high)
    celsius, told, units = np.linspace(low, high, POINTS), line.told, line.units
    of_span = f"{line.section.name}, span {told(line.span, 'length'):.6g} {units['length']}"
    figure, ((above,), (below,)) = style.panels(2, of_span, height=2.6)

    def numbers(states: Sequence[Any]) -> tuple[Any, Any]:
        """Sags and tensions."""
        sags, pulls = np.array([(state.shape.sag, state.h) for state in states]).reshape(-1, 2).T
        return told(sags, "length"), told(pulls, "force")

    for place, name in enumerate(("initial", "final")):
        sag, pull = numbers([line.state(float(each), name == "final") for each in celsius])
        style.curve(above, told(celsius, "temperature"), sag, place, name)
        style.curve(below, told(celsius, "temperature"), pull, place)
        loaded = [row for row in line.rows if not row.condition.is_bare]
        sag, pull = numbers([getattr(row, name) for row in loaded])
        warm = told(np.array([row.condition.temperature for row in loaded]), "temperature")
        look: dict[str, Any] = {"color": style.OKABE_ITO[place], "marker": "so"[place], "mfc": "none"}
        look |= {"ls": "", "ms": 5}
        above.plot(warm, sag, label=f"{name}, loaded" if loaded else None, **look)
        below.plot(warm, pull, **look)
        knee = line.knee(name == "final", low, high)
        if knee is not None:
            warm, sag = told(knee, "temperature"), told(line.state(knee, name == "final").shape.sag, "length")
            text = f"knee at {warm:.3g} {units['temperature']}"
            above.plot(warm, sag, "v", color=style.OKABE_ITO[place], ms=8, label=text)
    above.set_ylabel(f"sag [{units['length']}]")
    below.set(xlabel=f"temperature [{units['temperature']}]", ylabel=f"H [{units['force']}]")
    for panel in (above, below):
        style.tidy(panel)
    style.legend_below(above)
    return figure
