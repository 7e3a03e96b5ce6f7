"""A mooring line in the frequency domain: its tension against the same line marched through time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import fem
from fem.model import Amplitude, Dynamic, FrequencyRange, SteadyState
from fem.validation import Outcome, Row, Target
from validation import tools

NAME = "mooring_response"
TITLE = "mooring line in water, its upper end in surge: harmonic response against time integration"
SOURCE = (
    "First harmonics of a run with *DYNAMIC, whose drag has all its harmonics, after its transients. "
    "Deck inputs/mooring_response.inp."
)
LONG = False

RUNS = ((0.05, 0.1, 0.01), (0.5, 0.1, 0.02), (0.5, 0.2, 0.04))
"""Surge [m], frequency [1/s], tolerance."""
INCREMENTS, PERIODS = 120, 12
UPPER = 24
"""Element at the fairlead."""


def run(folder: Path) -> Outcome:
    """Amplitude and phase of the tension at the fairlead."""
    rows: list[Row] = []
    for surge, frequency, tolerance in RUNS:
        swung, marched = harmonic(surge, frequency), first_harmonic(surge, frequency)
        name = f"surge {surge:g} m, {frequency:g} 1/s: "
        why = "*DYNAMIC, HHT, 120 increments a period; linearised drag and geometry leave out higher harmonics"
        rows.append(Row(Target(f"{name}tension [N]", abs(marched), "relative", why, tolerance), abs(swung)))
        phases = np.degrees(np.angle([marched, swung]))
        why = "*DYNAMIC; likewise, the tolerance an angle of it"
        rows.append(Row(Target(f"{name}phase [degrees]", phases[0], "absolute", why, 57.3 * tolerance), phases[1]))
    return Outcome(tuple(rows), {})


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
