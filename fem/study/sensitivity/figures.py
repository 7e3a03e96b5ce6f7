"""The tornado: what each input changes, the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fem.show.style import OKABE_ITO, SMALL, panels, save, tidy
from fem.study.sensitivity.uncertain import InputBar

MOST_PANELS, MOST_INPUTS = 6, 7


def tornado(bars: Sequence[InputBar], path: Path, mark: str) -> None:
    """A panel for each number: bars from its value to those at the low and the high end of each input."""
    chosen = sorted(bars, key=lambda one: -max(one.bar) / (abs(one.value) or 1.0))[:MOST_PANELS]
    chosen = [one for one in bars if one in chosen and max(one.bar) > 0.0] or list(bars[:1])
    rows = max(len(one.contributions[:MOST_INPUTS]) for one in chosen)
    figure, axes = panels(len(chosen), "What limits the result", height=0.7 + 0.32 * rows)
    for [panel], one in zip(axes, chosen, strict=True):
        panel.sharex(panel)
        for row, each in enumerate(one.contributions[:MOST_INPUTS]):
            for end, change in enumerate(each.change):
                label = ("at its low end", "at its high end")[end] if row == 0 and one is chosen[0] else None
                panel.barh(row, change, left=one.value, height=0.7, color=OKABE_ITO[end], label=label)
        names = [f"{each.name}{' *' if each.is_curved else ''}" for each in one.contributions[:MOST_INPUTS]]
        panel.set_yticks(range(len(names)), names, fontsize=SMALL)
        panel.invert_yaxis()
        panel.axvline(one.value, color="black", lw=0.8)
        panel.set_title(f"{one.name} = {one.value:.4g}", fontsize=SMALL)
        tidy(panel)
    axes[0][0].legend(fontsize=SMALL)
    save(figure, path, mark)
