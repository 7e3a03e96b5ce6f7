"""``fem.clamp_stress``: stress in the outer wires of a conductor at a clamp from aeolian vibration.

The bending amplitude Y is the peak-to-peak displacement of the point at x = 89 mm from the last contact with the clamp.
A vibration loop is much longer than x, so that the conductor is a static tensioned beam there, with the curvature K at
the clamp and p = sqrt(T/EI):

    y = (K/p^2) (exp(-p x) - 1 + p x),   stress = E_wire (d/2) K = E_wire d p^2/(4 (exp(-p x) - 1 + p x)) Y

with the EI of wires that slide on each other. It is an idealised stress, for which tested lives are published. Source:
Poffenberger & Swart, IEEE Trans. Power Apparatus and Systems 84 (1965) 281; EPRI, Transmission Line Reference Book:
Wind-Induced Conductor Motion (2006), 3.2 and 3.4.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fem.arrays import Say
from fem.errors import CommandError
from fem.lines.sagging import numbers_of, which
from fem.lines.spans import section_of

AT = 0.089
"""x [m]: IEEE, Standardization of conductor vibration measurements (1966)."""
ALUMINIUM, STEEL = 69e9, 207e9
"""E of wires [Pa]."""
LAYERS = {(26, 7): (2, 3)}
"""Wires and core wires -> layers of wires around the core, core wires across it."""
ENDURANCE = 8.5e6
"""Stress amplitude [Pa] below which conductors with several layers of wires lasted 5e8 cycles: EPRI (2006), 3.2."""
KNEE = 1.56e7


class ClampStress(NamedTuple):
    """stiffness: EI of wires that slide [N m2];  slope: stress over bending amplitude [Pa/m];  stress [Pa] and cycles
    to failure at the amplitude asked for;  endurance: the amplitude [m] at which the stress is ``ENDURANCE``."""

    stiffness: float
    slope: float
    stress: float
    cycles: float
    endurance: float


def clamp_stress(section: str, tension: float, amplitude: float) -> ClampStress:
    """Stress of the outer wires of a conductor at a clamp, by the formula of Poffenberger and Swart.

    section    name of a conductor of the catalogue
    tension    [N]
    amplitude  of bending, from top to bottom, 89 mm from the last contact with the clamp [m]

    Raises
    ------
    CommandError  no conductor with a core and wires, or a number that is not positive.

    >>> found = fem.clamp_stress("drake", 0.2 * 140.1e3, 0.2e-3)
    >>> print(f"{found.stress / 1e6:.2f} MPa")
    7.20 MPa
    """
    if not (0.0 < tension < math.inf and 0.0 < amplitude < math.inf):
        raise CommandError(f"tension and bending amplitude must be positive, got {tension:g} and {amplitude:g}")
    outer, stiffness = wires_of(section)
    slope = bending_stress(tension, stiffness, ALUMINIUM * outer)
    return ClampStress(stiffness, slope, slope * amplitude, cycles_of(slope * amplitude), ENDURANCE / slope)


def bending_stress(tension: float, stiffness: float, modulus_by_wire: float) -> float:
    """Stress amplitude over the bending amplitude; modulus_by_wire: E d of the outer wires."""
    p = math.sqrt(tension / stiffness)
    return 0.25 * modulus_by_wire * p * p / (math.expm1(-p * AT) + p * AT)


def wires_of(section: str) -> tuple[float, float]:
    """Diameter of the outer wires, EI of all wires that slide; they follow from area and diameter of the conductor.
    CommandError: the stranding is not known."""
    own = numbers_of(section_of(section).name)
    stranding = tuple(int(own[name][0]) if name in own else 0 for name in ("wires", "core_wires"))
    if stranding not in LAYERS:
        raise CommandError(f"section {section} has no core and wires in the catalogue; {which()} have")
    (count, core_count), (layers, across) = stranding, LAYERS[stranding]
    diameter, squares = own["diameter"][0], own["area"][0] * 4.0 / math.pi
    # across core + 2 layers wire = diameter,  core_count core^2 + count wire^2 = squares
    a, b = count + core_count * (2.0 * layers / across) ** 2, core_count * 2.0 * layers * diameter / across**2
    wire = (b + math.sqrt(b * b - a * (core_count * (diameter / across) ** 2 - squares))) / a
    core = (diameter - 2.0 * layers * wire) / across
    return wire, math.pi / 64.0 * (count * ALUMINIUM * wire**4 + core_count * STEEL * core**4)


def cycles_of(stress: float) -> float:
    """Cycles to failure by the safe border line of conductors with several layers: 450 N^-0.2 MPa, beyond ``KNEE`` 263
    N^-0.17 MPa. Source: EPRI (2006), 3.4."""
    many = (263e6 / stress) ** (1.0 / 0.17)
    return many if many > KNEE else min(KNEE, (450e6 / stress) ** 5)


def tell_clamp_stress(bending_amplitude: float, say: Say, **given: Any) -> None:
    """``fem line --bending-amplitude``, in millimetres. CommandError: options without effect, or missing ones."""
    named = {name: value for name, value in given.items() if value not in (None, False)}
    if named.keys() != {"section", "tension"}:
        raise CommandError("--bending-amplitude needs --section NAME and --tension T, and accepts no other option")
    found = clamp_stress(amplitude=1e-3 * bending_amplitude, **named)
    for line in (
        "{section} at {tension:g} N: EI of wires that slide {0:.4g} N m2; at a clamp, by Poffenberger and Swart,",
        "  stress amplitude of the outer wires over the bending amplitude {1:.4g} MPa/mm",
        "  bending amplitude {amplitude:g} mm: {2:.4g} MPa, {3:.3g} cycles to failure (safe border line)",
        "  endurance limit {limit:g} MPa: bending amplitude {4:.4g} mm",
    ):
        numbers = found.stiffness, 1e-9 * found.slope, 1e-6 * found.stress, found.cycles, 1e3 * found.endurance
        say(line.format(*numbers, amplitude=bending_amplitude, limit=1e-6 * ENDURANCE, **named))
