"""The tornado: what each input changes, the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from fem.show.style import OKABE_ITO, SMALL, WIDTH, legend_below, save, tidy
from fem.study.sensitivity.uncertain import InputBar

MOST_PANELS, MOST_INPUTS = 6, 7


def tornado(bars: Sequence[InputBar], path: Path, mark: str) -> None:
    """A panel for each number: bars from its value to those at the low and the high end of each input."""
    ordered = sorted(
        (one for one in bars if max(one.bar) > 0.0), key=lambda one: -max(one.bar) / (abs(one.value) or 1.0)
    )
    chosen = [one for one in bars if one in ordered[:MOST_PANELS]] or list(bars[:1])
    rows = max(len(one.contributions[:MOST_INPUTS]) for one in chosen)
    figure = Figure(figsize=(WIDTH, 0.8 + len(chosen) * (0.9 + 0.3 * rows)), layout="constrained")
    panels = figure.subplots(len(chosen), 1, squeeze=False)[:, 0]
    for panel, one in zip(panels, chosen, strict=True):
        for row, each in enumerate(one.contributions[:MOST_INPUTS]):
            for end, change in enumerate(each.change):
                label = ("low end of the input", "high end")[end] if row == 0 else None
                is_short = abs(change) < max(map(abs, each.change))  # on top, where both are on one side
                own = {"color": OKABE_ITO[end], "label": label, "zorder": 1.1 if is_short else 1.0}
                panel.barh(row, change, left=one.value, height=0.7, **own)
        names = [f"{each.name}{' *' if each.is_curved else ''}" for each in one.contributions[:MOST_INPUTS]]
        panel.set_yticks(range(len(names)), names, fontsize=SMALL)
        panel.invert_yaxis()
        panel.axvline(one.value, color="black", lw=0.8)
        panel.set_title(f"{one.name} = {one.value:.4g}", fontsize=SMALL)
        tidy(panel)
    legend_below(panels[0])
    save(figure, path, mark)
