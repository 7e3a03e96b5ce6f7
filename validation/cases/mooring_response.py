"""A mooring line in the frequency domain: its tension against the same line marched through time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import fem
from fem.model import Amplitude, Dynamic, FrequencyRange, SteadyState
from fem.validation import Outcome, Row, Target
from validation import tools
from validation.references import harmonic_drag

NAME = "mooring_response"
TITLE = (
    "mooring line in water, its upper end in surge: harmonic response against time integration; a bar in closed form"
)
SOURCE = (
    "A bar on springs in closed form; of the line, first harmonics of a run with *DYNAMIC, whose drag has all its "
    "harmonics, after its transients. "
    "Deck inputs/mooring_response.inp."
)
LONG = False

RUNS = ((0.05, 0.1, 6e-3, 0.6), (0.5, 0.1, 8e-3, 0.1), (0.5, 0.2, 0.04, 0.7))
"""Surge [m], frequency [1/s], tolerances of the tension and of its phase [degrees]."""
INCREMENTS, PERIODS = 120, 12
UPPER = 24
"""Element at the fairlead."""
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
    """Amplitude and phase of the tension at the fairlead."""
    rows: list[Row] = []
    for surge, frequency, tolerance, angle in RUNS:
        swung, marched = harmonic(surge, frequency), first_harmonic(surge, frequency)
        name = f"surge {surge:g} m, {frequency:g} 1/s: "
        why = "*DYNAMIC, HHT, 120 increments a period; linearised drag and geometry leave out higher harmonics"
        rows.append(Row(Target(f"{name}tension [N]", abs(marched), "relative", why, tolerance), abs(swung)))
        phases = np.degrees(np.angle([marched, swung]))
        why = "*DYNAMIC; likewise"
        rows.append(Row(Target(f"{name}phase [degrees]", phases[0], "absolute", why, angle), phases[1]))
    return Outcome((*rows, *_bar()), {})


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


def harmonic(surge: float, frequency: float) -> complex:
    """Amplitude of T at the fairlead by ``*STEADY STATE DYNAMICS``."""
    model = tools.deck("mooring_response", {"surge": surge})
    rest, swing = model.steps
    swing = replace(swing, procedure=SteadyState((FrequencyRange(frequency, frequency),)))
    history = fem.run(replace(model, steps=(rest, swing)))
    place = history.mesh.element_labels.tolist().index(UPPER)
    return complex(history.responses[0].values[place, 3])


def first_harmonic(surge: float, frequency: float) -> complex:
    """The same from the last two periods of a march; the end moves by surge sin(2 pi f t)."""
    model, omega = tools.deck("mooring_response", {"surge": surge}), 2.0 * np.pi * frequency
    sway = Amplitude("SWAY", "PERIODIC", omega=omega, fourier=((0.0, 1.0),))
    march = Dynamic(1.0 / frequency / INCREMENTS, PERIODS / frequency, direct=True, integrator="HHT")
    rest, swing = model.steps
    moved = tuple(replace(each, amplitude="SWAY") for each in swing.boundaries)
    swing = replace(swing, procedure=march, boundaries=moved, extrapolation="PARABOLIC")
    history = fem.run(replace(model, amplitudes={"SWAY": sway}, steps=(rest, swing)))
    (marched,) = history.of_step(2).nonzero()
    last = marched[-2 * INCREMENTS :]
    time, tension = history.time[last] - history.time[marched[0]], history.of_element(UPPER, "T")[last]
    return complex(2j * np.mean(tension * np.exp(-1j * omega * time)))
