"""Rope laws with thermal strain: a table, a memory, and two of them as the core and the wires of a conductor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from fem.lines.conductors import Load, new, state_of, stress, stretched, tension
from fem.lines.sagging import conductor_of
from fem.lines.spans import section_of

DRAKE = conductor_of(section_of("drake"))
CORE, WIRES = DRAKE.materials
ROWS = 60
END = 4e-3
HEAD = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=CORE
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=WIRES
2, 1, 2
*BOUNDARY
1, 1, 3
2, 2, 3
"""
STEP = """*STEP, NLGEOM, INC=1000
{procedure}
*TEMPERATURE
1, {temperature!r}
2, {temperature!r}
*BOUNDARY
2, 1, 1, {strain!r}
*EL PRINT, FREQUENCY=1
S, T
*END STEP
"""


def tabled(curves, name, area, density=0.0, is_back=True):
    """A material whose curves are tables of the conductor's; unloading along the final modulus."""
    strains = np.concatenate([[0.0], np.linspace(0.0, END, ROWS + 1)[1:]])
    rows = [(stress(curves, strain, None), strain) for strain in strains.tolist()]
    floor = 1e-7 * curves.modulus  # stresses have to rise from row to row
    loading = [f"{max(s, floor * e)!r}, {e!r}" for s, e in rows]
    kind = "PERMANENT DEFORMATION" if is_back else "ELASTIC"
    text = [f"*MATERIAL, NAME={name}", "*UNIAXIAL", f"*LOADING DATA, TYPE={kind}", *loading]
    if is_back:
        text += ["*UNLOADING DATA, DEFINITION=SHIFTED CURVE", "0, 0", f"{curves.modulus * 0.01!r}, 0.01"]
    text += ["*NO COMPRESSION", "*EXPANSION", repr(curves.expansion)] + ["*DENSITY", repr(density)] * (density > 0.0)
    return "\n".join([*text, f"*SOLID SECTION, ELSET={name}, MATERIAL={name}, STRAIN=ENGINEERING", repr(area), ""])


CONDUCTOR = tabled(CORE, "CORE", DRAKE.area, 3000.0, False) + tabled(WIRES, "WIRES", DRAKE.area)


def test_two_bars_are_a_conductor_through_any_history_of_strain_and_temperature():
    """Against a reference of its own: the wires remember their largest strain, in the order in which it comes."""
    random = np.random.default_rng(33)
    history = [(float(random.uniform(5e-4, 3e-3)), float(random.uniform(-40.0, 60.0))) for _ in range(12)]
    steps = [STEP.format(procedure="*STATIC, DIRECT\n0.1, 1.", strain=e, temperature=t) for e, t in history]
    run = fem.run(fem.parse_deck(HEAD + CONDUCTOR + "".join(steps)))
    found = np.stack([run.of_element(1, "S"), run.of_element(2, "S")], axis=1)
    strains, heat = np.interp(run.time, range(13), [0.0, *(e for e, _ in history)]), None
    heat = np.interp(run.time, range(13), [0.0, *(t for _, t in history)])
    most, expected = 0.0, []
    for strain, warmth in zip(strains, heat, strict=True):
        own = strain - WIRES.expansion * warmth
        most = max(most, own)
        point = stretched(DRAKE, most + WIRES.expansion * warmth, warmth, False)[1]
        expected.append((stress(CORE, strain - CORE.expansion * warmth, None), stress(WIRES, own, point)))
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() < 2e-3 * scale  # tables of 60 rows in place of polynomials
    assert np.abs(run.energy_error).max() < 1e-2 * run.of_energy("strain").max()  # work of ten increments a step
    assert np.diff(run.of_energy("dissipated")).min() > -1e-9 * scale


@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM", "GENERALIZED ALPHA, RHO=0.8"])
def test_heat_and_motion_keep_the_books(integrator):
    """A mass on a heated conductor that is pulled and let go: no energy is made, whatever is lost is booked."""
    mass = "*ELEMENT, TYPE=MASS, ELSET=BOB\n3, 2\n*MASS, ELSET=BOB\n200.\n"
    amplitude = (
        "*AMPLITUDE, NAME=WARM\n0, 0, 0.05, 1, 0.1, 0\n*AMPLITUDE, NAME=PULL\n0, 0, 0.02, 1, 0.04, 0.3, 0.1, 0.3\n"
    )
    procedure = f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}\n2e-4, 0.1"
    step = f"*STEP, NLGEOM, INC=1000\n{procedure}\n*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF\n"
    step += "*TEMPERATURE, AMPLITUDE=WARM\n1, 40.\n2, 40.\n*CLOAD, AMPLITUDE=PULL\n2, 1, 5e4\n*END STEP\n"
    run = fem.run(fem.parse_deck(HEAD + mass + amplitude + CONDUCTOR + step))
    balance = run.energy_error
    exchanged = run.of_energy("strain").max()
    assert run.of_energy("dissipated")[-1] > 0.05 * exchanged
    assert np.abs(balance).max() < (1e-9 if integrator == "ENERGY MOMENTUM" else 2e-2) * exchanged


def test_a_span_of_both_bars_hangs_as_the_table_says():
    """200 m of Drake as 24 pairs of bars, warmed by 40 degrees: horizontal tension of the state, to 0.2 %."""
    span, warmth, bars, weight = 200.0, 40.0, 24, section_of("drake").mass * 9.80665
    length0 = 200.0
    state = state_of(DRAKE, length0, span, 0.0, Load(weight, 0.0, 0.0, warmth), new(DRAKE))
    # Where it starts it is taut, but less so than the wires will be: they remember that.
    assert state.strain - WIRES.expansion * warmth > 4e-4
    length = length0 * (1.0 + 2e-4)
    c = brentq(lambda c: 2.0 * c * np.sinh(0.5 * span / c) - length, 100.0, 1e6)
    x = 0.5 * span + c * np.arcsinh(np.linspace(-0.5, 0.5, bars + 1) * length / c)
    z = c * (np.cosh((x - 0.5 * span) / c) - np.cosh(0.5 * span / c))
    nodes = "".join(f"{n}, {a!r}, 0, {b!r}\n" for n, (a, b) in enumerate(zip(x.tolist(), z.tolist(), strict=True), 1))
    head = f"*NODE, NSET=ALL\n{nodes}*NSET, NSET=HELD\n1, {bars + 1}\n"
    text = head + f"*ELEMENT, TYPE=T3D2\n1, 1, 2\n{bars + 1}, 1, 2\n*ELGEN, ELSET=CORE\n1, {bars}\n"
    text += (
        f"*ELGEN, ELSET=WIRES\n{bars + 1}, {bars}\n*REST LENGTH\nCORE, {length0 / bars!r}\nWIRES, {length0 / bars!r}\n"
    )
    text += CONDUCTOR.replace("3000.0", repr(section_of("drake").mass / DRAKE.area))
    text += "*BOUNDARY\nHELD, 1, 3\nALL, 2\n*STEP, NLGEOM, INC=100\n*STATIC\n1., 1.\n*TEMPERATURE\n"
    text += f"ALL, {warmth}\n*DLOAD\nCORE, GRAV, 9.80665, 0., 0., -1.\n*NODE PRINT, NSET=HELD\nRF\n*END STEP\n"
    run = fem.run(fem.parse_deck(text))
    assert abs(run.of_node(1, "RF")[-1, 0]) == pytest.approx(state.h, rel=2e-3)
    assert tension(DRAKE, state.strain, warmth, new(DRAKE)) == pytest.approx(state.shape.mean, rel=1e-9)
