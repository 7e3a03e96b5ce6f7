"""All kinds of springs and dashpots on three masses in a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import oscillators

NAME = "springs_dashpots"
TITLE = "springs, dashpots and a tabulated spring on three masses"
SOURCE = "Three equations of motion integrated to 1e-11. Deck inputs/springs_dashpots.inp."
LONG = False

ROW = oscillators.Row(
    masses=(10.0, 5.0, 2.0),
    wall=(4000.0, 20.0),
    between=(2000.0, 10.0),
    ground_spring=500.0,
    ground_dashpot=5.0,
    elongations=(-0.12, -0.02, 0.02, 0.12),
    forces=(-1020.0, -20.0, 20.0, 1020.0),
    push=50.0,
    rise=0.1,
)
INCREMENTS = (2e-3, 1e-3, 5e-4)


def run(folder: Path) -> Outcome:
    """Displacements of the masses with three increments against the exact ones."""
    model = tools.deck("springs_dashpots")
    histories = [fem.run(tools.with_procedure(model, 1, dt=dt)) for dt in INCREMENTS]
    exact = oscillators.spring_row(ROW, histories[0].time)
    moved = [np.stack([history.of_node(label)[:, 0] for label in (2, 3, 4)], axis=1) for history in histories]
    shared = [u[:: 2**k] for k, u in enumerate(moved)]
    errors = np.array([np.abs(u - exact).max() for u in shared])
    largest = np.abs(exact).max()
    why = "ODE: second-order scheme; 0.1, as the kinks of the table fall anywhere in an increment"
    order = float(tools.orders(errors)[-1])
    rows = [Row(Target("order of the displacements in dt, 1 ms to 0.5 ms", 2.0, "order", why, 0.1), order)]
    why = "ODE: three times what the extrapolation leaves, the fourth-order term and the kinks"
    extrapolated = shared[2] + (shared[2] - shared[1]) / 3
    miss = float(np.abs(extrapolated - exact).max() / largest)
    name = "largest error / largest displacement, extrapolated to dt = 0"
    rows.append(Row(Target(name, 0.0, "absolute", why, 6e-5), miss))
    sheet, axes = tools.figure("Three masses in a row", "time [s]", "displacement [m]")
    for k, colour in enumerate((tools.BLUE, tools.ORANGE, tools.GREEN)):
        axes.plot(histories[0].time, exact[:, k], color=colour, label=f"mass {k + 1}, exact")
        axes.plot(histories[0].time[::50], shared[0][::50, k], "o", color=colour, markersize=4, label="dt = 2 ms")
    tools.legend(axes)
    listed = ", ".join(f"{1e3 * dt:g} ms: {error:.3g}" for dt, error in zip(INCREMENTS, errors, strict=True))
    return Outcome(
        tuple(rows), {"motion": sheet}, (f"Largest error [m] with {listed}; largest displacement {largest:.4g}.",)
    )
