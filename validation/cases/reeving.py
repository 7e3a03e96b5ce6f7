"""Winches and pulleys: two spans that are sagged, loads on a rope, a load on a line that is paid out, a tackle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import reeving

NAME = "reeving"
TITLE = (
    "winches and pulleys: a line section of two spans, friction on a pulley, a load that is lowered, a block and tackle"
)
SOURCE = (
    "Code_Aster V6.02.100, SSNL100A (CABLE_POULIE): sags of two spans; Euler-Eytelwein for a rope that slips; a load "
    "on a line of changing length by DOP853; statics of a tackle of four parts."
)
LONG = False
SAGS = {6: -13.962397569, 19: -13.895279337}
GRAVITY, LOAD, GIVEN = 9.81, 400.0, 0.8
TACKLE = """*NODE, NSET=ALL
1, -0.3, 0., 4.
2, 0., 0., 0.
3, 0.1, 0., 2.
4, 0.2, 0., 4.
5, 0.1, 0., 2.
6, 0.3, 0., 4.
*ELEMENT, TYPE=PULLEY, ELSET=ROPE
1, 1, 2, 3
2, 3, 4, 5
3, 5, 2, 6
*MATERIAL, NAME=M
*ELASTIC
1.E11
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, STRAIN=ENGINEERING
1.E-4
*BOUNDARY
ALL, 2, 2
1, 1, 3
4, 1, 3
6, 1, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 3, -0.001
*STEP, NLGEOM
*STATIC
1., 1.
*CLOAD
2, 3, -400.
*NODE PRINT, NSET=ALL
U, RF
*EL PRINT
T
*END STEP
*STEP, NLGEOM
*STATIC
0.1, 1.
*WINCH
3, -0.8
*END STEP
"""
"""A block (2) hangs on four parts of a rope, which runs over it, over a fixed pulley (4), and over it again."""
HOIST = """*NODE
1, 0., 0., 0.
2, 0., 0., -4.
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=LOAD
2, 2
*MASS, ELSET=LOAD
200.
*MATERIAL, NAME=M
*ELASTIC
1.E9
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, STRAIN=ENGINEERING
1.E-4
*BOUNDARY
1, 1, 3
2, 1, 2
*STEP, NLGEOM
*STATIC
1., 1.
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
0.0002, 3.
*WINCH
ROPE, -1.5
*NODE PRINT
U
*EL PRINT, ELSET=ROPE
T
*END STEP
"""
"""A load on a soft rope that is hauled in by 0.5 m/s: a winch without an amplitude runs evenly over its step."""


def run(folder: Path) -> Outcome:
    """All of them."""
    return Outcome((*spans(), *slipping(), *lowered(), *hauled(), *tackle()))


def spans() -> list[Row]:
    """SSNL100A."""
    history = fem.run(tools.deck("ssnl100a"))
    why = "Code_Aster, VALE_CALC of ssnl100a.comm: the same elements, to the digits given"
    return [
        Row(
            Target(f"SSNL100A, sag at node {node} [m]", sag, "relative", why, 1e-7), float(history.of_node(node)[-1, 2])
        )
        for node, sag in SAGS.items()
    ]


def slipping() -> list[Row]:
    """Two loads on a rope over a pulley that rubs."""
    history = fem.run(tools.deck("pulley"))
    acceleration = reeving.falls(20.0, 60.0, 0.2, GRAVITY)
    ratio = history.of_element(1, "T2")[-1] / history.of_element(1, "T")[-1]
    way = "a t^2/2, less the stretch of the rope and its ringing"
    return [
        Row(Target("loads on a rope: way in 1 s [m]", -0.5 * acceleration, "relative", way, 5e-5),
            float(history.of_node(3)[-1, 2])),
        Row(Target("loads on a rope: T2/T", np.exp(0.2 * np.pi), "relative", "Euler-Eytelwein", 1e-11), float(ratio)),
    ]  # fmt: skip


def lowered() -> list[Row]:
    """A load on a line of 1 kg/m that is paid out."""
    model = tools.with_procedure(tools.deck("winch"), 1, dt=0.001)
    history = fem.run(model)
    at = tools.end_of(history, 1)
    start, length = np.array([0.2, -4.0]), float(np.hypot(0.2, 4.0))
    place, _ = reeving.lowered(start, 200.0, 1.0, 1e11 * 1.25e-4, length, 3.0, 4.0, 5.0)
    found = history.of_node(2)[at, [0, 2]] + start
    why = "DOP853; HHT with 0.001 s damps the ringing of the line"
    return [
        Row(Target("load lowered by 3 m, x after 5 s [m]", place[0], "absolute", why, 5e-4), float(found[0])),
        Row(Target("the same, z [m]", place[1], "absolute", why, 1e-3), float(found[1])),
    ]


def hauled() -> list[Row]:
    """A winch at an even speed, which jolts the load as it begins."""
    history = fem.run(fem.parse_deck(HOIST))
    way, pull = reeving.hauled(200.0, 1e5, 4.0, 0.5, 3.0)
    why = "DOP853; the trapezoidal rule is off by (omega dt)^2/12 of the phase of the bouncing"
    rise = history.of_node(2)[[tools.end_of(history, 1), -1], 2]
    return [
        Row(Target("load hauled in evenly: way in 3 s [m]", way, "relative", why, 1e-6), float(rise[1] - rise[0])),
        Row(Target("the same, tension [N]", pull, "relative", why, 5e-5), float(history.of_element(1, "T")[-1])),
    ]


def tackle() -> list[Row]:
    """A quarter of the load in the rope; a quarter of the line that is hauled in is what the block rises by."""
    history = fem.run(fem.parse_deck(TACKLE))
    first, last = tools.end_of(history, 1), tools.end_of(history, 2)
    place = history.mesh.coordinates + history.u.reshape(len(history.time), -1, 3)
    block = place[last, 1]
    parts = [(place[last, k] - block) / np.linalg.norm(place[last, k] - block) for k in (0, 2, 4, 5)]
    pull = LOAD / sum(float(part[2]) for part in parts)
    rise = float(place[last, 1, 2] - place[first, 1, 2])
    why = "equilibrium of the block, the same pull in all parts of the rope"
    return [
        Row(Target("tackle: pull [N]", pull, "relative", why, 5e-8), float(history.of_element(1, "T")[-1])),
        Row(
            Target("tackle: rise over line hauled in", 0.25, "absolute", "four parts, nearly upright", 1.5e-3),
            rise / GIVEN,
        ),
    ]
