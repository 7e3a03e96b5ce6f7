"""A mooring line in the frequency domain: its tension against the boundary value problem of a cable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import fem
from fem.model import FrequencyRange, SteadyState
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import harmonic_cable, harmonic_drag

NAME = "mooring_response"
TITLE = "harmonic motion: a mooring line in water, its upper end in surge, and a bar on springs"
SOURCE = (
    "Line: its linear equations about the elastic catenary, with the first harmonic of the drag, as a boundary "
    "value problem (SciPy's solve_bvp). Bar: a closed form. Deck inputs/mooring_response.inp."
)
LONG = False

RUNS = ((0.05, 0.1, 2e-3, 0.04), (0.5, 0.1, 6e-4, 0.03), (0.5, 0.2, 2e-4, 0.04), (0.5, 0.35, 5e-4, 0.08))
"""Surge [m], frequency [1/s], tolerances of the tension and of its phase [degrees]."""
BARS, REFINED = 96, (24, 48, 96)
WATER = 1025.0 * 0.25 * np.pi * 0.08**2
LINE = harmonic_cable.Wet((180.0, 110.0), 214.0, 6e10 * 0.0050265, 9.81 * (5600.0 * 0.0050265 - WATER),
                          5600.0 * 0.0050265, WATER, 0.5 * 1025.0 * 0.08 * 1.2)  # fmt: skip
ADDED = 1025.0 * 0.25 * np.pi * 0.3**2 * 3.0
"""Mass of the water in the place of the bar."""
BAR_FREQUENCIES = (0.12, 0.18, 0.3)
BAR = """*NODE, NSET=ALL
1, 0., 0., -6.
2, 0., 3., -6.
*ELEMENT, TYPE=T3D2, ELSET=BODY
1, 1, 2
*ELEMENT, TYPE=SPRING1, ELSET=SX
11, 1
12, 2
*SPRING, ELSET=SX
1
300.
*MATERIAL, NAME=M
*ELASTIC
2e11
*DENSITY
9000.
*SOLID SECTION, ELSET=BODY, MATERIAL=M
0.01
*AQUA
-25., 0., 9.80665, 1025.
*BOUNDARY
ALL, 2, 3
*STEP, NLGEOM
*STATIC
*DLOAD
BODY, FDD, 1., 0.3, 1.1
BODY, FI, 1., 0.3, 2., 1.
*END STEP
*STEP, NLGEOM
*STEADY STATE DYNAMICS, DIRECT
{frequency}, {frequency}, 1
*CLOAD
ALL, 1, 250.
*NODE PRINT, NSET=ALL
PU
*END STEP
"""


def run(folder: Path) -> Outcome:
    """Amplitude and phase of the tension at the fairlead, and what bars of finite length leave of them."""
    rows: list[Row] = []
    for surge, frequency, tolerance, angle in RUNS:
        found, exact = swung(surge, frequency, BARS)
        name, why = (
            f"surge {surge:g} m, {frequency:g} 1/s: ",
            "boundary value problem; 96 bars, of order 2",
        )
        phases = np.degrees(np.angle([exact, found]))
        rows += [
            Row(Target(f"{name}tension [N]", abs(exact), "relative", why, tolerance), abs(found)),
            Row(Target(f"{name}phase [degrees]", phases[0], "absolute", why, angle), phases[1]),
        ]
    pairs = [swung(0.5, 0.35, bars) for bars in REFINED]
    errors = np.array([abs(found - exact) for found, exact in pairs])
    order = Target(
        "surge 0.5 m, 0.35 1/s: order in bar length", 2.0, "order", "analytic: masses at nodes, chords", 0.05
    )
    return Outcome((*rows, Row(order, float(tools.orders(errors)[-1])), *_bar()), {})


def _bar() -> list[Row]:
    """A bar on springs in still water, shaken below, at and above its own frequency."""
    rows = []
    for frequency in BAR_FREQUENCIES:
        history = fem.run(fem.parse_deck(BAR.format(frequency=frequency), name="bar"))
        found = complex(history.responses[0].motion[0, 0, 0])
        exact = harmonic_drag.response(
            2.0 * np.pi * frequency, 600.0, 270.0 + ADDED, 0.5 * 1025.0 * 0.3 * 1.1 * 3.0, 500.0
        )
        name, why = f"bar on springs, {frequency:g} 1/s: ", "closed form: first harmonic of |v| v, 8/(3 pi); quadrature"
        rows += [
            Row(Target(f"{name}amplitude [m]", abs(exact), "relative", why, 1.5e-4), abs(found)),
            Row(Target(f"{name}phase [degrees]", float(np.degrees(np.angle(exact))), "absolute", why, 0.03),
                float(np.degrees(np.angle(found)))),
        ]  # fmt: skip
    return rows


def swung(surge: float, frequency: float, bars: int) -> tuple[complex, complex]:
    """Amplitude of T in the middle of the last bar, and of the cable there."""
    model = tools.deck("mooring_response", {"surge": surge, "bars": bars})
    rest, swing = model.steps
    swing = replace(swing, procedure=SteadyState((FrequencyRange(frequency, frequency),)))
    history = fem.run(replace(model, steps=(rest, swing)))
    place = history.mesh.element_labels.tolist().index(bars)
    middle = np.array([LINE.length * (1.0 - 0.5 / bars)])
    exact = harmonic_cable.tension(LINE, 2.0 * np.pi * frequency, (surge, 0.0), middle)
    return complex(history.responses[0].values[place, 3]), complex(exact[0])
