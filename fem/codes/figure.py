"""The figure of ``fem compare``: quantities in all codes on the left, differences from ours with bars on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fem.show.style import OKABE_ITO, curve, legend_below, panels, tidy

MOST_ROWS = 4
GIVEN = 1e-12
"""Of its range: a difference of what the deck prescribes."""
OURS = OKABE_ITO[-1]


def chosen_columns(found: Any) -> list[int]:
    """Quantities that show most: the largest differences over size among those of a size, one force at least."""
    ranges = np.ptp(found.ours, axis=0)
    known = [np.nanmax(np.abs(found.values[code] - found.ours), axis=0, initial=0.0) for code in found.values]
    apart = np.max(known, axis=0, initial=0.0) if known else ranges
    by_kind: dict[str, list[int]] = {}
    largest: dict[str, float] = {}
    for column, name in enumerate(found.names):
        largest[name[0]] = max(largest.get(name[0], 0.0), ranges[column])
    for column in np.argsort(-apart / np.where(ranges > 0.0, ranges, np.inf), kind="stable").tolist():
        name = found.names[column]
        if ranges[column] > 1e-3 * largest[name[0]] and (not known or apart[column] > GIVEN * ranges[column]):
            by_kind.setdefault(name[0], []).append(column)
    forces = by_kind.get("T", [])[:2]
    return sorted(by_kind.get("U", [])[: MOST_ROWS - len(forces)]) + sorted(forces)


def drawn(found: Any, title: str, names: Sequence[str]) -> Figure:
    """names: of the codes, in their order."""
    columns = chosen_columns(found) or [0]
    figure, axes = panels(len(columns), title, columns=2)
    handles: list[Any] = []
    for (left, right), column in zip(axes, columns, strict=True):
        name = found.names[column]
        unit = {"U": " [m]", "T": " [N]"}[name[0]] if found.is_si else ""
        lines: list[Any] = [curve(left, found.time, found.ours[:, column], 6, "fem", ls="-")]
        bar = found.bars[:, column]
        if np.isfinite(bar).any():
            right.fill_between(found.time, -bar, bar, color=OURS, alpha=0.18, lw=0)
            lines.append(Patch(color=OURS, alpha=0.18, label="error bar of fem"))
        right.axhline(0.0, color=OURS, lw=0.8)
        for place, (answer, code) in enumerate(zip(found.answers, names, strict=True)):
            values = found.values[answer.code][:, column]
            there = np.isfinite(values)
            if not there.any():
                continue
            time, apart = found.time[there], (values - found.ours[:, column])[there]
            marks: dict[str, Any] = {"marker": "o", "ms": 4} if there.sum() < 4 else {}
            lines.append(curve(left, time, values[there], place, code, **marks))
            curve(right, time, apart, place, **marks)
            its = found.its_bars[answer.code][there, column]
            if np.isfinite(its).any():
                right.fill_between(time, apart - its, apart + its, color=OKABE_ITO[place], alpha=0.15, lw=0)
        left.set_ylabel(f"{name}{unit}")
        right.set_ylabel(f"less that of fem{unit}")
        known = {str(handle.get_label()) for handle in handles}
        handles += [line for line in lines if str(line.get_label()) not in known]
        tidy(left)
        tidy(right)
    for panel in axes[-1]:
        panel.set_xlabel("time [s]" if found.is_si else "time")
    legend_below(axes[0][-1], handles)
    return figure
